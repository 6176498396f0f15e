/* call.c - see call.h. */
#include <config.h>

#include "core/call.h"

#include <errno.h>
#include <stdio.h>

#include "base/io.h"

struct pawl_call *call_new(struct json_arena *arena, struct json_limits limits)
{
	struct pawl_call *call = json_arena_alloc(arena, sizeof(*call));
	if (!call)
		return NULL;
	memset(call, 0, sizeof(*call));
	for (int i = 0; i < CALL_NUMBERS; i++)
		call->number[i] = CALL_ABSENT;
	call->number[PAWL_N_NOW_NS] = io_wall_ns();
	call->number[PAWL_N_DEADLINE_NS] = 0;
	call->number[PAWL_N_CANCELLED] = 0;
	call->number[PAWL_N_ROUND] = 0;
	call->call_id_json = STR("null");
	call->class = STR("other");
	call->arena = arena;
	call->limits = limits;
	call->frozen = json_arena_frozen(arena, call);
	return call;
}

void call_set_text(struct pawl_call *call, int field, const struct json_value *value)
{
	struct str text;
	if (json_string(value, &text) == 0)
		call->text[field] = text;
}

/* Literals and borrowed pieces have no NUL behind them: the ABI promises one. */
static struct str own(struct pawl_call *call, struct str text)
{
	return json_arena_text(call->arena, text);
}

int call_set_tool(struct pawl_call *call, struct str raw, struct str source, struct str server,
		  struct error *err)
{
	call->tool_raw = raw;
	tool_name_read(raw, source, server, &call->tool);
	if (call->tool.n == 0)
		return error_set(err, EBADMSG, "the tool's name is empty");
	const struct tool_reading *reading = &call->tool.readings[0];
	call->text[PAWL_T_TOOL] = own(call, reading->name);
	call->text[PAWL_T_SOURCE] = own(call, reading->source);
	call->text[PAWL_T_SERVER] = own(call, reading->server.ptr ? reading->server : STR(""));
	call->class = tool_class(reading);
	if (!call->text[PAWL_T_SERVER].ptr)
		return error_set(err, ENOMEM, "out of memory");
	return 0;
}

int call_args_root(const struct pawl_call *call)
{
	switch (call->kind) {
	case EVENT_PRE_MODEL:
		return PAWL_R_REQUEST;
	case EVENT_POST_MODEL:
		return PAWL_R_MESSAGE;
	default:
		return PAWL_R_ARGS;
	}
}

struct str call_tool_shown(const struct pawl_call *call)
{
	if (!str_is(call->text[PAWL_T_SOURCE], "mcp"))
		return call->text[PAWL_T_TOOL];
	char shown[512];
	int n = snprintf(shown, sizeof(shown), "mcp:%.*s/%.*s",
			 STR_FMT(call->text[PAWL_T_SERVER]), STR_FMT(call->text[PAWL_T_TOOL]));
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(shown) ? (size_t)n : sizeof(shown) - 1;
	return json_arena_text(call->arena, (struct str){shown, len});
}

struct match_subject call_subject(const struct pawl_call *call)
{
	bool about_tool = call->tool.n > 0;
	return (struct match_subject){
		.tool = about_tool ? &call->tool : NULL,
		.class = about_tool ? call->class : (struct str){NULL, 0},
		.agent = call->text[PAWL_T_AGENT],
		.agent_type = call->text[PAWL_T_AGENT_TYPE],
		.client = call->text[PAWL_T_CLIENT],
	};
}
