/* test-json-scan.c - the scans with vectors and those in plain C say what a look at each
 * byte says. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/scan.h"

enum { BLOCKS = 50000, MARGIN = SCAN_PAD };

static uint64_t seed = 7;
static unsigned char text[SCAN_BLOCK + MARGIN];

static unsigned any(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

/* Bytes at the borders of every range, or anything. */
static unsigned char any_byte(void)
{
	static const unsigned char borders[] = {
		0x00, 0x1f, 0x20, 0x21, '"',  '#',  '[',  '\\', ']',  0x7f, 0x80, 0x8f, 0x90,
		0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
		0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
	};
	return any(4) ? borders[any(sizeof(borders))] : (unsigned char)any(256);
}

/* Mostly well-formed: sequences at the borders, now and then a byte is changed. */
static void fill_sequences(void)
{
	static const char *const pieces[] = {
		"a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
		"\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xf1\x80\x80\x80", "\\",
	};
	size_t len = 0;
	while (len + 4 < sizeof(text)) {
		const char *piece = pieces[any(sizeof(pieces) / sizeof(*pieces))];
		memcpy(text + len, piece, strlen(piece));
		len += strlen(piece);
	}
	memset(text + len, ' ', sizeof(text) - len);
	if (any(2))
		text[any(SCAN_BLOCK)] = any_byte();
}

static void fill(void)
{
	unsigned plain = any(3);
	if (any(2)) {
		fill_sequences();
		return;
	}
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = plain && any(20) ? 'x' : any_byte();
}

static void assert_block(struct scan_block block)
{
	for (unsigned i = 0; i < SCAN_BLOCK; i++) {
		assert_int_equal(block.slashes >> i & 1, text[i] == '\\');
		assert_int_equal(block.others >> i & 1, text[i] == '"' || text[i] < 0x20);
		assert_int_equal(block.high >> i & 1, text[i] >= 0x80);
	}
}

static void test_block_marks_each_byte(void **state)
{
	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		fill();
		assert_block(scan_block(text));
		assert_block(plain_block(text));
	}
}

static void test_string_stops_at_the_first_byte_that_is_not_plain(void **state)
{
	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		fill();
		size_t stop = 0;
		text[SCAN_BLOCK] = '"';
		while (text[stop] >= 0x20 && text[stop] < 0x80 && text[stop] != '"' &&
		       text[stop] != '\\')
			stop++;
		assert_ptr_equal(scan_string(text), text + stop);
		assert_ptr_equal(plain_string(text), text + stop);
	}
}

/* Where the first sequence begins that is malformed or goes on behind the block. */
static size_t well_formed(void)
{
	size_t at = 0, n = 1;
	for (; at < SCAN_BLOCK && n > 0; at += n)
		n = text[at] < 0x80 ? 1 : utf8_length(text + at, SCAN_BLOCK - at);
	return at;
}

typedef bool (*sequences_fn)(const unsigned char *at, const unsigned char **end);

/* What is taken is well-formed, and what is well-formed is taken; what is only begun at the
 * end may be refused early or cut off. */
static void assert_sequences(sequences_fn sequences)
{
	const unsigned char *end = NULL;
	size_t good = well_formed();
	if (sequences(text, &end)) {
		assert_ptr_equal(end, text + good);
		assert_true(good + 3 >= SCAN_BLOCK);
	} else {
		size_t n = utf8_length(text + good, SCAN_BLOCK + 4 - good);
		assert_true(good < SCAN_BLOCK && n == 0);
	}
}

static void test_sequences_are_taken_only_when_well_formed(void **state)
{
	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		fill();
		assert_sequences(scan_sequences);
		assert_sequences(plain_sequences);
	}
}

/* Every pair of bytes that may begin a sequence, at each place of two vectors. */
static void test_every_pair_of_bytes_is_judged(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair < 0x10000; pair++) {
		size_t at = pair % 31 + 8;
		memset(text, 'x', sizeof(text));
		text[at] = (unsigned char)(pair >> 8);
		text[at + 1] = (unsigned char)pair;
		if (text[at] >= 0xe0)
			memset(text + at + 2, 0x80, text[at] >= 0xf0 ? 2 : 1);
		assert_sequences(scan_sequences);
		assert_sequences(plain_sequences);
	}
}

static void test_starts_are_every_other_backslash_of_a_row(void **state)
{
	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t slashes = 0, starts = 0;
		unsigned dense = any(8) + 1;
		for (unsigned bit = 0; bit < 64; bit++)
			slashes |= (uint64_t)(any(dense) == 0) << bit;
		if (any(10) == 0)
			slashes = ~slashes;
		for (unsigned bit = 0; bit < 64; bit++)
			if ((slashes >> bit & 1) && !(bit && (starts >> (bit - 1) & 1)))
				starts |= UINT64_C(1) << bit;
		assert_true(scan_starts(slashes) == starts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block_marks_each_byte),
		cmocka_unit_test(test_string_stops_at_the_first_byte_that_is_not_plain),
		cmocka_unit_test(test_sequences_are_taken_only_when_well_formed),
		cmocka_unit_test(test_every_pair_of_bytes_is_judged),
		cmocka_unit_test(test_starts_are_every_other_backslash_of_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
