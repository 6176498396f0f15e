/* observe.c - telling those who only listen. Nothing here can change a decision, but for
 * the one knob that says so: audit.on_error "fail". */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/ask.h"
#include "core/hosttable.h"
#include "core/isolate.h"
#include "core/open.h"
#include "core/record.h"
#include "core/turns.h"

/* One observation, told to everyone who listens for it. */
struct telling {
	struct host *host;
	struct pawl_call *call;
	struct str record;	 /* decided only */
	enum hook hook;
	int32_t (*tell)(const struct telling *telling, const struct plugin *plugin);
	int audit_failed;	 /* an observe entry returned an error or could not be loaded */
};

static int32_t tell_decided(const struct telling *telling, const struct plugin *plugin)
{
	const pawl_plugin *desc = &plugin->file->desc;
	pawl_str record = {telling->record.ptr, telling->record.len};
	return desc->decided ? desc->decided(plugin->self, telling->call->frozen, record) : 0;
}

static int32_t tell_post(const struct telling *telling, const struct plugin *plugin)
{
	const pawl_plugin *desc = &plugin->file->desc;
	return desc->post_tool_use ? desc->post_tool_use(plugin->self, telling->call->frozen) : 0;
}

static int32_t tell_stop(const struct telling *telling, const struct plugin *plugin)
{
	const pawl_plugin *desc = &plugin->file->desc;
	return desc->stop ? desc->stop(plugin->self, telling->call->frozen) : 0;
}

static void tell_slot(struct telling *telling, struct slot *slot, bool is_observer)
{
	struct match_subject subject = call_subject(telling->call);
	pthread_mutex_t *turn;
	int32_t r;
	if (!match_holds(&slot->entry->match, &subject, true))
		return;
	if (slot->entry->isolated) {
		ask_begin(telling->host, slot, PROGRESS_OBSERVE);
		turn = turn_take(telling->host, slot, NULL);
		r = isolate_tell(telling->host, slot, telling->call, telling->hook, telling->record);
		turn_give(turn);
		atomic_store(&telling->host->progress->entry, 0);
		telling->audit_failed |= is_observer && r != 0;
		return;
	}
	if (slot_load(telling->host, slot) < 0) {
		telling->audit_failed |= is_observer;
		return;
	}
	turn = turn_take(telling->host, slot, NULL);
	ask_enter(telling->host, slot->plugin, telling->call->arena);
	ask_begin(telling->host, slot, PROGRESS_OBSERVE);
	r = telling->tell(telling, slot->plugin);
	turn_give(turn);
	atomic_store(&telling->host->progress->entry, 0);
	telling->audit_failed |= is_observer && r != 0;
}

static bool speaks(const struct config_entry *entry, const void *subject)
{
	return match_holds(&entry->match, subject, true);
}

/* Processes that are not there yet start side by side. */
static void start_isolated(struct telling *telling, struct slot *slots, size_t n)
{
	struct match_subject subject = call_subject(telling->call);
	isolate_start(telling->host, slots, n, speaks, &subject);
}

/* Whether its process is there and has one of the hooks. */
static bool hears(struct host *host, struct slot *slot, unsigned hooks)
{
	if (!slot->entry->isolated)
		return false;
	pthread_mutex_t *turn = turn_take(host, slot, NULL);
	bool yes = isolate_has(slot->isolate, hooks);
	turn_give(turn);
	return yes;
}

/* The observers, then the chain's plugins that also listen. */
static void tell_all(struct telling *telling)
{
	struct host *host = telling->host;
	if (host->isolates)
		start_isolated(telling, host->observe, host->config->n_observe);
	if (host->isolates && telling->hook != HOOK_DECIDED)
		start_isolated(telling, host->chain, host->config->n_chain);
	for (size_t i = 0; i < host->config->n_observe; i++)
		tell_slot(telling, &host->observe[i], true);
	for (size_t i = 0; i < host->config->n_chain; i++)
		if (telling->hook != HOOK_DECIDED || host->chain[i].plugin ||
		    hears(host, &host->chain[i], HOOK_DECIDED))
			tell_slot(telling, &host->chain[i], false);
}

static void tell_record(struct telling *telling, const struct json_writer *w,
			struct json_object *record)
{
	telling->record = w->text(record);
	telling->tell = tell_decided;
	telling->hook = HOOK_DECIDED;
	tell_all(telling);
	w->free(record);
}

