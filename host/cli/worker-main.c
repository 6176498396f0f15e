/* worker-main.c - pawl-worker: started by pawl, never by hand. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "core/isolated.h"
#include "fronts/worker.h"

int main(int argc, char **argv)
{
	if (argc == 5 && (strcmp(argv[1], "hook") == 0 || strcmp(argv[1], "eval") == 0))
		return worker_run(argv + 1);
	if (argc == 2 && strcmp(argv[1], "isolated") == 0)
		return isolated_run();
	if (argc >= 5 && strcmp(argv[1], "tool") == 0) {
		signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error, not our end */
		return tool_run(argc - 2, argv + 2);
	}
	fprintf(stderr, "pawl-worker is started by pawl, not by hand\n");
	return 2;
}
