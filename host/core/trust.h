/* trust.h - whether a file is one that only root or the user could have written.
 *
 * Layer: core; libc and base.
 *
 *	if (trust_folders("/etc/pawl", &folders_system, err) < 0 ||
 *	    trust_open("/etc/pawl/pawl.json", CONFIG_BYTES_MAX, &fd, &file_system, err) < 0)
 *		...
 */
#ifndef PAWL_CORE_TRUST_H
#define PAWL_CORE_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Opens path read-only (O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK) and checks what was
 * opened: a regular file of at most max bytes, owner root or the effective user,
 * not group- or world-writable, no set-id bits.  *ret_fd is the caller's;
 * *ret_system (may be NULL) tells whether root owns it.  Each refusal names the
 * file, the rule and the mend ("PATH: what; mend").  -EPERM untrusted, -ELOOP a
 * symbolic link, -EISDIR a folder, -EINVAL no regular file, -EFBIG too large, or
 * open's errno. */
int trust_open(const char *path, off_t max, int *ret_fd, bool *ret_system, struct error *err);

/* The same for every folder from / down to dir (an absolute path): owner root or
 * the user, not group- or world-writable; a sticky folder passes when the next
 * component is trusted (for the last one: whoever opens a file in it checks that
 * file).  Symbolic links on the way are followed by hand: the link's owner, the
 * folder it lies in and the whole way to its target are checked alike.
 * *ret_system (may be NULL): root owns all of them. */
int trust_folders(const char *dir, bool *ret_system, struct error *err);

#endif
