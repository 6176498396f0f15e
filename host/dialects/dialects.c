/* dialects.c - the list of clients, and what all of them share. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>
#include <stdio.h>

#include "json/write.h"

extern const struct dialect dialect_claude_code, dialect_codex, dialect_gemini, dialect_pawl;

static const struct dialect *const dialects[] = {
	&dialect_claude_code,
	&dialect_codex,
	&dialect_gemini,
	&dialect_pawl,
};

const struct dialect *dialect_find(const char *name)
{
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	return NULL;
}

/* ---- decoding ------------------------------------------------------------------- */

static int need(const struct json_value *value, enum json_type type, const char *what,
		struct error *err)
{
	static const char *const names[] = {"null",   "a boolean", "a number",
					    "a string", "an array", "an object"};
	if (!value)
		return error_set(err, EBADMSG, "the event has no %s", what);
	if (json_type(value) != type)
		return error_set(err, EBADMSG, "the event's %s is %s, not %s", what,
				 names[json_type(value)], names[type]);
	return 0;
}

void dialect_assume(const struct dialect *dialect, struct pawl_call *call, struct str event)
{
	call->text[PAWL_T_EVENT] = event;
	call->kind = form_find(forms_of(dialect->name), event)->kind;
}

static int read_kind(const struct dialect *dialect, struct pawl_call *call,
		     const struct json_value *event, struct str event_given, struct error *err)
{
	struct str name = {NULL, 0};
	const struct form_list *forms = forms_of(dialect->name);
	const struct json_value *member = json_member(event, STR("hook_event_name"));
	int r = event_given.ptr && !member ? 0 :
					     need(member, JSON_STRING, "hook_event_name", err);
	if (r < 0)
		return r;
	if (json_string(member, &name) < 0)
		name = event_given;
	if (event_given.ptr && !str_equal(name, event_given)) {
		dialect_assume(dialect, call, (struct str){NULL, 0}); /* neither is believed */
		return error_set(err, EBADMSG, "the event is %.*s, but --event said %.*s",
				 STR_FMT(name), STR_FMT(event_given));
	}
	call->text[PAWL_T_EVENT] = json_arena_text(call->arena, name);
	call->kind = form_find(forms, name)->kind;
	if (call->kind == EVENT_UNKNOWN)
		return error_set(err, EBADMSG, "%s sends no event \"%.*s\" that pawl knows",
				 dialect->name, STR_FMT(name));
	return 0;
}

int dialect_decode(const struct dialect *dialect, struct pawl_call *call,
		   const struct json_value *event, struct str event_given, struct error *err)
{
	call->text[PAWL_T_CLIENT] = json_arena_text(call->arena, str_of(dialect->name));
	int r = need(event, JSON_OBJECT, "event", err);
	if (r < 0)
		return error_set(err, EBADMSG, "the event is not a JSON object");
	call->root[PAWL_R_EVENT] = event;
	r = read_kind(dialect, call, event, event_given, err);
	if (r == 0)
		r = dialect->decode(call, event, err);
	return r;
}

/* tool_name, tool_input, and the way out of a plugin's or MCP server's name. */
static int read_tool(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	struct str name = {NULL, 0};
	const struct json_value *member = json_member(event, STR("tool_name"));
	int r = need(member, JSON_STRING, "tool_name", err);
	if (r < 0)
		return r;
	json_string(member, &name);
	struct str source = {NULL, 0}, server = {NULL, 0};
	json_string(json_member(event, STR("source")), &source);
	json_string(json_member(event, STR("server")), &server);
	return call_set_tool(call, name, source, server, err);
}

static void read_result(struct pawl_call *call, const struct json_value *event)
{
	const struct json_value *response = json_member(event, STR("tool_response"));
	const struct json_value *error = json_member(event, STR("error"));
	bool failed = str_is(call->text[PAWL_T_EVENT], "PostToolUseFailure");
	int said;
	call->root[PAWL_R_RESULT] = response ? response : error;
	if (json_boolean(json_member(response, STR("isError")), &said) == 0 && said)
		failed = true;
	if (json_boolean(json_member(event, STR("is_error")), &said) == 0)
		failed = failed || said;
	call->number[PAWL_N_IS_ERROR] = failed;
	int64_t ms;
	if (json_integer(json_member(event, STR("duration_ms")), &ms) == 0 && ms >= 0 &&
	    ms < INT64_MAX / 1000000)
		call->number[PAWL_N_DURATION_NS] = ms * 1000000;
}

