/* digest.h - what the module lib/pawl/digest.so offers as "pawl_digest".
 *
 * Layer: core; knows nothing.
 */
#ifndef PAWL_CORE_DIGEST_H
#define PAWL_CORE_DIGEST_H

#include <stddef.h>

struct digest {
	void (*sha256)(const void *data, size_t len, unsigned char ret[32]);
};

#endif
