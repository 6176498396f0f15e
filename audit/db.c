/* db.c - SQLite's settings, and what its codes mean to us. */
#include <config.h>

#include "db.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "chain.h"
#include "schema.h"

#define INGEST_WAIT_MS 100 /* a reader in the way delays the index, never a hook */
#define READ_WAIT_MS 2000

static const struct {
	int sqlite, code;
} codes[] = {
	{SQLITE_BUSY, EBUSY},      {SQLITE_LOCKED, EBUSY}, {SQLITE_FULL, ENOSPC},
	{SQLITE_READONLY, EROFS},  {SQLITE_PERM, EACCES},  {SQLITE_CORRUPT, EBADMSG},
	{SQLITE_NOTADB, EBADMSG},  {SQLITE_TOOBIG, E2BIG}, {SQLITE_NOMEM, ENOMEM},
	{SQLITE_CANTOPEN, EACCES}, {SQLITE_IOERR, EIO},
};

int db_failed(sqlite3 *db, const char *what, struct error *err)
{
	int rc = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM, code = EIO;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].sqlite == rc)
			code = codes[i].code;
	int system = db ? sqlite3_system_errno(db) : 0;
	if ((rc == SQLITE_CANTOPEN || rc == SQLITE_IOERR) && system > 0)
		code = system;
	return error_set(err, code, "%s: %s", what, db ? sqlite3_errmsg(db) : "no memory, or no SQLite");
}

int db_exec(sqlite3 *db, const char *sql, struct error *err)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_failed(db, "database", err);
	return 0;
}

static int number_of(sqlite3 *db, const char *sql, int64_t *ret, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		return db_failed(db, "database", err);
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

/* Rollback journal, not WAL: SQLite before 3.51.3 can lose a commit in WAL mode when
 * two connections reset the log at once, WAL needs a local file system, and an
 * auditor who may only read could not open it at all. */
static const char ingest_settings[] = "PRAGMA journal_mode = " DB_JOURNAL_MODE ";"
				      "PRAGMA foreign_keys = ON;"
				      "PRAGMA secure_delete = ON;"
				      /* a transaction's pages are written once, KiB */
				      "PRAGMA cache_size = -16384;";
static const char settings[] = "PRAGMA trusted_schema = OFF;"
			       "PRAGMA cell_size_check = ON;"
			       "PRAGMA mmap_size = 0;"
			       "PRAGMA temp_store = MEMORY;";

static int set_up(const struct store *store, sqlite3 *db, enum db_mode mode, struct error *err)
{
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, mode == DB_READ ? READ_WAIT_MS : INGEST_WAIT_MS);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)CHAIN_LINE_MAX * 2);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	int r = db_exec(db, settings, err);
	if (r == 0 && mode == DB_INGEST)
		r = db_exec(db, ingest_settings, err);
	if (r == 0 && mode != DB_READ)
		r = db_exec(db,
			    store->sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF",
			    err);
	return r;
}

/* 1 ours, 0 empty. */
static int whose(const struct store *store, sqlite3 *db, struct error *err)
{
	int64_t id, version, tables;
	int r = number_of(db, "PRAGMA application_id", &id, err);
	if (r == 0)
		r = number_of(db, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = number_of(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r < 0)
		return r;
	if (id == 0 && tables == 0)
		return 0;
	if (id != SCHEMA_APPLICATION_ID)
		return error_set(err, EPERM, "%s: somebody else's database", store->db);
	if (version != SCHEMA_VERSION)
		return error_set(err, EPERM,
				 "%s: version %" PRId64 ", this pawl knows version %d; delete it "
				 "and it is made anew from the log",
				 store->db, version, SCHEMA_VERSION);
	return 1;
}

static int create_tables(sqlite3 *db, struct error *err)
{
	int r = db_exec(db, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = db_exec(db, schema_create, err);
	if (r == 0)
		r = db_exec(db, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* Made by us, not by SQLite, for the mode.  Nobody has it open when O_EXCL says that
 * we made it, so closing it costs nobody a lock. */
static int create_file(const struct store *store, struct error *err)
{
	int fd =
	    open(store->db, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, STORE_READ_MODE);
	if (fd < 0)
		return errno == EEXIST
			   ? 0
			   : error_set(err, errno, "%s: %s", store->db, strerror(errno));
	store_share(store, fd);
	close(fd);
	return store_sync_dir(store, err);
}

int db_open(const struct store *store, enum db_mode mode, sqlite3 **ret, struct error *err)
{
	static const int flags[] = {
	    [DB_INGEST] = SQLITE_OPEN_READWRITE,
	    [DB_READ] = SQLITE_OPEN_READONLY,
	    [DB_MEMORY] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
	};
	int r = mode == DB_INGEST ? create_file(store, err) : 0;
	if (r < 0)
		return r;
	if (sqlite3_open_v2(mode == DB_MEMORY ? ":memory:" : store->db, ret,
			    flags[mode] | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE |
				SQLITE_OPEN_NOMUTEX, /* one thread, one connection */
			    NULL) != SQLITE_OK)
		return db_failed(*ret, store->db, err);
	r = set_up(store, *ret, mode, err);
	if (r == 0)
		r = whose(store, *ret, err);
	if (r < 0)
		return r;
	if (r == 0 && mode == DB_READ)
		return error_set(err, ENOENT, "%s: empty", store->db);
	return r == 0 ? create_tables(*ret, err) : 0;
}

int db_set_aside(const struct store *store, const char *why, char *ret_path, struct error *err)
{
	static const char *const ends[] = {"", "-journal", "-wal"};
	int64_t now = io_wall_ns() / 1000000;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		_cleanup_free_ char *from = NULL, *to = NULL;
		if (asprintf(&from, "%s%s", store->db, ends[i]) < 0 ||
		    asprintf(&to, "%s.%s-%" PRId64 "%s", store->db, why, now, ends[i]) < 0)
			return error_set(err, ENOMEM, "out of memory");
		if (rename(from, to) != 0 && errno != ENOENT)
			return error_set(err, errno, "%s: cannot set aside: %s", from,
					 strerror(errno));
		if (i == 0 && ret_path)
			snprintf(ret_path, PATH_MAX, "%s", to);
	}
	return store_sync_dir(store, err);
}
