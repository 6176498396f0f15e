/* kiro.c - Kiro CLI (documents).
 *
 * Claude Code's member names, MCP tools as @SERVER/TOOL, no session and no call id. Exit 2
 * before a tool refuses, with the word on stderr; nothing printed is read, and a prompt
 * cannot be stopped. */
#include <config.h>

#include "dialects/dialect.h"

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	int r = dialect_decode_claude_fields(call, event, err), well;
	const struct json_value *success = json_member(call->root[PAWL_R_RESULT], STR("success"));
	if (r == 0 && call->kind == EVENT_POST_TOOL && json_boolean(success, &well) == 0 && !well)
		call->number[PAWL_N_IS_ERROR] = 1;
	return r;
}

extern const struct dialect dialect_kiro;
const struct dialect dialect_kiro = {
	.name = "kiro",
	.can = {.title = "Kiro",
		.version = "documents",
		.timeout_unit = "ms",
		.timeout = 30000,
		.on_failure = "runs the tool",
		.result = "no",
		.note = "cache_ttl_seconds must stay 0: it answers from memory"},
	.decode = decode,
};
