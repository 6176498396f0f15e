/* config-keys.c - every key a config can hold: one table, and the walk over it.
 *
 * Layer: core.  A new key is a row here, a field in config.h and a paragraph in
 * pawl.json(5); a test holds the page to the table.
 */
#include <config.h>

#include "core/config-impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define YEAR (366 * 24 * 3600 * SECOND)

#define AT(type, field)                                                                            \
	.place = offsetof(struct type, field), .size = sizeof(((struct type *)NULL)->field)
#define ENTRY (IN_CHAIN | IN_OBSERVE)

/* clang-format off */
static const struct config_key keys[] = {
	{IN_TOP, "plugin_dir", read_path, AT(config, plugin_dir)},
	{IN_TOP, "libraries", read_libraries, AT(config, libraries), .max = CONFIG_PATTERNS_MAX,
	 .walk = WALK_LISTS},
	{IN_TOP, "deny", read_tools, AT(config, deny), .max = CONFIG_PATTERNS_MAX,
	 .walk = WALK_LISTS},
	{IN_TOP, "require_approval", read_tools, AT(config, require_approval),
	 .max = CONFIG_PATTERNS_MAX, .walk = WALK_LISTS},
	{IN_TOP, "context", read_context, AT(config, facts), .max = CONFIG_FACTS_MAX,
	 .walk = WALK_LISTS},
	{IN_TOP, "state_dir", read_path, AT(config, state_dir)},
	{IN_TOP, "limits", read_section, .section = IN_LIMITS, .walk = WALK_ALL},
	{IN_LIMITS, "bytes", read_integer, AT(config, limits.bytes), 1024, JSON_BYTES_MAX},
	{IN_LIMITS, "depth", read_integer, AT(config, limits.depth), 8, JSON_DEPTH_MAX},
	{IN_TOP, "deadline", read_duration, AT(config, deadline_ns), 10 * MS, 600 * SECOND},
	{IN_TOP, "on_error", read_choice, AT(config, on_error), .choices = "deny|halt"},
	{IN_TOP, "resolve", read_choice, AT(config, resolve), .choices = "first|strictest"},
	{IN_TOP, "refusal", read_refusal, AT(config, refusal)},
	{IN_TOP, "approval", read_section, .section = IN_APPROVAL, .walk = WALK_ALL},
	{IN_APPROVAL, "timeout", read_duration, AT(config, approval.timeout_ns), 0, YEAR},
	{IN_APPROVAL, "ask", read_choice, AT(config, approval.ask), .choices = "client|queue|deny"},
	{IN_APPROVAL, "need", read_integer, AT(config, approval.need), 1, 16},
	{IN_APPROVAL, "allow_self", read_boolean, AT(config, approval.allow_self)},
	{IN_APPROVAL, "redeem", read_duration, AT(config, approval.redeem_ns), SECOND, YEAR},
	{IN_APPROVAL, "wait", read_duration, AT(config, approval.wait_ns), 0, 600 * SECOND},
	{IN_APPROVAL, "notify", read_notify, AT(config, approval.notify)},
	{IN_APPROVAL, "on_change", read_choice, AT(config, approval.on_change_deny),
	 .choices = "run|deny"},
	{IN_TOP, "audit", read_section, .section = IN_AUDIT, .walk = WALK_ALL},
	{IN_AUDIT, "on_error", read_choice, AT(config, audit_on_error),
	 .choices = "drop|warn|fail"},
	{IN_TOP, "chain", read_entries, AT(config, chain), .max = CONFIG_ENTRIES_MAX,
	 .section = IN_CHAIN, .walk = WALK_LISTS},
	{IN_TOP, "observe", read_entries, AT(config, observe), .max = CONFIG_ENTRIES_MAX,
	 .section = IN_OBSERVE, .walk = WALK_LISTS},
	{ENTRY, "plugin", read_name, AT(config_entry, plugin)},
	{ENTRY, "sha256", read_sha256, .place = 0},
	{ENTRY, "name", read_name, AT(config_entry, name)},
	{ENTRY, "match", read_match, AT(config_entry, match)},
	{ENTRY, "options", read_options, AT(config_entry, options)},
	{IN_CHAIN, "mode", read_choice, AT(config_entry, shadow), .choices = "enforce|shadow"},
	{ENTRY, "deadline", read_duration, AT(config_entry, deadline_ns), 1 * MS, 600 * SECOND},
	{IN_CHAIN, "on_error", read_choice, AT(config_entry, on_error), .choices = "deny|halt"},
	{ENTRY, "isolation", read_choice, AT(config_entry, isolated),
	 .choices = "shared|process"},
	{ENTRY, "sandbox", read_choice, AT(config_entry, sandbox_best_effort),
	 .choices = "require|best-effort"},
	{ENTRY, "needs", read_needs, .place = 0},
	{IN_CHAIN, "may", read_may, AT(config_entry, may_grant)},
	{IN_MATCH, "tool", read_globs, AT(match, tool), .max = CONFIG_PATTERNS_MAX},
	{IN_MATCH, "class", read_globs, AT(match, class), .max = CONFIG_PATTERNS_MAX},
	{IN_MATCH, "source", read_globs, AT(match, source), .max = CONFIG_PATTERNS_MAX},
	{IN_MATCH, "server", read_globs, AT(match, server), .max = CONFIG_PATTERNS_MAX},
	{IN_MATCH, "agent", read_globs, AT(match, agent), .max = CONFIG_PATTERNS_MAX},
	{IN_MATCH, "client", read_globs, AT(match, client), .max = CONFIG_PATTERNS_MAX},
};
/* clang-format on */
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(N_KEYS <= CONFIG_KEYS_MAX, "raise CONFIG_KEYS_MAX");

