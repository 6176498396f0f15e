/* test-chain.c - the policy of asking: what a chain of scripted plugins comes to. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/host.h"
#include "core/hosttable.h"
#include "core/state.h"

/* ---- scripted plugins ------------------------------------------------------------------
 * A script is words: what the hook does in round 0, and after '/' in round 1 (allow when
 * nothing is said):
 *   allow deny ask sub none      the verdicts, 'none' returns 0
 *   error                        returns PAWL_E_FAIL with a text
 *   set:NAME=JSON del:NAME       edits, then allow unless a verdict follows
 *   see:NAME=JSON                denies unless the argument is that
 *   grant tell bad               the extras; 'bad' is an edit that fails
 */
static char asked[512]; /* "a0 b0 a1": who was asked, in which round */

static pawl_str text(const char *s)
{
	return (pawl_str){s, strlen(s)};
}

static void edit(pawl_reply *reply, char *what, bool set)
{
	char pointer[64];
	char *eq = strchr(what, '=');
	if (eq)
		*eq = '\0';
	snprintf(pointer, sizeof(pointer), "/%s", what);
	if (set)
		host_table.set_at(reply, text(pointer), text(eq + 1));
	else
		host_table.remove_at(reply, text(pointer));
}

static bool sees(const pawl_call *call, char *what)
{
	char *eq = strchr(what, '=');
	*eq = '\0';
	const pawl_value *args = host_table.root(call, PAWL_R_ARGS);
	pawl_str json = host_table.json(host_table.member(args, text(what)));
	return json.ptr && strcmp(json.ptr, eq + 1) == 0;
}

static int32_t say(const struct plugin *self, const char *word, const pawl_call *call,
		   pawl_reply *reply)
{
	char copy[128];
	snprintf(copy, sizeof(copy), "%s", word);
	if (strcmp(word, "deny") == 0)
		host_table.reason(reply, text("rule"), text("because"));
	if (strcmp(word, "ask") == 0) {
		host_table.reason(reply, text("rule"), text("ask them"));
		host_table.approval(reply, text("look twice"), 5000000000);
	}
	if (strcmp(word, "sub") == 0)
		host_table.result(reply, text("{\"cached\":true}"), 0);
	if (strncmp(word, "set:", 4) == 0)
		edit(reply, copy + 4, true);
	if (strncmp(word, "del:", 4) == 0)
		edit(reply, copy + 4, false);
	if (strcmp(word, "bad") == 0)
		host_table.set_args(reply, text("[1"));
	if (strcmp(word, "grant") == 0)
		host_table.grant(reply);
	if (strcmp(word, "tell") == 0)
		host_table.tell(reply, text("know this"));
	if (strcmp(word, "error") == 0)
		host_table.set_error(&self->host, text("inner secret"));
	return strcmp(word, "deny") == 0  ? PAWL_DENY :
	       strcmp(word, "ask") == 0	  ? PAWL_REQUIRE_APPROVAL :
	       strcmp(word, "sub") == 0	  ? PAWL_SUBSTITUTE :
	       strcmp(word, "none") == 0  ? 0 :
	       strcmp(word, "error") == 0 ? PAWL_E_FAIL :
	       strncmp(word, "see:", 4) == 0 ? (sees(call, copy + 4) ? PAWL_ALLOW : PAWL_DENY) :
					    PAWL_ALLOW;
}

static int32_t scripted(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct plugin *self = data;
	const char *script = self->file->path;
	int64_t round = host_table.number(call, PAWL_N_ROUND);
	char copy[256], *save;
	size_t len = strlen(asked);
	snprintf(asked + len, sizeof(asked) - len, "%s%s%d", len ? " " : "", self->file->note.id,
		 (int)round);
	const char *slash = strchr(script, '/');
	if (round > 0)
		snprintf(copy, sizeof(copy), "%s", slash ? slash + 1 : "allow");
	else
		snprintf(copy, sizeof(copy), "%.*s",
			 slash ? (int)(slash - script) : (int)strlen(script), script);
	int32_t status = PAWL_ALLOW;
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		status = say(self, word, call, reply);
	return status;
}

/* ---- the fixture ------------------------------------------------------------------------- */

struct fixture {
	struct config *config;
	struct host *host;
	struct json_arena *arena;
	struct pawl_call *call;
	char state[64];
};

