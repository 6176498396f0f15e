/* verify-index.c - the database against what the log makes of it.
 *
 * Events are compared while the log is read; what they make of calls and sessions is made
 * anew in memory (calls.c), and no second database is filled. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bodies.h"
#include "calls.h"
#include "db.h"
#include "event.h"
#include "ingest.h"
#include "project.h"
#include "segment.h"
#include "verify.h"

#define LOCK_WAIT_NS ((int64_t)2000000000)

/* seq: the first columns that say which record made a row, -1 behind them. */
static const struct table {
	const char *name;
	int keys, columns, seq[3];
} schema_table = {"sqlite_schema", 1, 4, {-1}},
  event_table = {"events", 2, 24, {2, -1}}, skipped_table = {"skipped", 2, 4, {-1}},
  decision_table = {"decisions", 3, D_COLUMNS, {D_SEQ, -1}},
  row_table = {"tool_calls", 3, R_COLUMNS, {R_DECISION_SEQ, R_POST_SEQ, -1}},
  session_table = {"sessions", 1, S_COLUMNS, {-1}};

#define COLUMNS_MAX 32

_Static_assert(R_COLUMNS <= COLUMNS_MAX && D_COLUMNS <= COLUMNS_MAX && S_COLUMNS <= COLUMNS_MAX,
	       "a row fits");

/* ---- rows ------------------------------------------------------------------------------ */

/* Borrowed from the statement until its next step.  What is neither number nor text is
 * the same as nothing. */
static void read_row(sqlite3_stmt *stmt, struct value values[COLUMNS_MAX])
{
	int n = sqlite3_column_count(stmt);
	for (int i = 0; i < n && i < COLUMNS_MAX; i++) {
		values[i] = VALUE_NULL;
		switch (sqlite3_column_type(stmt, i)) {
		case SQLITE_INTEGER:
			values[i].n = sqlite3_column_int64(stmt, i);
			break;
		case SQLITE_TEXT:
			values[i].ptr = (const char *)sqlite3_column_text(stmt, i);
			values[i].n = sqlite3_column_bytes(stmt, i);
			break;
		case SQLITE_NULL:
			break;
		default:
			values[i] = (struct value){"", -1};
		}
	}
}

static bool same(struct value a, struct value b)
{
	if (!a.ptr || !b.ptr)
		return a.ptr == b.ptr && a.n == b.n;
	return a.n == b.n && a.n >= 0 && memcmp(a.ptr, b.ptr, (size_t)a.n) == 0;
}

static struct str text_of(struct value value)
{
	return value.ptr && value.n >= 0 ? (struct str){value.ptr, (size_t)value.n} : STR("");
}

static int64_t seq_of(const struct table *table, const struct value *row)
{
	for (int i = 0; i < 3 && table->seq[i] >= 0; i++)
		if (!row[table->seq[i]].ptr && !value_is_null(row[table->seq[i]]))
			return row[table->seq[i]].n;
	return 0;
}

static void found(struct verify *verify, const struct table *table, const struct value *row,
		  const char *what)
{
	char key[160] = "";
	for (int i = 0; i < table->keys; i++) {
		size_t at = strlen(key);
		const char *comma = i ? ", " : "";
		if (row[i].ptr)
			snprintf(key + at, sizeof(key) - at, "%s%.*s", comma,
				 row[i].n < 40 ? (int)text_of(row[i]).len : 40, row[i].ptr);
		else
			snprintf(key + at, sizeof(key) - at, "%s%" PRId64, comma, row[i].n);
	}
	int64_t seq = seq_of(table, row);
	if (seq > 0)
		verify_found(verify, VERIFY_CHANGED, seq,
			     "the database's %s (%s) of record %" PRId64 ": %s", table->name, key,
			     seq, what);
	else
		verify_found(verify, VERIFY_CHANGED, 0, "the database's %s (%s): %s", table->name,
			     key, what);
}

static void compare_row(struct verify *verify, const struct table *table, sqlite3_stmt *stmt,
			const struct value *is, const struct value *should)
{
	char what[80];
	verify->rows++;
	for (int i = table->keys; i < table->columns; i++) {
		if (same(is[i], should[i]))
			continue;
		snprintf(what, sizeof(what), "%s is not what the log says",
			 sqlite3_column_name(stmt, i));
		found(verify, table, should, what);
		return;
	}
}

