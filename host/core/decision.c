/* decision.c - names for what a decision holds. */
#include <config.h>

#include "core/decision.h"

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "none",	     [VERDICT_ALLOW] = "allow",
		[VERDICT_DENY] = "deny",	     [VERDICT_REQUIRE_APPROVAL] = "require_approval",
		[VERDICT_SUBSTITUTE] = "substitute", [VERDICT_ERROR] = "error",
	};
	return names[verdict];
}

const char *refused_by_name(enum refused_by by)
{
	static const char *const names[] = {
		[REFUSED_STATIC] = "static",	 [REFUSED_PLUGIN] = "plugin",
		[REFUSED_ERROR] = "error",	 [REFUSED_HUMAN] = "human",
		[REFUSED_TIMEOUT] = "timeout",	 [REFUSED_CANCELLED] = "cancelled",
		[REFUSED_HOST] = "host",
	};
	return names[by];
}
