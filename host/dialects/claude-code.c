/* claude-code.c - Claude Code (documents of 2.1.240, types of 2.1.332).
 *
 * It can be told deny, ask, a whole new input, more context. A result cannot be handed
 * over before the tool, so a substitute is a deny that says so. updatedInput is documented
 * beside "allow" (and "ask") only, so a rewrite carries "allow". */
#include <config.h>

#include "dialects/dialect.h"

/* A skill's shell command has no tool name: it is what Bash is given. */
static int decode_skill(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	static const char *const names[] = {"command"};
	const struct json_value *args, *command = json_member(event, STR("command"));
	const struct str absent = {NULL, 0};
	int r = dialect_need(command, JSON_STRING, "command", err);
	call_set_text(call, PAWL_T_SESSION, json_member(event, STR("session_id")));
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("cwd")));
	if (r == 0)
		r = call_set_tool(call, STR("Bash"), absent, absent, err);
	if (r == 0)
		r = dialect_object(call, names, &command, 1, &args, err);
	return r < 0 ? r : dialect_set_arguments(call, args, err);
}

static int decode(struct pawl_call *call, const struct json_value *event, struct error *err)
{
	if (str_is(call->text[PAWL_T_EVENT], "PreSkillShellCommand") &&
	    !json_member(event, STR("tool_name")))
		return decode_skill(call, event, err);
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

static int encode(const struct host *host, struct pawl_call *call, struct decision *decision,
		  struct answer *answer, struct error *err)
{
	if (decision->verdict == VERDICT_REQUIRE_APPROVAL && asks_nobody(call))
		return dialect_deny(host, call, decision,
				    "a person has to approve it, and in this permission mode "
				    "nobody would be asked: ask again in another mode");
	return dialect_claude_output(call, decision, dialect_permission(decision), answer, err);
}

extern const struct dialect dialect_claude_code;
const struct dialect dialect_claude_code = {
	.name = "claude-code",
	.can = {.title = "Claude Code",
		.version = "documents of 2.1.240",
		.timeout_unit = "s",
		.timeout = 600,
		.on_failure = "runs the tool, unless onFailure is \"block\"",
		.result = "updatedToolOutput",
		.note = "asks nobody in bypassPermissions, so that is refused"},
	.decode = decode,
	.encode = encode,
};