static void missing(struct verify *verify, const struct table *table, const struct value *row)
{
	found(verify, table, row, "the row is missing");
}

static void unmade(struct verify *verify, const struct table *table, const struct value *row)
{
	found(verify, table, row, "no record of the log makes this row");
}

static int broken(sqlite3 *db, struct verify *verify, struct error *err)
{
	int r = db_failed(db, "the database", err);
	if (r != -EBADMSG)
		return r;
	verify_found(verify, VERIFY_CHANGED, 0, "%s", err->text);
	return 0;
}

/* *ret NULL: the database has no such table, and that is told. */
static int prepare(sqlite3 *db, const char *sql, const struct table *table, struct verify *verify,
		   sqlite3_stmt **ret, struct error *err)
{
	*ret = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK &&
	    sqlite3_column_count(*ret) == table->columns)
		return 0;
	if (!*ret && (sqlite3_errcode(db) & 0xff) != SQLITE_ERROR)
		return broken(db, verify, err);
	verify_found(verify, VERIFY_CHANGED, 0, "the database's %s: %s", table->name,
		     *ret ? "its columns are others" : sqlite3_errmsg(db));
	sqlite3_finalize(*ret);
	*ret = NULL;
	return 0;
}

/* ---- tables that are made anew: what they hold is little --------------------------------- */

static int order_of(const struct table *table, const struct value *a, const struct value *b)
{
	int order = 0;
	for (int i = 0; order == 0 && i < table->keys; i++) {
		struct str x = text_of(a[i]), y = text_of(b[i]);
		order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);
		if (order == 0)
			order = (x.len > y.len) - (x.len < y.len);
		if (order == 0 && !a[i].ptr && !b[i].ptr)
			order = (a[i].n > b[i].n) - (a[i].n < b[i].n);
	}
	return order;
}

static int step(sqlite3_stmt *stmt, struct value values[COLUMNS_MAX])
{
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		read_row(stmt, values);
	return rc;
}

static int compare_table(sqlite3 *db, sqlite3 *reference, const struct table *table,
			 const char *sql, struct verify *verify, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *is = NULL;
	_cleanup_stmt_ sqlite3_stmt *should = NULL;
	struct value a[COLUMNS_MAX], b[COLUMNS_MAX];
	if (sqlite3_prepare_v2(reference, sql, -1, &should, NULL) != SQLITE_OK)
		return db_failed(reference, "database", err);
	int r = prepare(db, sql, table, verify, &is, err);
	if (r < 0 || !is)
		return r;
	int rc = step(is, a), want = step(should, b);
	while ((rc == SQLITE_ROW || rc == SQLITE_DONE) &&
	       (rc == SQLITE_ROW || want == SQLITE_ROW)) {
		int order = rc != SQLITE_ROW ? 1 : want != SQLITE_ROW ? -1 : order_of(table, a, b);
		if (order == 0)
			compare_row(verify, table, is, a, b);
		else if (order < 0)
			unmade(verify, table, a);
		else
			missing(verify, table, b);
		if (order <= 0)
			rc = step(is, a);
		if (order >= 0)
			want = step(should, b);
	}
	if (want != SQLITE_ROW && want != SQLITE_DONE)
		return db_failed(reference, "database", err);
	return rc == SQLITE_DONE ? 0 : broken(db, verify, err);
}

/* ---- tables that the records make ------------------------------------------------------- */

/* What the log says of that row; *ret_seen is its mark.  NULL: nothing. */
static const struct value *look_up(const struct calls *calls, const struct table *table,
				   const struct value *row, bool **ret_seen)
{
	if (table == &session_table) {
		struct calls_session *session = calls_find_session(calls, text_of(row[0]));
		if (session)
			*ret_seen = &session->seen;
		return session ? session->values : NULL;
	}
	struct call *call = calls_find(calls, text_of(row[0]), text_of(row[1]), row[2].n);
	if (call)
		*ret_seen = table == &decision_table ? &call->decision_seen : &call->row_seen;
	return !call ? NULL : table == &decision_table ? call->decision : call->row;
}

