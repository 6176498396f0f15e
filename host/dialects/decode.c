/* decode.c - what the dialects share when they read an event. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>
#include <string.h>

int dialect_need(const struct json_value *value, enum json_type type, const char *what,
		 struct error *err)
{
	static const char *const names[] = {"null",   "a boolean", "a number",
					    "a string", "an array", "an object"};
	if (!value)
		return error_set(err, EBADMSG, "the event has no %s", what);
	if (json_type(value) != type)
		return error_set(err, EBADMSG, "the event's %s is %s, not %s", what,
				 names[json_type(value)], names[type]);
	return 0;
}

struct str dialect_text(const struct json_value *event, const char *const names[])
{
	struct str text = {NULL, 0};
	for (size_t i = 0; names[i]; i++)
		if (json_string(json_member(event, str_of(names[i])), &text) == 0)
			return text;
	return (struct str){NULL, 0};
}

void dialect_set_text(struct pawl_call *call, int field, const struct json_value *event,
		      const char *const names[])
{
	struct str text = dialect_text(event, names);
	if (text.ptr)
		call->text[field] = text;
}

void dialect_set_id(struct pawl_call *call, const struct json_value *event,
		    const char *const names[])
{
	for (size_t i = 0; names[i]; i++) {
		const struct json_value *id = json_member(event, str_of(names[i]));
		if (json_type(id) != JSON_STRING)
			continue;
		call_set_text(call, PAWL_T_CALL_ID, id);
		call->call_id_json = json_raw(id);
		return;
	}
}

int dialect_set_tool(struct pawl_call *call, const struct json_value *name, const char *what,
		     struct str source, struct str server, struct error *err)
{
	struct str text = {NULL, 0};
	int r = dialect_need(name, JSON_STRING, what, err);
	if (r < 0)
		return r;
	json_string(name, &text);
	if (text.len == 0 && call->kind == EVENT_PRE_TOOL) /* no rule could be about it */
		return error_set(err, EBADMSG, "the event's %s is empty", what);
	return call_set_tool(call, text, source, server, err);
}

/* ---- objects made of pieces ----------------------------------------------------------- */

int dialect_object(struct pawl_call *call, const char *const names[],
		   const struct json_value *const values[], size_t n,
		   const struct json_value **ret, struct error *err)
{
	size_t room = 3;
	for (size_t i = 0; i < n; i++)
		room += values[i] ? strlen(names[i]) + json_raw(values[i]).len + 4 : 0;
	char *text = json_arena_alloc(call->arena, room);
	if (!text)
		return error_set(err, ENOMEM, "out of memory");
	char *at = text;
	*at++ = '{';
	for (size_t i = 0; i < n; i++) {
		if (!values[i])
			continue;
		struct str raw = json_raw(values[i]);
		if (at > text + 1)
			*at++ = ',';
		*at++ = '"';
		at = stpcpy(at, names[i]);
		*at++ = '"';
		*at++ = ':';
		memcpy(at, raw.ptr, raw.len);
		at += raw.len;
	}
	*at++ = '}';
	return json_parse(call->arena, (struct str){text, (size_t)(at - text)}, call->limits, 0,
			  ret, NULL, err);
}

int dialect_set_prompt(struct pawl_call *call, const struct json_value *prompt, struct error *err)
{
	static const char *const names[] = {"prompt"};
	const struct json_value *request;
	int r = dialect_object(call, names, &prompt, 1, &request, err);
	if (r == 0)
		call->root[PAWL_R_REQUEST] = call->root[PAWL_R_ARGS_GIVEN] = request;
	return r;
}

/* ---- arguments ------------------------------------------------------------------------ */

/* Where a client calls an argument otherwise than the rules do. */
static const struct alias {
	const char *class, *name, *own;
} aliases[] = {
	{"shell", "command", "command_line"},
	{"shell", "command", "cmd"},
	{"read", "file_path", "absolute_path"},
	{"read", "file_path", "path"},
	{"read", "file_path", "filePath"},
	{"read", "file_path", "target_file"},
	{"write", "file_path", "path"},
	{"write", "file_path", "filePath"},
	{"write", "file_path", "target_file"},
	{"write", "file_path", "notebook_path"},
};

#define N_ALIASES (sizeof(aliases) / sizeof(aliases[0]))

