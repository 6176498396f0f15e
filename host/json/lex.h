/* lex.h - white space, strings and numbers; for parse.c, which they are inlined into.
 *
 * Layer: json.  Each takes the place where it begins and returns the one behind it,
 * or NULL when it refused.
 */
#ifndef PAWL_JSON_LEX_H
#define PAWL_JSON_LEX_H

#include <errno.h>

#include "json/reader.h"
#include "json/scan.h"
#include "json/utf8.h"

/* ---- white space ------------------------------------------------------------------ */

static inline byte *skip_comment(struct reader *r, byte *at)
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

static inline int hex_value(byte c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits, or -1. */
static inline int read_hex(const byte *at)
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

static inline byte *put_utf8(byte *to, unsigned code)
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
__attribute__((noinline)) static byte *read_unicode(struct reader *r, byte *at, byte **to)
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

static inline byte *read_sequences(struct reader *r, byte *at, byte **to)
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

/* Moves len bytes down by at least one; each word is loaded before what it is written
 * over is needed. */
static always_inline void move_down(byte *to, const byte *at, size_t len)
{
	for (; len > 16; len -= 8, to += 8, at += 8)
		memcpy(to, at, 8);
	if (len >= 8) {
		uint64_t first, last;
		memcpy(&first, at, 8);
		memcpy(&last, at + len - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + len - 8, &last, 8);
	} else if (len >= 4) {
		uint32_t first, last;
		memcpy(&first, at, 4);
		memcpy(&last, at + len - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + len - 4, &last, 4);
	} else {
		for (; len > 0; len--)
			*to++ = *at++;
	}
}

static byte *refuse_in_string(struct reader *r, const byte *at)
{
	if (at >= r->end)
		return refuse(r, r->end, EBADMSG, "the string has no end");
	return refuse(r, at, EBADMSG, "control character 0x%02x in a string", *at);
}

/* A string from its first byte that is not plain ASCII on; behind the closing quote. */
__attribute__((noinline)) static byte *read_rest(struct reader *r, byte *at, byte **text_end)
{
	byte *to = at;
	while (*at != '"') {
		if (likely(*at == '\\'))
			at = read_escape(r, at, &to);
		else if (*at >= 0x80)
			at = read_sequences(r, at, &to);
		else
			return refuse_in_string(r, at);
		if (unlikely(!at))
			return NULL;
		byte *next = scan_string(at);
		if (to != at)
			move_down(to, at, (size_t)(next - at));
		to += next - at;
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

#endif
