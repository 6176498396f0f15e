/* pawl.c - the neutral dialect: Claude Code's field names and ours, every decision said in
 * full. eval, scripts and other hosts speak it. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>
#include <time.h>

#include "core/record.h"
#include "json/write.h"

static void read_number(struct pawl_call *call, int field, const struct json_value *value)
{
	int64_t number;
	if (json_integer(value, &number) == 0)
		call->number[field] = number;
}

/* Our own fields say where a tool is from; arguments are taken as they are. */
static int read_tool(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const sources[] = {"source", NULL}, *const servers[] = {"server", NULL};
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_set_tool(call, json_member(event, STR("tool_name")), "tool_name",
				 dialect_text(event, sources), dialect_text(event, servers), err);
	call->args_sent = NULL;
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] =
		json_member(event, STR("tool_input"));
	return r;
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	int yes;
	int r = dialect_decode_claude_fields(call, event, err);
	if (r == 0)
		r = read_tool(call, event, err);
	call_set_text(call, PAWL_T_RUN, json_member(event, STR("run_id")));
	call_set_text(call, PAWL_T_TARGET, json_member(event, STR("target")));
	read_number(call, PAWL_N_TURN, json_member(event, STR("turn")));
	read_number(call, PAWL_N_POSITION, json_member(event, STR("position")));
	read_number(call, PAWL_N_BATCH, json_member(event, STR("batch_size")));
	call->root[PAWL_R_META] = json_member(event, STR("meta"));
	if (json_boolean(json_member(event, STR("substituted")), &yes) == 0)
		call->number[PAWL_N_SUBSTITUTED] = yes;
	if (call->kind == EVENT_PRE_MODEL || call->kind == EVENT_POST_MODEL) {
		call->root[PAWL_R_REQUEST] = json_member(event, STR("request"));
		call->root[PAWL_R_MESSAGE] = json_member(event, STR("message"));
		call->root[PAWL_R_RESULT] = json_member(event, STR("response_metadata"));
		call->root[PAWL_R_ARGS_GIVEN] = call->root[call_args_root(call)];
		if (json_type(call->root[call_args_root(call)]) != JSON_OBJECT && r == 0)
			r = error_set(err, EBADMSG, "the event has no %s object",
				      call->kind == EVENT_PRE_MODEL ? "request" : "message");
	}
	return r;
}

static void add_result(const struct json_writer *w, struct json_object *o,
		       const struct pawl_call *call, const struct decision *d)
{
	struct json_object *result = w->object();
	bool deny = d->verdict == VERDICT_DENY;
	w->add_text(result, "type", STR("tool_result"));
	w->add_raw(result, "tool_use_id", call->call_id_json);
	w->add_bool(result, "is_error", deny || d->result_is_error);
	if (deny)
		w->add_text(result, "content", d->refusal);
	else
		w->add_raw(result, "content", json_raw(d->result));
	w->add(o, "tool_result", result);
}

static void add_approval(const struct json_writer *w, struct json_object *o,
			 const struct decision *d)
{
	struct json_object *approval = w->object();
	if (d->approval.ptr)
		w->add_text(approval, "id", d->approval);
	else
		w->add_null(approval, "id");
	if (d->batch.ptr)
		w->add_text(approval, "batch_id", d->batch);
	w->add_text(approval, "reason", d->reason);
	if (d->held)
		w->add_bool(approval, "held", 1);
	if (d->instructions.ptr)
		w->add_text(approval, "instructions", d->instructions);
	w->add_integer(approval, "timeout_s", d->timeout_ns / 1000000000);
	w->add(o, "approval", approval);
}

static const char *args_name(const struct pawl_call *call)
{
	return call->kind == EVENT_PRE_MODEL  ? "request" :
	       call->kind == EVENT_POST_MODEL ? "message" :
						"tool_input";
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *d,
		  struct answer *answer, struct error *err)
{
	(void)host;
	const struct json_writer *w = json_writer_get(err);
	if (!w)
		return -ENOEXEC;
	struct json_object *o = w->object(), *trace = w->array();
	bool runs = d->verdict == VERDICT_ALLOW || d->verdict == VERDICT_REQUIRE_APPROVAL;
	w->add_raw(o, "tool_use_id", call->call_id_json);
	w->add_text(o, "decision", str_of(verdict_name(d->verdict)));
	if (d->reason.ptr)
		w->add_text(o, "reason", d->reason);
	if (d->rule.ptr)
		w->add_text(o, "rule", d->rule);
	if (d->plugin.ptr)
		w->add_text(o, "plugin", d->plugin);
	if (d->verdict == VERDICT_DENY)
		w->add_text(o, "refused_by", str_of(refused_by_name(d->refused_by)));
	w->add_bool(o, "modified", d->modified);
	if (d->granted)
		w->add_bool(o, "granted", 1);
	if (runs && d->args)
		w->add_raw(o, args_name(call), json_raw(d->args));
	if (!runs)
		add_result(w, o, call, d);
	if (d->verdict == VERDICT_REQUIRE_APPROVAL)
		add_approval(w, o, d);
	if (d->told.ptr)
		w->add_text(o, "context", d->told);
	record_trace(w, trace, d, false);
	w->add(o, "trace", trace);
	answer->exit = d->verdict == VERDICT_ALLOW ? 0 : 2;
	if (answer->exit != 0)
		answer->err = d->verdict == VERDICT_DENY ? d->refusal : d->reason;
	if (answer->exit != 0 && answer->err.len == 0) /* a front believes no silent refusal */
		answer->err = str_of(verdict_name(d->verdict));
	return dialect_keep(call, w, o, answer, err);
}

extern const struct dialect dialect_pawl;
const struct dialect dialect_pawl = {
	.name = "pawl",
	.can = {.title = "the neutral dialect",
		.version = "ours",
		.timeout_unit = "",
		.on_failure = "as its caller does",
		.result = "no",
		.note = "says every decision in full; the caller carries it out"},
	.decode = decode,
	.encode = encode,
};
