/* ask.c - see ask.h. What a plugin can do wrong becomes VERDICT_ERROR here, in one place;
 * what an error then means is the chain's business. */
#include <config.h>

#include "core/ask.h"

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "core/hosttable.h"
#include "core/isolate.h"
#include "core/open.h"
#include "core/turns.h"

#define RELAXED memory_order_relaxed

void ask_begin(struct host *host, const struct slot *slot, enum progress_phase phase)
{
	struct progress *p = host->progress;
	const struct config_entry *entry = slot->entry;
	bool in_chain = host_in_chain(host, slot);
	memcpy(p->plugin, entry->name.ptr,
	       entry->name.len < sizeof(p->plugin) ? entry->name.len + 1 : sizeof(p->plugin));
	atomic_store_explicit(&p->entry, in_chain ? (uint32_t)(slot - host->chain) + 1 : 0, RELAXED);
	atomic_store_explicit(&p->flags,
			      (entry->on_error == ON_ERROR_HALT ? PROGRESS_HALT : 0) |
				      (entry->shadow ? PROGRESS_SHADOW : 0),
			      RELAXED);
	atomic_store_explicit(&p->phase, phase, memory_order_release);
}

void ask_end(struct host *host)
{
	atomic_store_explicit(&host->progress->deadline_ns, 0, RELAXED);
	atomic_store_explicit(&host->progress->phase, PROGRESS_ANSWER, memory_order_release);
	atomic_store_explicit(&host->progress->entry, 0, RELAXED);
}

char *ask_enter(struct host *host, struct plugin *plugin, struct json_arena *arena)
{
	char *error_text = host->turns ? host->error_text : plugin->error_text;
	error_text[0] = '\0';
	host_table_error = host->turns ? error_text : NULL;
	host_table_arena = arena;
	return error_text;
}

static void failed(struct step *step, const char *error_class, const char *text)
{
	step->verdict = VERDICT_ERROR;
	step->error_class = error_class;
	step->error_text = text;
	step->edited = false;
}

/* Everything the number and the reply can say together. */
static void judge_status(const struct pawl_call *call, struct step *step,
			 const struct pawl_reply *reply, int32_t status, const char *error_text)
{
	if (status <= 0 || status > PAWL_SUBSTITUTE)
		failed(step, plugin_error_class(status), error_text);
	else if (reply->fault)
		failed(step, "bad-reply", reply->fault);
	else if (status == PAWL_SUBSTITUTE && !reply->result)
		failed(step, "bad-reply", "it substitutes without a result");
	else if (status == PAWL_REQUIRE_APPROVAL && call->kind != EVENT_PRE_TOOL)
		failed(step, "unsupported", "approval is for tool calls only");
	else
		step->verdict = (enum verdict)status;
}

/* The few that say something for the audit; the reply is the next plugin's. */
static void keep_notes(struct step *step, const struct pawl_reply *reply)
{
	size_t size = reply->n_notes * sizeof(reply->notes[0]);
	struct reply_note *notes = size > 0 ? json_arena_alloc(reply->arena, size) : NULL;
	if (!notes)
		return;
	memcpy(notes, reply->notes, size);
	step->notes = notes;
	step->n_notes = reply->n_notes;
}

static void note_reply(struct step *step, const struct pawl_reply *reply)
{
	step->rule = reply->rule;
	step->reason = reply->reason;
	step->edited = reply->edited && step->verdict != VERDICT_ERROR;
	step->args_after = step->edited ? reply->args : NULL;
	keep_notes(step, reply);
}

static int64_t entry_deadline(const struct host *host, const struct config_entry *entry,
			      int64_t now_ns)
{
	int64_t deadline = host->call_deadline_ns;
	if (entry->deadline_ns > 0 && (deadline == 0 || now_ns + entry->deadline_ns < deadline))
		deadline = now_ns + entry->deadline_ns;
	return deadline;
}

