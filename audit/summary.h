/* summary.h - a session's line in session_summaries.jsonl.
 *
 * Layer: audit; knows ingest and log.
 */
#ifndef PAWL_AUDIT_SUMMARY_H
#define PAWL_AUDIT_SUMMARY_H

#include "base/error.h"
#include "base/str.h"
#include "store.h"

/* Counts the session as the log has it and appends a line.  A client stops once a
 * turn, so a session may have several: its last one counts.  Where the database
 * cannot be brought level, the session is counted from the log alone. */
int summary_append(const struct store *store, struct str session, struct str event,
		   struct error *err);

#endif
