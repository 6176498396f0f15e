/* write.c - the writer's module: json-c behind the table of write.h.
 *
 * Layer: json.  Exports one symbol.  What cannot be added for want of memory spoils
 * the whole text instead of being left out of it: text() then gives a NULL ptr.
 */
#include <config.h>

#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "json/utf8.h"

static int print_nothing(struct json_object *object, struct printbuf *out, int level, int flags)
{
	(void)object, (void)out, (void)level, (void)flags;
	return -1;
}

static void spoil(struct json_object *to)
{
	if (to)
		json_object_set_serializer(to, print_nothing, NULL, NULL);
}

/* Adds child; NULL stands for no memory unless it is meant as null. */
static void put(struct json_object *to, const char *key, struct json_object *child, int is_null)
{
	int r = -1;
	if (to && (child || is_null))
		r = key ? json_object_object_add(to, key, child)
			: json_object_array_add(to, child);
	if (r == 0)
		return;
	json_object_put(child);
	spoil(to);
}

/* ---- text ------------------------------------------------------------------------- */

static size_t valid_prefix(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + len;
	while (at < end) {
		uint64_t word;
		if (end - at >= 8) {
			memcpy(&word, at, 8);
			if (!(word & UINT64_C(0x8080808080808080))) {
				at += 8;
				continue;
			}
		}
		size_t n = *at < 0x80 ? 1 : utf8_length(at, (size_t)(end - at));
		if (n == 0)
			break;
		at += n;
	}
	return (size_t)(at - (const unsigned char *)text);
}

/* Every byte that is part of no sequence becomes U+FFFD. */
static struct json_object *mended(struct str text)
{
	if (text.len > SIZE_MAX / 3)
		return NULL;
	char *out = malloc(text.len * 3);
	size_t n = 0;
	while (out && text.len > 0) {
		size_t valid = valid_prefix(text.ptr, text.len);
		memcpy(out + n, text.ptr, valid);
		n += valid;
		text = str_after(text, valid);
		if (text.len == 0)
			break;
		memcpy(out + n, UTF8_REPLACEMENT, 3);
		n += 3;
		text = str_after(text, 1);
	}
	struct json_object *object = NULL;
	if (out && n <= INT32_MAX)
		object = json_object_new_string_len(out, (int)n);
	free(out);
	return object;
}

static void writer_add_text(struct json_object *to, const char *key, struct str text)
{
	struct json_object *child = NULL;
	if (text.len == 0)
		child = json_object_new_string_len("", 0);
	else if (valid_prefix(text.ptr, text.len) < text.len)
		child = mended(text);
	else if (text.len <= INT32_MAX)
		child = json_object_new_string_len(text.ptr, (int)text.len);
	put(to, key, child, 0);
}

/* ---- raw -------------------------------------------------------------------------- */

struct raw {
	size_t len;
	char text[];
};

static int print_raw(struct json_object *object, struct printbuf *out, int level, int flags)
{
	(void)level, (void)flags;
	const struct raw *raw = json_object_get_userdata(object);
	return printbuf_memappend(out, raw->text, (int)raw->len);
}

static void free_raw(struct json_object *object, void *raw)
{
	(void)object;
	free(raw);
}

static void writer_add_raw(struct json_object *to, const char *key, struct str json)
{
	struct json_object *child = json_object_new_boolean(0);
	struct raw *raw = json.len <= INT32_MAX ? malloc(sizeof(*raw) + json.len) : NULL;
	if (!child || !raw || json.len == 0) {
		json_object_put(child);
		free(raw);
		spoil(to);
		return;
	}
	raw->len = json.len;
	memcpy(raw->text, json.ptr, json.len);
	json_object_set_serializer(child, print_raw, raw, free_raw);
	put(to, key, child, 0);
}

/* ---- the rest ------------------------------------------------------------------------ */

static void writer_add_integer(struct json_object *to, const char *key, int64_t number)
{
	put(to, key, json_object_new_int64(number), 0);
}

static void writer_add_bool(struct json_object *to, const char *key, int yes)
{
	put(to, key, json_object_new_boolean(yes != 0), 0);
}

static void writer_add_null(struct json_object *to, const char *key)
{
	put(to, key, NULL, 1);
}

static void writer_add(struct json_object *to, const char *key, struct json_object *child)
{
	put(to, key, child, 0);
}

/* ---- is it whole? --------------------------------------------------------------------- */

static size_t quoted_length(const char *text, size_t len)
{
	size_t sum = 2;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '"' || text[i] == '\\' || (text[i] >= '\b' && text[i] <= '\r' &&
							 text[i] != '\v'))
			sum += 2;
		else
			sum += (unsigned char)text[i] < 0x20 ? 6 : 1;
	return sum;
}

static size_t whole_length(struct json_object *value);

static size_t members_length(struct json_object *object)
{
	size_t sum = 1; /* a brace; each member has a comma or the other brace behind it */
	json_object_object_foreach(object, key, value)
		sum += quoted_length(key, strlen(key)) + 1 + whole_length(value) + 1;
	return sum > 1 ? sum : 2;
}

static size_t items_length(struct json_object *array)
{
	size_t n = json_object_array_length(array), sum = n > 0 ? 1 : 2;
	for (size_t i = 0; i < n; i++)
		sum += whole_length(json_object_array_get_idx(array, i)) + 1;
	return sum;
}

/* How long the text has to be: what json-c could not append for want of memory, it leaves
 * out without a word. */
static size_t whole_length(struct json_object *value)
{
	const struct raw *raw = value ? json_object_get_userdata(value) : NULL;
	char digits[32];
	if (raw)
		return raw->len;
	switch (json_object_get_type(value)) {
	case json_type_object:
		return members_length(value);
	case json_type_array:
		return items_length(value);
	case json_type_string:
		return quoted_length(json_object_get_string(value),
				     (size_t)json_object_get_string_len(value));
	case json_type_int:
		return (size_t)snprintf(digits, sizeof(digits), "%" PRId64,
					json_object_get_int64(value));
	case json_type_boolean:
		return json_object_get_boolean(value) ? 4 : 5;
	default:
		return 4; /* null: nothing else is ever added */
	}
}

static struct str writer_text(struct json_object *root)
{
	size_t len = 0;
	if (!root)
		return (struct str){NULL, 0};
	const char *text = json_object_to_json_string_length(
		root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (!text || len != whole_length(root))
		return (struct str){NULL, 0};
	return (struct str){text, len};
}

static void writer_free(struct json_object *root)
{
	json_object_put(root);
}

__attribute__((visibility("default"))) const struct json_writer pawl_json_writer = {
	.object = json_object_new_object,
	.array = json_object_new_array,
	.add_text = writer_add_text,
	.add_raw = writer_add_raw,
	.add_integer = writer_add_integer,
	.add_bool = writer_add_bool,
	.add_null = writer_add_null,
	.add = writer_add,
	.text = writer_text,
	.free = writer_free,
};
