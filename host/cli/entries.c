/* entries.c - pawl's own entries in a client's settings: made, found, taken out; see
 * settings.h. */
#include <config.h>

#include "cli/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/cleanup.h"

/* ---- commands as words ------------------------------------------------------------------ */

void settings_quote(struct str text, char *buf, size_t room)
{
	bool plain = text.len > 0;
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		plain &= strchr("/._-+@%:,=", text.ptr[i]) != NULL ||
			 (text.ptr[i] >= '0' && text.ptr[i] <= '9') ||
			 ((text.ptr[i] | 0x20) >= 'a' && (text.ptr[i] | 0x20) <= 'z');
	if (plain) {
		snprintf(buf, room, "%.*s", STR_FMT(text));
		return;
	}
	buf[n++] = '\'';
	for (size_t i = 0; i < text.len && n + 6 < room; i++) {
		if (text.ptr[i] == '\'') {
			memcpy(buf + n, "'\\''", 4);
			n += 4;
		} else {
			buf[n++] = text.ptr[i];
		}
	}
	buf[n++] = '\'';
	buf[n] = '\0';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of one shell word at in, its text without quotes to *out. */
static const char *split_word(const char *in, const char *end, char **out)
{
	char quote = 0;
	for (; in < end && (quote || !is_space(*in)); in++) {
		if (quote ? *in == quote : *in == '\'' || *in == '"')
			quote = quote ? 0 : *in;
		else if (*in == '\\' && quote != '\'' && in + 1 < end)
			*(*out)++ = *++in;
		else
			*(*out)++ = *in;
	}
	*(*out)++ = '\0';
	return in;
}

static bool split(struct str command, struct settings_words *words)
{
	char *out = words->text;
	const char *in = command.ptr, *end = in + command.len;
	if (command.len >= sizeof(words->text) / 2)
		return false;
	while (in < end && words->n < SETTINGS_WORDS_MAX) {
		while (in < end && is_space(*in))
			in++;
		if (in == end)
			break;
		words->word[words->n++] = out;
		in = split_word(in, end, &out);
	}
	words->word[words->n] = NULL;
	return words->n > 0;
}

static bool take(struct settings_words *words, char **out, const struct json_value *value)
{
	struct str text;
	size_t room = (size_t)(words->text + sizeof(words->text) - *out);
	if (json_string(value, &text) < 0 || text.len >= room || words->n == SETTINGS_WORDS_MAX)
		return false;
	words->word[words->n++] = *out;
	memcpy(*out, text.ptr, text.len + 1);
	*out += text.len + 1;
	return true;
}

static const struct json_value *program_of(const struct settings *settings,
					   const struct json_value *handler)
{
	const char *const names[] = {settings->program ? settings->program : "command", "command",
				     "bash", "exec"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct json_value *value = json_member(handler, str_of(names[i]));
		if (json_type(value) == JSON_STRING)
			return value;
	}
	return NULL;
}

bool settings_array(const struct json_value *array, struct settings_words *words)
{
	char *out = words->text;
	memset(words, 0, sizeof(*words));
	words->exec = true;
	for (size_t i = 0; i < json_length(array); i++)
		if (!take(words, &out, json_item(array, i)))
			return false;
	words->word[words->n] = NULL;
	return words->n > 0;
}

bool settings_words(const struct settings *settings, const struct json_value *handler,
		    struct settings_words *words)
{
	const struct json_value *args = json_member(handler, STR("args"));
	const struct json_value *program = program_of(settings, handler);
	struct str command;
	char *out = words->text;
	memset(words, 0, sizeof(*words));
	if (!program || json_string(program, &command) < 0)
		return false;
	if (json_type(args) != JSON_ARRAY)
		return split(command, words);
	words->exec = true;
	if (!take(words, &out, program))
		return false;
	for (size_t i = 0; i < json_length(args); i++)
		if (!take(words, &out, json_item(args, i)))
			return false;
	words->word[words->n] = NULL;
	return true;
}

struct str settings_command(const struct settings *settings, const struct json_value *handler)
{
	struct str command = {NULL, 0};
	if (json_type(json_member(handler, STR("args"))) != JSON_ARRAY)
		json_string(program_of(settings, handler), &command);
	return command;
}

bool settings_ours(const struct settings *settings, const struct json_value *handler)
{
	struct settings_words words;
	if (!settings_words(settings, handler, &words))
		return false;
	const char *slash = strrchr(words.word[0], '/');
	if (strcmp(slash ? slash + 1 : words.word[0], "pawl") != 0)
		return false;
	for (int i = 1; i + 1 < words.n; i++)
		if (strcmp(words.word[i], "hook") == 0)
			return strcmp(words.word[i + 1], settings->agent) == 0;
	return false;
}

/* ---- walking ---------------------------------------------------------------------------- */

static const struct json_value *entries_of(const struct json_value *root, const char *event)
{
	return json_member(json_member(root, STR("hooks")), str_of(event));
}

static bool next_in_groups(const struct json_value *groups, struct settings_hook *hook)
{
	for (; hook->group_index < json_length(groups); hook->group_index++, hook->index = 0) {
		hook->group = json_item(groups, hook->group_index);
		hook->handler = json_item(json_member(hook->group, STR("hooks")), hook->index);
		if (hook->handler)
			return true;
	}
	return false;
}

bool settings_next(const struct settings *settings, const struct json_value *root,
		   const char *event, struct settings_hook *hook)
{
	const struct json_value *entries = entries_of(root, event);
	if (hook->handler)
		hook->index++;
	hook->event = event;
	hook->handler = NULL;
	if (settings->shape == SHAPE_GROUPS)
		return next_in_groups(entries, hook);
	hook->handler = json_item(entries, hook->index);
	return hook->handler != NULL;
}

static bool find_ours(const struct settings *settings, const struct json_value *root,
		      const char *event, struct settings_hook *hook)
{
	memset(hook, 0, sizeof(*hook));
	while (settings_next(settings, root, event, hook))
		if (settings_ours(settings, hook->handler))
			return true;
	return false;
}

/* ---- matchers --------------------------------------------------------------------------- */

static bool is_name_list(struct str matcher)
{
	for (size_t i = 0; i < matcher.len; i++)
		if (!strchr("_ ,|-", matcher.ptr[i]) &&
		    !(matcher.ptr[i] >= '0' && matcher.ptr[i] <= '9') &&
		    !((matcher.ptr[i] | 0x20) >= 'a' && (matcher.ptr[i] | 0x20) <= 'z'))
			return false;
	return true;
}

static bool is_listed(struct str matcher, const char *tool)
{
	while (matcher.len > 0) {
		size_t n = 0;
		while (n < matcher.len && matcher.ptr[n] != '|' && matcher.ptr[n] != ',')
			n++;
		struct str name = {matcher.ptr, n};
		while (name.len && name.ptr[0] == ' ')
			name = str_after(name, 1);
		while (name.len && name.ptr[name.len - 1] == ' ')
			name.len--;
		if (str_is(name, tool))
			return true;
		matcher = str_after(matcher, n < matcher.len ? n + 1 : n);
	}
	return false;
}

/* An open bracket is none in JavaScript's expressions, either, but where that reads it
 * otherwise. */
static int why_not(int code, const char *pattern)
{
	static const char *const its_own[] = {"\\", "(?", "[]", "[^]"};
	if (code != REG_EBRACK && code != REG_EPAREN && code != REG_BADPAT)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(its_own) / sizeof(its_own[0]); i++)
		if (strstr(pattern, its_own[i]))
			return -EINVAL;
	return -EILSEQ;
}

