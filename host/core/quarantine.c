/* quarantine.c - see quarantine.h.
 *
 * STATE_DIR/fault/NAME holds a line a fault:
 *
 *	BOOT SECONDS FILE CLASS
 *
 * which boot of the machine, the seconds since then (the wall clock may jump), which file
 * (device, inode, size, time of its last change), and what it did.  Whether that makes a
 * quarantine is read off the lines each time, so that there is no second place that could
 * disagree.  Lines are appended with one write each and no lock: nobody who is stopped
 * halfway can hold up a hook. */
#include <config.h>

#include "core/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "core/state.h"

#define KIND "fault"
#define LINE_BYTES 256         /* bytes of a line with its newlines */
#define KEEP_BYTES (8 * 1024)  /* more than that is cut down to what counts */
#define READ_BYTES (64 * 1024) /* more than that is nothing we wrote */

/* ---- one line --------------------------------------------------------------------------- */

struct fault {
	char boot[40];
	long long seconds;
	char file[96];
	char class[33];
};

static void which_boot(char boot[40])
{
	ssize_t n = -1;
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, boot, 39);
	boot[n > 0 ? n : 0] = '\0';
	boot[strcspn(boot, "\n ")] = '\0';
	if (!boot[0])
		strcpy(boot, "-");
}

/* A file that is not there is one, too. */
static void which_file(const char *path, char file[96])
{
	struct stat st;
	if (stat(path, &st) != 0)
		memset(&st, 0, sizeof(st));
	snprintf(file, 96, "%llx:%llx:%llx:%llx.%lx", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
		 (unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
}

static void which_class(const char *class, char word[33])
{
	size_t n = 0;
	for (; class[n] && n < 32; n++)
		word[n] = (class[n] >= 'a' && class[n] <= 'z') || class[n] == '_' ? class[n] : '-';
	word[n] = '\0';
	if (n == 0)
		strcpy(word, "-");
}

static bool read_line(const char *line, size_t len, struct fault *fault)
{
	char text[LINE_BYTES];
	char end;
	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	return sscanf(text, "%39s %12lld %95s %32s%c", fault->boot, &fault->seconds, fault->file,
		      fault->class, &end) == 4;
}

/* ---- all lines of an entry ------------------------------------------------------------------ */

struct record {
	char file[96];                        /* the one that is asked about */
	struct fault last[QUARANTINE_FAULTS]; /* a ring */
	unsigned long n;                      /* faults of that file */
	bool quarantine;
};

/* The last QUARANTINE_FAULTS, this one among them, lie within the window. */
static bool is_too_many(const struct record *record)
{
	if (record->n < QUARANTINE_FAULTS)
		return false;
	const struct fault *newest = &record->last[(record->n - 1) % QUARANTINE_FAULTS];
	const struct fault *oldest = &record->last[record->n % QUARANTINE_FAULTS];
	return strcmp(newest->boot, oldest->boot) == 0 &&
	       llabs(newest->seconds - oldest->seconds) <= QUARANTINE_WINDOW_S;
}

/* A line that was torn is passed over: it costs one fault more. */
static void read_lines(struct record *record, const char *text, size_t len)
{
	for (size_t at = 0, end; at < len; at = end + 1) {
		struct fault fault;
		const char *newline = memchr(text + at, '\n', len - at);
		end = newline ? (size_t)(newline - text) : len;
		if (!read_line(text + at, end - at, &fault) ||
		    strcmp(fault.file, record->file) != 0)
			continue;
		record->last[record->n++ % QUARANTINE_FAULTS] = fault;
		record->quarantine = record->quarantine || is_too_many(record);
	}
}

/* What is there has to be a file that only we or root can have written. */
static int open_file(const char *path, int flags, struct error *err)
{
	struct stat st;
	_cleanup_close_ int fd =
		open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0 || fstat(fd, &st) != 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, EPERM, "%s: is no file that you or root alone can write",
				 path);
	return TAKE_FD(fd);
}

/* *ret is the caller's, NULL where there is no file. */
static int read_file(const char *path, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_close_ int fd = open_file(path, O_RDONLY, err);
	*ret = NULL;
	*ret_len = 0;
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return fd;
	int r = io_read_all(fd, READ_BYTES, ret, ret_len, err);
	if (r < 0)
		error_prefix(err, "%s", path);
	return r;
}

/* ---- faults ------------------------------------------------------------------------------------
 */

/* Only the last lines count; who writes at the same time may lose one, which costs a fault
 * more. */
static int cut_down(const char *path, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	char tmp[PATH_MAX + 32];
	size_t len;
	int r = read_file(path, &text, &len, err);
	if (r < 0 || !text)
		return r;
	size_t at = len;
	for (int lines = 0; at > 0 && lines <= 2 * QUARANTINE_FAULTS; at--)
		lines += text[at - 1] == '\n';
	snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)gettid());
	unlink(tmp); /* of a process that had our number */
	_cleanup_close_ int fd = open_file(tmp, O_WRONLY | O_CREAT | O_EXCL, err);
	if (fd < 0)
		return fd;
	r = io_write_all(fd, text + at, len - at);
	if (r == 0 && rename(tmp, path) != 0)
		r = -errno;
	if (r < 0) {
		unlink(tmp);
		return error_set(err, -r, "%s: %s", tmp, strerror(-r));
	}
	return 0;
}

