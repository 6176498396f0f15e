/* digest.c - SHA-256 by libsodium, a module that is loaded only where something is pinned.
 *
 * Layer: core; knows libsodium and nothing else.
 */
#include <config.h>

#include "core/digest.h"

#include <errno.h>
#include <unistd.h>

#include <sodium.h>

/* Read in pieces: mapping costs a page fault every 4 KiB, many times the sum itself. */
static int sha256(int fd, unsigned char ret[32])
{
	crypto_hash_sha256_state state;
	unsigned char piece[16384];
	crypto_hash_sha256_init(&state);
	for (off_t at = 0;;) {
		ssize_t n = pread(fd, piece, sizeof(piece), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		crypto_hash_sha256_update(&state, piece, (unsigned long long)n);
		at += n;
	}
	crypto_hash_sha256_final(&state, ret);
	return 0;
}

extern __attribute__((visibility("default"))) const struct digest pawl_digest;
const struct digest pawl_digest = {sha256};
