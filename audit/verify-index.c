/* verify-index.c - the database against an index made of the log just now. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "db.h"
#include "ingest.h"
#include "segment.h"
#include "verify.h"

#define LOCK_WAIT_NS ((int64_t)2000000000)

/* Rows come in the order of their first keys columns.  seq: the column that says which
 * record made the row; -1: none does. */
static const struct table {
	const char *name, *sql;
	int keys, seq;
} tables[] = {
	{"sqlite_schema",
     "SELECT name, type, tbl_name, sql FROM sqlite_schema ORDER BY name", 1, -1},
	{"events",
     "SELECT segment_id, byte_off, seq, event_id, ts_ms, mono_ns, boot_id, type, session_id,"
     " session_seq, call_id, tool_name, source, server, decision, outcome, plugin, rule,"
     " reason, client, agent_id, config_digest, hash FROM events"
     " ORDER BY segment_id, byte_off",
     2, 2},
	{"skipped", "SELECT segment_id, byte_off, bytes, why FROM skipped ORDER BY 1, 2", 2, -1},
	{"decisions", "SELECT * FROM decisions ORDER BY session_id, call_id, occurrence", 3, -2},
	{"tool_calls", "SELECT * FROM tool_calls ORDER BY session_id, call_id, occurrence", 3, -2},
	{"sessions", "SELECT * FROM sessions ORDER BY session_id", 1, -1},
};

struct sides {
	struct verify *verify;
	const struct table *table;
	sqlite3_stmt *is, *should; /* the database's row, the log's */
};

static int compare_column(sqlite3_stmt *a, sqlite3_stmt *b, int i)
{
	int type = sqlite3_column_type(a, i);
	if (type != sqlite3_column_type(b, i))
		return type < sqlite3_column_type(b, i) ? -1 : 1;
	if (type == SQLITE_NULL)
		return 0;
	if (type == SQLITE_INTEGER) {
		int64_t x = sqlite3_column_int64(a, i), y = sqlite3_column_int64(b, i);
		return x < y ? -1 : x > y;
	}
	const void *x = sqlite3_column_blob(a, i), *y = sqlite3_column_blob(b, i);
	int n = sqlite3_column_bytes(a, i), m = sqlite3_column_bytes(b, i);
	int order = n == 0 || m == 0 ? 0 : memcmp(x, y, (size_t)(n < m ? n : m));
	return order ? order : n - m;
}

static int compare_keys(const struct sides *sides)
{
	int order = 0;
	for (int i = 0; order == 0 && i < sides->table->keys; i++)
		order = compare_column(sides->is, sides->should, i);
	return order;
}

/* The column that differs; NULL: none. */
static const char *differing(const struct sides *sides)
{
	for (int i = sides->table->keys; i < sqlite3_column_count(sides->should); i++)
		if (compare_column(sides->is, sides->should, i) != 0)
			return sqlite3_column_name(sides->should, i);
	return NULL;
}

/* Which record made a row, where a column says so. */
static int64_t seq_of(const struct table *table, sqlite3_stmt *row)
{
	if (table->seq >= 0)
		return sqlite3_column_int64(row, table->seq);
	for (int i = 0; table->seq == -2 && i < sqlite3_column_count(row); i++) {
		const char *name = sqlite3_column_name(row, i);
		if ((strcmp(name, "seq") == 0 || strcmp(name, "decision_seq") == 0 ||
		     strcmp(name, "post_seq") == 0) &&
		    sqlite3_column_type(row, i) == SQLITE_INTEGER)
			return sqlite3_column_int64(row, i);
	}
	return 0;
}

static void found(const struct sides *sides, sqlite3_stmt *row, const char *what)
{
	char key[160] = "";
	for (int i = 0; i < sides->table->keys; i++) {
		size_t at = strlen(key);
		snprintf(key + at, sizeof(key) - at, "%s%.40s", i ? ", " : "",
			 (const char *)sqlite3_column_text(row, i));
	}
	int64_t seq = seq_of(sides->table, row);
	if (seq > 0)
		verify_found(sides->verify, VERIFY_CHANGED, seq,
			     "the database's %s (%s) of record %" PRId64 ": %s",
			     sides->table->name, key, seq, what);
	else
		verify_found(sides->verify, VERIFY_CHANGED, 0, "the database's %s (%s): %s",
			     sides->table->name, key, what);
}