/* The newline before the line keeps it apart from a torn one. */
static int append(const char *path, const char *line, size_t len, struct error *err)
{
	struct stat st;
	_cleanup_close_ int fd = open_file(path, O_WRONLY | O_APPEND | O_CREAT, err);
	if (fd < 0)
		return fd;
	int r = io_write_all(fd, line, len);
	if (r < 0)
		return error_set(err, -r, "%s: %s", path, strerror(-r));
	return fstat(fd, &st) == 0 && st.st_size > KEEP_BYTES ? cut_down(path, err) : 0;
}

int quarantine_fault(struct str state_dir, struct str name, const char *plugin_path,
		     const char *class, struct error *err)
{
	char path[PATH_MAX], boot[40], file[96], word[33], line[LINE_BYTES];
	struct timespec now = {0};
	int r = state_place(state_dir, KIND, name, path);
	if (r < 0)
		return error_set(err, -r, "state_dir: the path is too long");
	r = state_make_kind(state_dir, KIND, err);
	if (r < 0)
		return r;
	clock_gettime(CLOCK_BOOTTIME, &now);
	which_boot(boot);
	which_file(plugin_path, file);
	which_class(class, word);
	int n = snprintf(line, sizeof(line), "\n%s %lld %s %s\n", boot, (long long)now.tv_sec, file,
			 word);
	return append(path, line, (size_t)n, err);
}

bool quarantined(struct str state_dir, struct str name, const char *plugin_path,
		 char why[QUARANTINE_WHY_MAX])
{
	struct record record = {.n = 0};
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	struct error err;
	if (state_place(state_dir, KIND, name, path) < 0)
		return false; /* such a path was never written to */
	if (read_file(path, &text, &len, &err) < 0) {
		snprintf(why, QUARANTINE_WHY_MAX,
			 "whether it is in quarantine cannot be read, so that it is: %.300s",
			 err.text);
		return true;
	}
	if (!text)
		return false;
	which_file(plugin_path, record.file);
	read_lines(&record, text, len);
	if (!record.quarantine)
		return false;
	snprintf(why, QUARANTINE_WHY_MAX,
		 "in quarantine: it failed %lu times, %d of them within %d minutes, last with %s; "
		 "`pawl reset --plugin %.*s` or another plugin file lifts it",
		 record.n, QUARANTINE_FAULTS, QUARANTINE_WINDOW_S / 60,
		 record.last[(record.n - 1) % QUARANTINE_FAULTS].class, STR_FMT(name));
	return true;
}

int quarantine_lift(struct str state_dir, struct str name, bool *ret_was, struct error *err)
{
	char path[PATH_MAX];
	if (state_place(state_dir, KIND, name, path) < 0)
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	bool was = unlink(path) == 0;
	if (!was && errno != ENOENT && errno != ENOTDIR)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	*ret_was = was;
	return 0;
}
