/* form-table.c - one table a client; see forms.h for what a row is.
 *
 * Event names and answers after each client's own documents, or as measured: Claude Code
 * 2.1.240 and its types of 2.1.332, Codex CLI 0.171.0, Gemini CLI 0.61.0, Qwen Code
 * 0.15.10, Cursor 2026.09.18, Copilot CLI 1.0.102, Windsurf, Kiro CLI, Goose and Cline as
 * of November 2026. A name that is not listed is refused as if it were the client's event
 * before a tool. */
#include <config.h>

#include "dialects/forms.h"

#define OTHER(name) {name, EVENT_OTHER, 0, "", ""}
#define INFORMS(name, kind) {name, kind, 0, "", ""}

/* ---- Claude Code, and those who took its form over ------------------------------------ */

#define CLAUDE_DENY_OF(event)                                                                     \
	"{\"hookSpecificOutput\":{\"hookEventName\":\"" event                                     \
	"\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"{text}\"}}"
#define CLAUDE_DENY CLAUDE_DENY_OF("PreToolUse")
#define BLOCK "{\"decision\":\"block\",\"reason\":\"{text}\"}"

static const struct form claude_code[] = {
	{NULL, EVENT_UNKNOWN, 0, CLAUDE_DENY, ""},
	{"PreToolUse", EVENT_PRE_TOOL, FORM_REWRITE | FORM_ASK | FORM_GRANT | FORM_TELL,
	 CLAUDE_DENY, ""},
	{"PreSkillShellCommand", EVENT_PRE_TOOL, 0, CLAUDE_DENY_OF("PreSkillShellCommand"), ""},
	{"UserPromptSubmit", EVENT_PRE_MODEL, FORM_TELL, BLOCK, ""},
	INFORMS("PostToolUse", EVENT_POST_TOOL),
	INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	INFORMS("Stop", EVENT_STOP),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("SessionStart", EVENT_START),
	OTHER("PostToolBatch"),
	OTHER("Notification"),
	OTHER("UserPromptExpansion"),
	OTHER("StopFailure"),
	OTHER("SubagentStart"),
	OTHER("SubagentStop"),
	OTHER("PreCompact"),
	OTHER("PostCompact"),
	OTHER("PreModelSwitch"),
	OTHER("PostModelSwitch"),
	OTHER("PermissionRequest"),
	OTHER("PermissionDenied"),
	OTHER("Setup"),
	OTHER("TeammateIdle"),
	OTHER("TaskCreated"),
	OTHER("TaskCompleted"),
	OTHER("Elicitation"),
	OTHER("ElicitationResult"),
	OTHER("ConfigChange"),
	OTHER("WorktreeCreate"),
	OTHER("WorktreeRemove"),
	OTHER("InstructionsLoaded"),
	OTHER("CwdChanged"),
	OTHER("FileChanged"),
	OTHER("DirectoryAdded"),
	OTHER("MessageDisplay"),
};

static const struct form codex[] = {
	{NULL, EVENT_UNKNOWN, 0, CLAUDE_DENY, ""},
	{"PreToolUse", EVENT_PRE_TOOL, FORM_REWRITE | FORM_TELL, CLAUDE_DENY, ""},
	{"UserPromptSubmit", EVENT_PRE_MODEL, 0, BLOCK, ""},
	INFORMS("PostToolUse", EVENT_POST_TOOL),
	INFORMS("Stop", EVENT_STOP),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("SessionStart", EVENT_START),
	OTHER("PermissionRequest"),
	OTHER("PreCompact"),
	OTHER("PostCompact"),
	OTHER("SubagentStart"),
	OTHER("SubagentStop"),
	OTHER("Interrupt"),
};

static const struct form qwen[] = {
	{NULL, EVENT_UNKNOWN, 0, CLAUDE_DENY, ""},
	{"PreToolUse", EVENT_PRE_TOOL, 0, CLAUDE_DENY, ""},
	{"UserPromptSubmit", EVENT_PRE_MODEL, 0, BLOCK, ""},
	INFORMS("PostToolUse", EVENT_POST_TOOL),
	INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	INFORMS("Stop", EVENT_STOP),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("SessionStart", EVENT_START),
	OTHER("PermissionRequest"),
	OTHER("Notification"),
	OTHER("PreCompact"),
	OTHER("SubagentStart"),
	OTHER("SubagentStop"),
};

/* ---- Gemini CLI ----------------------------------------------------------------------- */

#define GEMINI_DENY "{\"decision\":\"deny\",\"reason\":\"{text}\"}"
/* Measured: a refused answer of the model is passed on all the same, its tool calls too,
 * unless the run is stopped. */
