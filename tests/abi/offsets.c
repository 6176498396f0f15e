/* offsets.c - pins the layout that plugins are compiled with.
 *
 * A line here is a promise: lines are added at a struct's end, together with a new
 * PAWL_ABI_MINOR, and none is ever changed.  The types are pinned with the places: a
 * pointer to the field must be one to the type written here.  lock.sh holds that every
 * field and number of the header has its line, and that changes do not compile.
 */
#include <config.h>

#include <stdio.h>

#include <pawl/plugin.h>

#define FIELD(type, field, offset, field_type)                                                     \
	_Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved");          \
	_Static_assert(_Generic(&((type *)0)->field, field_type *: 1, default: 0),                 \
		       #type "." #field " has another type")
/* SIZE: frozen.  GROWS: fields may come at its end, each with a FIELD line of its own, and
 * this line stays. */
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size")
#define GROWS(type, size) _Static_assert(sizeof(type) >= (size), #type " has lost a field")

typedef const char *text;
typedef const pawl_value *value;
typedef const pawl_host *host;
typedef const pawl_call *call;
typedef void *self;
typedef int32_t verdict_hook(self, call, pawl_reply *);
typedef int32_t observe_hook(self, call);

FIELD(pawl_str, ptr, 0, text);
FIELD(pawl_str, len, 8, size_t);
SIZE(pawl_str, 16);

FIELD(pawl_host, struct_size, 0, uint32_t);
FIELD(pawl_host, abi_minor, 4, uint32_t);
FIELD(pawl_host, features, 8, uint64_t);
FIELD(pawl_host, host_data, 16, self);
typedef void log_service(host, int32_t, pawl_str);
FIELD(pawl_host, log, 24, log_service *);
typedef void set_error_service(host, pawl_str);
FIELD(pawl_host, set_error, 32, set_error_service *);
typedef pawl_str text_service(call, int32_t);
FIELD(pawl_host, text, 40, text_service *);
typedef int64_t number_service(call, int32_t);
FIELD(pawl_host, number, 48, number_service *);
typedef value root_service(call, int32_t);
FIELD(pawl_host, root, 56, root_service *);
typedef int32_t type_service(value);
FIELD(pawl_host, type, 64, type_service *);
typedef size_t length_service(value);
FIELD(pawl_host, length, 72, length_service *);
typedef value member_service(value, pawl_str);
FIELD(pawl_host, member, 80, member_service *);
typedef value item_service(value, size_t);
FIELD(pawl_host, item, 88, item_service *);
FIELD(pawl_host, at, 96, member_service *);
typedef pawl_str key_service(value, size_t, value *);
FIELD(pawl_host, key, 104, key_service *);
typedef int32_t string_service(value, pawl_str *);
FIELD(pawl_host, string, 112, string_service *);
typedef int32_t integer_service(value, int64_t *);
FIELD(pawl_host, integer, 120, integer_service *);
typedef int32_t real_service(value, double *);
FIELD(pawl_host, real, 128, real_service *);
typedef int32_t boolean_service(value, int32_t *);
FIELD(pawl_host, boolean, 136, boolean_service *);
typedef pawl_str json_service(value);
FIELD(pawl_host, json, 144, json_service *);
typedef void reason_service(pawl_reply *, pawl_str, pawl_str);
FIELD(pawl_host, reason, 152, reason_service *);
typedef int32_t result_service(pawl_reply *, pawl_str, int32_t);
FIELD(pawl_host, result, 160, result_service *);
typedef void approval_service(pawl_reply *, pawl_str, int64_t);
FIELD(pawl_host, approval, 168, approval_service *);
typedef int32_t edit_service(pawl_reply *, pawl_str);
FIELD(pawl_host, set_args, 176, edit_service *);
typedef int32_t set_at_service(pawl_reply *, pawl_str, pawl_str);
FIELD(pawl_host, set_at, 184, set_at_service *);
FIELD(pawl_host, remove_at, 192, edit_service *);
typedef void grant_service(pawl_reply *);
FIELD(pawl_host, grant, 200, grant_service *);
typedef void tell_service(pawl_reply *, pawl_str);
FIELD(pawl_host, tell, 208, tell_service *);
FIELD(pawl_host, note, 216, reason_service *);
typedef const void *interface_service(host, text);
FIELD(pawl_host, interface, 224, interface_service *);
GROWS(pawl_host, 232);