static void compare_row(const struct sides *sides)
{
	const char *name = differing(sides);
	char what[80];
	if (!name)
		return;
	snprintf(what, sizeof(what), "%s is not what the log says", name);
	found(sides, sides->should, what);
}

/* Steps both as their keys say.  The database's failures are findings, the other's not. */
static int compare_rows(struct sides *sides)
{
	int is = sqlite3_step(sides->is), should = sqlite3_step(sides->should);
	while (is == SQLITE_ROW || should == SQLITE_ROW) {
		int order = is != SQLITE_ROW ? 1 : should != SQLITE_ROW ? -1 : compare_keys(sides);
		if (order == 0)
			compare_row(sides);
		else
			found(sides, order < 0 ? sides->is : sides->should,
			      order < 0 ? "no record of the log makes this row"
					: "the row is missing");
		sides->verify->rows += order == 0;
		if (order <= 0)
			is = sqlite3_step(sides->is);
		if (order >= 0)
			should = sqlite3_step(sides->should);
		if (is != SQLITE_ROW && is != SQLITE_DONE)
			break;
	}
	return should != SQLITE_ROW && should != SQLITE_DONE ? should : is;
}

static int broken(sqlite3 *db, struct verify *verify, struct error *err)
{
	int r = db_failed(db, "the database", err);
	if (r != -EBADMSG)
		return r;
	verify_found(verify, VERIFY_CHANGED, 0, "%s", err->text);
	return 0;
}

static int compare_table(sqlite3 *db, sqlite3 *reference, const struct table *table,
			 struct verify *verify, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *is = NULL;
	_cleanup_stmt_ sqlite3_stmt *should = NULL;
	if (sqlite3_prepare_v2(reference, table->sql, -1, &should, NULL) != SQLITE_OK)
		return db_failed(reference, "database", err);
	if (sqlite3_prepare_v2(db, table->sql, -1, &is, NULL) != SQLITE_OK) {
		if ((sqlite3_errcode(db) & 0xff) != SQLITE_ERROR)
			return broken(db, verify, err);
		verify_found(verify, VERIFY_CHANGED, 0, "the database's %s: %s", table->name,
			     sqlite3_errmsg(db));
		return 0;
	}
	struct sides sides = {verify, table, is, should};
	int rc = compare_rows(&sides);
	if (rc == SQLITE_DONE)
		return 0;
	return sqlite3_errcode(reference) == rc && rc != SQLITE_DONE && sqlite3_errcode(db) != rc
		       ? db_failed(reference, "database", err)
		       : broken(db, verify, err);
}

/* ---- the lines themselves ------------------------------------------------------------- */

struct source {
	const struct store *store;
	int64_t segment;
	int fd;
	char *text;
	size_t room;
};

static void source_done(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->text);
}

static int source_open(struct source *source, int64_t segment, struct error *err)
{
	struct segments list;
	if (source->segment == segment)
		return 0;
	source_done(source);
	*source = (struct source){.store = source->store, .segment = segment, .fd = -1};
	int r = segments_list(source->store, &list, err);
	const struct segment *found = r == 0 ? segments_find(&list, segment) : NULL;
	if (found)
		r = segment_open_listed(source->store, found, &source->fd, err);
	segments_free(&list);
	return r;
}

/* 1 the log has text at that place, and a newline behind it. */
static int source_has(struct source *source, int64_t segment, int64_t offset, struct str text,
		      struct error *err)
{
	int r = source_open(source, segment, err);
	if (r < 0)
		return r;
	if (source->room < text.len + 1) {
		char *grown = realloc(source->text, source->room = 2 * (text.len + 1));
		if (!grown)
			return error_set(err, ENOMEM, "out of memory");
		source->text = grown;
	}
	return source->fd >= 0 &&
	       pread(source->fd, source->text, text.len + 1, offset) == (ssize_t)text.len + 1 &&
	       memcmp(source->text, text.ptr, text.len) == 0 && source->text[text.len] == '\n';
}

