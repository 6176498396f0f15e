/* ask.h - one plugin, one question: progress before, verdict after.
 *
 * Layer: core; between chain.c and the plugins.
 */
#ifndef PAWL_CORE_ASK_H
#define PAWL_CORE_ASK_H

#include "core/host.h"

/* Writes down what runs now and until when, for whoever finds us dead. */
void ask_begin(struct host *host, const struct slot *slot, enum progress_phase phase);
void ask_end(struct host *host);

/* What the host table needs to know of the callback that comes now; where set_error's text
 * will be, empty for now. */
char *ask_enter(struct host *host, struct plugin *plugin, struct json_arena *arena);

/* Asks the slot's plugin (loaded first) about the call as it is; fills step and reply.
 * now_ns is the clock at the start, and gets the one at the end: one reading a plugin.
 * step->verdict is always set; VERDICT_NONE when its plugin has no hook for this kind of
 * call, or its match does not speak about it. */
void ask(struct host *host, struct pawl_call *call, size_t entry, int round, int64_t *now_ns,
	 struct step *step, struct pawl_reply *reply);

/* The reason inside the config's refusal template. */
struct str host_refusal(const struct host *host, const struct pawl_call *call,
			const struct decision *decision);

#endif
