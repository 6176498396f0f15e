/* counters.c - a fixed table of session counters in a file. */
#include <config.h>

#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define WINDOW 16 /* places a session may use, side by side */
#define WAIT_NS ((int64_t)1000000000)

struct slot {
	uint64_t session; /* the first bytes of its id's SHA-256; 0 = free */
	uint32_t count;
	uint32_t used; /* seconds since 1970, for choosing whom to forget */
};

static uint64_t session_key(struct str session)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	uint64_t key;
	crypto_hash_sha256(hash, (const unsigned char *)session.ptr, session.len);
	memcpy(&key, hash, sizeof(key));
	return key ? key : 1;
}

static size_t find(const struct slot window[WINDOW], uint64_t key)
{
	size_t oldest = 0;
	for (size_t i = 0; i < WINDOW; i++) {
		if (window[i].session == key)
			return i;
		if (window[i].used < window[oldest].used)
			oldest = i;
	}
	return oldest;
}

static int count(int fd, uint64_t key, uint32_t *ret)
{
	struct slot window[WINDOW] = {0};
	off_t at = (off_t)(key % (COUNTERS_SLOTS - WINDOW) * sizeof(struct slot));
	ssize_t n = pread(fd, window, sizeof(window), at);
	if (n < 0)
		return -errno;
	struct slot *slot = &window[find(window, key)];
	if (slot->session != key)
		*slot = (struct slot){.session = key};
	slot->count++;
	slot->used = (uint32_t)(io_wall_ns() / 1000000000);
	n = pwrite(fd, slot, sizeof(*slot), at + (slot - window) * (off_t)sizeof(*slot));
	if (n != sizeof(*slot))
		return n < 0 ? -errno : -ENOSPC;
	*ret = slot->count;
	return 0;
}

int counters_next(const struct store *store, struct str session, uint32_t *ret, struct error *err)
{
	_cleanup_close_ int fd = -1;
	bool made = false;
	int r = store_file(store, STORE_COUNTERS, STORE_OWN_MODE, &fd, &made, err);
	if (r < 0)
		return r;
	if (made) /* without room the places are taken as they are used */
		(void)posix_fallocate(fd, 0, COUNTERS_SLOTS * (off_t)sizeof(struct slot));
	r = store_flock(fd, WAIT_NS);
	if (r == 0)
		r = count(fd, session_key(session), ret);
	if (r < 0)
		return error_set(err, -r, "%s/%s: %s", store->dir, STORE_COUNTERS, strerror(-r));
	return 0;
}
