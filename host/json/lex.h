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

/* One more than the digit's value. */
static const byte hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,
	['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14,
	['E'] = 15, ['F'] = 16, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15,
	['f'] = 16,
};

/* Four hex digits, or negative; looks at no byte behind one that is none. */
static always_inline int read_hex(const byte *at)
{
	int unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digits[at[i]] - 1;
		if (unlikely(digit < 0))
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

/* What \u and the four digits at at stand for, with the \u behind it where that is the
 * other half of a pair; *at moves behind it.  -1: no digits, -2: half of a pair. */
static always_inline int read_code(const byte **at)
{
	const byte *digits = *at;
	int code = read_hex(digits), low = -1;
	if (unlikely(code < 0))
		return -1;
	*at = digits + 4;
	if (likely((code & 0xf800) != 0xd800))
		return code;
	if (code < 0xdc00 && digits[4] == '\\' && digits[5] == 'u')
		low = read_hex(digits + 6);
	if (low < 0xdc00 || low > 0xdfff)
		return -2;
	*at = digits + 10;
	return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* at is behind "\u".  *to grows by less than what was read. */
__attribute__((noinline)) static byte *read_unicode(struct reader *r, byte *at, byte **to)
{
	const byte *behind = at;
	int code = read_code(&behind);
	if (code == -1)
		return refuse(r, at - 2, EBADMSG, "\\u without four hex digits");
	if (code < 0)
		return refuse(r, at - 2, EBADMSG, "half of a surrogate pair");
	*to = put_utf8(*to, (unsigned)code);
	return at + (behind - at);
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

/* Copies len < SCAN_BLOCK bytes; a few words more are read and written. */
static always_inline byte *copy_run(byte *to, const byte *from, size_t len)
{
	memcpy(to, from, SCAN_BLOCK / 2);
	if (len > SCAN_BLOCK / 2)
		memcpy(to + SCAN_BLOCK / 2, from + SCAN_BLOCK / 2, SCAN_BLOCK / 2);
	return to + len;
}

/* Behind the \u escape at at, or NULL when it is none and needs a message. */
static always_inline const byte *unescape_code(const byte *at, byte **to)
{
	if (at[1] != 'u')
		return NULL;
	at += 2;
	int code = read_code(&at);
	if (unlikely(code < 0))
		return NULL;
	*to = put_utf8(*to, (unsigned)code);
	return at;
}

/* The plain characters from *at on and the escapes that begin at starts, bits of a block;
 * false at one that needs a message. */
static always_inline bool unescape_starts(const byte *block, uint64_t starts, const byte **at,
					  byte **to)
{
	while (starts) {
		const byte *next = block + __builtin_ctzll(starts);
		*to = copy_run(*to, *at, (size_t)(next - *at));
		*at = next;
		starts &= starts - 1;
		byte plain = escapes[next[1]];
		if (likely(plain)) {
			*(*to)++ = plain;
			*at = next + 2;
			continue;
		}
		next = unescape_code(next, to);
		if (unlikely(!next))
			return false;
		*at = next;
		/* a pair takes two */
		starts &= next - block < SCAN_BLOCK ? ~UINT64_C(0) << (next - block) : 0;
	}
	return true;
}

/* Unescapes a block from where no sequence and no escape is open, up to what ends the
 * string or needs a closer look; false when it came to that.  SCAN_PAD bytes are read. */
static always_inline bool unescape_block(const byte **from, byte **to)
{
	const byte *at = *from, *end = at + SCAN_BLOCK;
	struct scan_block block = scan_block(at);
	if (block.high && !scan_sequences(at, &end))
		return false;
	uint64_t starts = scan_starts(block.slashes);
	uint64_t others = block.others & ~(starts << 1);
	if (others) {
		end = *from + __builtin_ctzll(others);
		starts &= (others & -others) - 1;
	}
	if (unlikely(!unescape_starts(*from, starts, &at, to))) {
		*from = at;
		return false;
	}
	if (at < end) {
		*to = copy_run(*to, at, (size_t)(end - at));
		at = end;
	}
	*from = at;
	return !others;
}

/* Goes on block by block.  They come from the other copy of the text, so that whole words
 * can be written here: what that spoils behind *at, less than half a block, is mended at
 * the end. */
static always_inline void read_blocks(struct reader *r, byte **at, byte **to)
{
	const byte *from = r->source + (*at - r->text), *begin = from;
	const byte *last = r->source_end - SCAN_PAD; /* may lie before the text */
	byte *out = *to; /* nothing that is written can change this one */
	if (from > last)
		return;
	while (unescape_block(&from, &out) && from <= last)
		;
	*to = out;
	size_t left = (size_t)(r->source_end - from);
	*at += from - begin;
	memcpy(*at, from, left < SCAN_BLOCK / 2 ? left : SCAN_BLOCK / 2);
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
