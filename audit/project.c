/* project.c - events into decisions, executions and sessions. */
#include <config.h>

#include "project.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"

/* decisions.state */
enum { DONE, OPEN, HELD, STOPPED, SUBSTITUTED, DENIED };

enum statement {
	ADD_EVENT,
	ADD_SKIPPED,
	TOUCH_SESSION,
	COUNT_SESSION,
	END_SESSION,
	NEXT_OCCURRENCE,
	ADD_DECISION,
	CLOSE_HELD,
	SET_STATE,
	WAITING,
	WAITING_SUBSTITUTED,
	ADD_ROW,
	TELL_SUBSTITUTED,
	ADD_UNKNOWN,
	STOP_OPEN,
	ADD_ONE_UNKNOWN,
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
	[TOUCH_SESSION] =
	"INSERT INTO sessions(session_id, client, trust, cwd, started_ms, last_ms, n_events,"
	" max_seq) VALUES(?1,?2,?3,?4,?5,?5, ?6 IS NOT NULL, ifnull(?6, 0))"
	" ON CONFLICT DO UPDATE SET client = ifnull(excluded.client, client),"
	" trust = ifnull(excluded.trust, trust), cwd = ifnull(excluded.cwd, cwd),"
	" last_ms = excluded.last_ms, n_events = n_events + excluded.n_events,"
	" max_seq = max(max_seq, excluded.max_seq)",
	[COUNT_SESSION] = "UPDATE sessions SET n_calls = n_calls + ?2, n_allowed = n_allowed + ?3,"
		      " n_denied = n_denied + ?4, n_substituted = n_substituted + ?5,"
		      " n_approvals = n_approvals + ?6, n_modified = n_modified + ?7,"
		      " n_errors = n_errors + ?8, n_ok = n_ok + ?9, n_failed = n_failed + ?10,"
		      " n_unknown = n_unknown + ?11 WHERE session_id = ?1",
	[END_SESSION] = "UPDATE sessions SET ended_ms = ?2, end_event = ?3, end_reason = ?4"
		    " WHERE session_id = ?1",
	[NEXT_OCCURRENCE] = "SELECT 1 + max(ifnull((SELECT max(occurrence) FROM decisions"
			" WHERE session_id = ?1 AND call_id = ?2), 0),"
			" ifnull((SELECT max(occurrence) FROM tool_calls"
			" WHERE session_id = ?1 AND call_id = ?2), 0))",
	[ADD_DECISION] =
	"INSERT INTO decisions(session_id, call_id, occurrence, call_made, tool_name, source,"
	" server, verdict, refused_by, plugin, rule, reason, args, args_digest, args_original,"
	" trace, config_digest, seq, ts_ms, state)"
	" VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[CLOSE_HELD] = "UPDATE decisions SET state = 0"
		   " WHERE session_id = ?1 AND call_id = ?2 AND state = 2",
	[SET_STATE] = "UPDATE decisions SET state = ?4"
		  " WHERE session_id = ?1 AND call_id = ?2 AND occurrence = ?3",
	/* The oldest still open; else one given up at a stop; else one that was denied and
	 * seems to have run all the same. */
	[WAITING] = "SELECT occurrence, state FROM decisions"
		    " WHERE session_id = ?1 AND call_id = ?2 AND state IN (1, 2, 3, 5)"
		    " ORDER BY CASE state WHEN 3 THEN 1 WHEN 5 THEN 2 ELSE 0 END, occurrence"
		    " LIMIT 1",
	[WAITING_SUBSTITUTED] = "SELECT occurrence, state FROM decisions"
				" WHERE session_id = ?1 AND call_id = ?2 AND state = 4"
				" ORDER BY occurrence LIMIT 1",
	[ADD_ROW] =
	"INSERT INTO tool_calls(session_id, call_id, occurrence, call_made, tool_name, source,"
	" server, outcome, success, is_error, substituted, mutated, authorized_by, args,"
	" args_original, args_digest, result, result_digest, client, agent_id, agent_type,"
	" decision_seq, post_seq, started_ms, ended_ms, duration_us)"
	" SELECT ?1, ?2, ?3, ?4, ?5, ifnull(?6, d.source), ifnull(?7, d.server), ?8, ?9, ?10,"
	" ?11, ifnull(?13, d.args_original) IS NOT NULL,"
	" CASE d.verdict WHEN 'require_approval' THEN 'human' WHEN 'deny' THEN 'denied'"
	" ELSE iif(d.verdict IS NULL, 'unseen', 'policy') END,"
	" ifnull(?12, d.args), ifnull(?13, d.args_original), ifnull(?14, d.args_digest),"
	" ?15, ?16, ?17, ?18, ?19, d.seq, ?20, ifnull(d.ts_ms, ?21), ?21, ?22"
	" FROM (SELECT 1) LEFT JOIN decisions d"
	" ON d.session_id = ?1 AND d.call_id = ?2 AND d.occurrence = ?3 WHERE true"
	" ON CONFLICT DO UPDATE SET outcome = excluded.outcome, success = excluded.success,"
	" is_error = excluded.is_error, substituted = excluded.substituted,"
	" args = excluded.args, args_digest = excluded.args_digest,"
	" mutated = excluded.mutated, args_original = excluded.args_original,"
	" result = excluded.result, result_digest = excluded.result_digest,"
	" post_seq = excluded.post_seq, ended_ms = excluded.ended_ms,"
	" duration_us = excluded.duration_us",
	[TELL_SUBSTITUTED] =
	"UPDATE tool_calls SET post_seq = ?4, result = ifnull(result, ?5),"
	" result_digest = ifnull(result_digest, ?6), duration_us = ifnull(duration_us, ?7)"
	" WHERE session_id = ?1 AND call_id = ?2 AND occurrence = ?3",
	[ADD_UNKNOWN] =
	"INSERT OR IGNORE INTO tool_calls(session_id, call_id, occurrence, call_made, tool_name,"
	" source, server, outcome, mutated, authorized_by, args, args_original, args_digest,"
	" decision_seq, started_ms) SELECT session_id, call_id, occurrence, call_made, tool_name,"
	" source, server, 'unknown', args_original IS NOT NULL, 'policy', args, args_original,"
	" args_digest, seq, ts_ms FROM decisions"
	" WHERE session_id = ?1 AND state BETWEEN 1 AND 4 AND state = 1",
	[ADD_ONE_UNKNOWN] =
	"INSERT OR IGNORE INTO tool_calls(session_id, call_id, occurrence, call_made, tool_name,"
	" source, server, outcome, mutated, authorized_by, args, args_original, args_digest,"
	" decision_seq, started_ms) SELECT session_id, call_id, occurrence, call_made, tool_name,"
	" source, server, 'unknown', args_original IS NOT NULL, 'policy', args, args_original,"
	" args_digest, seq, ts_ms FROM decisions"
	" WHERE session_id = ?1 AND call_id = ?2 AND occurrence = ?3",
	[STOP_OPEN] = "UPDATE decisions SET state = 3"
		  " WHERE session_id = ?1 AND state BETWEEN 1 AND 4 AND state = 1",
};

