/* test-dialect.c - what each client's events are read as, and that nothing is passed over
 * in silence when an answer is made. Which bytes an answer has is the golden files' matter. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "dialects/dialect.h"

static struct json_arena *arena;
static struct host *host;

static int set_up(void **state)
{
	struct config *config;
	(void)state;
	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0 ||
	    config_parse(STR("{}"), "/pawl.json", &config, NULL) < 0 ||
	    host_new(config, NULL, &host, NULL) < 0)
		return -1;
	return 0;
}

/* Events are written with ' for ". */
static struct str quoted(const char *text)
{
	size_t len = strlen(text);
	char *copy = json_arena_alloc(arena, len + 1);
	assert_non_null(copy);
	memcpy(copy, text, len + 1);
	for (char *at = copy; (at = strchr(at, '\'')); at++)
		*at = '"';
	return (struct str){copy, len};
}

static int decode(const char *agent, struct str text, struct pawl_call **ret, struct error *err)
{
	const struct json_value *event;
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	assert_non_null(call);
	*ret = call;
	assert_int_equal(json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &event, NULL, err), 0);
	return dialect_decode(dialect_find(agent), call, event, (struct str){NULL, 0}, err);
}

static struct pawl_call *decoded(const char *agent, const char *text)
{
	struct pawl_call *call;
	struct error err = {""};
	if (decode(agent, quoted(text), &call, &err) < 0)
		fail_msg("%s: %s\n%s", agent, err.text, text);
	return call;
}

static void assert_text(struct str text, const char *expected)
{
	if (!str_is(text, expected))
		fail_msg("\"%.*s\" is not \"%s\"", STR_FMT(text), expected);
}

/* ---- decoding ------------------------------------------------------------------------- */

#define CLAUDE(rest) "{'hook_event_name':'PreToolUse','session_id':'s'," rest "}"
#define WINDSURF(event, rest)                                                                     \
	"{'agent_action_name':'" event "','trajectory_id':'t','tool_info':{" rest "}}"
#define CURSOR(event, rest)                                                                       \
	"{'hook_event_name':'" event "','conversation_id':'c','cursor_version':'1'," rest "}"
#define CLINE(rest) "{'hookName':'PreToolUse','taskId':'t','preToolUse':{" rest "}}"