/* The alias that decode adds to these arguments, or NULL. */
static const struct alias *alias_of(const struct pawl_call *call, const struct json_value *sent)
{
	for (size_t i = 0; i < N_ALIASES; i++)
		if (str_is(call->class, aliases[i].class) &&
		    !json_member(sent, str_of(aliases[i].name)) &&
		    json_type(json_member(sent, str_of(aliases[i].own))) == JSON_STRING)
			return &aliases[i];
	return NULL;
}

/* Two names for one argument, of which rules would look at one and the client at the other:
 * a model can write both. */
static int check_names(const struct pawl_call *call, const struct json_value *sent,
		       struct error *err)
{
	const struct json_value *first = NULL;
	const char *its = NULL;
	for (size_t i = 0; i < 2 * N_ALIASES; i++) {
		const struct alias *alias = &aliases[i / 2];
		const char *name = i % 2 ? alias->own : alias->name;
		const struct json_value *value = json_member(sent, str_of(name));
		if (!value || !str_is(call->class, alias->class))
			continue;
		if (first && !json_same(first, value))
			return error_set(err, EBADMSG,
					 "the arguments say %s and %s, and not the same", its, name);
		first = value;
		its = name;
	}
	return 0;
}

static struct str pointer_to(const char *name, char *buf, size_t room)
{
	size_t len = strlen(name);
	buf[0] = '/';
	memcpy(buf + 1, name, len < room - 2 ? len + 1 : room - 2);
	return (struct str){buf, len + 1};
}

/* JSON in a string, once or twice, as some clients and models write it; the value itself
 * where there is none. */
const struct json_value *dialect_unwrap(struct pawl_call *call, const struct json_value *value)
{
	const struct json_value *inside = value;
	struct str text;
	for (int i = 0; i < 2 && json_string(inside, &text) == 0; i++)
		if (json_parse(call->arena, text, call->limits, 0, &inside, NULL, NULL) < 0)
			return value;
	return json_type(inside) == JSON_OBJECT || json_type(inside) == JSON_ARRAY ? inside : value;
}

/* Text that other readers may take for an object although ours does not, as one that has a
 * member twice: rules would see nothing of it, and the tool all. */
static int check_text(const struct pawl_call *call, const struct json_value *args,
		      struct error *err)
{
	struct json_end end = {0};
	struct json_fault at;
	const struct json_value *inside;
	struct str text;
	if (json_string(args, &text) < 0)
		return 0;
	while (text.len > 0 && strchr(" \t\r\n", text.ptr[0]))
		text = str_after(text, 1);
	if (text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '['))
		return 0;
	json_end_feed(&end, text.ptr, text.len);
	if (!end.done || json_parse(call->arena, text, call->limits, 0, &inside, &at, err) == 0)
		return 0;
	error_prefix(err, "the arguments are text that cannot be read: line %u column %u", at.line,
		     at.column);
	return -EBADMSG;
}

int dialect_set_arguments(struct pawl_call *call, const struct json_value *input,
			  struct error *err)
{
	const struct json_value *args = dialect_unwrap(call, input);
	if (call->kind == EVENT_PRE_TOOL &&
	    (check_text(call, args, err) < 0 || check_names(call, args, err) < 0))
		return -EBADMSG;
	const struct alias *alias = alias_of(call, args);
	call->args_sent = args;
	if (alias) {
		char pointer[64];
		struct str value = json_raw(json_member(args, str_of(alias->own)));
		int r = json_set_at(call->arena, args,
				    pointer_to(alias->name, pointer, sizeof(pointer)), value,
				    call->limits, &args, err);
		if (r < 0)
			return r;
	}
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] = args;
	return 0;
}

/* A plugin may have written to either name, or to both the same. */
static int take_alias_off(struct pawl_call *call, const struct alias *alias,
			  const struct json_value *args, const struct json_value **ret,
			  struct error *err)
{
	char own[64], name[64];
	struct str own_pointer = pointer_to(alias->own, own, sizeof(own));
	const struct json_value *given = json_member(call->args_sent, str_of(alias->own));
	const struct json_value *now = json_member(args, str_of(alias->own));
	const struct json_value *said = json_member(args, str_of(alias->name));
	bool moved = !said || !json_same(said, given);
	if (moved && now && !json_same(now, given) && !(said && json_same(said, now)))
		return error_set(err, EBADMSG, "plugins wrote different things to %s and %s",
				 alias->name, alias->own);
	int r = 0;
	if (said)
		r = json_remove_at(call->arena, args, pointer_to(alias->name, name, sizeof(name)),
				   call->limits, &args, err);
	if (r == 0 && moved && said)
		r = json_set_at(call->arena, args, own_pointer, json_raw(said), call->limits,
				&args, err);
	else if (r == 0 && moved && now)
		r = json_remove_at(call->arena, args, own_pointer, call->limits, &args, err);
	*ret = args;
	return r;
}

