/* forms.c - one table a client; see forms.h for what a row is.
 *
 * Event names and answers after each client's own documents: Claude Code 2.1.240 and its
 * types of 2.1.332, Codex CLI 0.171.0, Gemini CLI 0.61.0. A name that is not listed is
 * refused as if it were the client's event before a tool. */
#include <config.h>

#include "dialects/forms.h"

#include "base/text.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define CLAUDE_DENY                                                                                \
	"{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"       \
	"\"deny\",\"permissionDecisionReason\":\"{text}\"}}"
#define GEMINI_DENY "{\"decision\":\"deny\",\"reason\":\"{text}\"}"
#define PAWL_DENY                                                                                  \
	"{\"tool_use_id\":{id},\"decision\":\"deny\",\"reason\":\"{reason}\",\"refused_by\":"     \
	"\"{by}\",\"modified\":false,\"tool_result\":{\"type\":\"tool_result\",\"tool_use_id\":" \
	"{id},\"is_error\":true,\"content\":\"{text}\"},\"trace\":[]}"
#define PAWL_TOLD "{\"observed\":true}"

#define OTHER(name) {name, EVENT_OTHER, ""}
#define PAWL_OTHER(name) {name, EVENT_OTHER, PAWL_TOLD}

static const struct form claude_code[] = {
	{NULL, EVENT_UNKNOWN, CLAUDE_DENY},
	{"PreToolUse", EVENT_PRE_TOOL, CLAUDE_DENY},
	{"PostToolUse", EVENT_POST_TOOL, ""},
	{"PostToolUseFailure", EVENT_POST_TOOL, ""},
	{"Stop", EVENT_STOP, ""},
	{"SessionEnd", EVENT_STOP, ""},
	{"SessionStart", EVENT_START, ""},
	OTHER("PostToolBatch"),
	OTHER("Notification"),
	OTHER("UserPromptSubmit"),
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
	{NULL, EVENT_UNKNOWN, CLAUDE_DENY},
	{"PreToolUse", EVENT_PRE_TOOL, CLAUDE_DENY},
	{"PostToolUse", EVENT_POST_TOOL, ""},
	{"Stop", EVENT_STOP, ""},
	{"SessionEnd", EVENT_STOP, ""},
	{"SessionStart", EVENT_START, ""},
	OTHER("UserPromptSubmit"),
	OTHER("PermissionRequest"),
	OTHER("PreCompact"),
	OTHER("PostCompact"),
	OTHER("SubagentStart"),
	OTHER("SubagentStop"),
	OTHER("Interrupt"),
};

static const struct form gemini[] = {
	{NULL, EVENT_UNKNOWN, GEMINI_DENY},
	{"BeforeTool", EVENT_PRE_TOOL, GEMINI_DENY},
	{"AfterTool", EVENT_POST_TOOL, ""},
	{"SessionEnd", EVENT_STOP, ""},
	{"SessionStart", EVENT_START, ""},
	OTHER("BeforeAgent"),
	OTHER("AfterAgent"),
	OTHER("BeforeModel"),
	OTHER("AfterModel"),
	OTHER("BeforeToolSelection"),
	OTHER("PreCompress"),
	OTHER("Notification"),
};

static const struct form neutral[] = {
	{NULL, EVENT_UNKNOWN, PAWL_DENY},
	{"PreToolUse", EVENT_PRE_TOOL, PAWL_DENY},
	{"PreModelCall", EVENT_PRE_MODEL, PAWL_DENY},
	{"PostModelCall", EVENT_POST_MODEL, PAWL_DENY},
	{"PostToolUse", EVENT_POST_TOOL, PAWL_TOLD},
	{"PostToolUseFailure", EVENT_POST_TOOL, PAWL_TOLD},
	{"Stop", EVENT_STOP, PAWL_TOLD},
	{"SessionEnd", EVENT_STOP, PAWL_TOLD},
	{"SessionStart", EVENT_START, PAWL_TOLD},
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

static const struct form_list lists[] = {
	{"claude-code", claude_code, LENGTH(claude_code)},
	{"codex", codex, LENGTH(codex)},
	{"gemini", gemini, LENGTH(gemini)},
	{"pawl", neutral, LENGTH(neutral)},
};

const char *forms_agent(size_t index)
{
	return index < LENGTH(lists) ? lists[index].agent : NULL;
}

const struct form_list *forms_of(const char *agent)
{
	for (size_t i = 0; i < LENGTH(lists); i++)
		if (strcmp(lists[i].agent, agent) == 0)
			return &lists[i];
	return NULL;
}

const struct form *form_find(const struct form_list *list, struct str event)
{
	for (size_t i = 1; i < list->n; i++)
		if (str_is(event, list->forms[i].event))
			return &list->forms[i];
	return &list->forms[0];
}

size_t form_refuse(const struct form *form, struct str text, struct str reason, struct str by,
		   struct str id_json, char *buf, size_t room)
{
	/* each text takes at most a third of what there is, so that all of the form fits */
	static char inside_text[24 * 1024], inside_reason[24 * 1024];
	size_t n_text = text_json(text, inside_text, sizeof(inside_text));
	size_t n_reason = text_json(reason, inside_reason, sizeof(inside_reason));
	const struct text_hole holes[] = {
		{"text", {inside_text, n_text}},
		{"reason", {inside_reason, n_reason}},
		{"by", by},
		{"id", id_json.ptr && id_json.len <= FORM_ID_MAX ? id_json : STR("null")},
	};
	return text_fill(str_of(form->answer), holes, LENGTH(holes), buf, room);
}
