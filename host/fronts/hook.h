/* hook.h - pawl hook AGENT: one event on stdin, its answer on stdout.
 *
 * Layer: fronts; libc only.
 */
#ifndef PAWL_FRONTS_HOOK_H
#define PAWL_FRONTS_HOOK_H

/* Never returns anything but 0 (the tool may run, or nothing was asked) or 2. event and
 * config may be NULL. */
int hook_run(const char *agent, const char *event, const char *config);

#endif