static void tell_step(struct telling *telling, const struct json_writer *w, const struct step *step)
{
	const char *type = step->shadow			   ? "policy.shadow" :
			   step->verdict == VERDICT_ERROR ? "policy.hook_error" :
			   step->edited			   ? "policy.modified" :
							     NULL;
	if (type)
		tell_record(telling, w,
			    record_step(w, telling->host, telling->call, step, type));
}

/* The result of a substituted call is told like any other, marked. */
static void tell_substituted(struct telling *telling, const struct decision *d)
{
	struct pawl_call *call = telling->call;
	call->root[PAWL_R_RESULT] = d->result;
	call->number[PAWL_N_SUBSTITUTED] = 1;
	call->number[PAWL_N_IS_ERROR] = d->result_is_error;
	telling->tell = tell_post;
	telling->hook = HOOK_POST_TOOL_USE;
	tell_all(telling);
}

static int tell_decision(struct telling *telling, const struct decision *d, struct error *err)
{
	const struct json_writer *w = json_writer_get(err);
	if (!w)
		return -ENOEXEC;
	for (size_t i = 0; i < d->n_steps; i++)
		tell_step(telling, w, &d->steps[i]);
	for (size_t i = 0; i < d->n_remarks; i++)
		tell_record(telling, w,
			    record_remark(w, telling->host, telling->call, &d->remarks[i]));
	tell_record(telling, w, record_decision(w, telling->host, telling->call, d));
	if (d->verdict == VERDICT_SUBSTITUTE && telling->call->kind == EVENT_PRE_TOOL)
		tell_substituted(telling, d);
	return 0;
}

/* Records are built only for somebody: an observer, or a loaded plugin of the chain that
 * has the hook. */
bool host_listens(struct host *host, const struct pawl_call *call)
{
	if (host->config->n_observe > 0)
		return true;
	if (!event_gates(call->kind) && call->kind != EVENT_START)
		return host->config->n_chain > 0;
	for (size_t i = 0; i < host->config->n_chain; i++) {
		const struct plugin *plugin = host->chain[i].plugin;
		if (hears(host, &host->chain[i], HOOK_DECIDED | HOOK_POST_TOOL_USE))
			return true;
		if (plugin && (plugin->file->desc.decided || plugin->file->desc.post_tool_use))
			return true;
	}
	return false;
}

int host_observe(struct host *host, struct pawl_call *call, const struct decision *decision,
		 struct error *err)
{
	struct telling telling = {.host = host, .call = call};
	int r = 0;
	if (!host_listens(host, call))
		return 0;
	host_settle_trust(host);
	umask(077); /* a policy may have changed it; what is recorded is nobody else's */
	if (event_gates(call->kind)) {
		r = tell_decision(&telling, decision, err);
	} else if (call->kind == EVENT_POST_TOOL || call->kind == EVENT_STOP) {
		telling.tell = call->kind == EVENT_STOP ? tell_stop : tell_post;
		telling.hook = call->kind == EVENT_STOP ? HOOK_STOP : HOOK_POST_TOOL_USE;
		tell_all(&telling);
	} else if (call->kind == EVENT_START) {
		const struct json_writer *w = json_writer_get(err);
		if (!w)
			return -ENOEXEC;
		tell_record(&telling, w, record_head(w, host, call, "session.start"));
	}
	if (r == 0 && telling.audit_failed)
		r = error_set(err, EIO, "the audit could not record this call");
	return r;
}

int host_observe_held(struct host *host, struct pawl_call *call, const struct decision *decision,
		      struct error *err)
{
	struct telling telling = {.host = host, .call = call};
	if (!host_listens(host, call))
		return 0;
	const struct json_writer *w = json_writer_get(err);
	if (!w)
		return -ENOEXEC;
	umask(077);
	tell_record(&telling, w, record_decision(w, host, call, decision));
	return telling.audit_failed ? error_set(err, EIO, "the audit could not record this call") :
				      0;
}

void host_observe_shadow(struct host *host, struct pawl_call *call, const struct decision *decision,
			 size_t first_step)
{
	struct telling telling = {.host = host, .call = call};
	const struct json_writer *w = json_writer_get(NULL);
	host_settle_trust(host);
	for (size_t i = first_step; w && i < decision->n_steps; i++)
		tell_step(&telling, w, &decision->steps[i]);
}
