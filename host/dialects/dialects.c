/* dialects.c - the list of clients, and which of them an event is from. */
#include <config.h>

#include "dialects/dialect.h"

#include <errno.h>

extern const struct dialect dialect_claude_code, dialect_cline, dialect_codex, dialect_copilot,
	dialect_cursor, dialect_gemini, dialect_goose, dialect_kiro, dialect_pawl, dialect_qwen,
	dialect_windsurf;

static const struct dialect *const dialects[] = {
	&dialect_claude_code,
	&dialect_codex,
	&dialect_gemini,
	&dialect_qwen,
	&dialect_cursor,
	&dialect_copilot,
	&dialect_windsurf,
	&dialect_kiro,
	&dialect_goose,
	&dialect_cline,
	&dialect_pawl,
};

#define N_DIALECTS (sizeof(dialects) / sizeof(dialects[0]))

const struct dialect *dialect_at(size_t index)
{
	return index < N_DIALECTS ? dialects[index] : NULL;
}

const struct dialect *dialect_find(const char *name)
{
	for (size_t i = 0; i < N_DIALECTS; i++)
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	return NULL;
}

/* Cursor runs the hooks of Claude Code's settings with events of its own. */
static const struct dialect *sender(const struct dialect *dialect, const struct json_value *event)
{
	if (dialect == &dialect_claude_code && json_member(event, STR("cursor_version")))
		return &dialect_cursor;
	return dialect;
}

void dialect_assume(const struct dialect *dialect, struct pawl_call *call, struct str event)
{
	call->text[PAWL_T_EVENT] = event;
	call->kind = form_find(forms_of(dialect->name), event)->kind;
}

static int read_kind(const struct dialect *dialect, struct pawl_call *call,
		     const struct json_value *event, struct str event_given, struct error *err)
{
	struct str name = {NULL, 0};
	const struct json_value *member = json_member(event, STR("hook_event_name"));
	if (dialect->event_name)
		name = dialect->event_name(event);
	else if (member || !event_given.ptr)
		if (dialect_need(member, JSON_STRING, "hook_event_name", err) < 0)
			return -EBADMSG;
	if (!dialect->event_name)
		json_string(member, &name);
	if (!name.ptr)
		name = event_given;
	if (!name.ptr && dialect->event_guess && dialect->event_guess(event))
		name = str_of(dialect->event_guess(event));
	if (!name.ptr)
		return error_set(err, EBADMSG,
				 "the event does not say which it is; name it with --event");
	if (event_given.ptr && !str_equal(name, event_given)) {
		dialect_assume(dialect, call, (struct str){NULL, 0}); /* neither is believed */
		return error_set(err, EBADMSG, "the event is %.*s, but --event said %.*s",
				 STR_FMT(name), STR_FMT(event_given));
	}
	call->text[PAWL_T_EVENT] = json_arena_text(call->arena, name);
	call->kind = form_find(forms_of(dialect->name), name)->kind;
	if (call->kind == EVENT_UNKNOWN)
		return error_set(err, EBADMSG, "%s sends no event \"%.*s\" that pawl knows",
				 dialect->name, STR_FMT(name));
	return 0;
}

int dialect_decode(const struct dialect *dialect, struct pawl_call *call,
		   const struct json_value *event, struct str event_given, struct error *err)
{
	dialect = sender(dialect, event);
	call->text[PAWL_T_CLIENT] = json_arena_text(call->arena, str_of(dialect->name));
	call->text[PAWL_T_TARGET] = json_arena_text(call->arena, STR("server"));
	call->text[PAWL_T_AGENT] = json_arena_text(call->arena, STR(""));
	if (json_type(event) != JSON_OBJECT)
		return error_set(err, EBADMSG, "the event is not a JSON object");
	call->root[PAWL_R_EVENT] = event;
	int r = read_kind(dialect, call, event, event_given, err);
	return r < 0 ? r : dialect->decode(call, event, err);
}
