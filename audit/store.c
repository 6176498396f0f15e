/* store.c - opening a store's folder and files, and waiting for its locks. */
#include <config.h>

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

/* "a/b.db" -> "a", "b.db"; "b.db" -> ".", "b.db" */
static int split_path(const char *path, char **ret_dir, const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, EINVAL, "%s: not the name of a database", path);
	char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!dir)
		return error_set(err, ENOMEM, "out of memory");
	*ret_dir = dir;
	*ret_name = name;
	return 0;
}

static int open_folder(const char *dir, enum store_mode mode, struct store *store,
		       struct error *err)
{
	if (mode == STORE_MAKE && access(dir, F_OK) != 0) {
		int r = io_make_dirs(dir, err);
		if (r < 0)
			return r;
	}
	store->dir = realpath(dir, NULL);
	if (!store->dir)
		return error_set(err, errno, "%s: %s", dir, strerror(errno));
	struct stat st;
	store->dirfd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	store->shared = store->dirfd >= 0 && fstat(store->dirfd, &st) == 0 && (st.st_mode & S_IWGRP);
	if (store->dirfd < 0)
		return error_set(err, errno, "%s: %s", dir, strerror(errno));
	return 0;
}

int store_open(const char *db_path, enum store_mode mode, struct store *ret, struct error *err)
{
	*ret = (struct store){.dirfd = -1, .sync = true};
	_cleanup_free_ char *dir = NULL;
	const char *name = NULL;
	int r = split_path(db_path, &dir, &name, err);
	if (r == 0)
		r = open_folder(dir, mode, ret, err);
	if (r < 0)
		return r;
	if (asprintf(&ret->db, "%s/%s", ret->dir, name) < 0) {
		ret->db = NULL;
		return error_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

void store_close(struct store *store)
{
	free(store->dir);
	free(store->db);
	if (store->dirfd >= 0)
		close(store->dirfd);
	*store = (struct store){.dirfd = -1};
}

/* ---- waiting --------------------------------------------------------------------- */

static int64_t about(int64_t ns)
{
	uint32_t dice = 0;
	if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) != sizeof(dice))
		dice = (uint32_t)getpid() * 2654435761u;
	return ns / 2 + (int64_t)(dice % (uint32_t)(ns / 2));
}

/* The lock file's first bytes are where those who wait for it queue in the kernel.  They
 * are always 0 and only the kernel looks at them: whatever happens to the file, a process
 * that reads it by itself could die of it. */
static const uint32_t *queue_map(int fd)
{
	void *word = mmap(NULL, sizeof(uint32_t), PROT_READ, MAP_SHARED, fd, 0);
	return word == MAP_FAILED ? NULL : word;
}

static void queue_unmap(const uint32_t **word)
{
	if (*word)
		munmap((void *)(uintptr_t)*word, sizeof(**word));
}

static long queue_call(const uint32_t *word, int what, uint32_t n, const struct timespec *limit)
{
	return syscall(SYS_futex, word, what, n, limit, NULL, 0);
}

/* Until it is our turn, or so long: who gives the lock back between our look and our
 * wait, or dies with it, wakes nobody. */
static void queue_wait(const uint32_t *word, int64_t ns)
{
	struct timespec limit = {.tv_nsec = ns};
	if (!word || (queue_call(word, FUTEX_WAIT, 0, &limit) != 0 && errno != ETIMEDOUT &&
		      errno != EINTR))
		nanosleep(&limit, NULL);
}

/* flock has no time-out, and a signal is not ours to use inside somebody else's
 * process.  So: poll, quickly at first (the lock is held for one append), then
 * seldom (hundreds may wait, and a wake-up costs more than what the lock is held for),
 * and quickly again when half the time is gone, so that who waited longest gets in
 * before the newcomers. */
static int64_t pause_for(unsigned tries, int64_t waited, int64_t limit)
{
	if (tries < 4)
		return 300000;
	return waited > limit / 2 ? 1000000 : 6000000;
}

/* As long as waiting goes when one is woken. */
static int64_t pause_in_queue(unsigned tries, int64_t waited, int64_t limit)
{
	return tries == 0 || waited > limit / 2 ? 1500000 : 16000000;
}

static int try_lock(int fd, int64_t start, int64_t limit, int64_t *ret_waited)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK && errno != EINTR)
		return -errno;
	*ret_waited = io_monotonic_ns() - start;
	if (*ret_waited >= limit)
		return limit == 0 ? -EAGAIN : -ETIMEDOUT;
	return 1;
}