#define GEMINI_STOP                                                                                \
	"{\"continue\":false,\"stopReason\":\"{text}\",\"decision\":\"deny\",\"reason\":\"{text}\"}"

static const struct form gemini[] = {
	{NULL, EVENT_UNKNOWN, 0, GEMINI_DENY, ""},
	{"BeforeTool", EVENT_PRE_TOOL, FORM_REWRITE | FORM_TELL, GEMINI_DENY, ""},
	{"BeforeModel", EVENT_PRE_MODEL, FORM_REWRITE | FORM_SUBSTITUTE, GEMINI_DENY, ""},
	{"AfterModel", EVENT_POST_MODEL, FORM_REWRITE | FORM_SUBSTITUTE, GEMINI_STOP, ""},
	{"BeforeAgent", EVENT_PRE_MODEL, FORM_TELL, GEMINI_DENY, ""},
	INFORMS("AfterTool", EVENT_POST_TOOL),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("SessionStart", EVENT_START),
	OTHER("AfterAgent"),
	OTHER("BeforeToolSelection"),
	OTHER("PreCompress"),
	OTHER("Notification"),
};

/* ---- Cursor ------------------------------------------------------------------------------
 * Under failClosed it refuses what is answered with nothing. The names in Claude Code's
 * spelling are those of hooks that it took over from Claude Code's settings. */

#define CURSOR_DENY                                                                               \
	"{\"permission\":\"deny\",\"user_message\":\"{text}\",\"agent_message\":\"{text}\"}"
#define CURSOR_ALLOW "{\"permission\":\"allow\"}"
#define CURSOR_STOP "{\"continue\":false,\"user_message\":\"{text}\"}"
#define CURSOR_CONTINUE "{\"continue\":true}"
#define CURSOR_INFORMS(name, kind) {name, kind, 0, "", "{}"}

static const struct form cursor[] = {
	{NULL, EVENT_UNKNOWN, 0, CURSOR_DENY, CURSOR_ALLOW},
	{"preToolUse", EVENT_PRE_TOOL, FORM_REWRITE, CURSOR_DENY, CURSOR_ALLOW},
	{"beforeShellExecution", EVENT_PRE_TOOL, FORM_ASK, CURSOR_DENY, CURSOR_ALLOW},
	{"beforeMCPExecution", EVENT_PRE_TOOL, FORM_ASK, CURSOR_DENY, CURSOR_ALLOW},
	{"beforeReadFile", EVENT_PRE_TOOL, 0, CURSOR_DENY, CURSOR_ALLOW},
	{"beforeTabFileRead", EVENT_PRE_TOOL, 0, CURSOR_DENY, CURSOR_ALLOW},
	{"beforeSubmitPrompt", EVENT_PRE_MODEL, 0, CURSOR_STOP, CURSOR_CONTINUE},
	{"PreToolUse", EVENT_PRE_TOOL, FORM_REWRITE, CURSOR_DENY, CURSOR_ALLOW},
	{"UserPromptSubmit", EVENT_PRE_MODEL, 0, CURSOR_STOP, CURSOR_CONTINUE},
	{"subagentStart", EVENT_OTHER, 0, "", CURSOR_ALLOW},
	CURSOR_INFORMS("postToolUse", EVENT_POST_TOOL),
	CURSOR_INFORMS("postToolUseFailure", EVENT_POST_TOOL),
	CURSOR_INFORMS("afterShellExecution", EVENT_POST_TOOL),
	CURSOR_INFORMS("afterMCPExecution", EVENT_POST_TOOL),
	CURSOR_INFORMS("afterFileEdit", EVENT_POST_TOOL),
	CURSOR_INFORMS("afterTabFileEdit", EVENT_POST_TOOL),
	CURSOR_INFORMS("PostToolUse", EVENT_POST_TOOL),
	CURSOR_INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	CURSOR_INFORMS("stop", EVENT_STOP),
	CURSOR_INFORMS("sessionEnd", EVENT_STOP),
	CURSOR_INFORMS("sessionStart", EVENT_START),
	CURSOR_INFORMS("Stop", EVENT_STOP),
	CURSOR_INFORMS("SessionEnd", EVENT_STOP),
	CURSOR_INFORMS("SessionStart", EVENT_START),
	CURSOR_INFORMS("subagentStop", EVENT_OTHER),
	CURSOR_INFORMS("SubagentStop", EVENT_OTHER),
	CURSOR_INFORMS("preCompact", EVENT_OTHER),
	CURSOR_INFORMS("PreCompact", EVENT_OTHER),
	CURSOR_INFORMS("afterAgentResponse", EVENT_OTHER),
	CURSOR_INFORMS("afterAgentThought", EVENT_OTHER),
	CURSOR_INFORMS("workspaceOpen", EVENT_OTHER),
};

