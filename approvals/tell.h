/* tell.h - what people decide, into the audit's log.
 *
 * Layer: approvals; the one place that knows audit/.
 */
#ifndef PAWL_APPROVALS_TELL_H
#define PAWL_APPROVALS_TELL_H

#include "decide.h"

struct tell_place {
	const char *path;    /* of the audit's database */
	const char *options; /* of the audit, as JSON: "redact" and "capture" hold here, too; or NULL */
};

/* A teller's function; context is a struct tell_place. */
int tell_audit(void *context, const char *type, const struct row *row, struct str data,
	       struct error *err);

#endif
