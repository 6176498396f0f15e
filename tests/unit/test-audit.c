/* test-audit.c - audit.so driven as the host drives it: lines in the log, rows in the
 * database. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../audit/chain.h"
#include "../../audit/ingest.h"
#include "../../audit/lag.h"
#include "test-audit-host.h"

static const pawl_plugin *plugin;

struct fixture {
	char *dir;
	void *self;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->dir = fake_folder();
	*state = f;
	return fake_open(plugin, f->dir, ",\"sync\":\"off\"", &f->self);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	if (f->self)
		plugin->close(f->self);
	fake_remove(f->dir);
	free(f);
	return 0;
}

/* One text from the database as it is; "(none)" without a row, "(null)" for NULL. */
static const char *ask_now(const struct fixture *f, const char *sql)
{
	static char answer[8192];
	char path[4200];
	sqlite3 *db;
	sqlite3_stmt *stmt;
	snprintf(path, sizeof(path), "%s/audit.db", f->dir);
	snprintf(answer, sizeof(answer), "(none)");
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		snprintf(answer, sizeof(answer), "%s", text ? text : "(null)");
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

/* As whoever reads the index does: it is filled first. */
static const char *ask(const struct fixture *f, const char *sql)
{
	char path[4200];
	struct store store;
	snprintf(path, sizeof(path), "%s/audit.db", f->dir);
	assert_int_equal(store_open(path, STORE_EXISTING, &store, NULL), 0);
	(void)ingest_drain(&store, INGEST_NO_LIMIT, NULL);
	store_close(&store);
	return ask_now(f, sql);
}

#define assert_sql(f, sql, want) assert_string_equal(ask(f, sql), want)

static char *slurp(const struct fixture *f, const char *name)
{
	char path[4200];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	assert_int_equal(read(fd, text, (size_t)st.st_size), st.st_size);
	close(fd);
	return text;
}

/* Checks the whole chain; returns the number of lines. */
static uint64_t check_chain(const struct fixture *f)
{
	char *text = slurp(f, "audit_log.jsonl");
	struct chain chain = {0};
	uint64_t lines = 0;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct str s = {line, (size_t)(end - line)};
		if (lines == 0) {
			char *id = strstr(line, "\"chain\":\"");
			assert_non_null(id);
			chain_begin(&chain, (struct str){id + 9, 36});
		}
		assert_true(chain_follows(s, &chain));
		assert_true(chain_read(s, &chain));
		lines++;
	}
	free(text);
	return lines;
}

static struct fake_call post(const char *session, const char *call, const char *tool)
{
	struct fake_call c = {.number = FAKE_NUMBERS};
	c.text[PAWL_T_EVENT] = "PostToolUse";
	c.text[PAWL_T_SESSION] = session;
	c.text[PAWL_T_CALL_ID] = call;
	c.text[PAWL_T_TOOL] = tool;
	c.root[PAWL_R_ARGS] = "{\"a\":1}";
	c.root[PAWL_R_RESULT] = "\"fine\"";
	return c;
}

static const char allowed[] =
	"{\"type\":\"call.allowed\",\"trust\":\"user\",\"client\":\"claude-code\","
	"\"tool\":{\"name\":\"echo\",\"source\":\"local\"},\"tool_input\":{\"a\":1},"
	"\"decision\":\"allow\",\"trace\":[{\"plugin\":\"p\",\"verdict\":\"allow\",\"ns\":4}]}";

/* ---- rows ------------------------------------------------------------------------------ */

static void test_allowed_has_no_row_until_its_post_event(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	assert_int_equal(fake_pre(plugin, f->self, "s", "c1", allowed), 0);
	assert_sql(f, "SELECT type FROM events WHERE call_id = 'c1'", "call.allowed");
	assert_sql(f, "SELECT count(*) FROM tool_calls", "0");
	assert_int_equal(fake_post(plugin, f->self, &done), 0);
	assert_sql(f,
		   "SELECT format('%s %d %d %d %d %s %s', outcome, success, is_error, substituted,"
		   " occurrence, authorized_by, result) FROM tool_calls",
		   "ok 1 0 0 1 policy \"fine\"");
	assert_int_equal(check_chain(f), 3);
}

