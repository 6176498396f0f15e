/* scan.h - finds the next byte of a string that needs a closer look, many at a time.
 *
 * Layer: json; libc only.  Reads up to SCAN_PAD bytes behind the one it finds, so a
 * text that is scanned ends in that many zeros.
 */
#ifndef PAWL_JSON_SCAN_H
#define PAWL_JSON_SCAN_H

#include <stdint.h>
#include <string.h>

#define SCAN_PAD 32

#ifdef __SSE2__
#include <emmintrin.h>

/* The first of: quote, backslash, control character, byte of a longer sequence. */
static inline unsigned char *scan_string(unsigned char *at)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i space = _mm_set1_epi8(' ');
	for (;; at += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
		/* signed, so bytes from 0x80 on are less than a space, too */
		hit = _mm_or_si128(hit, _mm_cmplt_epi8(v, space));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);
		if (mask != 0)
			return at + __builtin_ctz(mask);
	}
}

/* A bit a byte of sixteen. */
struct scan_block {
	unsigned slashes, others;
};

static inline struct scan_block scan_block(const unsigned char *at)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i other = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
				     _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
	__m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
	return (struct scan_block){(unsigned)_mm_movemask_epi8(slash),
				   (unsigned)_mm_movemask_epi8(other)};
}

#else

static inline uint64_t scan_zeros(uint64_t word)
{
	return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

static inline int scan_is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static inline unsigned char *scan_string(unsigned char *at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	for (;; at += 8) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		uint64_t hit = scan_zeros(word ^ ones * '"') | scan_zeros(word ^ ones * '\\') |
			       ((word - ones * 0x20) & ~word) | word;
		if (hit & (ones << 7))
			break;
	}
	while (scan_is_plain(*at))
		at++;
	return at;
}
#endif

#endif
