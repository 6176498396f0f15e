/* call.h - one tool or model call, frozen: what plugins are asked about.
 *
 * Layer: core; knows plugin-api and json.
 *
 * A dialect fills it in, the chain moves its arguments and round on; plugins see the
 * same memory through the arena's read-only mapping (call->frozen).
 */
#ifndef PAWL_CORE_CALL_H
#define PAWL_CORE_CALL_H

#include <stdbool.h>

#include <pawl/plugin.h>

#include "core/event.h"
#include "core/match.h"
#include "json/json.h"

#define CALL_TEXTS (PAWL_T_CWD + 1)
#define CALL_NUMBERS (PAWL_N_DURATION_NS + 1)
#define CALL_ROOTS (PAWL_R_SESSION + 1)
#define CALL_ABSENT INT64_MIN

struct pawl_call {
	struct str text[CALL_TEXTS];	  /* NUL-terminated, in the arena */
	int64_t number[CALL_NUMBERS];
	const struct json_value *root[CALL_ROOTS];
	enum event_kind kind;
	struct tool_name tool;	/* how the tool's name can be read; [0] is the text's */
	struct str tool_raw;	/* the name as the client wrote it */
	struct str class;
	struct str call_id_json; /* tool_use_id as it came, "null" when absent */
	const struct json_value *args_sent; /* as the client wrote them, where a dialect added
					     * names that rules know; NULL: as ARGS_GIVEN */
	bool id_given;
	struct json_arena *arena;
	struct json_limits limits;
	const struct pawl_call *frozen; /* this struct as plugins see it */
};

/* A call with nothing in it, in the arena: texts absent, numbers absent, now = the
 * wall clock. NULL when the arena is full. */
struct pawl_call *call_new(struct json_arena *arena, struct json_limits limits);

/* Sets a text field from a JSON string (copied by the reader already); anything
 * else leaves it as it is. */
void call_set_text(struct pawl_call *call, int field, const struct json_value *value);

/* Reads the tool's name in all the ways it can be read; source and server as the
 * client gave them, absent otherwise. Sets PAWL_T_TOOL, SOURCE, SERVER and class. */
int call_set_tool(struct pawl_call *call, struct str raw, struct str source, struct str server,
		  struct error *err);

/* Which root an edit changes: arguments, the model request, or its message. */
int call_args_root(const struct pawl_call *call);

/* "mcp:cap/echo", or the plain name: what refusals show. In the arena. */
struct str call_tool_shown(const struct pawl_call *call);

struct match_subject call_subject(const struct pawl_call *call);

#endif
