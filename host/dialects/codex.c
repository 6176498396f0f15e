/* codex.c - OpenAI Codex CLI (0.171.0, measured).
 *
 * It rejects, and so ignores, any field it does not know; "ask" is treated as a failure,
 * after which the tool runs: a call that needs a person is refused here. */
#include <config.h>

#include "dialects/dialect.h"

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	switch (decision->verdict) {
	case VERDICT_ALLOW:
		answer->exit = 0;
		if (!decision->modified && !decision->told.ptr)
			return 0;
		return dialect_claude_output(call, decision, decision->modified ? "allow" : NULL,
					     answer, err);
	case VERDICT_REQUIRE_APPROVAL:
		return dialect_deny(host, call, decision,
				    "a person has to approve it, and Codex hooks cannot ask one");
	case VERDICT_SUBSTITUTE:
		return dialect_substitute_as_deny(host, call, decision);
	default:
		return 0;
	}
}

extern const struct dialect dialect_codex;
const struct dialect dialect_codex = {"codex", dialect_decode_claude_fields, encode};