static const struct {
	const char *agent, *event;
	const char *source, *server, *tool, *class;
	const char *argument, *value; /* as JSON; NULL: the arguments as a whole */
} calls[] = {
	{"claude-code", CLAUDE("'tool_name':'Bash','tool_input':{'command':'ls'}"), "local",
	 "", "Bash", "shell", "command", "'ls'"},
	{"claude-code",
	 CLAUDE("'tool_name':'mcp__a__b__c','mcp_server':{'name':'a__b','source':'x'},"
		"'tool_input':{}"),
	 "mcp", "a__b", "c", "mcp", NULL, "{}"},
	{"claude-code", CLAUDE("'tool_name':'Bash','mcp_server':{'name':'a'},'tool_input':{}"),
	 "local", "", "Bash", "shell", NULL, "{}"},
	{"claude-code", CLAUDE("'tool_name':'Bash','source':'mcp','server':'a','tool_input':1"),
	 "local", "", "Bash", "shell", NULL, "1"},
	{"claude-code",
	 CLAUDE("'tool_name':'mcp__plugin_work_linear__create_issue','tool_input':{}"), "mcp",
	 "linear", "create_issue", "mcp", NULL, "{}"},
	{"codex", CLAUDE("'tool_name':'mcp__cap__e','tool_input':{'n':12345678901234567890}"),
	 "mcp", "cap", "e", "mcp", "n", "12345678901234567890"},
	{"codex", CLAUDE("'tool_name':'Bash','tool_input':'not { json'"), "local", "", "Bash",
	 "shell", NULL, "'not { json'"},
	{"codex", CLAUDE("'tool_name':'Bash','tool_input':[1,2]"), "local", "", "Bash", "shell",
	 NULL, "[1,2]"},
	{"qwen", CLAUDE("'tool_name':'read_file','tool_input':{'absolute_path':'/a'}"),
	 "local", "", "read_file", "read", "file_path", "'/a'"},
	{"gemini",
	 "{'hook_event_name':'BeforeTool','tool_name':'mcp_a_b_c','tool_input':{},"
	 "'mcp_context':{'server_name':'a_b','tool_name':'c'}}",
	 "mcp", "a_b", "c", "mcp", NULL, "{}"},
	{"cursor", CURSOR("preToolUse", "'tool_name':'MCP:q','tool_input':{'a':1}"), "mcp", "",
	 "q", "mcp", "a", "1"},
	{"cursor", CURSOR("beforeShellExecution", "'command':'ls','cwd':'/w'"), "local", "",
	 "Shell", "shell", "command", "'ls'"},
	{"cursor", CURSOR("beforeMCPExecution", "'tool_name':'q','tool_input':'{\\'a\\':1e400}'"),
	 "mcp", "", "q", "mcp", "a", "1e400"},
	{"cursor", CURSOR("beforeReadFile", "'file_path':'/a','content':'x'"), "local", "",
	 "Read", "read", "file_path", "'/a'"},
	{"claude-code", CURSOR("preToolUse", "'tool_name':'Shell','tool_input':{'command':'ls'}"),
	 "local", "", "Shell", "shell", "command", "'ls'"},
	{"copilot", "{'sessionId':'s','toolName':'bash','toolArgs':'{\\'command\\':\\'ls\\'}'}",
	 "local", "", "bash", "shell", "command", "'ls'"},
	{"copilot", "{'sessionId':'s','toolName':'create','toolArgs':{'path':'/a'}}",
	 "local", "", "create", "write", "file_path", "'/a'"},
	{"copilot", CLAUDE("'tool_name':'Bash','tool_input':{'command':'ls'}"), "local", "",
	 "Bash", "shell", "command", "'ls'"},
	{"windsurf", WINDSURF("pre_run_command", "'command_line':'ls','cwd':'/w'"), "local", "",
	 "run_command", "shell", "command", "'ls'"},
	{"windsurf", WINDSURF("pre_write_code", "'file_path':'/a','edits':[]"), "local", "",
	 "write_code", "write", "file_path", "'/a'"},
	{"windsurf",
	 WINDSURF("pre_mcp_tool_use", "'mcp_server_name':'s','mcp_tool_name':'t.u',"
				      "'mcp_tool_arguments':{'url':'u'}"),
	 "mcp", "s", "t.u", "mcp", "url", "'u'"},
	{"kiro",
	 "{'hook_event_name':'preToolUse','tool_name':'@git/status','tool_input':{}}", "mcp",
	 "git", "status", "mcp", NULL, "{}"},
	{"kiro",
	 "{'hook_event_name':'preToolUse','tool_name':'execute_bash',"
	 "'tool_input':{'command':'ls'}}",
	 "local", "", "execute_bash", "shell", "command", "'ls'"},
	{"goose",
	 "{'event':'PreToolUse','tool_name':'developer__write','tool_input':{'path':'a'}}",
	 "local", "", "developer__write", "write", "file_path", "'a'"},
	{"cursor",
	 CURSOR("beforeMCPExecution",
		"'tool_name':'q','tool_input':'\\'{\\\\\\'a\\\\\\':1}\\''"),
	 "mcp", "", "q", "mcp", "a", "1"},
	{"copilot", "{'sessionId':'s','toolName':'bash','toolArgs':'{ls'}", "local", "", "bash",
	 "shell", NULL, "'{ls'"},
	{"copilot", "{'sessionId':'s','toolName':'bash','toolArgs':'[1]'}", "local", "", "bash",
	 "shell", NULL, "[1]"},
	{"copilot",
	 "{'sessionId':'s','toolName':'create','toolArgs':{'path':'/a','file_path':'\\u002fa'}}",
	 "local", "", "create", "write", "file_path", "'\\u002fa'"},
	{"copilot",
	 "{'sessionId':'s','toolName':'web_fetch','toolArgs':{'url':'u','path':1,'file_path':2}}",
	 "local", "", "web_fetch", "fetch", "url", "'u'"},
	{"cline", CLINE("'toolName':'execute_command','parameters':{'command':'ls'}"), "local",
	 "", "execute_command", "shell", "command", "'ls'"},
	{"cline",
	 CLINE("'toolName':'use_mcp_tool','parameters':{'server_name':'s','tool_name':'t',"
	       "'arguments':'{\\'n\\': 1}'}"),
	 "mcp", "s", "t", "mcp", "n", "1"},
	{"pawl", CLAUDE("'tool_name':'t','source':'mcp','server':'s','tool_input':{}"), "mcp",
	 "s", "t", "mcp", NULL, "{}"},
};

