/* project.c - events into the index's rows. */
#include <config.h>

#include "project.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "db.h"

enum statement {
	ADD_EVENT,
	ADD_SKIPPED,
	HAS_SESSION,
	LAST_OCCURRENCE,
	OPEN_IDS,
	READ_DECISIONS,
	READ_ROWS,
	ADD_DECISION,
	SET_STATE,
	PUT_ROW,
	PUT_SESSION,
	STATEMENTS
};

static const char *const sql[STATEMENTS] = {
	[ADD_EVENT] =
	"INSERT OR IGNORE INTO events(seq, event_id, segment_id, byte_off, ts_ms, mono_ns,"
	" boot_id, type, session_id, session_seq, call_id, tool_name, source, server,"
	" decision, outcome, plugin, rule, reason, client, agent_id, config_digest,"
	" data, hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[ADD_SKIPPED] = "INSERT OR IGNORE INTO skipped(segment_id, byte_off, bytes, why)"
		    " VALUES(?,?,?,?)",
	[HAS_SESSION] = "SELECT 1 FROM sessions WHERE session_id = ?",
	[LAST_OCCURRENCE] = "SELECT max(ifnull((SELECT max(occurrence) FROM decisions"
			" WHERE session_id = ?1 AND call_id = ?2), 0),"
			" ifnull((SELECT max(occurrence) FROM tool_calls"
			" WHERE session_id = ?1 AND call_id = ?2), 0))",
	/* as decisions_waiting is indexed */
	[OPEN_IDS] = "SELECT DISTINCT call_id FROM decisions"
		 " WHERE session_id = ?1 AND state BETWEEN 1 AND 4 AND state = 1",
	/* What is done stays as it is. */
	[READ_DECISIONS] = "SELECT * FROM decisions WHERE session_id = ?1 AND call_id = ?2"
		       " AND state <> 0 ORDER BY occurrence",
	[READ_ROWS] = "SELECT t.* FROM decisions d JOIN tool_calls t"
		  " USING(session_id, call_id, occurrence)"
		  " WHERE session_id = ?1 AND call_id = ?2 AND d.state <> 0",
	[ADD_DECISION] = "INSERT INTO decisions"
		     " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[SET_STATE] = "UPDATE decisions SET state = ?4"
		  " WHERE session_id = ?1 AND call_id = ?2 AND occurrence = ?3",
	[PUT_ROW] =
	"INSERT INTO tool_calls VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	" ON CONFLICT DO UPDATE SET outcome = excluded.outcome, success = excluded.success,"
	" is_error = excluded.is_error, substituted = excluded.substituted,"
	" args = excluded.args, args_digest = excluded.args_digest,"
	" mutated = excluded.mutated, args_original = excluded.args_original,"
	" result = excluded.result, result_digest = excluded.result_digest,"
	" post_seq = excluded.post_seq, ended_ms = excluded.ended_ms,"
	" duration_us = excluded.duration_us",
	[PUT_SESSION] =
	"INSERT INTO sessions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	" ON CONFLICT DO UPDATE SET client = ifnull(excluded.client, client),"
	" trust = ifnull(excluded.trust, trust), cwd = ifnull(excluded.cwd, cwd),"
	" last_ms = excluded.last_ms,"
	" end_event = iif(excluded.ended_ms IS NULL, end_event, excluded.end_event),"
	" end_reason = iif(excluded.ended_ms IS NULL, end_reason, excluded.end_reason),"
	" ended_ms = ifnull(excluded.ended_ms, ended_ms),"
	" n_events = n_events + excluded.n_events, max_seq = max(max_seq, excluded.max_seq),"
	" n_calls = n_calls + excluded.n_calls, n_allowed = n_allowed + excluded.n_allowed,"
	" n_denied = n_denied + excluded.n_denied,"
	" n_substituted = n_substituted + excluded.n_substituted,"
	" n_approvals = n_approvals + excluded.n_approvals,"
	" n_modified = n_modified + excluded.n_modified,"
	" n_errors = n_errors + excluded.n_errors, n_ok = n_ok + excluded.n_ok,"
	" n_failed = n_failed + excluded.n_failed, n_unknown = n_unknown + excluded.n_unknown",
};

struct project {
	sqlite3 *db;
	struct calls *calls; /* since the last flush */
	sqlite3_stmt *stmts[STATEMENTS];
};

void project_free(struct project *project)
{
	if (!project)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(project->stmts[i]);
	calls_free(project->calls);
	free(project);
}

