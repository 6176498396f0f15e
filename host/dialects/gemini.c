/* gemini.c - Google Gemini CLI (0.61.0, measured).
 *
 * Tool names are mcp_SERVER_TOOL with the true pair beside them in mcp_context; there is no
 * call id; failures come as AfterTool with tool_response.error. Its "ask" never returns when
 * nobody sits there, so a call that needs a person is refused. It alone lets hooks see the
 * model's requests and answers (each piece of a streamed one), and change them. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>

#include "json/write.h"

/* ---- decoding ------------------------------------------------------------------------- */

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

/* The model's request, or its answer with the request beside it. */
static int decode_model(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	const struct json_value *request = json_member(event, STR("llm_request"));
	const struct json_value *response = json_member(event, STR("llm_response"));
	bool before = call->kind == EVENT_PRE_MODEL;
	int r = dialect_need(before ? request : response, JSON_OBJECT,
			     before ? "llm_request" : "llm_response", err);
	call->root[PAWL_R_REQUEST] = request;
	call->root[PAWL_R_MESSAGE] = before ? NULL : response;
	call->root[PAWL_R_RESULT] = json_member(response, STR("usageMetadata"));
	call->root[PAWL_R_ARGS_GIVEN] = before ? request : response;
	return r;
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	int r = dialect_decode_claude_fields(call, event, err);
	const struct json_value *context = json_member(event, STR("mcp_context"));
	if (r == 0 && (str_is(call->text[PAWL_T_EVENT], "BeforeModel") ||
		       str_is(call->text[PAWL_T_EVENT], "AfterModel")))
		return decode_model(call, event, err);
	if (r == 0 && context && call->text[PAWL_T_TOOL].ptr)
		r = decode_mcp(call, context, err);
	if (r == 0 && call->kind == EVENT_POST_TOOL &&
	    json_type(json_member(call->root[PAWL_R_RESULT], STR("error"))) != JSON_NULL)
		call->number[PAWL_N_IS_ERROR] = 1;
	return r;
}

/* ---- encoding ------------------------------------------------------------------------- */

/* A result that is no response yet becomes one: its text, said by the model. */
static void add_response(const struct json_writer *w, struct json_object *inner,
			 const struct decision *decision)
{
	struct str text;
	if (json_type(json_member(decision->result, STR("candidates"))) == JSON_ARRAY) {
		w->add_raw(inner, "llm_response", json_raw(decision->result));
		return;
	}
	if (json_string(decision->result, &text) < 0)
		text = json_raw(decision->result);
	struct json_object *response = w->object(), *candidates = w->array();
	struct json_object *candidate = w->object(), *content = w->object(), *parts = w->array();
	w->add_text(parts, NULL, text);
	w->add_text(content, "role", STR("model"));
	w->add(content, "parts", parts);
	w->add(candidate, "content", content);
	w->add_text(candidate, "finishReason", STR("STOP"));
	w->add_integer(candidate, "index", 0);
	w->add(candidates, NULL, candidate);
	w->add_text(response, "text", text);
	w->add(response, "candidates", candidates);
	w->add(inner, "llm_response", response);
}

static const char *changed_member(const struct pawl_call *call)
{
	return call->kind == EVENT_PRE_MODEL  ? "llm_request" :
	       call->kind == EVENT_POST_MODEL ? "llm_response" :
						"tool_input";
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	struct str args;
	const struct json_writer *w;
	int r = dialect_begin(call, decision, &w, &args, err);
	(void)host;
	if (r < 0)
		return r;
	struct json_object *o = w->object(), *inner = w->object();
	w->add_text(inner, "hookEventName", call->text[PAWL_T_EVENT]);
	/* measured: without the deny the model is asked all the same */
	if (decision->verdict == VERDICT_SUBSTITUTE && call->kind == EVENT_PRE_MODEL) {
		w->add_text(o, "decision", STR("deny"));
		w->add_text(o, "reason", STR("a policy answers in the model's place"));
	}
	if (decision->verdict == VERDICT_SUBSTITUTE)
		add_response(w, inner, decision);
	if (args.ptr)
		w->add_raw(inner, changed_member(call), args);
	if (decision->told.ptr)
		w->add_text(inner, "additionalContext", decision->told);
	w->add(o, "hookSpecificOutput", inner);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}

extern const struct dialect dialect_gemini;
const struct dialect dialect_gemini = {
	.name = "gemini",
	.can = {.title = "Gemini CLI",
		.version = "0.61.0, measured",
		.timeout_unit = "ms",
		.timeout = 60000,
		.on_failure = "runs the tool",
		.result = "replaced by the reason of a deny",
		.note = "each piece of a streamed answer is an AfterModel of its own"},
	.decode = decode,
	.encode = encode,
};
