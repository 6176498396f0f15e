/* clock.h - when a thing is over, on clocks that people and machines may set.
 *
 * Layer: approvals; libc only.
 *
 * A moment is noted on the wall clock and on the clock since boot. A limit is over as soon as
 * either says so, and when the boot clock (or, after a reboot, the wall clock) stands before
 * the moment the wait began: then nobody can tell how long it was. So a clock that is set
 * can end a wait early, and never make it longer.
 */
#ifndef PAWL_APPROVALS_CLOCK_H
#define PAWL_APPROVALS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_BOOT_MAX 37 /* a UUID and its NUL */

struct moment {
	int64_t wall_ms; /* since 1970 */
	int64_t boot_ns; /* CLOCK_BOOTTIME: goes on while the machine sleeps */
	char boot[CLOCK_BOOT_MAX];
};

void clock_now(struct moment *ret);

/* Whether the wait that began at began and lasts limit_ns (0: for ever) is over; *left_ns
 * gets what is left (INT64_MAX for ever). */
bool clock_over(const struct moment *began, int64_t limit_ns, const struct moment *now,
		int64_t *left_ns);

#endif
