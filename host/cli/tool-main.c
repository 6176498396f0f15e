/* tool-main.c - pawl-tool: the commands that are no hook; started by pawl-worker. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "core/isolated.h"

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "isolated") == 0) /* by one that tries a config's plugins */
		return isolated_run();
	if (argc >= 5 && strcmp(argv[1], "tool") == 0) {
		signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error, not our end */
		return tool_run(argc - 2, argv + 2);
	}
	fprintf(stderr, "pawl-tool is started by pawl, not by hand\n");
	return 2;
}
