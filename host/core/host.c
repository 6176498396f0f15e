/* host.c - a config with its plugins: loading on first need, and refusals the host makes
 * itself. */
#include <config.h>

#include "core/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "core/ask.h"
#include "core/hosttable.h"
#include "core/isolate.h"
#include "core/open.h"
#include "core/turns.h"

#define OPTIONS_ARENA ((size_t)64 << 20)

static struct slot *slots_new(const struct config_entry *entries, size_t n, bool *isolates)
{
	struct slot *slots = calloc(n + 1, sizeof(*slots));
	for (size_t i = 0; slots && i < n; i++) {
		slots[i].entry = &entries[i];
		pthread_mutex_init(&slots[i].turn, NULL);
		*isolates |= entries[i].isolated;
	}
	return slots;
}

static void slots_free(struct slot *slots, size_t n)
{
	for (size_t i = 0; slots && i < n; i++) {
		isolate_free(slots[i].isolate);
		free(slots[i].why);
	}
	free(slots);
}

int host_new(struct config *config, struct json_arena *arena, struct host **ret,
	     struct error *err)
{
	int r = 0;
	struct host *host = calloc(1, sizeof(*host));
	if (!host)
		return error_set(err, ENOMEM, "out of memory");
	host->config = config;
	host->progress = &host->own_progress;
	host->environment_of = getppid(); /* a worker knows better */
	host->chain = slots_new(config->chain, config->n_chain, &host->isolates);
	host->observe = slots_new(config->observe, config->n_observe, &host->isolates);
	host->options_arena = arena;
	host->own_arena = arena == NULL;
	if (host->own_arena)
		r = json_arena_new(OPTIONS_ARENA, &host->options_arena, err);
	if (r == 0 && (!host->chain || !host->observe))
		r = error_set(err, ENOMEM, "out of memory");
	if (r < 0) {
		host_free(host);
		return r;
	}
	*ret = host;
	return 0;
}

/* Plugins stay loaded: their code may still be on some stack, and a one-shot process
 * ends with _exit anyway. */
void host_free(struct host *host)
{
	if (!host)
		return;
	slots_free(host->chain, host->config->n_chain);
	slots_free(host->observe, host->config->n_observe);
	free(host->pins);
	if (host->own_arena)
		json_arena_free(host->options_arena);
	free(host);
}

static int slot_try(struct host *host, struct slot *slot, struct error *err)
{
	const struct opening opening = {
		.entry = slot->entry,
		.in_chain = host_in_chain(host, slot),
		.plugin_dir = host->config->plugin_dir.ptr,
		.libraries = &host->config->libraries,
		.base_dir = host->config->dir.ptr,
		.table = &host_table,
		.arena = host->options_arena,
	};
	struct plugin *plugin = NULL;
	host_table_error = NULL;
	int r = entry_open(&opening, &plugin, err);
	if (r < 0)
		return r;
	slot->version = str_of(plugin->file->note.version);
	slot->plugin = plugin; /* last: another thread takes that as loaded */
	return 0;
}

static int load(struct host *host, struct slot *slot)
{
	struct error err;
	if (slot->plugin)
		return 0;
	if (slot->failed)
		return -ENOEXEC;
	ask_begin(host, slot, PROGRESS_LOAD);
	int r = slot->entry->isolated ? isolate_load(host, slot) : slot_try(host, slot, &err);
	ask_end(host);
	if (slot->entry->isolated)
		return r;
	slot->failed = r < 0;
	if (r < 0)
		slot->why = strdup(err.text);
	return r;
}

int slot_load(struct host *host, struct slot *slot)
{
	if (slot->plugin)
		return 0;
	pthread_mutex_t *turn = turn_take_loading(host);
	int r = load(host, slot);
	turn_give(turn);
	return r;
}

/* Of every entry, not of those loaded so far: a record of a worker that was lost, or of a
 * call that one plugin ended, says the same as the others. */
void host_settle_trust(struct host *host)
{
	const struct config *config = host->config;
	if (host->trust_known)
		return;
	host->trust_known = true;
	host->system = config->system;
	for (size_t i = 0; host->system && i < config->n_chain; i++)
		host->system = plugin_file_is_system(config->plugin_dir.ptr,
						     config->chain[i].plugin.ptr);
	for (size_t i = 0; host->system && i < config->n_observe; i++)
		host->system = plugin_file_is_system(config->plugin_dir.ptr,
						     config->observe[i].plugin.ptr);
}

int host_state_dir(const struct host *host, struct str *ret, struct error *err)
{
	return config_state_dir(host->config, ret, err);
}

struct str host_refusal(const struct host *host, const struct pawl_call *call,
			const struct decision *decision)
{
	const struct text_hole holes[] = {
		{"reason", decision->reason},
		{"tool", call->text[PAWL_T_TOOL]},
		{"rule", decision->rule},
		{"plugin", decision->plugin},
	};
	struct str pattern = host ? host->config->refusal : STR("BLOCKED: {reason}");
	char text[REPLY_REASON_MAX + 1024];
	size_t len = text_fill(pattern, holes, sizeof(holes) / sizeof(holes[0]), text, sizeof(text));
	return json_arena_text(call->arena, (struct str){text, len});
}

void host_refuse(const struct host *host, struct pawl_call *call, struct decision *decision,
		 enum refused_by by, struct str reason)
{
	decision->verdict = VERDICT_DENY;
	decision->refused_by = by;
	decision->reason = reason;
	decision->modified = decision->granted = false;
	decision->result = NULL;
	decision->refusal = host_refusal(host, call, decision);
}
