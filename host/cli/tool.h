/* tool.h - a command that runs in pawl-tool: check, explain, plugins ...
 *
 * Layer: cli. A new one is a file that ends in its struct tool, and one line in tools.c and
 * in main.c's table.
 */
#ifndef PAWL_CLI_TOOL_H
#define PAWL_CLI_TOOL_H

#include <stdbool.h>

struct tool_line {
	const char *config; /* NULL: the default */
	bool json, quiet;
	char *const *words; /* after the command */
	int n;
};

struct tool {
	const char *name;
	int min, max; /* how many words it takes; max -1: any */
	const char *arguments;
	int (*run)(const struct tool_line *line);
};

/* argv: NAME CONFIG FLAGS WORDS...; returns the exit status. */
int tool_run(int argc, char *const argv[]);

#endif
