/* counters.h - each session's own record numbers.
 *
 * Layer: audit; knows store and libsodium's SHA-256.
 *
 * A record takes its number (sseq in the log) before anything is written, under no
 * lock but the counters' own.  When the record is then lost, for whatever reason,
 * its number is missing from the log: a hole that shows the loss even where the drop
 * counter was lost too.  The log's own seq cannot do that, because it is given at
 * the moment of writing and has no gaps.
 *
 * sessions.bin has COUNTERS_SLOTS places of 16 bytes, allocated at once and
 * overwritten in place, so it neither grows with the number of sessions nor needs
 * room on a full disk.  When all places that a session may use are taken, the one
 * unused for longest is given away; a session that comes back after that counts from
 * 1 again, which a reader takes for a new beginning, not for a hole.
 */
#ifndef PAWL_AUDIT_COUNTERS_H
#define PAWL_AUDIT_COUNTERS_H

#include <stdint.h>

#include "base/str.h"
#include "store.h"

#define COUNTERS_SLOTS 65536

/* *ret is 1 for a session's first record. */
int counters_next(const struct store *store, struct str session, uint32_t *ret, struct error *err);

#endif
