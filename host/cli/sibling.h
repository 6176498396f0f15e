/* sibling.h - commands that are programs of their own beside the worker, so that what they
 * link is loaded by nobody else.
 *
 * Layer: cli.
 */
#ifndef PAWL_CLI_SIBLING_H
#define PAWL_CLI_SIBLING_H

#include <limits.h>

#include "core/config.h"

/* Becomes the program of that name; comes back, with a text on stderr, only when it cannot. */
void sibling_exec(const char *program, char *const argv[]);

/* The path option of the first audit observer, from the config's folder; -ENOENT: no audit is
 * configured. */
int sibling_audit(const struct config *config, char path[PATH_MAX]);

#endif
