/* test-match.c - globs, the readings of tool names, and what a pattern selects. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/match.h"

static const struct str absent = {NULL, 0};

static void test_glob_table_holds(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *text;
		bool holds;
	} cases[] = {
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "A", false},
		{"a", "ab", false},
		{"ab", "a", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*", "a/b", false},
		{"a*", "abc", true},
		{"**", "a/b", false},
		{"*/*", "a/b", true},
		{"a*c", "abcbc", true},
		{"a*c", "abcb", false},
		{"*a*b*", "xaxbx", true},
		{"*a*b*", "xbxax", false},
		{"?", "a", true},
		{"?", "", false},
		{"?", "/", false},
		{"?", "\xc3\xa9", true},
		{"a?c", "abc", true},
		{"[ab]", "b", true},
		{"[ab]", "c", false},
		{"[a-c]x", "bx", true},
		{"[!a]", "b", true},
		{"[^a]", "a", false},
		{"[!a]", "/", false},
		{"[]]", "]", true},
		{"[*]", "*", true},
		{"[*]", "a", false},
		{"[[]x", "[x", true},
		{"[a-]", "-", true},
		{"[abc", "[abc", true},
		{"a\\*", "a\\b", true},
		{"*x/*y", "ax/by", true},
		{"*x/*y", "a/xx/by", false},
		{"create_*", "create_issue", true},
		{"create_*", "recreate_issue", false},
		{"*_issue", "create_issue_issue", true},
		{"*****************a", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (match_glob(str_of(cases[i].pattern), str_of(cases[i].text)) != cases[i].holds)
			fail_msg("glob \"%s\" on \"%s\"", cases[i].pattern, cases[i].text);
}

/* "source server name plugin" a reading, " | " between them */
static void readings(const struct tool_name *tool, char *buf, size_t size)
{
	size_t at = 0;
	for (size_t i = 0; i < tool->n; i++) {
		const struct tool_reading *r = &tool->readings[i];
		at += (size_t)snprintf(buf + at, size - at, "%s%.*s:%.*s/%.*s", i ? " " : "",
				       STR_FMT(r->source), STR_FMT(r->server), STR_FMT(r->name));
		if (r->plugin.len)
			at += (size_t)snprintf(buf + at, size - at, "(%.*s)", STR_FMT(r->plugin));
	}
}

