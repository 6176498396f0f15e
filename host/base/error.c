/* error.c - fills struct error; prints nothing. */
#include <config.h>

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *format, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(err->text, sizeof(err->text), format, ap);
		va_end(ap);
	}
	return -code;
}

void error_prefix(struct error *err, const char *format, ...)
{
	if (!err)
		return;
	struct error old = *err;
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->text) - 3)
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %.*s",
			 (int)(sizeof(err->text) - (size_t)n - 3), old.text);
}