static void test_denied_has_no_row(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(fake_pre(plugin, f->self, "s", "c1",
				  "{\"type\":\"policy.denied\",\"tool\":{\"name\":\"rm\"},"
				  "\"tool_input\":{},\"decision\":\"deny\",\"reason\":\"no\","
				  "\"rule\":\"r\",\"plugin\":\"p\",\"refused_by\":\"plugin\"}"),
			 0);
	assert_int_equal(fake_stop(plugin, f->self, "s", "Stop"), 0);
	assert_sql(f, "SELECT count(*) FROM tool_calls", "0");
	assert_sql(f, "SELECT verdict || reason || rule || plugin || refused_by FROM decisions",
		   "denynorpplugin");
	assert_sql(f, "SELECT decision || ' ' || reason FROM events WHERE type = 'policy.denied'",
		   "deny no");
}

static void test_denied_that_runs_all_the_same_is_marked(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "rm");
	fake_pre(plugin, f->self, "s", "c1",
		 "{\"type\":\"policy.denied\",\"tool\":{\"name\":\"rm\"},\"decision\":\"deny\"}");
	assert_int_equal(fake_post(plugin, f->self, &done), 0);
	assert_sql(f, "SELECT outcome || authorized_by FROM tool_calls", "okdenied");
}

static void test_substituted_has_one_row_with_success(void **state)
{
	struct fixture *f = *state;
	struct fake_call told = post("s", "c1", "search");
	told.number[PAWL_N_SUBSTITUTED] = 1;
	assert_int_equal(fake_pre(plugin, f->self, "s", "c1",
				  "{\"type\":\"policy.substituted\",\"tool\":{\"name\":\"search\"},"
				  "\"tool_input\":{\"q\":1},\"tool_result\":[1e400],"
				  "\"is_error\":false,\"decision\":\"substitute\"}"),
			 0);
	assert_sql(f,
		   "SELECT outcome || success || substituted || is_error || result FROM tool_calls",
		   "substituted110[1e400]");
	assert_int_equal(fake_post(plugin, f->self, &told), 0);
	assert_sql(f, "SELECT count(*) || min(outcome) FROM tool_calls", "1substituted");
	assert_sql(f, "SELECT post_seq FROM tool_calls", "3");
}

static void test_open_call_is_unknown_at_stop_and_real_when_it_comes(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	fake_pre(plugin, f->self, "s", "c1", allowed);
	fake_pre(plugin, f->self, "other", "c1", allowed);
	assert_int_equal(fake_stop(plugin, f->self, "s", "Stop"), 0);
	assert_sql(f, "SELECT outcome || ifnull(success, '-') FROM tool_calls", "unknown-");
	assert_sql(f, "SELECT count(*) FROM tool_calls", "1");
	assert_int_equal(fake_stop(plugin, f->self, "s", "SessionEnd"), 0);
	assert_sql(f, "SELECT count(*) FROM tool_calls", "1");
	fake_post(plugin, f->self, &done);
	assert_sql(f, "SELECT count(*) || min(outcome) FROM tool_calls", "1ok");
	assert_sql(f, "SELECT unknown || ok FROM session_summaries WHERE session_id = 's'", "01");
}

static void test_failures_are_tool_errors(void **state)
{
	struct fixture *f = *state;
	struct fake_call c = post("s", "c1", "echo");
	c.number[PAWL_N_IS_ERROR] = 1;
	fake_post(plugin, f->self, &c);
	c = post("s", "c2", "echo");
	c.root[PAWL_R_RESULT] =
	    "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}";
	fake_post(plugin, f->self, &c);
	c = post("s", "c3", "echo");
	c.text[PAWL_T_EVENT] = "PostToolUseFailure";
	c.root[PAWL_R_RESULT] = NULL;
	c.root[PAWL_R_EVENT] = "{\"error\":\"boom\"}";
	fake_post(plugin, f->self, &c);
	assert_sql(f,
		   "SELECT count(*) FROM tool_calls WHERE outcome = 'tool_error' AND success = 0"
		   " AND is_error = 1 AND authorized_by = 'unseen'",
		   "3");
	assert_sql(f, "SELECT result FROM tool_calls WHERE call_id = 'c3'", "\"boom\"");
	assert_sql(f, "SELECT count(*) FROM events WHERE type = 'call.failed'", "3");
}

