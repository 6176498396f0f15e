/* end.c - tells when one whole JSON value has arrived; checks nothing else.
 *
 * Layer: json; libc only, linked into the front by itself.  What is wrong with the
 * value is for the reader to say: here a bracket is a bracket, and one too many
 * closes the value.
 */
#include <config.h>

#include "json/json.h"

enum { BETWEEN, STRING, ESCAPE, WORD };

static int is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Leading BOMs do not begin a word. */
static int is_bom(char c)
{
	return c == '\xef' || c == '\xbb' || c == '\xbf';
}

static void feed_between(struct json_end *end, char c)
{
	if (c == '"') {
		end->state = STRING;
	} else if (c == '{' || c == '[') {
		end->depth += end->depth < UINT32_MAX;
	} else if (c == '}' || c == ']') {
		end->depth -= end->depth > 0;
		end->done = end->depth == 0;
	} else if (is_space(c) || (!end->started && is_bom(c))) {
		return;
	} else if (end->depth == 0) {
		end->state = WORD;
	}
	end->started = 1;
}

static void feed_string(struct json_end *end, char c)
{
	if (end->state == ESCAPE) {
		end->state = STRING;
	} else if (c == '\\') {
		end->state = ESCAPE;
	} else if (c == '"') {
		end->state = BETWEEN;
		end->done = end->depth == 0;
	}
}

/* Bytes of a string that say nothing, eight at a time. */
static size_t skip_plain(const char *data, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t at = 0;
	for (; len - at >= 8; at += 8) {
		uint64_t word, quote, slash;
		memcpy(&word, data + at, 8);
		quote = word ^ ones * '"';
		slash = word ^ ones * '\\';
		if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & ones << 7)
			break;
	}
	return at;
}

size_t json_end_feed(struct json_end *end, const char *data, size_t len)
{
	size_t at = 0;
	while (at < len && !end->done) {
		if (end->state == STRING) {
			at += skip_plain(data + at, len - at);
			if (at == len)
				break;
		}
		char c = data[at];
		if (end->state == WORD) {
			end->done = is_space(c);
			if (end->done)
				break;
		} else if (end->state == BETWEEN) {
			feed_between(end, c);
		} else {
			feed_string(end, c);
		}
		at++;
	}
	return at;
}
