/* match-class.c - what kind of tool a name stands for, over all clients.
 *
 * Layer: core; base only.  One entry of the chain that names a class covers the tools
 * of every client; a new client's tools are rows of the table here.
 */
#include <config.h>

#include "core/match.h"

#include <stdlib.h>
#include <string.h>

enum class { SHELL, READ, WRITE, FETCH, SEARCH, AGENT, MCP, OTHER };

static const struct str class_names[] = {
	[SHELL] = {"shell", 5}, [READ] = {"read", 4},	  [WRITE] = {"write", 5},
	[FETCH] = {"fetch", 5}, [SEARCH] = {"search", 6}, [AGENT] = {"agent", 5},
	[MCP] = {"mcp", 3},	[OTHER] = {"other", 5},
};

/* Local tools of every client, in strcmp order.  What is not here is "other". */
static const struct {
	const char *name;
	enum class class;
} classes[] = {
	{"Agent", AGENT},
	{"Bash", SHELL},
	{"BashOutput", SHELL},
	{"Delete", WRITE},
	{"Edit", WRITE},
	{"Glob", SEARCH},
	{"Grep", SEARCH},
	{"KillBash", SHELL},
	{"KillShell", SHELL},
	{"LS", SEARCH},
	{"Monitor", SHELL},
	{"MultiEdit", WRITE},
	{"NotebookEdit", WRITE},
	{"NotebookRead", READ},
	{"PowerShell", SHELL},
	{"Read", READ},
	{"Shell", SHELL},
	{"StrReplace", WRITE},
	{"Task", AGENT},
	{"WebFetch", FETCH},
	{"WebSearch", SEARCH},
	{"Write", WRITE},
	{"agent", AGENT},
	{"apply_patch", WRITE},
	{"bash", SHELL},
	{"browser_action", FETCH},
	{"codebase_search", SEARCH},
	{"create", WRITE},
	{"delegate", AGENT},
	{"delegate_to_agent", AGENT},
	{"delete_file", WRITE},
	{"developer__edit", WRITE},
	{"developer__list_files", SEARCH},
	{"developer__read_image", READ},
	{"developer__shell", SHELL},
	{"developer__text_editor", WRITE},
	{"developer__tree", SEARCH},
	{"developer__write", WRITE},
	{"edit", WRITE},
	{"edit_file", WRITE},
	{"exec_command", SHELL},
	{"execute_bash", SHELL},
	{"execute_command", SHELL},
	{"fetch", FETCH},
	{"find_by_name", SEARCH},
	{"fs_read", READ},
	{"fs_write", WRITE},
	{"glob", SEARCH},
	{"google_web_search", SEARCH},
	{"grep", SEARCH},
	{"grep_search", SEARCH},
	{"invoke_subagent", AGENT},
	{"list", SEARCH},
	{"list_code_definition_names", SEARCH},
	{"list_dir", SEARCH},
	{"list_directory", SEARCH},
	{"list_files", SEARCH},
	{"local_shell", SHELL},
	{"ls", SEARCH},
	{"multiedit", WRITE},
	{"patch", WRITE},
	{"powershell", SHELL},
	{"read", READ},
	{"read_bash", SHELL},
	{"read_code", READ},
	{"read_file", READ},
	{"read_many_files", READ},
	{"replace", WRITE},
	{"replace_in_file", WRITE},
	{"run_command", SHELL},
	{"run_in_terminal", SHELL},
	{"run_shell_command", SHELL},
	{"search_file_content", SEARCH},
	{"search_files", SEARCH},
	{"shell", SHELL},
	{"spawn_agent", AGENT},
	{"stop_bash", SHELL},
	{"str_replace_based_edit_tool", WRITE},
	{"str_replace_editor", WRITE},
	{"subagent", AGENT},
	{"task", AGENT},
	{"use_subagents", AGENT},
	{"view", READ},
	{"view_image", READ},
	{"web_fetch", FETCH},
	{"web_search", SEARCH},
	{"webfetch", FETCH},
	{"websearch", SEARCH},
	{"write", WRITE},
	{"write_bash", SHELL},
	{"write_code", WRITE},
	{"write_file", WRITE},
	{"write_stdin", SHELL},
	{"write_to_file", WRITE},
};

static int class_compare(const void *key, const void *row)
{
	const struct str *name = key;
	const char *other = *(const char *const *)row;
	size_t n = strlen(other);
	int c = memcmp(name->ptr, other, name->len < n ? name->len : n);
	return c != 0 ? c : (name->len > n) - (name->len < n);
}

struct str tool_class(const struct tool_reading *tool)
{
	if (str_is(tool->source, "mcp"))
		return class_names[MCP];
	if (str_is(tool->source, "agent"))
		return class_names[AGENT];
	if (!str_is(tool->source, "local"))
		return class_names[OTHER];
	const void *row = bsearch(&tool->name, classes, sizeof(classes) / sizeof(classes[0]),
				  sizeof(classes[0]), class_compare);
	return class_names[row ? ((const __typeof__(classes[0]) *)row)->class : OTHER];
}
