/* fuzz-frame.c - whatever a plugin's own process leaves as an answer: it is refused, or
 * what comes of it is within the bounds that a plugin beside us has.
 *
 * The first byte says which frame it is meant to be. */
#include <config.h>

#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>

#include "core/frame.h"
#include "core/log.h"
#include "core/open.h"

#define must(condition) ((condition) ? (void)0 : abort())

static struct json_arena *arena;

static struct pawl_call *make_call(enum event_kind kind)
{
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	must(call != NULL);
	call->kind = kind;
	must(json_parse(arena, STR("{\"command\":\"ls\",\"n\":1e400}"), call->limits, 0,
			&call->root[call_args_root(call)], NULL, NULL) == 0);
	return call;
}

/* As text_clean leaves it: no control character but \n and \t, within max. */
static void look_at_text(struct str text, size_t max)
{
	must(text.len < max);
	must(!text.ptr || text.ptr[text.len] == '\0');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		must(c >= ' ' || c == '\n' || c == '\t');
	}
}

static void look_at_json(const struct json_value *value)
{
	const struct json_value *again;
	must(json_parse(arena, json_raw(value), JSON_DEFAULT_LIMITS, 0, &again, NULL, NULL) == 0);
}

static void look_at_reply(const struct pawl_reply *reply, const struct pawl_call *call)
{
	unsigned n;
	look_at_text(reply->rule, REPLY_RULE_MAX);
	look_at_text(reply->reason, REPLY_REASON_MAX);
	look_at_text(reply->instructions, REPLY_REASON_MAX);
	look_at_text(reply->told, REPLY_TELL_MAX);
	must(reply->n_notes <= REPLY_NOTES_MAX && reply->timeout_ns >= -1);
	for (size_t i = 0; i < reply->n_notes; i++) {
		look_at_text(reply->notes[i].key, REPLY_RULE_MAX);
		look_at_text(reply->notes[i].value, REPLY_NOTE_MAX);
		must(!str_is(reply->notes[i].key, "sandbox"));
	}
	must(json_type(reply->args) == JSON_OBJECT);
	must(reply->edited || reply->args == call->root[call_args_root(call)]);
	look_at_json(reply->args);
	if (reply->result)
		look_at_json(reply->result);
	log_lines(&n);
	must(n <= LOG_LINES_MAX);
}

static void read_reply(struct frame_in *in, enum event_kind kind)
{
	static struct pawl_reply reply;
	int32_t status;
	const char *error_text;
	struct pawl_call *call = make_call(kind);
	reply_init(&reply, call);
	log_clear();
	int r = frame_get_reply(in, "fuzz", "sandbox", &reply, &status, &error_text);
	must(r == 0 || r == -EPROTO);
	if (r == 0)
		look_at_reply(&reply, call);
	if (r == 0 && error_text)
		look_at_text(str_of(error_text), FRAME_ERROR_MAX);
}

static void read_opened(struct frame_in *in)
{
	struct frame_opened opened;
	if (frame_get_opened(in, &opened) < 0)
		return;
	must(opened.stage <= FRAME_NOT_FENCED && (opened.hooks & ~(unsigned)HOOK_ALL) == 0);
	must(opened.version.len <= FRAME_VERSION_MAX && opened.why.len <= FRAME_WHY_MAX &&
	     opened.weak.len <= FRAME_WEAK_MAX);
}

static void look_at_shown(const char *text)
{
	for (; text && *text; text++)
		must((unsigned char)*text >= ' ');
}

static void read_description(struct frame_in *in)
{
	struct frame_description what;
	pawl_option option;
	if (frame_get_description(in, arena, &what) < 0)
		return;
	look_at_shown(what.path.ptr);
	look_at_shown(what.desc.id);
	look_at_shown(what.desc.summary);
	for (size_t i = 0; plugin_option_get(&what.desc, i, &option); i++) {
		must(option.type <= PAWL_OPT_NUMBER);
		look_at_shown(option.name);
		look_at_shown(option.help);
	}
}

/* Written by us alone, and yet read with care. */
static void read_call(struct frame_in *in)
{
	struct frame_call call;
	const char *end = in->data + in->left;
	if (frame_get_call(in, arena, &call) < 0)
		return;
	for (int i = 1; i < CALL_ROOTS; i++)
		must(!call.root[i].ptr || call.root[i].ptr + call.root[i].len <= end);
}

static void read_open(struct frame_in *in)
{
	struct config_entry entry;
	struct patterns libraries;
	struct frame_open open;
	struct error err;
	if (frame_get_open(in, arena, &entry, &libraries, &open, &err) < 0)
		must(err.text[0] != '\0');
	else if (entry.options)
		look_at_json(entry.options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!arena)
		must(json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) == 0);
	if (size == 0)
		return 0;
	size_t mark = json_arena_mark(arena);
	struct frame_in in = {.data = (const char *)data + 1, .left = size - 1};
	switch (data[0]) {
	case 'r':
		read_reply(&in, EVENT_PRE_TOOL);
		break;
	case 'm':
		read_reply(&in, EVENT_PRE_MODEL);
		break;
	case 'o':
		read_opened(&in);
		break;
	case 'd':
		read_description(&in);
		break;
	case 'c':
		read_call(&in);
		break;
	case 'e':
		read_open(&in);
		break;
	}
	json_arena_rewind(arena, mark);
	return 0;
}
