/* ingest.h - fills the database from the log.
 *
 * Layer: audit; knows db, event, project, store.
 *
 * Whoever gets the database's lock without waiting reads what the log has more than
 * the index, and looks once more after giving the lock back, so that a record whose
 * writer found the lock taken is never left lying.  Rows and the place reached are
 * one transaction, so a repeat is harmless; a database that is missing, broken or
 * belongs to another log is made anew, the old one set aside.
 *
 * A segment is known by the number of its first record, so that renaming a file changes
 * nothing.  When old segments were removed, the index is emptied and filled again: it
 * always is what the log as it stands makes it.
 */
#ifndef PAWL_AUDIT_INGEST_H
#define PAWL_AUDIT_INGEST_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"
#include "store.h"

/* Within a hook: the rest is left to the next one. */
#define INGEST_BUDGET_NS ((int64_t)1000000000)
#define INGEST_NO_LIMIT INT64_MAX

/* 0 the index is level with the log, 1 somebody else is at it or the budget is spent,
 * or -errno. */
int ingest_drain(const struct store *store, int64_t budget_ns, struct error *err);

/* The same for who has written and reads nothing: only when enough has gathered (lag.h),
 * else 1. */
int ingest_drain_due(const struct store *store, int64_t budget_ns, struct error *err);

/* Reads the log into an open database of mode DB_INGEST or DB_MEMORY.  0 or 1 as above. */
int ingest_fill(const struct store *store, sqlite3 *db, int64_t budget_ns, struct error *err);

/* Sets the database aside and makes it anew from the log.  ret_path holds PATH_MAX bytes:
 * where the old one is now, "" when there was none. */
int ingest_rebuild(const struct store *store, char *ret_path, struct error *err);

/* Makes it anew in place, so that nothing of what was in it is left. */
int ingest_refill(const struct store *store, struct error *err);

/* How far the database has read, how long the log is (whole lines of all segments), and
 * how many lines could not be read.  segment 0: nothing read, or from another log. */
struct ingest_place {
	int64_t offset, size, last_seq, skipped;
	int64_t segment, segment_offset;
	bool foreign; /* from another log */
};
int ingest_place(const struct store *store, sqlite3 *db, struct ingest_place *ret,
		 struct error *err);

#endif
