/* store.h - where an audit store lies, and its locks.
 *
 * Layer: audit; knows base, nothing of JSON or SQLite.
 *
 * A store is a folder: the database has the name its owner gave, everything else
 * lies beside it under fixed names.  The log is the record; the database is an
 * index that can be deleted.
 *
 *	struct store store;
 *	if (store_open("/var/lib/pawl/audit.db", STORE_MAKE, &store, err) < 0) ...
 *	_cleanup_close_ int lock = -1;
 *	if (store_lock(&store, STORE_LOG_LOCK, LOG_WAIT_NS, &lock, err) < 0) ...
 *
 * SQLite's own files are never opened here: closing a descriptor of one would drop
 * every POSIX lock that this process holds on it.  The locks are flock(2) on files
 * of their own, which are never unlinked and survive what a plugin may do.
 */
#ifndef PAWL_AUDIT_STORE_H
#define PAWL_AUDIT_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define STORE_LOG "audit_log.jsonl"
#define STORE_SUMMARIES "session_summaries.jsonl"
#define STORE_LOG_LOCK "audit.lock"
#define STORE_DB_LOCK "db.lock"
#define STORE_DROPS "drops.bin"
#define STORE_LAG "audit_index.bin"
#define STORE_COUNTERS "sessions.bin"
#define STORE_TORN "torn"

/* What auditors (the file's group) may read; locks and counters are the owner's. */
#define STORE_READ_MODE 0640
#define STORE_OWN_MODE 0600

/* How long one record may wait for the log.  200 hooks at once on two busy cores take
 * two seconds to pass here, so this is for a holder that hangs. */
#define STORE_LOG_WAIT_NS ((int64_t)10 * 1000000000)

struct store {
	char *dir; /* real path: SQLite is told to follow no link in it */
	char *db;  /* dir/NAME */
	int dirfd;
	bool shared; /* the folder is the group's to write in: what is made there is, too */
	bool sync; /* fdatasync before a record counts as written; true unless changed */
	/* The current file is closed once it is so large or so old, and the oldest ones are
	 * removed when all of them are larger, or they are older; 0: never. */
	int64_t rotate_bytes, rotate_ms, keep_bytes, keep_ms;
};

enum store_mode { STORE_MAKE, STORE_EXISTING };

/* STORE_MAKE makes missing folders (0700).  *ret is to be closed with store_close,
 * also after a failure. */
int store_open(const char *db_path, enum store_mode mode, struct store *ret, struct error *err);
void store_close(struct store *store);

/* An exclusive lock on the file name, given back by closing *ret_fd, or better with
 * store_unlock: then who waits longest is woken.  limit 0 tries once: -EAGAIN when
 * somebody has it, -ETIMEDOUT when it could not be had in time. */
int store_lock(const struct store *store, const char *name, int64_t limit_ns, int *ret_fd,
	       struct error *err);

void store_unlock(int fd);

/* flock(fd, LOCK_EX) with a bound; as above. */
int store_flock(int fd, int64_t limit_ns);

/* Opens name for reading and writing; makes it (O_EXCL, mode) when it is missing
 * and then sets *ret_new.  Follows no link; -EISDIR, -ELOOP, -EINVAL for what is no
 * plain file. */
int store_file(const struct store *store, const char *name, mode_t mode, int *ret_fd, bool *ret_new,
	       struct error *err);

/* In a shared store the group may write to the file just made, whatever the umask was. */
void store_share(const struct store *store, int fd);

/* fsync of the folder, after a file was made in it. */
int store_sync_dir(const struct store *store, struct error *err);

/* Whether fd is still the file that name names in the folder. */
bool store_is_named(const struct store *store, int fd, const char *name);

#endif
