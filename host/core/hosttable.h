/* hosttable.h - the services a plugin gets: <pawl/plugin.h>'s struct pawl_host.
 *
 * Layer: core.  The readers are thin names for json.h; the reply's are in reply.c.
 */
#ifndef PAWL_CORE_HOSTTABLE_H
#define PAWL_CORE_HOSTTABLE_H

#include <pawl/plugin.h>

/* The table every instance gets a copy of. */
extern const pawl_host host_table;

/* Where json() puts its NUL-terminated copies: the arena of the call this thread asks
 * plugins about (of the config while they are opened). */
struct json_arena;
extern _Thread_local struct json_arena *host_table_arena;

/* Where set_error's text goes (PLUGIN_ERROR_MAX): several threads may be in one instance.
 * NULL: to the instance's own place. */
extern _Thread_local char *host_table_error;

#endif