static void test_calls_are_read_the_same_from_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct pawl_call *call = decoded(calls[i].agent, calls[i].event);
		const struct json_value *args = call->root[PAWL_R_ARGS];
		assert_int_equal(call->kind, EVENT_PRE_TOOL);
		assert_text(call->text[PAWL_T_SOURCE], calls[i].source);
		assert_text(call->text[PAWL_T_SERVER], calls[i].server);
		assert_text(call->text[PAWL_T_TOOL], calls[i].tool);
		assert_text(call->class, calls[i].class);
		if (calls[i].argument)
			args = json_member(args, str_of(calls[i].argument));
		assert_text(json_raw(args), quoted(calls[i].value).ptr);
	}
}

static void test_ids_and_agents_are_kept(void **state)
{
	(void)state;
	struct pawl_call *call = decoded(
		"claude-code", CLAUDE("'tool_name':'Bash','tool_input':{},'cwd':'/w',"
				      "'tool_use_id':'t\\n1','agent_id':'a-7',"
				      "'agent_type':'Explore'"));
	assert_text(call->text[PAWL_T_CALL_ID], "t\n1");
	assert_text(call->call_id_json, "\"t\\n1\"");
	assert_text(call->text[PAWL_T_AGENT], "a-7");
	assert_text(call->text[PAWL_T_AGENT_TYPE], "Explore");
	assert_text(call->text[PAWL_T_CWD], "/w");
	assert_text(call->text[PAWL_T_SESSION], "s");
	call = decoded("claude-code", CLAUDE("'tool_name':'Bash','tool_input':{}"));
	assert_null(call->text[PAWL_T_CALL_ID].ptr);
	assert_text(call->call_id_json, "null");
	assert_text(call->text[PAWL_T_AGENT], "");
	call = decoded("cursor", CURSOR("preToolUse", "'tool_name':'Read','tool_input':{},'cwd':'',"
						      "'workspace_roots':['/w']"));
	assert_text(call->text[PAWL_T_CWD], "/w");
	assert_text(call->text[PAWL_T_SESSION], "c");
	call = decoded("goose", "{'event':'PreToolUse','session_id':'s','tool_call_id':'t1',"
				"'tool_name':'x','tool_input':{},'working_dir':'/w'}");
	assert_text(call->text[PAWL_T_CALL_ID], "t1");
	assert_text(call->text[PAWL_T_CWD], "/w");
}

#define TOOL "'tool_name':'t','tool_input':{}"

