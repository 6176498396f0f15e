/* chain.c - the policy of asking: order, first verdict other than allow, rewrites that
 * compose, the second vote, static lists, approval gates.
 *
 * A run starts refused; allow is what is left when every question is answered. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "core/ask.h"
#include "core/isolate.h"
#include "core/state.h"
#include "core/turns.h"

/* One judging, while it goes on. */
struct run {
	struct host *host;
	struct pawl_call *call;
	struct decision *decision;
	struct match_subject subject;
	const struct json_value *given; /* the arguments before any edit */
	const struct str *gate;	 /* the require_approval pattern that speaks, or NULL */
	enum verdict verdict;	 /* what stands so far */
	size_t decider;		 /* entry behind verdict */
	size_t last_rewrite;	 /* 1 + entry of the last edit, 0 none */
	bool *voted;		 /* per entry: said allow (or more) in round 0 */
	bool granted;
	int64_t now_ns;
};

static struct str say(struct pawl_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct str say(struct pawl_call *call, const char *format, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	return json_arena_text(call->arena, (struct str){text, len});
}

static void remark(struct decision *d, const char *type, struct str plugin, const char *class,
		   struct str text)
{
	if (d->n_remarks < DECISION_REMARKS_MAX)
		d->remarks[d->n_remarks++] = (struct remark){.type = type, .plugin = plugin,
							 .error_class = class, .text = text};
}

static struct step *step_add(struct decision *d)
{
	return d->n_steps < d->max_steps ? &d->steps[d->n_steps++] : NULL;
}

/* ---- endings ---------------------------------------------------------------- */

static void end_deny(struct run *run, enum refused_by by, struct str plugin, struct str rule,
		     struct str reason)
{
	struct decision *d = run->decision;
	run->verdict = VERDICT_DENY;
	d->plugin = plugin;
	d->rule = rule;
	host_refuse(run->host, run->call, d, by, reason);
}

/* What the model hears of a broken plugin: whose fault, of which kind, never its words. */
static void end_error(struct run *run, const struct step *step)
{
	const struct config_entry *entry = run->host->chain[step->entry].entry;
	const char *what = "failed";
	enum refused_by by = REFUSED_ERROR;
	if (strcmp(step->error_class, "load") == 0) {
		what = "cannot be loaded, `pawl check` says why";
	} else if (strcmp(step->error_class, "timeout") == 0) {
		what = NULL;
		by = REFUSED_TIMEOUT;
	}
	struct str reason =
		step->error_shown ? say(run->call, "policy error (%s): %s", entry->name.ptr,
					step->error_shown) :
		what ? say(run->call, "policy error (%s): the plugin %s", entry->name.ptr, what) :
		       say(run->call, "policy error (%s): deadline exceeded in plugin %s",
			   entry->name.ptr, entry->name.ptr);
	end_deny(run, by, entry->name, (struct str){NULL, 0}, reason);
	if (entry->on_error != ON_ERROR_HALT)
		return;
	run->host->not_halted.until_ns = 0;
	struct error err = {""};
	struct str dir, session = run->call->text[PAWL_T_SESSION];
	if (host_state_dir(run->host, &dir, &err) < 0 ||
	    state_halt(dir, session, entry->name, &err) < 0)
		remark(run->decision, "policy.hook_warning", entry->name, "halt",
		       say(run->call, "the session could not be halted: %s", err.text));
	if (run->host->turns)
		atomic_fetch_add(&run->host->turns->halts, 1);
}

static void end_verdict(struct run *run, const struct step *step, const struct pawl_reply *reply)
{
	struct decision *d = run->decision;
	struct str name = step->plugin;
	run->verdict = step->verdict;
	run->decider = step->entry;
	switch (step->verdict) {
	case VERDICT_DENY:
		end_deny(run, REFUSED_PLUGIN, name, step->rule,
			 step->reason.ptr ? step->reason :
					    say(run->call, "refused by %s, which gave no reason",
						name.ptr));
		return;
	case VERDICT_REQUIRE_APPROVAL:
		d->reason = step->reason.ptr ? step->reason :
					       say(run->call, "%s wants a person's approval", name.ptr);
		d->instructions = reply->instructions;
		d->timeout_ns = reply->timeout_ns;
		break;
	case VERDICT_SUBSTITUTE:
		d->reason = step->reason;
		d->result = reply->result;
		d->result_is_error = reply->result_is_error;
		break;
	default:
		end_error(run, step);
		return;
	}
	d->plugin = name;
	d->rule = step->rule;
}

/* ---- one round ---------------------------------------------------------------- */

static void take_edits(struct run *run, const struct step *step, const struct pawl_reply *reply)
{
	if (!step->edited)
		return;
	run->call->root[call_args_root(run->call)] = reply->args;
	run->last_rewrite = step->entry + 1;
	run->granted = false;
}

/* Allow, and what goes with it. */
static void take_allow(struct run *run, const struct step *step, const struct pawl_reply *reply)
{
	const struct config_entry *entry = run->host->chain[step->entry].entry;
	if (reply->grant && !entry->may_grant)
		remark(run->decision, "policy.hook_warning", entry->name, "grant",
		       STR("it granted, but its entry has no \"may\": [\"grant\"]"));
	else if (reply->grant)
		run->granted = true;
	if (reply->told.ptr)
		run->decision->told = reply->told;
}

/* Substitute does not stop the chain on a gated tool, or a later deny would be hidden. */
static bool goes_on(const struct run *run, const struct step *step)
{
	return step->verdict == VERDICT_ALLOW || step->verdict == VERDICT_NONE ||
	       (step->verdict == VERDICT_SUBSTITUTE && run->gate != NULL);
}

static void first_round_step(struct run *run, const struct step *step,
			     const struct pawl_reply *reply)
{
	bool open = run->verdict == VERDICT_ALLOW;
	run->voted[step->entry] = step->verdict != VERDICT_NONE;
	if (step->verdict == VERDICT_NONE)
		return;
	if (!open) { /* strictest: only a deny or an error still counts */
		if (step->verdict == VERDICT_DENY || step->verdict == VERDICT_ERROR)
			end_verdict(run, step, reply);
		return;
	}
	if (step->verdict == VERDICT_ALLOW || step->verdict == VERDICT_REQUIRE_APPROVAL) {
		take_edits(run, step, reply);
		take_allow(run, step, reply);
	}
	if (step->verdict == VERDICT_SUBSTITUTE && run->gate)
		remark(run->decision, "policy.hook_warning", step->plugin, "gated",
		       STR("it substituted a tool on the approval list, which a substitute does "
			   "not lift"));
	if (!goes_on(run, step))
		end_verdict(run, step, reply);
}

static bool is_over(const struct run *run)
{
	if (run->verdict == VERDICT_ALLOW)
		return false;
	return run->verdict == VERDICT_DENY || run->host->config->resolve == RESOLVE_FIRST;
}

static bool speaks(const struct run *run, const struct config_entry *entry)
{
	return match_holds(&entry->match, &run->subject, true);
}

/* A shadow entry is asked where it stands and changes nothing: the time that a process of its
 * own took is not the others'. (One in our process that takes too long takes us along.) */
static void ask_shadow(struct run *run, size_t entry)
{
	struct host *host = run->host;
	struct pawl_reply reply;
	struct step *step = step_add(run->decision);
	int64_t start = run->now_ns;
	if (!step)
		return;
	ask(host, run->call, entry, 0, &run->now_ns, step, &reply);
	if (host->chain[entry].entry->isolated && host->call_deadline_ns > 0)
		host->call_deadline_ns += run->now_ns - start;
}

static bool asked_now(const struct config_entry *entry, const void *data)
{
	const struct run *run = data;
	return (!entry->shadow || run->host->shadow == SHADOW_IN_PLACE) && speaks(run, entry);
}

/* The answer has left, it is shadow's turn. */
static bool asked_after(const struct config_entry *entry, const void *data)
{
	return entry->shadow && speaks(data, entry);
}

/* Processes of their own take a moment to start: all that will be asked, side by side. */
static void start_isolated(struct run *run, bool after)
{
	struct host *host = run->host;
	isolate_start(host, host->chain, host->config->n_chain, after ? asked_after : asked_now,
		      run);
}

static void first_round(struct run *run)
{
	const struct config *config = run->host->config;
	struct pawl_reply reply;
	for (size_t i = 0; i < config->n_chain && !is_over(run); i++) {
		const struct config_entry *entry = &config->chain[i];
		if (!speaks(run, entry))
			continue;
		if (entry->shadow) {
			if (run->host->shadow == SHADOW_IN_PLACE)
				ask_shadow(run, i);
			else if (run->host->shadow == SHADOW_AFTER)
				run->decision->n_asked_after++;
			continue;
		}
		struct step *step = step_add(run->decision);
		if (!step) {
			end_deny(run, REFUSED_HOST, (struct str){NULL, 0}, (struct str){NULL, 0},
				 STR("the chain is longer than can be recorded"));
			return;
		}
		ask(run->host, run->call, i, 0, &run->now_ns, step, &reply);
		first_round_step(run, step, &reply);
	}
}

/* Everyone who spoke before the last rewrite is asked about what would really run. */
static void second_round(struct run *run)
{
	struct pawl_reply reply;
	for (size_t i = 0; i + 1 < run->last_rewrite; i++) {
		if (!run->voted[i])
			continue;
		struct step *step = step_add(run->decision);
		if (!step)
			continue; /* max_steps holds both rounds */
		ask(run->host, run->call, i, 1, &run->now_ns, step, &reply);
		if (step->edited) {
			step->conflict = true;
			step->edited = false;
			remark(run->decision, "policy.rewrite_conflict", step->plugin, NULL,
			       STR("its edit in the second round was not applied"));
		}
		if (step->verdict == VERDICT_ALLOW) {
			take_allow(run, step, &reply);
			continue;
		}
		if (run->verdict == VERDICT_ALLOW || step->verdict == VERDICT_DENY ||
		    step->verdict == VERDICT_ERROR) {
			if (step->verdict == VERDICT_SUBSTITUTE && run->gate)
				continue;
			end_verdict(run, step, &reply);
		}
		if (run->verdict == VERDICT_DENY)
			return;
	}
}

/* ---- the whole ---------------------------------------------------------------- */

static bool static_deny(struct run *run)
{
	const struct str *pattern =
		patterns_find_tool(&run->host->config->deny, &run->call->tool);
	if (!pattern)
		return false;
	struct str shown = call_tool_shown(run->call);
	end_deny(run, REFUSED_STATIC, (struct str){NULL, 0}, *pattern,
		 str_equal(shown, *pattern) ?
			 say(run->call, "the tool %s is on the deny list", shown.ptr) :
			 say(run->call, "the tool %s is on the deny list (as %s)", shown.ptr,
			     pattern->ptr));
	return true;
}

/* A resident host asks the file system only so often: a halt set by another process is seen
 * within this time, one of our own at once. */
#define HALT_KNOWN_NS INT64_C(20000000)

/* How often we have halted a session, in whichever thread. */
static uint64_t halts(const struct host *host)
{
	return host->turns ? atomic_load(&host->turns->halts) : 0;
}

static bool known_not_halted(const struct run *run, struct str session)
{
	const struct host *host = run->host;
	return run->now_ns < host->not_halted.until_ns && halts(host) == host->not_halted.halts &&
	       str_equal(session, (struct str){host->not_halted.session, host->not_halted.len});
}

static void remember_not_halted(struct run *run, struct str session, uint64_t before)
{
	struct host *host = run->host;
	if (session.len > sizeof(host->not_halted.session))
		return;
	host->not_halted.until_ns = run->now_ns + HALT_KNOWN_NS;
	host->not_halted.halts = before;
	host->not_halted.len = session.len;
	if (session.len > 0)
		memcpy(host->not_halted.session, session.ptr, session.len);
}

static bool halted(struct run *run)
{
	char who[256];
	struct str dir, session = run->call->text[PAWL_T_SESSION], none = {NULL, 0};
	struct error err;
	if (known_not_halted(run, session))
		return false;
	uint64_t before = halts(run->host);
	if (host_state_dir(run->host, &dir, &err) < 0) {
		end_deny(run, REFUSED_HOST, none, none,
			 say(run->call, "whether the session is halted cannot be known: %s",
			     err.text));
		return true;
	}
	if (!state_halted(dir, session, who)) {
		remember_not_halted(run, session, before);
		return false;
	}
	end_deny(run, REFUSED_ERROR, say(run->call, "%s", who), none,
		 say(run->call,
		     "this session was halted after an error of plugin %s; `pawl reset %.*s` lifts it",
		     who, STR_FMT(session)));
	return true;
}

static void apply_gate(struct run *run)
{
	struct decision *d = run->decision;
	bool client = str_is(run->call->text[PAWL_T_TARGET], "client");
	if (run->gate && run->verdict == VERDICT_ALLOW) {
		run->verdict = VERDICT_REQUIRE_APPROVAL;
		d->rule = *run->gate;
		d->timeout_ns = -1;
		d->reason = say(run->call, "the tool %s is on the approval list",
				call_tool_shown(run->call).ptr);
	}
	if (run->verdict != VERDICT_REQUIRE_APPROVAL)
		return;
	if (client) {
		struct str plugin = d->plugin;
		remark(d, "policy.hook_warning", plugin, "client-target",
		       STR("approval is not supported for client tools"));
		end_deny(run, plugin.ptr ? REFUSED_PLUGIN : REFUSED_STATIC, plugin, d->rule,
			 STR("approval is not supported for client tools"));
		return;
	}
	if (d->timeout_ns < 0)
		d->timeout_ns = run->host->config->approval.timeout_ns;
}

static void conclude(struct run *run)
{
	struct decision *d = run->decision;
	int root = call_args_root(run->call);
	d->verdict = run->verdict;
	if (run->verdict == VERDICT_ALLOW || run->verdict == VERDICT_REQUIRE_APPROVAL) {
		d->modified = run->last_rewrite > 0;
		d->granted = run->granted && run->verdict == VERDICT_ALLOW;
	} else {
		run->call->root[root] = run->given;
	}
	d->args = run->call->root[root];
	run->call->number[PAWL_N_ROUND] = 0;
}

static bool steps_new(struct run *run)
{
	size_t n = run->host->config->n_chain;
	struct decision *d = run->decision;
	d->max_steps = 2 * n;
	d->steps = json_arena_alloc(run->call->arena, (d->max_steps + 1) * sizeof(struct step));
	run->voted = json_arena_alloc(run->call->arena, n + 1);
	if (!d->steps || !run->voted)
		return false;
	memset(run->voted, 0, n + 1);
	return true;
}

/* The remarks are left as they are: n_remarks says how many there are. */
static void decision_init(struct decision *d)
{
	memset(d, 0, offsetof(struct decision, remarks));
	d->n_remarks = d->n_asked_after = 0;
}

void host_judge(struct host *host, struct pawl_call *call, struct decision *decision)
{
	struct run run = {.host = host,
			  .call = call,
			  .decision = decision,
			  .subject = call_subject(call)};
	decision_init(decision);
	run.given = decision->args = call->root[call_args_root(call)];
	decision->verdict = VERDICT_DENY;
	decision->refused_by = REFUSED_HOST;
	if (!steps_new(&run)) {
		host_refuse(host, call, decision, REFUSED_HOST, STR("out of memory"));
		return;
	}
	run.now_ns = io_monotonic_ns();
	if (halted(&run) || (call->kind == EVENT_PRE_TOOL && static_deny(&run)))
		return;
	if (call->kind == EVENT_PRE_TOOL)
		run.gate = patterns_find_tool(&host->config->require_approval, &call->tool);
	if (host->isolates)
		start_isolated(&run, false);
	run.verdict = VERDICT_ALLOW;
	first_round(&run);
	if (run.verdict == VERDICT_ALLOW || run.verdict == VERDICT_REQUIRE_APPROVAL)
		second_round(&run);
	apply_gate(&run);
	conclude(&run);
}

/* The arguments as they were when the chain came to entry. */
static const struct json_value *args_before(const struct decision *d, size_t entry,
					    const struct json_value *given)
{
	for (size_t i = 0; i < d->n_steps && d->steps[i].entry < entry; i++)
		if (d->steps[i].edited && !d->steps[i].shadow && d->steps[i].round == 0)
			given = d->steps[i].args_after;
	return given;
}

void host_judge_shadow(struct host *host, struct pawl_call *call, struct decision *decision)
{
	struct run run = {.host = host,
			  .call = call,
			  .decision = decision,
			  .subject = call_subject(call)};
	const struct config *config = host->config;
	const struct json_value *args = call->root[PAWL_R_ARGS];
	run.now_ns = io_monotonic_ns();
	host->call_deadline_ns = run.now_ns + config->deadline_ns;
	if (host->isolates)
		start_isolated(&run, true);
	for (size_t i = 0; i < config->n_chain && decision->n_asked_after > 0; i++) {
		if (!config->chain[i].shadow || !speaks(&run, &config->chain[i]))
			continue;
		decision->n_asked_after--;
		call->root[PAWL_R_ARGS] = args_before(decision, i, call->root[PAWL_R_ARGS_GIVEN]);
		ask_shadow(&run, i);
	}
	call->root[PAWL_R_ARGS] = args;
}
