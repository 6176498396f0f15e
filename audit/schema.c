/* schema.c - the index's tables, as SQL. */
#include <config.h>

#include "schema.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

const char schema_create[] = "PRAGMA application_id = " TEXT_OF(
    SCHEMA_APPLICATION_ID) ";"
			   "PRAGMA user_version = " TEXT_OF(
			       SCHEMA_VERSION) ";"

					       "CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) "
					       "STRICT, WITHOUT ROWID;"

					       /* One row a log file.  ingest_offset and last_hash
						* say how far the index has read: when the log does
						* not show that hash there, it is another log. */
					       "CREATE TABLE segments("
					       " segment_id INTEGER PRIMARY KEY, path TEXT NOT "
					       "NULL, first_seq INTEGER, last_seq INTEGER,"
					       " last_hash TEXT, ingest_offset INTEGER NOT NULL "
					       "DEFAULT 0, closed_ms INTEGER) STRICT;"

					       /* 1:1 with the log's lines; data is the line itself.
						* seq is not unique here: a forged log must still
						* fit in, so that its lines can be seen. */
					       "CREATE TABLE events("
					       " id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, "
					       "event_id TEXT NOT NULL,"
					       " segment_id INTEGER NOT NULL, byte_off INTEGER NOT "
					       "NULL,"
					       " ts_ms INTEGER NOT NULL, mono_ns INTEGER, boot_id "
					       "TEXT, type TEXT NOT NULL,"
					       " session_id TEXT, session_seq INTEGER, call_id "
					       "TEXT, tool_name TEXT, source TEXT,"
					       " server TEXT, decision TEXT, outcome TEXT, plugin "
					       "TEXT, rule TEXT, reason TEXT,"
					       " client TEXT, agent_id TEXT, config_digest TEXT, "
					       "data TEXT NOT NULL, hash TEXT NOT NULL,"
					       " UNIQUE(segment_id, byte_off)) STRICT;"
					       "CREATE INDEX events_seq ON events(seq);"
					       "CREATE INDEX events_session ON events(session_id, "
					       "session_seq);"
					       "CREATE INDEX events_call ON events(call_id) WHERE "
					       "call_id IS NOT NULL;"
					       "CREATE INDEX events_type_ts ON events(type, ts_ms);"
					       "CREATE TRIGGER events_no_update BEFORE UPDATE ON "
					       "events"
					       " BEGIN SELECT RAISE(ABORT, 'events is "
					       "append-only'); END;"

					       /* Lines that could not be read: the index goes on
						  behind them. */
					       "CREATE TABLE skipped("
					       " segment_id INTEGER NOT NULL, byte_off INTEGER NOT "
					       "NULL, bytes INTEGER NOT NULL,"
					       " why TEXT NOT NULL, PRIMARY KEY(segment_id, "
					       "byte_off)) STRICT, WITHOUT ROWID;"

					       /* What the chain said, one row a pre event.  state:
						* 0 done, 1 allowed and not heard of since, 2 waits
						* for a person, 3 as 1 but the session stopped, 4
						* substituted and not told yet, 5 denied. */
					       "CREATE TABLE decisions("
					       " session_id TEXT NOT NULL, call_id TEXT NOT NULL, "
					       "occurrence INTEGER NOT NULL,"
					       " call_made INTEGER NOT NULL DEFAULT 0, tool_name "
					       "TEXT NOT NULL, source TEXT, server TEXT,"
					       " verdict TEXT NOT NULL, refused_by TEXT, plugin "
					       "TEXT, rule TEXT, reason TEXT,"
					       " args TEXT, args_digest TEXT, args_original TEXT, "
					       "trace TEXT,"
					       " config_digest TEXT, seq INTEGER NOT NULL, ts_ms "
					       "INTEGER NOT NULL,"
					       " state INTEGER NOT NULL,"
					       " PRIMARY KEY(session_id, call_id, occurrence)) "
					       "STRICT;"
					       "CREATE INDEX decisions_waiting ON "
					       "decisions(session_id, tool_name, seq)"
					       " WHERE state BETWEEN 1 AND 4;"

					       /* What ran or was answered instead.  A denied call
						* has no row; authorized_by 'denied' marks one that
						* ran all the same, 'unseen' one nobody asked about.
						*/
					       "CREATE TABLE tool_calls("
					       " session_id TEXT NOT NULL, call_id TEXT NOT NULL, "
					       "occurrence INTEGER NOT NULL,"
					       " call_made INTEGER NOT NULL DEFAULT 0, tool_name "
					       "TEXT NOT NULL, source TEXT, server TEXT,"
					       " outcome TEXT NOT NULL CHECK(outcome IN "
					       "('ok','tool_error','protocol_error','timeout',"
					       "'canceled','substituted','rejected','unknown')),"
					       " success INTEGER, is_error INTEGER NOT NULL "
					       "DEFAULT 0,"
					       " substituted INTEGER NOT NULL DEFAULT 0, mutated "
					       "INTEGER NOT NULL DEFAULT 0,"
					       " authorized_by TEXT NOT NULL,"
					       " args TEXT, args_original TEXT, args_digest TEXT, "
					       "result TEXT, result_digest TEXT,"
					       " client TEXT, agent_id TEXT, agent_type TEXT,"
					       " decision_seq INTEGER, post_seq INTEGER, "
					       "started_ms INTEGER, ended_ms INTEGER,"
					       " duration_us INTEGER,"
					       " PRIMARY KEY(session_id, call_id, occurrence)) "
					       "STRICT;"
					       "CREATE INDEX tool_calls_tool ON "
					       "tool_calls(tool_name, outcome);"

					       "CREATE TABLE sessions("
					       " session_id TEXT PRIMARY KEY, client TEXT, trust "
					       "TEXT, cwd TEXT,"
					       " started_ms INTEGER NOT NULL, last_ms INTEGER NOT "
					       "NULL, ended_ms INTEGER, end_event TEXT,"
					       " end_reason TEXT, n_events INTEGER NOT NULL "
					       "DEFAULT 0, max_seq INTEGER NOT NULL DEFAULT 0,"
					       " n_calls INTEGER NOT NULL DEFAULT 0, n_allowed "
					       "INTEGER NOT NULL DEFAULT 0,"
					       " n_denied INTEGER NOT NULL DEFAULT 0, "
					       "n_substituted INTEGER NOT NULL DEFAULT 0,"
					       " n_approvals INTEGER NOT NULL DEFAULT 0, "
					       "n_modified INTEGER NOT NULL DEFAULT 0,"
					       " n_errors INTEGER NOT NULL DEFAULT 0, n_ok INTEGER "
					       "NOT NULL DEFAULT 0,"
					       " n_failed INTEGER NOT NULL DEFAULT 0, n_unknown "
					       "INTEGER NOT NULL DEFAULT 0) STRICT;"

					       /* A session numbers its own records, lost ones too.
						*/
					       "CREATE VIEW session_summaries AS SELECT "
					       "session_id, client, trust, cwd, started_ms, "
					       "last_ms,"
					       " ended_ms, end_event, end_reason, n_calls AS "
					       "calls, n_allowed AS allowed,"
					       " n_denied AS denied, n_substituted AS substituted, "
					       "n_approvals AS approvals,"
					       " n_modified AS modified, n_errors AS errors, n_ok "
					       "AS ok, n_failed AS failed,"
					       " n_unknown AS unknown, max(0, max_seq - n_events) "
					       "AS dropped FROM sessions;";

const char schema_empty[] = "DELETE FROM events; DELETE FROM skipped; DELETE FROM decisions;"
			    "DELETE FROM tool_calls; DELETE FROM sessions; DELETE FROM segments;";