size_t key_index(const struct config_key *key)
{
	return (size_t)(key - keys);
}

static const char *scope_path(unsigned scope)
{
	switch (scope & -scope) {
	case IN_LIMITS:
		return "limits.";
	case IN_APPROVAL:
		return "approval.";
	case IN_AUDIT:
		return "audit.";
	case IN_CHAIN:
		return "chain[].";
	case IN_OBSERVE:
		return "observe[].";
	case IN_MATCH:
		return "match.";
	default:
		return "";
	}
}

const char *config_key_path(size_t index, char *buf, size_t size)
{
	if (index >= N_KEYS)
		return NULL;
	snprintf(buf, size, "%s%s", scope_path(keys[index].scope), keys[index].name);
	return buf;
}

static const struct config_key *key_find(unsigned scope, struct str name)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if ((keys[i].scope & scope) && str_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

/* ---- unknown keys ------------------------------------------------------------- */

/* Edits between the two, letters' case apart; 99 when either is long. */
static unsigned distance(struct str a, const char *b)
{
	unsigned row[33];
	size_t n = strlen(b);
	if (a.len > 32 || n > 32)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a.len; i++) {
		unsigned corner = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned keep = corner + (strncasecmp(a.ptr + i - 1, b + j - 1, 1) != 0);
			unsigned drop = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			corner = row[j];
			row[j] = keep < drop ? keep : drop;
		}
	}
	return row[n];
}

static const char *nearest(unsigned scope, struct str name)
{
	const char *best = NULL;
	unsigned best_distance = name.len > 3 ? 3 : 2; /* less than this: swapped letters are two */
	for (size_t i = 0; i < N_KEYS; i++) {
		unsigned d = keys[i].scope & scope ? distance(name, keys[i].name) : 99;
		if (d < best_distance) {
			best = keys[i].name;
			best_distance = d;
		}
	}
	return best;
}

static void list_keys(unsigned scope, char *buf, size_t size)
{
	size_t at = 0;
	buf[0] = '\0';
	for (size_t i = 0; i < N_KEYS && at < size; i++)
		if (keys[i].scope & scope)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", at > 0 ? ", " : "",
					       keys[i].name);
}

static int unknown_key(struct reader *reader, unsigned scope, struct str name,
		       const struct json_value *value)
{
	char list[512], text[80];
	shown(name, text);
	if (scope == IN_OBSERVE && key_find(IN_CHAIN, name))
		return fail_key(
			reader, value,
			"\"%s\" means nothing in observe: an observer decides nothing; remove "
			"it, or move the entry to chain",
			text);
	const char *near = nearest(scope, name);
	list_keys(scope, list, sizeof(list));
	if (near)
		return fail_key(reader, value,
				"unknown key \"%s\"; did you mean \"%s\"? known here: %s", text,
				near, list);
	return fail_key(reader, value, "unknown key \"%s\"; known here: %s", text, list);
}

/* ---- the walk ------------------------------------------------------------------- */

/* Keys of the top and its sections are set in one file only. */
static int set_once(struct reader *reader, const struct config_key *key,
		    const struct json_value *value)
{
	size_t i = key_index(key);
	unsigned column;
	if (reader->set[i].file)
		return fail_key(reader, value, "\"%s\" is already set in %.*s:%u; keep one of them",
				key->name, STR_FMT(reader->set[i].file->path), reader->set[i].line);
	reader->set[i].file = reader->file;
	place_of(reader->file, json_raw(value).ptr, &reader->set[i].line, &column);
	return 0;
}

static int count_list(struct reader *reader, const struct config_key *key,
		      const struct json_value *value)
{
	bool members = key->read == read_context;
	size_t *count = &reader->counts[key_index(key)];
	int r = need_type(reader, key, value, members ? JSON_OBJECT : JSON_ARRAY,
			  members ? "an object" : "an array");
	if (r < 0)
		return r;
	*count += json_length(value);
	if (*count > (size_t)key->max)
		return fail(reader, value, "\"%s\" holds more than %lld; merge some with globs",
			    key->name, (long long)key->max);
	return 0;
}

static int read_key(struct reader *reader, const struct config_key *key, enum walk walk,
		    const struct json_value *value, void *base)
{
	const unsigned once = IN_TOP | IN_LIMITS | IN_APPROVAL | IN_AUDIT;
	if (key->section && key->walk == WALK_ALL)
		return walk == WALK_ONCE ? key->read(reader, key, value, base) : 0;
	if (key->walk == WALK_LISTS)
		return walk == WALK_ONCE ? count_list(reader, key, value)
					 : key->read(reader, key, value, base);
	if ((key->scope & once) && walk == WALK_LISTS)
		return 0;
	int r = key->scope & once ? set_once(reader, key, value) : 0;
	return r < 0 ? r : key->read(reader, key, value, base);
}

int read_object(struct reader *reader, unsigned scope, enum walk walk,
		const struct json_value *object, void *base)
{
	size_t n = json_length(object);
	for (size_t i = 0; i < n; i++) {
		const struct json_value *value;
		struct str name = json_key(object, i, &value);
		const struct config_key *key = key_find(scope, name);
		int r = key ? read_key(reader, key, walk, value, base)
			    : unknown_key(reader, scope, name, value);
		if (r < 0)
			return r;
	}
	return 0;
}
