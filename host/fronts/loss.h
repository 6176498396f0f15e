/* loss.h - a worker that went away before it answered: whose fault, and what is said.
 *
 * Layer: fronts; libc only. The front refuses with these words, and the worker that records
 * the refusal afterwards uses the same.
 */
#ifndef PAWL_FRONTS_LOSS_H
#define PAWL_FRONTS_LOSS_H

#include <stdbool.h>
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

#define LOSS_LINES 256 /* as many as a batch may have */

struct loss {
	uint32_t kind;
	int32_t status;
	uint32_t phase; /* enum progress_phase */
	uint32_t entry; /* 1 + index in chain, 0 none is to blame */
	uint32_t flags; /* PROGRESS_* */
	char plugin[64];
	uint64_t lines[LOSS_LINES / 64]; /* of a batch: whom it befell, a bit each */
};

/* Reads what the worker was doing, as it left it. plugin is made printable ASCII. */
void loss_read(struct loss *loss, const struct progress *progress);

/* Whether line i of a batch is refused for it. */
bool loss_befell(const struct loss *loss, size_t i);
/* A batch was lost again: the same befell another of its lines too (true); else, which it was
 * is not known, and all are refused. */
bool loss_join(struct loss *loss, const struct loss *before);

/* "policy error (egress): the plugin crashed (signal 11)"; returns the length. */
size_t loss_reason(const struct loss *loss, char *buf, size_t room);

/* refused_by and the error class of records. */
const char *loss_by(const struct loss *loss);
const char *loss_class(const struct loss *loss);

#endif
