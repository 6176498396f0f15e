/* refuse.c - the reader's messages: what is wrong, on one line for a person.
 *
 * Layer: json.
 */
#include <config.h>

#include "json/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "json/utf8.h"

byte *refuse(struct reader *r, const byte *at, int code, const char *format, ...)
{
	r->code = code;
	r->fault = at;
	if (r->err) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(r->err->text, sizeof(r->err->text), format, ap);
		va_end(ap);
	}
	return NULL;
}

byte *refuse_byte(struct reader *r, const byte *at, const char *wanted)
{
	if (at >= r->end)
		return refuse(r, r->end, EBADMSG, "the text ends where %s should be", wanted);
	if (*at > 0x20 && *at < 0x7f)
		return refuse(r, at, EBADMSG, "'%c' where %s should be", *at, wanted);
	return refuse(r, at, EBADMSG, "byte 0x%02x where %s should be", *at, wanted);
}

/* A text holds at most one value in two bytes, unless its brackets are never closed. */
byte *refuse_values(struct reader *r, const byte *at)
{
	if (at >= r->end)
		return refuse_byte(r, at, "a value");
	if (r->bound == E2BIG)
		return refuse(r, at, E2BIG, "more than %zu values", r->limits.values);
	if (r->bound == ENOMEM)
		return refuse(r, at, ENOMEM, "the arena is full");
	return refuse(r, r->end, EBADMSG, "the text ends before its brackets are closed");
}

/* A name, made fit for one line of a message. */
byte *refuse_twice(struct reader *r, const struct json_value *member)
{
	char shown[64];
	size_t n = 0;
	const byte *name = r->text + member->name;
	for (size_t i = 0; i < member->name_len && n < sizeof(shown) - 4; i++)
		shown[n++] = name[i] < 0x20 || name[i] == 0x7f ? '?' : (char)name[i];
	while (n < member->name_len && n > 0 && utf8_is_tail(name[n]))
		n--; /* not in the middle of a sequence */
	shown[n] = '\0';
	return refuse(r, name - 1, EBADMSG, "duplicate member \"%s%s\"", shown,
		      n < member->name_len ? "..." : "");
}
