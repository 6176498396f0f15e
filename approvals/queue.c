/* queue.c - see queue.h. */
#include <config.h>

#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "mark.h"
#include "schema.h"

#define BUSY_MS 2000		/* a backup tool may be reading */
#define VALUE_MAX (256 << 20)	/* bytes of one column; arguments are 64 MiB at most */

/* ---- what SQLite says ------------------------------------------------------------------ */

static const struct {
	int sqlite, code;
} codes[] = {
	{SQLITE_BUSY, EBUSY},	   {SQLITE_LOCKED, EBUSY},	 {SQLITE_FULL, ENOSPC},
	{SQLITE_READONLY, EROFS},  {SQLITE_PERM, EACCES},	 {SQLITE_CORRUPT, EBADMSG},
	{SQLITE_NOTADB, EBADMSG},  {SQLITE_TOOBIG, E2BIG},	 {SQLITE_NOMEM, ENOMEM},
	{SQLITE_CANTOPEN, EACCES}, {SQLITE_CONSTRAINT, ESTALE},
};

int queue_failed(struct approvals *queue, struct error *err)
{
	int rc = queue->db ? sqlite3_errcode(queue->db) & 0xff : SQLITE_NOMEM, code = EIO;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].sqlite == rc)
			code = codes[i].code;
	return error_set(err, code, "%s: %s", queue->path,
			 queue->db ? sqlite3_errmsg(queue->db) : "out of memory");
}

