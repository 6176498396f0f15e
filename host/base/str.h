/* str.h - a borrowed piece of text, and the few things every layer does with one.
 *
 * Layer: base; libc only, knows nothing of JSON or policy.
 *
 * A str never owns its bytes and need not end in NUL; {NULL, 0} is "absent",
 * {"", 0} is "empty".
 */
#ifndef PAWL_BASE_STR_H
#define PAWL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

/* STR("literal"): no strlen at run time */
#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* for "%.*s" */
#define STR_FMT(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline struct str str_of(const char *text)
{
	return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(struct str a, const char *b)
{
	return str_equal(a, str_of(b));
}

static inline bool str_starts(struct str text, struct str prefix)
{
	return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

/* The text after its first n bytes (n <= len). */
static inline struct str str_after(struct str text, size_t n)
{
	return (struct str){text.ptr + n, text.len - n};
}

#endif