static const struct {
	const char *agent, *event;
	int failed;
} results[] = {
	{"claude-code", "{'hook_event_name':'PostToolUse'," TOOL ",'tool_response':{}}", 0},
	{"claude-code",
	 "{'hook_event_name':'PostToolUse'," TOOL ",'tool_response':{'isError':true}}", 1},
	{"claude-code", "{'hook_event_name':'PostToolUseFailure'," TOOL ",'error':'no'}", 1},
	{"codex", "{'hook_event_name':'PostToolUse'," TOOL ",'tool_response':'x'}", 0},
	{"qwen", "{'hook_event_name':'PostToolUseFailure'," TOOL ",'error':'no'}", 1},
	{"gemini",
	 "{'hook_event_name':'AfterTool'," TOOL ",'tool_response':{'llmContent':'x'}}", 0},
	{"gemini",
	 "{'hook_event_name':'AfterTool'," TOOL ",'tool_response':{'error':{'message':'no'}}}", 1},
	{"cursor", "{'hook_event_name':'postToolUse'," TOOL ",'tool_output':'{}'}", 0},
	{"cursor",
	 "{'hook_event_name':'postToolUse'," TOOL ",'tool_output':'{\\'isError\\':true}'}", 1},
	{"cursor", "{'hook_event_name':'postToolUseFailure'," TOOL ",'error_message':'no'}", 1},
	{"copilot", "{'toolName':'t','toolArgs':{},'toolResult':{'resultType':'success'}}", 0},
	{"copilot", "{'toolName':'t','toolArgs':{},'toolResult':{'resultType':'failure'}}", 1},
	{"windsurf",
	 WINDSURF("post_mcp_tool_use", "'mcp_server_name':'s','mcp_tool_name':'t',"
				       "'mcp_result':'{\\'isError\\':true}'"),
	 1},
	{"kiro", "{'hook_event_name':'postToolUse'," TOOL ",'tool_response':{'success':false}}", 1},
	{"kiro", "{'hook_event_name':'postToolUse'," TOOL ",'tool_response':{'success':true}}", 0},
	{"goose", "{'event':'PostToolUseFailure'," TOOL "}", 1},
	{"goose", "{'event':'PostToolUse'," TOOL "}", 0},
	{"cline", "{'hookName':'PostToolUse','postToolUse':{'toolName':'t','success':false}}", 1},
	{"cline", "{'hookName':'PostToolUse','postToolUse':{'toolName':'t','success':true}}", 0},
};

static void test_failures_are_recognised_in_each_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct pawl_call *call = decoded(results[i].agent, results[i].event);
		assert_int_equal(call->kind, EVENT_POST_TOOL);
		if (call->number[PAWL_N_IS_ERROR] != results[i].failed)
			fail_msg("%s", results[i].event);
	}
}

static const char *const bad[][2] = {
	{"claude-code", "{'hook_event_name':'pretooluse'," TOOL "}"},
	{"claude-code", "{'hook_event_name':7," TOOL "}"},
	{"claude-code", "{" TOOL "}"},
	{"claude-code", "[]"},
	{"claude-code", CLAUDE("'tool_name':null,'tool_input':{}")},
	{"claude-code", CLAUDE("'tool_name':{},'tool_input':{}")},
	{"gemini", "{'hook_event_name':'BeforeModel','llm_request':'x'}"},
	{"gemini", "{'hook_event_name':'AfterModel','llm_request':{}}"},
	{"cursor", CURSOR("beforeShellExecution", "'command':['ls']")},
	{"cursor", CURSOR("beforeReadFile", "'file_path':null")},
	{"copilot", "{'sessionId':'s'}"},
	{"copilot", "{'toolName':1,'toolArgs':{}}"},
	/* read one way by rules, another by the client */
	{"copilot", "{'toolName':'bash','toolArgs':'{\\'n\\':1,\\'n\\':9}'}"},
	{"copilot", "{'toolName':'bash','toolArgs':' [{\\'n\\':1,\\'n\\':9}]'}"},
	{"copilot", "{'toolName':'bash','toolArgs':'{\\'n\\':\\'\\\\ud800\\'}'}"},
	{"cursor", CURSOR("beforeMCPExecution", "'tool_name':'q','tool_input':'{\\'n\\':1,}'")},
	{"copilot", "{'toolName':'create','toolArgs':{'path':'/a','file_path':'/b'}}"},
	{"copilot", "{'toolName':'create','toolArgs':{'path':['/a'],'file_path':'/b'}}"},
	{"copilot", "{'toolName':'view','toolArgs':{'path':'/a','filePath':'/b'}}"},
	{"claude-code", CLAUDE("'tool_name':'Bash','tool_input':{'command':'a','cmd':'b'}")},
	{"windsurf", WINDSURF("pre_run_command", "'command_line':'a','command':'b'")},
	{"windsurf", "{'agent_action_name':'pre_run_command','tool_info':[]}"},
	{"windsurf", WINDSURF("pre_mcp_tool_use", "'mcp_server_name':'s'")},
	{"kiro", "{'hook_event_name':'preToolUse'}"},
	{"goose", "{'hook_event_name':'PreToolUse'," TOOL "}"},
	{"cline", "{'hookName':'PreToolUse','preToolUse':'x'}"},
	{"cline", CLINE("'parameters':{}")},
	{"pawl", "{'hook_event_name':'PreModelCall'}"},
};