int dialect_decode_claude_fields(struct pawl_call *call, const struct json_value *event,
				 struct error *err)
{
	const struct json_value *id = json_member(event, STR("tool_use_id"));
	call_set_text(call, PAWL_T_SESSION, json_member(event, STR("session_id")));
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("cwd")));
	call_set_text(call, PAWL_T_AGENT, json_member(event, STR("agent_id")));
	call_set_text(call, PAWL_T_AGENT_TYPE, json_member(event, STR("agent_type")));
	call_set_text(call, PAWL_T_CALL_ID, id);
	if (!call->text[PAWL_T_AGENT].ptr)
		call->text[PAWL_T_AGENT] = json_arena_text(call->arena, STR(""));
	call->text[PAWL_T_TARGET] = json_arena_text(call->arena, STR("server"));
	if (json_type(id) == JSON_STRING)
		call->call_id_json = json_raw(id);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = read_tool(call, event, err);
	if (r < 0)
		return r;
	const struct json_value *input = json_member(event, STR("tool_input"));
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] = input;
	if (call->kind == EVENT_POST_TOOL)
		read_result(call, event);
	return 0;
}

/* ---- encoding -------------------------------------------------------------------- */

const struct form *dialect_form(const struct dialect *dialect, const struct pawl_call *call)
{
	return form_find(forms_of(dialect->name), call->text[PAWL_T_EVENT]);
}

int dialect_refuse(const struct dialect *dialect, struct pawl_call *call,
		   const struct decision *decision, struct answer *answer, struct error *err)
{
	static char text[64 * 1024];
	size_t len = form_refuse(dialect_form(dialect, call), decision->refusal, decision->reason,
				 str_of(refused_by_name(decision->refused_by)), call->call_id_json,
				 text, sizeof(text));
	answer->out = json_arena_text(call->arena, (struct str){text, len});
	answer->err = decision->refusal;
	answer->exit = 2;
	return answer->out.ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

int dialect_encode(const struct dialect *dialect, const struct host *host, struct pawl_call *call,
		   struct decision *decision, struct answer *answer, struct error *err)
{
	*answer = (struct answer){.exit = 0};
	if (!event_gates(call->kind)) {
		answer->out = str_of(dialect_form(dialect, call)->answer);
		return 0;
	}
	/* a client that is told nothing lets the tool run: empty-handed is refused below */
	*answer = (struct answer){.exit = 2};
	int r = dialect->encode(host, call, decision, answer, err);
	if (r == 0 && answer->exit == 2 && !answer->out.ptr)
		r = dialect_refuse(dialect, call, decision, answer, err);
	return r;
}

int dialect_deny(const struct host *host, struct pawl_call *call, struct decision *decision,
		 const char *why)
{
	char text[REPLY_REASON_MAX];
	int n = snprintf(text, sizeof(text), "%.*s%s%s", STR_FMT(decision->reason),
			 decision->reason.len ? "; " : "", why);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	host_refuse(host, call, decision,
		    decision->plugin.ptr ? REFUSED_PLUGIN : REFUSED_STATIC,
		    json_arena_text(call->arena, (struct str){text, len}));
	return 0;
}

int dialect_substitute_as_deny(const struct host *host, struct pawl_call *call,
			       struct decision *decision)
{
	char text[REPLY_REASON_MAX];
	struct str result;
	if (json_string(decision->result, &result) < 0)
		result = json_raw(decision->result);
	int n = snprintf(text, sizeof(text),
			 "the tool did not run; policy %.*s gives this result in its place: %.*s",
			 STR_FMT(decision->plugin), STR_FMT(result));
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	while (len > 0 && len == sizeof(text) - 1 && ((unsigned char)text[len] & 0xC0) == 0x80)
		len--;
	struct str told = json_arena_text(call->arena, (struct str){text, len});
	/* the decision stays a substitute in the records; only the client's form is a deny */
	struct decision form = *decision;
	host_refuse(host, call, &form, REFUSED_PLUGIN, told);
	decision->refusal = told;
	decision->reason = told;
	return 0;
}

int dialect_keep(struct pawl_call *call, const struct json_writer *w, struct json_object *o,
		 struct answer *answer, struct error *err)
{
	struct str text = w->text(o);
	answer->out = text.ptr ? json_arena_text(call->arena, text) : text;
	w->free(o);
	return answer->out.ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

int dialect_claude_output(struct pawl_call *call, const struct decision *decision,
			  const char *permission, struct answer *answer, struct error *err)
{
	const struct json_writer *w = json_writer_get(err);
	if (!w)
		return -ENOEXEC;
	struct json_object *o = w->object(), *inner = w->object();
	w->add_text(inner, "hookEventName", STR("PreToolUse"));
	if (permission)
		w->add_text(inner, "permissionDecision", str_of(permission));
	if (permission && decision->reason.ptr)
		w->add_text(inner, "permissionDecisionReason", decision->reason);
	if (decision->modified)
		w->add_raw(inner, "updatedInput", json_raw(decision->args));
	if (decision->told.ptr)
		w->add_text(inner, "additionalContext", decision->told);
	w->add(o, "hookSpecificOutput", inner);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}
