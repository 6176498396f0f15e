/* reason.h - why a record or an ingest failed, as counted in drops.bin.
 *
 * Layer: audit; libc only.
 *
 * The numbers are places in drops.bin: add at the end, never reuse.
 */
#ifndef PAWL_AUDIT_REASON_H
#define PAWL_AUDIT_REASON_H

enum reason {
	REASON_LOCK_TIMEOUT,
	REASON_NO_SPACE,
	REASON_IO_ERROR,
	REASON_READ_ONLY,
	REASON_CORRUPT,
	REASON_TOO_LARGE,
	REASON_SERIALISE,
	REASON_COUNT
};

/* "lock_timeout", "no_space", ... */
const char *reason_name(enum reason reason);

/* The reason for what a function returned (0 > code = -errno). */
enum reason reason_of(int code);

#endif
