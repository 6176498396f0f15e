/* copilot.c - GitHub Copilot: CLI, cloud agent (documents, changelog to 1.0.102), VS Code.
 *
 * How the settings spell an event's name chooses its form. camelCase: toolName, toolArgs (at
 * times JSON inside a string), and no name at all, so that the hook is told with --event.
 * PascalCase: Claude Code's names, and VS Code's mixture of both. Any exit status but 0
 * refuses, whatever is printed; a late hook is taken for yes. */
#include <config.h>

#include "dialects/dialect.h"

#include "json/write.h"

/* ---- decoding ------------------------------------------------------------------------- */

static struct str event_name(const struct json_value *event)
{
	static const char *const names[] = {"hook_event_name", "hookEventName", NULL};
	return dialect_text(event, names);
}

/* A call without a result is taken for one that is still to run. */
static const char *event_guess(const struct json_value *event)
{
	if (json_member(event, STR("toolName")))
		return json_member(event, STR("toolResult")) ? "postToolUse" :
		       json_member(event, STR("error"))	     ? "postToolUseFailure" :
							       "preToolUse";
	return json_member(event, STR("prompt")) ? "userPromptSubmitted" : NULL;
}

static const struct json_value *either(const struct json_value *event, const char *a, const char *b)
{
	const struct json_value *value = json_member(event, str_of(a));
	return value ? value : json_member(event, str_of(b));
}

/* A result says what became of the tool: success, failure, rejected, denied. */
static void read_result(struct pawl_call *call, const struct json_value *event)
{
	static const char *const types[] = {"resultType", "result_type", NULL};
	const struct json_value *result = either(event, "toolResult", "tool_result");
	if (!result)
		result = either(event, "tool_response", "error");
	result = dialect_unwrap(call, result);
	struct str type = dialect_text(result, types);
	dialect_set_result(call, result,
			   (type.ptr && !str_is(type, "success")) ||
				   str_is(call->text[PAWL_T_EVENT], "postToolUseFailure") ||
				   str_is(call->text[PAWL_T_EVENT], "PostToolUseFailure"));
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const sessions[] = {"sessionId", "session_id", NULL};
	static const char *const ids[] = {"tool_use_id", "toolCallId", NULL};
	static const char *const agents[] = {"agent_id", "agentId", NULL};
	static const char *const agent_types[] = {"agent_type", "agentType", NULL};
	const struct str absent = {NULL, 0};
	dialect_set_text(call, PAWL_T_SESSION, event, sessions);
	dialect_set_text(call, PAWL_T_AGENT, event, agents);
	dialect_set_text(call, PAWL_T_AGENT_TYPE, event, agent_types);
	dialect_set_id(call, event, ids);
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("cwd")));
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(event, STR("prompt")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_set_tool(call, either(event, "toolName", "tool_name"), "tool name", absent,
				 absent, err);
	if (r == 0)
		r = dialect_set_arguments(call, either(event, "toolArgs", "tool_input"), err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		read_result(call, event);
	return r;
}

/* ---- encoding ------------------------------------------------------------------------- */

static void add_permission(const struct json_writer *w, struct json_object *o,
			   const struct decision *decision)
{
	const char *permission = dialect_permission(decision);
	w->add_text(o, "permissionDecision", str_of(permission ? permission : "allow"));
	if (decision->reason.ptr)
		w->add_text(o, "permissionDecisionReason", decision->reason);
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	bool pascal = str_is(call->text[PAWL_T_EVENT], "PreToolUse");
	struct str args;
	const struct json_writer *w;
	int r = dialect_begin(call, decision, &w, &args, err);
	(void)host;
	if (r < 0)
		return r;
	struct json_object *o = w->object(), *inner = pascal ? w->object() : o;
	add_permission(w, o, decision);
	if (pascal) {
		w->add_text(inner, "hookEventName", call->text[PAWL_T_EVENT]);
		add_permission(w, inner, decision);
	}
	if (args.ptr)
		w->add_raw(inner, pascal ? "updatedInput" : "modifiedArgs", args);
	if (pascal)
		w->add(o, "hookSpecificOutput", inner);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}

extern const struct dialect dialect_copilot;
const struct dialect dialect_copilot = {
	.name = "copilot",
	.can = {.title = "Copilot",
		.version = "documents to 1.0.102",
		.timeout_unit = "s",
		.timeout = 30,
		.on_failure = "refuses after a crash, runs the tool after a timeout",
		.result = "modifiedResult",
		.note = "asks nobody in -p and in the cloud, where that is a refusal; camelCase "
			"events do not say which they are: --event does"},
	.event_name = event_name,
	.event_guess = event_guess,
	.decode = decode,
	.encode = encode,
};
