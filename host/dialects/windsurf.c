/* windsurf.c - Windsurf Cascade (documents).
 *
 * The event is the tool: what it is called elsewhere is taken from the event's name. Exit 2
 * before it refuses, with the word on stderr; nothing printed is read. */
#include <config.h>

#include "dialects/dialect.h"

static struct str event_name(const struct json_value *event)
{
	static const char *const names[] = {"agent_action_name", NULL};
	return dialect_text(event, names);
}

static int decode_mcp(struct pawl_call *call, const struct json_value *info, struct error *err)
{
	static const char *const servers[] = {"mcp_server_name", NULL};
	int r = dialect_set_tool(call, json_member(info, STR("mcp_tool_name")), "mcp_tool_name",
				 STR("mcp"), dialect_text(info, servers), err);
	if (r == 0)
		r = dialect_set_arguments(call, json_member(info, STR("mcp_tool_arguments")), err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		dialect_set_result(call,
				   dialect_unwrap(call, json_member(info, STR("mcp_result"))),
				   false);
	return r;
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const sessions[] = {"trajectory_id", NULL};
	const struct json_value *info = json_member(event, STR("tool_info"));
	struct str name = call->text[PAWL_T_EVENT];
	const struct str absent = {NULL, 0};
	dialect_set_text(call, PAWL_T_SESSION, event, sessions);
	call_set_text(call, PAWL_T_CWD, json_member(info, STR("cwd")));
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(info, STR("user_prompt")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_need(info, JSON_OBJECT, "tool_info", err);
	if (r < 0)
		return r;
	if (str_is(name, "pre_mcp_tool_use") || str_is(name, "post_mcp_tool_use"))
		return decode_mcp(call, info, err);
	/* pre_run_command: run_command */
	r = call_set_tool(call, str_after(name, call->kind == EVENT_PRE_TOOL ? 4 : 5), absent,
			  absent, err);
	if (r == 0)
		r = dialect_set_arguments(call, info, err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		dialect_set_result(call, NULL, false);
	return r;
}

extern const struct dialect dialect_windsurf;
const struct dialect dialect_windsurf = {
	.name = "windsurf",
	.can = {.title = "Windsurf",
		.version = "documents",
		.timeout_unit = "",
		.on_failure = "runs the tool",
		.result = "no",
		.note = "no call ids, and no word of whether a tool failed"},
	.event_name = event_name,
	.decode = decode,
};
