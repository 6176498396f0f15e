/* name.h - an id for a call that its client gave none.
 *
 * Layer: audit; knows json, and libsodium's SHA-256.
 *
 * Made of what the event before the tool and the one after it both say: session, tool,
 * server and the arguments that run. So both get the same id although nothing is kept
 * between them. Equal calls of a session share it; their occurrence tells them apart.
 */
#ifndef PAWL_AUDIT_NAME_H
#define PAWL_AUDIT_NAME_H

#include "base/str.h"
#include "json/json.h"

#define NAME_MAX_LEN (5 + 32 + 1) /* "pawl-", half of a SHA-256 in hex, NUL */

/* args is JSON, or absent. How it is written makes no difference: clients read it and
 * write it anew, as JavaScript does, so members have no order and a number is a double,
 * null when it is past one. */
void name_call(struct json_arena *arena, struct str session, struct str tool, struct str server,
	       struct str args, char buf[NAME_MAX_LEN]);

#endif
