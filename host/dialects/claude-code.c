/* claude-code.c - Claude Code (documents of 2.1.240, types of 2.1.332).
 *
 * It can be told deny, ask, a whole new input, more context. A result cannot be handed
 * over before the tool, so a substitute is a deny that says so. updatedInput is documented
 * beside "allow" (and "ask") only, so a rewrite carries "allow". */
#include <config.h>

#include "dialects/dialect.h"

/* Names the server where the event does, so that one reading of the name is left. */
static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	return dialect_decode_claude_fields(call, event, err);
}

/* In this mode a question is answered yes without anybody seeing it. */
static bool asks_nobody(const struct pawl_call *call)
{
	struct str mode;
	return json_string(json_member(call->root[PAWL_R_EVENT], STR("permission_mode")), &mode) ==
		       0 &&
	       str_is(mode, "bypassPermissions");
}

static int encode_approval(const struct host *host, struct pawl_call *call,
			   struct decision *decision, struct answer *answer, struct error *err)
{
	if (host->config->approval.ask != ASK_CLIENT)
		return dialect_deny(host, call, decision,
				    "a person has to approve it, and approvals by the client's "
				    "own prompt are off (approval.ask)");
	if (asks_nobody(call))
		return dialect_deny(host, call, decision,
				    "a person has to approve it, and in this permission mode "
				    "nobody would be asked: ask again in another mode");
	return dialect_claude_output(call, decision, "ask", answer, err);
}

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	switch (decision->verdict) {
	case VERDICT_ALLOW:
		answer->exit = 0;
		if (!decision->modified && !decision->granted && !decision->told.ptr)
			return 0; /* no objection: its own prompt still appears */
		return dialect_claude_output(
			call, decision, decision->modified || decision->granted ? "allow" : NULL,
			answer, err);
	case VERDICT_REQUIRE_APPROVAL:
		return encode_approval(host, call, decision, answer, err);
	case VERDICT_SUBSTITUTE:
		return dialect_substitute_as_deny(host, call, decision);
	default:
		return 0;
	}
}

extern const struct dialect dialect_claude_code;
const struct dialect dialect_claude_code = {"claude-code", decode, encode};
