/* list.c - `pawl audit list` and `sessions`: rows of the index. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "db.h"
#include "find.h"
#include "line.h"
#include "text.h"

#define TABLE_LIMIT 100 /* of the table, unless --limit says otherwise */

static void bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
	if (text)
		sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC);
}

static struct find find_of(const struct query *q)
{
	return (struct find){
	    .session = q->session,     .tool = q->tool,		  .type = q->type,
	    .decision = q->decision,   .agent = q->agent,	  .plugin = q->plugin,
	    .outcome = q->outcome,     .text = q->text,		  .since_ms = q->since_ms,
	    .before_ms = q->before_ms, .limit = q->limit >= 0 ? q->limit : q->json ? 0 : TABLE_LIMIT,
	};
}

static struct str column(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	return (struct str){text ? text : "", (size_t)sqlite3_column_bytes(stmt, i)};
}

static void print_time(int64_t ms)
{
	char text[LINE_TIME_MAX];
	line_time(ms, text);
	text[10] = ' ';
	printf("%.23s ", text);
}

static void print_event(sqlite3_stmt *stmt)
{
	printf("%6" PRId64 " ", (int64_t)sqlite3_column_int64(stmt, 0));
	print_time(sqlite3_column_int64(stmt, 1));
	text_column(stdout, column(stmt, 2), 20);
	text_column(stdout, column(stmt, 5), 24);
	text_column(stdout, column(stmt, 3), 12);
	text_column(stdout, column(stmt, 4), 16);
	struct str outcome = column(stmt, 9), reason = column(stmt, 12);
	/* a decision that no plugin made: a list's, or the host's */
	if (outcome.len == 0)
		outcome = column(stmt, 10);
	text_print(stdout, outcome.len > 0 || reason.len == 0 ? outcome : STR("pawl"), 24);
	if (reason.len > 0) {
		fputs(": ", stdout);
		text_print(stdout, reason, 80);
	}
	fputc('\n', stdout);
}

int command_list(const struct query *query)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct error err;
	struct find find = find_of(query);
	int rc, r = command_index(query, &db, &err);
	if (r == 0)
		r = find_records(db, &find, &stmt, &err);
	if (r < 0)
		return command_failed(&err);
	if (!query->json && !query->quiet)
		printf("%6s %-23s %-20s %-24s %-12s %-16s %s\n", "SEQ", "TIME (UTC)", "TYPE",
		       "TOOL", "SESSION", "CALL", "OUTCOME, OR WHO DECIDED: WHY");
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (query->json)
			command_print(command_row(stmt));
		else
			print_event(stmt);
	}
	return rc == SQLITE_DONE ? 0 : (db_failed(db, query->store.db, &err), command_failed(&err));
}

/* ---- sessions ------------------------------------------------------------------------- */

static const char sessions[] =
	"SELECT session_id, client, started_ms, last_ms, ended_ms, calls, allowed, denied,"
	" substituted, approvals, modified, errors, ok, failed, unknown, dropped, end_event,"
	" end_reason, trust, cwd FROM session_summaries WHERE ?1 IS NULL OR session_id = ?1"
	" ORDER BY started_ms, session_id";

static void print_session(sqlite3_stmt *stmt)
{
	text_column(stdout, column(stmt, 0), 36);
	text_column(stdout, column(stmt, 1), 12);
	print_time(sqlite3_column_int64(stmt, 2));
	for (int i = 5; i <= 15; i++)
		printf(" %*" PRId64, (int)strlen(sqlite3_column_name(stmt, i)),
		       (int64_t)sqlite3_column_int64(stmt, i));
	fputc('\n', stdout);
}

static void print_heading(sqlite3_stmt *stmt)
{
	printf("%-36s %-12s %-23s ", "SESSION", "CLIENT", "STARTED (UTC)");
	for (int i = 5; i <= 15; i++)
		printf(" %s", sqlite3_column_name(stmt, i));
	fputc('\n', stdout);
}

int command_sessions(const struct query *query)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct error err;
	int rc, r = command_index(query, &db, &err);
	if (r == 0 && sqlite3_prepare_v2(db, sessions, -1, &stmt, NULL) != SQLITE_OK)
		r = db_failed(db, query->store.db, &err);
	if (r < 0)
		return command_failed(&err);
	bind_text(stmt, 1, query->session);
	if (!query->json && !query->quiet)
		print_heading(stmt);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (query->json)
			command_print(command_row(stmt));
		else
			print_session(stmt);
	}
	return rc == SQLITE_DONE ? 0 : (db_failed(db, query->store.db, &err), command_failed(&err));
}
