/* outbox.h - who is still to be told that a call waits.
 *
 * Layer: approvals; knows queue and row.
 *
 * A notice is written in the same step as the call it is about, and taken off only once it was
 * delivered: at least once, under one delivery id. A notice that fails changes no decision.
 */
#ifndef PAWL_APPROVALS_OUTBOX_H
#define PAWL_APPROVALS_OUTBOX_H

#include "row.h"

#define OUTBOX_TARGETS_MAX 8 /* that one call is told to */

/* A notice for each target (an array of {"url": ...} and {"exec": [...]}, or NULL). [in a
 * writing step] */
int outbox_add(struct approvals *queue, const struct row *row, const struct json_value *targets,
	       struct error *err);

/* One that is due. */
struct notice {
	char id[64];
	char target[4096], body[65536]; /* JSON */
	int64_t attempts;		/* this one counted */
};

/* Takes the next that is due, and puts it off in the same step, so that nobody else tries it at
 * the same time: 1, or 0 with *ret_wait_ms until the next (-1: none waits). */
int outbox_take(struct approvals *queue, struct notice *ret, int64_t *ret_wait_ms,
		struct error *err);
/* What came of it: delivered, or why not. After OUTBOX_ATTEMPTS it has failed for good. */
#define OUTBOX_ATTEMPTS 8 /* over about two minutes */
int outbox_done(struct approvals *queue, const struct notice *notice, const char *why,
		struct error *err);

#endif
