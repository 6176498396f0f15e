/* hold.h - what the gate asks of the queue: let a call wait, look after it, use its yes.
 *
 * Layer: approvals; the functions behind core/approval.h.
 */
#ifndef PAWL_APPROVALS_HOLD_H
#define PAWL_APPROVALS_HOLD_H

#include "queue.h"
#include "row.h"

#define QUEUE_PENDING_MAX 1000		/* calls that may wait at a time */
#define QUEUE_ARGS_MAX ((size_t)1 << 20) /* bytes of arguments a person is asked to judge */

int hold_request(struct approvals *queue, const struct approval_request *request,
		 struct approval_state *ret, struct error *err);
int hold_look(struct approvals *queue, const char *id, struct approval_state *ret,
	      struct error *err);
int hold_consume(struct approvals *queue, const char *id, const struct approval_request *request,
		 struct approval_state *ret, struct error *err);

/* What the gate is told of a row. */
void hold_state(const struct approvals *queue, const struct row *row, struct approval_state *ret);

#endif
