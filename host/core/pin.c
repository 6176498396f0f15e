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
#include "base/io.h"
#include "base/module.h"
#include "core/digest.h"

static int fail(const char *path, const char *what, int code, struct error *err)
{
	return error_set(err, code, "%s: cannot be held to its \"sha256\": %s: %s", path, what,
			 strerror(code));
}

/* At most size bytes: one that grows meanwhile has another sum. */
static int copy(int fd, const char *path, int to, off_t size, struct error *err)
{
	char piece[16384];
	for (off_t at = 0; at < size;) {
		size_t want = size - at < (off_t)sizeof(piece) ? (size_t)(size - at) : sizeof(piece);
		ssize_t n = pread(fd, piece, want, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(path, "reading", errno, err);
		if (n == 0)
			return error_set(err, EPERM, "%s: became shorter while it was read; wait "
					 "until it is installed", path);
		int r = io_write_all(to, piece, (size_t)n);
		if (r < 0)
			return fail(path, "writing a copy", -r, err);
		at += n;
	}
	return 0;
}

static int seal(int fd, const char *path, struct error *err)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fail(path, "sealing the copy", errno, err);
	return 0;
}

static int sum(int fd, const char *path, unsigned char ret[PLUGIN_SUM], struct error *err)
{
	const struct digest *digest = module_symbol("digest.so", "pawl_digest", err);
	if (!digest)
		return -ENOENT;
	int r = digest->sha256(fd, ret);
	return r < 0 ? fail(path, "reading the copy", -r, err) : 0;
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
	int r = copy(fd, path, to, st.st_size, err);
	if (r == 0)
		r = seal(to, path, err);
	if (r == 0)
		r = sum(to, path, is, err);
	if (r == 0 && memcmp(is, sha256, sizeof(is)) != 0)
		r = refuse_sum(path, is, sha256, err);
	if (r == 0)
		*ret_fd = TAKE_FD(to);
	return r;
}