struct project {
	sqlite3 *db;
	bool lean;
	sqlite3_stmt *stmts[STATEMENTS];
};

void project_free(struct project *project)
{
	if (!project)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(project->stmts[i]);
	free(project);
}

int project_new(sqlite3 *db, bool lean, struct project **ret, struct error *err)
{
	struct project *project = calloc(1, sizeof(*project));
	if (!project)
		return error_set(err, ENOMEM, "out of memory");
	project->db = db;
	project->lean = lean;
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

/* ---- a session's counts ------------------------------------------------------------ */

struct counts {
	int64_t calls, allowed, denied, substituted, approvals, modified, errors, ok, failed,
	    unknown;
};

static int64_t *count_of(struct counts *counts, struct str outcome)
{
	if (str_is(outcome, "ok"))
		return &counts->ok;
	if (str_is(outcome, "unknown"))
		return &counts->unknown;
	static int64_t nothing; /* a substitute is counted with its decision */
	return str_is(outcome, "substituted") ? &nothing : &counts->failed;
}

static int count(struct project *project, struct str session, const struct counts *n,
		 struct error *err)
{
	return run(project, err, COUNT_SESSION, "tiiiiiiiiii", session, n->calls, n->allowed,
		   n->denied, n->substituted, n->approvals, n->modified, n->errors, n->ok,
		   n->failed, n->unknown);
}

/* ---- which call an event belongs to -------------------------------------------------- */

struct key {
	struct str session, call;
	int64_t occurrence; /* 0: not found */
	int64_t state;
};

static struct str or_empty(struct str text)
{
	return text.ptr ? text : STR("");
}

static int next_occurrence(struct project *project, struct key *key, struct error *err)
{
	sqlite3_stmt *stmt = query(project, NEXT_OCCURRENCE, "tt", key->session, key->call);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		key->occurrence = sqlite3_column_int64(stmt, 0);
	int r = rc == SQLITE_ROW ? 0 : db_failed(project->db, "database", err);
	sqlite3_reset(stmt);
	return r;
}

static int find_waiting(struct project *project, const struct event *event, struct key *key,
			struct error *err)
{
	sqlite3_stmt *stmt = query(project, event->substituted ? WAITING_SUBSTITUTED : WAITING,
				   "tt", key->session, key->call);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		key->occurrence = sqlite3_column_int64(stmt, 0);
		key->state = sqlite3_column_int64(stmt, 1);
	}
	int r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(project->db, "database", err);
	sqlite3_reset(stmt);
	return r;
}