static int is_matched(struct str matcher, const char *tool, bool anchored)
{
	char pattern[1024];
	regex_t regex;
	if (matcher.len + 8 > sizeof(pattern))
		return -EINVAL;
	snprintf(pattern, sizeof(pattern), anchored ? "^(%.*s)$" : "%.*s", STR_FMT(matcher));
	int r = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (r != 0)
		return why_not(r, pattern);
	r = regexec(&regex, tool, 0, NULL, 0) == 0;
	regfree(&regex);
	return r;
}

int settings_matches(const struct settings *settings, struct str matcher, const char *tool)
{
	char glob[256];
	if (matcher.len == 0 || str_is(matcher, "*") || settings->match == MATCH_NONE)
		return 1;
	switch (settings->match) {
	case MATCH_GLOB:
		snprintf(glob, sizeof(glob), "%.*s", STR_FMT(matcher));
		return fnmatch(glob, tool, 0) == 0;
	case MATCH_NAMES:
		if (is_name_list(matcher))
			return is_listed(matcher, tool);
		break;
	default:
		break;
	}
	return is_matched(matcher, tool, settings->match == MATCH_ANCHORED);
}

/* ---- making one --------------------------------------------------------------------------- */

static void put(struct buffer *text, const char *more)
{
	buffer_add(text, str_of(more));
}

