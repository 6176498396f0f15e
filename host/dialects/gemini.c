/* gemini.c - Google Gemini CLI (0.61.0, measured).
 *
 * Tool names are mcp_SERVER_TOOL with the true pair beside them in mcp_context; there is no
 * call id; failures come as AfterTool with tool_response.error. Its "ask" never returns when
 * nobody sits there, so a call that needs a person is refused. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>

#include "json/write.h"

static int decode_mcp(struct pawl_call *call, const struct json_value *context, struct error *err)
{
	struct str raw = call->tool_raw, server, tool;
	if (json_string(json_member(context, STR("server_name")), &server) < 0 ||
	    json_string(json_member(context, STR("tool_name")), &tool) < 0)
		return error_set(err, EBADMSG, "the event's mcp_context names no server or tool");
	int r = call_set_tool(call, tool, STR("mcp"), server, err);
	call->tool_raw = raw;
	return r;
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	int r = dialect_decode_claude_fields(call, event, err);
	const struct json_value *context = json_member(event, STR("mcp_context"));
	if (r == 0 && context && call->text[PAWL_T_TOOL].ptr)
		r = decode_mcp(call, context, err);
	if (r == 0 && call->kind == EVENT_POST_TOOL &&
	    json_type(json_member(call->root[PAWL_R_RESULT], STR("error"))) != JSON_NULL)
		call->number[PAWL_N_IS_ERROR] = 1;
	return r;
}

static int encode_allow(struct pawl_call *call, const struct decision *decision,
			struct answer *answer, struct error *err)
{
	answer->exit = 0;
	if (!decision->modified && !decision->told.ptr)
		return 0;
	const struct json_writer *w = json_writer_get(err);
	if (!w)
		return -ENOEXEC;
	struct json_object *o = w->object(), *inner = w->object();
	w->add_text(inner, "hookEventName", STR("BeforeTool"));
	if (decision->modified)
		w->add_raw(inner, "tool_input", json_raw(decision->args));
	if (decision->told.ptr)
		w->add_text(inner, "additionalContext", decision->told);
	w->add(o, "hookSpecificOutput", inner);
	return dialect_keep(call, w, o, answer, err);
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	switch (decision->verdict) {
	case VERDICT_ALLOW:
		return encode_allow(call, decision, answer, err);
	case VERDICT_REQUIRE_APPROVAL:
		return dialect_deny(host, call, decision,
				    "a person has to approve it, and Gemini hooks cannot ask one");
	case VERDICT_SUBSTITUTE:
		return dialect_substitute_as_deny(host, call, decision);
	default:
		return 0;
	}
}

extern const struct dialect dialect_gemini;
const struct dialect dialect_gemini = {"gemini", decode, encode};