static void tell_unseen(const struct calls *calls, const struct table *table,
			struct verify *verify)
{
	if (table == &session_table) {
		for (struct calls_session *s = calls_first_session(calls); s; s = s->later)
			if (!s->seen)
				missing(verify, table, s->values);
		return;
	}
	for (struct call *call = calls_first(calls); call; call = call->later) {
		const struct value *row = table == &decision_table ? call->decision : call->row;
		if (row && !(table == &decision_table ? call->decision_seen : call->row_seen))
			missing(verify, table, row);
	}
}

static int compare_made(sqlite3 *db, const struct calls *calls, const struct table *table,
			struct verify *verify, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct value row[COLUMNS_MAX];
	char sql[64];
	int rc;
	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table->name);
	int r = prepare(db, sql, table, verify, &stmt, err);
	if (r < 0 || !stmt)
		return r;
	/* several records make such a row: a record that is bad itself says more */
	int64_t bad = verify->first_bad;
	while ((rc = step(stmt, row)) == SQLITE_ROW) {
		bool *seen = NULL;
		const struct value *should = look_up(calls, table, row, &seen);
		if (!should || *seen) {
			unmade(verify, table, row);
			continue;
		}
		*seen = true;
		compare_row(verify, table, stmt, row, should);
	}
	if (rc == SQLITE_DONE)
		tell_unseen(calls, table, verify);
	verify->first_bad = bad ? bad : verify->first_bad;
	return rc == SQLITE_DONE ? 0 : broken(db, verify, err);
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

/* ---- events, beside the log -------------------------------------------------------------- */

static const char events_sql[] =
    "SELECT segment_id, byte_off, seq, event_id, ts_ms, mono_ns, boot_id, type, session_id,"
    " session_seq, call_id, tool_name, source, server, decision, outcome, plugin, rule,"
    " reason, client, agent_id, config_digest, hash, data FROM events"
    " ORDER BY id"; /* as they were read; others are out of place */

struct walk {
	const struct store *store;
	struct verify *verify;
	struct json_arena *arena;
	struct calls *calls;
	struct project *reference;
	sqlite3_stmt *events; /* NULL: the database has none */
	int rc;
	struct value row[COLUMNS_MAX]; /* the next of events */
};

static void walk_done(struct walk *walk)
{
	sqlite3_finalize(walk->events);
	project_free(walk->reference);
	calls_free(walk->calls);
	json_arena_free(walk->arena);
}

static void next_event(struct walk *walk)
{
	walk->rc = step(walk->events, walk->row);
}

static struct value text(struct str text)
{
	return text.ptr ? (struct value){text.ptr, (int64_t)text.len} : VALUE_NULL;
}

#define NUMBER(number) ((struct value){NULL, number})

static bool row_before(const struct value *row, int64_t segment, int64_t offset)
{
	return row[0].n < segment || (row[0].n == segment && row[1].n < offset);
}

static void compare_event(struct walk *walk, const struct event *e, int64_t segment,
			  int64_t offset)
{
	char hash[CHAIN_HEX + 1];
	chain_hex(e->chain.head, hash);
	const struct value should[] = {
	    NUMBER(segment), NUMBER(offset), NUMBER((int64_t)e->chain.seq), text(e->id),
	    NUMBER(e->ts_ms), NUMBER(e->mono_ns), text(e->boot), text(e->type), text(e->session),
	    NUMBER(e->sseq), text(e->call), text(e->tool), text(e->source), text(e->server),
	    text(e->verdict), text(e->outcome), text(e->plugin), text(e->rule), text(e->reason),
	    text(e->client), text(e->agent), text(e->config), {hash, CHAIN_HEX}, text(e->line)};
	while (walk->rc == SQLITE_ROW && row_before(walk->row, segment, offset)) {
		unmade(walk->verify, &event_table, walk->row);
		next_event(walk);
	}
	if (walk->rc != SQLITE_ROW && walk->rc != SQLITE_DONE)
		return; /* told at the end */
	if (walk->rc == SQLITE_DONE || walk->row[0].n != segment || walk->row[1].n != offset) {
		missing(walk->verify, &event_table, should);
		return;
	}
	if (!same(walk->row[event_table.columns - 1], text(e->line)))
		verify_found(walk->verify, VERIFY_CHANGED, (int64_t)e->chain.seq,
			     "the database's record %" PRIu64 " is not the log's line",
			     e->chain.seq);
	else
		compare_row(walk->verify, &event_table, walk->events, walk->row, should);
	next_event(walk);
}

