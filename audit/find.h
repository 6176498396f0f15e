/* find.h - records by what they are about.
 *
 * Layer: audit; knows db; knows no command line: whoever lists records asks here.
 */
#ifndef PAWL_AUDIT_FIND_H
#define PAWL_AUDIT_FIND_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

/* Absent: NULL, INT64_MIN.  tool, type, agent and plugin are globs; text is looked for
 * anywhere in the record, without case. */
struct find {
	const char *session, *tool, *type, *decision, *agent, *plugin, *outcome, *text;
	int64_t since_ms, before_ms;
	int64_t limit; /* the last ones; 0: all */
};

/* Rows, oldest first: seq, ts_ms, type, session_id, call_id, tool_name, source, server,
 * decision, outcome, plugin, rule, reason, client, raw_data (the record).  *ret is the
 * caller's, to be finalized; find has to live as long. */
int find_records(sqlite3 *db, const struct find *find, sqlite3_stmt **ret, struct error *err);

#endif
