/* worker-main.c - pawl-worker: started by pawl, never by hand. Of what the other commands
 * need there is nothing here: each page that is loaded is paid for by every hook. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/sibling.h"
#include "core/isolated.h"
#include "fronts/worker.h"

int main(int argc, char **argv)
{
	if (argc == 5 && (strcmp(argv[1], "hook") == 0 || strcmp(argv[1], "eval") == 0))
		return worker_run(argv + 1);
	if (argc == 2 && strcmp(argv[1], "isolated") == 0)
		return isolated_run();
	if (argc >= 5 && strcmp(argv[1], "tool") == 0) {
		sibling_exec("pawl-tool", argv);
		return 127;
	}
	fprintf(stderr, "pawl-worker is started by pawl, not by hand\n");
	return 2;
}
