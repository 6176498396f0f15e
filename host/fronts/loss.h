/* loss.h - a worker that went away before it answered: whose fault, and what is said.
 *
 * Layer: fronts; libc only. The front refuses with these words, and the worker that records
 * the refusal afterwards uses the same.
 */
#ifndef PAWL_FRONTS_LOSS_H
#define PAWL_FRONTS_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "core/progress.h"

enum loss_kind {
	LOSS_NONE,
	LOSS_SIGNAL,   /* status: the signal */
	LOSS_EXIT,     /* status: the exit status */
	LOSS_TIMEOUT,
	LOSS_PROTOCOL, /* it said something that is no answer */
	LOSS_START,    /* it could not be started; status: errno */
	LOSS_CANCELLED,
};

struct loss {
	uint32_t kind;
	int32_t status;
	uint32_t phase; /* enum progress_phase */
	uint32_t entry; /* 1 + index in chain, 0 none is to blame */
	uint32_t flags; /* PROGRESS_* */
	char plugin[64];
};

/* Reads what the worker was doing, as it left it. plugin is made printable ASCII. */
void loss_read(struct loss *loss, const struct progress *progress);

/* "policy error (egress): the plugin crashed (signal 11)"; returns the length. */
size_t loss_reason(const struct loss *loss, char *buf, size_t room);

/* refused_by and the error class of records. */
const char *loss_by(const struct loss *loss);
const char *loss_class(const struct loss *loss);

#endif
