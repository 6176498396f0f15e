/* schema.h - the tables of approvals.db.
 *
 * Layer: approvals; text alone.
 */
#ifndef PAWL_APPROVALS_SCHEMA_H
#define PAWL_APPROVALS_SCHEMA_H

extern const char queue_schema[];

#endif
