/* hosttable.h - the services a plugin gets: <pawl/plugin.h>'s struct pawl_host.
 *
 * Layer: core.  The readers are thin names for json.h; the reply's are in reply.c.
 */
#ifndef PAWL_CORE_HOSTTABLE_H
#define PAWL_CORE_HOSTTABLE_H

#include <pawl/plugin.h>

/* The table every instance gets a copy of. */
extern const pawl_host host_table;

#endif