static int exec(struct approvals *queue, const char *sql, struct error *err)
{
	if (sqlite3_exec(queue->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return queue_failed(queue, err);
	return 0;
}

static void bind(sqlite3_stmt *stmt, const char *kinds, va_list ap)
{
	for (int i = 1; kinds[i - 1]; i++) {
		if (kinds[i - 1] == 'i') {
			sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
			continue;
		}
		struct str text = kinds[i - 1] == 't' ? va_arg(ap, struct str) :
							str_of(va_arg(ap, const char *));
		if (text.ptr)
			sqlite3_bind_text64(stmt, i, text.ptr, text.len, SQLITE_TRANSIENT,
					    SQLITE_UTF8);
	}
}

int queue_query(struct approvals *queue, sqlite3_stmt **ret, struct error *err, const char *sql,
		const char *kinds, ...)
{
	va_list ap;
	if (sqlite3_prepare_v2(queue->db, sql, -1, ret, NULL) != SQLITE_OK)
		return queue_failed(queue, err);
	va_start(ap, kinds);
	bind(*ret, kinds, ap);
	va_end(ap);
	return 0;
}

int queue_run(struct approvals *queue, struct error *err, const char *sql, const char *kinds, ...)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	va_list ap;
	if (sqlite3_prepare_v2(queue->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return queue_failed(queue, err);
	va_start(ap, kinds);
	bind(stmt, kinds, ap);
	va_end(ap);
	return sqlite3_step(stmt) == SQLITE_DONE ? 0 : queue_failed(queue, err);
}

static int number(struct approvals *queue, const char *sql, int64_t *ret, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(queue, &stmt, err, sql, "");
	if (r == 0 && sqlite3_step(stmt) != SQLITE_ROW)
		r = queue_failed(queue, err);
	if (r == 0)
		*ret = sqlite3_column_int64(stmt, 0);
	return r;
}

/* ---- the guard ----------------------------------------------------------------------------- */

/* flock has no time-out, and a signal is not ours to use in somebody else's process. */
static int guard(struct approvals *queue, int how, struct error *err)
{
	int64_t until = io_monotonic_ns() + QUEUE_WAIT_NS;
	while (flock(queue->lock, how | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(err, errno, "%s's lock: %s", queue->path, strerror(errno));
		if (io_monotonic_ns() > until)
			return error_set(err, ETIMEDOUT, "%s: held by somebody else for %d s",
					 queue->path, (int)(QUEUE_WAIT_NS / 1000000000));
		struct timespec pause = {.tv_nsec = 500000 + randombytes_uniform(1500000)};
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Whether the file we have open is still the one of that name: a write into one that was
 * taken away would be a promise that nobody keeps. */
static int still_there(struct approvals *queue, struct error *err)
{
	int moved = 0;
	if (sqlite3_file_control(queue->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
	    moved)
		return error_set(err, ESTALE, "%s: it was taken away or replaced while it was open",
				 queue->path);
	return 0;
}

int queue_begin(struct approvals *queue, enum queue_mode mode, struct error *err)
{
	int r = guard(queue, mode == QUEUE_WRITE ? LOCK_EX : LOCK_SH, err);
	if (r < 0)
		return r;
	r = still_there(queue, err);
	if (r == 0)
		r = exec(queue, mode == QUEUE_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", err);
	if (r < 0) {
		flock(queue->lock, LOCK_UN);
		return r;
	}
	queue->in_step = true;
	queue->writes = mode == QUEUE_WRITE;
	queue->put_back = false;
	queue->clock(&queue->now);
	r = queue->writes ? mark_begin(queue, err) : 0;
	return r < 0 ? queue_end(queue, r, err) : 0;
}

int queue_end(struct approvals *queue, int r, struct error *err)
{
	if (!queue->in_step)
		return r;
	if (r == 0 && queue->writes)
		r = mark_count(queue, err);
	if (r == 0)
		r = exec(queue, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(queue->db, "ROLLBACK", NULL, NULL, NULL);
	else if (queue->writes)
		r = mark_note(queue, err);
	queue->in_step = false;
	flock(queue->lock, LOCK_UN);
	return r;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The owner's alone; the group's too where the folder is: then a group may decide. */
static mode_t mode_in(const char *dir)
{
	struct stat st;
	return stat(dir, &st) == 0 && (st.st_mode & S_IWGRP) ? 0660 : 0600;
}

static int open_lock(struct approvals *queue, const char *dir, bool make, struct error *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" QUEUE_LOCK, dir);
	if (n < 0 || n >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "state_dir: the path is too long");
	mode_t mode = mode_in(dir);
	queue->lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (make ? O_CREAT : 0),
			   mode);
	if (queue->lock < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (make && mode == 0660)
		(void)fchmod(queue->lock, mode); /* whatever the umask was */
	return 0;
}

/* Made by us, not by SQLite, for its mode. Nobody has it open when O_EXCL says that we made
 * it, so closing it takes no lock from anybody. */
static int make_file(struct approvals *queue, const char *dir, struct error *err)
{
	mode_t mode = mode_in(dir);
	_cleanup_close_ int fd = open(queue->path,
				      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0 || (mode == 0660 && fchmod(fd, mode) != 0))
		return error_set(err, errno, "%s: %s", queue->path, strerror(errno));
	_cleanup_close_ int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || fsync(folder) != 0)
		return error_set(err, errno, "%s: %s", dir, strerror(errno));
	return 0;
}

/* Rollback journal, not WAL: SQLite before 3.51.3 can lose a commit in WAL mode when two
 * connections reset the log at once. FULL: a commit is on the disk when it returns. */
static const char settings[] = "PRAGMA journal_mode = truncate;"
			       "PRAGMA synchronous = FULL;"
			       "PRAGMA foreign_keys = ON;"
			       "PRAGMA trusted_schema = OFF;"
			       "PRAGMA cell_size_check = ON;"
			       "PRAGMA secure_delete = ON;"
			       "PRAGMA mmap_size = 0;"
			       "PRAGMA temp_store = MEMORY;";

static int set_up(struct approvals *queue, struct error *err)
{
	sqlite3_extended_result_codes(queue->db, 1);
	sqlite3_busy_timeout(queue->db, BUSY_MS);
	sqlite3_db_config(queue->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(queue->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(queue->db, SQLITE_LIMIT_ATTACHED, 0);
	return exec(queue, settings, err);
}

#define COMPLETE 2

/* 0 empty, 1 an older pawl's, COMPLETE ours. */
static int whose(struct approvals *queue, struct error *err)
{
	int64_t id, version, tables, steps;
	int r = number(queue, "PRAGMA application_id", &id, err);
	if (r == 0)
		r = number(queue, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = number(queue, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r == 0)
		r = number(queue, "SELECT count(*) FROM sqlite_schema WHERE name = 'steps'", &steps,
			   err);
	if (r < 0)
		return r;
	if (id == 0 && tables == 0)
		return 0;
	if (id != QUEUE_APPLICATION_ID)
		return error_set(err, EPERM, "%s: somebody else's database", queue->path);
	if (version != QUEUE_VERSION)
		return error_set(err, EPERM, "%s: version %" PRId64 ", this pawl knows version %d",
				 queue->path, version, QUEUE_VERSION);
	return steps > 0 ? COMPLETE : 1;
}

/* fresh: all of them, else what an older pawl did not have. */
static int make_tables(struct approvals *queue, bool fresh, struct error *err)
{
	int r = exec(queue, "BEGIN IMMEDIATE", err);
	if (r == 0 && fresh)
		r = exec(queue, queue_schema, err);
	if (r == 0)
		r = mark_make(queue, err);
	if (r == 0)
		r = exec(queue, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(queue->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* [guarded] */
static int open_db(struct approvals *queue, const char *dir, bool make, struct error *err)
{
	int r = make ? make_file(queue, dir, err) : 0;
	if (r == 0 && !make && access(queue->path, F_OK) != 0)
		r = errno == ENOENT ? error_set(err, ENODATA,
						"%s: not there, though its lock is: it was deleted, "
						"or could not be made; calls that waited in it are "
						"asked about anew when they are made again",
						queue->path) :
				      error_set(err, errno, "%s: %s", queue->path, strerror(errno));
	if (r < 0)
		return r;
	if (sqlite3_open_v2(queue->path, &queue->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE,
			    NULL) != SQLITE_OK)
		return queue_failed(queue, err);
	r = set_up(queue, err);
	if (r == 0)
		r = whose(queue, err);
	return r < 0 || r == COMPLETE ? (r < 0 ? r : 0) : make_tables(queue, r == 0, err);
}

static int open_all(struct approvals *queue, const char *state_dir, bool make, struct error *err)
{
	int r = make && access(state_dir, F_OK) != 0 ? io_make_dirs(state_dir, err) : 0;
	if (r < 0)
		return r;
	/* SQLite is told to follow no link, the folder's path included */
	_cleanup_free_ char *dir = realpath(state_dir, NULL);
	if (!dir)
		return error_set(err, errno, "%s: %s", state_dir, strerror(errno));
	if (asprintf(&queue->path, "%s/" QUEUE_DB, dir) < 0) {
		queue->path = NULL;
		return error_set(err, ENOMEM, "out of memory");
	}
	r = open_lock(queue, dir, make, err);
	if (r == 0)
		r = guard(queue, LOCK_EX, err);
	if (r < 0)
		return r;
	r = open_db(queue, dir, make, err);
	flock(queue->lock, LOCK_UN);
	return r;
}

int queue_open(const char *state_dir, bool make, struct approvals **ret, struct error *err)
{
	struct approvals *queue = calloc(1, sizeof(*queue));
	if (!queue)
		return error_set(err, ENOMEM, "out of memory");
	if (sodium_init() < 0) {
		free(queue);
		return error_set(err, EIO, "libsodium: cannot start");
	}
	queue->lock = -1;
	queue->clock = clock_now;
	int r = open_all(queue, state_dir, make, err);
	if (r < 0)
		queue_close(queue);
	else
		*ret = queue;
	return r;
}

void queue_close(struct approvals *queue)
{
	if (!queue)
		return;
	queue_end(queue, -ECANCELED, NULL);
	sqlite3_close(queue->db);
	if (queue->lock >= 0)
		close(queue->lock);
	free(queue->path);
	free(queue);
}
