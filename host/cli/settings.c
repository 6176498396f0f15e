/* settings.c - see settings.h: the table of clients and what reads it. What a row says is
 * after the client's documents, or as measured with the version that `pawl agents` shows. */
#include <config.h>

#include "cli/settings.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "core/config.h"
#include "dialects/dialect.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- the table --------------------------------------------------------------------------- */

#define TYPE "\"type\": \"command\""

static const char *const nothing[] = {NULL};

static const struct settings table[] = {
	{.agent = "claude-code",
	 .user = ".claude/settings.json",
	 .project = ".claude/settings.json",
	 .others = LIST(".claude/settings.local.json", "/etc/claude-code/managed-settings.json"),
	 .match = MATCH_NAMES,
	 .events = LIST("PreToolUse", "PreSkillShellCommand", "UserPromptSubmit", "PostToolUse",
			"PostToolUseFailure", "Stop", "SessionEnd"),
	 .type = TYPE,
	 .program = "command",
	 .exec = true,
	 .timeout = "timeout",
	 .closed = "onFailure",
	 .closed_value = "\"block\"",
	 .off = "/disableAllHooks",
	 .off_value = "true",
	 .parallel = true,
	 .tools = LIST("Bash", "PowerShell", "BashOutput", "KillShell", "Monitor", "Read", "Write",
		       "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep", "LS", "WebFetch",
		       "WebSearch", "Agent", "Task", "Skill", "TodoWrite", "ExitPlanMode",
		       "AskUserQuestion", "mcp__server__tool"),
	 .holes =
		 LIST("files named with @ in a prompt are read without a hook",
		      "a call that its schema refuses, and EndConversation, reach no hook",
		      "what Bash does to files is no Edit or Write",
		      "onFailure is known since 2.1.295: before that a late hook lets the call run",
		      "claude --bare runs no hooks")},
	{.agent = "codex",
	 .user = ".codex/hooks.json",
	 .project = ".codex/hooks.json",
	 .beside = "config.toml",
	 .match = MATCH_NAMES,
	 .events = LIST("PreToolUse", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"),
	 .matcher = "*",
	 .type = TYPE,
	 .program = "command",
	 .timeout = "timeout",
	 .parallel = true,
	 .login = true,
	 .after = "review it in Codex with /hooks: it skips a hook that is not trusted without a "
		  "word, and again after each change of the command line",
	 .tools = LIST("Bash", "apply_patch", "Edit", "Write", "mcp__server__tool"),
	 .holes = LIST(
		 "write_stdin into an open shell reaches no hook: what is typed there is "
		 "unseen",
		 "a command's workdir and shell are not shown to a hook",
		 "no event follows an MCP tool's error, a failed start or a command that "
		 "still runs",
		 "what is run inside Code Mode's exec reaches no hook",
		 "a hook that crashes or is late lets the call run, and nothing changes that")},
	{.agent = "gemini",
	 .user = ".gemini/settings.json",
	 .project = ".gemini/settings.json",
	 .others = LIST("/etc/gemini-cli/settings.json"),
	 .match = MATCH_REGEX,
	 .events = LIST("BeforeTool", "BeforeAgent", "BeforeModel", "AfterModel", "AfterTool",
			"SessionEnd"),
	 .matcher = ".*",
	 .type = TYPE ", \"name\": \"pawl\"",
	 .program = "command",
	 .timeout = "timeout",
	 .ms = true,
	 .head = "hooksConfig",
	 .head_value = "{ \"enabled\": true }",
	 .off = "/hooksConfig/enabled",
	 .off_value = "false",
	 .parallel = true,
	 .tools = LIST("run_shell_command", "read_file", "read_many_files", "write_file", "replace",
		       "list_directory", "glob", "grep_search", "search_file_content", "web_fetch",
		       "google_web_search", "save_memory", "write_todos", "invoke_subagent",
		       "mcp_server_tool"),
	 .holes = LIST("a call that its schema refuses reaches no hook",
		       "a hook that crashes or is late lets the call run, and nothing changes that",
		       "a project's hooks run in trusted folders only",
		       "the events carry no tool_use_id")},
	{.agent = "qwen",
	 .user = ".qwen/settings.json",
	 .project = ".qwen/settings.json",
	 .match = MATCH_REGEX,
	 .events = LIST("PreToolUse", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure",
			"Stop", "SessionEnd"),
	 .matcher = ".*",
	 .type = TYPE,
	 .program = "command",
	 .timeout = "timeout",
	 .ms = true,
	 .parallel = true,
	 .tools = LIST("run_shell_command", "read_file", "read_many_files", "write_file", "edit",
		       "list_directory", "glob", "grep_search", "web_fetch", "web_search",
		       "save_memory", "todo_write", "task", "mcp__server__tool"),
	 .holes = LIST(
		 "rewritten arguments are ignored there: pawl refuses instead",
		 "SessionEnd does not come without a terminal",
		 "numbers past 2^53 are rounded before a hook sees them",
		 "a hook that crashes or is late lets the call run, and nothing changes that")},
	{.agent = "cursor",
	 .user = ".cursor/hooks.json",
	 .project = ".cursor/hooks.json",
	 .others = LIST("/etc/cursor/hooks.json"),
	 .shape = SHAPE_FLAT,
	 .match = MATCH_REGEX,
	 /* preToolUse comes before every tool, with an id; beforeReadFile tells of a file that
	  * is attached, too, and Tab has events of its own */
	 .events = LIST("preToolUse", "beforeReadFile", "beforeTabFileRead", "beforeSubmitPrompt",
			"postToolUse", "postToolUseFailure", "stop", "sessionEnd"),
	 .again = LIST("beforeShellExecution", "beforeMCPExecution"),
	 .program = "command",
	 .timeout = "timeout",
	 .closed = "failClosed",
	 .closed_value = "true",
	 .head = "version",
	 .head_value = "1",
	 .parallel = true,
	 .tools = LIST("Shell", "Read", "Write", "Edit", "StrReplace", "Delete", "Grep", "Glob",
		       "LS", "WebFetch", "WebSearch", "Task", "MCP:tool"),
	 .holes = LIST("an unknown event, a bad matcher or another version makes it drop the "
		       "whole file",
		       "MCP servers are not named in the events",
		       "nobody is asked on preToolUse, so a call that needs a person is refused: "
		       "\"approval\": {\"ask\": \"queue\"} asks elsewhere",
		       "prompts and the session's stop reach no hook in -p mode",
		       "hooks in Claude Code's settings run there, too; they are looked at with "
		       "`pawl doctor claude-code`")},
	{.agent = "copilot",
	 .user = ".copilot/hooks/pawl.json",
	 .project = ".github/hooks/pawl.json",
	 .others = LIST("~/.copilot/hooks/*.json", ".github/hooks/*.json",
			"/etc/github-copilot/policy.d/*.json"),
	 .shape = SHAPE_FLAT,
	 .match = MATCH_ANCHORED,
	 .events =
		 LIST("preToolUse", "postToolUse", "postToolUseFailure", "agentStop", "sessionEnd"),
	 .type = TYPE,
	 .program = "exec",
	 .exec = true,
	 .named = true,
	 .timeout = "timeoutSec",
	 .head = "version",
	 .head_value = "1",
	 .parallel = true,
	 .tools = LIST("bash", "powershell", "read_bash", "write_bash", "stop_bash", "view",
		       "create", "edit", "glob", "grep", "web_fetch", "task"),
	 .holes = LIST("a late hook lets the call run, always",
		       "prompts can be watched, not refused",
		       "a repository's hooks run in -p only where the folder is trusted",
		       "the events carry no tool_use_id")},
	{.agent = "windsurf",
	 .user = ".codeium/windsurf/hooks.json",
	 .project = ".windsurf/hooks.json",
	 .others = LIST("/etc/windsurf/hooks.json"),
	 .shape = SHAPE_FLAT,
	 .events = LIST("pre_run_command", "pre_mcp_tool_use", "pre_read_code", "pre_write_code",
			"pre_user_prompt", "post_run_command", "post_mcp_tool_use",
			"post_read_code", "post_write_code"),
	 .program = "command",
	 .more = "\"show_output\": true",
	 .holes = LIST("arguments cannot be rewritten, and nobody is asked",
		       "tools beside commands, MCP, reading and writing reach no hook",
		       "any exit status but 2 lets the call run, and nothing changes that")},
	{.agent = "kiro",
	 .shape = SHAPE_FLAT,
	 .match = MATCH_GLOB,
	 .events = LIST("preToolUse", "postToolUse", "stop"),
	 .matcher = "*",
	 .program = "command",
	 .timeout = "timeout_ms",
	 .ms = true,
	 .more = "\"cache_ttl_seconds\": 0",
	 .tools = LIST("execute_bash", "fs_read", "fs_write", "use_aws", "@server", "@server/tool",
		       "@builtin"),
	 .holes = LIST("an agent whose file has no hooks is not covered",
		       "hooks of the IDE carry no tool and no arguments",
		       "any exit status but 2 lets the call run, and nothing changes that")},
	{.agent = "goose",
	 .user = ".agents/plugins/pawl/hooks/hooks.json",
	 .project = ".agents/plugins/pawl/hooks/hooks.json",
	 .match = MATCH_REGEX,
	 .events = LIST("PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"),
	 .matcher = ".*",
	 .type = TYPE,
	 .program = "command",
	 .timeout = "timeout",
	 .closed = "on_failure",
	 .closed_value = "\"block\"",
	 .tools = LIST("developer__shell", "developer__text_editor", "developer__write",
		       "developer__edit", "developer__tree", "server__tool"),
	 .holes = LIST("BeforeShellExecution, BeforeReadFile and prompts can be watched, not "
		       "refused",
		       "arguments cannot be rewritten, and nobody is asked")},
	{.agent = "cline",
	 .user = "Documents/Cline/Hooks",
	 .project = ".clinerules/hooks",
	 .shape = SHAPE_SCRIPTS,
	 .events = LIST("PreToolUse", "UserPromptSubmit", "PostToolUse", "TaskCancel",
			"TaskComplete"),
	 .holes = LIST("a hook that crashes or takes longer than 120 s lets the call run, and "
		       "nothing changes that")},
	{.agent = "opencode",
	 .user = ".config/opencode/plugin/pawl.js",
	 .project = ".opencode/plugin/pawl.js",
	 .shape = SHAPE_PLUGIN,
	 .events = nothing,
	 .timeout = "timeout",
	 .ms = true,
	 .after = "start it anew: it loads plugins when it starts",
	 .holes = LIST("permission.ask is never called: nobody can be asked there",
		       "no event follows an MCP tool's error",
		       "a member that is there twice has lost one before a plugin sees it",
		       "plugins run one after the other: one behind pawl's can change arguments "
		       "that pawl has seen")},
};

#define N_SETTINGS (sizeof(table) / sizeof(table[0]))

const struct settings *settings_of(const char *agent)
{
	for (size_t i = 0; i < N_SETTINGS; i++)
		if (strcmp(table[i].agent, agent) == 0)
			return &table[i];
	return NULL;
}

enum event_kind settings_kind(const struct settings *settings, const char *event)
{
	return form_find(forms_of(settings->agent), str_of(event))->kind;
}

/* ---- the command line --------------------------------------------------------------------- */

static int wrong(const char *command, const char *text, const char *what)
{
	fprintf(stderr, "pawl %s: %s%s\n", command, text, what);
	return 2;
}

int settings_home(char *buf, size_t room, struct error *err)
{
	const struct passwd *user = getpwuid(geteuid());
	if (!user || user->pw_dir[0] != '/')
		return error_set(err, ENOENT,
				 "the user database has no home folder for user %u; use --file",
				 (unsigned)geteuid());
	snprintf(buf, room, "%s", user->pw_dir);
	return 0;
}

/* Absolute, so that it means the same wherever the client stands. */
static int absolute(const char *path, char buf[PATH_MAX], struct error *err)
{
	char here[PATH_MAX] = "";
	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	int n = strcmp(path, ".") == 0 ? snprintf(buf, PATH_MAX, "%s", here)
		: path[0] == '/'       ? snprintf(buf, PATH_MAX, "%s", path)
				       : snprintf(buf, PATH_MAX, "%s/%s", here, path);
	return n < PATH_MAX ? 0 : error_set(err, ENAMETOOLONG, "%s: the path is too long", path);
}

struct given {
	const char *agent, *file, *project, *timeout;
	bool user, dry_run;
};

/* --NAME VALUE or --NAME=VALUE. */
static bool takes(const char *name, const struct tool_line *line, int *i, const char **value)
{
	const char *word = line->words[*i];
	size_t len = strlen(name);
	if (strncmp(word, name, len) != 0 || (word[len] && word[len] != '='))
		return false;
	*value = word[len] ? word + len + 1 : *i + 1 < line->n ? line->words[++*i] : "";
	return true;
}

/* --project takes the word behind it for its folder once the agent is named. */
static bool takes_project(const struct tool_line *line, int *i, struct given *given)
{
	const char *word = line->words[*i];
	if (strncmp(word, "--project=", 10) == 0) {
		given->project = word + 10;
		return true;
	}
	if (strcmp(word, "--project") != 0)
		return false;
	given->project = ".";
	if (given->agent && *i + 1 < line->n && line->words[*i + 1][0] != '-')
		given->project = line->words[++*i];
	return true;
}

static int read_words(const struct tool_line *line, const char *command, struct given *given)
{
	bool installs = strcmp(command, "install") == 0;
	for (int i = 0; i < line->n; i++) {
		const char *word = line->words[i];
		if (strcmp(word, "--user") == 0)
			given->user = true;
		else if (strcmp(word, "--dry-run") == 0 && strcmp(command, "doctor") != 0)
			given->dry_run = true;
		else if (takes_project(line, &i, given) ||
			 takes("--file", line, &i, &given->file) ||
			 (installs && takes("--timeout", line, &i, &given->timeout)))
			continue;
		else if (word[0] == '-')
			return wrong(command, "no such option: ", word);
		else if (given->agent)
			return wrong(command, "one AGENT only, not also ", word);
		else
			given->agent = word;
	}
	if (!given->agent)
		return wrong(command, "an AGENT is needed", "");
	if (given->user + (given->project != NULL) + (given->file != NULL) > 1)
		return wrong(command, "only one of --user, --project and --file", "");
	if ((given->file && !given->file[0]) || (given->project && !given->project[0]))
		return wrong(command, given->file ? "--file" : "--project", " needs a path");
	return 0;
}

static int read_timeout(const char *command, const char *text, int64_t *ret_ms)
{
	int64_t ns;
	*ret_ms = SETTINGS_TIMEOUT_MS;
	if (!text)
		return 0;
	if (config_duration(str_of(text), &ns) < 0 || ns < 1000000 || ns > INT64_C(3600000000000))
		return wrong(command, "--timeout takes 10s, 500ms or 2m, up to 1h, not ", text);
	*ret_ms = (ns + 999999) / 1000000;
	return 0;
}

static int find_path(const struct given *given, struct settings_line *ret, struct error *err)
{
	const struct settings *settings = ret->settings;
	char base[PATH_MAX];
	ret->project = given->project != NULL;
	ret->given = given->file || given->project || given->user;
	if (given->file)
		return absolute(given->file, ret->path, err);
	if (!settings->user)
		return error_set(err, EINVAL,
				 "%s keeps its hooks in each agent's file; name one "
				 "with --file",
				 settings->agent);
	int r = given->project ? absolute(given->project, base, err)
			       : settings_home(base, sizeof(base), err);
	if (r < 0)
		return r;
	if (snprintf(ret->path, PATH_MAX, "%s/%s", base,
		     given->project ? settings->project : settings->user) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%s: the path is too long", base);
	return 0;
}

int settings_line(const struct tool_line *line, const char *command, struct settings_line *ret)
{
	static char config[PATH_MAX];
	struct given given = {0};
	struct error err;
	memset(ret, 0, sizeof(*ret));
	int r = read_words(line, command, &given);
	if (r == 0)
		r = read_timeout(command, given.timeout, &ret->timeout_ms);
	if (r != 0)
		return r;
	ret->dry_run = given.dry_run;
	ret->settings = settings_of(given.agent);
	if (!ret->settings && forms_of(given.agent))
		return wrong(command, "the neutral dialect has no settings: ",
			     "whoever starts `pawl hook pawl` names it");
	if (!ret->settings)
		return wrong(command, "no such agent: ", given.agent);
	if (line->config && absolute(line->config, config, &err) < 0)
		return wrong(command, err.text, ""), 1;
	ret->config = line->config ? config : NULL;
	if (find_path(&given, ret, &err) < 0)
		return wrong(command, err.text, ""), 1;
	return 0;
}

int settings_pawl(char buf[PATH_MAX], struct error *err)
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/%ld/exe", (long)getppid());
	ssize_t n = readlink(link, buf, PATH_MAX - 1);
	if (n <= 0)
		return error_set(err, n ? errno : ENOENT, "%s: %s", link, strerror(errno));
	buf[n] = '\0';
	const char *slash = strrchr(buf, '/');
	if (!slash || strcmp(slash, "/pawl") != 0)
		return error_set(err, EINVAL, "%s: is not called pawl", buf);
	for (struct str rest = {buf, (size_t)n}; rest.len > 0;) {
		size_t step = text_utf8_step(rest);
		if (step == 0 || (unsigned char)rest.ptr[0] < 0x20)
			return error_set(err, EINVAL, "%s: the path cannot be written as text",
					 buf);
		rest = str_after(rest, step);
	}
	return 0;
}
