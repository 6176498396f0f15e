/* lag.h - how far the index was when somebody last filled it: a note beside it.
 *
 * Layer: audit; knows store and segment.
 *
 * A writer who finds little to do leaves it to the next one, without opening the
 * database: filling it takes several times as long as a record does.  Whoever reads the
 * index fills it first, so nobody sees it behind; what is lost with the note, or wrong in
 * it, costs a filling too many or one too late, never a row.
 */
#ifndef PAWL_AUDIT_LAG_H
#define PAWL_AUDIT_LAG_H

#include <stdbool.h>
#include <stdint.h>

#include "store.h"

/* Records are left lying until they are so much, or the last filling is so old. */
#define LAG_BYTES ((int64_t)64 << 10)
#define LAG_MS ((int64_t)30000)

/* The index is level with that place of that segment, as of now. */
void lag_write(const struct store *store, int64_t segment, int64_t offset);

/* Whether it is time to fill it: also when the database is not there, another segment
 * has begun, or there is no note. */
bool lag_is_due(const struct store *store);

#endif
