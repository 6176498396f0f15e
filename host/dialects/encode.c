/* encode.c - what the dialects share when they answer. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "json/write.h"

static struct str kept(struct pawl_call *call, const char *text, int n, size_t room)
{
	size_t len = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
	/* not in the middle of a character */
	while (len > 0 && len == room - 1 && ((unsigned char)text[len] & 0xC0) == 0x80)
		len--;
	return json_arena_text(call->arena, (struct str){text, len});
}

/* ---- refusing ------------------------------------------------------------------------- */

int dialect_deny(const struct host *host, struct pawl_call *call, struct decision *decision,
		 const char *why)
{
	char text[REPLY_REASON_MAX + 1];
	int n = snprintf(text, sizeof(text), "%.*s%s%s", STR_FMT(decision->reason),
			 decision->reason.len ? "; " : "", why);
	host_refuse(host, call, decision,
		    decision->plugin.ptr ? REFUSED_PLUGIN : REFUSED_STATIC,
		    kept(call, text, n, sizeof(text)));
	return 0;
}

/* A deny whose reason is the result, marked as one. The decision stays a substitute in the
 * records; only the client's form is a deny. */
static void substitute_as_deny(struct pawl_call *call, const struct form *form,
			       struct decision *decision)
{
	char text[REPLY_REASON_MAX + 1];
	struct str result;
	if (json_string(decision->result, &result) < 0)
		result = json_raw(decision->result);
	int n = snprintf(text, sizeof(text), "%spolicy %.*s gives this result in its place%s: %.*s",
			 call->kind == EVENT_PRE_TOOL ? "the tool did not run; " :
			 form->can & FORM_DEAF	      ? "" :
							"the model's turn was stopped; ",
			 STR_FMT(decision->plugin), decision->result_is_error ? " (an error)" : "",
			 STR_FMT(result));
	decision->refusal = decision->reason = kept(call, text, n, sizeof(text));
}

/* Whose edit stands last. */
static struct str rewriter(const struct decision *decision)
{
	struct str name = {NULL, 0};
	for (size_t i = 0; i < decision->n_steps; i++)
		if (decision->steps[i].edited && !decision->steps[i].shadow)
			name = decision->steps[i].plugin;
	return name;
}

/* The arguments are shown whole or not at all: half of them must not look like advice. */
static void rewrite_as_deny(const struct host *host, struct pawl_call *call,
			    const struct dialect *dialect, struct decision *decision)
{
	char text[REPLY_REASON_MAX + 1];
	struct str args = {NULL, 0}, who = rewriter(decision);
	const char *what = call->kind == EVENT_PRE_TOOL ? "these arguments" : "this text";
	bool shown = dialect_arguments(call, decision, &args, NULL) == 0 && args.len <= 4096;
	int n = snprintf(text, sizeof(text),
			 "policy %.*s changes %s, and %s takes no change here; %s%.*s",
			 STR_FMT(who), what, dialect->can.title,
			 shown ? "try again with exactly: " : "the change is too long to repeat",
			 STR_FMT(shown ? args : STR("")));
	if (!decision->plugin.ptr)
		decision->plugin = who;
	host_refuse(host, call, decision, REFUSED_PLUGIN, kept(call, text, n, sizeof(text)));
}

static void approval_as_deny(const struct host *host, struct pawl_call *call,
			     const struct dialect *dialect, const struct form *form,
			     struct decision *decision)
{
	char text[256];
	if (!(form->can & FORM_ASK))
		snprintf(text, sizeof(text),
			 "a person has to approve it, and %s cannot ask one here: go on without "
			 "it, and say so",
			 dialect->can.title);
	else
		snprintf(text, sizeof(text),
			 "a person has to approve it, and approvals by the client's own prompt "
			 "are off (approval.ask)");
	dialect_deny(host, call, decision, text);
}

/* Turns what the event's row cannot express into a refusal. True: it is one. */
static bool reduce(const struct host *host, struct pawl_call *call, const struct dialect *dialect,
		   const struct form *form, struct decision *decision)
{
	bool asks = decision->verdict == VERDICT_REQUIRE_APPROVAL;
	if (decision->modified &&
	    json_same(decision->args, call->root[PAWL_R_ARGS_GIVEN])) /* set to what it was */
		decision->modified = false;
	if (decision->verdict == VERDICT_SUBSTITUTE && !(form->can & FORM_SUBSTITUTE)) {
		substitute_as_deny(call, form, decision);
		return true;
	}
	if (asks && decision->modified && !(form->can & FORM_REWRITE) &&
	    host->config->approval.ask == ASK_QUEUE) /* not queued, as it could not run */
		rewrite_as_deny(host, call, dialect, decision);
	else if (asks && (!(form->can & FORM_ASK) || host->config->approval.ask != ASK_CLIENT))
		approval_as_deny(host, call, dialect, form, decision);
	else if (decision->modified && !(form->can & FORM_REWRITE))
		rewrite_as_deny(host, call, dialect, decision);
	return decision->verdict == VERDICT_DENY;
}

static bool has_objection_or_more(const struct form *form, const struct decision *decision)
{
	return decision->verdict != VERDICT_ALLOW || decision->modified ||
	       (decision->granted && (form->can & FORM_GRANT)) ||
	       (decision->told.ptr && (form->can & FORM_TELL));
}

