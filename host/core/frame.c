/* frame.c - see frame.h. */
#include <config.h>

#include "core/frame.h"

#include <errno.h>

#include "base/text.h"
#include "core/log.h"
#include "core/open.h"
#include "core/replytable.h"

#define ABSENT UINT32_MAX

/* ---- numbers and texts -------------------------------------------------------------- */

static void put(struct frame_out *out, const void *bytes, size_t n)
{
	if (out->full || n > out->room - out->len) {
		out->full = true;
		return;
	}
	if (n > 0)
		memcpy(out->data + out->len, bytes, n);
	out->len += n;
}

void frame_put_u32(struct frame_out *out, uint32_t number)
{
	put(out, &number, sizeof(number));
}

void frame_put_i64(struct frame_out *out, int64_t number)
{
	put(out, &number, sizeof(number));
}

void frame_put_text(struct frame_out *out, struct str text)
{
	if (text.ptr && text.len >= ABSENT) {
		out->full = true;
		return;
	}
	frame_put_u32(out, text.ptr ? (uint32_t)text.len : ABSENT);
	if (!text.ptr)
		return;
	put(out, text.ptr, text.len);
	put(out, "", 1);
}

/* n bytes of the frame, or NULL. */
static const char *take(struct frame_in *in, size_t n)
{
	const char *at = in->data;
	if (in->bad || n > in->left) {
		in->bad = true;
		return NULL;
	}
	in->data += n;
	in->left -= n;
	return at;
}

uint32_t frame_get_u32(struct frame_in *in)
{
	uint32_t number = 0;
	const char *at = take(in, sizeof(number));
	if (at)
		memcpy(&number, at, sizeof(number));
	return number;
}

uint32_t frame_get_below(struct frame_in *in, uint32_t max)
{
	uint32_t number = frame_get_u32(in);
	if (number <= max)
		return number;
	in->bad = true;
	return 0;
}

int64_t frame_get_i64(struct frame_in *in)
{
	int64_t number = 0;
	const char *at = take(in, sizeof(number));
	if (at)
		memcpy(&number, at, sizeof(number));
	return number;
}

struct str frame_get_text(struct frame_in *in, size_t max)
{
	const struct str absent = {NULL, 0};
	uint32_t len = frame_get_u32(in);
	if (in->bad || len == ABSENT)
		return absent;
	const char *at = len <= max ? take(in, (size_t)len + 1) : NULL;
	if (at && at[len] == '\0')
		return (struct str){at, len};
	in->bad = true;
	return absent;
}

