/* stats.c - `pawl audit stats`: counts by tool and by who decided. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "db.h"
#include "text.h"

/* ?1 and ?2: from and until, or NULL. */
static const struct {
	const char *name, *sql;
} parts[] = {
	{"tools",
     "WITH d AS (SELECT tool_name, count(*) AS asked, sum(verdict = 'deny') AS denied,"
     " sum(verdict = 'require_approval') AS held FROM decisions"
     " WHERE (?1 IS NULL OR ts_ms >= ?1) AND (?2 IS NULL OR ts_ms < ?2) GROUP BY 1),"
     " e AS (SELECT tool_name, count(*) AS ran, sum(outcome = 'ok') AS ok,"
     " sum(outcome IN ('tool_error', 'protocol_error', 'timeout')) AS failed,"
     " sum(outcome = 'unknown') AS unknown, sum(substituted) AS substituted,"
     " sum(authorized_by = 'unseen') AS unseen, avg(duration_us) AS mean_us,"
     " max(duration_us) AS max_us FROM tool_calls"
     " WHERE (?1 IS NULL OR started_ms >= ?1) AND (?2 IS NULL OR started_ms < ?2) GROUP BY 1)"
     " SELECT tool_name AS tool, ifnull(asked, 0) AS asked, ifnull(denied, 0) AS denied,"
     " ifnull(held, 0) AS held, ifnull(ran, 0) AS ran, ifnull(ok, 0) AS ok,"
     " ifnull(failed, 0) AS failed, ifnull(unknown, 0) AS unknown,"
     " ifnull(substituted, 0) AS substituted, ifnull(unseen, 0) AS unseen,"
     " CAST(mean_us AS INTEGER) AS mean_us, max_us FROM"
     " (SELECT tool_name FROM d UNION SELECT tool_name FROM e)"
     " LEFT JOIN d USING(tool_name) LEFT JOIN e USING(tool_name)"
     " ORDER BY ifnull(asked, 0) + ifnull(ran, 0) DESC, tool_name"},
	{"decided",
     "SELECT ifnull(plugin, ifnull(refused_by, 'pawl')) AS plugin, verdict, ifnull(rule, '') AS"
     " rule, count(*) AS calls FROM decisions"
     " WHERE (?1 IS NULL OR ts_ms >= ?1) AND (?2 IS NULL OR ts_ms < ?2)"
     " GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3"},
	{"clients",
     "SELECT ifnull(client, '') AS client, count(DISTINCT session_id) AS sessions,"
     " count(*) AS records FROM events WHERE session_id IS NOT NULL"
     " AND (?1 IS NULL OR ts_ms >= ?1) AND (?2 IS NULL OR ts_ms < ?2) GROUP BY 1 ORDER BY 3 DESC"},
};

static void print_cell(sqlite3_stmt *stmt, int i, bool heading)
{
	const char *name = sqlite3_column_name(stmt, i);
	const char *text = heading ? name : (const char *)sqlite3_column_text(stmt, i);
	bool number = strcmp(name, "tool") != 0 && strcmp(name, "plugin") != 0 &&
		      strcmp(name, "verdict") != 0 && strcmp(name, "rule") != 0 &&
		      strcmp(name, "client") != 0;
	if (number)
		printf(" %*s", (int)strlen(name) > 8 ? (int)strlen(name) : 8, text ? text : "-");
	else
		text_column(stdout, str_of(text ? text : ""), 24);
}

static void print_table(sqlite3_stmt *stmt, bool quiet)
{
	for (bool heading = !quiet; heading || sqlite3_step(stmt) == SQLITE_ROW; heading = false) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			print_cell(stmt, i, heading);
		fputc('\n', stdout);
	}
}

static int print_part(const struct query *query, sqlite3 *db, size_t part, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	int64_t n;
	if (sqlite3_prepare_v2(db, parts[part].sql, -1, &stmt, NULL) != SQLITE_OK)
		return db_failed(db, query->store.db, err);
	if (query->since_ms != INT64_MIN)
		sqlite3_bind_int64(stmt, 1, query->since_ms);
	if (query->before_ms != INT64_MIN)
		sqlite3_bind_int64(stmt, 2, query->before_ms);
	if (query->json) {
		command_print(command_pair("what", command_text(parts[part].name), "rows",
					   command_rows(stmt, &n)));
		return 0;
	}
	if (part > 0)
		fputc('\n', stdout);
	print_table(stmt, query->quiet);
	return 0;
}

int command_stats(const struct query *query)
{
	_cleanup_db_ sqlite3 *db = NULL;
	struct error err;
	int r = command_index(query, &db, &err);
	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = print_part(query, db, i, &err);
	return r < 0 ? command_failed(&err) : 0;
}
