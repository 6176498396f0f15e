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

/* The bytes of a well-formed sequence of two or three, by one look at a word; else 0. */
static always_inline size_t short_sequence(const byte *at)
{
	uint64_t word = load_4((const char *)at);
	if ((word & 0xc0e0) == 0x80c0)
		return word & 0x1e ? 2 : 0;
	if ((word & 0xc0c0f0) != 0x8080e0)
		return 0;
	/* neither overlong nor a surrogate */
	return (word & 0x200f) && (word & 0x200f) != 0x200d ? 3 : 0;
}

/* Sequences, and single spaces between them. */
static inline byte *read_sequences(struct reader *r, byte *at, byte **to)
{
	byte *out = *to;
	do {
		size_t n = short_sequence(at);
		if (unlikely(n == 0))
			n = utf8_length(at, (size_t)(r->end - at));
		if (unlikely(n == 0))
			return refuse(r, at, EBADMSG, "not valid UTF-8");
		for (; n > 0; n--)
			*out++ = *at++;
		if (*at == ' ' && at[1] >= 0x80)
			*out++ = *at++;
	} while (*at >= 0x80);
	*to = out;
	return at;
}

/* Moves len bytes down by at least one; each word is loaded before what it is written
 * over is needed. */
static always_inline void move_down(byte *to, const byte *at, size_t len)
{
	uint64_t first, last;
	for (; len > 16; len -= 8, to += 8, at += 8) {
		memcpy(&first, at, 8);
		memcpy(to, &first, 8);
	}
	if (len >= 8) {
		memcpy(&first, at, 8);
		memcpy(&last, at + len - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + len - 8, &last, 8);
	} else if (len >= 4) {
		uint32_t head, tail;
		memcpy(&head, at, 4);
		memcpy(&tail, at + len - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + len - 4, &tail, 4);
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

#ifdef __SSE2__
/* Up to 17 of 32 bytes; less than 16 when it came to something else.  A word that is
 * written may be longer than what it is for. */
static always_inline unsigned unescape_block(const byte *from, byte **to)
{
	struct scan_block block = scan_block(from);
	unsigned pos = 0;
	byte *out = *to;
	while (pos < 16) {
		unsigned next = (unsigned)__builtin_ctz(block.slashes | block.others | 1u << 16);
		memcpy(out, from + pos, 16);
		out += next - pos;
		pos = next;
		if (!(block.slashes >> next & 1))
			break;
		byte plain = escapes[from[next + 1]];
		if (unlikely(!plain))
			break;
		*out++ = plain;
		pos = next + 2;
		block.slashes &= ~(3u << next);
		block.others &= ~(2u << next);
	}
	*to = out;
	return pos;
}
#endif

/* Goes on while there are plain characters and simple escapes, sixteen bytes at a time.
 * Those come from the other copy of the text, so that whole words can be written here:
 * what that spoils behind *at is mended at the end. */
static always_inline void read_blocks(struct reader *r, byte **at, byte **to)
{
#ifdef __SSE2__
	const byte *from = r->source + (*at - r->text), *begin = from;
	const byte *end = r->source + (r->end - r->text);
	byte *out = *to;
	enum { NONE = 99 };
	unsigned pos = NONE;
	for (; pos >= 16 && end - from >= 32; from += pos)
		pos = unescape_block(from, &out);
	if (pos == NONE)
		return;
	*at += from - begin;
	*to = out;
	memcpy(*at, from, (size_t)(end - from < 16 ? end - from : 16));
#else
	(void)r, (void)at, (void)to;
#endif
}

/* A string from its first byte that is not plain ASCII on; behind the closing quote. */
__attribute__((noinline)) static byte *read_rest(struct reader *r, byte *at, byte **text_end)
{
	byte *to = at;
	while (at) {
		read_blocks(r, &at, &to);
		byte *next = scan_string(at);
		if (to != at)
			move_down(to, at, (size_t)(next - at));
		to += next - at;
		at = next;
		if (*at == '\\') {
			at = read_escape(r, at, &to);
		} else if (*at >= 0x80) {
			at = read_sequences(r, at, &to);
		} else if (*at != '"') {
			return refuse_in_string(r, at);
		} else {
			*to = '\0';
			*text_end = to;
			return at + 1;
		}
	}
	return NULL;
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