bool frame_ends(const struct frame_in *in)
{
	return !in->bad && in->left == 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

void frame_put_open(struct frame_out *out, const struct frame_open *open)
{
	const struct config_entry *entry = open->entry;
	unsigned line = 0, column = 0;
	if (entry->options)
		json_place(entry->options, &line, &column);
	frame_put_text(out, open->plugin_dir);
	frame_put_text(out, open->base_dir);
	frame_put_u32(out, open->in_chain);
	frame_put_u32(out, (uint32_t)open->libraries->n);
	for (size_t i = 0; i < open->libraries->n; i++)
		frame_put_text(out, open->libraries->list[i]);
	frame_put_text(out, entry->plugin);
	frame_put_text(out, entry->pinned ? (struct str){(const char *)entry->sha256,
							  sizeof(entry->sha256)} :
					    (struct str){NULL, 0});
	frame_put_text(out, entry->name);
	frame_put_text(out, entry->file);
	frame_put_u32(out, entry->line);
	frame_put_u32(out, entry->column);
	frame_put_u32(out, entry->sandbox_best_effort);
	frame_put_u32(out, entry->needs_net);
	frame_put_u32(out, line);
	frame_put_u32(out, column);
	frame_put_text(out, entry->options ? json_raw(entry->options) : (struct str){NULL, 0});
}

/* The options behind as many lines and columns of nothing as stand before them in the
 * config, so that what is said of them points into the config. */
static int get_options(struct str text, uint32_t line, uint32_t column, struct json_arena *arena,
		       const struct json_value **ret, struct error *err)
{
	size_t before = (line > 0 ? line - 1 : 0) + (column > 0 ? column - 1 : 0);
	if (line > CONFIG_BYTES_MAX || column > CONFIG_BYTES_MAX)
		return error_set(err, EPROTO, "the options stand nowhere");
	char *whole = json_arena_alloc(arena, before + text.len);
	if (!whole)
		return error_set(err, ENOMEM, "out of memory");
	memset(whole, ' ', before);
	memset(whole, '\n', line > 0 ? line - 1 : 0);
	memcpy(whole + before, text.ptr, text.len);
	struct str padded = {json_arena_frozen(arena, whole), before + text.len};
	return json_parse(arena, padded, JSON_DEFAULT_LIMITS, JSON_BORROW, ret, NULL, err);
}

static void get_libraries(struct frame_in *in, struct json_arena *arena, struct patterns *ret)
{
	uint32_t n = frame_get_below(in, CONFIG_PATTERNS_MAX);
	ret->n = 0;
	ret->list = json_arena_alloc(arena, (n + 1) * sizeof(*ret->list));
	in->bad |= !ret->list;
	for (uint32_t i = 0; i < n && !in->bad; i++)
		ret->list[ret->n++] = frame_get_text(in, CONFIG_BYTES_MAX);
}

static void get_sum(struct frame_in *in, struct config_entry *entry)
{
	struct str sum = frame_get_text(in, sizeof(entry->sha256));
	if (!sum.ptr)
		return;
	entry->pinned = true;
	in->bad |= sum.len != sizeof(entry->sha256);
	if (!in->bad)
		memcpy(entry->sha256, sum.ptr, sizeof(entry->sha256));
}

int frame_get_open(struct frame_in *in, struct json_arena *arena, struct config_entry *entry,
		   struct patterns *libraries, struct frame_open *ret, struct error *err)
{
	memset(entry, 0, sizeof(*entry));
	ret->entry = entry;
	ret->libraries = libraries;
	ret->plugin_dir = frame_get_text(in, CONFIG_BYTES_MAX);
	ret->base_dir = frame_get_text(in, CONFIG_BYTES_MAX);
	ret->in_chain = frame_get_below(in, 1);
	get_libraries(in, arena, libraries);
	entry->plugin = frame_get_text(in, CONFIG_BYTES_MAX);
	get_sum(in, entry);
	entry->name = frame_get_text(in, CONFIG_BYTES_MAX);
	entry->file = frame_get_text(in, CONFIG_BYTES_MAX);
	entry->line = frame_get_u32(in);
	entry->column = frame_get_u32(in);
	entry->sandbox_best_effort = frame_get_below(in, 1);
	entry->needs_net = frame_get_below(in, 1);
	uint32_t line = frame_get_u32(in), column = frame_get_u32(in);
	struct str options = frame_get_text(in, CONFIG_BYTES_MAX);
	if (!frame_ends(in) || !ret->plugin_dir.ptr || !ret->base_dir.ptr || !entry->plugin.ptr ||
	    !entry->name.ptr || !entry->file.ptr)
		return error_set(err, EPROTO, "what is to be loaded cannot be read");
	return options.ptr ? get_options(options, line, column, arena, &entry->options, err) : 0;
}

void frame_put_opened(struct frame_out *out, const struct frame_opened *opened)
{
	frame_put_u32(out, opened->stage);
	frame_put_text(out, opened->why);
	frame_put_text(out, opened->version);
	frame_put_u32(out, opened->hooks);
	frame_put_text(out, opened->weak);
}

int frame_get_opened(struct frame_in *in, struct frame_opened *ret)
{
	ret->stage = frame_get_below(in, FRAME_NOT_FENCED);
	ret->why = frame_get_text(in, FRAME_WHY_MAX);
	ret->version = frame_get_text(in, FRAME_VERSION_MAX);
	ret->hooks = frame_get_below(in, HOOK_ALL);
	ret->weak = frame_get_text(in, FRAME_WEAK_MAX);
	return frame_ends(in) ? 0 : -EPROTO;
}

/* ---- describing ------------------------------------------------------------------------------ */

static size_t count_options(const pawl_plugin *desc)
{
	pawl_option option;
	size_t n = 0;
	while (plugin_option_get(desc, n, &option))
		n++;
	return n;
}

void frame_put_description(struct frame_out *out, const struct plugin_file *file)
{
	const pawl_plugin *desc = &file->desc;
	pawl_option option;
	frame_put_text(out, str_of(file->path));
	frame_put_u32(out, file->system);
	frame_put_u32(out, hooks_of(desc));
	frame_put_u32(out, desc->abi_minor);
	frame_put_text(out, str_of(desc->id));
	frame_put_text(out, str_of(desc->version));
	frame_put_text(out, str_of(desc->vendor));
	frame_put_text(out, str_of(desc->summary));
	frame_put_u32(out, (uint32_t)count_options(desc));
	for (size_t i = 0; plugin_option_get(desc, i, &option); i++) {
		frame_put_text(out, str_of(option.name));
		frame_put_u32(out, (uint32_t)option.type);
		frame_put_u32(out, option.flags);
		frame_put_text(out, str_of(option.fallback));
		frame_put_text(out, str_of(option.help));
		frame_put_text(out, str_of(option.choices));
	}
}

/* For a terminal; NULL stays NULL unless there has to be one. */
static const char *get_shown(struct frame_in *in, struct json_arena *arena, bool needed)
{
	char clean[PLUGIN_TEXT_MAX + 8];
	struct str text = frame_get_text(in, PLUGIN_TEXT_MAX);
	if (!text.ptr) {
		in->bad |= needed;
		return needed ? "" : NULL;
	}
	size_t len = text_clean(text, clean, sizeof(clean));
	for (size_t i = 0; i < len; i++)
		clean[i] = clean[i] == '\n' || clean[i] == '\t' ? ' ' : clean[i];
	const char *kept = json_arena_text(arena, (struct str){clean, len}).ptr;
	in->bad |= !kept;
	return kept;
}

static void get_option(struct frame_in *in, struct json_arena *arena, pawl_option *option)
{
	const struct json_value *value;
	memset(option, 0, sizeof(*option));
	option->name = get_shown(in, arena, true);
	option->type = (int32_t)frame_get_below(in, PAWL_OPT_NUMBER);
	option->flags = frame_get_below(in, PAWL_OPTF_REQUIRED | PAWL_OPTF_SECRET);
	option->fallback = get_shown(in, arena, false);
	option->help = get_shown(in, arena, false);
	option->choices = get_shown(in, arena, false);
	if (option->fallback && json_parse(arena, str_of(option->fallback), JSON_DEFAULT_LIMITS, 0,
					   &value, NULL, NULL) < 0)
		in->bad = true;
}

int frame_get_description(struct frame_in *in, struct json_arena *arena,
			  struct frame_description *ret)
{
	pawl_plugin *desc = &ret->desc;
	memset(ret, 0, sizeof(*ret));
	ret->path = str_of(get_shown(in, arena, true));
	ret->system = frame_get_below(in, 1);
	ret->hooks = frame_get_below(in, HOOK_ALL);
	desc->struct_size = sizeof(*desc);
	desc->option_size = sizeof(pawl_option);
	desc->abi_minor = frame_get_u32(in);
	desc->id = get_shown(in, arena, true);
	desc->version = get_shown(in, arena, true);
	desc->vendor = get_shown(in, arena, false);
	desc->summary = get_shown(in, arena, false);
	uint32_t n = frame_get_below(in, PLUGIN_OPTIONS_MAX);
	pawl_option *options = json_arena_alloc(arena, (n + 1) * sizeof(*options));
	if (!options)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		get_option(in, arena, &options[i]);
	memset(&options[n], 0, sizeof(*options));
	desc->options = options;
	return frame_ends(in) ? 0 : -EPROTO;
}

/* ---- the question ---------------------------------------------------------------------- */

/* The event first: what was cut out of it lies inside its bytes and is not sent again. */
static const int root_order[] = {PAWL_R_EVENT,	 PAWL_R_ARGS_GIVEN, PAWL_R_ARGS,
				 PAWL_R_REQUEST, PAWL_R_MESSAGE,    PAWL_R_RESULT,
				 PAWL_R_META,	 PAWL_R_SESSION,    PAWL_R_CONTEXT};
#define N_ROOTS (sizeof(root_order) / sizeof(root_order[0]))
_Static_assert(N_ROOTS == CALL_ROOTS - 1, "a root is missing from root_order");

struct place {
	struct str raw;
	int64_t offset; /* in the text of all roots; -1 there is no such root */
};

static bool lies_in(struct str piece, struct str whole)
{
	return piece.ptr >= whole.ptr && piece.ptr + piece.len <= whole.ptr + whole.len;
}

static void place_root(struct place *places, size_t i, int64_t *total)
{
	for (size_t k = 0; k < i; k++) {
		if (places[k].offset < 0 || !lies_in(places[i].raw, places[k].raw))
			continue;
		places[i].offset = places[k].offset + (places[i].raw.ptr - places[k].raw.ptr);
		return;
	}
	places[i].offset = *total;
	*total += (int64_t)places[i].raw.len;
}

static void put_roots(struct frame_out *out, const struct pawl_call *call)
{
	struct place places[N_ROOTS];
	int64_t total = 0;
	for (size_t i = 0; i < N_ROOTS; i++) {
		const struct json_value *root = call->root[root_order[i]];
		places[i] = (struct place){{NULL, 0}, -1};
		if (root) {
			places[i].raw = json_raw(root);
			place_root(places, i, &total);
		}
		frame_put_i64(out, places[i].offset);
		frame_put_i64(out, (int64_t)places[i].raw.len);
	}
	frame_put_i64(out, total);
	for (size_t i = 0, end = 0; i < N_ROOTS; i++) {
		if (places[i].offset < (int64_t)end)
			continue; /* absent, or inside of one before */
		put(out, places[i].raw.ptr, places[i].raw.len);
		end += places[i].raw.len;
	}
}

void frame_put_call(struct frame_out *out, const struct pawl_call *call)
{
	frame_put_u32(out, call->kind);
	frame_put_i64(out, (int64_t)call->limits.bytes);
	frame_put_i64(out, (int64_t)call->limits.values);
	frame_put_u32(out, call->limits.depth);
	for (int i = 1; i < CALL_TEXTS; i++)
		frame_put_text(out, call->text[i]);
	for (int i = 1; i < CALL_NUMBERS; i++)
		frame_put_i64(out, call->number[i]);
	put_roots(out, call);
}

static void get_roots(struct frame_in *in, struct frame_call *ret)
{
	int64_t offset[N_ROOTS], len[N_ROOTS];
	for (size_t i = 0; i < N_ROOTS; i++) {
		offset[i] = frame_get_i64(in);
		len[i] = frame_get_i64(in);
	}
	int64_t total = frame_get_i64(in);
	const char *text = total >= 0 ? take(in, (size_t)total) : NULL;
	in->bad |= !text;
	for (size_t i = 0; i < N_ROOTS && !in->bad; i++) {
		if (offset[i] == -1)
			continue;
		if (offset[i] < 0 || len[i] < 0 || offset[i] > total || len[i] > total - offset[i])
			in->bad = true;
		else
			ret->root[root_order[i]] = (struct str){text + offset[i], (size_t)len[i]};
	}
}

int frame_get_call(struct frame_in *in, struct json_arena *arena, struct frame_call *ret)
{
	struct json_limits limits;
	memset(ret, 0, sizeof(*ret));
	uint32_t kind = frame_get_below(in, EVENT_OTHER);
	limits.bytes = (size_t)frame_get_i64(in);
	limits.values = (size_t)frame_get_i64(in);
	limits.depth = frame_get_u32(in);
	struct pawl_call *call = call_new(arena, limits);
	if (!call)
		return -ENOMEM;
	call->kind = kind;
	for (int i = 1; i < CALL_TEXTS; i++)
		call->text[i] = frame_get_text(in, JSON_BYTES_MAX);
	for (int i = 1; i < CALL_NUMBERS; i++)
		call->number[i] = frame_get_i64(in);
	get_roots(in, ret);
	ret->call = call;
	return in->bad ? -EPROTO : 0;
}

/* ---- the answer -------------------------------------------------------------------------- */

enum flag { EDITED = 1, GRANT = 2, IS_ERROR = 4, APPROVAL = 8, ALL_FLAGS = 15 };

static uint32_t flags_of(const struct pawl_reply *reply)
{
	return (reply->edited ? EDITED : 0) | (reply->grant ? GRANT : 0) |
	       (reply->result_is_error ? IS_ERROR : 0) | (reply->approval_given ? APPROVAL : 0);
}

static struct str raw_of(const struct json_value *value)
{
	return value ? json_raw(value) : (struct str){NULL, 0};
}

static void put_log(struct frame_out *out)
{
	unsigned n;
	const struct log_line *lines = log_lines(&n);
	frame_put_u32(out, n);
	for (unsigned i = 0; i < n; i++) {
		frame_put_u32(out, (uint32_t)lines[i].level);
		frame_put_text(out, str_of(lines[i].text));
	}
}

void frame_put_reply(struct frame_out *out, int32_t status, const char *error_text,
		     const struct pawl_reply *reply)
{
	frame_put_u32(out, (uint32_t)status);
	frame_put_text(out, str_of(error_text));
	frame_put_text(out, str_of(reply->fault));
	frame_put_u32(out, flags_of(reply));
	frame_put_text(out, reply->rule);
	frame_put_text(out, reply->reason);
	frame_put_text(out, raw_of(reply->result));
	frame_put_text(out, reply->edited ? raw_of(reply->args) : (struct str){NULL, 0});
	frame_put_text(out, reply->instructions);
	frame_put_i64(out, reply->timeout_ns);
	frame_put_text(out, reply->told);
	frame_put_u32(out, (uint32_t)reply->n_notes);
	for (size_t i = 0; i < reply->n_notes; i++) {
		frame_put_text(out, reply->notes[i].key);
		frame_put_text(out, reply->notes[i].value);
	}
	put_log(out);
}

static pawl_str given(struct str text)
{
	return (pawl_str){text.ptr, text.len};
}

/* For people, in the arena; NULL for nothing. */
static const char *clean_text(struct pawl_reply *reply, struct str text)
{
	char clean[FRAME_ERROR_MAX];
	if (text.len == 0)
		return NULL;
	size_t len = text_clean(text, clean, sizeof(clean));
	const char *kept = json_arena_text(reply->arena, (struct str){clean, len}).ptr;
	return kept ? kept : "out of memory";
}

static void get_notes(struct frame_in *in, const char *reserved, struct pawl_reply *reply)
{
	uint32_t n = frame_get_below(in, REPLY_NOTES_MAX);
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		struct str key = frame_get_text(in, REPLY_RULE_MAX);
		struct str value = frame_get_text(in, REPLY_NOTE_MAX);
		if (!in->bad && !(reserved && str_is(key, reserved)))
			reply_note(reply, given(key), given(value));
	}
}