/* ---- decisions ------------------------------------------------------------------------ */

static const struct {
	const char *type, *verdict;
	int64_t state;
	struct counts counts;
} primary[] = {
	{"call.allowed", "allow", OPEN, {.calls = 1, .allowed = 1}},
	{"policy.denied", "deny", DENIED, {.calls = 1, .denied = 1}},
	{"policy.substituted", "substitute", SUBSTITUTED, {.calls = 1, .substituted = 1}},
	{"approval.requested", "require_approval", HELD, {.calls = 1, .approvals = 1}},
};

/* A person said no: that is an execution that failed, as one that never began. */
static int add_rejected(struct project *project, const struct event *e, const struct key *key,
			struct error *err)
{
	const struct str none = {NULL, 0};
	return run(project, err, ADD_ROW, "ttiitttciiittttttttiii", key->session, key->call,
		   key->occurrence, (int64_t)e->call_made, or_empty(e->tool), e->source, e->server,
		   "rejected", (int64_t)0, (int64_t)1, (int64_t)0, e->input, e->input_given,
		   e->input_digest, none, none, e->client, e->agent, e->agent_type, INT64_MIN,
		   e->ts_ms, INT64_MIN);
}

/* The end of a call that waited for a person: what was asked waits no more. */
static int answered(struct project *project, const struct event *e, const struct key *key,
		    struct error *err)
{
	int r = run(project, err, CLOSE_HELD, "tt", key->session, key->call);
	return r == 0 && str_is(e->refused_by, "human") ? add_rejected(project, e, key, err) : r;
}

static int add_substituted(struct project *project, const struct event *e, const struct key *key,
			   struct error *err)
{
	return run(project, err, ADD_ROW, "ttiitttciiittttttttiii", key->session, key->call,
		   key->occurrence, (int64_t)e->call_made, or_empty(e->tool), e->source, e->server,
		   "substituted", (int64_t)1, (int64_t)e->is_error, (int64_t)1, e->input,
		   e->input_given, e->input_digest, e->result, e->result_digest, e->client,
		   e->agent, e->agent_type, INT64_MIN, e->ts_ms, INT64_MIN);
}

