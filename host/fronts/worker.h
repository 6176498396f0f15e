/* worker.h - the side of the lane that loads plugins.
 *
 * Layer: fronts; knows dialects and core.
 */
#ifndef PAWL_FRONTS_WORKER_H
#define PAWL_FRONTS_WORKER_H

/* argv: "hook" or "eval", AGENT, EVENT ("" none), CONFIG ("" the default). Returns the
 * process's exit status; ends with _exit inside once a front has hung up. */
int worker_run(char *const argv[]);

#endif
