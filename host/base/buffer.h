/* buffer.h - text that grows, up to a named maximum.
 *
 * Layer: base; libc only.
 *
 *	_cleanup_(buffer_done) struct buffer text = {.max = 4096};
 *	buffer_add(&text, STR("{"));
 *	if (text.error < 0) ...
 */
#ifndef PAWL_BASE_BUFFER_H
#define PAWL_BASE_BUFFER_H

#include "base/str.h"

struct buffer {
	char *data; /* not NUL-terminated */
	size_t len, room;
	size_t max; /* bytes */
	int error;  /* the first -errno (-E2BIG past max, -ENOMEM); later additions do nothing */
};

void buffer_add(struct buffer *buffer, struct str more);
void buffer_done(struct buffer *buffer); /* takes an empty one */

static inline struct str buffer_str(const struct buffer *buffer)
{
	return (struct str){buffer->data, buffer->len};
}

#endif