static void test_both_arguments_are_kept_exactly(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	done.root[PAWL_R_ARGS] = "{\"n\": 1915883588174806058,\n \"x\":1e400,\"z\":-0}";
	fake_pre(plugin, f->self, "s", "c1",
		 "{\"type\":\"call.allowed\",\"tool\":{\"name\":\"echo\"},\"decision\":\"allow\","
		 "\"tool_input\":{\"n\": 1915883588174806058,  \"x\":1e400,\"z\":-0},"
		 "\"tool_input_given\":{\"n\":0.1000}}");
	assert_sql(f, "SELECT args_original FROM decisions", "{\"n\":0.1000}");
	fake_post(plugin, f->self, &done);
	assert_sql(f, "SELECT args FROM tool_calls",
		   "{\"n\": 1915883588174806058,  \"x\":1e400,\"z\":-0}");
	assert_sql(f, "SELECT args_original || mutated FROM tool_calls", "{\"n\":0.1000}1");
	char *log = slurp(f, "audit_log.jsonl");
	assert_non_null(
	    strstr(log, "\"input\":{\"n\": 1915883588174806058,  \"x\":1e400,\"z\":-0}"));
	free(log);
}

static void test_same_id_twice_makes_two_occurrences(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	for (int i = 0; i < 2; i++) {
		fake_pre(plugin, f->self, "s", "c1", allowed);
		fake_post(plugin, f->self, &done);
	}
	fake_pre(plugin, f->self, "s", "c1", allowed);
	fake_pre(plugin, f->self, "s", "c1", allowed);
	fake_post(plugin, f->self, &done);
	assert_sql(f, "SELECT group_concat(occurrence) FROM tool_calls", "1,2,3");
	assert_sql(f, "SELECT group_concat(state) FROM decisions", "0,0,0,1");
}

/* The call before the tool and after it, of a client that gives no ids. */
static void nameless(struct fixture *f, const char *args, const char *args_after)
{
	struct fake_call call = post("s", NULL, "echo");
	call.root[PAWL_R_ARGS] = args;
	if (args)
		fake_decided(plugin, f->self, &call, allowed);
	call.root[PAWL_R_ARGS] = args_after;
	if (args_after)
		fake_post(plugin, f->self, &call);
}

static void test_call_without_id_is_named_and_joined(void **state)
{
	struct fixture *f = *state;
	struct fake_call call = post("s", NULL, "echo");
	fake_decided(
	    plugin, f->self, &call,
	    "{\"type\":\"policy.modified\",\"tool\":{\"name\":\"echo\"},\"tool_input\":{\"b\":1}}");
	nameless(f, "{\"a\":1}", NULL);
	nameless(f, "{\"a\":1}", "{ \"a\" : 1.0 }"); /* the same, written differently */
	nameless(f, NULL, "{\"a\":2}"); /* nobody was asked about this one */
	assert_sql(f,
		   "SELECT count(DISTINCT call_id) || '|' || count(*) FROM events"
		   " WHERE call_id LIKE 'pawl-%'",
		   "2|5");
	assert_sql(f,
		   "SELECT group_concat(authorized_by || occurrence) FROM"
		   " (SELECT * FROM tool_calls WHERE call_made ORDER BY post_seq)",
		   "policy1,unseen1");
	nameless(f, NULL, "{\"a\":1}");
	assert_sql(f,
		   "SELECT group_concat(t.occurrence || d.state) FROM decisions d"
		   " JOIN tool_calls t USING(session_id, call_id, occurrence)",
		   "10,20");
}

/* What JavaScript makes of arguments between the two events. */
static void test_made_up_id_outlives_javascript(void **state)
{
	struct fixture *f = *state;
	nameless(f, "{\"2\":1.50,\"x\":{},\"1\":[-0,1e400,12345678901234567890,\"\\u0041\"]}",
		 "{\"1\":[0,null,12345678901234567000,\"A\"],\"2\":1.5,\"x\":{}}");
	assert_sql(f, "SELECT count(*) || min(authorized_by) FROM tool_calls", "1policy");
	/* and what it makes of none */
	nameless(f, "{\"a\":[[],1]}", "{\"a\":[[1]]}");
	nameless(f, "{\"ab\":\"c\"}", "{\"a\":\"bc\"}");
	nameless(f, "[]", "{}");
	assert_sql(f, "SELECT count(*) FROM tool_calls WHERE authorized_by = 'unseen'", "3");
}

