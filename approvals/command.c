/* command.c - see command.h. */
#include <config.h>

#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "escape.h"

int command_failed(int r, const struct error *err)
{
	fputs("pawl approvals: ", stderr);
	escape_print(stderr, str_of(err->text), false);
	fputc('\n', stderr);
	return r == -ENOENT ? 3 : r == -EINVAL ? 2 : 1;
}

int command_open(const struct line *line, struct approvals **ret, struct error *err)
{
	*ret = NULL;
	int r = queue_open(line->store, false, ret, err);
	if (r == -ENOENT)
		return 1;
	if (r == 0)
		r = decide_sweep(*ret, &line->teller, err);
	return r;
}

void command_time(int64_t ms, char buf[32])
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;
	buf[0] = '\0';
	if (ms > 0 && gmtime_r(&t, &tm))
		strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

int64_t command_expires_ms(const struct row *row)
{
	if (row_status(row) == APPROVAL_PENDING)
		return row->timeout_ns > 0 ? row->created_ms + row->timeout_ns / 1000000 : 0;
	if (row_status(row) == APPROVAL_APPROVED)
		return row->decided_ms + row->redeem_ns / 1000000;
	return 0;
}

/* ---- for scripts ------------------------------------------------------------------------ */

static void add_some(const struct json_writer *w, struct json_object *o, const char *key,
		     struct str text)
{
	if (text.len > 0)
		w->add_text(o, key, text);
	else
		w->add_null(o, key);
}

static void add_raw(const struct json_writer *w, struct json_object *o, const char *key,
		    struct str json)
{
	if (json.len > 0)
		w->add_raw(o, key, json);
	else
		w->add_null(o, key);
}

static void add_time(const struct json_writer *w, struct json_object *o, const char *key,
		     int64_t ms)
{
	char text[32];
	command_time(ms, text);
	add_some(w, o, key, text[0] ? str_of(text) : (struct str){NULL, 0});
}

static struct str column(sqlite3_stmt *stmt, int i)
{
	return str_of((const char *)sqlite3_column_text(stmt, i));
}

static void add_votes(struct approvals *queue, const struct json_writer *w, struct json_object *o,
		      struct str id)
{
	static const char *const names[] = {"approver", "name",	  "assurance", "channel",
					    "decision", "why",    "seen_digest"};
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	struct json_object *votes = w->array();
	if (queue_query(queue, &stmt, NULL,
			"SELECT approver, name, assurance, channel, decision, reason, seen_digest,"
			" at_ms FROM votes WHERE approval_id = ? ORDER BY at_ms",
			"t", id) == 0)
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			struct json_object *vote = w->object();
			for (int i = 0; i < 7; i++)
				if (sqlite3_column_type(stmt, i) != SQLITE_NULL)
					w->add_text(vote, names[i], column(stmt, i));
			add_time(w, vote, "at", sqlite3_column_int64(stmt, 7));
			w->add(votes, NULL, vote);
		}
	w->add(o, "votes", votes);
}

static void add_notices(struct approvals *queue, const struct json_writer *w,
			struct json_object *o, struct str id)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	struct json_object *notices = w->array();
	if (queue_query(queue, &stmt, NULL,
			"SELECT delivery_id, state, attempts, last_error FROM outbox"
			" WHERE approval_id = ?",
			"t", id) == 0)
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			struct json_object *notice = w->object();
			w->add_text(notice, "delivery", column(stmt, 0));
			w->add_text(notice, "state", column(stmt, 1));
			w->add_integer(notice, "attempts", sqlite3_column_int64(stmt, 2));
			if (sqlite3_column_type(stmt, 3) != SQLITE_NULL)
				w->add_text(notice, "error", column(stmt, 3));
			w->add(notices, NULL, notice);
		}
	w->add(o, "notices", notices);
}

struct json_object *command_object(struct approvals *queue, const struct json_writer *w,
				   const struct row *row)
{
	struct json_object *o = w->object();
	int64_t left;
	w->add_text(o, "id", row->id);
	w->add_text(o, "status", row->status);
	w->add_text(o, "tool_name", row->tool_name);
	add_some(w, o, "source", row->source);
	add_some(w, o, "server", row->server);
	add_raw(w, o, "tool_input", row->args);
	add_raw(w, o, "tool_input_given", row->args_given.ptr ? row->args_given : row->args);
	w->add_text(o, "digest", row->digest);
	w->add_text(o, "session_id", row->session_id);
	add_some(w, o, "batch_id", row->batch_id);
	add_raw(w, o, "tool_use_id", row->call_id_json);
	add_some(w, o, "client", row->client);
	add_some(w, o, "agent_id", row->agent);
	add_some(w, o, "cwd", row->cwd);
	add_some(w, o, "rule", row->rule);
	add_some(w, o, "plugin", row->plugin);
	add_some(w, o, "reason", row->reason);
	add_some(w, o, "instructions", row->instructions);
	add_raw(w, o, "context", row->context);
	add_raw(w, o, "chain", row->chain);
	w->add_integer(o, "need", row->need);
	add_time(w, o, "created_at", row->created_ms);
	add_time(w, o, "expires_at", command_expires_ms(row));
	row_over(queue, row, &left);
	if (row_status(row) <= APPROVAL_APPROVED && left != INT64_MAX)
		w->add_integer(o, "left_s", left / 1000000000);
	add_some(w, o, "decided_by", row->decided_by);
	add_some(w, o, "decided_reason", row->decided_why);
	add_time(w, o, "decided_at", row->decided_ms);
	add_time(w, o, "consumed_at", row->consumed_ms);
	add_some(w, o, "consumed_by", row->consumed_by);
	if (row->changed)
		w->add_bool(o, "policy_changed", 1);
	add_votes(queue, w, o, row->id);
	add_notices(queue, w, o, row->id);
	return o;
}

void command_print_object(const struct json_writer *w, struct json_object *object)
{
	struct str text = w->text(object);
	escape_print(stdout, text, false); /* the same JSON, and nothing hides in a terminal */
	fputc('\n', stdout);
	w->free(object);
}
