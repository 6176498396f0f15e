/* edit.c - edits by splicing text, and the quoting that they need.
 *
 * Layer: json.  The tree only says where to cut; the result is read again as a whole,
 * so that an edit can never make what the reader would refuse.
 */
#include <config.h>

#include "json/json.h"

#include <errno.h>

#include "json/tree.h"
#include "json/utf8.h"

/* ---- quoting ------------------------------------------------------------------------ */

/* Room for one byte or sequence, quoted. */
#define QUOTED_MAX 6

static size_t quote_control(unsigned char c, char out[QUOTED_MAX])
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
	};
	out[0] = '\\';
	out[1] = letters[c];
	if (out[1])
		return 2;
	memcpy(out + 1, "u00", 3);
	out[4] = hex[c >> 4];
	out[5] = hex[c & 15];
	return 6;
}

/* Quotes what begins at *at; moves *at behind it. */
static size_t quote_one(const unsigned char **at, const unsigned char *end, char out[QUOTED_MAX])
{
	unsigned char c = **at;
	size_t len = 1;
	if (c >= 0x80)
		len = utf8_length(*at, (size_t)(end - *at));
	const unsigned char *from = *at;
	*at += len ? len : 1;
	if (len == 0) {
		memcpy(out, UTF8_REPLACEMENT, 3);
		return 3;
	}
	if (c < 0x20)
		return quote_control(c, out);
	if (c == '"' || c == '\\') {
		out[0] = '\\';
		out[1] = (char)c;
		return 2;
	}
	memcpy(out, from, len);
	return len;
}

/* Writes to out unless it is NULL; the length without the quotes around. */
static size_t quote_all(struct str text, char *out)
{
	const unsigned char *at = (const unsigned char *)text.ptr, *end = at + text.len;
	size_t len = 0;
	while (at < end) {
		char one[QUOTED_MAX];
		size_t n = quote_one(&at, end, one);
		if (out)
			memcpy(out + len, one, n);
		len += n;
	}
	return len;
}

struct str json_quote(struct json_arena *arena, struct str text)
{
	size_t len = text.len ? quote_all(text, NULL) : 0;
	char *out = json_arena_alloc(arena, len + 3);
	if (!out)
		return (struct str){NULL, 0};
	out[0] = '"';
	if (text.len)
		quote_all(text, out + 1);
	out[len + 1] = '"';
	out[len + 2] = '\0';
	return (struct str){json_arena_frozen(arena, out), len + 2};
}

/* ---- finding the place ----------------------------------------------------------------- */

/* Bytes begin to end of the root's text give way to before, the new value, and after
 * that nothing: separators and a name are in before. */
struct splice {
	size_t begin, end; /* in the original that the root lies in */
	struct str before[3];
};

/* Whom the pointer's last token is a child of. */
static const struct json_value *parent_of(const struct json_value *root, struct str pointer,
					  struct str *token)
{
	while (root) {
		if (token_next(&pointer, token) < 0)
			return NULL;
		if (pointer.len == 0)
			return root;
		root = token_value(root, *token);
	}
	return NULL;
}

static int no_way(struct str pointer, struct error *err)
{
	return error_set(err, ENOENT, "nothing at \"%.*s\"", STR_FMT(pointer));
}

/* The token's text, quoted, in the arena. */
static struct str quote_token(struct json_arena *arena, struct str token)
{
	char *plain = json_arena_alloc(arena, token.len + 1);
	if (!plain)
		return (struct str){NULL, 0};
	size_t n = 0;
	for (size_t i = 0; i < token.len; i++, n++) {
		plain[n] = token.ptr[i];
		if (plain[n] == '~')
			plain[n] = token.ptr[++i] == '0' ? '~' : '/';
	}
	return json_quote(arena, (struct str){plain, n});
}

static size_t end_of(const struct json_value *value)
{
	return (size_t)value->start + value->size;
}

/* Behind the last child. */
static int splice_add(struct json_arena *arena, const struct json_value *parent, struct str token,
		      struct splice *s, struct error *err)
{
	s->begin = (size_t)parent->start + 1;
	if (parent->len > 0) {
		s->begin = end_of(tree_children(parent) + parent->len - 1);
		s->before[0] = STR(",");
	}
	s->end = s->begin;
	if (tree_type(parent) == JSON_ARRAY)
		return 0;
	s->before[1] = quote_token(arena, token);
	s->before[2] = STR(":");
	return s->before[1].ptr ? 0 : error_set(err, ENOMEM, "the arena is full");
}

