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

/* A notice for each target (an array of {"url": ...} and {"exec": [...]}, or NULL). *ret_any:
 * whether there is one. [in a writing step] */
int outbox_add(struct approvals *queue, const struct row *row, const struct json_value *targets,
	       bool *ret_any, struct error *err);

#endif
