/* hosttable.c - the services as plugins see them: thin names for json.h and call.h. */
#include <config.h>

#include "core/hosttable.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "core/call.h"
#include "core/log.h"
#include "core/plugin.h"
#include "core/replytable.h"
#include "json/json.h"

static pawl_str out(struct str text)
{
	return (pawl_str){text.ptr, text.len};
}

static struct str in(pawl_str text)
{
	return (struct str){text.ptr, text.ptr ? text.len : 0};
}

static const struct json_value *value_of(const pawl_value *value)
{
	return (const struct json_value *)value;
}

static const pawl_value *seen(const struct json_value *value)
{
	return (const pawl_value *)value;
}

_Thread_local char *host_table_error;

static void table_log(const pawl_host *host, int32_t level, pawl_str message)
{
	const struct plugin *plugin = host->host_data;
	log_add(plugin->file->note.id, level, in(message));
}

static void table_set_error(const pawl_host *host, pawl_str message)
{
	struct plugin *plugin = host->host_data;
	char *text = host_table_error ? host_table_error : plugin->error_text;
	text_clean(in(message), text, PLUGIN_ERROR_MAX);
}

static pawl_str table_text(const pawl_call *call, int32_t field)
{
	if (!call || field < 1 || field >= CALL_TEXTS)
		return (pawl_str){NULL, 0};
	return out(call->text[field]);
}

static int64_t table_number(const pawl_call *call, int32_t field)
{
	if (!call || field < 1 || field >= CALL_NUMBERS)
		return CALL_ABSENT;
	return call->number[field];
}

static const pawl_value *table_root(const pawl_call *call, int32_t which)
{
	if (!call || which < 1 || which >= CALL_ROOTS)
		return NULL;
	return seen(call->root[which]);
}

static int32_t table_type(const pawl_value *value)
{
	return (int32_t)json_type(value_of(value));
}

static size_t table_length(const pawl_value *value)
{
	return json_length(value_of(value));
}

static const pawl_value *table_member(const pawl_value *value, pawl_str key)
{
	return seen(json_member(value_of(value), in(key)));
}

static const pawl_value *table_item(const pawl_value *value, size_t index)
{
	return seen(json_item(value_of(value), index));
}

static const pawl_value *table_at(const pawl_value *value, pawl_str pointer)
{
	return seen(json_at(value_of(value), in(pointer)));
}

static pawl_str table_key(const pawl_value *value, size_t index, const pawl_value **ret)
{
	const struct json_value *member = NULL;
	struct str name = json_key(value_of(value), index, &member);
	if (ret)
		*ret = seen(member);
	return out(name);
}

static int32_t status(int r)
{
	return r == 0		 ? 0 :
	       r == -ERANGE	 ? PAWL_E_LIMIT :
	       r == -ENOENT	 ? PAWL_E_MISSING :
				   PAWL_E_TYPE;
}

static int32_t table_string(const pawl_value *value, pawl_str *ret)
{
	struct str text;
	int r = json_string(value_of(value), &text);
	if (r == 0)
		*ret = out(text);
	return status(r);
}

static int32_t table_integer(const pawl_value *value, int64_t *ret)
{
	return status(json_integer(value_of(value), ret));
}

static int32_t table_real(const pawl_value *value, double *ret)
{
	return status(json_real(value_of(value), ret));
}

static int32_t table_boolean(const pawl_value *value, int32_t *ret)
{
	int yes = 0, r = json_boolean(value_of(value), &yes);
	if (r == 0)
		*ret = yes;
	return status(r);
}

_Thread_local struct json_arena *host_table_arena;

/* NUL-terminated like every text the host gives, so a piece has to be copied. */
static pawl_str table_json(const pawl_value *value)
{
	if (!value || !host_table_arena)
		return (pawl_str){NULL, 0};
	return out(json_arena_text(host_table_arena, json_raw(value_of(value))));
}

static const void *table_interface(const pawl_host *host, const char *id)
{
	(void)host;
	(void)id;
	return NULL; /* none in minor 1 */
}

const pawl_host host_table = {
	.struct_size = sizeof(pawl_host),
	.abi_minor = PAWL_ABI_MINOR,
	.features = PAWL_FEAT_REWRITE | PAWL_FEAT_APPROVAL | PAWL_FEAT_SUBSTITUTE |
		    PAWL_FEAT_GRANT | PAWL_FEAT_MODEL,
	.log = table_log,
	.set_error = table_set_error,
	.text = table_text,
	.number = table_number,
	.root = table_root,
	.type = table_type,
	.length = table_length,
	.member = table_member,
	.item = table_item,
	.at = table_at,
	.key = table_key,
	.string = table_string,
	.integer = table_integer,
	.real = table_real,
	.boolean = table_boolean,
	.json = table_json,
	.reason = reply_reason,
	.result = reply_result,
	.approval = reply_approval,
	.set_args = reply_set_args,
	.set_at = reply_set_at,
	.remove_at = reply_remove_at,
	.grant = reply_grant,
	.tell = reply_tell,
	.note = reply_note,
	.interface = table_interface,
};