int store_flock(int fd, int64_t limit_ns)
{
	int64_t start = io_monotonic_ns(), waited = 0;
	int r;
	for (unsigned tries = 0; (r = try_lock(fd, start, limit_ns, &waited)) == 1; tries++)
		queue_wait(NULL, about(pause_for(tries, waited, limit_ns)));
	return r;
}

/* The same for a lock file, given back by store_unlock. */
static int lock_in_turn(int fd, int64_t limit_ns)
{
	_cleanup_(queue_unmap) const uint32_t *word = NULL;
	int64_t start = io_monotonic_ns(), waited = 0;
	struct stat st;
	int r;
	for (unsigned tries = 0; (r = try_lock(fd, start, limit_ns, &waited)) == 1; tries++) {
		if (tries == 0 && (fstat(fd, &st) != 0 ||
				   (st.st_size == 0 && ftruncate(fd, sizeof(*word)) != 0)))
			return store_flock(fd, limit_ns); /* an empty file has no first bytes */
		if (!word)
			word = queue_map(fd);
		queue_wait(word, about(word ? pause_in_queue(tries, waited, limit_ns)
					    : pause_for(tries, waited, limit_ns)));
	}
	return r;
}

void store_unlock(int fd)
{
	_cleanup_(queue_unmap) const uint32_t *word = queue_map(fd);
	(void)flock(fd, LOCK_UN);
	if (word)
		(void)queue_call(word, FUTEX_WAKE, 1, NULL);
	close(fd);
}

/* ---- files ----------------------------------------------------------------------- */

bool store_is_named(const struct store *store, int fd, const char *name)
{
	struct stat is, named;
	return fstat(fd, &is) == 0 &&
	       fstatat(store->dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       is.st_dev == named.st_dev && is.st_ino == named.st_ino && is.st_nlink > 0;
}

void store_share(const struct store *store, int fd)
{
	struct stat st;
	if (store->shared && fstat(fd, &st) == 0 && (st.st_mode & 0060) != 0060)
		(void)fchmod(fd, (st.st_mode & 0777) | 0060); /* not ours: its maker has done it */
}

int store_lock(const struct store *store, const char *name, int64_t limit_ns, int *ret_fd,
	       struct error *err)
{
	/* Somebody may have put another file in its place while we waited. */
	for (int turns = 0; turns < 8; turns++) {
		_cleanup_close_ int fd =
		    openat(store->dirfd, name,
			   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, STORE_OWN_MODE);
		if (fd < 0)
			return error_set(err, errno, "%s/%s: %s", store->dir, name,
					 strerror(errno));
		store_share(store, fd);
		int r = lock_in_turn(fd, limit_ns);
		if (r < 0)
			return error_set(err, -r, "%s/%s: %s", store->dir, name,
					 r == -ETIMEDOUT || r == -EAGAIN ? "held by somebody else"
									 : strerror(-r));
		if (store_is_named(store, fd, name)) {
			*ret_fd = TAKE_FD(fd);
			return 0;
		}
	}
	return error_set(err, ESTALE, "%s/%s: replaced again and again", store->dir, name);
}

int store_file(const struct store *store, const char *name, mode_t mode, int *ret_fd, bool *ret_new,
	       struct error *err)
{
	bool made = false;
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	_cleanup_close_ int fd = openat(store->dirfd, name, flags);
	if (fd < 0 && errno == ENOENT) {
		fd = openat(store->dirfd, name, flags | O_CREAT | O_EXCL, mode);
		made = fd >= 0;
		if (fd < 0 && errno == EEXIST)
			fd = openat(store->dirfd, name, flags);
	}
	if (fd < 0)
		return error_set(err, errno, "%s/%s: %s", store->dir, name, strerror(errno));
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "%s/%s: %s", store->dir, name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s/%s: not a plain file", store->dir, name);
	if (made)
		store_share(store, fd);
	*ret_fd = TAKE_FD(fd);
	if (ret_new)
		*ret_new = made;
	return 0;
}

int store_sync_dir(const struct store *store, struct error *err)
{
	if (!store->sync || fsync(store->dirfd) == 0 || errno == EINVAL)
		return 0;
	return error_set(err, errno, "%s: cannot sync: %s", store->dir, strerror(errno));
}
