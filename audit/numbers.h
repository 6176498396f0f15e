/* numbers.h - which of its own numbers each session has in the log.
 *
 * Layer: audit; libc and base only.
 *
 * Writers take a session's number before they wait for the log, so numbers may come out
 * of order; a number that comes a second time is a session that began anew.
 */
#ifndef PAWL_AUDIT_NUMBERS_H
#define PAWL_AUDIT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct numbers;

/* 0 or -ENOMEM.  *ret is the caller's, free with numbers_free. */
int numbers_new(struct numbers **ret);
void numbers_free(struct numbers *numbers); /* takes NULL */

/* A record of the session with that number, written at ts_ms.  0 or -ENOMEM. */
int numbers_add(struct numbers *numbers, struct str session, uint32_t number, int64_t ts_ms);

int64_t numbers_sessions(const struct numbers *numbers);

/* How many are missing in sessions whose last record is further than settled_ms from
 * now_ms.  from_start: a session begins with 1; else with the lowest one that is there. */
int64_t numbers_missing(const struct numbers *numbers, bool from_start, int64_t now_ms,
			int64_t settled_ms);

#endif
