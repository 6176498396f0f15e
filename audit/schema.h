/* schema.h - the index's tables.
 *
 * Layer: audit.
 *
 * Everything here is a projection of the log and can be made anew from it; nothing
 * but the ingest writes these tables.  Others read events, tool_calls, decisions,
 * and the view session_summaries.
 */
#ifndef PAWL_AUDIT_SCHEMA_H
#define PAWL_AUDIT_SCHEMA_H

#define SCHEMA_APPLICATION_ID 0x5041574c /* "PAWL" */
#define SCHEMA_VERSION 1

/* Makes all of it in an empty database, inside the caller's transaction. */
extern const char schema_create[];

/* Empties what the log fills. */
extern const char schema_empty[];

#endif