static void test_what_cannot_be_read_gates(void **state)
{
	struct pawl_call *call;
	struct error err;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (decode(bad[i][0], quoted(bad[i][1]), &call, &err) == 0 ||
		    !event_gates(call->kind))
			fail_msg("%s: %s", bad[i][0], bad[i][1]);
	}
}

static void test_cursor_is_recognised_behind_claude_code(void **state)
{
	struct answer answer;
	struct decision decision = {
		.verdict = VERDICT_DENY, .refusal = STR("no"), .reason = STR("no")};
	const struct dialect *dialect = dialect_find("claude-code");
	(void)state;
	struct pawl_call *call = decoded(
		"claude-code", CURSOR("preToolUse", "'tool_name':'Shell','tool_input':{}"));
	assert_text(call->text[PAWL_T_CLIENT], "cursor");
	assert_int_equal(dialect_encode(dialect, host, call, &decision, &answer, NULL), 0);
	assert_non_null(strstr(answer.out.ptr, "\"permission\":\"deny\""));
	call = decoded("codex", CLAUDE("'cursor_version':'1'," TOOL));
	assert_text(call->text[PAWL_T_CLIENT], "codex");
}

/* ---- real events, where they lie beside the tree -------------------------------------- */

static void read_capture(const char *agent, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_read_all(fd, 1 << 20, &text, &len, NULL), 0);
	struct pawl_call *call;
	struct error err = {""};
	if (decode(agent, json_arena_text(arena, (struct str){text, len}), &call, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	assert_true(call->text[PAWL_T_SESSION].len > 0 && call->text[PAWL_T_CWD].len > 0);
	if (call->kind == EVENT_PRE_TOOL || call->kind == EVENT_POST_TOOL) {
		assert_true(call->text[PAWL_T_TOOL].len > 0);
		assert_int_equal(json_type(call->root[PAWL_R_ARGS]), JSON_OBJECT);
	}
	if (call->kind == EVENT_PRE_MODEL)
		assert_int_equal(json_type(call->root[PAWL_R_REQUEST]), JSON_OBJECT);
	if (call->kind == EVENT_POST_MODEL)
		assert_int_equal(json_type(call->root[PAWL_R_MESSAGE]), JSON_OBJECT);
	if (call->kind == EVENT_POST_TOOL)
		assert_non_null(call->root[PAWL_R_RESULT]);
}

static int read_captures(const char *agent)
{
	char folder[2048], path[4096];
	const char *top = getenv("abs_top_srcdir");
	int n = 0;
	snprintf(folder, sizeof(folder), "%s/../shared/captures/%s", top ? top : ".", agent);
	_cleanup_(cleanup_closedir_) DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		read_capture(agent, path);
		n++;
	}
	return n;
}

static void test_captured_events_are_read(void **state)
{
	(void)state;
	int n = read_captures("codex") + read_captures("gemini") + read_captures("qwen");
	if (n == 0)
		print_message("# no captured events beside the tree: nothing to read\n");
}

