/* show.c - `pawl audit show`: all that is known of one call. */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "command.h"
#include "db.h"
#include "json/json.h"
#include "line.h"
#include "text.h"

#define VALUE_COLUMNS 4000 /* of one value on a terminal; --json shows all of it */

/* A call is every (session, call id, occurrence) that has a decision or an execution. */
static const char calls[] =
	"SELECT k.session_id, k.call_id, k.occurrence,"
	" ifnull(d.tool_name, t.tool_name) AS tool_name, ifnull(d.source, t.source) AS source,"
	" ifnull(d.server, t.server) AS server, d.verdict AS decision, d.refused_by, d.plugin,"
	" d.rule, d.reason, d.trace AS raw_trace, d.seq AS decision_seq, d.ts_ms AS decided_ms,"
	" ifnull(t.args_original, ifnull(d.args_original, ifnull(d.args, t.args))) AS"
	" raw_tool_input_given, ifnull(t.args, d.args) AS raw_tool_input, t.outcome,"
	" t.success AS flag_success, t.is_error AS flag_is_error, t.substituted AS flag_substituted,"
	" t.authorized_by, t.result AS raw_result, t.post_seq, t.ended_ms, t.duration_us,"
	" CASE d.state WHEN 1 THEN 'allowed' WHEN 2 THEN 'held' WHEN 3 THEN 'stopped'"
	" WHEN 4 THEN 'substituted' WHEN 5 THEN 'denied' ELSE 'done' END AS state,"
	" d.config_digest"
	" FROM (SELECT session_id, call_id, occurrence FROM decisions UNION"
	"  SELECT session_id, call_id, occurrence FROM tool_calls) k"
	" LEFT JOIN decisions d USING(session_id, call_id, occurrence)"
	" LEFT JOIN tool_calls t USING(session_id, call_id, occurrence)"
	" WHERE (?1 IS NULL OR k.session_id = ?1) AND (?2 IS NULL OR k.call_id = ?2)"
	" AND (?3 IS NULL OR d.seq = ?3 OR t.post_seq = ?3)"
	" ORDER BY ifnull(d.seq, t.post_seq)";

static const char records[] =
	"SELECT seq, ts_ms, type, session_id, call_id, plugin, rule, reason, data AS raw_data"
	" FROM events WHERE (?1 IS NULL OR session_id = ?1) AND (?2 IS NULL OR call_id = ?2"
	" OR seq IN (SELECT post_seq FROM tool_calls WHERE call_id = ?2"
	"  AND (?1 IS NULL OR session_id = ?1)))"
	" AND (?3 IS NULL OR seq = ?3) ORDER BY id";

struct target {
	const char *session, *call;
	int64_t seq; /* 0: by call */
};

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, const struct target *target)
{
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	if (target->session)
		sqlite3_bind_text(stmt, 1, target->session, -1, SQLITE_STATIC);
	if (target->call)
		sqlite3_bind_text(stmt, 2, target->call, -1, SQLITE_STATIC);
	if (target->seq)
		sqlite3_bind_int64(stmt, 3, target->seq);
	return stmt;
}

static struct str named(sqlite3_stmt *stmt, const char *name)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		if (strcmp(sqlite3_column_name(stmt, i), name) == 0) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);
			return (struct str){text, (size_t)sqlite3_column_bytes(stmt, i)};
		}
	return (struct str){NULL, 0};
}

static void print_field(const char *name, struct str text)
{
	if (!text.ptr)
		return;
	printf("  %-10s ", name);
	text_print(stdout, text, VALUE_COLUMNS);
	fputc('\n', stdout);
}

/* ---- the trace --------------------------------------------------------------------------- */

static struct str text_in(const struct json_value *object, const char *name)
{
	struct str text = {"", 0};
	(void)json_string(json_member(object, str_of(name)), &text);
	return text;
}

static void print_step(const struct json_value *step)
{
	int64_t ns;
	fputs("             ", stdout);
	text_column(stdout, text_in(step, "plugin"), 20);
	text_column(stdout, text_in(step, "verdict"), 18);
	if (json_integer(json_member(step, STR("ns")), &ns) == 0)
		printf("%10" PRId64 " ns", ns);
	const struct json_value *notes = json_member(step, STR("notes"));
	if (notes) {
		fputs("  ", stdout);
		text_print(stdout, json_raw(notes), VALUE_COLUMNS);
	}
	fputc('\n', stdout);
}

