/* io.c - bounded reads and writes, names for state files, clocks. */
#include <config.h>

#include "base/io.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

int io_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	while (len > 0) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int io_read_all(int fd, size_t max, char **ret, size_t *ret_len, struct error *err)
{
	size_t room = 4096, len = 0;
	_cleanup_free_ char *data = malloc(room);
	if (!data)
		return error_set(err, ENOMEM, "out of memory");
	for (;;) {
		ssize_t n = read(fd, data + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "cannot read: %s", strerror(errno));
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return error_set(err, EFBIG, "larger than %zu bytes", max);
		if (len + 1 == room) {
			char *more = realloc(data, room * 2);
			if (!more)
				return error_set(err, ENOMEM, "out of memory");
			data = more;
			room *= 2;
		}
	}
	data[len] = '\0';
	*ret = TAKE_PTR(data);
	*ret_len = len;
	return 0;
}

/* FNV-1a: tells long names apart, protects nothing. */
static unsigned long long name_hash(struct str text)
{
	unsigned long long h = 14695981039346656037ULL;
	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.ptr[i]) * 1099511628211ULL;
	return h;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

void io_file_name(struct str text, char buf[IO_NAME_MAX])
{
	size_t at = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (at > IO_NAME_MAX - 24) {
			snprintf(buf + at, IO_NAME_MAX - at, "~%016llx", name_hash(text));
			return;
		}
		if (is_plain(text.ptr[i]))
			buf[at++] = text.ptr[i];
		else
			at += (size_t)sprintf(buf + at, "%%%02X", (unsigned char)text.ptr[i]);
	}
	if (at == 0)
		buf[at++] = '%';
	buf[at] = '\0';
}

bool io_file_text(const char *name, char buf[IO_NAME_MAX])
{
	size_t at = 0;
	if (strcmp(name, "%") == 0)
		name++;
	for (; *name && at < IO_NAME_MAX - 1; name++) {
		unsigned code;
		if (is_plain(*name)) {
			buf[at++] = *name;
		} else if (*name == '%' && sscanf(name + 1, "%2X", &code) == 1 && name[2]) {
			buf[at++] = (char)code;
			name += 2;
		} else {
			return false;
		}
	}
	buf[at] = '\0';
	return *name == '\0';
}

int io_make_dirs(const char *path, struct error *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	if (len == 0 || len >= sizeof(part))
		return error_set(err, ENAMETOOLONG, "%s: path is too long", path);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return error_set(err, errno, "%s: cannot make the folder: %s", part,
					 strerror(errno));
	}
	return 0;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
#ifdef PAWL_FRONT /* reads the clock a few times: the vDSO's pages would cost more */
	syscall(SYS_clock_gettime, clock, &t);
#else
	clock_gettime(clock, &t);
#endif
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t io_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t io_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
