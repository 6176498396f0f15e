/* sha256.c - see sha256.h. */
#include <config.h>

#include "cli/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/module.h"
#include "core/digest.h"

int sha256_hex(struct str text, char ret[SHA256_HEX + 1], struct error *err)
{
	unsigned char sum[SHA256_HEX / 2];
	const struct digest *digest = module_symbol("digest.so", "pawl_digest", err);
	if (!digest)
		return -ENOENT;
	_cleanup_close_ int fd = memfd_create("sum", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : io_write_all(fd, text.ptr, text.len);
	if (r == 0)
		r = digest->sha256(fd, sum);
	if (r < 0)
		return error_set(err, -r, "a sum cannot be taken: %s", strerror(-r));
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(ret + 2 * i, 3, "%02x", sum[i]);
	return 0;
}