static void put_json(struct buffer *text, struct doc *doc, const char *plain)
{
	buffer_add(text, json_quote(doc->arena, str_of(plain)));
}

/* The command's words behind the program. */
static int words_behind(const struct settings_line *line, const char *event, const char *words[8])
{
	int n = 0;
	if (line->config) {
		words[n++] = "--config";
		words[n++] = line->config;
	}
	words[n++] = "hook";
	words[n++] = line->settings->agent;
	if (line->settings->named) {
		words[n++] = "--event";
		words[n++] = event;
	}
	return n;
}

static void put_exec(struct buffer *text, struct doc *doc, const struct settings_line *line,
		     const char *event, const char *pawl)
{
	const char *words[8];
	int n = words_behind(line, event, words);
	put_json(text, doc, pawl);
	put(text, ", \"args\": [");
	for (int i = 0; i < n; i++) {
		put(text, i ? ", " : "");
		put_json(text, doc, words[i]);
	}
	put(text, "]");
}

static void put_shell(struct buffer *text, struct doc *doc, const struct settings_line *line,
		      const char *event, const char *pawl)
{
	const char *words[8];
	char command[4 * PATH_MAX], word[2 * PATH_MAX];
	int n = words_behind(line, event, words);
	settings_quote(str_of(pawl), command, sizeof(command));
	for (int i = 0; i < n; i++) {
		size_t len = strlen(command);
		settings_quote(str_of(words[i]), word, sizeof(word));
		snprintf(command + len, sizeof(command) - len, " %s", word);
	}
	put_json(text, doc, command);
}

static void put_timeout(struct buffer *text, const struct settings_line *line)
{
	char member[64];
	int64_t n = line->settings->ms ? line->timeout_ms : (line->timeout_ms + 999) / 1000;
	snprintf(member, sizeof(member), ", \"%s\": %lld", line->settings->timeout, (long long)n);
	put(text, member);
}

static bool is_tools(const struct settings *settings, const char *event)
{
	enum event_kind kind = settings_kind(settings, event);
	return kind == EVENT_PRE_TOOL || kind == EVENT_POST_TOOL;
}

static void put_matcher(struct buffer *text, const struct settings *settings, const char *event)
{
	if (!settings->matcher || !is_tools(settings, event))
		return;
	put(text, "\"matcher\": \"");
	put(text, settings->matcher);
	put(text, "\", ");
}

static void put_handler(struct buffer *text, struct doc *doc, const struct settings_line *line,
			const char *event, const char *pawl)
{
	const struct settings *s = line->settings;
	put(text, "{");
	if (s->shape == SHAPE_FLAT)
		put_matcher(text, s, event);
	if (s->type) {
		put(text, s->type);
		put(text, ", ");
	}
	put(text, "\"");
	put(text, s->program);
	put(text, "\": ");
	(s->exec ? put_exec : put_shell)(text, doc, line, event, pawl);
	if (s->timeout)
		put_timeout(text, line);
	if (s->closed && event_gates(settings_kind(s, event))) {
		put(text, ", \"");
		put(text, s->closed);
		put(text, "\": ");
		put(text, s->closed_value);
	}
	if (s->more) {
		put(text, ", ");
		put(text, s->more);
	}
	put(text, "}");
}

/* An element of the event's array. */
static void put_entry(struct buffer *text, struct doc *doc, const struct settings_line *line,
		      const char *event, const char *pawl)
{
	const struct settings *s = line->settings;
	if (s->shape == SHAPE_FLAT) {
		put_handler(text, doc, line, event, pawl);
		return;
	}
	put(text, "{");
	put_matcher(text, s, event);
	/* each hook of the event then sees what the one before made of the call */
	if (strcmp(s->agent, "gemini") == 0 && settings_kind(s, event) == EVENT_PRE_TOOL)
		put(text, "\"sequential\": true, ");
	put(text, "\"hooks\": [");
	put_handler(text, doc, line, event, pawl);
	put(text, "]}");
}

