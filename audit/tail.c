/* tail.c - reads a log from its end. */
#include <config.h>

#include "tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define FIRST_WINDOW ((off_t)4 << 10) /* most records are shorter */
/* One longest record, and room for what a torn write may have left after it. */
#define LAST_WINDOW ((off_t)(2 * CHAIN_LINE_MAX))

static int read_at(int fd, char *buf, size_t len, off_t at)
{
	while (len > 0) {
		ssize_t n = pread(fd, buf, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		buf += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Looks through data (the file from start on) for its last record.  1 found, 0 not
 * within data. */
static int find_record(struct str data, off_t start, struct tail *ret)
{
	const char *end = memrchr(data.ptr, '\n', data.len);
	while (end) {
		const char *before = memrchr(data.ptr, '\n', (size_t)(end - data.ptr));
		if (!before && start > 0)
			return 0; /* its beginning lies before the window */
		const char *line = before ? before + 1 : data.ptr;
		if (chain_read((struct str){line, (size_t)(end - line)}, &ret->chain)) {
			ret->good = start + (end - data.ptr) + 1;
			return 1;
		}
		end = before;
	}
	return 0;
}

int tail_read(int fd, struct tail *ret, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "cannot look at the log: %s", strerror(errno));
	*ret = (struct tail){.size = st.st_size};
	for (off_t window = FIRST_WINDOW; st.st_size > 0; window *= 4) {
		off_t start = window < st.st_size ? st.st_size - window : 0;
		size_t len = (size_t)(st.st_size - start);
		_cleanup_free_ char *data = malloc(len);
		if (!data)
			return error_set(err, ENOMEM, "out of memory");
		int r = read_at(fd, data, len, start);
		if (r < 0)
			return error_set(err, -r, "cannot read the log: %s", strerror(-r));
		if (find_record((struct str){data, len}, start, ret))
			return 0;
		if (start > 0 && window < LAST_WINDOW)
			continue;
		if (start == 0 && !memchr(data, '\n', len))
			return 0; /* nothing but the torn first write */
		return error_set(err, EBADMSG, "the log does not end in a record of ours");
	}
	return 0;
}

int tail_last_newline(int fd, off_t size, off_t *ret, struct error *err)
{
	char block[4096];
	while (size > 0) {
		size_t len = size < (off_t)sizeof(block) ? (size_t)size : sizeof(block);
		int r = read_at(fd, block, len, size - (off_t)len);
		if (r < 0)
			return error_set(err, -r, "cannot read: %s", strerror(-r));
		const char *newline = memrchr(block, '\n', len);
		if (newline) {
			*ret = size - (off_t)len + (newline - block) + 1;
			return 0;
		}
		size -= (off_t)len;
	}
	*ret = 0;
	return 0;
}

static int copy_out(int fd, off_t from, off_t to, int out)
{
	char block[16384];
	while (from < to) {
		size_t len = to - from < (off_t)sizeof(block) ? (size_t)(to - from) : sizeof(block);
		int r = read_at(fd, block, len, from);
		if (r == 0)
			r = io_write_all(out, block, len);
		if (r < 0)
			return r;
		from += (off_t)len;
	}
	return fsync(out) == 0 ? 0 : -errno;
}

static int keep_torn(const struct store *store, int fd, off_t from, off_t to, char *name)
{
	if (mkdirat(store->dirfd, STORE_TORN, 0700) != 0 && errno != EEXIST)
		return -errno;
	snprintf(name, TAIL_NAME_MAX, STORE_TORN "/%lld-%lld", (long long)(io_wall_ns() / 1000),
		 (long long)from);
	_cleanup_close_ int out =
	    openat(store->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		   STORE_OWN_MODE);
	if (out < 0)
		return -errno;
	return copy_out(fd, from, to, out);
}

int tail_cut(const struct store *store, int fd, off_t from, off_t to, char *name, struct error *err)
{
	int r = keep_torn(store, fd, from, to, name);
	if (r < 0)
		return error_set(err, -r, "%s/%s: cannot keep a torn end: %s", store->dir,
				 STORE_TORN, strerror(-r));
	if (ftruncate(fd, from) != 0)
		return error_set(err, errno, "cannot cut a torn end: %s", strerror(errno));
	return 0;
}