/* Field by field, like reply_init and for its reason. */
static void step_init(struct step *step, const struct config_entry *entry, size_t index, int round)
{
	const struct str absent = {NULL, 0};
	step->entry = index;
	step->plugin = entry->name;
	step->version = absent;
	step->verdict = VERDICT_NONE;
	step->ns = 0;
	step->round = round;
	step->shadow = entry->shadow;
	step->edited = step->conflict = false;
	step->error_class = step->error_text = step->error_shown = NULL;
	step->rule = step->reason = absent;
	step->args_after = NULL;
	step->notes = NULL;
	step->n_notes = 0;
}

/* A hook has answered: what it comes to. */
static void judge_answer(const struct pawl_call *call, struct step *step,
			 const struct pawl_reply *reply, int32_t status, const char *error_text,
			 int64_t deadline_ns, int64_t now_ns)
{
	judge_status(call, step, reply, status, error_text);
	if (deadline_ns > 0 && now_ns > deadline_ns)
		failed(step, "timeout", "its answer came after the deadline");
	note_reply(step, reply);
}

/* The same question to a process of its own. */
static void ask_isolated(struct host *host, struct pawl_call *call, struct slot *slot, int round,
			 int64_t *now_ns, struct step *step, struct pawl_reply *reply)
{
	struct isolate_said said;
	pthread_mutex_t *turn = turn_take(host, slot, now_ns);
	int64_t deadline_ns = entry_deadline(host, slot->entry, *now_ns);
	int64_t start = *now_ns;
	call->number[PAWL_N_ROUND] = round;
	call->number[PAWL_N_DEADLINE_NS] = deadline_ns;
	ask_begin(host, slot, PROGRESS_ASK);
	isolate_ask(host, slot, call, deadline_ns, reply, &said);
	ask_end(host);
	*now_ns = io_monotonic_ns();
	step->ns = *now_ns - (said.asked_ns > 0 ? said.asked_ns : start);
	step->version = turn ? json_arena_text(call->arena, slot->version) : slot->version;
	turn_give(turn);
	if (said.silent)
		return;
	if (said.fault) {
		failed(step, said.fault, said.fault_text);
		step->error_shown = said.shown;
		keep_notes(step, reply);
	} else {
		judge_answer(call, step, reply, said.status, said.error_text, deadline_ns, *now_ns);
	}
}

void ask(struct host *host, struct pawl_call *call, size_t entry, int round, int64_t *now_ns,
	 struct step *step, struct pawl_reply *reply)
{
	struct slot *slot = &host->chain[entry];
	step_init(step, slot->entry, entry, round);
	reply_init(reply, call);
	if (slot->entry->isolated) {
		ask_isolated(host, call, slot, round, now_ns, step, reply);
		return;
	}
	int64_t deadline = entry_deadline(host, slot->entry, *now_ns);
	atomic_store_explicit(&host->progress->deadline_ns, deadline, RELAXED);
	if (!slot->plugin) {
		int r = slot_load(host, slot);
		*now_ns = io_monotonic_ns(); /* the trace tells of hooks, not of loading */
		if (r < 0) {
			failed(step, "load", slot->why);
			return;
		}
	}
	struct plugin *plugin = slot->plugin;
	step->version = slot->version;
	hook_fn hook = hook_for(&plugin->file->desc, call->kind);
	if (!hook)
		return;
	pthread_mutex_t *turn = turn_take(host, slot, now_ns);
	int64_t start = *now_ns;
	if (turn)
		deadline = entry_deadline(host, slot->entry, start);
	call->number[PAWL_N_ROUND] = round;
	call->number[PAWL_N_DEADLINE_NS] = deadline;
	char *error_text = ask_enter(host, plugin, call->arena);
	atomic_store_explicit(&host->progress->deadline_ns, deadline, RELAXED);
	ask_begin(host, slot, PROGRESS_ASK);
	int32_t status = hook(plugin->self, call->frozen, reply);
	turn_give(turn);
	ask_end(host);
	*now_ns = io_monotonic_ns();
	step->ns = *now_ns - start;
	judge_answer(call, step, reply, status, error_text[0] ? error_text : NULL, deadline,
		     *now_ns);
}
