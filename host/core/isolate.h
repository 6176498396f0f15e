/* isolate.h - an entry whose plugin runs in a process of its own: the side that asks.
 *
 * Layer: core, between ask.c, observe.c, host.c and cell.h. The other side is isolated.h.
 *
 * A slot whose entry says "isolation": "process" has no plugin but a struct isolate. Its
 * process is started when a call comes that the entry speaks about (all of a chain's before
 * the first is asked, of which one is executed and forks the others), stays for the next one, and is ended by whatever it does wrong: that
 * costs the entry's own verdict and nothing else. It is started anew at its next question.
 */
#ifndef PAWL_CORE_ISOLATE_H
#define PAWL_CORE_ISOLATE_H

#include "core/ask.h"
#include "core/frame.h"
#include "core/open.h"

struct isolate;
void isolate_free(struct isolate *isolate); /* takes NULL; ends the process */

/* Starts the processes of those slots that are wanted, where none runs, and has them load
 * their plugins meanwhile. What goes wrong is told when they are asked. */
typedef bool (*isolate_wanted_fn)(const struct config_entry *entry, const void *data);
void isolate_start(struct host *host, struct slot *slots, size_t n, isolate_wanted_fn wanted,
		   const void *data);

/* Waits until the plugin is open (starting it first, if need be); 0, or -errno with
 * slot->why. */
int isolate_load(struct host *host, struct slot *slot);

/* What came of a question, beside the reply. */
struct isolate_said {
	bool silent;		/* it has no hook for this */
	int64_t asked_ns;	/* CLOCK_MONOTONIC: when it was open and was asked; 0 never */
	int32_t status;		/* what the hook returned */
	const char *error_text; /* what the plugin said of it, NULL nothing */
	const char *fault;	/* there is no status: the error class */
	const char *fault_text; /* for people */
	const char *shown;	/* for the model: the host's own words */
};

/* Asks about the call as it is; reply is fresh. deadline_ns: of the entry, 0 none. Texts
 * lie in the call's arena. */
void isolate_ask(struct host *host, struct slot *slot, const struct pawl_call *call,
		 int64_t deadline_ns, struct pawl_reply *reply, struct isolate_said *ret);

/* Tells it, if it listens: hook is one of those that observe, record for decided. 0, what the
 * hook returned, or PAWL_E_FAIL. */
int32_t isolate_tell(struct host *host, struct slot *slot, const struct pawl_call *call,
		     enum hook hook, struct str record);

/* What the entry's plugin is, from a process that has loaded and not opened it, until time_ns
 * from now; texts in the arena. -errno with err, for people. */
int isolate_describe(struct host *host, struct slot *slot, int64_t time_ns,
		     struct json_arena *arena, struct frame_description *ret, struct error *err);

/* Whether it is open and has one of the hooks (bits). */
bool isolate_has(const struct isolate *isolate, unsigned hooks);

#endif
