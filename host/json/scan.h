/* scan.h - finds the bytes of a string that need a closer look, many at a time.
 *
 * Layer: json; libc only.  What the processor's vectors do (scan_*) is there in plain C,
 * too (plain_*), for processors without and for the test that both say the same;
 * SCAN_PLAIN leaves the vectors out.
 *
 * Reads up to SCAN_PAD bytes behind where it begins or what it finds, so a text that is
 * scanned ends in that many zeros.
 */
#ifndef PAWL_JSON_SCAN_H
#define PAWL_JSON_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "json/utf8.h"

#define SCAN_BLOCK 64
/* a block, and half of one read from its last byte on */
#define SCAN_PAD (SCAN_BLOCK + SCAN_BLOCK / 2)

/* A bit a byte of a block, the first byte's the lowest. */
struct scan_block {
	uint64_t slashes;
	uint64_t others; /* quotes and control characters */
	uint64_t high;   /* from 0x80 on */
};

/* The backslashes that begin an escape, when none is open before: in a row of them the
 * first, the third, ... */
static inline uint64_t scan_starts(uint64_t slashes)
{
	const uint64_t even = UINT64_C(0x5555555555555555);
	uint64_t rows = slashes & ~(slashes << 1); /* where each begins */
	/* adding a row's first bit clears the row */
	uint64_t in_even = slashes & ~(slashes + (rows & even));
	return (in_even & even) | (slashes & ~in_even & ~even);
}

/* The end of the last sequence that is complete before end; less than four bytes away. */
static inline const unsigned char *scan_cut(const unsigned char *end)
{
	if (end[-1] >= 0xc0)
		return end - 1;
	if (end[-2] >= 0xe0)
		return end - 2;
	return end[-3] >= 0xf0 ? end - 3 : end;
}

/* ---- in plain C ------------------------------------------------------------------- */

#define SCAN_ONES UINT64_C(0x0101010101010101)

/* The highest bit of each byte that is zero. */
static inline uint64_t plain_zeros(uint64_t word)
{
	const uint64_t low = SCAN_ONES * 0x7f;
	return ~(((word & low) + low) | word | low);
}

