/* status.c - `pawl audit status`: is the store well? */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "command.h"
#include "db.h"
#include "drops.h"
#include "ingest.h"
#include "segment.h"
#include "tail.h"

/* A record takes its number before it waits for the log: a hole is a loss only when
 * its session has been quiet for longer than the wait. */
#define SETTLED_MS 10000

struct status {
	struct drops drops;
	uint64_t gaps;  /* told in the log */
	uint64_t holes; /* numbers missing in sessions */
	struct ingest_place place;
	uint64_t log_seq;
	size_t files;
	const char *journal;
	struct error index_error, log_error;
	bool index_bad, log_bad;
};

static uint64_t number(sqlite3 *db, const char *sql, int64_t parameter)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return 0;
	if (sqlite3_bind_parameter_count(stmt) > 0)
		sqlite3_bind_int64(stmt, 1, parameter);
	return sqlite3_step(stmt) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
}

static void look_at_index(const struct query *query, struct status *status)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct error why;
	int drained = ingest_drain(&query->store, INGEST_NO_LIMIT, &status->index_error);
	int r = db_open(&query->store, DB_READ, &db, &why);
	if (r == 0)
		r = ingest_place(&query->store, db, &status->place, &why);
	if (r < 0) {
		status->index_bad = true;
		if (drained >= 0)
			status->index_error = why;
		return;
	}
	status->index_bad = status->place.offset != status->place.size || status->place.skipped > 0;
	status->gaps = number(db,
			      "SELECT ifnull(sum(json_extract(data, '$.data.count')), 0)"
			      " FROM events WHERE type = 'audit.gap'",
			      0);
	status->holes = number(db,
			       "SELECT ifnull(sum(dropped), 0) FROM session_summaries"
			       " WHERE last_ms < ?",
			       io_wall_ns() / 1000000 - SETTLED_MS);
	if (sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		/* The file knows WAL or not; which rollback journal is ours to choose. */
		status->journal = strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0
				      ? "wal"
				      : DB_JOURNAL_MODE;
	if (!status->index_bad)
		status->index_error.text[0] = '\0';
	else if (status->index_error.text[0] == '\0')
		error_set(&status->index_error, EAGAIN, "somebody else is filling it");
}

static void look_at_log(const struct query *query, struct status *status)
{
	_cleanup_close_ int fd = -1;
	struct segments list;
	struct tail tail = {0};
	int r = segments_list(&query->store, &list, &status->log_error);
	status->files = list.n;
	if (r == 0 && list.n > 0)
		r = segment_open(&query->store, list.items[list.n - 1].name, &fd,
				 &status->log_error);
	segments_free(&list);
	if (r == 0 && fd >= 0)
		r = tail_read(fd, &tail, &status->log_error);
	status->log_bad = r < 0;
	status->log_seq = tail.chain.seq;
}

static bool well(const struct status *s)
{
	return drops_sum(s->drops.total) == 0 && s->gaps == 0 && s->holes == 0 && !s->index_bad &&
	       !s->log_bad;
}

static uint64_t lost(const struct status *s)
{
	uint64_t counted = drops_sum(s->drops.total);
	uint64_t told = s->gaps + drops_sum(s->drops.pending);
	return counted > told ? counted : told;
}

/* ---- output ---------------------------------------------------------------------------- */

static struct json_object *reasons(const uint64_t counts[DROPS_REASONS])
{
	struct json_object *o = json_object_new_object();
	for (int i = 0; i < REASON_COUNT; i++)
		if (counts[i] > 0)
			json_object_object_add(o, reason_name((enum reason)i),
					       json_object_new_uint64(counts[i]));
	return o;
}

static void print_json(const struct query *query, const struct status *s)
{
	struct json_object *o = json_object_new_object();
#define ADD(key, value) json_object_object_add(o, key, value)
	ADD("well", json_object_new_boolean(well(s)));
	ADD("dropped", json_object_new_uint64(lost(s)));
	ADD("dropped_pending", json_object_new_uint64(drops_sum(s->drops.pending)));
	ADD("dropped_reasons", reasons(s->drops.total));
	ADD("missing_numbers", json_object_new_uint64(s->holes));
	ADD("log_bytes", json_object_new_int64(s->place.size));
	ADD("log_files", json_object_new_int64((int64_t)s->files));
	ADD("last_seq", json_object_new_uint64(s->log_seq));
	ADD("index_offset", json_object_new_int64(s->place.offset));
	ADD("index_lag_bytes", json_object_new_int64(s->place.size - s->place.offset));
	ADD("index_last_seq", json_object_new_int64(s->place.last_seq));
	ADD("index_unreadable_lines", json_object_new_int64(s->place.skipped));
	ADD("index_failures", reasons(s->drops.ingest));
	if (s->index_error.text[0])
		ADD("index_error", json_object_new_string(s->index_error.text));
	if (s->log_bad)
		ADD("log_error", json_object_new_string(s->log_error.text));
	ADD("database", json_object_new_string(query->store.db));
	ADD("sqlite", json_object_new_string(sqlite3_libversion()));
	ADD("journal_mode", json_object_new_string(s->journal));
#undef ADD
	command_print(o);
}

static void print_reasons(const char *what, const uint64_t counts[DROPS_REASONS])
{
	if (drops_sum(counts) == 0)
		return;
	printf("%s", what);
	for (int i = 0; i < REASON_COUNT; i++)
		if (counts[i] > 0)
			printf(" %s %" PRIu64, reason_name((enum reason)i), counts[i]);
	fputc('\n', stdout);
}

static void print_text(const struct query *query, const struct status *s)
{
	printf("store      %s\n", query->store.dir);
	printf("log        %" PRId64 " bytes in %zu files, last record %" PRIu64 "\n",
	       s->place.size, s->files, s->log_seq);
	if (s->log_bad)
		printf("           %s\n", s->log_error.text);
	printf("dropped    %" PRIu64 " (%" PRIu64 " not told in the log yet)\n", lost(s),
	       drops_sum(s->drops.pending));
	print_reasons("           by reason:", s->drops.total);
	if (s->holes > 0)
		printf("missing    %" PRIu64 " numbers in sessions' records\n", s->holes);
	printf("index      %s, %" PRId64 " bytes behind, last record %" PRId64 "\n",
	       query->store.db, s->place.size - s->place.offset, s->place.last_seq);
	if (s->place.skipped > 0)
		printf("           %" PRId64 " lines of the log could not be read\n",
		       s->place.skipped);
	if (s->index_error.text[0])
		printf("           %s\n", s->index_error.text);
	print_reasons("           failed fillings, made up for since or still behind:",
		      s->drops.ingest);
	printf("sqlite     %s, journal mode %s\n", sqlite3_libversion(), s->journal);
	printf("%s\n", well(s) ? "well" : "NOT WELL");
}

int command_status(const struct query *query)
{
	struct status status = {.journal = "none"};
	struct error err;
	if (drops_read(&query->store, &status.drops, &err) < 0)
		return command_failed(&err);
	look_at_index(query, &status);
	look_at_log(query, &status);
	if (query->json)
		print_json(query, &status);
	else if (!query->quiet)
		print_text(query, &status);
	return well(&status) ? 0 : 1;
}