static int splice_set(struct json_arena *arena, const struct json_value *root, struct str pointer,
		      struct splice *s, struct error *err)
{
	struct str token;
	size_t index;
	const struct json_value *parent, *old = json_at(root, pointer);
	if (old) {
		s->begin = old->start;
		s->end = end_of(old);
		return 0;
	}
	parent = parent_of(root, pointer, &token);
	enum json_type type = json_type(parent);
	if (type == JSON_OBJECT)
		return splice_add(arena, parent, token, s, err);
	if (type == JSON_ARRAY && (str_is(token, "-") || (token_index(token, &index) == 0 &&
							  index == parent->len)))
		return splice_add(arena, parent, token, s, err);
	return no_way(pointer, err);
}

static size_t child_begin(const struct json_value *parent, const struct json_value *child)
{
	return tree_type(parent) == JSON_OBJECT ? child->name - 1 : child->start;
}

/* A child goes with the comma before it, the first one with the comma behind it.  Where
 * comments and trailing commas may be, the only one takes all between the brackets. */
static void splice_remove(const struct json_value *parent, const struct json_value *child,
			  struct splice *s)
{
	const struct json_value *first = tree_children(parent);
	s->begin = child_begin(parent, child);
	s->end = end_of(child);
	if (child > first)
		s->begin = end_of(child - 1);
	else if (parent->len > 1)
		s->end = child_begin(parent, child + 1);
	else if (tree_doc(parent)->flags & JSON_COMMENTS) {
		s->begin = (size_t)parent->start + 1;
		s->end = end_of(parent) - 1;
	}
}

/* ---- making the text ------------------------------------------------------------------- */

static char *append(char *to, struct str text)
{
	if (text.len > 0)
		memcpy(to, text.ptr, text.len);
	return to + text.len;
}

/* The new value is one value by itself, not "1, 2" that fits where it goes. */
static int check_value(struct json_arena *arena, struct str json, struct json_limits limits,
		       struct error *err)
{
	const struct json_value *value;
	size_t mark = json_arena_mark(arena);
	int r = json_parse(arena, json, limits, JSON_BORROW, &value, NULL, err);
	if (r == 0)
		json_arena_rewind(arena, mark);
	return r;
}

static int splice_read(struct json_arena *arena, const struct json_value *root,
		       const struct splice *s, struct str json, struct json_limits limits,
		       const struct json_value **ret, struct error *err)
{
	struct str head = {tree_doc(root)->original + root->start, s->begin - root->start};
	struct str tail = {tree_doc(root)->original + s->end, end_of(root) - s->end};
	size_t len = head.len + json.len + tail.len;
	for (size_t i = 0; i < 3; i++)
		len += s->before[i].len;
	if (len > limits.bytes || len > JSON_BYTES_MAX)
		return error_set(err, E2BIG, "larger than %zu bytes", limits.bytes);
	char *text = json_arena_alloc(arena, len + 1), *at = text;
	if (!text)
		return error_set(err, ENOMEM, "the arena is full");
	at = append(at, head);
	for (size_t i = 0; i < 3; i++)
		at = append(at, s->before[i]);
	struct str value = {json_arena_frozen(arena, at), json.len};
	at = append(at, json);
	*append(at, tail) = '\0';
	/* checked where it lies now: what a plugin does to its own copy is no matter */
	int r = json.ptr ? check_value(arena, value, limits, err) : 0;
	if (r < 0)
		return r;
	unsigned flags = (unsigned)tree_doc(root)->flags | JSON_BORROW;
	return json_parse(arena, (struct str){json_arena_frozen(arena, text), len}, limits, flags,
			  ret, NULL, err);
}

int json_set_at(struct json_arena *arena, const struct json_value *root, struct str pointer,
		struct str json, struct json_limits limits, const struct json_value **ret,
		struct error *err)
{
	struct splice s = {0};
	size_t mark = json_arena_mark(arena);
	json = text_trim(json);
	if (json.len == 0)
		return error_set(err, EBADMSG, "no JSON to set");
	if (!root)
		return no_way(pointer, err);
	if (json.len > limits.bytes)
		return error_set(err, E2BIG, "larger than %zu bytes", limits.bytes);
	int r = splice_set(arena, root, pointer, &s, err);
	if (r == 0)
		r = splice_read(arena, root, &s, json, limits, ret, err);
	if (r < 0)
		json_arena_rewind(arena, mark);
	return r;
}

int json_remove_at(struct json_arena *arena, const struct json_value *root, struct str pointer,
		   struct json_limits limits, const struct json_value **ret, struct error *err)
{
	struct splice s = {0};
	struct str token;
	size_t mark = json_arena_mark(arena);
	if (pointer.len == 0)
		return error_set(err, EINVAL, "the whole value cannot be removed");
	const struct json_value *child = json_at(root, pointer);
	if (!child)
		return no_way(pointer, err);
	splice_remove(parent_of(root, pointer, &token), child, &s);
	int r = splice_read(arena, root, &s, (struct str){NULL, 0}, limits, ret, err);
	if (r < 0)
		json_arena_rewind(arena, mark);
	return r;
}