int project_new(sqlite3 *db, struct project **ret, struct error *err)
{
	struct project *project = calloc(1, sizeof(*project));
	if (!project || calls_new(&project->calls) < 0) {
		free(project);
		return error_set(err, ENOMEM, "out of memory");
	}
	project->db = db;
	for (int i = 0; i < STATEMENTS; i++) {
		if (sqlite3_prepare_v2(db, sql[i], -1, &project->stmts[i], NULL) == SQLITE_OK)
			continue;
		int r = db_failed(db, "database", err);
		project_free(project);
		return r;
	}
	*ret = project;
	return 0;
}

/* ---- running statements ----------------------------------------------------------- */

/* Binds by kinds: t struct str (absent: NULL), i int64_t (INT64_MIN: NULL), c a C
 * string. */
static sqlite3_stmt *bind(struct project *project, enum statement which, const char *kinds,
			  va_list ap)
{
	sqlite3_stmt *stmt = project->stmts[which];
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	for (int i = 1; kinds[i - 1]; i++) {
		if (kinds[i - 1] == 'i') {
			int64_t n = va_arg(ap, int64_t);
			if (n != INT64_MIN)
				sqlite3_bind_int64(stmt, i, n);
		} else {
			struct str text = kinds[i - 1] == 't' ? va_arg(ap, struct str)
							      : str_of(va_arg(ap, const char *));
			if (text.ptr)
				sqlite3_bind_text(stmt, i, text.ptr, (int)text.len, SQLITE_STATIC);
		}
	}
	return stmt;
}

/* For statements without rows. */
static int run(struct project *project, struct error *err, enum statement which, const char *kinds,
	       ...)
{
	va_list ap;
	va_start(ap, kinds);
	sqlite3_stmt *stmt = bind(project, which, kinds, ap);
	va_end(ap);
	int rc = sqlite3_step(stmt);
	int r = rc == SQLITE_DONE ? 0 : db_failed(project->db, "database", err);
	sqlite3_reset(stmt);
	return r;
}

/* For statements with rows: step *ret and reset it. */
static sqlite3_stmt *query(struct project *project, enum statement which, const char *kinds, ...)
{
	va_list ap;
	va_start(ap, kinds);
	sqlite3_stmt *stmt = bind(project, which, kinds, ap);
	va_end(ap);
	return stmt;
}

/* ---- what is stored already ---------------------------------------------------------- */

static int ran_out(struct error *err)
{
	return error_set(err, ENOMEM, "out of memory");
}

/* Ends a statement with rows, after rc. */
static int end(struct project *project, sqlite3_stmt *stmt, int rc, struct error *err)
{
	int r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(project->db, "database", err);
	sqlite3_reset(stmt);
	return r;
}

static struct str text_at(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	return (struct str){text, text ? (size_t)sqlite3_column_bytes(stmt, i) : 0};
}

static struct value *read_values(struct calls *calls, sqlite3_stmt *stmt)
{
	int n = sqlite3_column_count(stmt), r = 0;
	struct value *values = calls_values(calls, (size_t)n);
	for (int i = 0; values && r == 0 && i < n; i++)
		if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER)
			values[i].n = sqlite3_column_int64(stmt, i);
		else if (sqlite3_column_type(stmt, i) != SQLITE_NULL)
			r = calls_set(calls, &values[i], text_at(stmt, i));
	return r == 0 ? values : NULL;
}

/* Decisions, or the executions beside them. */
static int read_group(struct project *project, struct calls_group *group, struct str session,
		      enum statement which, struct error *err)
{
	sqlite3_stmt *stmt = query(project, which, "tt", session, group->id);
	int rc;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct value *values = read_values(project->calls, stmt);
		struct call *call =
		    values ? calls_call(project->calls, group, values[D_OCCURRENCE].n) : NULL;
		if (!call)
			break;
		if (which == READ_DECISIONS) {
			calls_put_decision(call, values);
		} else {
			call->row = values;
			call->row_stored = true;
		}
	}
	int r = end(project, stmt, rc, err);
	return r == 0 && rc == SQLITE_ROW ? ran_out(err) : r;
}

static int load_group(struct project *project, struct calls_session *session, struct str id,
		      struct error *err)
{
	bool made;
	struct calls_group *group = calls_group(project->calls, session, id, &made);
	struct str name = {session->values[S_ID].ptr, (size_t)session->values[S_ID].n};
	if (!group)
		return ran_out(err);
	if (!made || !session->stored)
		return 0;
	sqlite3_stmt *stmt = query(project, LAST_OCCURRENCE, "tt", name, id);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		group->top = sqlite3_column_int64(stmt, 0);
	int r = end(project, stmt, rc, err);
	if (r == 0 && group->top > 0)
		r = read_group(project, group, name, READ_DECISIONS, err);
	if (r == 0 && group->top > 0)
		r = read_group(project, group, name, READ_ROWS, err);
	return r;
}

