/* record.c - see record.h. A hook's error is told by plugin and class only: what the
 * plugin said about it may hold what nobody should read in an audit. */
#include <config.h>

#include "core/record.h"

#include <string.h>

static void add_some(const struct json_writer *w, struct json_object *to, const char *key,
		     struct str text)
{
	if (text.ptr && text.len > 0)
		w->add_text(to, key, text);
}

static void add_number(const struct json_writer *w, struct json_object *to, const char *key,
		       int64_t number)
{
	if (number != CALL_ABSENT)
		w->add_integer(to, key, number);
}

static void add_value(const struct json_writer *w, struct json_object *to, const char *key,
		      const struct json_value *value)
{
	if (value)
		w->add_raw(to, key, json_raw(value));
}

struct json_object *record_head(const struct json_writer *w, const struct host *host,
				const struct pawl_call *call, const char *type)
{
	struct json_object *o = w->object();
	w->add_text(o, "type", str_of(type));
	w->add_text(o, "trust", host->system ? STR("system") : STR("user"));
	add_some(w, o, "client", call->text[PAWL_T_CLIENT]);
	add_some(w, o, "agent", call->text[PAWL_T_AGENT]);
	add_some(w, o, "agent_type", call->text[PAWL_T_AGENT_TYPE]);
	add_some(w, o, "cwd", call->text[PAWL_T_CWD]);
	add_some(w, o, "run_id", call->text[PAWL_T_RUN]);
	add_number(w, o, "turn", call->number[PAWL_N_TURN]);
	add_number(w, o, "position", call->number[PAWL_N_POSITION]);
	add_some(w, o, "config", host->config->path);
	if (!call->text[PAWL_T_TOOL].ptr)
		return o;
	struct json_object *tool = w->object();
	w->add_text(tool, "name", call->text[PAWL_T_TOOL]);
	w->add_text(tool, "source", call->text[PAWL_T_SOURCE]);
	add_some(w, tool, "server", call->text[PAWL_T_SERVER]);
	w->add_text(tool, "raw", call->tool_raw);
	w->add_text(tool, "class", call->class);
	w->add(o, "tool", tool);
	return o;
}

static void add_notes(const struct json_writer *w, struct json_object *to, const struct step *step)
{
	if (step->n_notes == 0)
		return;
	struct json_object *notes = w->object();
	for (size_t i = 0; i < step->n_notes; i++)
		w->add_text(notes, step->notes[i].key.ptr, step->notes[i].value);
	w->add(to, "notes", notes);
}

static struct json_object *step_object(const struct json_writer *w, const struct step *step,
				       bool full)
{
	struct json_object *o = w->object();
	w->add_text(o, "plugin", step->plugin);
	if (full)
		add_some(w, o, "version", step->version);
	w->add_text(o, "verdict", str_of(verdict_name(step->verdict)));
	w->add_integer(o, "ns", step->ns);
	if (step->round > 0)
		w->add_integer(o, "round", step->round);
	if (step->shadow)
		w->add_bool(o, "shadow", 1);
	if (step->edited)
		w->add_bool(o, "modified", 1);
	if (step->conflict)
		w->add_bool(o, "conflict", 1);
	if (step->verdict == VERDICT_ERROR)
		w->add_text(o, "error", str_of(step->error_class));
	if (full)
		add_notes(w, o, step);
	return o;
}

void record_trace(const struct json_writer *w, struct json_object *array,
		  const struct decision *decision, bool full)
{
	for (size_t i = 0; i < decision->n_steps; i++)
		if (decision->steps[i].verdict != VERDICT_NONE)
			w->add(array, NULL, step_object(w, &decision->steps[i], full));
}

static const char *decision_type(const struct decision *d)
{
	switch (d->verdict) {
	case VERDICT_ALLOW:
		return "call.allowed";
	case VERDICT_REQUIRE_APPROVAL:
		return d->held	 ? "call.held" :
		       d->joined ? "approval.joined" :
				   "approval.requested";
	case VERDICT_SUBSTITUTE:
		return "policy.substituted";
	default:
		return "policy.denied";
	}
}

struct json_object *record_decision(const struct json_writer *w, const struct host *host,
				    const struct pawl_call *call, const struct decision *d)
{
	struct json_object *o = record_head(w, host, call, decision_type(d));
	add_value(w, o, "tool_input", d->args);
	if (d->modified)
		add_value(w, o, "tool_input_given", call->root[PAWL_R_ARGS_GIVEN]);
	if (d->verdict == VERDICT_SUBSTITUTE) {
		add_value(w, o, "tool_result", d->result);
		w->add_bool(o, "is_error", d->result_is_error);
	}
	w->add_text(o, "decision", str_of(verdict_name(d->verdict)));
	add_some(w, o, "reason", d->reason);
	add_some(w, o, "rule", d->rule);
	add_some(w, o, "plugin", d->plugin);
	if (d->verdict == VERDICT_DENY)
		w->add_text(o, "refused_by", str_of(refused_by_name(d->refused_by)));
	if (d->granted)
		w->add_bool(o, "granted", 1);
	add_some(w, o, "approval", d->approval);
	add_some(w, o, "approved_by", d->approved_by);
	add_some(w, o, "batch", d->batch);
	if (d->verdict == VERDICT_REQUIRE_APPROVAL) {
		add_some(w, o, "instructions", d->instructions);
		w->add_integer(o, "timeout_s", d->timeout_ns / 1000000000);
	}
	struct json_object *trace = w->array();
	record_trace(w, trace, d, true);
	w->add(o, "trace", trace);
	return o;
}

struct json_object *record_remark(const struct json_writer *w, const struct host *host,
				  const struct pawl_call *call, const struct remark *remark)
{
	struct json_object *o = record_head(w, host, call, remark->type);
	add_some(w, o, "plugin", remark->plugin);
	add_some(w, o, "error_class", str_of(remark->error_class));
	add_some(w, o, "reason", remark->text);
	add_some(w, o, "approval", remark->approval);
	return o;
}

struct json_object *record_step(const struct json_writer *w, const struct host *host,
				const struct pawl_call *call, const struct step *step,
				const char *type)
{
	struct json_object *o = record_head(w, host, call, type);
	w->add_text(o, "plugin", step->plugin);
	add_some(w, o, "version", step->version);
	w->add_text(o, "verdict", str_of(verdict_name(step->verdict)));
	w->add_integer(o, "ns", step->ns);
	if (step->verdict == VERDICT_ERROR) {
		w->add_text(o, "error_class", str_of(step->error_class));
	} else {
		add_some(w, o, "rule", step->rule);
		add_some(w, o, "reason", step->reason);
	}
	if (step->edited)
		add_value(w, o, "tool_input", step->args_after);
	add_notes(w, o, step);
	return o;
}
