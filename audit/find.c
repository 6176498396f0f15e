/* find.c - one query. */
#include <config.h>

#include "find.h"

#include <stddef.h>

#include "db.h"

static const char sql[] =
	"SELECT seq, ts_ms, type, session_id, call_id, tool_name, source, server, decision,"
	" outcome, plugin, rule, reason, client, data AS raw_data FROM ("
	" SELECT * FROM events"
	" WHERE (?1 IS NULL OR session_id = ?1) AND (?2 IS NULL OR tool_name GLOB ?2)"
	" AND (?3 IS NULL OR type GLOB ?3) AND (?4 IS NULL OR decision = ?4)"
	" AND (?5 IS NULL OR agent_id GLOB ?5) AND (?6 IS NULL OR plugin GLOB ?6)"
	" AND (?7 IS NULL OR outcome = ?7) AND (?8 IS NULL OR instr(lower(data), lower(?8)) > 0)"
	" AND (?9 IS NULL OR ts_ms >= ?9) AND (?10 IS NULL OR ts_ms < ?10)"
	" ORDER BY id DESC LIMIT ?11) ORDER BY id";

int find_records(sqlite3 *db, const struct find *find, sqlite3_stmt **ret, struct error *err)
{
	const char *const texts[] = {find->session, find->tool,	  find->type,	 find->decision,
				     find->agent,   find->plugin, find->outcome, find->text};
	const int64_t times[] = {find->since_ms, find->before_ms};
	if (sqlite3_prepare_v2(db, sql, -1, ret, NULL) != SQLITE_OK)
		return db_failed(db, "database", err);
	for (int i = 0; i < 8; i++)
		if (texts[i])
			sqlite3_bind_text(*ret, i + 1, texts[i], -1, SQLITE_STATIC);
	for (int i = 0; i < 2; i++)
		if (times[i] != INT64_MIN)
			sqlite3_bind_int64(*ret, 9 + i, times[i]);
	sqlite3_bind_int64(*ret, 11, find->limit > 0 ? find->limit : -1);
	return 0;
}
