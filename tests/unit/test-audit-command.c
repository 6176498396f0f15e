/* test-audit-command.c - pawl-audit: what it prints and how it exits. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../audit/drops.h"
#include "../../audit/store.h"
#include "test-audit-host.h"

static const pawl_plugin *plugin;
static char output[65536];

static void write_store(const char *dir)
{
	void *self;
	struct fake_call done = {.number = FAKE_NUMBERS};
	done.text[PAWL_T_EVENT] = "PostToolUse";
	done.text[PAWL_T_SESSION] = "s1";
	done.text[PAWL_T_CALL_ID] = "c1";
	done.text[PAWL_T_TOOL] = "echo";
	done.root[PAWL_R_ARGS] = "{\"a\":1}";
	done.root[PAWL_R_RESULT] = "\"\xe2\x80\xae gnp.exe\"";
	assert_int_equal(fake_open(plugin, dir, ",\"sync\":\"off\"", &self), 0);
	fake_pre(plugin, self, "s1", "c1",
		 "{\"type\":\"call.allowed\",\"tool\":{\"name\":\"echo\",\"source\":\"local\"},"
		 "\"tool_input\":{\"a\":1},\"tool_input_given\":{\"a\":2},\"decision\":\"allow\","
		 "\"trace\":[{\"plugin\":\"deploys\",\"verdict\":\"allow\",\"ns\":410}]}");
	fake_post(plugin, self, &done);
	fake_pre(
	    plugin, self, "s1", "c2",
	    "{\"type\":\"policy.denied\",\"tool\":{\"name\":\"fetch\",\"source\":\"mcp\","
	    "\"server\":\"web\"},\"tool_input\":{},\"decision\":\"deny\",\"plugin\":\"egress\","
	    "\"rule\":\"hosts\",\"reason\":\"evil is\\u001b[2J not allowed\"}");
	fake_pre(plugin, self, "s2", "c1",
		 "{\"type\":\"policy.denied\",\"tool\":{\"name\":\"rm\"},\"decision\":\"deny\"}");
	fake_stop(plugin, self, "s1", "Stop");
	plugin->close(self);
}

static int set_up(void **state)
{
	*state = fake_folder();
	write_store(*state);
	return 0;
}

static int tear_down(void **state)
{
	fake_remove(*state);
	return 0;
}

/* Runs pawl-audit --db DIR/audit.db ARGS; output has stdout and stderr. */
static int run(const char *dir, const char *args)
{
	char command[9000];
	const char *top = getenv("abs_top_builddir");
	snprintf(command, sizeof(command), "{ '%s/libexec/pawl/pawl-audit' %s%s%s %s; } 2>&1",
		 top ? top : ".", dir ? "--db '" : "", dir ? dir : "", dir ? "/audit.db'" : "",
		 args);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	size_t n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = '\0';
	int status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char usage_text[] = "Try 'pawl audit --help'.";

static const struct {
	const char *args;
	int code;
	const char *has, *has_not;
} cases[] = {
	{"list", 0, "policy.denied", "\x1b"},
	{"list", 0, "egress: evil is\\x1b[2J not allowed", NULL},
	{"list --session s2", 0, " rm ", "fetch"},
	{"list --tool 'f*'", 0, "fetch", "echo"},
	{"list --type 'call.*'", 0, "call.completed", "policy"},
	{"list --decision deny", 0, "fetch", "call.completed"},
	{"list --limit 1 --quiet", 0, "session.stop", "call"},
	{"--json list --decision allow", 0, "\"call_id\":\"c1\"", "deny"},
	{"list --json --limit 1", 0, "\"data\":{\"v\":1,\"seq\":6,", NULL},
	{"list --since 2020-01-01", 0, "fetch", NULL},
	{"list --since 2999-01-01T00:00:00Z", 0, "SEQ", "fetch"},
	{"show c2", 0, "decided    deny by egress, rule hosts", "c1"},
	{"show c2", 0, "executed   no", NULL},
	{"show --session s1 c1", 0, "changed to {\"a\":1}", "s2"},
	{"show c1", 0, "of session s2", NULL},
	{"show c1", 0, "deploys              allow                     410 ns", NULL},
	{"show 3", 0, "result     \"\\u202e gnp.exe\"", "\xe2\x80\xae"},
	{"show 1", 0, "audit.opened", NULL},
	{"show c1 --json", 0, "\"tool_input_given\":{\"a\":2},\"tool_input\":{\"a\":1}", NULL},
	{"show c1 --json", 0, "\"success\":true", NULL},
	{"show nothing", 1, "no call and no record \"nothing\"", NULL},
	{"sessions", 0, "dropped", NULL},
	{"sessions --json --session s1", 0, "\"calls\":2,\"allowed\":1,\"denied\":1", "s2"},
	{"status", 0, "\nwell\n", NULL},
	{"status --json", 0, "\"well\":true,\"dropped\":0", NULL},
	{"status", 0, "journal mode truncate", NULL},
	{"export", 0, "\"audit.opened\"", NULL},
	{"export --format jsonl --session s2", 0, "\"tool\":\"rm\"", "s1"},
	{"export --since 2999-01-01", 0, "", "seq"},
	{"--help", 0, "Usage: pawl audit COMMAND", NULL},
	{"list --help", 0, "Usage: pawl audit COMMAND", NULL},
	{"--version", 0, PACKAGE_VERSION, NULL},
	{"", 2, usage_text, NULL},
	{"bogus", 2, usage_text, NULL},
	{"list --bogus", 2, usage_text, NULL},
	{"list extra", 2, usage_text, NULL},
	{"list --limit", 2, usage_text, NULL},
	{"list --limit -1", 2, usage_text, NULL},
	{"list --limit 1x", 2, usage_text, NULL},
	{"list --since yesterday", 2, usage_text, NULL},
	{"show", 2, usage_text, NULL},
	{"show a b", 2, usage_text, NULL},
	{"show c1 --limit 3", 2, "--limit has no meaning here", NULL},
	{"export --format xml", 2, usage_text, NULL},
	{"export --format csv", 0, "seq,time,type,session", "{\"v\":1"},
	{"verify", 0, "INTACT", NULL},
	{"verify --bogus", 4, usage_text, NULL},
	{"erase", 2, "erase: which?", NULL},
	{"list > /dev/full", 1, "standard output", NULL},
	{"export > /dev/full", 1, "standard output", NULL},
};

static void test_commands_print_and_exit_as_documented(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int code = run(*state, cases[i].args);
		if (code != cases[i].code || !strstr(output, cases[i].has) ||
		    (cases[i].has_not && strstr(output, cases[i].has_not)))
			fail_msg("%s: %d, %s", cases[i].args, code, output);
	}
}