static int decided(struct project *project, const struct event *e, size_t kind, struct error *err)
{
	struct key key = {.session = or_empty(e->session), .call = or_empty(e->call)};
	int64_t state = primary[kind].state;
	bool was_held = json_at(e->root, STR("/data/approval")) && state != HELD;
	/* who let it run is a person, then */
	const char *verdict = was_held && state == OPEN ? "require_approval" :
							  primary[kind].verdict;
	int r = next_occurrence(project, &key, err);
	if (r == 0)
		r = run(project, err, ADD_DECISION, "ttiitttctttttttttiii", key.session, key.call,
			key.occurrence, (int64_t)e->call_made, or_empty(e->tool), e->source,
			e->server, verdict, e->refused_by, e->plugin, e->rule,
			e->reason, e->input, e->input_digest, e->input_given, e->trace, e->config,
			(int64_t)e->chain.seq, e->ts_ms, state);
	if (r == 0 && was_held)
		r = answered(project, e, &key, err);
	if (r == 0 && state == SUBSTITUTED)
		r = add_substituted(project, e, &key, err);
	return r < 0 ? r : count(project, key.session, &primary[kind].counts, err);
}

/* ---- executions ------------------------------------------------------------------------ */

static struct str outcome_of(const struct event *e)
{
	if (e->substituted)
		return STR("substituted");
	if (e->outcome.ptr)
		return e->outcome;
	return e->is_error ? STR("tool_error") : STR("ok");
}

static int add_row(struct project *project, const struct event *e, const struct key *key,
		   struct error *err)
{
	struct str outcome = outcome_of(e);
	int64_t success = str_is(outcome, "ok") || e->substituted;
	return run(project, err, ADD_ROW, "ttiittttiiittttttttiii", key->session, key->call,
		   key->occurrence, (int64_t)e->call_made, or_empty(e->tool), e->source,
		   e->server, outcome, success, (int64_t)e->is_error, (int64_t)e->substituted,
		   e->input, e->input_given, e->input_digest, e->result, e->result_digest,
		   e->client, e->agent, e->agent_type, (int64_t)e->chain.seq, e->ts_ms,
		   e->duration_ns == INT64_MIN ? INT64_MIN : e->duration_ns / 1000);
}

static int tell_substituted(struct project *project, const struct event *e, const struct key *key,
			    struct error *err)
{
	return run(project, err, TELL_SUBSTITUTED, "ttiitti", key->session, key->call,
		   key->occurrence, (int64_t)e->chain.seq, e->result, e->result_digest,
		   e->duration_ns == INT64_MIN ? INT64_MIN : e->duration_ns / 1000);
}

/* A post event that no decision waits for: nobody asked before, or it was told twice. */
static int unasked(struct project *project, const struct event *e, struct key *key,
		   struct counts *counts, struct error *err)
{
	counts->calls++;
	if (e->substituted)
		counts->substituted++;
	return next_occurrence(project, key, err);
}

static int completed(struct project *project, const struct event *e, struct error *err)
{
	struct key key = {.session = or_empty(e->session), .call = or_empty(e->call)};
	struct counts counts = {0};
	int r = find_waiting(project, e, &key, err);
	bool asked = r == 0 && key.occurrence > 0;
	if (r == 0 && !asked)
		r = unasked(project, e, &key, &counts, err);
	if (r == 0 && asked)
		r = run(project, err, SET_STATE, "ttii", key.session, key.call, key.occurrence,
			(int64_t)DONE);
	if (r < 0)
		return r;
	if (key.state == SUBSTITUTED)
		return tell_substituted(project, e, &key, err);
	if (key.state == STOPPED)
		counts.unknown--;
	(*count_of(&counts, outcome_of(e)))++;
	r = add_row(project, e, &key, err);
	return r < 0 ? r : count(project, key.session, &counts, err);
}