/* entries: "a: script; b: script", '!' before the name makes it shadow, '^' halts on error,
 * '+' may grant. */
static void make(struct fixture *f, const char *extra, const char *entries)
{
	char json[4096], copy[1024], *save;
	struct error err;
	size_t n = (size_t)snprintf(json, sizeof(json), "{\"state_dir\": \"%s\"%s%s, \"chain\": [",
				    f->state, extra[0] ? ", " : "", extra);
	char *names[16];
	const char *scripts[16];
	size_t count = 0;
	snprintf(copy, sizeof(copy), "%s", entries);
	for (char *part = strtok_r(copy, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		char *name = part + strspn(part, " ");
		char *colon = strchr(name, ':');
		*colon = '\0';
		bool shadow = *name == '!', halt = *name == '^', grant = *name == '+';
		name += shadow || halt || grant;
		names[count] = name;
		scripts[count] = colon + 1 + strspn(colon + 1, " ");
		n += (size_t)snprintf(json + n, sizeof(json) - n,
				      "%s{\"plugin\": \"%s\", \"mode\": \"%s\", \"on_error\": \"%s\"%s}",
				      count ? "," : "", name, shadow ? "shadow" : "enforce",
				      halt ? "halt" : "deny", grant ? ", \"may\": [\"grant\"]" : "");
		count++;
	}
	snprintf(json + n, sizeof(json) - n, "]}");
	if (config_parse(str_of(json), "/pawl.json", &f->config, &err) < 0)
		fail_msg("%s in %s", err.text, json);
	assert_int_equal(host_new(f->config, NULL, &f->host, &err), 0);
	for (size_t i = 0; i < count; i++) {
		struct plugin_file *file = calloc(1, sizeof(*file));
		struct plugin *plugin = calloc(1, sizeof(*plugin));
		file->path = strdup(scripts[i]);
		snprintf(file->note.id, sizeof(file->note.id), "%s", names[i]);
		file->desc.pre_tool_use = scripted;
		plugin->file = file;
		plugin->host = host_table;
		plugin->host.host_data = plugin;
		plugin->self = plugin;
		f->host->chain[i].plugin = plugin;
	}
	asked[0] = '\0';
}

static void drop(struct fixture *f)
{
	for (size_t i = 0; i < f->config->n_chain; i++) {
		struct plugin *plugin = f->host->chain[i].plugin;
		if (!plugin)
			continue;
		free(plugin->file->path);
		free((void *)(uintptr_t)plugin->file);
		free(plugin);
	}
	host_free(f->host);
	config_free(f->config);
}

static void call_for(struct fixture *f, const char *tool, const char *args, const char *target)
{
	const struct json_value *value;
	struct error err;
	json_arena_rewind(f->arena, 0);
	f->call = call_new(f->arena, JSON_DEFAULT_LIMITS);
	f->call->kind = EVENT_PRE_TOOL;
	assert_int_equal(json_parse(f->arena, str_of(args), f->call->limits, 0, &value, NULL, &err), 0);
	assert_int_equal(call_set_tool(f->call, str_of(tool), (struct str){NULL, 0},
				       (struct str){NULL, 0}, &err), 0);
	f->call->root[PAWL_R_ARGS] = f->call->root[PAWL_R_ARGS_GIVEN] = value;
	f->call->text[PAWL_T_SESSION] = STR("s1");
	f->call->text[PAWL_T_TARGET] = str_of(target);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	snprintf(f->state, sizeof(f->state), "%s/pawl-chain.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	*state = f;
	return mkdtemp(f->state) && json_arena_new(JSON_ARENA_DEFAULT, &f->arena, NULL) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", f->state);
	int r = system(command);
	json_arena_free(f->arena);
	free(f);
	return r;
}

/* ---- the table ------------------------------------------------------------------------------ */

struct chain_case {
	const char *extra, *entries, *tool;
	enum verdict verdict;
	const char *plugin, *by, *args, *asked, *reason;
};

#define ALLOW VERDICT_ALLOW
#define DENY VERDICT_DENY
#define ASK VERDICT_REQUIRE_APPROVAL
#define SUB VERDICT_SUBSTITUTE
#define GIVEN "{\"x\":1}"

static const struct chain_case cases[] = {
	/* order, and who ends the chain */
	{"", "", "t", ALLOW, "", "", GIVEN, "", ""},
	{"", "a: allow; b: allow", "t", ALLOW, "", "", GIVEN, "a0 b0", ""},
	{"", "a: allow; b: deny; c: allow", "t", DENY, "b", "plugin", GIVEN, "a0 b0", "because"},
	{"", "a: ask; b: deny", "t", ASK, "a", "", GIVEN, "a0", "ask them"},
	{"", "a: sub; b: deny", "t", SUB, "a", "", GIVEN, "a0", ""},
	{"\"resolve\": \"strictest\"", "a: ask; b: allow; c: deny", "t", DENY, "c", "plugin", GIVEN,
	 "a0 b0 c0", "because"},
	{"\"resolve\": \"strictest\"", "a: sub; b: error", "t", DENY, "b", "error", GIVEN, "a0 b0",
	 "policy error (b)"},
	{"\"resolve\": \"strictest\"", "a: ask; b: sub; c: set:x=5", "t", ASK, "a", "", GIVEN,
	 "a0 b0 c0", "ask them"},
	/* nothing a plugin can return is allow but 1 */
	{"", "a: none", "t", DENY, "a", "error", GIVEN, "a0", "policy error (a)"},
	{"", "a: error; b: allow", "t", DENY, "a", "error", GIVEN, "a0", "policy error (a)"},
	{"", "a: bad; b: allow", "t", DENY, "a", "error", GIVEN, "a0", "policy error (a)"},
	/* rewrites compose, and everyone before the last one is asked again */
	{"", "a: set:x=2; b: see:x=2 set:y=3", "t", ALLOW, "", "", "{\"x\":2,\"y\":3}", "a0 b0 a1", ""},
	{"", "a: allow; b: set:x=2", "t", ALLOW, "", "", "{\"x\":2}", "a0 b0 a1", ""},
	{"", "a: set:x=2; b: allow", "t", ALLOW, "", "", "{\"x\":2}", "a0 b0", ""},
	{"", "a: allow; b: set:x=2; c: allow", "t", ALLOW, "", "", "{\"x\":2}", "a0 b0 c0 a1", ""},
	{"", "a: allow/deny; b: set:x=2", "t", DENY, "a", "plugin", GIVEN, "a0 b0 a1", "because"},
	{"", "a: allow/ask; b: set:x=2", "t", ASK, "a", "", "{\"x\":2}", "a0 b0 a1", "ask them"},
	{"", "a: allow/sub; b: set:x=2", "t", SUB, "a", "", GIVEN, "a0 b0 a1", ""},
	{"", "a: allow/error; b: set:x=2", "t", DENY, "a", "error", GIVEN, "a0 b0 a1",
	 "policy error (a)"},
	{"", "a: set:x=2/set:x=2; b: set:x=3", "t", ALLOW, "", "", "{\"x\":3}", "a0 b0 a1", ""},
	{"", "a: allow/ask; b: allow/deny; c: set:x=2", "t", DENY, "b", "plugin", GIVEN,
	 "a0 b0 c0 a1 b1", "because"},
	/* they count with allow and approval, and are dropped with deny and substitute */
	{"", "a: set:x=2; b: ask", "t", ASK, "b", "", "{\"x\":2}", "a0 b0", "ask them"},
	{"", "a: allow; b: set:x=2 ask", "t", ASK, "b", "", "{\"x\":2}", "a0 b0 a1", "ask them"},
	{"", "a: set:x=2; b: deny", "t", DENY, "b", "plugin", GIVEN, "a0 b0", "because"},
	{"", "a: set:x=2; b: sub", "t", SUB, "b", "", GIVEN, "a0 b0", ""},
	{"", "a: del:x", "t", ALLOW, "", "", "{}", "a0", ""},
	{"", "a: del:nothing", "t", DENY, "a", "error", GIVEN, "a0", "policy error (a)"},
	/* static lists */
	{"\"deny\": [\"t\"]", "a: allow", "t", DENY, "", "static", GIVEN, "", "deny list"},
	{"\"deny\": [\"mcp:prod/*\"]", "a: allow", "mcp__prod__t", DENY, "", "static", GIVEN, "",
	 "mcp:prod/t"},
	{"\"deny\": [\"u\"]", "a: allow", "t", ALLOW, "", "", GIVEN, "a0", ""},
	{"\"require_approval\": [\"t\"]", "a: allow", "t", ASK, "", "", GIVEN, "a0", "approval list"},
	{"\"require_approval\": [\"t\"]", "a: deny", "t", DENY, "a", "plugin", GIVEN, "a0", "because"},
	{"\"require_approval\": [\"t\"]", "a: sub; b: deny", "t", DENY, "b", "plugin", GIVEN, "a0 b0",
	 "because"},
	{"\"require_approval\": [\"t\"]", "a: sub; b: set:x=2", "t", ASK, "", "", "{\"x\":2}",
	 "a0 b0 a1", "approval list"},
	{"\"require_approval\": [\"t\"]", "a: ask", "t", ASK, "a", "", GIVEN, "a0", "ask them"},
	/* shadow changes nothing */
	{"", "!a: deny; b: allow", "t", ALLOW, "", "", GIVEN, "a0 b0", ""},
	{"", "!a: set:x=2; b: see:x=1", "t", ALLOW, "", "", GIVEN, "a0 b0", ""},
	{"", "!a: none; b: deny", "t", DENY, "b", "plugin", GIVEN, "a0 b0", "because"},
};

static void check_case(struct fixture *f, const struct chain_case *c)
{
	struct decision d;
	make(f, c->extra, c->entries);
	call_for(f, c->tool, GIVEN, "server");
	host_judge(f->host, f->call, &d);
	if (d.verdict != c->verdict)
		fail_msg("[%s] %s: %s, wanted %s", c->extra, c->entries, verdict_name(d.verdict),
			 verdict_name(c->verdict));
	if (!str_is(d.plugin, c->plugin[0] ? c->plugin : NULL))
		fail_msg("[%s] %s: by plugin %.*s", c->extra, c->entries, STR_FMT(d.plugin));
	if (c->by[0])
		assert_string_equal(refused_by_name(d.refused_by), c->by);
	if (strcmp(asked, c->asked) != 0)
		fail_msg("[%s] %s: asked %s, wanted %s", c->extra, c->entries, asked, c->asked);
	if (!str_is(json_raw(d.args), c->args))
		fail_msg("[%s] %s: args %.*s", c->extra, c->entries, STR_FMT(json_raw(d.args)));
	if (c->reason[0] && (!d.reason.ptr || !strstr(d.reason.ptr, c->reason)))
		fail_msg("[%s] %s: reason %.*s", c->extra, c->entries, STR_FMT(d.reason));
	assert_int_equal(d.modified, strcmp(c->args, GIVEN) != 0);
	/* an error's own words are nobody's business */
	assert_null(d.reason.ptr ? strstr(d.reason.ptr, "secret") : NULL);
	drop(f);
}

static void test_chain_decides_as_the_table_says(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(*state, &cases[i]);
}

/* ---- what needs more than a line -------------------------------------------------------------- */

static void judge(struct fixture *f, const char *extra, const char *entries, struct decision *d)
{
	make(f, extra, entries);
	call_for(f, "t", GIVEN, "server");
	host_judge(f->host, f->call, d);
}

static void test_deny_is_told_in_the_template(void **state)
{
	struct decision d;
	judge(*state, "\"refusal\": \"NO {tool}/{plugin}/{rule}: {reason}\"", "a: deny", &d);
	assert_string_equal(d.refusal.ptr, "NO t/a/rule: because");
	drop(*state);
}

static void test_approval_carries_instructions_and_time(void **state)
{
	struct decision d;
	judge(*state, "", "a: ask", &d);
	assert_string_equal(d.instructions.ptr, "look twice");
	assert_int_equal(d.timeout_ns, 5000000000);
	drop(*state);
	judge(*state, "\"require_approval\": [\"t\"], \"approval\": {\"timeout\": \"7s\"}", "a: allow", &d);
	assert_int_equal(d.timeout_ns, 7000000000);
	drop(*state);
}

static void test_client_target_cannot_wait(void **state)
{
	struct fixture *f = *state;
	struct decision d;
	make(f, "", "a: ask");
	call_for(f, "t", GIVEN, "client");
	host_judge(f->host, f->call, &d);
	assert_int_equal(d.verdict, VERDICT_DENY);
	assert_string_equal(d.reason.ptr, "approval is not supported for client tools");
	assert_int_equal(d.n_remarks, 1);
	assert_string_equal(d.remarks[0].type, "policy.hook_warning");
	drop(f);
}

static void test_grant_needs_leave_and_dies_with_a_rewrite(void **state)
{
	struct decision d;
	judge(*state, "", "a: grant", &d);
	assert_false(d.granted);
	drop(*state);
	judge(*state, "", "+a: grant", &d);
	assert_true(d.granted);
	drop(*state);
	judge(*state, "", "+a: grant; b: set:x=2", &d);
	assert_false(d.granted);
	drop(*state);
	judge(*state, "", "+a: grant/grant; b: set:x=2", &d);
	assert_true(d.granted);
	drop(*state);
}

static void test_second_round_edit_is_a_conflict(void **state)
{
	struct decision d;
	judge(*state, "", "a: set:x=2/set:x=9; b: set:y=1", &d);
	assert_int_equal(d.verdict, VERDICT_ALLOW);
	assert_string_equal(json_raw(d.args).ptr ? "seen" : "", "seen");
	assert_true(str_is(json_raw(d.args), "{\"x\":2,\"y\":1}"));
	assert_int_equal(d.n_remarks, 1);
	assert_string_equal(d.remarks[0].type, "policy.rewrite_conflict");
	drop(*state);
}

static void test_halt_latches_the_session_until_reset(void **state)
{
	struct fixture *f = *state;
	struct decision d;
	bool was;
	judge(f, "", "^a: error", &d);
	assert_int_equal(d.verdict, VERDICT_DENY);
	drop(f);
	judge(f, "", "b: allow", &d);
	assert_int_equal(d.verdict, VERDICT_DENY);
	assert_non_null(strstr(d.reason.ptr, "pawl reset s1"));
	f->call->text[PAWL_T_SESSION] = STR("s2");
	host_judge(f->host, f->call, &d);
	assert_int_equal(d.verdict, VERDICT_ALLOW);
	assert_int_equal(state_reset(str_of(f->state), STR("s1"), &was, NULL), 0);
	assert_true(was);
	f->call->text[PAWL_T_SESSION] = STR("s1");
	host_judge(f->host, f->call, &d);
	assert_int_equal(d.verdict, VERDICT_ALLOW);
	drop(f);
}

static void test_late_answer_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	struct decision d;
	make(f, "", "a: allow");
	call_for(f, "t", GIVEN, "server");
	f->host->call_deadline_ns = 1;
	host_judge(f->host, f->call, &d);
	assert_int_equal(d.verdict, VERDICT_DENY);
	assert_int_equal(d.refused_by, REFUSED_TIMEOUT);
	assert_non_null(strstr(d.reason.ptr, "deadline exceeded in plugin a"));
	drop(f);
}

static void test_entry_that_cannot_load_refuses_what_it_matches(void **state)
{
	struct fixture *f = *state;
	struct decision d;
	make(f, "\"plugin_dir\": \"/nonexistent\"", "a: allow");
	struct plugin *plugin = f->host->chain[0].plugin;
	f->host->chain[0].plugin = NULL;
	call_for(f, "t", GIVEN, "server");
	host_judge(f->host, f->call, &d);
	assert_int_equal(d.verdict, VERDICT_DENY);
	assert_non_null(strstr(d.reason.ptr, "cannot be loaded"));
	assert_string_equal(d.steps[0].error_class, "load");
	f->host->chain[0].plugin = plugin;
	drop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_decides_as_the_table_says),
		cmocka_unit_test(test_deny_is_told_in_the_template),
		cmocka_unit_test(test_approval_carries_instructions_and_time),
		cmocka_unit_test(test_client_target_cannot_wait),
		cmocka_unit_test(test_grant_needs_leave_and_dies_with_a_rewrite),
		cmocka_unit_test(test_second_round_edit_is_a_conflict),
		cmocka_unit_test(test_halt_latches_the_session_until_reset),
		cmocka_unit_test(test_late_answer_is_a_timeout),
		cmocka_unit_test(test_entry_that_cannot_load_refuses_what_it_matches),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
