/* audit.h - the audit store, as the other commands see it.
 *
 * Layer: cli.
 */
#ifndef PAWL_CLI_AUDIT_H
#define PAWL_CLI_AUDIT_H

#include <limits.h>

#include "core/config.h"

/* Where the first audit of the config lies; -ENOENT none is configured. */
int audit_find(const struct config *config, char path[PATH_MAX]);

/* Its options as the config has them; ptr NULL: none is configured. */
struct str audit_options(const struct config *config);

/* What `pawl audit status` ends with for that store: 0 all is well.  -errno. */
int audit_status(const char *path);

#endif
