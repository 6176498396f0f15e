/* record.h - one row told to observers, as JSON text.
 *
 * Layer: core; writes through json/write.h.
 */
#ifndef PAWL_CORE_RECORD_H
#define PAWL_CORE_RECORD_H

#include "core/host.h"
#include "json/write.h"

/* The record of the decision itself: call.allowed, policy.denied, policy.substituted or
 * approval.requested. The object is the caller's, w->free. */
struct json_object *record_decision(const struct json_writer *w, const struct host *host,
				    const struct pawl_call *call, const struct decision *decision);

/* One of the others: a remark's. */
struct json_object *record_remark(const struct json_writer *w, const struct host *host,
				  const struct pawl_call *call, const struct remark *remark);

/* policy.modified, policy.hook_error or policy.shadow of one step. */
struct json_object *record_step(const struct json_writer *w, const struct host *host,
				const struct pawl_call *call, const struct step *step,
				const char *type);

/* session.start and the like: nothing but the head. */
struct json_object *record_head(const struct json_writer *w, const struct host *host,
				const struct pawl_call *call, const char *type);

/* The trace of a decision, into an array. */
void record_trace(const struct json_writer *w, struct json_object *array,
		  const struct decision *decision, bool full);

#endif
