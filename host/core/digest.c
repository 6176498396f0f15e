/* digest.c - SHA-256 by libsodium, a module that is loaded only where something is pinned.
 *
 * Layer: core; knows libsodium and nothing else.
 */
#include <config.h>

#include "core/digest.h"

#include <sodium.h>

static void sha256(const void *data, size_t len, unsigned char ret[32])
{
	crypto_hash_sha256(ret, data, len);
}

extern __attribute__((visibility("default"))) const struct digest pawl_digest;
const struct digest pawl_digest = {sha256};