static void test_name_readings_are_as_listed(void **state)
{
	(void)state;
	static const struct {
		const char *raw, *source, *server, *want;
	} cases[] = {
		{"Bash", NULL, NULL, "local:/Bash"},
		{"", NULL, NULL, "local:/"},
		{"mcp__cap__echo", NULL, NULL, "mcp:cap/echo"},
		{"notmcp__cap__echo", NULL, NULL, "local:/notmcp__cap__echo"},
		{"mcp__cap2__echo", NULL, NULL, "mcp:cap2/echo"},
		{"mcp__cap", NULL, NULL, "local:/mcp__cap"},
		{"mcp__", NULL, NULL, "local:/mcp__"},
		{"mcp____x", NULL, NULL, "local:/mcp____x"},
		{"mcp__cap__", NULL, NULL, "local:/mcp__cap__"},
		{"mcp__a__b__c", NULL, NULL, "mcp:a/b__c mcp:a__b/c"},
		{"mcp__a___b", NULL, NULL, "mcp:a/_b mcp:a_/b"},
		{"mcp__plugin_work_linear__create_issue", NULL, NULL,
		 "mcp:linear/create_issue(work) mcp:plugin_work_linear/create_issue"},
		{"mcp__plugin_my_work_db__q", NULL, NULL,
		 "mcp:work_db/q(my) mcp:db/q(my_work) mcp:plugin_my_work_db/q"},
		{"mcp_cap_do-it.now", NULL, "cap", "mcp:cap/do-it.now"},
		{"do-it.now", "mcp", "cap", "mcp:cap/do-it.now"},
		{"mcp__cap__do_it", "mcp", "cap", "mcp:cap/do_it"},
		{"mcp__my_cap__x", NULL, "my.cap", "mcp:my.cap/x"},
		{"mcp__plugin_work_linear__x", NULL, "linear", "mcp:linear/x(work)"},
		{"mcp__other__x", NULL, "cap", "mcp:cap/mcp__other__x mcp:other/x"},
		{"mcp_a_b_c", NULL, NULL, "mcp:a/b_c mcp:a_b/c local:/mcp_a_b_c"},
		{"mcp_a_b_c", "mcp", NULL, "mcp:a/b_c mcp:a_b/c"},
		{"mcp_helper", NULL, NULL, "local:/mcp_helper"},
		{"mcp_helper", "mcp", NULL, "mcp:/mcp_helper"},
		{"MCP:query", NULL, NULL, "mcp:/query"},
		{"MCP:query", NULL, "db", "mcp:db/query"},
		{"mcp:cap/echo", NULL, NULL, "mcp:cap/echo"},
		{"mcp:io.x/y/t", NULL, NULL, "mcp:io.x/y/t mcp:io.x/y/t"},
		{"@srv/tool", NULL, NULL, "mcp:srv/tool"},
		{"echo", "mcp", NULL, "mcp:/echo"},
		{"mcp__cap__echo", "local", NULL, "local:/mcp__cap__echo"},
		{"deploy", "skill", NULL, "skill:/deploy"},
		{"skill:deploy", NULL, NULL, "skill:/deploy"},
		{"skill:deploy", "skill", NULL, "skill:/deploy"},
		{"agent:Explore", NULL, NULL, "agent:/Explore"},
		{"x", "openapi", "srv", "openapi:/x"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tool_name tool;
		char got[1024] = "";
		tool_name_read(str_of(cases[i].raw), str_of(cases[i].source),
			       str_of(cases[i].server), &tool);
		readings(&tool, got, sizeof(got));
		if (strcmp(got, cases[i].want) != 0)
			fail_msg("%s: %s, not %s", cases[i].raw, got, cases[i].want);
		assert_false(tool.more);
	}
}

static bool tool_matches(const char *pattern, const char *raw, bool refusing)
{
	struct str list[] = {str_of(pattern)};
	struct patterns patterns = {list, 1};
	struct tool_name tool;
	struct match match = {.tool = patterns};
	tool_name_read(str_of(raw), absent, absent, &tool);
	struct match_subject subject = {.tool = &tool};
	bool holds = match_holds(&match, &subject, refusing);
	if (refusing)
		assert_int_equal(holds, patterns_find_tool(&patterns, &tool) != NULL);
	return holds;
}

static void test_patterns_select_as_listed(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *raw;
		bool refusing, plain; /* what a refusing entry, and any other, does */
	} cases[] = {
		/* a server's tools, and nothing that only looks alike */
		{"mcp:cap/*", "mcp__cap__echo", true, true},
		{"mcp:cap/*", "notmcp__cap__echo", false, false},
		{"mcp:cap/*", "mcp__cap2__echo", false, false},
		{"mcp:cap/*", "mcp_cap_echo", true, true},
		{"mcp:cap/*", "Bash", false, false},
		{"mcp:cap/*", "cap/echo", false, false},
		{"mcp:*/*", "mcp__cap__echo", true, true},
		{"mcp:*/*", "Bash", false, false},
		{"mcp:*/*", "notmcp__x", false, false},
		/* servers that a client's plugin brought */
		{"mcp:linear/create_issue", "mcp__plugin_work_linear__create_issue", true, true},
		{"mcp:linear/*", "mcp__plugin_work_linear__create_issue", true, true},
		{"mcp:plugin_work_linear/*", "mcp__plugin_work_linear__create_issue", true, false},
		{"mcp:db/*", "mcp__plugin_my_work_db__q", true, false},
		{"mcp:work_db/*", "mcp__plugin_my_work_db__q", true, true},
		{"mcp__linear__create_issue", "mcp__plugin_work_linear__create_issue", true, true},
		/* bare names: local tools and any server's */
		{"create_issue", "mcp__plugin_work_linear__create_issue", true, true},
		{"create_*", "mcp__linear__create_issue", true, true},
		{"create_*", "create_issue", true, true},
		{"create_*", "skill:create_issue", false, false},
		{"drop_table", "mcp__prod__drop_table", true, true},
		{"drop_table", "mcp__prod__nodrop_table", false, false},
		{"*", "Bash", true, true},
		{"*", "mcp__a__b", true, true},
		{"*", "skill:x", true, true},
		{"Bash", "bash", false, false},
		{"skill:*", "skill:x", true, true},
		{"skill:*", "x", false, false},
		{"agent:Explore", "agent:Explore", true, true},
		/* characters that a client replaced */
		{"mcp:cap/do-it.now", "mcp__cap__do_it_now", true, false},
		{"mcp:cap/do-it.now", "mcp__cap__do-it_now", true, false},
		{"mcp:cap/do-it.now", "mcp__cap__do-it.now", true, true},
		{"mcp:cap/do-it.now", "mcp_cap_do-it.now", true, true},
		{"mcp:cap/do_it_now", "mcp__cap__do_it_now", true, true},
		{"mcp:cap/do_it_now", "mcp__cap__do-it.now", false, false},
		{"mcp:my.cap/*", "mcp__my_cap__x", true, false},
		{"mcp:cap/do[-.]it", "mcp__cap__do_it", true, false},
		{"mcp:caf\xc3\xa9/x", "mcp__caf___x", true, false},
		{"do-it.*", "mcp__cap__do_it_now", true, false},
		{"do-it", "do_it", false, false},
		{"mcp:a..b/c", "mcp__a__b__c", true, false},
		{"mcp:io.x/y/t", "mcp__io_x_y__t", true, false},
		{"mcp:a/b", "mcp__a__b__c", false, false},
		{"mcp:a/b__c", "mcp__a__b__c", true, true},
		{"mcp:a__b/c", "mcp__a__b__c", true, false},
		/* one underscore: every split is a reading, the local tool too */
		{"mcp:a_b/c", "mcp_a_b_c", true, false},
		{"mcp_a_b_c", "mcp_a_b_c", true, true},
		/* a server that the client does not name can be any */
		{"mcp:prod/*", "MCP:query", true, false},
		{"mcp:prod/query", "MCP:query", true, false},
		{"mcp:prod/other", "MCP:query", false, false},
		{"mcp:*/query", "MCP:query", true, true},
		{"query", "MCP:query", true, true},
		/* names as a client's own rules have them */
		{"mcp__cap__echo", "mcp__cap__echo", true, true},
		{"mcp__cap__*", "mcp__cap__echo", true, true},
		{"mcp__cap", "mcp__cap__echo", true, true},
		{"mcp__cap", "mcp__cap2__echo", false, false},
		{"mcp__*", "mcp__cap__echo", true, true},
		{"mcp__*", "notmcp__x", false, false},
		/* a slash in a tool's name: '*' alone covers it, 'a*' does not */
		{"mcp:cap/*", "mcp:cap/files/read", true, true},
		{"mcp:cap/f*", "mcp:cap/files/read", false, false},
		{"mcp:cap/files/read", "mcp:cap/files/read", true, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (tool_matches(cases[i].pattern, cases[i].raw, true) != cases[i].refusing)
			fail_msg("refusing \"%s\" on \"%s\"", cases[i].pattern, cases[i].raw);
		if (tool_matches(cases[i].pattern, cases[i].raw, false) != cases[i].plain)
			fail_msg("plain \"%s\" on \"%s\"", cases[i].pattern, cases[i].raw);
	}
}

static void test_name_with_too_many_readings_holds_where_it_refuses(void **state)
{
	(void)state;
	const char *raw =
		"mcp_1_2_3_4_5_6_7_8_9_1_2_3_4_5_6_7_8_9_1_2_3_4_5_6_7_8_9_1_2_3_4_5_6_7_8_9";
	struct tool_name tool;
	tool_name_read(str_of(raw), absent, absent, &tool);
	assert_true(tool.more);
	assert_int_equal(tool.n, TOOL_READINGS_MAX);
	assert_true(tool_matches("mcp:x/y", raw, true));
	assert_false(tool_matches("mcp:x/y", raw, false));
}

static void test_given_source_is_exact(void **state)
{
	(void)state;
	struct tool_name tool;
	struct str list[] = {STR("mcp:cap/do-it")};
	struct patterns patterns = {list, 1};
	tool_name_read(STR("do_it"), STR("mcp"), STR("cap"), &tool);
	assert_null(patterns_find_tool(&patterns, &tool));
	tool_name_read(STR("do-it"), STR("mcp"), STR("cap"), &tool);
	assert_non_null(patterns_find_tool(&patterns, &tool));
}

static struct patterns one(struct str *pattern)
{
	return (struct patterns){pattern, 1};
}

static void test_all_keys_must_hold(void **state)
{
	(void)state;
	struct str cap = STR("cap"), echo = STR("echo"), mcp = STR("mcp"), codex = STR("codex");
	struct str shell = STR("shell"), explore = STR("Explore"), main_agent = STR("");
	struct tool_name tool;
	tool_name_read(STR("mcp__cap__echo"), absent, absent, &tool);
	struct match_subject subject = {.tool = &tool,
					.client = STR("codex"),
					.agent = STR("a-7"),
					.agent_type = STR("Explore")};
	struct match match = {.tool = one(&echo),
			      .server = one(&cap),
			      .source = one(&mcp),
			      .client = one(&codex),
			      .agent = one(&explore),
			      .class = one(&mcp)};
	assert_true(match_holds(&match, &subject, false));
	assert_true(match_holds(&match, &subject, true));
	match.class = one(&shell);
	assert_false(match_holds(&match, &subject, true));
	match.class = one(&mcp);
	match.server = one(&echo);
	assert_false(match_holds(&match, &subject, true));
	match.server = one(&cap);
	match.agent = one(&main_agent);
	assert_false(match_holds(&match, &subject, true));
	subject.agent = subject.agent_type = STR("");
	assert_true(match_holds(&match, &subject, true));
	subject.client = STR("gemini");
	assert_false(match_holds(&match, &subject, true));
	assert_true(match_holds(&(struct match){.tool = {NULL, 0}}, &subject, true));
}

/* tool, source and server must hold in one and the same reading */
static void test_keys_hold_in_one_reading(void **state)
{
	(void)state;
	struct str server = STR("a__b"), name = STR("b__c");
	struct tool_name tool;
	tool_name_read(STR("mcp__a__b__c"), absent, absent, &tool);
	struct match_subject subject = {.tool = &tool};
	struct match match = {.tool = one(&name), .server = one(&server)};
	assert_false(match_holds(&match, &subject, true));
}

static void test_model_calls_match_only_stars(void **state)
{
	(void)state;
	struct str star = STR("*"), bash = STR("Bash");
	struct match_subject subject = {.client = STR("gemini")};
	assert_true(match_holds(&(struct match){.tool = one(&star)}, &subject, true));
	assert_false(match_holds(&(struct match){.tool = one(&bash)}, &subject, true));
	assert_false(match_holds(&(struct match){.class = one(&bash)}, &subject, true));
}

static void test_classes_cover_all_clients(void **state)
{
	(void)state;
	static const struct {
		const char *raw, *class;
	} cases[] = {
		{"Bash", "shell"},
		{"PowerShell", "shell"},
		{"Shell", "shell"},
		{"run_shell_command", "shell"},
		{"exec_command", "shell"},
		{"write_stdin", "shell"},
		{"execute_bash", "shell"},
		{"execute_command", "shell"},
		{"developer__shell", "shell"},
		{"bash", "shell"},
		{"run_command", "shell"},
		{"Read", "read"},
		{"read_file", "read"},
		{"read_many_files", "read"},
		{"view", "read"},
		{"fs_read", "read"},
		{"Write", "write"},
		{"Edit", "write"},
		{"MultiEdit", "write"},
		{"NotebookEdit", "write"},
		{"apply_patch", "write"},
		{"write_file", "write"},
		{"replace", "write"},
		{"create", "write"},
		{"fs_write", "write"},
		{"write_to_file", "write"},
		{"replace_in_file", "write"},
		{"developer__text_editor", "write"},
		{"WebFetch", "fetch"},
		{"web_fetch", "fetch"},
		{"Glob", "search"},
		{"Grep", "search"},
		{"WebSearch", "search"},
		{"google_web_search", "search"},
		{"search_file_content", "search"},
		{"list_directory", "search"},
		{"Agent", "agent"},
		{"Task", "agent"},
		{"task", "agent"},
		{"agent:Explore", "agent"},
		{"mcp__cap__Bash", "mcp"},
		{"MCP:x", "mcp"},
		{"skill:x", "other"},
		{"TodoWrite", "other"},
		{"", "other"},
		{"Bas", "other"},
		{"Bash2", "other"},
		{"bAsh", "other"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tool_name tool;
		tool_name_read(str_of(cases[i].raw), absent, absent, &tool);
		if (!str_is(tool_class(&tool.readings[0]), cases[i].class))
			fail_msg("%s is %.*s", cases[i].raw,
				 STR_FMT(tool_class(&tool.readings[0])));
	}
}

static void test_patterns_that_never_hold_are_told(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *why; /* NULL: fine */
	} cases[] = {
		{"Bash", NULL},
		{"*", NULL},
		{"mcp:cap/*", NULL},
		{"mcp:*/*", NULL},
		{"skill:*", NULL},
		{"agent:x", NULL},
		{"ns:tool", NULL},
		{"mcp:io.x/y/t", NULL},
		{"mcp__a__b", NULL},
		{"[a-z]*", NULL},
		{"", "is empty; \"*\" stands for every tool"},
		{"a[b", "has a '[' that is never closed; write [[] for a '[' itself"},
		{"a\nb", "has a control character; no name has one"},
		{"mcp:cap",
		 "names no server; write \"mcp:SERVER/NAME\", \"mcp:cap/*\" for all of a "
		 "server's tools"},
		{"mcp:*", "names no server; write \"mcp:SERVER/NAME\", \"mcp:*/*\" for all of a "
			  "server's tools"},
		{"mcp:/x",
		 "lacks the server or the name; write \"mcp:SERVER/NAME\", \"*\" for any"},
		{"mcp:x/",
		 "lacks the server or the name; write \"mcp:SERVER/NAME\", \"*\" for any"},
		{"mcp:", "names nothing after \"mcp:\"; add a name or \"*\""},
		{"MCP:query", "never holds; write \"mcp:*/query\""},
		{"Mcp:cap/x", "never holds; write \"mcp:cap/x\""},
		{"skills:x", "never holds; write \"skill:x\""},
		{"AGENT:x", "never holds; write \"agent:x\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = {""};
		int r = match_check_tool(str_of(cases[i].pattern), &err);
		assert_int_equal(r, cases[i].why ? -EINVAL : 0);
		if (cases[i].why)
			assert_string_equal(err.text, cases[i].why);
	}
	assert_true(match_any_class(STR("sh*")));
	assert_false(match_any_class(STR("Shell")));
	assert_true(match_any_source(STR("mcp")));
	assert_false(match_any_source(STR("remote")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glob_table_holds),
		cmocka_unit_test(test_name_readings_are_as_listed),
		cmocka_unit_test(test_patterns_select_as_listed),
		cmocka_unit_test(test_name_with_too_many_readings_holds_where_it_refuses),
		cmocka_unit_test(test_given_source_is_exact),
		cmocka_unit_test(test_all_keys_must_hold),
		cmocka_unit_test(test_keys_hold_in_one_reading),
		cmocka_unit_test(test_model_calls_match_only_stars),
		cmocka_unit_test(test_classes_cover_all_clients),
		cmocka_unit_test(test_patterns_that_never_hold_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