/* ---- answering ------------------------------------------------------------------------ */

static const struct json_value *parsed(struct str text)
{
	const struct json_value *value;
	struct error err;
	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &value, NULL, &err) < 0)
		fail_msg("%s: %.*s", err.text, STR_FMT(text));
	return value;
}

static struct pawl_call *call_of(const struct dialect *dialect, const struct form *form)
{
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	call->text[PAWL_T_CLIENT] = json_arena_text(arena, str_of(dialect->name));
	call->text[PAWL_T_EVENT] = json_arena_text(arena, str_of(form->event));
	call->kind = form->kind;
	call->root[PAWL_R_EVENT] = parsed(STR("{}"));
	call->root[call_args_root(call)] = call->root[PAWL_R_ARGS_GIVEN] = parsed(STR("{\"a\":1}"));
	return call;
}

static const struct decision decisions[] = {
	{.verdict = VERDICT_DENY},
	{.verdict = VERDICT_REQUIRE_APPROVAL},
	{.verdict = VERDICT_SUBSTITUTE},
	{.verdict = VERDICT_ALLOW, .modified = true},
	{.verdict = VERDICT_REQUIRE_APPROVAL, .modified = true},
};

/* It is refused, or it says more than "no objection" on an event that can be told so. */
static void assert_said(const struct dialect *dialect, const struct form *form,
			const struct decision *given)
{
	struct answer answer;
	struct error err = {""};
	struct decision d = *given;
	struct pawl_call *call = call_of(dialect, form);
	d.args = given->modified ? parsed(STR("{\"a\":2}")) : call->root[PAWL_R_ARGS_GIVEN];
	d.result = parsed(STR("\"r\""));
	d.reason = d.verdict == VERDICT_DENY ? STR("why") : (struct str){NULL, 0};
	d.refusal = d.reason;
	if (dialect_encode(dialect, host, call, &d, &answer, &err) < 0)
		fail_msg("%s %s: %s", dialect->name, form->event, err.text);
	struct str pass = str_of(form->pass);
	bool refused = answer.exit == 2 ||
		       (forms_of(dialect->name)->refused == 0 && answer.err.len > 0);
	if (!refused && str_equal(answer.out, pass))
		fail_msg("%s %s: verdict %d passed in silence", dialect->name, form->event,
			 d.verdict);
	if (refused && answer.err.len == 0)
		fail_msg("%s %s: a refusal without a word", dialect->name, form->event);
	if (refused && form->refuse[0])
		assert_true(answer.out.len > 0);
	if (answer.out.len > 0)
		assert_int_equal(json_type(parsed(answer.out)), JSON_OBJECT);
}

static void test_no_decision_is_passed_over_in_silence(void **state)
{
	(void)state;
	for (size_t a = 0; dialect_at(a); a++) {
		const struct form_list *list = forms_of(dialect_at(a)->name);
		for (size_t i = 1; i < list->n; i++)
			for (size_t d = 0; d < sizeof(decisions) / sizeof(decisions[0]); d++)
				if (event_gates(list->forms[i].kind))
					assert_said(dialect_at(a), &list->forms[i], &decisions[d]);
	}
}

static void test_a_rewrite_to_the_same_is_none(void **state)
{
	struct answer answer;
	(void)state;
	const struct dialect *qwen = dialect_find("qwen");
	struct pawl_call *call = decoded("qwen", CLAUDE("'tool_name':'t','tool_input':{'a': 1}"));
	struct decision d = {
		.verdict = VERDICT_ALLOW, .modified = true, .args = parsed(STR("{\"a\":1}"))};
	assert_int_equal(dialect_encode(qwen, host, call, &d, &answer, NULL), 0);
	assert_int_equal(answer.exit, 0);
	assert_int_equal(answer.out.len, 0);
}

