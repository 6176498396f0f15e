/* reply.c - the reply's half of the host table: copy, clean, check, remember.
 *
 * A service that fails leaves reply->fault, and the hook counts as an error
 * whatever it returns after. */
#include <config.h>

#include "core/reply.h"

#include <errno.h>

#include "base/text.h"
#include "core/replytable.h"

/* Field by field: a plugin a call, and clearing the whole costs more than the hook. */
void reply_init(struct pawl_reply *reply, const struct pawl_call *call)
{
	const struct str absent = {NULL, 0};
	reply->arena = call->arena;
	reply->limits = call->limits;
	reply->merge = call->kind == EVENT_PRE_MODEL;
	reply->args = call->root[call_args_root(call)];
	reply->edited = reply->grant = false;
	reply->rule = reply->reason = absent;
	reply->result = NULL;
	reply->result_is_error = false;
	reply->approval_given = false;
	reply->instructions = absent;
	reply->timeout_ns = -1;
	reply->told = absent;
	reply->fault = NULL;
	reply->n_notes = 0;
}

static struct str in(pawl_str text)
{
	return (struct str){text.ptr, text.ptr ? text.len : 0};
}

static int32_t fault(struct pawl_reply *reply, const char *why, int code)
{
	if (!reply->fault)
		reply->fault = why;
	return code == -E2BIG || code == -ENOMEM ? PAWL_E_LIMIT :
	       code == -ENOENT			 ? PAWL_E_MISSING :
						   PAWL_E_TYPE;
}

/* Cleaned into the arena; absent when text is absent or empty. */
static struct str keep(struct pawl_reply *reply, struct str text, size_t max)
{
	if (!text.ptr || text.len == 0)
		return (struct str){NULL, 0};
	/* U+FFFD is three bytes for one bad byte, and "..." may follow */
	size_t room = text.len < max / 3 ? text.len * 3 + 8 : max;
	char *copy = json_arena_alloc(reply->arena, room);
	if (!copy) {
		fault(reply, "out of memory", -ENOMEM);
		return (struct str){NULL, 0};
	}
	size_t len = text_clean(text, copy, room);
	return (struct str){json_arena_frozen(reply->arena, copy), len};
}

void reply_reason(pawl_reply *reply, pawl_str rule, pawl_str why)
{
	reply->rule = keep(reply, in(rule), REPLY_RULE_MAX);
	reply->reason = keep(reply, in(why), REPLY_REASON_MAX);
}

int32_t reply_result(pawl_reply *reply, pawl_str json, int32_t is_error)
{
	int r = json_parse(reply->arena, in(json), reply->limits, 0, &reply->result, NULL, NULL);
	if (r < 0)
		return fault(reply, "its result is not JSON", r);
	reply->result_is_error = is_error != 0;
	return 0;
}

void reply_approval(pawl_reply *reply, pawl_str instructions, int64_t timeout_ns)
{
	reply->approval_given = true;
	reply->instructions = keep(reply, in(instructions), REPLY_REASON_MAX);
	if (timeout_ns < -1)
		fault(reply, "its approval timeout is negative", -EINVAL);
	else
		reply->timeout_ns = timeout_ns;
}

static int32_t edited(struct pawl_reply *reply, int r, const struct json_value *args)
{
	if (r < 0)
		return fault(reply, "an edit of the arguments failed", r);
	if (json_type(args) != JSON_OBJECT && json_type(reply->args) == JSON_OBJECT)
		return fault(reply, "its arguments are not an object", -EBADMSG);
	reply->args = args;
	reply->edited = true;
	return 0;
}

int32_t reply_set_args(pawl_reply *reply, pawl_str json)
{
	const struct json_value *args;
	int r = json_parse(reply->arena, in(json), reply->limits, 0, &args, NULL, NULL);
	if (r == 0 && json_type(args) != JSON_OBJECT)
		return fault(reply, "its arguments are not an object", -EBADMSG);
	if (r == 0 && reply->merge)
		r = json_merge(reply->arena, reply->args, args, reply->limits, &args, NULL);
	return edited(reply, r, args);
}

int32_t reply_set_at(pawl_reply *reply, pawl_str pointer, pawl_str json)
{
	const struct json_value *args = NULL;
	int r = json_set_at(reply->arena, reply->args, in(pointer), in(json), reply->limits, &args,
			    NULL);
	return edited(reply, r, args);
}

int32_t reply_remove_at(pawl_reply *reply, pawl_str pointer)
{
	const struct json_value *args = NULL;
	int r = json_remove_at(reply->arena, reply->args, in(pointer), reply->limits, &args, NULL);
	return edited(reply, r, args);
}

void reply_grant(pawl_reply *reply)
{
	reply->grant = true;
}

void reply_tell(pawl_reply *reply, pawl_str text)
{
	reply->told = keep(reply, in(text), REPLY_TELL_MAX);
}

/* The same key again is the same fact, said anew. */
static size_t note_place(const pawl_reply *reply, struct str key)
{
	size_t i = 0;
	while (i < reply->n_notes && !str_equal(reply->notes[i].key, key))
		i++;
	return i;
}

void reply_note(pawl_reply *reply, pawl_str key, pawl_str value)
{
	struct str kept = keep(reply, in(key), REPLY_RULE_MAX);
	size_t place = kept.ptr ? note_place(reply, kept) : REPLY_NOTES_MAX;
	if (place == REPLY_NOTES_MAX)
		return;
	reply->notes[place].key = kept;
	reply->notes[place].value = keep(reply, in(value), REPLY_NOTE_MAX);
	if (place == reply->n_notes)
		reply->n_notes++;
}