/* More of a tool's calls than a client ever finished do not hide the one that it did. */
static void test_call_without_id_is_found_behind_many(void **state)
{
	struct fixture *f = *state;
	char args[32];
	for (int i = 0; i < 100; i++) {
		snprintf(args, sizeof(args), "{\"a\":%d}", i);
		nameless(f, args, NULL);
	}
	nameless(f, NULL, args);
	plugin->close(f->self); /* what the index left for later */
	f->self = NULL;
	assert_sql(f, "SELECT count(*) || min(authorized_by) FROM tool_calls", "1policy");
}

static void test_approved_call_runs_as_human(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	const char *asked = "{\"type\":\"approval.requested\",\"tool\":{\"name\":\"echo\"},"
			    "\"tool_input\":{\"a\":1},\"decision\":\"require_approval\","
			    "\"instructions\":\"look\",\"timeout_s\":300}";
	fake_pre(plugin, f->self, "s", "c1", asked);
	fake_pre(plugin, f->self, "s", "c2", asked);
	fake_post(plugin, f->self, &done);
	fake_stop(plugin, f->self, "s", "Stop");
	assert_sql(f, "SELECT count(*) || min(outcome) || min(authorized_by) FROM tool_calls",
		   "1okhuman");
}

/* ---- values ---------------------------------------------------------------------------- */

static void test_large_value_becomes_a_marker(void **state)
{
	struct fixture *f = *state;
	struct fake_call c = post("s", "c1", "echo");
	char *big = malloc(70003);
	memset(big, 'x', 70002);
	big[0] = big[70001] = '"';
	big[70002] = '\0';
	c.root[PAWL_R_RESULT] = big;
	assert_int_equal(fake_post(plugin, f->self, &c), 0);
	assert_sql(f,
		   "SELECT json_extract(result, '$.truncated') || json_extract(result, '$.size')"
		   " || length(json_extract(result, '$.head')) FROM tool_calls",
		   "1700021024");
	assert_sql(f,
		   "SELECT 'sha256:' || json_extract(result, '$.sha256') = result_digest"
		   " FROM tool_calls",
		   "1");
	free(big);
}

static void test_deep_value_becomes_a_marker(void **state)
{
	struct fixture *f = *state;
	char deep[600 * 2 + 1], record[2000];
	memset(deep, '[', 511);
	memset(deep + 511, ']', 511);
	deep[1022] = '\0';
	snprintf(record, sizeof(record),
		 "{\"type\":\"call.allowed\",\"tool\":{\"name\":\"echo\"},\"decision\":\"allow\","
		 "\"tool_input\":{\"a\":%s}}",
		 deep);
	assert_int_equal(fake_pre(plugin, f->self, "s", "c1", record), 0);
	assert_sql(f, "SELECT json_extract(args, '$.size') FROM decisions", "1028");
	assert_sql(f, "SELECT count(*) FROM skipped", "0");
}

static void test_unreadable_record_is_recorded_as_such(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"", "[]", "{", "{\"type\":}", "{\"type\":\"x\"", "null"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fake_pre(plugin, f->self, "s", "c1", bad[i]), PAWL_E_FAIL);
	assert_sql(f, "SELECT count(*) FROM events WHERE type = 'audit.unreadable'", "6");
}

/* ---- the end of a session ------------------------------------------------------------------ */

static void test_stop_writes_a_summary(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	fake_pre(plugin, f->self, "s", "c1", allowed);
	fake_post(plugin, f->self, &done);
	fake_pre(plugin, f->self, "s", "c2", allowed);
	fake_pre(plugin, f->self, "s", "c3",
		 "{\"type\":\"policy.denied\",\"tool\":{\"name\":\"rm\"},\"decision\":\"deny\"}");
	assert_int_equal(fake_stop(plugin, f->self, "s", "Stop"), 0);
	assert_int_equal(fake_stop(plugin, f->self, "s", "SessionEnd"), 0);
	char *text = slurp(f, "session_summaries.jsonl");
	char *last = strchr(text, '\n') + 1;
	assert_non_null(strstr(text, "\"event\":\"Stop\""));
	assert_non_null(strstr(last, "\"session_id\":\"s\""));
	assert_non_null(strstr(last, "\"event\":\"SessionEnd\""));
	assert_non_null(strstr(last, "\"calls\":3,\"allowed\":2,\"denied\":1,\"substituted\":0,"
				     "\"approvals\":0,\"modified\":0,\"errors\":0,\"ok\":1,"
				     "\"failed\":0,\"unknown\":1,\"dropped\":0"));
	free(text);
}

