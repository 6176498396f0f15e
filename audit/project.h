/* project.h - one event into the index's rows.
 *
 * Layer: audit; knows event, calls and db.
 *
 * Events are written as they come; what they make of calls and sessions is kept in memory
 * and written once, at the end of a transaction.
 */
#ifndef PAWL_AUDIT_PROJECT_H
#define PAWL_AUDIT_PROJECT_H

#include <sqlite3.h>

#include "base/error.h"
#include "event.h"

struct project;

/* Prepares the statements.  *ret is the caller's, free with project_free. */
int project_new(sqlite3 *db, struct project **ret, struct error *err);
void project_free(struct project *project); /* takes NULL */

/* Takes the event that begins at byte offset of the segment; does
 * nothing when that place was read before.
 * [inside a transaction; after a failure it has to be rolled back] */
int project_event(struct project *project, const struct event *event, int64_t segment,
		  int64_t offset, struct error *err);

/* What lies in text stays there until the next flush. */
void project_lasting(struct project *project, struct str text);

/* Writes what is still in memory; [before the transaction's end]. */
int project_flush(struct project *project, struct error *err);

int project_skipped(struct project *project, int64_t segment, int64_t offset, size_t bytes,
		    const char *why, struct error *err);

#endif