FIELD(pawl_option, name, 0, text);
FIELD(pawl_option, type, 8, int32_t);
FIELD(pawl_option, flags, 12, uint32_t);
FIELD(pawl_option, fallback, 16, text);
FIELD(pawl_option, help, 24, text);
FIELD(pawl_option, choices, 32, text);
GROWS(pawl_option, 40);

typedef const pawl_option *option_table;
typedef int32_t open_function(host, value, self *);
typedef void close_function(self);
typedef int32_t decided_hook(self, call, pawl_str);
FIELD(pawl_plugin, struct_size, 0, uint32_t);
FIELD(pawl_plugin, abi_minor, 4, uint32_t);
FIELD(pawl_plugin, needs, 8, uint64_t);
FIELD(pawl_plugin, threads, 16, int32_t);
FIELD(pawl_plugin, option_size, 20, uint32_t);
FIELD(pawl_plugin, id, 24, text);
FIELD(pawl_plugin, version, 32, text);
FIELD(pawl_plugin, vendor, 40, text);
FIELD(pawl_plugin, summary, 48, text);
FIELD(pawl_plugin, options, 56, option_table);
FIELD(pawl_plugin, open, 64, open_function *);
FIELD(pawl_plugin, close, 72, close_function *);
FIELD(pawl_plugin, pre_tool_use, 80, verdict_hook *);
FIELD(pawl_plugin, pre_model_call, 88, verdict_hook *);
FIELD(pawl_plugin, post_model_call, 96, verdict_hook *);
FIELD(pawl_plugin, post_tool_use, 104, observe_hook *);
FIELD(pawl_plugin, decided, 112, decided_hook *);
FIELD(pawl_plugin, stop, 120, observe_hook *);
GROWS(pawl_plugin, 128);

FIELD(struct pawl_note, namesz, 0, uint32_t);
FIELD(struct pawl_note, descsz, 4, uint32_t);
FIELD(struct pawl_note, type, 8, uint32_t);
typedef char note_name[8];
FIELD(struct pawl_note, name, 12, note_name);
typedef char note_desc[248];
FIELD(struct pawl_note, desc, 20, note_desc);
SIZE(struct pawl_note, 268);

