/* read.c - reading one text: its copies, room for its tree, limits, places in it.
 *
 * Layer: json.
 */
#include <config.h>

#include "json/json.h"

#include <errno.h>

#include "json/reader.h"
#include "json/scan.h"

static struct str skip_boms(struct str text)
{
	while (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_after(text, 3);
	return text;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

struct str text_trim(struct str text)
{
	text = skip_boms(text);
	while (text.len > 0 && is_space(text.ptr[0]))
		text = str_after(text, 1);
	while (text.len > 0 && is_space(text.ptr[text.len - 1]))
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
		original = json_arena_alloc(arena, text.len + SCAN_PAD);
		if (!original)
			return false;
		if (text.len > 0)
			memcpy(original, text.ptr, text.len);
		memset(original + text.len, 0, SCAN_PAD);
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
	r->source = (const byte *)text.ptr;
	r->source_end = r->source + text.len + (original ? SCAN_PAD : 0);
	doc->original = original ? json_arena_frozen(arena, original) : text.ptr;
	doc->scratch = json_arena_frozen(arena, r->text);
	memcpy(doc->key, arena_key(arena), sizeof(doc->key));
	doc->len = text.len;
	doc->flags = flags;
	r->doc = doc;
	return true;
}

bool more_values(struct reader *r)
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
	if (!parse_text(&r, at, flags & JSON_COMMENTS))
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