/* ---- the two doors -------------------------------------------------------------------- */

/* Cursor's, when it came to Claude Code's dialect. */
static const struct dialect *spoken(const struct dialect *dialect, const struct pawl_call *call)
{
	struct str client = call->text[PAWL_T_CLIENT];
	const struct dialect *own = client.ptr ? dialect_find(client.ptr) : NULL;
	return own ? own : dialect;
}

const struct form *dialect_form(const struct dialect *dialect, const struct pawl_call *call)
{
	return form_find(forms_of(spoken(dialect, call)->name), call->text[PAWL_T_EVENT]);
}

void dialect_mark_unheard(const struct dialect *dialect, struct pawl_call *call,
			  struct decision *decision)
{
	char text[REPLY_REASON_MAX + 128];
	const struct text_hole hole = {"reason", decision->reason};
	if (!(dialect_form(dialect, call)->can & FORM_DEAF))
		return;
	size_t n = text_fill(STR(FORM_DEAF_PATTERN), &hole, 1, text, sizeof(text));
	decision->reason = decision->refusal = kept(call, text, (int)n, sizeof(text));
	if (decision->n_remarks < DECISION_REMARKS_MAX)
		decision->remarks[decision->n_remarks++] = (struct remark){
			.type = "policy.hook_warning",
			.plugin = decision->plugin,
			.error_class = "not-enforced",
			.text = STR("the client goes on whatever is answered here")};
}

int dialect_refuse(const struct dialect *dialect, struct pawl_call *call,
		   const struct decision *decision, struct answer *answer, struct error *err)
{
	static char text[64 * 1024];
	/* some run the tool when the reason is empty, as a template may leave it */
	struct str refusal = decision->refusal.len ? decision->refusal : STR("BLOCKED");
	size_t len = form_refuse(dialect_form(dialect, call), refusal, decision->reason,
				 str_of(refused_by_name(decision->refused_by)), call->call_id_json,
				 text, sizeof(text));
	answer->out = json_arena_text(call->arena, (struct str){text, len});
	answer->err = json_arena_text(call->arena, refusal);
	answer->exit = forms_of(spoken(dialect, call)->name)->refused;
	return answer->out.ptr && answer->err.ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

int dialect_encode(const struct dialect *dialect, const struct host *host, struct pawl_call *call,
		   struct decision *decision, struct answer *answer, struct error *err)
{
	const struct form *form = dialect_form(dialect, call);
	dialect = spoken(dialect, call);
	*answer = (struct answer){.out = str_of(form->pass)};
	if (!event_gates(call->kind))
		return 0;
	bool says_all = (form->can & FORM_ALL) != 0;
	if (!says_all && (decision->verdict == VERDICT_DENY ||
			  reduce(host, call, dialect, form, decision))) {
		dialect_mark_unheard(dialect, call, decision);
		return dialect_refuse(dialect, call, decision, answer, err);
	}
	if (!says_all && !has_objection_or_more(form, decision))
		return 0;
	/* a client that is told nothing lets the tool run: empty-handed is refused below */
	*answer = (struct answer){.exit = 2};
	int r = dialect->encode ? dialect->encode(host, call, decision, answer, err) : 0;
	if (r == 0 && !answer->out.ptr)
		r = dialect_refuse(dialect, call, decision, answer, err);
	return r;
}

/* ---- answers that several clients read ------------------------------------------------ */

int dialect_begin(struct pawl_call *call, const struct decision *decision,
		  const struct json_writer **ret_writer, struct str *ret_args, struct error *err)
{
	*ret_writer = json_writer_get(err);
	*ret_args = (struct str){NULL, 0};
	if (!*ret_writer)
		return -ENOEXEC;
	return decision->modified ? dialect_arguments(call, decision, ret_args, err) : 0;
}

int dialect_keep(struct pawl_call *call, const struct json_writer *w, struct json_object *o,
		 struct answer *answer, struct error *err)
{
	struct str text = w->text(o);
	answer->out = text.ptr ? json_arena_text(call->arena, text) : text;
	w->free(o);
	return answer->out.ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

const char *dialect_permission(const struct decision *decision)
{
	if (decision->verdict == VERDICT_REQUIRE_APPROVAL)
		return "ask";
	return decision->modified || decision->granted ? "allow" : NULL;
}

int dialect_claude_output(struct pawl_call *call, const struct decision *decision,
			  const char *permission, struct answer *answer, struct error *err)
{
	struct str args;
	const struct json_writer *w;
	int r = dialect_begin(call, decision, &w, &args, err);
	if (r < 0)
		return r;
	struct json_object *o = w->object(), *inner = w->object();
	w->add_text(inner, "hookEventName", call->text[PAWL_T_EVENT]);
	if (permission)
		w->add_text(inner, "permissionDecision", str_of(permission));
	if (permission && decision->reason.ptr)
		w->add_text(inner, "permissionDecisionReason", decision->reason);
	if (args.ptr)
		w->add_raw(inner, "updatedInput", args);
	if (decision->told.ptr)
		w->add_text(inner, "additionalContext", decision->told);
	w->add(o, "hookSpecificOutput", inner);
	answer->exit = 0;
	return dialect_keep(call, w, o, answer, err);
}
