/* db.h - opens the index, with the settings that make SQLite safe here.
 *
 * Layer: audit; knows store, schema and SQLite.
 */
#ifndef PAWL_AUDIT_DB_H
#define PAWL_AUDIT_DB_H

#include <sqlite3.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "store.h"

#define DB_JOURNAL_MODE "truncate"

enum db_mode {
	DB_INGEST, /* made when missing; [under the database's lock] */
	DB_READ,   /* never written; waits up to 2 s for a writer */
	DB_MEMORY, /* an index of its own, to be filled from the log */
};

/* *ret is to be closed with sqlite3_close, also after a failure (may be NULL then).
 * -EBADMSG when the file is no database of ours, or of a newer pawl. */
int db_open(const struct store *store, enum db_mode mode, sqlite3 **ret, struct error *err);

/* Renames the database (NAME.WHY-TIME), so that the next ingest makes a new one.  *ret_path
 * holds PATH_MAX bytes: where it is now; may be NULL.
 * [under the database's lock, closed] */
int db_set_aside(const struct store *store, const char *why, char *ret_path, struct error *err);

int db_exec(sqlite3 *db, const char *sql, struct error *err);

/* err from the database's last failure; returns -errno. */
int db_failed(sqlite3 *db, const char *what, struct error *err);

static inline void cleanup_db_(sqlite3 **db)
{
	sqlite3_close(*db);
}

static inline void cleanup_stmt_(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

#define _cleanup_db_ _cleanup_(cleanup_db_)
#define _cleanup_stmt_ _cleanup_(cleanup_stmt_)

#endif
