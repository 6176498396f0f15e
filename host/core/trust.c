/* trust.c - owner and mode of files and of the folders above them.
 *
 * Layer: core; libc and base.
 *
 * Folders are checked from the root down, one lstat each.  That leaves no race: a
 * component can only be replaced by whoever may write the folder above it, and that
 * folder has just been found to belong to root or the user.
 */
#include <config.h>

#include "core/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

#define TRUST_LINKS_MAX 40 /* symbolic links on one way, as the kernel's own bound */

static bool is_ours(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

static int refuse_owner(const char *path, const char *what, uid_t owner, struct error *err)
{
	uid_t me = geteuid();
	if (me == 0)
		return error_set(err, EPERM,
				 "%s: %s belongs to user %u, not to root; chown root %s", path,
				 what, (unsigned)owner, path);
	return error_set(err, EPERM,
			 "%s: %s belongs to user %u, neither to root nor to you (%u); "
			 "chown %u %s, or use a copy of your own",
			 path, what, (unsigned)owner, (unsigned)me, (unsigned)me, path);
}

/* A POSIX ACL needs no look of its own: where there is one, the group's bits are its mask,
 * the most that anybody it names can do, and chmod go-w takes that away. */
static int refuse_mode(const char *path, const char *what, mode_t mode, struct error *err)
{
	bool acl = lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
	const char *who = mode & S_IWOTH ? "everybody" :
			  acl		 ? "whom its ACL names" :
					   "its group";
	return error_set(err, EPERM, "%s: %s can be written by %s (mode %04o); chmod go-w %s", path,
			 what, who, (unsigned)(mode & 07777), path);
}

/* open's errno, in words that say what to do */
static int refuse_open(const char *path, int code, struct error *err)
{
	switch (code) {
	case ENOENT:
		return error_set(err, code, "%s: does not exist", path);
	case ELOOP:
		return error_set(err, code,
				 "%s: is a symbolic link, and only the file itself is read; "
				 "name the file it points to, or put a copy in its place",
				 path);
	case EACCES:
		return error_set(err, code,
				 "%s: you may not read it; chmod u+r %s, or ask its owner", path,
				 path);
	default:
		return error_set(err, code, "%s: cannot be opened: %s", path, strerror(code));
	}
}

static int check_file(const char *path, const struct stat *st, off_t max, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return error_set(err, EISDIR, "%s: is a folder, not a file; name the file in it",
				 path);
	if (!S_ISREG(st->st_mode))
		return error_set(
			err, EINVAL,
			"%s: is no regular file (a pipe, socket or device); put a file there",
			path);
	if (!is_ours(st->st_uid))
		return refuse_owner(path, "the file", st->st_uid, err);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return refuse_mode(path, "the file", st->st_mode, err);
	if (st->st_mode & (S_ISUID | S_ISGID))
		return error_set(err, EPERM, "%s: has a set-id bit (mode %04o); chmod ug-s %s",
				 path, (unsigned)(st->st_mode & 07777), path);
	if (st->st_size > max)
		return error_set(err, EFBIG, "%s: has %lld bytes, more than the %lld that are read",
				 path, (long long)st->st_size, (long long)max);
	return 0;
}

int trust_open(const char *path, off_t max, int *ret_fd, bool *ret_system, struct error *err)
{
	/* O_NONBLOCK: a pipe put in the file's place must not hold us */
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	_cleanup_close_ int fd = open(path, flags);
	if (fd < 0)
		return refuse_open(path, errno, err);
	struct stat st;
	if (fstat(fd, &st) != 0)
		return refuse_open(path, errno, err);
	int r = check_file(path, &st, max, err);
	if (r < 0)
		return r;
	if (ret_system)
		*ret_system = st.st_uid == 0;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* ---- the folders above ---------------------------------------------------- */

/* The way as it is known so far: links are replaced by what they point to. */
struct way {
	char path[PATH_MAX];
	size_t len;
	unsigned links;
	bool system;
};

/* Puts the target of the link [start, end) in its place; *ret_next is where checking
 * goes on: at the root again when the target is absolute. */
static int way_follow(struct way *way, size_t start, size_t end, size_t *ret_next,
		      struct error *err)
{
	char target[PATH_MAX];
	char kept = way->path[end];
	way->path[end] = '\0';
	if (++way->links > TRUST_LINKS_MAX)
		return error_set(err, ELOOP, "%s: too many symbolic links; name the folder itself",
				 way->path);
	ssize_t n = readlink(way->path, target, sizeof(target) - 1);
	if (n <= 0)
		return refuse_open(way->path, n < 0 ? errno : EINVAL, err);
	way->path[end] = kept;
	target[n] = '\0';
	size_t tail = way->len - end + 1, at = target[0] == '/' ? 0 : start;
	if (at + (size_t)n + tail > sizeof(way->path))
		return error_set(err, ENAMETOOLONG, "%.128s: the path is too long", target);
	memmove(way->path + at + n, way->path + end, tail);
	memcpy(way->path + at, target, (size_t)n);
	way->len = at + (size_t)n + tail - 1;
	*ret_next = at;
	return 0;
}

static int check_folder(const char *path, const struct stat *st, bool is_link, struct error *err)
{
	const char *what = is_link ? "the symbolic link" : "the folder";
	if (!is_link && !S_ISDIR(st->st_mode))
		return error_set(err, ENOTDIR, "%s: is no folder; name a folder", path);
	if (!is_ours(st->st_uid))
		return refuse_owner(path, what, st->st_uid, err);
	/* in a sticky folder only an entry's owner can replace it, and the entry's
	 * owner is what the next step looks at */
	if (!is_link && (st->st_mode & (S_IWGRP | S_IWOTH)) && !(st->st_mode & S_ISVTX))
		return refuse_mode(path, what, st->st_mode, err);
	return 0;
}

/* Checks the component [start, end); *ret_next is where the next one begins. */
static int way_step(struct way *way, size_t start, size_t end, size_t *ret_next, struct error *err)
{
	struct stat st;
	char kept = way->path[end];
	way->path[end] = '\0';
	int r = lstat(way->path, &st) == 0 ? 0 : refuse_open(way->path, errno, err);
	bool is_link = r == 0 && S_ISLNK(st.st_mode);
	if (r == 0)
		r = check_folder(way->path, &st, is_link, err);
	way->path[end] = kept;
	if (r < 0)
		return r;
	way->system = way->system && st.st_uid == 0;
	*ret_next = end;
	return is_link ? way_follow(way, start, end, ret_next, err) : 0;
}

int trust_folders(const char *dir, bool *ret_system, struct error *err)
{
	struct way way = {.system = true};
	struct stat st;
	if (dir[0] != '/')
		return error_set(err, EINVAL, "%s: is no absolute path", dir);
	way.len = strlen(dir);
	if (way.len >= sizeof(way.path))
		return error_set(err, ENAMETOOLONG, "%.64s...: the path is too long", dir);
	memcpy(way.path, dir, way.len + 1);
	if (lstat("/", &st) != 0)
		return refuse_open("/", errno, err);
	int r = check_folder("/", &st, false, err);
	way.system = st.st_uid == 0;
	for (size_t at = 0; r == 0;) {
		while (way.path[at] == '/')
			at++;
		if (way.path[at] == '\0')
			break;
		size_t end = at + strcspn(way.path + at, "/");
		r = way_step(&way, at, end, &at, err);
	}
	if (r == 0 && ret_system)
		*ret_system = way.system;
	return r;
}
