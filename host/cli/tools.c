/* tools.c - the list of commands that run in pawl-tool. */
#include <config.h>

#include "cli/tool.h"

#include <stdio.h>
#include <string.h>

extern const struct tool tool_agents, tool_audit, tool_check, tool_explain, tool_plugins, tool_reset;
extern const struct tool tool_approvals, tool_resume;
extern const struct tool tool_doctor, tool_install, tool_status, tool_uninstall;

static const struct tool *const tools[] = {
	&tool_agents, &tool_audit, &tool_check, &tool_explain, &tool_plugins, &tool_reset,
	&tool_doctor, &tool_install, &tool_status, &tool_uninstall,
	&tool_approvals, &tool_resume,
};

int tool_run(int argc, char *const argv[])
{
	if (argc < 3)
		return 2;
	struct tool_line line = {
		.config = argv[1][0] ? argv[1] : NULL,
		.json = strchr(argv[2], 'j') != NULL,
		.quiet = strchr(argv[2], 'q') != NULL,
		.words = argv + 3,
		.n = argc - 3,
	};
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		const struct tool *tool = tools[i];
		if (strcmp(tool->name, argv[0]) != 0)
			continue;
		if (line.n < tool->min || (tool->max >= 0 && line.n > tool->max)) {
			fprintf(stderr, "usage: pawl %s %s\n", tool->name, tool->arguments);
			return 2;
		}
		return tool->run(&line);
	}
	return 2;
}
