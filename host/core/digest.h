/* digest.h - what the module lib/pawl/digest.so offers as "pawl_digest".
 *
 * Layer: core; knows nothing.
 */
#ifndef PAWL_CORE_DIGEST_H
#define PAWL_CORE_DIGEST_H

struct digest {
	/* of all that fd has from its beginning; 0 or -errno */
	int (*sha256)(int fd, unsigned char ret[32]);
};

#endif
