/* worker-main.c - pawl-worker: started by pawl, never by hand. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "core/isolated.h"
#include "fronts/worker.h"

#ifdef PAWL_TSAN_LOG
/* A worker's stderr and environment are nobody's: what is found goes to files. A plugin's crash
 * stays one. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:"
	       "log_path=" PAWL_TSAN_LOG;
}
#endif

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