/* ---- Copilot -----------------------------------------------------------------------------
 * In the settings a name in camelCase gets one form of event, the same in PascalCase the
 * other; what answers the second is read by VS Code too, which knows the nested part
 * alone. */

#define COPILOT_DENY "{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"{text}\"}"
#define COPILOT_PASCAL_DENY                                                                       \
	"{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"{text}\","                \
	"\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"      \
	"\"deny\",\"permissionDecisionReason\":\"{text}\"}}"
#define COPILOT_CAN (FORM_REWRITE | FORM_ASK | FORM_GRANT)

static const struct form copilot[] = {
	{NULL, EVENT_UNKNOWN, 0, COPILOT_DENY, ""},
	{"preToolUse", EVENT_PRE_TOOL, COPILOT_CAN, COPILOT_DENY, ""},
	{"PreToolUse", EVENT_PRE_TOOL, COPILOT_CAN, COPILOT_PASCAL_DENY, ""},
	{"userPromptSubmitted", EVENT_PRE_MODEL, FORM_DEAF, "", ""},
	{"UserPromptSubmitted", EVENT_PRE_MODEL, FORM_DEAF, "", ""},
	{"UserPromptSubmit", EVENT_PRE_MODEL, FORM_DEAF, "", ""},
	INFORMS("postToolUse", EVENT_POST_TOOL),
	INFORMS("PostToolUse", EVENT_POST_TOOL),
	INFORMS("postToolUseFailure", EVENT_POST_TOOL),
	INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	INFORMS("agentStop", EVENT_STOP),
	INFORMS("AgentStop", EVENT_STOP),
	INFORMS("Stop", EVENT_STOP),
	INFORMS("sessionEnd", EVENT_STOP),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("sessionStart", EVENT_START),
	INFORMS("SessionStart", EVENT_START),
	OTHER("userPromptTransformed"),
	OTHER("UserPromptTransformed"),
	OTHER("permissionRequest"),
	OTHER("PermissionRequest"),
	OTHER("preMcpToolCall"),
	OTHER("PreMcpToolCall"),
	OTHER("preCompact"),
	OTHER("PreCompact"),
	OTHER("subagentStart"),
	OTHER("SubagentStart"),
	OTHER("subagentStop"),
	OTHER("SubagentStop"),
	OTHER("errorOccurred"),
	OTHER("ErrorOccurred"),
	OTHER("notification"),
	OTHER("Notification"),
};

/* ---- those who read the exit status and stderr alone ---------------------------------- */

static const struct form windsurf[] = {
	{NULL, EVENT_UNKNOWN, 0, "", ""},
	{"pre_run_command", EVENT_PRE_TOOL, 0, "", ""},
	{"pre_mcp_tool_use", EVENT_PRE_TOOL, 0, "", ""},
	{"pre_read_code", EVENT_PRE_TOOL, 0, "", ""},
	{"pre_write_code", EVENT_PRE_TOOL, 0, "", ""},
	{"pre_user_prompt", EVENT_PRE_MODEL, 0, "", ""},
	INFORMS("post_run_command", EVENT_POST_TOOL),
	INFORMS("post_mcp_tool_use", EVENT_POST_TOOL),
	INFORMS("post_read_code", EVENT_POST_TOOL),
	INFORMS("post_write_code", EVENT_POST_TOOL),
	OTHER("post_cascade_response"),
	OTHER("post_cascade_response_with_transcript"),
	OTHER("post_setup_worktree"),
};

static const struct form kiro[] = {
	{NULL, EVENT_UNKNOWN, 0, "", ""},
	{"preToolUse", EVENT_PRE_TOOL, 0, "", ""},
	{"userPromptSubmit", EVENT_PRE_MODEL, FORM_DEAF, "", ""},
	INFORMS("postToolUse", EVENT_POST_TOOL),
	INFORMS("stop", EVENT_STOP),
	INFORMS("agentSpawn", EVENT_START),
};

/* ---- Goose: nothing but PreToolUse (and Stop) can be refused -------------------------- */

