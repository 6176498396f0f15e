/* goose.c - Goose (documents, source).
 *
 * Its events name themselves in "event". Only PreToolUse (and Stop) can be refused: a block,
 * or exit 2 with the reason on stderr. */
#include <config.h>

#include "dialects/dialect.h"

static struct str event_name(const struct json_value *event)
{
	static const char *const names[] = {"event", NULL};
	return dialect_text(event, names);
}

static void read_result(struct pawl_call *call, const struct json_value *event)
{
	static const char *const names[] = {"tool_output", "tool_response", "tool_result", "error"};
	const struct json_value *result = NULL;
	for (size_t i = 0; !result && i < sizeof(names) / sizeof(names[0]); i++)
		result = json_member(event, str_of(names[i]));
	dialect_set_result(call, result, str_is(call->text[PAWL_T_EVENT], "PostToolUseFailure"));
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const ids[] = {"tool_call_id", NULL};
	const struct str absent = {NULL, 0};
	call_set_text(call, PAWL_T_SESSION, json_member(event, STR("session_id")));
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("working_dir")));
	dialect_set_id(call, event, ids);
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(event, STR("message")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_set_tool(call, json_member(event, STR("tool_name")), "tool_name", absent,
				 absent, err);
	if (r == 0)
		r = dialect_set_arguments(call, json_member(event, STR("tool_input")), err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		read_result(call, event);
	return r;
}

extern const struct dialect dialect_goose;
const struct dialect dialect_goose = {
	.name = "goose",
	.can = {.title = "Goose",
		.version = "documents and source",
		.timeout_unit = "s",
		.timeout = 30,
		.on_failure = "runs the tool, unless on_failure is \"block\"",
		.result = "no",
		.note = "BeforeShellExecution and BeforeReadFile only watch"},
	.event_name = event_name,
	.decode = decode,
};
