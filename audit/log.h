/* log.h - appends records to the log, the store's one source of truth.
 *
 * Layer: audit; knows store, chain, tail, line, drops, rotate.
 *
 * A record is written once log_append has returned 0: it is in the file, chained to
 * the one before, and (unless the store's sync is off) on the disk.  On the full
 * way: lock; open the named file; cut a torn end into torn/; close the file where it is
 * due; read the chain's head; put audit.opened, audit.rotated, audit.recovered,
 * audit.gap or audit.pruned before the record where due; one write; unlock; fdatasync.
 */
#ifndef PAWL_AUDIT_LOG_H
#define PAWL_AUDIT_LOG_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "store.h"

/* body is what line_body made.  -ETIMEDOUT when the lock could not be had,
 * -ENOSPC, -EFBIG, -E2BIG, -EBADMSG (not a log of ours), or another errno.  What could
 * not be written whole is cut off again. */
int log_append(const struct store *store, struct str body, struct error *err);

/* The same; aside is what line_aside made, or absent; *ret_from and *ret_to are the numbers
 * before and after what was written. */
int log_append_told(const struct store *store, struct str body, struct str aside,
		    uint64_t *ret_from, uint64_t *ret_to, struct error *err);

/* Closes the current file, unless it is empty, and begins a new one. */
int log_rotate(const struct store *store, struct error *err);

/* Cuts a torn end off and tells what is missing, without a record of somebody's.  note:
 * members of the data of audit.recovered; NULL: none. */
int log_mend(const struct store *store, const char *note, struct error *err);

/* Appends one line (newline included) to session_summaries.jsonl, by the same rules
 * but the chain. */
int log_summary(const struct store *store, struct str line, struct error *err);

#endif
