/* say.h - a bounded text for a reason or an error, safe to show whoever reads it.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Literals go in as they are; whatever
 * came from a call goes through say_value or say_json, which bound it and write
 * control characters, text direction marks and broken UTF-8 as escapes.
 *
 *	struct say why = {0};
 *	say_value(&why, host);
 *	say(&why, " is not allowed");
 */
#ifndef PAWL_PLUGINS_SAY_H
#define PAWL_PLUGINS_SAY_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <pawl/plugin.h>

#define SAY_MAX 2048	  /* a whole reason; what does not fit is left out */
#define SAY_VALUE_MAX 80  /* bytes shown of one value */
#define SAY_LIST_MAX 20	  /* elements shown of one list */

struct say {
	size_t len;
	char text[SAY_MAX + 1];
};

static inline pawl_str str_lit(const char *text)
{
	return (pawl_str){text, strlen(text)};
}

static inline pawl_str say_str(const struct say *s)
{
	return (pawl_str){s->text, s->len};
}

/* All of it or nothing, so that no character is ever cut in two. */
static inline bool say_bytes(struct say *s, const char *bytes, size_t len)
{
	if (len > SAY_MAX - s->len)
		return false;
	memcpy(s->text + s->len, bytes, len);
	s->len += len;
	s->text[s->len] = '\0';
	return true;
}

static inline void say(struct say *s, const char *literal)
{
	say_bytes(s, literal, strlen(literal));
}

static inline void say_count(struct say *s, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	say_bytes(s, digits, (size_t)len);
}

/* The code point at the start of text and its length; false where it is no UTF-8. */
static inline bool say_decode(pawl_str text, uint32_t *ret, size_t *ret_len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)text.ptr[0];
	size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	if (len == 0 || len > text.len)
		return false;
	uint32_t point = len == 1 ? c : c & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		unsigned char more = (unsigned char)text.ptr[i];
		if ((more & 0xc0) != 0x80)
			return false;
		point = point << 6 | (more & 0x3fu);
	}
	if (point < least[len] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return false;
	*ret = point;
	*ret_len = len;
	return true;
}

/* What a terminal or a reader could be fooled with: controls, marks that hide or
 * turn text round, separators. */
static inline bool say_is_hidden(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0xad ||
	       point == 0x61c || (point >= 0x200b && point <= 0x200f) ||
	       (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
	       point == 0xfeff || (point >= 0xfff9 && point <= 0xfffb) ||
	       (point >= 0xe0000 && point <= 0xe0fff);
}

/* Up to max bytes of text, escaped; "..." where there was more. */
static inline void say_escaped(struct say *s, pawl_str text, size_t max)
{
	size_t end = s->len + max;
	while (text.len > 0) {
		char unit[16];
		uint32_t point = 0;
		size_t len = 1, out;
		if (!say_decode(text, &point, &len)) {
			out = (size_t)snprintf(unit, sizeof(unit), "\\x%02x",
					       (unsigned)(unsigned char)text.ptr[0]);
		} else if (say_is_hidden(point)) {
			out = (size_t)snprintf(unit, sizeof(unit), "\\u{%" PRIx32 "}", point);
		} else {
			memcpy(unit, text.ptr, len);
			out = len;
		}
		if (s->len + out > end || !say_bytes(s, unit, out)) {
			say(s, "...");
			return;
		}
		text.ptr += len;
		text.len -= len;
	}
}

/* 'text' */
static inline void say_value(struct say *s, pawl_str text)
{
	say(s, "'");
	say_escaped(s, text, SAY_VALUE_MAX);
	say(s, "'");
}

/* A string quoted, anything else as its JSON text. */
static inline void say_json(struct say *s, const pawl_host *host, const pawl_value *value)
{
	pawl_str text;
	if (host->type(value) == PAWL_STRING && host->string(value, &text) == 0)
		say_value(s, text);
	else
		say_escaped(s, host->json(value), SAY_VALUE_MAX);
}

/* 'a', 'b', 3 and 7 more */
static inline void say_list(struct say *s, const pawl_host *host, const pawl_value *array)
{
	size_t n = host->length(array), shown = n > SAY_LIST_MAX ? SAY_LIST_MAX : n;
	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			say(s, ", ");
		say_json(s, host, host->item(array, i));
	}
	if (n > shown) {
		say(s, " and ");
		say_count(s, n - shown);
		say(s, " more");
	}
}

static inline const char *say_type(int32_t type)
{
	static const char *const names[] = {"null",	"true or false", "a number",
					    "a string", "an array",	 "an object"};
	return type >= PAWL_NULL && type <= PAWL_OBJECT ? names[type] : "unreadable";
}

#endif
