/* approve.h - from "a person has to approve it" to yes, no, or "it waits".
 *
 * Layer: core. Needs host->store; asks no plugin.
 */
#ifndef PAWL_CORE_APPROVE_H
#define PAWL_CORE_APPROVE_H

#include "core/host.h"

/* A decision of require_approval: finds what was decided about this very call, or lets it
 * wait. Leaves an allow (a yes was used, and is used up), a deny that says truly why, or
 * require_approval with decision->approval set: it waits. *ret_fresh: it was not known
 * before. Whatever fails is a deny. */
void approve_ask(struct host *host, struct pawl_call *call, struct decision *decision,
		 bool *ret_fresh);

/* Looks after one that waits until until_ns (CLOCK_MONOTONIC) at most; leaves an allow or a
 * deny. */
void approve_wait(struct host *host, struct pawl_call *call, struct decision *decision,
		  int64_t until_ns);

#endif
