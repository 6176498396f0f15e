/* child.h - runs a function that loads plugins in a process of its own, so that a plugin
 * which crashes or hangs is a finding and not our end.
 *
 * Layer: cli.
 */
#ifndef PAWL_CLI_CHILD_H
#define PAWL_CLI_CHILD_H

#include <stdio.h>

#include "core/progress.h"
#include "fronts/loss.h"

#define CHILD_REPORT_MAX ((size_t)64 << 20)
#define CHILD_TIME_NS INT64_C(10000000000)

/* What the child does; its report goes to out. Returns 0 or more, given back as *status. */
typedef int (*child_fn)(void *data, struct progress *progress, FILE *out);

/* Runs fn in a child whose stdout and stderr lead nowhere. *ret_report (the caller's, free())
 * holds what it wrote, only when it came to its end: 0. -1 with the loss otherwise. */
int child_run(child_fn fn, void *data, int64_t time_ns, char **ret_report, int *ret_status,
	      struct loss *loss);

#endif
