/* time.h - RFC 3339 text to nanoseconds, for eval's "now".
 *
 * Layer: fronts; libc only.
 */
#ifndef PAWL_FRONTS_TIME_H
#define PAWL_FRONTS_TIME_H

#include <stdint.h>

#include "base/str.h"

/* "2026-11-29T22:25:00Z", "...T22:25:00.5+01:00" (RFC 3339 section 5.6); -EINVAL
 * otherwise. Leap second 60 counts as 59. */
int time_rfc3339(struct str text, int64_t *ret_ns);

#endif
