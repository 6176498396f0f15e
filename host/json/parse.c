/* parse.c - the strict reader: one pass over the text, no recursion, nothing
 * allocated a value.
 *
 * Layer: json.  Values are put on a stack of slots as they are met; when a container
 * closes, its children move side by side to their final place and only its own slot
 * stays on the stack.  See tree.h for what comes out.
 */
#include <config.h>

#include "json/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "json/scan.h"
#include "json/tree.h"
#include "json/utf8.h"

#define always_inline inline __attribute__((always_inline))
#define never_inline __attribute__((noinline, cold))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

typedef unsigned char byte;

struct reader {
	byte *text, *end;          /* scratch; zeros from end on */
	struct json_value *stack;  /* its first slot: at first the arena's small place, */
	struct json_value *far;    /* then here, with room for all values */
	struct json_value *top;    /* the first free one */
	size_t stack_slots;        /* that can be used now */
	struct json_value *open;   /* the innermost container not yet closed, or NULL */
	struct json_value *slots;  /* final places */
	const struct json_value *ready; /* up to where their pages are there */
	uint32_t used;             /* of them */
	uint32_t left;             /* values that may come before more_values is asked, */
	size_t values, total;      /* after that, and from the start on */
	int bound;                 /* what it means when none is left at all */
	unsigned depth_left;
	struct json_arena *arena;
	const struct json_doc *doc;
	struct json_limits limits;
	int code;
	const byte *fault;
	struct error *err;
};

/* ---- refusing ------------------------------------------------------------------ */

__attribute__((format(printf, 4, 5))) static never_inline byte *
refuse(struct reader *r, const byte *at, int code, const char *format, ...)
{
	r->code = code;
	r->fault = at;
	if (r->err) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(r->err->text, sizeof(r->err->text), format, ap);
		va_end(ap);
	}
	return NULL;
}

static never_inline byte *refuse_byte(struct reader *r, const byte *at, const char *wanted)
{
	if (at >= r->end)
		return refuse(r, r->end, EBADMSG, "the text ends where %s should be", wanted);
	if (*at > 0x20 && *at < 0x7f)
		return refuse(r, at, EBADMSG, "'%c' where %s should be", *at, wanted);
	return refuse(r, at, EBADMSG, "byte 0x%02x where %s should be", *at, wanted);
}

/* A text holds at most one value in two bytes, unless its brackets are never closed. */
static never_inline byte *refuse_values(struct reader *r, const byte *at)
{
	if (at >= r->end)
		return refuse_byte(r, at, "a value");
	if (r->bound == E2BIG)
		return refuse(r, at, E2BIG, "more than %zu values", r->limits.values);
	if (r->bound == ENOMEM)
		return refuse(r, at, ENOMEM, "the arena is full");
	return refuse(r, r->end, EBADMSG, "the text ends before its brackets are closed");
}

/* A name, made fit for one line of a message. */
static never_inline byte *refuse_twice(struct reader *r, const struct json_value *member)
{
	char shown[64];
	size_t n = 0;
	const byte *name = r->text + member->name;
	for (size_t i = 0; i < member->name_len && n < sizeof(shown) - 4; i++)
		shown[n++] = name[i] < 0x20 || name[i] == 0x7f ? '?' : (char)name[i];
	while (n < member->name_len && n > 0 && utf8_is_tail(name[n]))
		n--; /* not in the middle of a sequence */
	shown[n] = '\0';
	return refuse(r, name - 1, EBADMSG, "duplicate member \"%s%s\"", shown,
		      n < member->name_len ? "..." : "");
}

/* ---- white space ------------------------------------------------------------------ */

static byte *skip_comment(struct reader *r, byte *at)
{
	if (at[1] == '/') {
		for (at += 2; at < r->end && *at != '\n'; at++)
			;
		return at;
	}
	if (at[1] != '*')
		return refuse_byte(r, at, "a value or a comment");
	for (byte *in = at + 2; in < r->end; in++)
		if (in[0] == '*' && in[1] == '/')
			return in + 2;
	return refuse(r, at, EBADMSG, "the comment has no end");
}

