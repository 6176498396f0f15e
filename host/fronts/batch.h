/* batch.h - calls of one turn that a program asks about together, and what a person's
 * decision about one means for the others.
 *
 * Layer: fronts; knows dialects and core.
 */
#ifndef PAWL_FRONTS_BATCH_H
#define PAWL_FRONTS_BATCH_H

#include "dialects/dialect.h"

#define BATCH_CALLS_MAX 256 /* longer ones are judged call by call */

struct batch_member {
	struct pawl_call *call;
	struct decision *decision;
};

/* How many lines of text, which begins with a line, are one batch: events with the same
 * batch_size (over 1), session, run and turn, whose positions follow each other. *ret_end
 * gets where the last ends. 1: none begins here. 0: it goes on behind the text (ended: nothing
 * comes behind it). */
size_t batch_extent(struct json_arena *arena, struct str text, bool ended, size_t *ret_end);

/* All are judged. With approval.ask "queue": puts those that need a person before one, lets
 * the others that may run wait for them, and persists what will be answered. A call that is
 * not of the server's side never waits. Whatever fails is a deny. Needs host->store. */
void batch_hold(struct host *host, const struct dialect *dialect, struct batch_member *members,
		size_t n);

#endif
