/* drops.c - counters in a pre-allocated file, overwritten in place. */
#include <config.h>

#include "drops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define MAGIC "pawldrp1"
#define WAIT_NS ((int64_t)1000000000)

_Static_assert(sizeof(struct drops) <= DROPS_SIZE, "the counters fit their page");
_Static_assert(REASON_COUNT <= (int)DROPS_REASONS, "each reason has a place");

static int load(int fd, struct drops *ret)
{
	ssize_t n = pread(fd, ret, sizeof(*ret), 0);
	if (n < 0)
		return -errno;
	/* Short, or written by nobody we know: begin again rather than add to noise. */
	if (n != sizeof(*ret) || memcmp(ret->magic, MAGIC, sizeof(ret->magic)) != 0) {
		memset(ret, 0, sizeof(*ret));
		memcpy(ret->magic, MAGIC, sizeof(ret->magic));
	}
	return 0;
}

static int save(int fd, const struct drops *drops)
{
	char page[DROPS_SIZE] = {0};
	memcpy(page, drops, sizeof(*drops));
	ssize_t n = pwrite(fd, page, sizeof(page), 0);
	if (n != sizeof(page))
		return n < 0 ? -errno : -ENOSPC;
	return fdatasync(fd) == 0 ? 0 : -errno;
}

/* Opens and locks the file; a counter is too short-lived for a lock file of its own. */
static int open_locked(const struct store *store, int *ret_fd, bool *ret_new, struct error *err)
{
	_cleanup_close_ int fd = -1;
	int r = store_file(store, STORE_DROPS, STORE_READ_MODE, &fd, ret_new, err);
	if (r < 0)
		return r;
	r = store_flock(fd, WAIT_NS);
	if (r < 0)
		return error_set(err, -r, "%s/%s: cannot lock", store->dir, STORE_DROPS);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int failed(const struct store *store, int code, struct error *err)
{
	return error_set(err, -code, "%s/%s: %s", store->dir, STORE_DROPS, strerror(-code));
}

int drops_make(const struct store *store, struct error *err)
{
	if (faccessat(store->dirfd, STORE_DROPS, F_OK, 0) == 0)
		return 0;
	_cleanup_close_ int fd = -1;
	struct drops drops;
	int r = open_locked(store, &fd, NULL, err);
	if (r < 0)
		return r;
	r = load(fd, &drops);
	if (r == 0)
		r = save(fd, &drops);
	return r < 0 ? failed(store, r, err) : store_sync_dir(store, err);
}

int drops_read(const struct store *store, struct drops *ret, struct error *err)
{
	memset(ret, 0, sizeof(*ret));
	_cleanup_close_ int fd =
	    openat(store->dirfd, STORE_DROPS, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : failed(store, -errno, err);
	int r = load(fd, ret);
	return r < 0 ? failed(store, r, err) : 0;
}

uint64_t drops_sum(const uint64_t counts[DROPS_REASONS])
{
	uint64_t sum = 0;
	for (int i = 0; i < DROPS_REASONS; i++)
		sum += counts[i];
	return sum;
}

int drops_count(const struct store *store, enum reason reason, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct drops drops;
	int r = open_locked(store, &fd, NULL, err);
	if (r < 0)
		return r;
	r = load(fd, &drops);
	if (r < 0)
		return failed(store, r, err);
	int64_t now = io_wall_ns() / 1000000;
	drops.pending[reason]++;
	drops.total[reason]++;
	if (drops.first_ms == 0)
		drops.first_ms = now;
	drops.last_ms = now;
	r = save(fd, &drops);
	return r < 0 ? failed(store, r, err) : 0;
}

int drops_count_ingest(const struct store *store, enum reason reason, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct drops drops;
	int r = open_locked(store, &fd, NULL, err);
	if (r < 0)
		return r;
	r = load(fd, &drops);
	if (r == 0) {
		drops.ingest[reason]++;
		r = save(fd, &drops);
	}
	return r < 0 ? failed(store, r, err) : 0;
}

int drops_told(const struct store *store, const struct drops *told, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct drops drops;
	int r = open_locked(store, &fd, NULL, err);
	if (r < 0)
		return r;
	r = load(fd, &drops);
	if (r < 0)
		return failed(store, r, err);
	for (int i = 0; i < DROPS_REASONS; i++)
		drops.pending[i] -=
		    told->pending[i] < drops.pending[i] ? told->pending[i] : drops.pending[i];
	if (drops_sum(drops.pending) == 0)
		drops.first_ms = drops.last_ms = 0;
	r = save(fd, &drops);
	return r < 0 ? failed(store, r, err) : 0;
}