static int compare_lines(const struct store *store, sqlite3 *db, struct verify *verify,
			 struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	_cleanup_(source_done) struct source source = {.store = store, .fd = -1};
	int rc, r = 0;
	if (sqlite3_prepare_v2(db, "SELECT segment_id, byte_off, seq, data FROM events ORDER BY id",
			       -1, &stmt, NULL) != SQLITE_OK)
		return 0; /* told with the table */
	while (r >= 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t seq = sqlite3_column_int64(stmt, 2);
		const char *text = (const char *)sqlite3_column_text(stmt, 3);
		struct str data = {text ? text : "", (size_t)sqlite3_column_bytes(stmt, 3)};
		r = source_has(&source, sqlite3_column_int64(stmt, 0),
			       sqlite3_column_int64(stmt, 1), data, err);
		if (r == 0)
			verify_found(verify, VERIFY_CHANGED, seq,
				     "the database's record %" PRId64 " is not the log's line",
				     seq);
	}
	return r < 0 ? r : rc == SQLITE_DONE ? 0 : broken(db, verify, err);
}

/* ---- the entrance ----------------------------------------------------------------------- */

static int count_events(sqlite3 *db, int64_t *ret, struct verify *verify, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM events", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		return broken(db, verify, err);
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

static int compare(const struct store *store, sqlite3 *db, const struct ingest_place *place,
		   struct verify *verify, struct error *err)
{
	_cleanup_db_ sqlite3 *reference = NULL;
	int r = db_open(store, DB_MEMORY, &reference, err);
	if (r == 0)
		r = ingest_fill_until(store, reference, place->segment, place->segment_offset, err);
	if (r >= 0)
		r = compare_lines(store, db, verify, err);
	for (size_t i = 0; r >= 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		/* several records make such a row: a record that is bad itself says more */
		int64_t bad = tables[i].seq == -2 ? verify->first_bad : 0;
		r = compare_table(db, reference, &tables[i], verify, err);
		verify->first_bad = bad ? bad : verify->first_bad;
	}
	return r;
}

/* In one transaction: what is filled in meanwhile is not seen. */
static int verify_database(const struct store *store, sqlite3 *db, struct verify *verify,
			   struct error *err)
{
	struct ingest_place place;
	int64_t events = 0, before = verify->found[VERIFY_CHANGED];
	int r = db_exec(db, "BEGIN", err);
	if (r == 0)
		r = count_events(db, &events, verify, err);
	if (r == 0)
		r = ingest_place(store, db, &place, err);
	if (r < 0 || verify->found[VERIFY_CHANGED] > before)
		return r;
	verify->behind = place.size - place.offset;
	if (place.foreign) {
		verify_found(verify, VERIFY_CHANGED, 0,
			     "the database was made from another log than this one");
		return compare_lines(store, db, verify, err);
	}
	return place.segment > 0 ? compare(store, db, &place, verify, err) : 0;
}

int verify_index(const struct store *store, struct verify *verify, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_close_ int lock = -1;
	/* so that nobody who fills it finds it busy; who may not lock it, reads all the same */
	(void)store_lock(store, STORE_DB_LOCK, LOCK_WAIT_NS, &lock, NULL);
	if (access(store->db, F_OK) != 0 && errno == ENOENT) {
		verify->no_index = true;
		return 0;
	}
	int r = db_open(store, DB_READ, &db, err);
	if (r == 0)
		r = verify_database(store, db, verify, err);
	if (r == -ENOENT) {
		verify->no_index = true;
		return 0;
	}
	if (r == -EBADMSG || r == -EPERM)
		verify_found(verify, VERIFY_CHANGED, 0, "%s", err->text);
	else if (r < 0)
		verify_found(verify, VERIFY_UNREADABLE, 0, "%s", err->text);
	return r == -EBADMSG || r == -EPERM ? 0 : r;
}