static void print_trace(struct str trace)
{
	struct json_arena *arena;
	const struct json_value *root;
	if (!trace.ptr || json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		return;
	if (json_parse(arena, trace, JSON_DEFAULT_LIMITS, 0, &root, NULL, NULL) == 0)
		for (size_t i = 0; i < json_length(root); i++)
			print_step(json_item(root, i));
	json_arena_free(arena);
}

/* ---- one call ------------------------------------------------------------------------------ */

static void print_decided(sqlite3_stmt *stmt)
{
	struct str by = named(stmt, "refused_by"), plugin = named(stmt, "plugin"),
		   rule = named(stmt, "rule"), reason = named(stmt, "reason"),
		   decision = named(stmt, "decision");
	fputs("  decided    ", stdout);
	if (!decision.ptr)
		fputs("nobody was asked", stdout);
	text_print(stdout, decision, VALUE_COLUMNS);
	if (plugin.ptr || by.ptr)
		fputs(" by ", stdout);
	text_print(stdout, plugin.ptr ? plugin : by, VALUE_COLUMNS);
	if (rule.ptr) {
		fputs(", rule ", stdout);
		text_print(stdout, rule, VALUE_COLUMNS);
	}
	if (reason.ptr) {
		fputs(": ", stdout);
		text_print(stdout, reason, VALUE_COLUMNS);
	}
	fputc('\n', stdout);
	print_trace(named(stmt, "raw_trace"));
}

static const char *not_executed(sqlite3_stmt *stmt)
{
	struct str state = named(stmt, "state");
	if (str_is(state, "allowed"))
		return "not heard of yet";
	return str_is(state, "held") ? "waits for a person, or was turned down" : "no";
}

static void print_executed(sqlite3_stmt *stmt)
{
	struct str outcome = named(stmt, "outcome"), us = named(stmt, "duration_us");
	fputs("  executed   ", stdout);
	text_print(stdout, outcome.ptr ? outcome : str_of(not_executed(stmt)), VALUE_COLUMNS);
	if (us.ptr)
		printf(" in %.3f ms", (double)strtoll(us.ptr, NULL, 10) / 1000);
	if (str_is(named(stmt, "authorized_by"), "denied"))
		fputs(" - RAN ALTHOUGH IT WAS DENIED", stdout);
	fputc('\n', stdout);
	print_field("result", named(stmt, "raw_result"));
}

static void print_call(sqlite3_stmt *stmt)
{
	struct str given = named(stmt, "raw_tool_input_given"),
		   final = named(stmt, "raw_tool_input"), server = named(stmt, "server");
	fputs("call ", stdout);
	text_print(stdout, named(stmt, "call_id"), VALUE_COLUMNS);
	printf(" (occurrence %d) of session ", sqlite3_column_int(stmt, 2));
	text_print(stdout, named(stmt, "session_id"), VALUE_COLUMNS);
	fputc('\n', stdout);
	print_field("tool", named(stmt, "tool_name"));
	print_field("server", server);
	print_field("intended", given);
	if (!str_equal(given, final))
		print_field("changed to", final);
	print_decided(stmt);
	print_executed(stmt);
}

static void print_record(sqlite3_stmt *stmt)
{
	char time[LINE_TIME_MAX];
	line_time(sqlite3_column_int64(stmt, 1), time);
	printf("  record     %s  seq %d  ", time, sqlite3_column_int(stmt, 0));
	text_print(stdout, named(stmt, "type"), 40);
	struct str reason = named(stmt, "reason");
	if (reason.ptr)
		fputs("  ", stdout);
	text_print(stdout, reason, VALUE_COLUMNS);
	fputc('\n', stdout);
}

/* ---- the command --------------------------------------------------------------------------- */

static int64_t print_each(sqlite3_stmt *stmt, void (*print)(sqlite3_stmt *))
{
	int64_t n = 0;
	for (; sqlite3_step(stmt) == SQLITE_ROW; n++)
		print(stmt);
	return n;
}

static int64_t show_json(sqlite3_stmt *call, sqlite3_stmt *record)
{
	int64_t n, m;
	struct json_object *call_list = command_rows(call, &n);
	struct json_object *record_list = command_rows(record, &m);
	command_print(command_pair("calls", call_list, "events", record_list));
	return n + m;
}

/* Number of things found, or -1. */
static int64_t show(const struct query *query, sqlite3 *db, const struct target *target)
{
	_cleanup_stmt_ sqlite3_stmt *call = prepare(db, calls, target);
	_cleanup_stmt_ sqlite3_stmt *record = prepare(db, records, target);
	if (!call || !record)
		return -1;
	if (sqlite3_step(record) != SQLITE_ROW)
		return 0;
	sqlite3_reset(record);
	if (query->json)
		return show_json(call, record);
	return print_each(call, print_call) + print_each(record, print_record);
}

/* All digits: a sequence number, when no call has that name; its call then. */
static int64_t number_of(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isdigit((unsigned char)*c))
			return 0;
	return *text ? strtoll(text, NULL, 10) : 0;
}

static void call_of_seq(sqlite3 *db, struct target *target, char **session, char **call)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = prepare(db, records, target);
	if (!stmt || sqlite3_step(stmt) != SQLITE_ROW)
		return;
	struct str id = named(stmt, "call_id"), of = named(stmt, "session_id");
	if (!id.ptr)
		return;
	*call = strndup(id.ptr, id.len);
	*session = strndup(of.ptr ? of.ptr : "", of.len);
	*target = (struct target){.session = of.ptr ? *session : NULL, .call = *call};
}

int command_show(const struct query *query)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_free_ char *session = NULL, *call = NULL;
	struct error err;
	struct target target = {.session = query->session, .call = query->target};
	if (command_index(query, &db, &err) < 0)
		return command_failed(&err);
	int64_t n = show(query, db, &target), seq = number_of(query->target);
	if (n == 0 && seq > 0) {
		target = (struct target){.session = query->session, .seq = seq};
		call_of_seq(db, &target, &session, &call);
		n = show(query, db, &target);
	}
	if (n < 0)
		db_failed(db, query->store.db, &err);
	else if (n == 0)
		error_set(&err, ENOENT, "no call and no record \"%s\"", query->target);
	return n > 0 ? 0 : command_failed(&err);
}