/* Written to the rules' name or the client's own: both end where the client looks. */
static void test_added_names_are_taken_off_again(void **state)
{
	static const char *const cases[][2] = {
		{"{'path':'/a','x':1e400,'file_path':'/b'}", "{\"path\":\"/b\",\"x\":1e400}"},
		{"{'path':'/b','x':1e400,'file_path':'/a'}", "{\"path\":\"/b\",\"x\":1e400}"},
		{"{'path':'/b','x':1e400,'file_path':'/b'}", "{\"path\":\"/b\",\"x\":1e400}"},
		{"{\"path\":\"/a\",\"x\":2,\"file_path\":\"/a\"}", "{\"path\":\"/a\",\"x\":2}"},
		{"{\"path\":\"/a\",\"x\":1e400}", "{\"x\":1e400}"},
		{"{\"path\":\"/b\",\"x\":1e400,\"file_path\":\"/c\"}", NULL},
		{"{\"path\":\"/b\",\"x\":1e400}", NULL},
	};
	(void)state;
	struct pawl_call *call = decoded(
		"copilot", "{'toolName':'create','toolArgs':{'path':'/a','x':1e400}}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct decision d = {.verdict = VERDICT_ALLOW, .args = parsed(quoted(cases[i][0]))};
		struct str args = {NULL, 0};
		int r = dialect_arguments(call, &d, &args, NULL);
		if (cases[i][1])
			assert_text(args, quoted(cases[i][1]).ptr);
		else
			assert_true(r < 0);
	}
}

/* ---- the tables ----------------------------------------------------------------------- */

static void test_tables_and_dialects_belong_together(void **state)
{
	size_t n = 0;
	(void)state;
	for (; dialect_at(n); n++) {
		assert_string_equal(forms_agent(n), dialect_at(n)->name);
		assert_ptr_equal(dialect_find(dialect_at(n)->name), dialect_at(n));
		const struct form_list *list = forms_of(dialect_at(n)->name);
		assert_int_equal(list->forms[0].kind, EVENT_UNKNOWN);
		for (size_t i = 1; i < list->n; i++) {
			const struct form *form = &list->forms[i];
			/* no doubles */
			assert_ptr_equal(form_find(list, str_of(form->event)), form);
			if (form->can & ~FORM_DEAF)
				assert_non_null(dialect_at(n)->encode);
			if (form->pass[0])
				parsed(str_of(form->pass));
		}
	}
	assert_null(forms_agent(n));
}

static void test_refusals_are_one_valid_object(void **state)
{
	static char long_text[20000], out[65536];
	(void)state;
	memset(long_text, '"', sizeof(long_text));
	const struct str texts[] = {
		STR("no"),
		STR("a \"b\" \\ \n\x01\x7f {reason} {id}"),
		STR("\xff\xed\xa0\x80"),
		{long_text, sizeof(long_text)},
	};
	for (size_t a = 0; forms_agent(a); a++) {
		const struct form_list *list = forms_of(forms_agent(a));
		for (size_t i = 0; i < list->n; i++)
			for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
				const struct form *form = &list->forms[i];
				size_t len = form_refuse(form, texts[t], texts[t], STR("host"),
							 STR("\"id\""), out, sizeof(out));
				if (event_gates(form->kind) && form->refuse[0])
					parsed((struct str){out, len});
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_are_read_the_same_from_all),
		cmocka_unit_test(test_ids_and_agents_are_kept),
		cmocka_unit_test(test_failures_are_recognised_in_each_form),
		cmocka_unit_test(test_what_cannot_be_read_gates),
		cmocka_unit_test(test_cursor_is_recognised_behind_claude_code),
		cmocka_unit_test(test_captured_events_are_read),
		cmocka_unit_test(test_no_decision_is_passed_over_in_silence),
		cmocka_unit_test(test_a_rewrite_to_the_same_is_none),
		cmocka_unit_test(test_added_names_are_taken_off_again),
		cmocka_unit_test(test_tables_and_dialects_belong_together),
		cmocka_unit_test(test_refusals_are_one_valid_object),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
