/* parse.c - the strict reader's grammar: one pass over the text, no recursion, nothing
 * allocated a value.
 *
 * Layer: json.  Values are put on a stack of slots as they are met; when a container
 * closes, its children move side by side to their final place and only its own slot
 * stays on the stack.  See tree.h for what comes out.
 */
#include <config.h>

#include "json/reader.h"

#include <errno.h>

#include "json/lex.h"

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

/* Two copies of it all: the strict one knows nothing of comments. */
__attribute__((noinline)) static byte *read_strict(struct reader *r, byte *at)
{
	return read_text(r, at, false);
}

__attribute__((noinline, cold)) static byte *read_commented(struct reader *r, byte *at)
{
	return read_text(r, at, true);
}

byte *parse_text(struct reader *r, byte *at, bool comments)
{
	return comments ? read_commented(r, at) : read_strict(r, at);
}