static int walk_line(struct walk *walk, struct str line, int64_t segment, int64_t offset,
		     struct error *err)
{
	struct event event;
	enum bodies_state state;
	struct error why = {""};
	size_t mark = json_arena_mark(walk->arena);
	int r = event_read(walk->arena, line, &event, &why);
	if (r == -EBADMSG)
		return project_skipped(walk->reference, segment, offset, line.len, why.text, err);
	if (r < 0)
		return error_set(err, -r, "%s", why.text);
	if (walk->events)
		compare_event(walk, &event, segment, offset);
	r = bodies_fill(walk->store, segment, walk->arena, &event, &state, err);
	if (r == 0 && calls_take(walk->calls, &event) < 0)
		r = error_set(err, ENOMEM, "out of memory");
	json_arena_rewind(walk->arena, mark);
	return r;
}

static int walk_segment(struct walk *walk, int64_t segment, int64_t limit, struct error *err)
{
	_cleanup_(source_done) struct source source = {.store = walk->store, .fd = -1};
	struct lines lines;
	struct str line;
	int r = -ESTALE;
	/* files may be renamed while they are listed */
	for (int turns = 0; turns < 3 && (r == -ESTALE || r == -ENOENT); turns++) {
		source.segment = 0;
		r = source_open(&source, segment, err);
	}
	if (r == 0 && source.fd < 0)
		return error_set(err, ENOENT, "the log's file from record %" PRId64 " on is gone",
				 segment);
	if (r < 0)
		return r;
	lines_begin(&lines, TAKE_FD(source.fd), limit);
	while (r >= 0 && (r = lines_next(&lines, &line, err)) == 1)
		r = walk_line(walk, line, segment, lines.offset - (int64_t)line.len - 1, err);
	lines_done(&lines);
	return r;
}

/* All that the database has read. */
static int walk_log(struct walk *walk, const struct ingest_place *place, struct error *err)
{
	struct segments list;
	int r = segments_list(walk->store, &list, err);
	for (size_t i = 0; r == 0 && i < list.n && list.items[i].first <= place->segment; i++) {
		int64_t first = list.items[i].first;
		r = walk_segment(walk, first,
				 first == place->segment ? place->segment_offset
							 : list.items[i].size, err);
	}
	segments_free(&list);
	for (; r == 0 && walk->events && walk->rc == SQLITE_ROW; next_event(walk))
		unmade(walk->verify, &event_table, walk->row);
	return r;
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

static int begin_walk(struct walk *walk, sqlite3 *db, sqlite3 *reference, struct error *err)
{
	int r = json_arena_new(JSON_ARENA_DEFAULT, &walk->arena, err);
	if (r == 0 && calls_new(&walk->calls) < 0)
		r = error_set(err, ENOMEM, "out of memory");
	if (r == 0)
		r = project_new(reference, &walk->reference, err);
	if (r == 0)
		r = prepare(db, events_sql, &event_table, walk->verify, &walk->events, err);
	if (r == 0 && walk->events)
		next_event(walk);
	return r;
}

static int compare(const struct store *store, sqlite3 *db, const struct ingest_place *place,
		   struct verify *verify, struct error *err)
{
	static const struct table *const made[] = {&decision_table, &row_table, &session_table};
	_cleanup_db_ sqlite3 *reference = NULL;
	_cleanup_(walk_done) struct walk walk = {.store = store, .verify = verify};
	int r = db_open(store, DB_MEMORY, &reference, err);
	if (r == 0)
		r = begin_walk(&walk, db, reference, err);
	if (r == 0)
		r = compare_table(db, reference, &schema_table,
				  "SELECT name, type, tbl_name, sql FROM sqlite_schema ORDER BY 1",
				  verify, err);
	if (r == 0)
		r = walk_log(&walk, place, err);
	if (r == 0 && walk.events && walk.rc != SQLITE_DONE)
		r = broken(db, verify, err);
	if (r == 0)
		r = compare_table(db, reference, &skipped_table,
				  "SELECT segment_id, byte_off, bytes, why FROM skipped"
				  " ORDER BY 1, 2", verify, err);
	for (size_t i = 0; r == 0 && i < sizeof(made) / sizeof(made[0]); i++)
		r = compare_made(db, walk.calls, made[i], verify, err);
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