static struct str stop_reason(const struct event *e)
{
	struct str reason = {0};
	(void)json_string(json_at(e->root, STR("/data/reason")), &reason);
	return reason;
}

static int stopped(struct project *project, const struct event *e, struct error *err)
{
	struct str session = or_empty(e->session);
	int r = run(project, err, ADD_UNKNOWN, "t", session);
	struct counts counts = {.unknown = sqlite3_changes(project->db)};
	if (r == 0)
		r = run(project, err, STOP_OPEN, "t", session);
	if (r == 0)
		r = run(project, err, END_SESSION, "titt", session, e->ts_ms, e->event,
			stop_reason(e));
	return r < 0 ? r : count(project, session, &counts, err);
}

/* Closed by age; a call that was heard of meanwhile is none any more. */
static int given_up(struct project *project, const struct event *e, struct error *err)
{
	struct key key = {.session = or_empty(e->session), .call = or_empty(e->call)};
	int r = find_waiting(project, e, &key, err);
	if (r < 0 || key.occurrence == 0 || key.state != OPEN)
		return r;
	r = run(project, err, ADD_ONE_UNKNOWN, "tti", key.session, key.call, key.occurrence);
	if (r == 0)
		r = run(project, err, SET_STATE, "ttii", key.session, key.call, key.occurrence,
			(int64_t)STOPPED);
	return r < 0 ? r : count(project, key.session, &(struct counts){.unknown = 1}, err);
}

/* ---- the entrance ------------------------------------------------------------------------ */

static int project_type(struct project *project, const struct event *e, struct error *err)
{
	/* A prompt or a model call is no tool call: its decisions are events and no more. */
	bool model = !e->tool.ptr;
	for (size_t i = 0; !model && i < sizeof(primary) / sizeof(primary[0]); i++)
		if (str_is(e->type, primary[i].type))
			return decided(project, e, i, err);
	if (str_is(e->type, "call.completed") || str_is(e->type, "call.failed"))
		return completed(project, e, err);
	if (str_is(e->type, "call.unknown"))
		return given_up(project, e, err);
	if (str_is(e->type, "session.stop"))
		return stopped(project, e, err);
	if (str_is(e->type, "policy.modified"))
		return count(project, or_empty(e->session), &(struct counts){.modified = 1}, err);
	if (str_is(e->type, "policy.hook_error"))
		return count(project, or_empty(e->session), &(struct counts){.errors = 1}, err);
	return 0;
}

static int add_event(struct project *project, const struct event *e, int64_t segment,
		     int64_t offset, struct error *err)
{
	char hash[CHAIN_HEX + 1];
	chain_hex(e->chain.head, hash);
	return run(project, err, ADD_EVENT, "itiiiitttitttttttttttttc", (int64_t)e->chain.seq,
		   e->id, segment, offset, e->ts_ms, e->mono_ns, e->boot, e->type, e->session,
		   e->sseq, e->call, e->tool, e->source, e->server, e->verdict, e->outcome,
		   e->plugin, e->rule, e->reason, e->client, e->agent, e->config,
		   project->lean ? STR("") : e->line, hash);
}

int project_event(struct project *project, const struct event *event, int64_t segment,
		  int64_t offset, struct error *err)
{
	int r = add_event(project, event, segment, offset, err);
	if (r < 0 || sqlite3_changes(project->db) == 0)
		return r;
	/* The store's own records belong to no session; a call without one belongs to "". */
	if (str_starts(event->type, STR("audit.")))
		return 0;
	r = run(project, err, TOUCH_SESSION, "ttttii", or_empty(event->session), event->client,
		event->trust, event->cwd, event->ts_ms, event->sseq);
	return r < 0 ? r : project_type(project, event, err);
}

int project_skipped(struct project *project, int64_t segment, int64_t offset, size_t bytes,
		    const char *why, struct error *err)
{
	return run(project, err, ADD_SKIPPED, "iiic", segment, offset, (int64_t)bytes, why);
}
