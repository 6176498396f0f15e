/* text.c - prints text so that it can only look like what it is. */
#include <config.h>

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

/* Invisible, or changing how others are laid out: first and last of a range. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x0000, 0x001f}, {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f}, {0x061c, 0x061c},
	{0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	{0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_hidden(uint32_t c)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return true;
	return false;
}

/* The character at s and its length; length 0 for a byte that begins none. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;
	if (n == 0 || n > len)
		return 0;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return n;
}

static size_t print_hidden(FILE *out, uint32_t c)
{
	int n = c < 0x80      ? fprintf(out, "\\x%02x", c)
		: c < 0x10000 ? fprintf(out, "\\u%04x", c)
			      : fprintf(out, "\\U%08x", c);
	return n > 0 ? (size_t)n : 0;
}

size_t text_print(FILE *out, struct str text, size_t max)
{
	size_t columns = 0;
	for (size_t i = 0; i < text.len;) {
		uint32_t c = (unsigned char)text.ptr[i];
		size_t n = decode((const unsigned char *)text.ptr + i, text.len - i, &c);
		if (columns + 1 >= max && i + (n ? n : 1) < text.len) {
			fputs("…", out);
			return columns + 1;
		}
		if (n == 0 || is_hidden(c)) {
			columns += print_hidden(out, n == 0 ? (unsigned char)text.ptr[i] : c);
		} else {
			fwrite(text.ptr + i, 1, n, out);
			columns++;
		}
		i += n ? n : 1;
	}
	return columns;
}

void text_column(FILE *out, struct str text, size_t width)
{
	size_t used = text_print(out, text, width);
	for (; used < width; used++)
		fputc(' ', out);
	fputc(' ', out);
}
