/* mangle.h - how clients replace characters in the names of tools and servers.
 *
 * Layer: core, between match.c and match-name.c.
 *
 * Some write '_' for everything outside [A-Za-z0-9_], some for less: a '_' in such a
 * name may stand for itself or for any one character that is no word character.
 */
#ifndef PAWL_CORE_MANGLE_H
#define PAWL_CORE_MANGLE_H

#include "base/str.h"

/* What clients leave alone when they replace characters in a name. */
static inline bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Bytes of the UTF-8 character at text[at]; broken ones count as one byte. */
static inline size_t char_len(struct str text, size_t at)
{
	unsigned char c = (unsigned char)text.ptr[at];
	size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	return n <= text.len - at ? n : 1;
}

/* The first n bytes of text (n <= len). */
static inline struct str str_before(struct str text, size_t n)
{
	return (struct str){text.ptr, n};
}

#endif
