/* lag.c - one structure in a file; what cannot be read counts as due. */
#include <config.h>

#include "lag.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "segment.h"

#define MAGIC "pawlidx1"

struct lag {
	char magic[8];
	int64_t segment, offset, wall_ms;
};

static int64_t wall_ms(void)
{
	return io_wall_ns() / 1000000;
}

void lag_write(const struct store *store, int64_t segment, int64_t offset)
{
	_cleanup_close_ int fd = -1;
	struct lag lag = {.segment = segment, .offset = offset, .wall_ms = wall_ms()};
	memcpy(lag.magic, MAGIC, sizeof(lag.magic));
	if (store_file(store, STORE_LAG, STORE_READ_MODE, &fd, NULL, NULL) == 0 &&
	    pwrite(fd, &lag, sizeof(lag), 0) != sizeof(lag))
		return; /* an old one is due earlier */
}

static bool load(const struct store *store, struct lag *ret)
{
	_cleanup_close_ int fd =
	    openat(store->dirfd, STORE_LAG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd >= 0 && pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret) &&
	       memcmp(ret->magic, MAGIC, sizeof(ret->magic)) == 0;
}

bool lag_is_due(const struct store *store)
{
	_cleanup_close_ int fd = -1;
	struct lag lag;
	struct stat st;
	if (!load(store, &lag) || access(store->db, F_OK) != 0 ||
	    segment_open(store, STORE_LOG, &fd, NULL) < 0 || fstat(fd, &st) != 0)
		return true;
	int64_t age = wall_ms() - lag.wall_ms, more = (int64_t)st.st_size - lag.offset;
	return segment_first(fd) != lag.segment || more < 0 || more >= LAG_BYTES || age < 0 ||
	       age >= LAG_MS;
}
