/* codex.c - see codex.h. */
#include <config.h>

#include "cli/codex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "cli/sha256.h"
#include "cli/toml.h"

#define EVENTS_MAX 16
#define TIMEOUT_S 600 /* where none is given */
#define END_TIMEOUT_S 3 /* SessionEnd has no more */

/* ---- hooks written as tables ------------------------------------------------------------ */

/* The JSON of one event's groups, as far as it has been read. */
struct event {
	struct str name;
	struct buffer text;
	bool in_group, in_hooks, has_member;
};

struct reading {
	struct codex *codex;
	struct event events[EVENTS_MAX];
	size_t n_events;
};

static struct event *event_of(struct reading *reading, struct str name)
{
	for (size_t i = 0; i < reading->n_events; i++)
		if (str_equal(reading->events[i].name, name))
			return &reading->events[i];
	if (reading->n_events == EVENTS_MAX)
		return NULL;
	struct event *event = &reading->events[reading->n_events++];
	*event = (struct event){.name = name, .text = {.max = CODEX_TOML_BYTES_MAX}};
	return event;
}

static void put(struct event *event, const char *text)
{
	buffer_add(&event->text, str_of(text));
}

static void end_group(struct event *event)
{
	if (event->in_hooks)
		put(event, "}]");
	if (event->in_group)
		put(event, "}");
	event->in_hooks = event->in_group = false;
}

static void begin_group(struct event *event)
{
	end_group(event);
	put(event, event->text.len ? ",{" : "{");
	event->in_group = true;
	event->has_member = false;
}

static void begin_hook(struct event *event)
{
	if (!event->in_group)
		begin_group(event);
	put(event, event->in_hooks ? "},{" : event->has_member ? ",\"hooks\":[{" : "\"hooks\":[{");
	event->in_hooks = true;
	event->has_member = false;
}

static void add_member(struct reading *reading, struct event *event, const struct toml_item *item)
{
	struct json_arena *arena = reading->codex->arena;
	bool plain = str_is(item->value, "true") || str_is(item->value, "false");
	for (size_t i = 0; !plain && i < item->value.len; i++)
		if (item->value.ptr[i] < '0' || item->value.ptr[i] > '9')
			break;
		else
			plain = i + 1 == item->value.len;
	if (event->has_member)
		put(event, ",");
	event->has_member = true;
	buffer_add(&event->text, json_quote(arena, item->path[item->n - 1]));
	put(event, ":");
	buffer_add(&event->text,
		   plain && !item->is_text ? item->value : json_quote(arena, item->value));
}

static void see_hooks(struct reading *reading, const struct toml_item *item)
{
	bool in_hooks = item->n > 2 && str_is(item->path[2], "hooks");
	if (item->n == 2 && !item->begins) { /* [hooks] PreToolUse = [...] */
		reading->codex->inline_hooks |= item->value.len > 0 && item->value.ptr[0] == '[';
		return;
	}
	struct event *event = item->n > 1 ? event_of(reading, item->path[1]) : NULL;
	if (!event || item->n > 4)
		return;
	if (item->begins && item->n == 2)
		begin_group(event);
	else if (item->begins && item->n == 3 && in_hooks)
		begin_hook(event);
	else if (item->n == 3 && in_hooks)
		reading->codex->inline_hooks = true;
	else if (!item->begins && (item->n == 4) == event->in_hooks && item->n == (in_hooks ? 4 : 3))
		add_member(reading, event, item);
}

/* {"hooks":{EVENT:[...], ...}} of all of them. */
static int join_hooks(struct reading *reading, struct error *err)
{
	_cleanup_(buffer_done) struct buffer all = {.max = 2 * CODEX_TOML_BYTES_MAX};
	struct json_arena *arena = reading->codex->arena;
	int r = 0;
	buffer_add(&all, STR("{\"hooks\":{"));
	for (size_t i = 0; i < reading->n_events; i++) {
		struct event *event = &reading->events[i];
		end_group(event);
		buffer_add(&all, str_of(i ? "," : ""));
		buffer_add(&all, json_quote(arena, event->name));
		buffer_add(&all, STR(":["));
		buffer_add(&all, buffer_str(&event->text));
		buffer_add(&all, STR("]"));
		r = event->text.error < 0 ? event->text.error : r;
		buffer_done(&event->text);
	}
	buffer_add(&all, STR("}}"));
	if (r < 0 || all.error < 0)
		return error_set(err, ENOMEM, "its hooks are too long");
	if (reading->n_events > 0)
		reading->codex->hooks = json_arena_text(arena, buffer_str(&all));
	return 0;
}

/* ---- the file ----------------------------------------------------------------------------- */

static void see_trust(struct codex *codex, const struct toml_item *item)
{
	struct codex_trust *trust = NULL;
	for (size_t i = 0; i < codex->n_trust; i++)
		if (str_equal(codex->trust[i].key, item->path[2]))
			trust = &codex->trust[i];
	if (!trust && codex->n_trust < CODEX_TRUST_MAX) {
		trust = &codex->trust[codex->n_trust++];
		*trust = (struct codex_trust){.key = item->path[2]};
	}
	if (trust && str_is(item->path[3], "trusted_hash") && item->is_text)
		trust->hash = item->value;
	if (trust && str_is(item->path[3], "enabled"))
		trust->off = str_is(item->value, "false");
}

