/* repair.h - getting a store to work again that something stands in the way of.
 *
 * Layer: audit; knows log, segment, ingest and db; prints nothing.
 *
 * Nothing is edited and nothing is deleted: what cannot be used is set aside, under
 * quarantine/ or beside the database, and the log tells of it.  A changed record that is
 * no obstacle stays where it is, for verify to find.
 */
#ifndef PAWL_AUDIT_REPAIR_H
#define PAWL_AUDIT_REPAIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store.h"

#define REPAIR_FOLDER "quarantine"

struct repair {
	int64_t torn;              /* bytes cut off into torn/ */
	char log[NAME_MAX + 1];    /* where the current log file went; "" */
	char database[PATH_MAX];   /* where the database went; "" */
};

int repair_log(const struct store *store, struct repair *ret, struct error *err);
int repair_index(const struct store *store, struct repair *ret, struct error *err);

/* Whether a file that was set aside still is what the log says of it. */
bool repair_has(const struct store *store, const char *name, const char *sha256);

#endif
