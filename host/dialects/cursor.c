/* cursor.c - Cursor (2026.09.18 by third parties, its own documents).
 *
 * preToolUse comes before every tool and can rewrite, but does not act on "ask";
 * beforeShellExecution and beforeMCPExecution ask, but cannot rewrite. An MCP tool is named
 * without its server. What is not answered counts as refused under failClosed, so that "no
 * objection" is said in words. */
#include <config.h>

#include "dialects/dialect.h"

#include "json/write.h"

/* ---- decoding ------------------------------------------------------------------------- */

static bool event_is(const struct pawl_call *call, const char *name)
{
	return str_is(call->text[PAWL_T_EVENT], name);
}

/* The events that are one tool's have its arguments as members of their own. */
static const struct own_event {
	const char *event, *tool;
	const char *names[3];
} own_events[] = {
	{"beforeShellExecution", "Shell", {"command", "cwd"}},
	{"afterShellExecution", "Shell", {"command"}},
	{"beforeReadFile", "Read", {"file_path"}},
	{"beforeTabFileRead", "Read", {"file_path"}},
	{"afterFileEdit", "Write", {"file_path", "edits"}},
	{"afterTabFileEdit", "Write", {"file_path", "edits"}},
};

static int decode_own(struct pawl_call *call, const struct json_value *event,
		      const struct own_event *own, struct error *err)
{
	const struct json_value *args, *values[3];
	const struct str absent = {NULL, 0};
	size_t n = 0;
	for (; n < 3 && own->names[n]; n++)
		values[n] = json_member(event, str_of(own->names[n]));
	int r = dialect_need(values[0], JSON_STRING, own->names[0], err);
	if (r == 0)
		r = call_set_tool(call, str_of(own->tool), absent, absent, err);
	if (r == 0)
		r = dialect_object(call, own->names, values, n, &args, err);
	return r < 0 ? r : dialect_set_arguments(call, args, err);
}

static int decode_tool(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	bool mcp = event_is(call, "beforeMCPExecution") || event_is(call, "afterMCPExecution");
	const struct str absent = {NULL, 0};
	for (size_t i = 0; i < sizeof(own_events) / sizeof(own_events[0]); i++)
		if (event_is(call, own_events[i].event))
			return decode_own(call, event, &own_events[i], err);
	int r = dialect_set_tool(call, json_member(event, STR("tool_name")), "tool_name",
				 mcp ? STR("mcp") : absent, absent, err);
	return r < 0 ? r : dialect_set_arguments(call, json_member(event, STR("tool_input")), err);
}

static void read_result(struct pawl_call *call, const struct json_value *event)
{
	static const char *const names[] = {"tool_output", "result_json", "output",
					    "error_message", "error"};
	bool failed = event_is(call, "postToolUseFailure") || event_is(call, "PostToolUseFailure");
	const struct json_value *result = NULL;
	for (size_t i = 0; !result && i < sizeof(names) / sizeof(names[0]); i++)
		result = json_member(event, str_of(names[i]));
	dialect_set_result(call, dialect_unwrap(call, result), failed);
	dialect_set_duration(call, json_member(event, STR("duration")));
}

/* "" where no folder is open: then the workspace's. */
static void read_folder(struct pawl_call *call, const struct json_value *event)
{
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("cwd")));
	if (call->text[PAWL_T_CWD].len == 0)
		call_set_text(call, PAWL_T_CWD, json_at(event, STR("/workspace_roots/0")));
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const sessions[] = {"conversation_id", "session_id", NULL};
	static const char *const ids[] = {"tool_use_id", NULL};
	dialect_set_text(call, PAWL_T_SESSION, event, sessions);
	dialect_set_id(call, event, ids);
	read_folder(call, event);
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(event, STR("prompt")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = decode_tool(call, event, err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		read_result(call, event);
	return r;
}

/* ---- encoding ------------------------------------------------------------------------- */

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	const char *permission = dialect_permission(decision);
	struct str args;
	const struct json_writer *w;
	int r = dialect_begin(call, decision, &w, &args, err);
	(void)host;
	if (r < 0)
		return r;
	struct json_object *o = w->object();
	w->add_text(o, "permission", str_of(permission ? permission : "allow"));
	if (decision->reason.ptr) {
		w->add_text(o, "user_message", decision->reason);
		w->add_text(o, "agent_message", decision->reason);
	}
	if (args.ptr)
		w->add_raw(o, "updated_input", args);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}

extern const struct dialect dialect_cursor;
const struct dialect dialect_cursor = {
	.name = "cursor",
	.can = {.title = "Cursor",
		.version = "2026.09.18, documents and third parties",
		.timeout_unit = "s",
		.timeout = 60,
		.on_failure = "runs the tool, unless failClosed is true",
		.result = "updated_mcp_tool_output",
		.note = "asks on beforeShellExecution and beforeMCPExecution, rewrites on "
			"preToolUse; MCP servers are not named"},
	.decode = decode,
	.encode = encode,
};
