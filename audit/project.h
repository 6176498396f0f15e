/* project.h - one event into the index's rows.
 *
 * Layer: audit; knows event and db.
 *
 * What rows an event makes depends on the events before it and on nothing else, so
 * an index made anew from the log is the same index.
 */
#ifndef PAWL_AUDIT_PROJECT_H
#define PAWL_AUDIT_PROJECT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"
#include "event.h"

struct project;

/* Prepares the statements.  lean: the lines themselves are left out of the events.
 * *ret is the caller's, free with project_free. */
int project_new(sqlite3 *db, bool lean, struct project **ret, struct error *err);
void project_free(struct project *project); /* takes NULL */

/* Writes the rows of the event that begins at byte offset of the segment; does
 * nothing when that place was read before.
 * [inside a transaction; after a failure it has to be rolled back] */
int project_event(struct project *project, const struct event *event, int64_t segment,
		  int64_t offset, struct error *err);

int project_skipped(struct project *project, int64_t segment, int64_t offset, size_t bytes,
		    const char *why, struct error *err);

#endif