/* ---- adding ------------------------------------------------------------------------------- */

static int too_much(const struct buffer *text, struct error *err)
{
	return text->error < 0 ? error_set(err, -text->error, "the entry is too long") : 0;
}

static int add_entry(struct doc *doc, const struct settings_line *line, const char *event,
		     const char *pawl, struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = SETTINGS_HANDLER_MAX};
	char pointer[128];
	bool there = entries_of(doc->root, event) != NULL;
	snprintf(pointer, sizeof(pointer), "/hooks/%s", event);
	put(&text, there ? "" : "[");
	put_entry(&text, doc, line, event, pawl);
	put(&text, there ? "" : "]");
	if (text.error < 0)
		return too_much(&text, err);
	return there ? doc_append(doc, str_of(pointer), (struct str){NULL, 0}, buffer_str(&text),
				  err)
		     : doc_append(doc, STR("/hooks"), str_of(event), buffer_str(&text), err);
}

static int renew(struct doc *doc, const struct settings_line *line,
		 const struct settings_hook *hook, const char *pawl, struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = SETTINGS_HANDLER_MAX};
	const struct json_value *wanted;
	put_handler(&text, doc, line, hook->event, pawl);
	if (text.error < 0)
		return too_much(&text, err);
	int r = json_parse(doc->arena, buffer_str(&text), JSON_DEFAULT_LIMITS, 0, &wanted, NULL,
			   err);
	if (r < 0 || json_same(wanted, hook->handler))
		return r;
	return doc_replace(doc, hook->handler, buffer_str(&text), err);
}

static int add_event(struct doc *doc, const struct settings_line *line, const char *event,
		     const char *pawl, struct error *err)
{
	const struct json_value *entries = entries_of(doc->root, event);
	struct settings_hook hook;
	if (entries && json_type(entries) != JSON_ARRAY)
		return doc_wrong(doc, entries, err, "an event's hooks have to be an array");
	return find_ours(line->settings, doc->root, event, &hook)
		       ? renew(doc, line, &hook, pawl, err)
		       : add_entry(doc, line, event, pawl, err);
}

/* "hooks" whole, an event a line where the file has lines. */
static int add_hooks(struct doc *doc, const struct settings_line *line, const char *pawl,
		     struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = DOC_BYTES_MAX};
	const struct json_value *last = NULL;
	struct str indent = STR("  ");
	if (json_length(doc->root) > 0) {
		json_key(doc->root, json_length(doc->root) - 1, &last);
		indent = doc_indent(doc, last);
	}
	put(&text, "{");
	for (size_t i = 0; line->settings->events[i]; i++) {
		put(&text, i ? ",\n" : "\n");
		buffer_add(&text, indent);
		buffer_add(&text, indent.len ? indent : STR("  "));
		put(&text, "\"");
		put(&text, line->settings->events[i]);
		put(&text, "\": [");
		put_entry(&text, doc, line, line->settings->events[i], pawl);
		put(&text, "]");
	}
	put(&text, "\n");
	buffer_add(&text, indent);
	put(&text, "}");
	if (text.error < 0)
		return too_much(&text, err);
	return doc_append(doc, STR(""), STR("hooks"), buffer_str(&text), err);
}

static int add_head(struct doc *doc, const struct settings *settings, struct error *err)
{
	if (!settings->head || json_member(doc->root, str_of(settings->head)))
		return 0;
	return doc_append(doc, STR(""), str_of(settings->head), str_of(settings->head_value), err);
}

/* ---- taking out --------------------------------------------------------------------------- */

static int cut(struct doc *doc, struct error *err, const char *container, const char *child)
{
	return doc_remove(doc, str_of(container), str_of(child), err);
}

static bool is_empty(const struct doc *doc, const char *pointer)
{
	const struct json_value *value = json_at(doc->root, str_of(pointer));
	return value && json_length(value) == 0;
}