static int load_open(struct project *project, struct calls_session *session, struct error *err)
{
	struct str name = {session->values[S_ID].ptr, (size_t)session->values[S_ID].n};
	sqlite3_stmt *stmt = query(project, OPEN_IDS, "t", name);
	int rc, r = 0;
	while (r == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		r = load_group(project, session, text_at(stmt, 0), err);
	int rest = end(project, stmt, r == 0 ? rc : SQLITE_DONE, err);
	return r < 0 ? r : rest;
}

/* What the event may change, before it does. */
static int load(struct project *project, const struct event *e, struct error *err)
{
	bool made;
	struct str id = e->session.ptr ? e->session : STR("");
	struct calls_session *session = calls_session(project->calls, id, &made);
	if (!session)
		return ran_out(err);
	if (made) {
		sqlite3_stmt *stmt = query(project, HAS_SESSION, "t", id);
		int rc = sqlite3_step(stmt);
		session->stored = rc == SQLITE_ROW;
		int r = end(project, stmt, rc, err);
		if (r < 0)
			return r;
	}
	if (calls_by_id(e))
		return load_group(project, session, e->call.ptr ? e->call : STR(""), err);
	if (session->stored && str_is(e->type, "session.stop"))
		return load_open(project, session, err);
	return 0;
}

/* ---- storing what changed ------------------------------------------------------------- */

static int put(struct project *project, enum statement which, const struct value *values, int n,
	       struct error *err)
{
	sqlite3_stmt *stmt = project->stmts[which];
	for (int i = 0; i < n; i++)
		if (values[i].ptr)
			sqlite3_bind_text(stmt, i + 1, values[i].ptr, (int)values[i].n,
					  SQLITE_STATIC);
		else if (value_is_null(values[i]))
			sqlite3_bind_null(stmt, i + 1);
		else
			sqlite3_bind_int64(stmt, i + 1, values[i].n);
	int rc = sqlite3_step(stmt);
	int r = rc == SQLITE_DONE ? 0 : db_failed(project->db, "database", err);
	sqlite3_reset(stmt);
	return r;
}

static int put_call(struct project *project, const struct call *call, struct error *err)
{
	int r = 0;
	if (call->decision_changed && call->decision_stored) {
		const struct value *d = call->decision;
		const struct value key[] = {d[D_SESSION], d[D_CALL], d[D_OCCURRENCE], d[D_STATE]};
		r = put(project, SET_STATE, key, 4, err);
	} else if (call->decision_changed) {
		r = put(project, ADD_DECISION, call->decision, D_COLUMNS, err);
	}
	return r == 0 && call->row_changed ? put(project, PUT_ROW, call->row, R_COLUMNS, err) : r;
}

void project_lasting(struct project *project, struct str text)
{
	calls_lasting(project->calls, text);
}

int project_flush(struct project *project, struct error *err)
{
	int r = 0;
	for (struct call *call = calls_first(project->calls); r == 0 && call; call = call->later)
		r = put_call(project, call, err);
	for (struct calls_session *session = calls_first_session(project->calls);
	     r == 0 && session; session = session->later)
		r = put(project, PUT_SESSION, session->values, S_COLUMNS, err);
	calls_clear(project->calls);
	return r;
}

/* ---- the entrance ------------------------------------------------------------------------ */

static int add_event(struct project *project, const struct event *e, int64_t segment,
		     int64_t offset, struct error *err)
{
	char hash[CHAIN_HEX + 1];
	chain_hex(e->chain.head, hash);
	return run(project, err, ADD_EVENT, "itiiiitttitttttttttttttc", (int64_t)e->chain.seq,
		   e->id, segment, offset, e->ts_ms, e->mono_ns, e->boot, e->type, e->session,
		   e->sseq, e->call, e->tool, e->source, e->server, e->verdict, e->outcome,
		   e->plugin, e->rule, e->reason, e->client, e->agent, e->config, e->line, hash);
}

int project_event(struct project *project, const struct event *event, int64_t segment,
		  int64_t offset, struct error *err)
{
	int r = add_event(project, event, segment, offset, err);
	if (r < 0 || sqlite3_changes(project->db) == 0 ||
	    str_starts(event->type, STR("audit.")))
		return r;
	r = load(project, event, err);
	if (r == 0 && calls_take(project->calls, event) < 0)
		r = ran_out(err);
	return r;
}

int project_skipped(struct project *project, int64_t segment, int64_t offset, size_t bytes,
		    const char *why, struct error *err)
{
	return run(project, err, ADD_SKIPPED, "iiic", segment, offset, (int64_t)bytes, why);
}