static void test_options_are_checked(void **state)
{
	struct fixture *f = *state;
	void *self = NULL;
	assert_int_equal(fake_open(plugin, f->dir, ",\"max_value\":3", &self), PAWL_E_OPTION);
	assert_non_null(strstr(fake_error, "max_value"));
	assert_int_equal(fake_open(plugin, f->dir, ",\"max_value\":4194304", &self), PAWL_E_OPTION);
}

/* ---- the index is only an index ---------------------------------------------------------------
 */

static void in_folder(const struct fixture *f, const char *name, char path[4200])
{
	snprintf(path, 4200, "%s/%s", f->dir, name);
}

static const char rows[] =
	"SELECT (SELECT group_concat(seq || type || byte_off) FROM (SELECT * FROM events"
	" WHERE seq <= 6 ORDER BY id)) || (SELECT group_concat(call_id || occurrence || outcome)"
	" FROM (SELECT * FROM tool_calls ORDER BY call_id)) || (SELECT calls || ok || unknown ||"
	" dropped FROM session_summaries WHERE session_id = 's')";

static void test_deleted_database_is_made_anew(void **state)
{
	struct fixture *f = *state;
	struct fake_call done = post("s", "c1", "echo");
	char path[4200], before[8192];
	fake_pre(plugin, f->self, "s", "c1", allowed);
	fake_post(plugin, f->self, &done);
	fake_pre(plugin, f->self, "s", "c2", allowed);
	fake_stop(plugin, f->self, "s", "Stop");
	fake_pre(plugin, f->self, "s", "c3", allowed);
	snprintf(before, sizeof(before), "%s", ask(f, rows));
	in_folder(f, "audit.db", path);
	assert_int_equal(unlink(path), 0);
	plugin->close(f->self);
	assert_int_equal(fake_open(plugin, f->dir, "", &f->self), 0);
	fake_stop(plugin, f->self, "elsewhere", "Stop");
	assert_non_null(strstr(before, "6call.allowed"));
	assert_sql(f, rows, before);
}

static void test_broken_database_is_set_aside(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	fake_pre(plugin, f->self, "s", "c1", allowed);
	in_folder(f, "audit.db", path);
	int fd = open(path, O_WRONLY);
	char noise[8192];
	memset(noise, 'n', sizeof(noise));
	assert_int_equal(write(fd, noise, sizeof(noise)), sizeof(noise));
	close(fd);
	fake_pre(plugin, f->self, "s", "c2", allowed);
	assert_sql(f, "SELECT count(*) FROM events", "3");
}

static void test_other_log_replaces_the_rows(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	for (int i = 0; i < 3; i++)
		fake_pre(plugin, f->self, "s", "c1", allowed);
	in_folder(f, "audit_log.jsonl", path);
	assert_int_equal(unlink(path), 0);
	in_folder(f, "audit_head.bin", path);
	assert_int_equal(unlink(path), 0);
	for (int i = 0; i < 6; i++)
		fake_pre(plugin, f->self, "t", "c1", allowed);
	assert_sql(f, "SELECT count(*) || min(ifnull(session_id, 't')) FROM events", "7t");
	assert_int_equal(check_chain(f), 7);
}

/* Whoever takes the log away does not begin a new chain with that. */
static void test_a_removed_log_is_told(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	for (int i = 0; i < 3; i++)
		fake_pre(plugin, f->self, "s", "c1", allowed);
	in_folder(f, "audit_log.jsonl", path);
	assert_int_equal(unlink(path), 0);
	fake_pre(plugin, f->self, "s", "c1", allowed);
	assert_sql(f,
		   "SELECT seq || type || json_extract(data, '$.data.missing_from') ||"
		   " json_extract(data, '$.data.missing_to') FROM events ORDER BY id LIMIT 1",
		   "5audit.recovered14");
}