static const struct form goose[] = {
	{NULL, EVENT_UNKNOWN, 0, BLOCK, ""},
	{"PreToolUse", EVENT_PRE_TOOL, 0, BLOCK, ""},
	{"UserPromptSubmit", EVENT_PRE_MODEL, FORM_DEAF, BLOCK, ""},
	INFORMS("PostToolUse", EVENT_POST_TOOL),
	INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	INFORMS("Stop", EVENT_STOP),
	INFORMS("SessionEnd", EVENT_STOP),
	INFORMS("SessionStart", EVENT_START),
	OTHER("PreToolUseResult"),
	OTHER("BeforeReadFile"),
	OTHER("AfterFileEdit"),
	OTHER("BeforeShellExecution"),
	OTHER("AfterShellExecution"),
};

/* ---- Cline: a hook that exits with anything but 0 has failed there, and the tool runs - */

#define CLINE_DENY "{\"cancel\":true,\"errorMessage\":\"{text}\"}"
#define CLINE_PASS "{\"cancel\":false}"
#define CLINE_INFORMS(name, kind) {name, kind, 0, "", CLINE_PASS}

static const struct form cline[] = {
	{NULL, EVENT_UNKNOWN, 0, CLINE_DENY, CLINE_PASS},
	{"PreToolUse", EVENT_PRE_TOOL, FORM_REWRITE | FORM_TELL, CLINE_DENY, CLINE_PASS},
	{"UserPromptSubmit", EVENT_PRE_MODEL, FORM_TELL, CLINE_DENY, CLINE_PASS},
	CLINE_INFORMS("PostToolUse", EVENT_POST_TOOL),
	CLINE_INFORMS("TaskStart", EVENT_START),
	CLINE_INFORMS("TaskResume", EVENT_START),
	CLINE_INFORMS("TaskCancel", EVENT_STOP),
	CLINE_INFORMS("TaskComplete", EVENT_STOP),
	CLINE_INFORMS("PreCompact", EVENT_OTHER),
	CLINE_INFORMS("Notification", EVENT_OTHER),
};

/* ---- the neutral dialect -------------------------------------------------------------- */

#define PAWL_DENY                                                                                  \
	"{\"tool_use_id\":{id},\"decision\":\"deny\",\"reason\":\"{reason}\",\"refused_by\":"     \
	"\"{by}\",\"modified\":false,\"tool_result\":{\"type\":\"tool_result\",\"tool_use_id\":" \
	"{id},\"is_error\":true,\"content\":\"{text}\"},\"trace\":[]}"
#define PAWL_INFORMS(name, kind) {name, kind, 0, "", "{\"observed\":true}"}
#define PAWL_OTHER(name) PAWL_INFORMS(name, EVENT_OTHER)

static const struct form neutral[] = {
	{NULL, EVENT_UNKNOWN, FORM_ALL, PAWL_DENY, ""},
	{"PreToolUse", EVENT_PRE_TOOL, FORM_ALL, PAWL_DENY, ""},
	{"PreModelCall", EVENT_PRE_MODEL, FORM_ALL, PAWL_DENY, ""},
	{"PostModelCall", EVENT_POST_MODEL, FORM_ALL, PAWL_DENY, ""},
	PAWL_INFORMS("PostToolUse", EVENT_POST_TOOL),
	PAWL_INFORMS("PostToolUseFailure", EVENT_POST_TOOL),
	PAWL_INFORMS("Stop", EVENT_STOP),
	PAWL_INFORMS("SessionEnd", EVENT_STOP),
	PAWL_INFORMS("SessionStart", EVENT_START),
	PAWL_OTHER("PostToolBatch"),
	PAWL_OTHER("Notification"),
	PAWL_OTHER("UserPromptSubmit"),
	PAWL_OTHER("SubagentStart"),
	PAWL_OTHER("SubagentStop"),
	PAWL_OTHER("PreCompact"),
	PAWL_OTHER("PostCompact"),
	PAWL_OTHER("PermissionRequest"),
	PAWL_OTHER("PermissionDenied"),
};

/* ---- all of them ---------------------------------------------------------------------- */

#define LIST(agent, forms, refused) {agent, forms, sizeof(forms) / sizeof((forms)[0]), refused}

const struct form_list form_lists[] = {
	LIST("claude-code", claude_code, 2),
	LIST("codex", codex, 2),
	LIST("gemini", gemini, 2),
	LIST("qwen", qwen, 2),
	LIST("cursor", cursor, 2),
	LIST("copilot", copilot, 2),
	LIST("windsurf", windsurf, 2),
	LIST("kiro", kiro, 2),
	LIST("goose", goose, 2),
	LIST("cline", cline, 0),
	LIST("pawl", neutral, 2),
	{NULL, NULL, 0, 2},
};