/* The highest bit of each byte, side by side. */
static inline uint64_t plain_bits(uint64_t word)
{
	return ((word >> 7 & SCAN_ONES) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t plain_word(const unsigned char *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static inline struct scan_block plain_block(const unsigned char *at)
{
	struct scan_block block = {0, 0, 0};
	for (unsigned i = 0; i < SCAN_BLOCK; i += 8) {
		uint64_t word = plain_word(at + i), high = word & SCAN_ONES << 7;
		uint64_t control = plain_zeros(word & SCAN_ONES * 0xe0);
		uint64_t quotes = plain_zeros(word ^ SCAN_ONES * '"');
		block.slashes |= plain_bits(plain_zeros(word ^ SCAN_ONES * '\\')) << i;
		block.others |= plain_bits(control | quotes) << i;
		block.high |= plain_bits(high) << i;
	}
	return block;
}

static inline bool plain_sequences(const unsigned char *at, const unsigned char **end)
{
	const unsigned char *cut = scan_cut(at + SCAN_BLOCK);
	for (size_t n; at < cut; at += n) {
		n = *at < 0x80 ? 1 : utf8_length(at, (size_t)(cut - at));
		if (n == 0)
			return false;
	}
	*end = cut;
	return true;
}

static inline unsigned char *plain_string(unsigned char *at)
{
	for (;; at += 8) {
		uint64_t word = plain_word(at);
		uint64_t hit = plain_zeros(word ^ SCAN_ONES * '"') |
			       plain_zeros(word ^ SCAN_ONES * '\\') |
			       plain_zeros(word & SCAN_ONES * 0xe0) | (word & SCAN_ONES << 7);
		if (hit)
			return at + __builtin_ctzll(hit) / 8;
	}
}

#if defined(__SSE2__) && !defined(SCAN_PLAIN)
#include <emmintrin.h>

/* ---- with SSE2, which every x86-64 has ---------------------------------------------- */

static inline __m128i sse2_load(const unsigned char *at)
{
	return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* Quotes, and what is less than a space; signed, so bytes from 0x80 on, too. */
static inline __m128i sse2_others(__m128i v)
{
	return _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
			    _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
}

static inline __m128i sse2_slashes(__m128i v)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
}

static inline uint64_t sse2_bits(__m128i v)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(v);
}

/* The first of: quote, backslash, control character, byte of a longer sequence. */
static inline unsigned char *scan_string(unsigned char *at)
{
	for (;; at += 16) {
		__m128i v = sse2_load(at);
		uint64_t bits = sse2_bits(_mm_or_si128(sse2_slashes(v), sse2_others(v)));
		if (bits != 0)
			return at + __builtin_ctzll(bits);
	}
}

static inline struct scan_block scan_block(const unsigned char *at)
{
	struct scan_block block = {0, 0, 0};
#pragma GCC unroll 4
	for (unsigned i = 0; i < SCAN_BLOCK; i += 16) {
		__m128i v = sse2_load(at + i);
		block.slashes |= sse2_bits(sse2_slashes(v)) << i;
		block.others |= sse2_bits(sse2_others(v)) << i;
		block.high |= sse2_bits(v) << i;
	}
	block.others &= ~block.high;
	return block;
}

/* Not zero in each byte that is at least low. */
static inline __m128i sse2_from(__m128i v, int low)
{
	return _mm_subs_epu8(v, _mm_set1_epi8((char)(low - 1)));
}

/* All ones in each byte of which the one before is lead and which itself is out of the
 * range that lead wants: xor and less than limit, in signed numbers, is what is wrong. */
static inline __m128i sse2_wrong(__m128i v, __m128i before, int lead, int flip, int limit)
{
	__m128i flipped = _mm_xor_si128(v, _mm_set1_epi8((char)flip));
	return _mm_and_si128(_mm_cmpeq_epi8(before, _mm_set1_epi8((char)lead)),
			     _mm_cmplt_epi8(flipped, _mm_set1_epi8((char)limit)));
}

/* Not zero where sixteen bytes, with the one, two and three before each, are no UTF-8. */
static inline __m128i sse2_malformed(__m128i v, __m128i one, __m128i two, __m128i three)
{
	const __m128i zero = _mm_setzero_si128();
	__m128i tail = _mm_cmplt_epi8(v, _mm_set1_epi8((char)0xc0));
	__m128i open = _mm_or_si128(sse2_from(one, 0xc0),
				    _mm_or_si128(sse2_from(two, 0xe0), sse2_from(three, 0xf0)));
	/* a tail must be where one is due, and nowhere else */
	__m128i bad = _mm_cmpeq_epi8(_mm_cmpeq_epi8(open, zero), tail);
	bad = _mm_or_si128(bad, sse2_from(v, 0xf5));
	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(_mm_and_si128(v, _mm_set1_epi8((char)0xfe)),
					       _mm_set1_epi8((char)0xc0)));
	/* overlong: below e0 a0, f0 90; surrogates from ed a0 on; too large from f4 90 on */
	bad = _mm_or_si128(bad, sse2_wrong(v, one, 0xe0, 0, (signed char)0xa0));
	bad = _mm_or_si128(bad, sse2_wrong(v, one, 0xf0, 0, (signed char)0x90));
	bad = _mm_or_si128(bad, sse2_wrong(v, one, 0xed, 0x3f, (signed char)0xa0));
	return _mm_or_si128(bad, sse2_wrong(v, one, 0xf4, 0x3f, (signed char)0xb0));
}

/* Whether a block that begins where no sequence is open is well-formed UTF-8; *end is
 * then the end of its last complete sequence. */
static inline bool scan_sequences(const unsigned char *at, const unsigned char **end)
{
	__m128i v = sse2_load(at);
	__m128i bad = sse2_malformed(v, _mm_slli_si128(v, 1), _mm_slli_si128(v, 2),
				     _mm_slli_si128(v, 3));
	for (unsigned i = 16; i < SCAN_BLOCK; i += 16)
		bad = _mm_or_si128(bad, sse2_malformed(sse2_load(at + i), sse2_load(at + i - 1),
						       sse2_load(at + i - 2),
						       sse2_load(at + i - 3)));
	if (sse2_bits(_mm_cmpeq_epi8(bad, _mm_setzero_si128())) != 0xffff)
		return false;
	*end = scan_cut(at + SCAN_BLOCK);
	return true;
}

#else

#define scan_block(at) plain_block(at)
#define scan_sequences plain_sequences
#define scan_string plain_string

#endif

#endif
