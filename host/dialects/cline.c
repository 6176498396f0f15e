/* cline.c - Cline (source).
 *
 * What an event is about lies in a member named after it. An MCP tool is the one tool
 * use_mcp_tool with server, name and arguments (JSON inside a string) among its parameters. A
 * hook that exits with anything but 0 has failed, and then the tool runs: a refusal is said
 * on stdout, with exit 0. */
#include <config.h>

#include "dialects/dialect.h"

#include "json/write.h"

/* ---- decoding ------------------------------------------------------------------------- */

static struct str event_name(const struct json_value *event)
{
	static const char *const names[] = {"hookName", NULL};
	return dialect_text(event, names);
}

static const struct json_value *about(const struct pawl_call *call, const struct json_value *event)
{
	return json_member(event, call->kind == EVENT_PRE_TOOL	? STR("preToolUse") :
				  call->kind == EVENT_POST_TOOL ? STR("postToolUse") :
								  STR("userPromptSubmit"));
}

/* use_mcp_tool with a server and a tool among its parameters, or NULL. */
static const struct json_value *mcp_parameters(const struct json_value *use)
{
	struct str text;
	const struct json_value *parameters = json_member(use, STR("parameters"));
	bool mcp = json_string(json_member(use, STR("toolName")), &text) == 0 &&
		   str_is(text, "use_mcp_tool");
	return mcp && json_string(json_member(parameters, STR("server_name")), &text) == 0 &&
			       json_string(json_member(parameters, STR("tool_name")), &text) == 0 ?
		       parameters :
		       NULL;
}

static int decode_use(struct pawl_call *call, const struct json_value *use, struct error *err)
{
	static const char *const servers[] = {"server_name", NULL};
	const struct str absent = {NULL, 0};
	const struct json_value *mcp = mcp_parameters(use);
	if (!mcp) {
		int r = dialect_set_tool(call, json_member(use, STR("toolName")), "toolName",
					 absent, absent, err);
		return r < 0 ? r : dialect_set_arguments(call, json_member(use, STR("parameters")),
							 err);
	}
	int r = dialect_set_tool(call, json_member(mcp, STR("tool_name")), "tool_name", STR("mcp"),
				 dialect_text(mcp, servers), err);
	return r < 0 ? r : dialect_set_arguments(call, json_member(mcp, STR("arguments")), err);
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const sessions[] = {"taskId", NULL};
	const struct json_value *what = about(call, event);
	int well;
	dialect_set_text(call, PAWL_T_SESSION, event, sessions);
	call_set_text(call, PAWL_T_CWD, json_at(event, STR("/workspaceRoots/0")));
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(what, STR("prompt")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_need(what, JSON_OBJECT, "preToolUse or postToolUse", err);
	if (r == 0)
		r = decode_use(call, what, err);
	if (r < 0 || call->kind == EVENT_PRE_TOOL)
		return r;
	dialect_set_result(call, dialect_unwrap(call, json_member(what, STR("result"))),
			   json_boolean(json_member(what, STR("success")), &well) == 0 && !well);
	dialect_set_duration(call, json_member(what, STR("executionTimeMs")));
	return 0;
}

/* ---- encoding ------------------------------------------------------------------------- */

/* The parameters with the arguments put back where they came from. */
static int parameters(struct pawl_call *call, struct str *args, struct error *err)
{
	const struct json_value *event = call->root[PAWL_R_EVENT], *whole;
	const struct json_value *mcp = mcp_parameters(about(call, event));
	if (!mcp || !args->ptr)
		return 0;
	if (json_type(json_member(mcp, STR("arguments"))) == JSON_STRING)
		*args = json_quote(call->arena, *args);
	int r = json_set_at(call->arena, mcp, STR("/arguments"), *args, call->limits, &whole, err);
	if (r == 0)
		*args = json_raw(whole);
	return r;
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	struct str args;
	const struct json_writer *w;
	int r = dialect_begin(call, decision, &w, &args, err);
	(void)host;
	if (r == 0)
		r = parameters(call, &args, err);
	if (r < 0)
		return r;
	struct json_object *o = w->object();
	w->add_bool(o, "cancel", 0);
	if (args.ptr)
		w->add_raw(o, "overrideInput", args);
	if (decision->told.ptr)
		w->add_text(o, "contextModification", decision->told);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}

extern const struct dialect dialect_cline;
const struct dialect dialect_cline = {
	.name = "cline",
	.can = {.title = "Cline",
		.version = "source",
		.timeout_unit = "",
		.timeout = 120,
		.on_failure = "runs the tool",
		.result = "no",
		.note = "a refusal exits 0: any other status is a failed hook, after which the "
			"tool runs"},
	.event_name = event_name,
	.decode = decode,
	.encode = encode,
};