int dialect_arguments(struct pawl_call *call, const struct decision *decision, struct str *ret,
		      struct error *err)
{
	const struct json_value *args = decision->args;
	const struct alias *alias = call->args_sent ? alias_of(call, call->args_sent) : NULL;
	if (alias) {
		int r = take_alias_off(call, alias, args, &args, err);
		if (r < 0)
			return r;
	}
	*ret = json_raw(args);
	return 0;
}

void dialect_settle(struct pawl_call *call, struct decision *decision)
{
	const struct alias *alias = call->args_sent ? alias_of(call, call->args_sent) : NULL;
	const struct json_value *args;
	char name[64];
	if (!decision->modified || !alias ||
	    take_alias_off(call, alias, decision->args, &args, NULL) < 0)
		return;
	const struct json_value *own = json_member(args, str_of(alias->own));
	if (json_type(own) == JSON_STRING &&
	    json_set_at(call->arena, args, pointer_to(alias->name, name, sizeof(name)),
			json_raw(own), call->limits, &args, NULL) < 0)
		return;
	decision->args = call->root[PAWL_R_ARGS] = args;
}

/* ---- results -------------------------------------------------------------------------- */

void dialect_set_duration(struct pawl_call *call, const struct json_value *ms)
{
	int64_t number;
	if (json_integer(ms, &number) == 0 && number >= 0 && number < INT64_MAX / 1000000)
		call->number[PAWL_N_DURATION_NS] = number * 1000000;
}

void dialect_set_result(struct pawl_call *call, const struct json_value *result, bool failed)
{
	int said;
	call->root[PAWL_R_RESULT] = result;
	if (json_boolean(json_member(result, STR("isError")), &said) == 0 && said)
		failed = true;
	call->number[PAWL_N_IS_ERROR] = failed;
}

static void read_result(struct pawl_call *call, const struct json_value *event)
{
	const struct json_value *response = json_member(event, STR("tool_response"));
	const struct json_value *error = json_member(event, STR("error"));
	bool failed = str_is(call->text[PAWL_T_EVENT], "PostToolUseFailure");
	int said;
	if (json_boolean(json_member(event, STR("is_error")), &said) == 0)
		failed = failed || said;
	dialect_set_result(call, response ? response : error, failed);
	dialect_set_duration(call, json_member(event, STR("duration_ms")));
}

/* ---- Claude Code's shape -------------------------------------------------------------- */

/* The server where the event says it, so that one reading of the name is left. */
static struct str server_of(const struct json_value *event)
{
	struct str name = {NULL, 0}, server = {NULL, 0};
	json_string(json_member(event, STR("tool_name")), &name);
	if (str_starts(name, STR("mcp__")))
		json_string(json_at(event, STR("/mcp_server/name")), &server);
	return server;
}

int dialect_decode_claude_fields(struct pawl_call *call, const struct json_value *event,
				 struct error *err)
{
	static const char *const ids[] = {"tool_use_id", NULL};
	const struct str absent = {NULL, 0};
	call_set_text(call, PAWL_T_SESSION, json_member(event, STR("session_id")));
	call_set_text(call, PAWL_T_CWD, json_member(event, STR("cwd")));
	call_set_text(call, PAWL_T_AGENT, json_member(event, STR("agent_id")));
	call_set_text(call, PAWL_T_AGENT_TYPE, json_member(event, STR("agent_type")));
	dialect_set_id(call, event, ids);
	if (call->kind == EVENT_PRE_MODEL)
		return dialect_set_prompt(call, json_member(event, STR("prompt")), err);
	if (call->kind != EVENT_PRE_TOOL && call->kind != EVENT_POST_TOOL)
		return 0;
	int r = dialect_set_tool(call, json_member(event, STR("tool_name")), "tool_name", absent,
				 server_of(event), err);
	if (r == 0)
		r = dialect_set_arguments(call, json_member(event, STR("tool_input")), err);
	if (r == 0 && call->kind == EVENT_POST_TOOL)
		read_result(call, event);
	return r;
}
