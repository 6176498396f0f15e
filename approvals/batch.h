/* batch.h - calls that were asked for together: what is answered once people have decided.
 *
 * Layer: approvals; knows queue and row.
 */
#ifndef PAWL_APPROVALS_BATCH_H
#define PAWL_APPROVALS_BATCH_H

#include "decide.h"

#define BATCH_MAX DECIDE_BALLOT_MAX /* calls of one */

void batch_make_id(char ret[APPROVAL_ID_MAX]);
int batch_keep(struct approvals *queue, const struct approval_batch *batch, struct error *err);

/* Uses every approval of a batch that is decided as a whole, once, and gives the answers of
 * all its held calls, a line each, in their order; *ret is to be freed. policy: the config
 * files as chain.h writes them, NULL: they do not matter. Errors give no answer: -ENOENT no
 * such batch, -EAGAIN something still waits, -EALREADY it was resumed. */
int batch_resume(struct approvals *queue, const char *id, const char *policy,
		 const struct teller *teller, char **ret, struct error *err);

#endif
