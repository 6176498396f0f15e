/* pin.c - a plugin's file held to its SHA-256: copied, sealed, summed.
 *
 * Layer: core; libc and base.  The copy is what is checked further and loaded, so that what
 * was summed is what runs.  The sum comes from libsodium, as the audit's do, in a module of
 * its own: the worker links libc alone, and only who pins pays for the library.
 */
#include <config.h>

#include "core/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/module.h"
#include "core/digest.h"

static int fail(const char *path, const char *what, int code, struct error *err)
{
	return error_set(err, code, "%s: cannot be held to its \"sha256\": %s: %s", path, what,
			 strerror(code));
}

static int read_into(int fd, const char *path, char *to, size_t size, struct error *err)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(fd, to + done, size - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(path, "reading", errno, err);
		if (n == 0)
			return error_set(err, EPERM, "%s: became shorter while it was read; wait "
					 "until it is installed", path);
		done += (size_t)n;
	}
	return 0;
}

static int copy(int fd, const char *path, int to, size_t size, struct error *err)
{
	if (ftruncate(to, (off_t)size) != 0)
		return fail(path, "making room for a copy", errno, err);
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (map == MAP_FAILED)
		return fail(path, "mapping a copy", errno, err);
	int r = read_into(fd, path, map, size, err);
	munmap(map, size); /* nothing that is mapped for writing can be sealed */
	if (r == 0 && fcntl(to, F_ADD_SEALS,
			    F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fail(path, "sealing the copy", errno, err);
	return r;
}

static int sum(int fd, const char *path, size_t size, unsigned char ret[PLUGIN_SUM],
	       struct error *err)
{
	const struct digest *digest = module_symbol("digest.so", "pawl_digest", err);
	if (!digest)
		return -ENOENT;
	void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return fail(path, "mapping the copy", errno, err);
	digest->sha256(map, size, ret);
	munmap(map, size);
	return 0;
}

static const char *hex(const unsigned char sum[PLUGIN_SUM], char text[2 * PLUGIN_SUM + 1])
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < PLUGIN_SUM; i++) {
		text[2 * i] = digits[sum[i] >> 4];
		text[2 * i + 1] = digits[sum[i] & 15];
	}
	text[2 * PLUGIN_SUM] = '\0';
	return text;
}

static int refuse_sum(const char *path, const unsigned char *is, const unsigned char *wanted,
		      struct error *err)
{
	char a[2 * PLUGIN_SUM + 1], b[2 * PLUGIN_SUM + 1];
	return error_set(err, EPERM,
			 "%s: its SHA-256 is %s and not the entry's %s; install the file that was "
			 "pinned, or, if this one is meant, write its sum into \"sha256\"",
			 path, hex(is, a), hex(wanted, b));
}

int plugin_pin(int fd, const char *path, const unsigned char sha256[PLUGIN_SUM], int *ret_fd,
	       struct error *err)
{
	struct stat st;
	unsigned char is[PLUGIN_SUM];
	const char *slash = strrchr(path, '/');
	if (fstat(fd, &st) != 0)
		return fail(path, "looking at it", errno, err);
	if (st.st_size <= 0 || st.st_size > PLUGIN_FILE_MAX)
		return error_set(err, EPERM, "%s: is empty or too large; install it again", path);
	_cleanup_close_ int to = memfd_create(slash ? slash + 1 : path,
					      MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (to < 0)
		return fail(path, "making a copy", errno, err);
	int r = copy(fd, path, to, (size_t)st.st_size, err);
	if (r == 0)
		r = sum(to, path, (size_t)st.st_size, is, err);
	if (r == 0 && memcmp(is, sha256, sizeof(is)) != 0)
		r = refuse_sum(path, is, sha256, err);
	if (r == 0)
		*ret_fd = TAKE_FD(to);
	return r;
}
