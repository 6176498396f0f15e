/* io.h - whole reads and writes with a bound, and names for state files.
 *
 * Layer: base; libc only.
 */
#ifndef PAWL_BASE_IO_H
#define PAWL_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/* Writes all of it, over EINTR and short writes.  0 or -errno. */
int io_write_all(int fd, const void *data, size_t len);

/* Reads fd to its end.  *ret is the caller's, free with free(), and has a NUL
 * after its last byte; -EFBIG when there is more than max bytes. */
int io_read_all(int fd, size_t max, char **ret, size_t *ret_len, struct error *err);

/* A file name (at most 200 bytes, no '/', never "." or "..") that stands for any
 * text: kept as it is where it is plain, percent-encoded where not, cut and
 * hashed where long.  buf holds IO_NAME_MAX bytes. */
#define IO_NAME_MAX 201
void io_file_name(struct str text, char buf[IO_NAME_MAX]);
/* The text that such a name stands for; false where it was cut, or is no such name. */
bool io_file_text(const char *name, char buf[IO_NAME_MAX]);

/* mkdir -p with mode 0700 for what is made.  0 or -errno. */
int io_make_dirs(const char *path, struct error *err);

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
int64_t io_monotonic_ns(void);
int64_t io_wall_ns(void);

#endif
