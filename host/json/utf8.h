/* utf8.h - one well-formed UTF-8 sequence at a time.
 *
 * Layer: json; libc only.  The ranges are those of the Unicode Standard's table of
 * well-formed byte sequences: no overlong form, no surrogate, nothing over U+10FFFF.
 */
#ifndef PAWL_JSON_UTF8_H
#define PAWL_JSON_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

static inline int utf8_is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the sequence that begins with at[0] >= 0x80, or 0 when it is malformed.
 * Reads at[1] .. at[3] only as far as left (bytes from at on) and the sequence go. */
static inline size_t utf8_length(const unsigned char *at, size_t left)
{
	unsigned char lead = at[0];
	if (lead < 0xc2 || lead > 0xf4 || left < 2 || !utf8_is_tail(at[1]))
		return 0;
	if (lead < 0xe0)
		return 2;
	if (left < 3 || !utf8_is_tail(at[2]))
		return 0;
	if (lead < 0xf0)
		return (lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f) ? 0 : 3;
	if (left < 4 || !utf8_is_tail(at[3]))
		return 0;
	return (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f) ? 0 : 4;
}

#endif
