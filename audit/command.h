/* command.h - what the commands of pawl-audit share.
 *
 * Layer: audit; the edge: these print.
 *
 * Exit codes: 0, 1 (could not, or `status` is not well), 2 (usage); those of verify are
 * its own.
 */
#ifndef PAWL_AUDIT_COMMAND_H
#define PAWL_AUDIT_COMMAND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store.h"

struct json_object;

struct query {
	const char *db, *session, *tool, *type, *decision, *format, *target, *key, *anchor, *call;
	const char *agent, *plugin, *outcome, *text;
	int64_t since_ms, before_ms; /* INT64_MIN: none */
	int64_t limit;    /* -1: not given, 0: no limit */
	bool json, quiet, log_only, print_note, follow;
	struct store store;
};

int command_list(const struct query *query);
int command_show(const struct query *query);
int command_sessions(const struct query *query);
int command_status(const struct query *query);
int command_export(const struct query *query);
int command_verify(const struct query *query);
int command_rotate(const struct query *query);
int command_checkpoint(const struct query *query);
int command_anchor(const struct query *query);
int command_rebuild(const struct query *query);
int command_repair(const struct query *query);
int command_coverage(const struct query *query);
int command_erase(const struct query *query);
int command_hash(const struct query *query);
int command_tail(const struct query *query);
int command_stats(const struct query *query);

/* An index that is level with the log: the database where it can be made so or read,
 * else one in memory.  Says on stderr what was in the way.  *ret is to be closed with
 * sqlite3_close. */
int command_index(const struct query *query, sqlite3 **ret, struct error *err);

/* "pawl audit: TEXT" on stderr; 1 */
int command_failed(const struct error *err);

/* A row as a JSON object: NULLs left out, NAME_ms as an RFC 3339 text called NAME,
 * columns called raw_NAME as the JSON they hold, flag_NAME as a boolean. */
struct json_object *command_row(sqlite3_stmt *stmt);
/* All rows, as an array. */
struct json_object *command_rows(sqlite3_stmt *stmt, int64_t *ret_count);
/* {a: first, b: second}; takes both over. */
struct json_object *command_pair(const char *a, struct json_object *first, const char *b,
				 struct json_object *second);
struct json_object *command_text(const char *text);
/* Prints it as a line and frees it. */
void command_print(struct json_object *object);

#endif
