/* escape.c - see escape.h. */
#include <config.h>

#include "escape.h"

#include "base/text.h"

static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x00, 0x1f},	    {0x7f, 0x9f},     {0xad, 0xad},	{0x34f, 0x34f},
	{0x61c, 0x61c},	    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x2000, 0x200f},   {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800},
	{0x3000, 0x3000},   {0x3164, 0x3164}, {0xd800, 0xdfff}, {0xe000, 0xf8ff},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
};

bool escape_needed(uint32_t c)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return true;
	return false;
}

static uint32_t decode(const char *text, size_t len)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)text[0] & first[len];
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

static void print_number(FILE *out, uint32_t c)
{
	if (c > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	else
		fprintf(out, "\\u%04x", c);
}

void escape_print(FILE *out, struct str text, bool lines)
{
	for (size_t i = 0; i < text.len;) {
		size_t n = text_utf8_step(str_after(text, i));
		uint32_t c = n > 0 ? decode(text.ptr + i, n) : 0;
		if (n == 0)
			fprintf(out, "\\x%02x", (unsigned char)text.ptr[i]);
		else if (escape_needed(c) && !(lines && c == '\n'))
			print_number(out, c);
		else
			fwrite(text.ptr + i, 1, n, out);
		i += n > 0 ? n : 1;
	}
}