static void see(void *context, const struct toml_item *item)
{
	struct reading *reading = context;
	if (item->n == 2 && str_is(item->path[0], "features") && str_is(item->path[1], "hooks"))
		reading->codex->off = str_is(item->value, "false");
	if (item->n < 2 || !str_is(item->path[0], "hooks"))
		return;
	if (!str_is(item->path[1], "state"))
		see_hooks(reading, item);
	else if (item->n == 4 && !item->begins)
		see_trust(reading->codex, item);
}

int codex_read(struct json_arena *arena, const char *path, struct codex *ret, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	struct reading reading = {.codex = ret};
	memset(ret, 0, sizeof(*ret));
	ret->arena = arena;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 :
			       error_set(err, errno, "%s: %s", path, strerror(errno));
	ret->exists = true;
	int r = io_read_all(fd, CODEX_TOML_BYTES_MAX, &data, &len, err);
	struct str text = {NULL, 0};
	if (r == 0)
		text = json_arena_text(arena, (struct str){data, len});
	if (r == 0 && !text.ptr)
		r = error_set(err, ENOMEM, "out of memory");
	if (r == 0)
		r = toml_read(arena, text, see, &reading, err);
	int joined = join_hooks(&reading, r == 0 ? err : NULL);
	if (r < 0)
		error_prefix(err, "%s", path);
	return r < 0 ? r : joined;
}

/* ---- trust -------------------------------------------------------------------------------- */

/* PreToolUse: pre_tool_use */
static size_t label_of(const char *event, char *buf, size_t room)
{
	size_t n = 0;
	for (; *event && n + 3 < room; event++) {
		if (*event >= 'A' && *event <= 'Z' && n > 0)
			buf[n++] = '_';
		buf[n++] = *event >= 'A' && *event <= 'Z' ? (char)(*event | 0x20) : *event;
	}
	buf[n] = '\0';
	return n;
}

static long long timeout_of(const char *event, const struct json_value *handler)
{
	int64_t seconds = TIMEOUT_S;
	json_integer(json_member(handler, STR("timeout")), &seconds);
	if (strcmp(event, "SessionEnd") == 0 && seconds > END_TIMEOUT_S)
		seconds = END_TIMEOUT_S;
	return seconds < 1 ? 1 : (long long)seconds;
}

static bool has_matcher(const char *event)
{
	return strcmp(event, "PreToolUse") == 0 || strcmp(event, "PostToolUse") == 0;
}

int codex_hash(struct json_arena *arena, const char *event, const struct json_value *matcher,
	       const struct json_value *handler, struct str *ret)
{
	_cleanup_(buffer_done) struct buffer text = {.max = CODEX_TOML_BYTES_MAX};
	char label[64], number[64], hash[sizeof("sha256:") + SHA256_HEX] = "sha256:";
	struct str command, status, match;
	const struct json_value *async = json_member(handler, STR("async"));
	if (json_string(json_member(handler, STR("command")), &command) < 0)
		return -EINVAL;
	label_of(event, label, sizeof(label));
	buffer_add(&text, STR("{\"event_name\":\""));
	buffer_add(&text, str_of(label));
	buffer_add(&text, STR("\",\"hooks\":[{\"async\":"));
	buffer_add(&text, async && str_is(json_raw(async), "true") ? STR("true") : STR("false"));
	buffer_add(&text, STR(",\"command\":"));
	buffer_add(&text, json_quote(arena, command));
	if (json_string(json_member(handler, STR("statusMessage")), &status) == 0) {
		buffer_add(&text, STR(",\"statusMessage\":"));
		buffer_add(&text, json_quote(arena, status));
	}
	snprintf(number, sizeof(number), ",\"timeout\":%lld,\"type\":\"command\"}]",
		 timeout_of(event, handler));
	buffer_add(&text, str_of(number));
	if (has_matcher(event) && json_string(matcher, &match) == 0) {
		buffer_add(&text, STR(",\"matcher\":"));
		buffer_add(&text, json_quote(arena, match));
	}
	buffer_add(&text, STR("}"));
	if (text.error < 0)
		return text.error;
	int r = sha256_hex(buffer_str(&text), hash + strlen(hash), NULL);
	if (r < 0)
		return r;
	*ret = json_arena_text(arena, str_of(hash));
	return 0;
}

enum codex_state codex_state(const struct codex *codex, const char *file, const char *event,
			     size_t group, size_t index, const struct json_value *matcher,
			     const struct json_value *handler)
{
	char key[8192], label[64];
	struct str hash;
	label_of(event, label, sizeof(label));
	snprintf(key, sizeof(key), "%s:%s:%zu:%zu", file, label, group, index);
	for (size_t i = 0; i < codex->n_trust; i++) {
		const struct codex_trust *trust = &codex->trust[i];
		if (!str_is(trust->key, key))
			continue;
		if (trust->off)
			return CODEX_OFF;
		if (!trust->hash.ptr)
			return CODEX_UNKNOWN;
		if (codex_hash(codex->arena, event, matcher, handler, &hash) < 0)
			return CODEX_CHANGED;
		return str_equal(hash, trust->hash) ? CODEX_TRUSTED : CODEX_CHANGED;
	}
	return CODEX_UNKNOWN;
}
