/* codex.c - OpenAI Codex CLI (0.171.0, measured).
 *
 * It rejects, and so ignores, any field it does not know; "ask" is treated as a failure,
 * after which the tool runs: a call that needs a person is refused here. "allow" is said
 * only beside a rewrite. */
#include <config.h>

#include "dialects/dialect.h"

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	(void)host;
	return dialect_claude_output(call, decision, decision->modified ? "allow" : NULL, answer,
				     err);
}

extern const struct dialect dialect_codex;
const struct dialect dialect_codex = {
	.name = "codex",
	.can = {.title = "Codex",
		.version = "0.171.0, measured",
		.timeout_unit = "s",
		.timeout = 600,
		.on_failure = "runs the tool",
		.result = "replaced by the reason of a block",
		.note = "write_stdin into an open shell reaches no hook"},
	.decode = dialect_decode_claude_fields,
	.encode = encode,
};