/* A container that was there before, and empty, stays so. */
static int cut_child(struct doc *doc, const char *pointer, const char *child, bool *ret_empty,
		     struct error *err)
{
	bool kept = doc_was_empty(doc, str_of(pointer));
	int r = cut(doc, err, pointer, child);
	*ret_empty = r == 0 && !kept && is_empty(doc, pointer);
	return r;
}

static int cut_group(struct doc *doc, const struct settings_hook *hook, bool *ret_empty,
		     struct error *err)
{
	char event[128], group[160], hooks[192], child[32];
	snprintf(event, sizeof(event), "/hooks/%s", hook->event);
	snprintf(group, sizeof(group), "%zu", hook->group_index);
	snprintf(hooks, sizeof(hooks), "%s/%zu/hooks", event, hook->group_index);
	snprintf(child, sizeof(child), "%zu", hook->index);
	int r = cut_child(doc, hooks, child, ret_empty, err);
	return r == 0 && *ret_empty ? cut_child(doc, event, group, ret_empty, err) : r;
}

/* ret_empty: nothing is left of "hooks" that was there before. */
static int cut_hook(struct doc *doc, const struct settings *settings,
		    const struct settings_hook *hook, bool *ret_empty, struct error *err)
{
	char event[128], child[32];
	snprintf(event, sizeof(event), "/hooks/%s", hook->event);
	snprintf(child, sizeof(child), "%zu", hook->index);
	int r = settings->shape == SHAPE_GROUPS
			? cut_group(doc, hook, ret_empty, err)
			: cut_child(doc, event, child, ret_empty, err);
	return r == 0 && *ret_empty ? cut_child(doc, "/hooks", hook->event, ret_empty, err) : r;
}

/* What add_head has put there, as it has put it. */
static int cut_head(struct doc *doc, const struct settings *settings, struct error *err)
{
	const struct json_value *head =
		settings->head ? json_member(doc->root, str_of(settings->head)) : NULL;
	if (!head || !str_is(json_raw(head), settings->head_value))
		return 0;
	/* a version is the file's own, as long as anything else is in it: without one the
	 * client would drop all of it */
	if (json_type(head) != JSON_OBJECT && json_length(doc->root) > 1)
		return 0;
	return cut(doc, err, "", settings->head);
}

/* What is ours of these events; ret_any may be NULL. "hooks" goes when nothing is left. */
static int cut_all(struct doc *doc, const struct settings *settings, const char *const *events,
		   bool *ret_any, struct error *err)
{
	struct settings_hook hook;
	bool empty = false;
	int r = 0;
	for (size_t i = 0; r == 0 && events && events[i]; i++)
		while (r == 0 && find_ours(settings, doc->root, events[i], &hook)) {
			r = cut_hook(doc, settings, &hook, &empty, err);
			if (ret_any)
				*ret_any = true;
		}
	return r == 0 && empty ? cut(doc, err, "", "hooks") : r;
}

int settings_remove(struct doc *doc, const struct settings_line *line, struct error *err)
{
	const struct settings *settings = line->settings;
	bool any = false;
	int r = cut_all(doc, settings, settings->events, &any, err);
	if (r == 0)
		r = cut_all(doc, settings, settings->again, &any, err);
	return r == 0 && any ? cut_head(doc, settings, err) : r;
}

/* ---- the whole of it ---------------------------------------------------------------------- */

int settings_add(struct doc *doc, const struct settings_line *line, const char *pawl,
		 struct error *err)
{
	int r = doc->root ? 0 : doc_set(doc, STR(SETTINGS_NEW), err);
	if (r == 0 && json_type(doc->root) != JSON_OBJECT)
		return doc_wrong(doc, doc->root, err, "settings have to be an object");
	const struct json_value *hooks = json_member(doc->root, STR("hooks"));
	if (r == 0 && hooks && json_type(hooks) != JSON_OBJECT)
		return doc_wrong(doc, hooks, err, "\"hooks\" has to be an object");
	if (r == 0)
		r = add_head(doc, line->settings, err);
	if (r == 0 && !hooks)
		return add_hooks(doc, line, pawl, err);
	for (size_t i = 0; r == 0 && line->settings->events[i]; i++)
		r = add_event(doc, line, line->settings->events[i], pawl, err);
	return r < 0 ? r : cut_all(doc, line->settings, line->settings->again, NULL, err);
}