static void get_log(struct frame_in *in, const char *plugin)
{
	uint32_t n = frame_get_below(in, LOG_LINES_MAX);
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		int32_t level = (int32_t)frame_get_u32(in);
		struct str text = frame_get_text(in, LOG_LINE_MAX);
		if (!in->bad)
			log_add(plugin, level, text);
	}
}

int frame_get_reply(struct frame_in *in, const char *plugin, const char *reserved,
		    struct pawl_reply *reply, int32_t *ret_status, const char **ret_error_text)
{
	int32_t status = (int32_t)frame_get_u32(in);
	struct str said = frame_get_text(in, FRAME_ERROR_MAX);
	struct str fault = frame_get_text(in, FRAME_ERROR_MAX);
	uint32_t flags = frame_get_below(in, ALL_FLAGS);
	struct str rule = frame_get_text(in, REPLY_RULE_MAX);
	struct str reason = frame_get_text(in, REPLY_REASON_MAX);
	struct str result = frame_get_text(in, JSON_BYTES_MAX);
	struct str args = frame_get_text(in, JSON_BYTES_MAX);
	struct str instructions = frame_get_text(in, REPLY_REASON_MAX);
	int64_t timeout_ns = frame_get_i64(in);
	struct str told = frame_get_text(in, REPLY_TELL_MAX);
	get_notes(in, reserved, reply);
	get_log(in, plugin);
	if (!frame_ends(in) || ((flags & EDITED) != 0) != (args.ptr != NULL))
		return -EPROTO;
	reply_reason(reply, given(rule), given(reason));
	if (result.ptr)
		reply_result(reply, given(result), (flags & IS_ERROR) != 0);
	if (flags & APPROVAL)
		reply_approval(reply, given(instructions), timeout_ns);
	if (args.ptr) /* all of them as they were left, whatever led there */
		reply_set_at(reply, (pawl_str){"", 0}, given(args));
	if (flags & GRANT)
		reply_grant(reply);
	reply_tell(reply, given(told));
	if (fault.ptr && !reply->fault)
		reply->fault = clean_text(reply, fault.len > 0 ? fault : STR("a service failed"));
	*ret_status = status;
	*ret_error_text = clean_text(reply, said);
	return 0;
}