static void test_export_is_the_log(void **state)
{
	char path[4200], log[65536] = "";
	snprintf(path, sizeof(path), "%s/audit_log.jsonl", (const char *)*state);
	int fd = open(path, O_RDWR | O_APPEND);
	assert_true(read(fd, log, sizeof(log) - 1) > 0);
	assert_int_equal(write(fd, "{\"half", 6), 6);
	close(fd);
	assert_int_equal(run(*state, "export"), 0);
	assert_string_equal(output, log);
}

static void test_without_a_store(void **state)
{
	(void)state;
	assert_int_equal(run(NULL, "list"), 1);
	assert_non_null(strstr(output, "no audit configured"));
	assert_int_equal(run("/nonexistent", "list"), 0);
	assert_non_null(strstr(output, "nothing was recorded yet"));
	assert_int_equal(run("/nonexistent", "show c1"), 1);
}

static void test_status_tells_losses(void **state)
{
	char path[4200];
	struct store store;
	snprintf(path, sizeof(path), "%s/audit.db", (const char *)*state);
	assert_int_equal(store_open(path, STORE_EXISTING, &store, NULL), 0);
	assert_int_equal(drops_count(&store, REASON_NO_SPACE, NULL), 0);
	store_close(&store);
	assert_int_equal(run(*state, "status"), 1);
	assert_non_null(strstr(output, "dropped    1 (1 not told in the log yet)"));
	assert_non_null(strstr(output, "by reason: no_space 1"));
	write_store(*state);
	assert_int_equal(run(*state, "status --json"), 1);
	assert_non_null(strstr(output, "\"dropped\":1,\"dropped_pending\":0"));
}

/* A database that is no longer filled: lists come from the log, status says so. */
static void test_lag_is_told_and_read_around(void **state)
{
	char path[4200];
	snprintf(path, sizeof(path), "%s/audit.db", (const char *)*state);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(run(*state, "status"), 1);
	assert_non_null(strstr(output, "NOT WELL"));
	assert_int_equal(run(*state, "list"), 0);
	assert_non_null(strstr(output, "reading the log instead"));
	assert_non_null(strstr(output, "fetch"));
}

static void test_deleted_database_comes_back(void **state)
{
	char path[4200];
	snprintf(path, sizeof(path), "%s/audit.db", (const char *)*state);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(run(*state, "list --quiet"), 0);
	assert_non_null(strstr(output, "fetch"));
	assert_int_equal(access(path, R_OK), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_commands_print_and_exit_as_documented),
	    TEST(test_export_is_the_log),
	    TEST(test_without_a_store),
	    TEST(test_status_tells_losses),
	    TEST(test_lag_is_told_and_read_around),
	    TEST(test_deleted_database_comes_back),
	};
	plugin = fake_load();
	if (!plugin)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
