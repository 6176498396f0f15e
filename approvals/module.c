/* module.c - lib/pawl/approvals.so: the queue as the core asks for it. */
#include <config.h>

#include "hold.h"

__attribute__((visibility("default"))) const struct approval_store pawl_approval_store = {
	.open = queue_open,
	.close = queue_close,
	.hold = hold_request,
	.look = hold_look,
	.consume = hold_consume,
};
