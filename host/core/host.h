/* host.h - the core as fronts see it: a config, its plugins, and the question.
 *
 * Layer: core's one door. Runs plugin code: only in a worker.
 *
 *	host_new(config, &host, err);
 *	call = call_new(arena, config->limits) ... a dialect fills it in
 *	host_judge(host, call, &decision);	the chain
 *	... answer ...
 *	host_observe(host, call, &decision);	the observers
 */
#ifndef PAWL_CORE_HOST_H
#define PAWL_CORE_HOST_H

#include <pthread.h>
#include <stdbool.h>

#include "core/call.h"
#include "core/config.h"
#include "core/decision.h"
#include "core/plugin.h"
#include "core/progress.h"

enum shadow_mode { SHADOW_IN_PLACE, SHADOW_AFTER, SHADOW_SKIP };

/* One entry of the config with what was loaded for it. */
struct slot {
	const struct config_entry *entry;
	struct plugin *_Atomic plugin; /* NULL until loaded, and for one that is isolated */
	struct isolate *isolate; /* the process of one that is; NULL until started */
	pthread_mutex_t turn;	 /* at that process; see turns.h */
	struct str version;    /* of the plugin */
	bool failed;	       /* loading was tried and refused: the slot refuses */
	char *why;	       /* failed: what was wrong, for check and explain */
};

struct host {
	struct config *config;
	struct slot *chain, *observe;
	bool isolates; /* some entry's plugin runs in a process of its own */
	struct progress *progress; /* never NULL */
	struct progress own_progress;
	enum shadow_mode shadow;
	int64_t call_deadline_ns; /* CLOCK_MONOTONIC; 0 none */
	pid_t environment_of; /* whose environment {"env": NAME} means: the front */
	/* the last answer to "is this session halted?"; see halted() in chain.c */
	struct {
		int64_t until_ns;
		uint64_t halts; /* when it was asked */
		size_t len;
		char session[256];
	} not_halted;
	/* what records call trust: config, folders and every plugin's file are root's */
	bool trust_known, system;
	struct json_arena *options_arena;
	bool own_arena;
	/* the facts, read once a process; see context.h */
	bool context_read;
	struct error context_why; /* text "" = fine */
	const struct json_value *context;
	struct fact_pin *pins;
	size_t n_pins;
	/* where calls wait for a person; NULL until whoever starts us hands it over */
	const struct approval_store *store;
	struct approvals *queue;
	/* other hosts judge with the same plugins: see host_share; else NULL */
	struct turns *turns;
	char error_text[PLUGIN_ERROR_MAX]; /* what set_error said here, then */
};

/* *ret is the caller's and borrows config. Loads nothing. arena is where options and facts
 * go, borrowed: one that is not rewound below them (a one-shot process has a single one);
 * NULL: an own one. */
int host_new(struct config *config, struct json_arena *arena, struct host **ret,
	     struct error *err);
void host_free(struct host *host);

/* Another one for another thread, with the config and the plugins of the first: from now on
 * both take turns at them as each plugin's threads says. *ret lives to the end of the process,
 * and so does what it shares. progress is where the thread's own is told. */
int host_share(struct host *host, struct progress *progress, struct host **ret, struct error *err);

static inline bool host_in_chain(const struct host *host, const struct slot *slot)
{
	return slot >= host->chain && slot < host->chain + host->config->n_chain;
}

/* Loads the slot if it was not yet; 0 or -errno with slot->why set. */
int slot_load(struct host *host, struct slot *slot);

/* Settles host->system, once; before that it is false. */
void host_settle_trust(struct host *host);

/* Runs the call through static lists and chain. Always leaves a decision. */
void host_judge(struct host *host, struct pawl_call *call, struct decision *decision);

/* Asks the shadow entries that were put off (SHADOW_AFTER); appends their steps. */
void host_judge_shadow(struct host *host, struct pawl_call *call, struct decision *decision);

/* A decision the host makes itself: config broken, event unreadable, worker lost. by and
 * class tell why; plugin may be absent. */
void host_refuse(const struct host *host, struct pawl_call *call, struct decision *decision,
		 enum refused_by by, struct str reason);

/* Whether host_observe would tell anybody about this call. */
bool host_listens(struct host *host, const struct pawl_call *call);

/* Tells the observers: decided for gating events (each remark, then the decision), post_tool_use,
 * stop. Errors are counted, never returned, but for the audit's when the config says
 * audit.on_error is fail: then -EIO. */
int host_observe(struct host *host, struct pawl_call *call, const struct decision *decision,
		 struct error *err);
/* The record of a call that waits, before anybody knows how that ends. Its error counts. */
int host_observe_held(struct host *host, struct pawl_call *call, const struct decision *decision,
		      struct error *err);
/* The same for shadow steps appended after. */
void host_observe_shadow(struct host *host, struct pawl_call *call, const struct decision *decision,
			 size_t first_step);

/* Where latches lie; -errno with err when nobody can say. */
int host_state_dir(const struct host *host, struct str *ret, struct error *err);

/* Reads the config's facts, if that was not done yet; pins nothing. */
int host_read_context(struct host *host, struct error *err);

/* Puts the trusted facts on the call: config's context, and given (may be NULL) over it. */
int host_set_context(struct host *host, struct pawl_call *call, const struct json_value *given,
		     struct error *err);

#endif
