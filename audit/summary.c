/* summary.c - counts of a session, from the index or straight from the log. */
#include <config.h>

#include "summary.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "db.h"
#include "ingest.h"
#include "line.h"
#include "log.h"

/* How long the session's end waits for whoever fills the index. */
#define WAIT_NS ((int64_t)2000000000)
/* Without a database, a log is read into memory to count one session. */
#define MEMORY_LOG_MAX ((int64_t)256 << 20)

static void add_time(struct json_object *to, const char *key, int64_t ms)
{
	char text[LINE_TIME_MAX];
	line_time(ms, text);
	json_object_object_add(to, key, json_object_new_string(text));
}

static void add_column(struct json_object *to, sqlite3_stmt *stmt, int i)
{
	const char *name = sqlite3_column_name(stmt, i);
	size_t len = strlen(name);
	int type = sqlite3_column_type(stmt, i);
	if (type == SQLITE_INTEGER && len > 3 && strcmp(name + len - 3, "_ms") == 0) {
		char key[64];
		snprintf(key, sizeof(key), "%.*s", (int)len - 3, name);
		add_time(to, key, sqlite3_column_int64(stmt, i));
	} else if (type == SQLITE_INTEGER) {
		json_object_object_add(to, name,
				       json_object_new_int64(sqlite3_column_int64(stmt, i)));
	} else if (type == SQLITE_TEXT) {
		json_object_object_add(
		    to, name,
		    json_object_new_string_len((const char *)sqlite3_column_text(stmt, i),
					       sqlite3_column_bytes(stmt, i)));
	}
}

static const char counts[] =
	"SELECT session_id, client, ended_ms, end_event AS event, end_reason AS reason, started_ms,"
	" calls, allowed, denied, substituted, approvals, modified, errors, ok, failed, unknown,"
	" dropped FROM session_summaries WHERE session_id = ?";

static int count(sqlite3 *db, struct str session, struct json_object *to, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, counts, -1, &stmt, NULL) != SQLITE_OK)
		return db_failed(db, "database", err);
	sqlite3_bind_text(stmt, 1, session.ptr, (int)session.len, SQLITE_STATIC);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE)
		return error_set(err, ENOENT, "the session is not in the index");
	if (rc != SQLITE_ROW)
		return db_failed(db, "database", err);
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		add_column(to, stmt, i);
	return 0;
}

static int drain_waiting(const struct store *store, struct error *err)
{
	int64_t start = io_monotonic_ns();
	int r;
	while ((r = ingest_drain(store, INGEST_BUDGET_NS, err)) == 1 &&
	       io_monotonic_ns() - start < WAIT_NS)
		usleep(5000);
	return r;
}

static int count_from_database(const struct store *store, struct str session,
			       struct json_object *to, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	int r = drain_waiting(store, err);
	if (r == 1)
		return error_set(err, EAGAIN, "%s: not level with the log yet", store->db);
	if (r == 0)
		r = db_open(store, DB_READ, &db, err);
	return r < 0 ? r : count(db, session, to, err);
}

static int count_from_log(const struct store *store, struct str session, struct json_object *to,
			  struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	struct ingest_place place = {0};
	int r = db_open(store, DB_MEMORY, &db, err);
	if (r == 0)
		r = ingest_place(store, db, &place, err);
	if (r == 0 && place.size > MEMORY_LOG_MAX)
		return error_set(err, EFBIG, "the log is too large to count without a database");
	if (r == 0)
		r = ingest_fill(store, db, INGEST_NO_LIMIT, err);
	return r < 0 ? r : count(db, session, to, err);
}

static int append(const struct store *store, struct json_object *summary, struct error *err)
{
	size_t len;
	const char *text = json_object_to_json_string_length(
	    summary, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	char *line = text ? malloc(len + 1) : NULL;
	if (!line)
		return error_set(err, ENOMEM, "out of memory");
	memcpy(line, text, len);
	line[len] = '\n';
	int r = log_summary(store, (struct str){line, len + 1}, err);
	free(line);
	return r;
}

int summary_append(const struct store *store, struct str session, struct str event,
		   struct error *err)
{
	struct json_object *summary = json_object_new_object();
	if (!summary)
		return error_set(err, ENOMEM, "out of memory");
	int r = count_from_database(store, session, summary, err);
	if (r < 0)
		r = count_from_log(store, session, summary, err);
	if (r < 0) { /* a session's end without counts is better than none */
		json_object_object_add(
		    summary, "session_id",
		    json_object_new_string_len(session.ptr ? session.ptr : "", (int)session.len));
		json_object_object_add(
		    summary, "event",
		    json_object_new_string_len(event.ptr ? event.ptr : "", (int)event.len));
		add_time(summary, "ended", io_wall_ns() / 1000000);
	}
	r = append(store, summary, err);
	json_object_put(summary);
	return r;
}
