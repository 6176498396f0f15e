/* buffer.c - see buffer.h. */
#include <config.h>

#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>

void buffer_add(struct buffer *buffer, struct str more)
{
	if (buffer->error < 0)
		return;
	if (more.len > buffer->max - buffer->len) {
		buffer->error = -E2BIG;
		return;
	}
	if (buffer->len + more.len > buffer->room) {
		size_t room = (buffer->len + more.len) * 2 + 256;
		char *data = realloc(buffer->data, room);
		if (!data) {
			buffer->error = -ENOMEM;
			return;
		}
		buffer->data = data;
		buffer->room = room;
	}
	if (more.len > 0)
		memcpy(buffer->data + buffer->len, more.ptr, more.len);
	buffer->len += more.len;
}

void buffer_done(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){.max = buffer->max};
}