/* Numbers that plugins were compiled with, and their types. */
#define VALUE(name, number)                                                                        \
	_Static_assert((name) == (number), #name " has another value");                            \
	_Static_assert(_Generic((name), __typeof__(number): 1, default: 0),                        \
		       #name " has another type")
VALUE(PAWL_ALLOW, 1);
VALUE(PAWL_DENY, 2);
VALUE(PAWL_REQUIRE_APPROVAL, 3);
VALUE(PAWL_SUBSTITUTE, 4);
VALUE(PAWL_E_FAIL, -1);
VALUE(PAWL_E_NOMEM, -2);
VALUE(PAWL_E_OPTION, -3);
VALUE(PAWL_E_UNSUPPORTED, -4);
VALUE(PAWL_E_TYPE, -5);
VALUE(PAWL_E_MISSING, -6);
VALUE(PAWL_E_LIMIT, -7);
VALUE(PAWL_E_CANCELLED, -8);
VALUE(PAWL_T_EVENT, 1);
VALUE(PAWL_T_TOOL, 2);
VALUE(PAWL_T_SOURCE, 3);
VALUE(PAWL_T_SERVER, 4);
VALUE(PAWL_T_TARGET, 5);
VALUE(PAWL_T_CALL_ID, 6);
VALUE(PAWL_T_SESSION, 7);
VALUE(PAWL_T_RUN, 8);
VALUE(PAWL_T_AGENT, 9);
VALUE(PAWL_T_AGENT_TYPE, 10);
VALUE(PAWL_T_CLIENT, 11);
VALUE(PAWL_T_CWD, 12);
VALUE(PAWL_N_TURN, 1);
VALUE(PAWL_N_POSITION, 2);
VALUE(PAWL_N_BATCH, 3);
VALUE(PAWL_N_NOW_NS, 4);
VALUE(PAWL_N_DEADLINE_NS, 5);
VALUE(PAWL_N_CANCELLED, 6);
VALUE(PAWL_N_ROUND, 7);
VALUE(PAWL_N_IS_ERROR, 8);
VALUE(PAWL_N_SUBSTITUTED, 9);
VALUE(PAWL_N_DURATION_NS, 10);
VALUE(PAWL_R_CONTEXT, 1);
VALUE(PAWL_R_ARGS, 2);
VALUE(PAWL_R_ARGS_GIVEN, 3);
VALUE(PAWL_R_META, 4);
VALUE(PAWL_R_RESULT, 5);
VALUE(PAWL_R_EVENT, 6);
VALUE(PAWL_R_REQUEST, 7);
VALUE(PAWL_R_MESSAGE, 8);
VALUE(PAWL_R_SESSION, 9);
VALUE(PAWL_NULL, 0);
VALUE(PAWL_BOOL, 1);
VALUE(PAWL_NUMBER, 2);
VALUE(PAWL_STRING, 3);
VALUE(PAWL_ARRAY, 4);
VALUE(PAWL_OBJECT, 5);
VALUE(PAWL_LOG_DEBUG, 0);
VALUE(PAWL_LOG_INFO, 1);
VALUE(PAWL_LOG_WARN, 2);
VALUE(PAWL_LOG_ERROR, 3);
VALUE(PAWL_OPT_STRING, 1);
VALUE(PAWL_OPT_INTEGER, 2);
VALUE(PAWL_OPT_BOOLEAN, 3);
VALUE(PAWL_OPT_STRINGS, 4);
VALUE(PAWL_OPT_DURATION, 5);
VALUE(PAWL_OPT_PATH, 6);
VALUE(PAWL_OPT_JSON, 7);
VALUE(PAWL_OPT_NUMBER, 8);
VALUE(PAWL_OPTF_REQUIRED, 1u);
VALUE(PAWL_OPTF_SECRET, 2u);
VALUE(PAWL_THREADS_SERIAL, 0);
VALUE(PAWL_THREADS_INSTANCE, 1);
VALUE(PAWL_THREADS_PARALLEL, 2);
VALUE(PAWL_FEAT_REWRITE, UINT64_C(1));
VALUE(PAWL_FEAT_APPROVAL, UINT64_C(2));
VALUE(PAWL_FEAT_SUBSTITUTE, UINT64_C(4));
VALUE(PAWL_FEAT_GRANT, UINT64_C(8));
VALUE(PAWL_FEAT_MODEL, UINT64_C(16));
VALUE(PAWL_NOTE_TYPE, 1);
VALUE(PAWL_NOTE_SIZE, 248);
_Static_assert(PAWL_ABI_MAJOR == 0 && PAWL_ABI_MINOR >= 1, "the ABI's number went back");
_Static_assert(sizeof(PAWL_NOTE_NAME) == 5, "PAWL_NOTE_NAME has changed");

/* What a file exports, and what a reason may be made with. */
_Static_assert(_Generic(&pawl_plugin_entry_0, const pawl_plugin *(*)(host): 1, default: 0),
	       "the entry has another type");
_Static_assert(_Generic((pawl_plugin_entry)0, const pawl_plugin *(*)(host): 1, default: 0),
	       "pawl_plugin_entry has another type");
_Static_assert(_Generic(&pawl_text, pawl_str (*)(text): 1, default: 0),
	       "pawl_text has another type");

int main(void)
{
	puts("1..1\nok 1 - the layout is as published (or this would not have compiled)");
	return 0;
}
