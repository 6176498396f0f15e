/* value.c - looking at frozen values.
 *
 * Layer: json.
 */
#include <config.h>

#include "json/json.h"

#include <errno.h>

#include "json/tree.h"

static bool is_type(const struct json_value *value, enum json_type type)
{
	return value && tree_type(value) == type;
}

enum json_type json_type(const struct json_value *value)
{
	return value ? tree_type(value) : JSON_NULL;
}

size_t json_length(const struct json_value *value)
{
	return value && tree_type(value) >= JSON_STRING ? value->len : 0;
}

/* Same names, given that their signs are the same. */
static inline bool is_name(const struct json_doc *doc, const struct json_value *member,
			   struct str name)
{
	const char *text = doc->scratch + member->name;
	if (member->name_len != name.len)
		return false;
	if (name.len < 8)
		return load_short(text, name.len) == load_short(name.ptr, name.len);
	return memcmp(text, name.ptr, name.len) == 0;
}

const struct json_value *json_member(const struct json_value *object, struct str name)
{
	if (!is_type(object, JSON_OBJECT) || object->len == 0 || !name.ptr)
		return NULL;
	const struct json_value *member = tree_children(object);
	const struct json_value *end = member + object->len;
	const struct json_doc *doc = tree_doc(object);
	if (object->len > INDEX_OVER)
		return index_find(member, object->len, doc, name);
	uint32_t sign = name_sign(name.ptr, name.len);
	for (; member < end; member++)
		if (member->name_sig == sign && is_name(doc, member, name))
			return member;
	return NULL;
}

const struct json_value *json_item(const struct json_value *array, size_t index)
{
	if (!is_type(array, JSON_ARRAY) || index >= array->len)
		return NULL;
	return tree_children(array) + index;
}

struct str json_key(const struct json_value *object, size_t index, const struct json_value **value)
{
	if (!is_type(object, JSON_OBJECT) || index >= object->len) {
		if (value)
			*value = NULL;
		return (struct str){NULL, 0};
	}
	const struct json_value *member = tree_children(object) + index;
	if (value)
		*value = member;
	return tree_name(tree_doc(object), member);
}

/* ---- RFC 6901 -------------------------------------------------------------------- */

/* The token's text is that of name once ~0 and ~1 are undone. */
static bool token_is(struct str token, struct str name)
{
	size_t n = 0;
	for (size_t i = 0; i < token.len; i++, n++) {
		char c = token.ptr[i];
		if (c == '~')
			c = token.ptr[++i] == '0' ? '~' : '/';
		if (n >= name.len || name.ptr[n] != c)
			return false;
	}
	return n == name.len;
}

static const struct json_value *member_of_token(const struct json_value *object, struct str token)
{
	if (!memchr(token.ptr, '~', token.len))
		return json_member(object, token);
	for (size_t i = 0; i < object->len; i++) {
		const struct json_value *member;
		if (token_is(token, json_key(object, i, &member)))
			return member;
	}
	return NULL;
}

int token_index(struct str token, size_t *ret)
{
	size_t index = 0;
	if (token.len == 0 || token.len > 10 || (token.len > 1 && token.ptr[0] == '0'))
		return -ENOENT;
	for (size_t i = 0; i < token.len; i++) {
		if (token.ptr[i] < '0' || token.ptr[i] > '9')
			return -ENOENT;
		index = index * 10 + (size_t)(token.ptr[i] - '0');
	}
	*ret = index;
	return 0;
}

int token_next(struct str *pointer, struct str *ret)
{
	if (pointer->len == 0 || pointer->ptr[0] != '/')
		return -ENOENT;
	*pointer = str_after(*pointer, 1);
	const char *slash = pointer->len ? memchr(pointer->ptr, '/', pointer->len) : NULL;
	*ret = (struct str){pointer->ptr, slash ? (size_t)(slash - pointer->ptr) : pointer->len};
	*pointer = str_after(*pointer, ret->len);
	for (size_t i = 0; i < ret->len; i++)
		if (ret->ptr[i] == '~' &&
		    (i + 1 == ret->len || (ret->ptr[i + 1] != '0' && ret->ptr[i + 1] != '1')))
			return -ENOENT;
	return 0;
}

