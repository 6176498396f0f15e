/* stale.h - calls that were allowed long ago and never heard of again.
 *
 * Layer: audit; knows db.
 *
 * The index is made of the log alone, so time does not change it: whoever finds such a
 * call writes a record, call.unknown, that closes it.  Two may do so at once; the second
 * record then finds nothing to close.
 */
#ifndef PAWL_AUDIT_STALE_H
#define PAWL_AUDIT_STALE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store.h"

#define STALE_MAX 64 /* at a time */

struct stale {
	char *session[STALE_MAX], *call[STALE_MAX], *tool[STALE_MAX];
	size_t n;
};

/* Those decided before that time, oldest first.  *ret is to be freed with stale_free, also
 * after a failure. */
int stale_find(const struct store *store, int64_t before_ms, struct stale *ret,
	       struct error *err);
void stale_free(struct stale *stale);

#endif