static always_inline bool is_space(byte c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline byte *skip_run(byte *at)
{
	const uint64_t spaces = UINT64_C(0x2020202020202020);
	for (;;) {
		while (load_8((const char *)at) == spaces)
			at += 8;
		if (!is_space(*at))
			return at;
		at++;
	}
}

/* NULL only with comments. */
static always_inline byte *skip(struct reader *r, byte *at, bool comments)
{
	if (*at <= ' ')
		at = skip_run(at);
	while (comments && *at == '/') {
		at = skip_comment(r, at);
		if (!at)
			return NULL;
		at = skip_run(at);
	}
	return at;
}

/* ---- strings ---------------------------------------------------------------------- */

static int hex_value(byte c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits, or -1. */
static int read_hex(const byte *at)
{
	int unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_value(at[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static byte *put_utf8(byte *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (byte)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (byte)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (byte)(0xe0 | code >> 12);
		} else {
			*to++ = (byte)(0xf0 | code >> 18);
			*to++ = (byte)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (byte)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (byte)(0x80 | (code & 0x3f));
	return to;
}

/* at is behind "\u".  *to grows by less than what was read. */
static byte *read_unicode(struct reader *r, byte *at, byte **to)
{
	int unit = read_hex(at), low = -1;
	if (unit < 0)
		return refuse(r, at - 2, EBADMSG, "\\u without four hex digits");
	unsigned code = (unsigned)unit;
	if (code >= 0xd800 && code <= 0xdfff) {
		if (code < 0xdc00 && at[4] == '\\' && at[5] == 'u')
			low = read_hex(at + 6);
		if (low < 0xdc00 || low > 0xdfff)
			return refuse(r, at - 2, EBADMSG, "half of a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + ((unsigned)low - 0xdc00);
		at += 6;
	}
	*to = put_utf8(*to, code);
	return at + 4;
}

static const byte escapes[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
	['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* at is at the backslash. */
static always_inline byte *read_escape(struct reader *r, byte *at, byte **to)
{
	byte plain = escapes[at[1]];
	if (likely(plain)) {
		*(*to)++ = plain;
		return at + 2;
	}
	if (at[1] == 'u')
		return read_unicode(r, at + 2, to);
	return refuse(r, at, EBADMSG, "unknown escape in a string");
}

static byte *read_sequences(struct reader *r, byte *at, byte **to)
{
	byte *out = *to;
	do {
		size_t n = utf8_length(at, (size_t)(r->end - at));
		if (unlikely(n == 0))
			return refuse(r, at, EBADMSG, "not valid UTF-8");
		for (; n > 0; n--)
			*out++ = *at++;
	} while (*at >= 0x80);
	*to = out;
	return at;
}

/* A string from its first byte that is not plain ASCII on; behind the closing quote. */
static __attribute__((noinline)) byte *read_rest(struct reader *r, byte *at, byte **text_end)
{
	byte *to = at;
	for (;;) {
		if (*at == '"')
			break;
		if (*at == '\\')
			at = read_escape(r, at, &to);
		else if (*at >= 0x80)
			at = read_sequences(r, at, &to);
		else if (at >= r->end)
			return refuse(r, r->end, EBADMSG, "the string has no end");
		else
			return refuse(r, at, EBADMSG, "control character 0x%02x in a string", *at);
		if (unlikely(!at))
			return NULL;
		byte *next = scan_string(at);
		size_t run = (size_t)(next - at);
		if (to != at)
			memmove(to, at, run);
		to += run;
		at = next;
	}
	*to = '\0';
	*text_end = to;
	return at + 1;
}

/* at is behind the opening quote. */
static always_inline byte *read_string(struct reader *r, byte *at, byte **text_end)
{
	byte *end = scan_string(at);
	if (unlikely(*end != '"'))
		return read_rest(r, end, text_end);
	*end = '\0';
	*text_end = end;
	return end + 1;
}

/* ---- scalars ------------------------------------------------------------------------ */

static always_inline bool is_digit(byte c)
{
	return (byte)(c - '0') < 10;
}

static always_inline byte *read_digits(struct reader *r, byte *at)
{
	if (unlikely(!is_digit(*at)))
		return refuse_byte(r, at, "a digit");
	do
		at++;
	while (is_digit(*at));
	return at;
}

static inline byte *read_number(struct reader *r, byte *at)
{
	at += *at == '-';
	at = *at == '0' ? at + 1 : read_digits(r, at);
	if (at && *at == '.')
		at = read_digits(r, at + 1);
	if (at && (*at | 0x20) == 'e') {
		at++;
		at += *at == '+' || *at == '-';
		at = read_digits(r, at);
	}
	return at;
}

static always_inline void put(struct reader *r, const byte *start, const byte *end,
			      enum json_type type, uint32_t len)
{
	struct json_value *slot = r->top++;
	slot->self = type;
	slot->start = (uint32_t)(start - r->text);
	slot->size = (uint32_t)(end - start);
	slot->len = len;
	slot->child = 0;
}

static byte *read_word(struct reader *r, byte *at)
{
	static const struct {
		char text[6];
		byte len, type, value;
	} words[] = {
		{"true", 4, JSON_BOOL, 1}, {"false", 5, JSON_BOOL, 0}, {"null", 4, JSON_NULL, 0},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (memcmp(at, words[i].text, words[i].len) != 0)
			continue;
		put(r, at, at + words[i].len, words[i].type, words[i].value);
		return at + words[i].len;
	}
	return refuse_byte(r, at, "a value");
}

/* ---- containers ----------------------------------------------------------------------- */

/* The name of the member whose value goes to the top slot; at is where a name must be. */
static always_inline byte *read_name(struct reader *r, byte *at, bool comments)
{
	if (unlikely(*at != '"'))
		return refuse_byte(r, at, "a member's name");
	byte *name = at + 1, *end;
	at = read_string(r, name, &end);
	if (unlikely(!at))
		return NULL;
	size_t len = (size_t)(end - name);
	if (unlikely(end != at - 1) && memchr(name, '\0', len))
		return refuse(r, name - 1, EBADMSG, "NUL in a member's name");
	struct json_value *slot = r->top;
	slot->name = (uint32_t)(name - r->text);
	slot->name_len = (uint32_t)len;
	uint64_t first = load_8((const char *)name);
	if (len < 8)
		first &= ((uint64_t)1 << (8 * len)) - 1;
	slot->name_sig =
		name_sign_words(first, len > 8 ? load_8((const char *)end - 8) : 0, len);
	at = skip(r, at, comments);
	if (comments && !at)
		return NULL;
	if (unlikely(*at != ':'))
		return refuse_byte(r, at, "':'");
	return skip(r, at + 1, comments);
}

/* The second of two members of one name, or NULL. */
static const struct json_value *find_twice(struct reader *r, const struct json_value *members,
					   size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (unlikely(members[i].name_sig == members[k].name_sig) &&
			    members[i].name_len == members[k].name_len &&
			    memcmp(r->text + members[i].name, r->text + members[k].name,
				   members[i].name_len) == 0)
				return &members[i];
	return NULL;
}

/* Moves the children of the open container to their final place. */
static always_inline byte *close_container(struct reader *r, byte *at)
{
	struct json_value *open = r->open, *from = open + 1;
	size_t count = (size_t)(r->top - from);
	const struct json_value *twice = NULL;
	struct json_value *to = r->slots + r->used;
	if (unlikely(to + count + count / 2 + 1 > r->ready))
		r->ready = arena_ready(r->arena, to + count + count / 2 + 1);
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		to[i].self |= (uint32_t)(r->used + i) << TYPE_BITS;
	}
	r->open = open->child == UINT32_MAX ? NULL : r->stack + open->child;
	r->depth_left++;
	open->child = r->used;
	r->used += (uint32_t)count;
	if (open->self == JSON_OBJECT && count > 1) {
		if (likely(count <= INDEX_OVER)) {
			twice = find_twice(r, from, count);
		} else {
			twice = index_fill((uint32_t *)(void *)(to + count), to, count, r->doc);
			r->used += (uint32_t)index_slots(count);
		}
		if (unlikely(twice))
			return refuse_twice(r, twice);
	}
	open->len = (uint32_t)count;
	open->size = (uint32_t)(at - r->text) - open->start + 1;
	r->top = from;
	return at + 1;
}

/* at is at the bracket.  Comes back at the first child's value (*opened) or behind an
 * empty container. */
static always_inline byte *open_container(struct reader *r, byte *at, enum json_type type,
					  bool *opened, bool comments)
{
	if (unlikely(r->depth_left == 0))
		return refuse(r, at, E2BIG, "nested deeper than %u", r->limits.depth);
	byte *start = at;
	at = skip(r, at + 1, comments);
	if (comments && !at)
		return NULL;
	if (*at == (type == JSON_OBJECT ? '}' : ']')) {
		put(r, start, at + 1, type, 0);
		return at + 1;
	}
	put(r, start, start, type, 0);
	struct json_value *slot = r->top - 1;
	slot->child = r->open ? (uint32_t)(r->open - r->stack) : UINT32_MAX;
	r->open = slot;
	r->depth_left--;
	*opened = true;
	return type == JSON_OBJECT ? read_name(r, at, comments) : at;
}

/* The stack holds as many slots as there may be values before this is asked again, and
 * one more, in which the name of the value to come may already be. */
static never_inline bool more_values(struct reader *r)
{
	size_t height = (size_t)(r->top - r->stack);
	if (r->values > 0 && height > r->stack_slots / 2) {
		size_t open = (size_t)(r->open - r->stack);
		size_t slots = 2 * r->stack_slots < r->total ? 2 * r->stack_slots : r->total;
		if (r->stack != r->far)
			r->stack_slots = 0;
		arena_populate(r->arena, r->far + r->stack_slots, r->far + slots);
		if (r->stack != r->far)
			memcpy(r->far, r->stack, (height + 1) * sizeof(*r->stack));
		r->stack_slots = slots;
		r->stack = r->far;
		r->top = r->stack + height;
		r->open = r->stack + open;
	}
	size_t more = r->stack_slots - height < r->values ? r->stack_slots - height : r->values;
	r->values -= more;
	r->left = (uint32_t)more;
	return more > 0;
}

/* One value, or the beginning of a container. */
static always_inline byte *read_value(struct reader *r, byte *at, bool *opened, bool comments)
{
	if (unlikely(r->left == 0) && !more_values(r))
		return refuse_values(r, at);
	r->left--;
	byte *end, *text_end;
	switch (*at) {
	case '"':
		end = read_string(r, at + 1, &text_end);
		if (likely(end))
			put(r, at, end, JSON_STRING, (uint32_t)(text_end - at - 1));
		return end;
	case '{':
		return open_container(r, at, JSON_OBJECT, opened, comments);
	case '[':
		return open_container(r, at, JSON_ARRAY, opened, comments);
	case '-': case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9':
		end = read_number(r, at);
		if (likely(end))
			put(r, at, end, JSON_NUMBER, 0);
		return end;
	default:
		return read_word(r, at);
	}
}

/* What follows a complete value: closes containers; *more when another value comes, and
 * then its name has been read. */
static always_inline byte *read_after(struct reader *r, byte *at, bool *more, bool comments)
{
	while (at && r->open) {
		at = skip(r, at, comments);
		if (comments && !at)
			return NULL;
		bool object = r->open->self == JSON_OBJECT;
		byte closer = object ? '}' : ']';
		if (*at == ',') {
			at = skip(r, at + 1, comments);
			if (comments && (!at || *at == closer))
				continue;
			*more = true;
			return object ? read_name(r, at, comments) : at;
		}
		if (unlikely(*at != closer))
			return refuse_byte(r, at, object ? "',' or '}'" : "',' or ']'");
		at = close_container(r, at);
	}
	return at;
}

static always_inline byte *read_text(struct reader *r, byte *at, bool comments)
{
	bool more = true;
	at = skip(r, at, comments);
	while (at && more) {
		bool opened = false;
		at = read_value(r, at, &opened, comments);
		if (opened)
			continue;
		more = false;
		at = read_after(r, at, &more, comments);
	}
	if (at)
		at = skip(r, at, comments);
	if (at && at < r->end)
		return refuse(r, at, EBADMSG, "more text after the value");
	return at;
}

static __attribute__((noinline)) byte *read_strict(struct reader *r, byte *at)
{
	return read_text(r, at, false);
}

static __attribute__((noinline, cold)) byte *read_commented(struct reader *r, byte *at)
{
	return read_text(r, at, true);
}

/* ---- the whole ----------------------------------------------------------------------- */

static struct str skip_boms(struct str text)
{
	while (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_after(text, 3);
	return text;
}

struct str text_trim(struct str text)
{
	text = skip_boms(text);
	while (text.len > 0 && is_space((byte)text.ptr[0]))
		text = str_after(text, 1);
	while (text.len > 0 && is_space((byte)text.ptr[text.len - 1]))
		text.len--;
	return text;
}

void text_place(struct str text, size_t offset, unsigned *line, unsigned *column)
{
	const char *at = skip_boms(text).ptr, *end = text.ptr + offset, *next;
	*line = 1;
	for (; at < end && (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1)
		++*line;
	*column = at < end ? (unsigned)(end - at) + 1 : 1;
}

/* The copies of the text, the doc and room for slots; false when the arena is full. */
static bool reader_init(struct reader *r, struct json_arena *arena, struct str text, unsigned flags)
{
	struct json_doc *doc;
	char *original = NULL;
	if (!(flags & JSON_BORROW)) {
		original = json_arena_alloc(arena, text.len + 1);
		if (!original)
			return false;
		if (text.len > 0)
			memcpy(original, text.ptr, text.len);
		original[text.len] = '\0';
		text.ptr = original;
	}
	r->text = json_arena_alloc(arena, text.len + SCAN_PAD);
	doc = json_arena_alloc(arena, sizeof(*doc));
	if (!r->text || !doc)
		return false;
	if (text.len > 0)
		memcpy(r->text, text.ptr, text.len);
	memset(r->text + text.len, 0, SCAN_PAD);
	r->end = r->text + text.len;
	doc->original = original ? json_arena_frozen(arena, original) : text.ptr;
	doc->scratch = json_arena_frozen(arena, r->text);
	memcpy(doc->key, arena_key(arena), sizeof(doc->key));
	doc->len = text.len;
	doc->flags = flags;
	r->doc = doc;
	return true;
}

/* Final slots need at most 3/2 of the values (an index takes up to half a slot a
 * member), the stack at most one more than there are values. */
static bool reader_slots(struct reader *r, struct json_arena *arena)
{
	size_t values = (size_t)(r->end - r->text) / 2 + 1;
	size_t room = arena_room(arena) / sizeof(*r->slots);
	if (room < 16)
		return false;
	r->bound = EBADMSG;
	if (values > r->limits.values) {
		values = r->limits.values;
		r->bound = E2BIG;
	}
	if (values > (room - 4) / 5 * 2) {
		values = (room - 4) / 5 * 2;
		r->bound = ENOMEM;
	}
	size_t final = values + values / 2 + 2, size;
	r->values = r->total = values;
	r->slots = arena_reserve(arena, final * sizeof(*r->slots));
	r->ready = r->slots;
	r->far = r->slots + final;
	r->stack = r->top = arena_stack(arena, &size);
	r->stack_slots = size / sizeof(*r->stack) - 1;
	more_values(r);
	return true;
}

static struct json_limits at_most(struct json_limits limits)
{
	if (limits.bytes > JSON_BYTES_MAX)
		limits.bytes = JSON_BYTES_MAX;
	if (limits.values > JSON_VALUES_MAX)
		limits.values = JSON_VALUES_MAX;
	if (limits.depth > JSON_DEPTH_MAX)
		limits.depth = JSON_DEPTH_MAX;
	return limits;
}

/* What was reserved is given up, but for slots. */
static void reader_cut(struct reader *r, const struct json_value *end)
{
	arena_cut(r->arena, end, r->stack == r->far ? r->far + r->stack_slots + 1 : end);
}

/* The root moves behind all others. */
static const struct json_value *reader_done(struct reader *r)
{
	struct json_value *root = r->slots + r->used;
	*root = *r->stack;
	root->self |= r->used << TYPE_BITS;
	reader_cut(r, root + 1);
	return json_arena_frozen(r->arena, root);
}

static int read_failed(struct reader *r, size_t mark, struct str text, struct json_fault *fault)
{
	if (r->slots)
		reader_cut(r, r->slots + r->used);
	json_arena_rewind(r->arena, mark);
	if (fault) {
		fault->offset = r->fault ? (size_t)(r->fault - r->text) : 0;
		text_place(text, fault->offset, &fault->line, &fault->column);
	}
	return -r->code;
}

int json_parse(struct json_arena *arena, struct str text, struct json_limits limits, unsigned flags,
	       const struct json_value **ret, struct json_fault *fault, struct error *err)
{
	struct reader r = {.arena = arena, .limits = at_most(limits), .err = err};
	size_t mark = json_arena_mark(arena);
	r.depth_left = r.limits.depth;
	if (text.len > r.limits.bytes) {
		refuse(&r, NULL, E2BIG, "larger than %zu bytes", r.limits.bytes);
		return read_failed(&r, mark, (struct str){text.ptr, 0}, fault);
	}
	if (!reader_init(&r, arena, text, flags) || !reader_slots(&r, arena)) {
		refuse(&r, NULL, ENOMEM, "the arena is full");
		return read_failed(&r, mark, (struct str){text.ptr, 0}, fault);
	}
	byte *at = r.text + (skip_boms(text).ptr - text.ptr);
	if (flags & JSON_COMMENTS)
		at = read_commented(&r, at);
	else
		at = read_strict(&r, at);
	if (!at)
		return read_failed(&r, mark, text, fault);
	*ret = reader_done(&r);
	return 0;
}

void json_place(const struct json_value *value, unsigned *line, unsigned *column)
{
	*line = *column = 1;
	if (!value)
		return;
	const struct json_doc *doc = tree_doc(value);
	text_place((struct str){doc->original, doc->len}, value->start, line, column);
}