const struct json_value *token_value(const struct json_value *container, struct str token)
{
	size_t index;
	if (is_type(container, JSON_OBJECT))
		return member_of_token(container, token);
	if (is_type(container, JSON_ARRAY) && token_index(token, &index) == 0)
		return json_item(container, index);
	return NULL;
}

const struct json_value *json_at(const struct json_value *value, struct str pointer)
{
	struct str token;
	while (value && pointer.len > 0) {
		if (token_next(&pointer, &token) < 0)
			return NULL;
		value = token_value(value, token);
	}
	return value;
}

/* ---- scalars ----------------------------------------------------------------------- */

int json_string(const struct json_value *value, struct str *ret)
{
	if (!value)
		return -ENOENT;
	if (tree_type(value) != JSON_STRING)
		return -EPROTOTYPE;
	*ret = (struct str){tree_doc(value)->scratch + value->start + 1, value->len};
	return 0;
}

/* From scratch: there a text never ends without a NUL. */
static int number_of(const struct json_value *value, struct str *ret)
{
	if (!value)
		return -ENOENT;
	if (tree_type(value) != JSON_NUMBER)
		return -EPROTOTYPE;
	*ret = (struct str){tree_doc(value)->scratch + value->start, value->size};
	return 0;
}

int json_integer(const struct json_value *value, int64_t *ret)
{
	struct str lexeme;
	int r = number_of(value, &lexeme);
	return r < 0 ? r : number_integer(lexeme, ret);
}

int json_real(const struct json_value *value, double *ret)
{
	struct str lexeme;
	int r = number_of(value, &lexeme);
	return r < 0 ? r : number_real(lexeme, ret);
}

int json_boolean(const struct json_value *value, int *ret)
{
	if (!value)
		return -ENOENT;
	if (tree_type(value) != JSON_BOOL)
		return -EPROTOTYPE;
	*ret = (int)value->len;
	return 0;
}

struct str json_raw(const struct json_value *value)
{
	if (!value)
		return (struct str){NULL, 0};
	return (struct str){tree_doc(value)->original + value->start, value->size};
}

/* ---- comparing ----------------------------------------------------------------------- */

/* Containers of the same type and length are the same so far. */
static bool same_alone(const struct json_value *a, const struct json_value *b)
{
	struct str x = {NULL, 0}, y = {NULL, 0};
	enum json_type type = tree_type(a);
	if (type != tree_type(b))
		return false;
	if (type == JSON_NUMBER) {
		number_of(a, &x);
		number_of(b, &y);
		return number_same(x, y);
	}
	if (type == JSON_STRING) {
		json_string(a, &x);
		json_string(b, &y);
		return str_equal(x, y);
	}
	return a->len == b->len;
}

/* What in b stands against child index of a. */
static const struct json_value *counterpart(const struct json_value *a, size_t index,
					    const struct json_value *b)
{
	if (tree_type(a) == JSON_ARRAY)
		return json_item(b, index);
	return json_member(b, json_key(a, index, NULL));
}

/* No text is nested deeper than JSON_DEPTH_MAX, so this stack holds every way down. */
int json_same(const struct json_value *a, const struct json_value *b)
{
	struct {
		const struct json_value *a, *b;
		size_t next;
	} way[JSON_DEPTH_MAX + 1];
	size_t depth = 0;
	if (!a || !b)
		return a == b;
	for (;;) {
		if (!b || !same_alone(a, b))
			return 0;
		if (tree_type(a) >= JSON_ARRAY && a->len > 0) {
			way[depth].a = a;
			way[depth].b = b;
			way[depth++].next = 0;
		}
		while (depth > 0 && way[depth - 1].next == way[depth - 1].a->len)
			depth--;
		if (depth == 0)
			return 1;
		size_t next = way[depth - 1].next++;
		a = tree_children(way[depth - 1].a) + next;
		b = counterpart(way[depth - 1].a, next, way[depth - 1].b);
	}
}