static void count_records(struct fixture *f, int n, const char *want)
{
	for (int i = 0; i < n; i++)
		fake_pre(plugin, f->self, "s", "c1", allowed);
	assert_string_equal(ask_now(f, "SELECT count(*) FROM events"), want);
}

static void age_note(const struct fixture *f, int64_t ms)
{
	char path[4200];
	int64_t then;
	snprintf(path, sizeof(path), "%s/" STORE_LAG, f->dir);
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &then, sizeof(then), 24), sizeof(then));
	then -= ms;
	assert_int_equal(pwrite(fd, &then, sizeof(then), 24), sizeof(then));
	close(fd);
}

static void test_index_follows_when_enough_has_gathered(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	count_records(f, 1, "2"); /* nobody has filled it yet */
	count_records(f, 1, "2");
	assert_sql(f, "SELECT count(*) FROM events", "3");
	count_records(f, 1, "3");
	age_note(f, LAG_MS);
	count_records(f, 1, "5");
	count_records(f, 1, "5");
	age_note(f, -400LL * 24 * 3600 * 1000); /* the clock was set back */
	count_records(f, 1, "7");
	snprintf(path, sizeof(path), "%s/" STORE_LAG, f->dir);
	assert_int_equal(unlink(path), 0);
	count_records(f, 1, "8");
	for (int i = 0; strcmp(ask_now(f, "SELECT count(*) FROM events"), "8") == 0; i++) {
		assert_true(i < (int)LAG_BYTES / 400);
		fake_pre(plugin, f->self, "s", "c1", allowed);
	}
}

static void test_foreign_database_is_left_alone(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	sqlite3 *db;
	in_folder(f, "audit.db", path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine(x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(fake_pre(plugin, f->self, "s", "c1", allowed), 0); /* the log has it */
	assert_sql(f, "SELECT group_concat(name) FROM sqlite_schema", "mine");
	assert_int_equal(check_chain(f), 2);
}

static void test_unreadable_line_is_skipped(void **state)
{
	struct fixture *f = *state;
	char path[4200];
	fake_pre(plugin, f->self, "s", "c1", allowed);
	in_folder(f, "audit_log.jsonl", path);
	char *text = slurp(f, "audit_log.jsonl");
	char *at = strstr(text, "\"call.allowed\"");
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "}}}}", 4, at - text), 4);
	close(fd);
	free(text);
	in_folder(f, "audit.db", path);
	unlink(path);
	fake_pre(plugin, f->self, "s", "c2", allowed);
	assert_sql(f, "SELECT count(*) FROM skipped", "1");
	assert_sql(f, "SELECT count(*) FROM events", "2");
	fake_pre(plugin, f->self, "s", "c3", allowed);
	assert_sql(f, "SELECT count(*) FROM events", "3");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_allowed_has_no_row_until_its_post_event),
	    TEST(test_denied_has_no_row),
	    TEST(test_denied_that_runs_all_the_same_is_marked),
	    TEST(test_substituted_has_one_row_with_success),
	    TEST(test_open_call_is_unknown_at_stop_and_real_when_it_comes),
	    TEST(test_failures_are_tool_errors),
	    TEST(test_both_arguments_are_kept_exactly),
	    TEST(test_same_id_twice_makes_two_occurrences),
	    TEST(test_call_without_id_is_named_and_joined),
	    TEST(test_made_up_id_outlives_javascript),
	    TEST(test_call_without_id_is_found_behind_many),
	    TEST(test_approved_call_runs_as_human),
	    TEST(test_large_value_becomes_a_marker),
	    TEST(test_deep_value_becomes_a_marker),
	    TEST(test_unreadable_record_is_recorded_as_such),
	    TEST(test_stop_writes_a_summary),
	    TEST(test_options_are_checked),
	    TEST(test_deleted_database_is_made_anew),
	    TEST(test_broken_database_is_set_aside),
	    TEST(test_other_log_replaces_the_rows),
	    TEST(test_a_removed_log_is_told),
	    TEST(test_index_follows_when_enough_has_gathered),
	    TEST(test_foreign_database_is_left_alone),
	    TEST(test_unreadable_line_is_skipped),
	};
	plugin = fake_load();
	if (!plugin)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
