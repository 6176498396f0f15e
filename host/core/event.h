/* event.h - what kind of thing a client tells us.
 *
 * Layer: core; libc only, the front includes it too.
 */
#ifndef PAWL_CORE_EVENT_H
#define PAWL_CORE_EVENT_H

#include <stdbool.h>

/* Decides which hook is asked and what failure means. */
enum event_kind {
	EVENT_UNKNOWN, /* as before the tool: refused */
	EVENT_PRE_TOOL,
	EVENT_PRE_MODEL,
	EVENT_POST_MODEL,
	EVENT_POST_TOOL,
	EVENT_STOP,
	EVENT_START,
	EVENT_OTHER,
};

/* Whether something waits for our word: failure then means no. */
static inline bool event_gates(enum event_kind kind)
{
	return kind <= EVENT_POST_MODEL;
}

#endif
