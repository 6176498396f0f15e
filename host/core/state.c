/* state.c - see state.h.
 *
 * STATE_DIR/halt/SESSION holds one line, the plugin that halted; STATE_DIR/pin/SESSION.FACT
 * holds the bytes the fact had. Pins are compared, never read back as facts: whoever may
 * write here must not be able to make one up. */
#include <config.h>

#include "core/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dirent.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"

#define PIN_MAX (64 * 1024)

int state_place(struct str state_dir, const char *kind, struct str of, char path[PATH_MAX])
{
	char name[IO_NAME_MAX];
	io_file_name(of, name);
	int n = snprintf(path, PATH_MAX, "%.*s/%s/%s", STR_FMT(state_dir), kind, name);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int state_latch_path(struct str state_dir, struct str session, char path[PATH_MAX])
{
	return state_place(state_dir, "halt", session, path);
}

/* Whether it is there; one that cannot be read is. */
static bool read_latch(const char *path, char who[256])
{
	snprintf(who, 256, "a plugin");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	char text[200];
	ssize_t n = read(fd, text, sizeof(text));
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n > 0)
		text_clean((struct str){text, (size_t)n}, who, 256);
	return true;
}

bool state_halted(struct str state_dir, struct str session, char who[256])
{
	char path[PATH_MAX];
	if (state_latch_path(state_dir, session, path) == 0)
		return read_latch(path, who);
	return false; /* such a path can never have been latched */
}

int state_each_halt(struct str state_dir, state_halt_fn *fn, void *data, struct error *err)
{
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], session[IO_NAME_MAX], who[256];
	int n = snprintf(folder, sizeof(folder), "%.*s/halt", STR_FMT(state_dir));
	if (n < 0 || n >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	_cleanup_closedir_ DIR *dir = opendir(folder);
	if (!dir && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!dir)
		return error_set(err, errno, "%s: %s", folder, strerror(errno));
	for (struct dirent *e; (e = readdir(dir));) {
		if (strchr(e->d_name, '.')) /* "." and "..", and one that is being written */
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (!io_file_text(e->d_name, session))
			session[0] = '\0';
		if (read_latch(path, who))
			fn(data, session, path, who);
	}
	return 0;
}

int state_make_kind(struct str state_dir, const char *kind, struct error *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s/%s", STR_FMT(state_dir), kind);
	if (n < 0 || n >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	if (access(path, F_OK) == 0)
		return 0;
	return io_make_dirs(path, err);
}

int state_prepare(struct str state_dir, struct error *err)
{
	return state_make_kind(state_dir, "halt", err);
}

/* A new file with all of content, or -EEXIST; never a half one under its name. */
static int write_new(const char *path, struct str content, struct error *err)
{
	char tmp[PATH_MAX + 32];
	snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)gettid());
	_cleanup_close_ int fd =
		open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", tmp, strerror(errno));
	int r = io_write_all(fd, content.ptr, content.len);
	if (r == 0 && link(tmp, path) != 0)
		r = -errno;
	unlink(tmp);
	if (r < 0)
		return error_set(err, -r, "%s: %s", path, strerror(-r));
	return 0;
}

int state_halt(struct str state_dir, struct str session, struct str who, struct error *err)
{
	char path[PATH_MAX];
	if (state_latch_path(state_dir, session, path) < 0)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	int r = state_prepare(state_dir, err);
	if (r == 0)
		r = write_new(path, who, err);
	return r == -EEXIST ? 0 : r;
}

int state_pin(struct str state_dir, struct str session, struct str name, struct str content,
	      struct error *err)
{
	char path[PATH_MAX], key[1024];
	int n = snprintf(key, sizeof(key), "%.*s", STR_FMT(name));
	if (n < 0 || (size_t)n >= sizeof(key) || state_place(state_dir, "pin", session, path) < 0 ||
	    strlen(path) + IO_NAME_MAX + 1 >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	strcat(path, ".");
	io_file_name((struct str){key, (size_t)n}, path + strlen(path));
	for (int tries = 0; tries < 2; tries++) {
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0) {
			_cleanup_free_ char *pinned = NULL;
			size_t len;
			int r = io_read_all(fd, PIN_MAX, &pinned, &len, err);
			if (r < 0)
				return r;
			if (!str_equal((struct str){pinned, len}, content))
				return error_set(err, ESTALE,
						 "it changed since this session began; start a new "
						 "session, or `pawl reset` this one");
			return 0;
		}
		if (errno != ENOENT)
			return error_set(err, errno, "%s: %s", path, strerror(errno));
		int r = state_make_kind(state_dir, "pin", err);
		if (r == 0)
			r = write_new(path, content, err);
		if (r != -EEXIST)
			return r;
	}
	return error_set(err, EAGAIN, "%s: keeps changing", path);
}

/* Removes SESSION.* below pin. */
static int forget_pins(struct str state_dir, const char *session_name, struct error *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s/pin", STR_FMT(state_dir));
	if (n < 0 || n >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	_cleanup_closedir_ DIR *dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : error_set(err, errno, "%s: %s", path, strerror(errno));
	size_t len = strlen(session_name);
	for (struct dirent *e; (e = readdir(dir));)
		if (strncmp(e->d_name, session_name, len) == 0 && e->d_name[len] == '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	return 0;
}

int state_reset(struct str state_dir, struct str session, bool *ret_was, struct error *err)
{
	char path[PATH_MAX], name[IO_NAME_MAX];
	if (state_latch_path(state_dir, session, path) < 0)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	bool was = unlink(path) == 0;
	if (!was && errno != ENOENT && errno != ENOTDIR)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	io_file_name(session, name);
	int r = forget_pins(state_dir, name, err);
	if (r == 0)
		*ret_was = was;
	return r;
}
