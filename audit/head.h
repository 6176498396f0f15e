/* head.h - the last record that was written, kept beside the log.
 *
 * Layer: audit; knows store and chain.
 *
 * audit_head.bin is overwritten in place under the log's lock, after the record.  It is what
 * the chain goes on from when somebody moved or emptied the log, and shows whether the
 * log became shorter.  It is not synced: after a power cut it may be behind the log, or
 * ahead of it by records that nobody was told are safe; so the boot is noted in it.
 */
#ifndef PAWL_AUDIT_HEAD_H
#define PAWL_AUDIT_HEAD_H

#include <stdbool.h>

#include "chain.h"
#include "line.h"
#include "store.h"

#define STORE_HEAD "audit_head.bin"

/* The file's bytes, in the machine's own order: it never leaves the machine. */
struct head {
	char magic[8];
	char boot[40];
	char chain_id[40];
	struct chain chain; /* seq 0: there is none */
};

void head_read(const struct store *store, struct head *ret);
void head_write(const struct store *store, const char *chain_id, const struct chain *chain);

/* Whether it was written since the machine was started. */
bool head_is_fresh(const struct head *head);

#endif
