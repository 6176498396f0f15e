/* tell.h - what people decide, into the audit's log.
 *
 * Layer: approvals; the one place that knows audit/.
 */
#ifndef PAWL_APPROVALS_TELL_H
#define PAWL_APPROVALS_TELL_H

#include "decide.h"

/* A teller's function; context is the path of the audit's database. */
int tell_audit(void *context, const char *type, const struct row *row, struct str data,
	       struct error *err);

#endif
