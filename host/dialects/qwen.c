/* qwen.c - Qwen Code (0.15.10, measured).
 *
 * Claude Code's events and its deny. A rewrite is taken without a word and the original
 * runs, so it is refused with the arguments to try again with; "ask" is refused where nobody
 * sits, and what it does elsewhere nobody measured. */
#include <config.h>

#include "dialects/dialect.h"

extern const struct dialect dialect_qwen;
const struct dialect dialect_qwen = {
	.name = "qwen",
	.can = {.title = "Qwen Code",
		.version = "0.15.10, measured",
		.timeout_unit = "ms",
		.timeout = 60000,
		.on_failure = "runs the tool",
		.result = "no",
		.note = ""},
	.decode = dialect_decode_claude_fields,
};
