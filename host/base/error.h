/* error.h - how a function says what went wrong.
 *
 * Layer: base; libc only.
 *
 * A function returns 0 or -errno and, last parameter, fills a struct error with
 * one line for a person: who, what, where.  Only fronts and cli print it.
 *
 *	if (fd < 0)
 *		return error_set(err, errno, "%s: %s", path, strerror(errno));
 */
#ifndef PAWL_BASE_ERROR_H
#define PAWL_BASE_ERROR_H

/* Longer messages are cut; one line, no newline at its end. */
#define ERROR_TEXT_MAX 1024

struct error {
	char text[ERROR_TEXT_MAX];
};

/* Fills err (may be NULL) and returns -code (code > 0), so that it can be the
 * operand of return. */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before what err already says; err may be NULL. */
void error_prefix(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
