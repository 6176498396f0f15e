/* doctor.c - pawl doctor AGENT: whether the client's settings have pawl asked before its
 * tools, and whether what they start refuses. Each finding is a line with its mend. */
#include <config.h>

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/canary.h"
#include "core/config.h"
#include "dialects/dialect.h"
#include "json/write.h"

#define TOML_BYTES_MAX ((size_t)4 << 20)

struct doctor {
	const struct settings *settings;
	const struct settings_line *line;
	const struct json_writer *writer; /* NULL: for people */
	struct json_object *findings, *shown, *notes;
	bool quiet;
	int faults, hooks;
	const struct doc *doc; /* the file being looked at */
	struct str last;       /* the handler whose program was looked at last */
};

/* ---- saying it -------------------------------------------------------------------------- */

static void place(const struct doctor *doctor, const struct json_value *value, char *buf,
		  size_t room)
{
	unsigned line = 1, column = 1;
	if (value)
		json_place(value, &line, &column);
	if (doctor->doc)
		snprintf(buf, room, "%s:%u:%u", doctor->doc->path, line, column);
	else
		snprintf(buf, room, "%s", doctor->settings->agent);
}

/* What is wrong, and how to mend it. */
static void __attribute__((format(printf, 4, 5)))
fault(struct doctor *doctor, const struct json_value *at, const char *mend, const char *format, ...)
{
	char where[PATH_MAX + 32], what[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	place(doctor, at, where, sizeof(where));
	doctor->faults++;
	if (!doctor->writer) {
		printf("wrong: %s: %s; %s\n", where, what, mend);
		return;
	}
	const struct json_writer *w = doctor->writer;
	struct json_object *o = w->object();
	w->add_text(o, "where", str_of(where));
	w->add_text(o, "what", str_of(what));
	w->add_text(o, "mend", str_of(mend));
	w->add(doctor->findings, NULL, o);
}

/* What is good to know, and no fault. */
static void __attribute__((format(printf, 2, 3)))
note(struct doctor *doctor, const char *format, ...)
{
	char what[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (doctor->writer)
		doctor->writer->add_text(doctor->notes, NULL, str_of(what));
	else if (!doctor->quiet)
		printf("note: %s: %s\n", doctor->settings->agent, what);
}

static void show(struct doctor *doctor, const char *event, const char *command,
		 const struct canary *canary)
{
	if (doctor->writer) {
		const struct json_writer *w = doctor->writer;
		struct json_object *o = w->object();
		w->add_text(o, "event", str_of(event));
		w->add_text(o, "command", str_of(command));
		w->add_bool(o, "blocks", true);
		w->add_integer(o, "exit", canary->status);
		w->add_integer(o, "ms", canary->ms);
		w->add(doctor->shown, NULL, o);
	} else if (!doctor->quiet) {
		printf("ok: %s: `%s` was started on %s and blocks (exit %d, %lld ms)\n",
		       doctor->settings->agent, command, event, canary->status,
		       (long long)canary->ms);
	}
}

/* ---- matchers --------------------------------------------------------------------------- */

/* A name as MCP tools have it cannot be known; a server alone is not one for Claude Code. */
static bool may_be_mcp(const struct settings *settings, struct str matcher)
{
	char text[512];
	snprintf(text, sizeof(text), "%.*s", STR_FMT(matcher));
	if (settings->match == MATCH_GLOB)
		return strchr(text, '@') != NULL;
	if (settings->match != MATCH_NAMES)
		return strstr(text, "mcp") || strstr(text, "MCP") || strstr(text, "__");
	const char *mcp = strstr(text, "mcp__");
	const char *more = mcp ? strstr(mcp + 5, "__") : NULL;
	return mcp && (more || strpbrk(text, ".*+?[(^$\\"));
}

static void check_matcher(struct doctor *doctor, const struct settings_hook *hook)
{
	const struct settings *settings = doctor->settings;
	const struct json_value *value =
		json_member(hook->group ? hook->group : hook->handler, STR("matcher"));
	struct str matcher = {NULL, 0};
	char mend[256] = "take \"matcher\" out, or name its tools";
	int matched = 0, n = 0;
	if (!settings->tools || json_string(value, &matcher) < 0)
		return;
	for (size_t i = 0; settings->tools[i]; i++, n++) {
		int r = settings_matches(settings, matcher, settings->tools[i]);
		if (r < 0) {
			note(doctor, "whether the matcher \"%.*s\" is met cannot be told here",
			     STR_FMT(matcher));
			return;
		}
		matched += r;
		if (strlen(settings->tools[i]) == matcher.len &&
		    strncasecmp(settings->tools[i], matcher.ptr, matcher.len) == 0)
			snprintf(mend, sizeof(mend), "write \"%s\", or take \"matcher\" out",
				 settings->tools[i]);
	}
	if (matched == 0 && !may_be_mcp(settings, matcher))
		fault(doctor, value, mend,
		      "%s: the matcher \"%.*s\" matches no known tool of this client", hook->event,
		      STR_FMT(matcher));
	else if (matched < n)
		note(doctor, "%s: the matcher \"%.*s\" leaves other tools unasked", hook->event,
		     STR_FMT(matcher));
}

/* ---- time ------------------------------------------------------------------------------- */

/* The client's patience with a handler in ms; 0: not known. */
static int64_t patience(const struct settings *settings, const struct json_value *handler)
{
	const struct ability *can = &dialect_find(settings->agent)->can;
	double value;
	bool ms = settings->ms;
	if (!settings->timeout ||
	    json_real(json_member(handler, str_of(settings->timeout)), &value) < 0) {
		value = can->timeout;
		ms = strcmp(can->timeout_unit, "ms") == 0;
	}
	if (value < 0 || value > 1e9)
		return 0;
	return (int64_t)(ms ? value : value * 1000);
}

static const char *config_of(const struct settings_words *words)
{
	for (int i = 1; i < words->n; i++) {
		if (strcmp(words->word[i], "--config") == 0 && i + 1 < words->n)
			return words->word[i + 1];
		if (strncmp(words->word[i], "--config=", 9) == 0)
			return words->word[i] + 9;
	}
	return NULL;
}

static void check_deadline(struct doctor *doctor, const struct settings_hook *hook,
			   const struct settings_words *words)
{
	struct config *config = NULL;
	struct error err;
	int64_t ms = patience(doctor->settings, hook->handler);
	if (config_load(config_of(words), &config, &err) < 0) {
		fault(doctor, hook->handler, "mend the configuration; `pawl check` reads it too",
		      "every call is refused: %s", err.text);
		return;
	}
	int64_t deadline = config->deadline_ns / 1000000;
	config_free(config);
	if (ms > 0 && deadline >= ms)
		fault(doctor, hook->handler,
		      "raise it with `pawl install --timeout`, or lower \"deadline\"",
		      "%s: the client waits %lld ms, pawl's own deadline is %lld ms: a late answer "
		      "lets the call run",
		      hook->event, (long long)ms, (long long)deadline);
}

/* ---- the command ------------------------------------------------------------------------ */

static bool can_run(const char *program)
{
	const char *path = getenv("PATH");
	char full[PATH_MAX];
	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		snprintf(full, sizeof(full), "%.*s/%s", (int)len, path, program);
		if (access(full, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* What an answer in the client's own form begins with: its text up to the reason. */
static struct str refusal_head(const struct settings *settings, const char *event)
{
	const struct form_list *list = forms_of(settings->agent);
	/* the event cannot be read: what is answered is an unknown event, unless --event
	 * says which it is */
	const struct form *form =
		settings->named ? form_find(list, str_of(event)) : &list->forms[0];
	const char *hole = strchr(form->refuse, '{') ? strstr(form->refuse, "{text}") : NULL;
	return (struct str){form->refuse, hole ? (size_t)(hole - form->refuse) : 0};
}

/* Whether the client would take the answer for a refusal; else why not. */
static bool refuses(const struct settings *settings, const char *event, const struct canary *canary,
		    char *why, size_t room)
{
	struct str head = refusal_head(settings, event);
	int status = forms_of(settings->agent)->refused;
	char out[96];
	text_clean((struct str){canary->out, canary->out_len}, out, sizeof(out));
	if (canary->status < 0)
		snprintf(why, room, "did not end in %lld ms", (long long)canary->ms);
	else if (canary->status != status)
		snprintf(why, room, "ended with %d where %d refuses", canary->status, status);
	else if (!str_starts((struct str){canary->out, canary->out_len}, head) ||
		 (head.len == 0 && canary->out_len > 0))
		snprintf(why, room, "printed no refusal of this client's but \"%s\"", out);
	else if (canary->err_len == 0)
		snprintf(why, room, "said nothing on standard error");
	else
		return true;
	return false;
}

static void try_canary(struct doctor *doctor, const struct settings_hook *hook,
		       struct settings_words *words)
{
	static struct canary canary;
	struct str command = settings_command(doctor->settings, hook->handler);
	int64_t ms = patience(doctor->settings, hook->handler);
	char why[256], line[1024] = "";
	struct error err;
	for (int i = 0; i < words->n; i++) {
		size_t len = strlen(line);
		snprintf(line + len, sizeof(line) - len, "%s%s", i ? " " : "", words->word[i]);
	}
	if (canary_run(doctor->settings, command, words->word, ms > 0 ? ms : CANARY_TIME_MS,
		       &canary, &err) < 0)
		fault(doctor, hook->handler, "try again", "%s", err.text);
	else if (!refuses(doctor->settings, hook->event, &canary, why, sizeof(why)))
		fault(doctor, hook->handler, "run it by hand, or `pawl install` anew",
		      "%s: `%s` does not block: it %s", hook->event, line, why);
	else
		show(doctor, hook->event, line, &canary);
}

static void check_program(struct doctor *doctor, const struct settings_hook *hook)
{
	struct settings_words words;
	if (!event_gates(settings_kind(doctor->settings, hook->event)) ||
	    str_equal(doctor->last, json_raw(hook->handler)))
		return;
	doctor->last = json_raw(hook->handler);
	settings_words(doctor->settings, hook->handler, &words);
	if (!can_run(words.word[0])) {
		fault(doctor, hook->handler, "`pawl install` writes where it is now",
		      "%s: %s cannot be executed: %s", hook->event, words.word[0], strerror(errno));
		return;
	}
	check_deadline(doctor, hook, &words);
	try_canary(doctor, hook, &words);
}

/* ---- one hook, one event ---------------------------------------------------------------- */

static void check_members(struct doctor *doctor, const struct settings_hook *hook)
{
	const struct settings *s = doctor->settings;
	const struct json_value *value = json_member(hook->handler, STR("async"));
	int64_t ttl;
	if (value && str_is(json_raw(value), "true"))
		fault(doctor, value, "take \"async\" out",
		      "%s: nobody waits for the answer of an async hook", hook->event);
	value = json_member(hook->handler, STR("cache_ttl_seconds"));
	if (json_integer(value, &ttl) == 0 && ttl > 0)
		fault(doctor, value, "set it to 0", "%s: the client answers from memory for %lld s",
		      hook->event, (long long)ttl);
	if (!s->closed || !event_gates(settings_kind(s, hook->event)))
		return;
	value = json_member(hook->handler, str_of(s->closed));
	if (!value || !str_is(json_raw(value), s->closed_value))
		fault(doctor, value ? value : hook->handler, "`pawl install` turns it on",
		      "%s: without \"%s\": %s a hook that fails lets the call run", hook->event,
		      s->closed, s->closed_value);
}

/* Returns how many of the event are pawl's; others are those that race them. */
static int check_event(struct doctor *doctor, const char *event)
{
	struct settings_hook hook = {0}, other = {0};
	int ours = 0, others = 0;
	while (settings_next(doctor->settings, doctor->doc->root, event, &hook)) {
		if (!settings_ours(doctor->settings, hook.handler)) {
			others++;
			other = hook;
			continue;
		}
		ours++;
		check_matcher(doctor, &hook);
		check_members(doctor, &hook);
		check_program(doctor, &hook);
	}
	if (ours > 1)
		fault(doctor, hook.group, "take all but one out",
		      "%s: pawl is asked %d times for each event", event, ours);
	if (ours > 0 && others > 0 && doctor->settings->parallel &&
	    settings_kind(doctor->settings, event) == EVENT_PRE_TOOL)
		fault(doctor, other.handler, "have pawl the only one, or the other change nothing",
		      "%s: %d other hook%s at the same time on the same arguments, and whoever "
		      "rewrites last wins",
		      event, others, others > 1 ? "s run" : " runs");
	return ours;
}

static void check_missing(struct doctor *doctor, const char *event, bool first)
{
	enum event_kind kind = settings_kind(doctor->settings, event);
	if (kind == EVENT_PRE_TOOL && (first || doctor->settings->match == MATCH_NONE))
		fault(doctor, NULL, "`pawl install` adds it",
		      "pawl is not asked on %s: those calls run", event);
	else
		note(doctor, "pawl is not told of %s", event);
}

/* ---- the whole file --------------------------------------------------------------------- */

static int count_ours(const struct doctor *doctor)
{
	int n = 0;
	for (size_t i = 0; doctor->settings->events[i]; i++) {
		struct settings_hook hook = {0};
		while (settings_next(doctor->settings, doctor->doc->root,
				     doctor->settings->events[i], &hook))
			n += settings_ours(doctor->settings, hook.handler);
	}
	return n;
}

static void check_file(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	const struct json_value *off = s->off ? json_at(doctor->doc->root, str_of(s->off)) : NULL;
	const struct json_value *head =
		s->head ? json_member(doctor->doc->root, str_of(s->head)) : NULL;
	if (off && str_is(json_raw(off), s->off_value))
		fault(doctor, off, "change it", "\"%s\" is %s: no hook runs",
		      strrchr(s->off, '/') + 1, s->off_value);
	if (s->head && json_type(head) != JSON_OBJECT && strcmp(s->head, "version") == 0 &&
	    (!head || !str_is(json_raw(head), s->head_value)))
		fault(doctor, head, "`pawl install` adds it where it is missing",
		      "\"version\" has to be 1: the client drops the whole file");
	for (size_t i = 0; s->events[i]; i++)
		if (check_event(doctor, s->events[i]) == 0)
			check_missing(doctor, s->events[i], i == 0);
}

/* ---- Codex: what was reviewed ------------------------------------------------------------ */

enum trust { TRUST_NONE, TRUST_OTHER, TRUST_OURS };

/* [hooks.state."FILE:pre_tool_use:GROUP:HOOK"] with a trusted_hash before the next table. */
static enum trust find_trust(const char *toml, const char *key)
{
	static const char table[] = "[hooks.state.";
	enum trust found = TRUST_NONE;
	for (const char *at = strstr(toml, table); at; at = strstr(at + 1, table)) {
		const char *line = at + strcspn(at, "\n"), *end = strstr(line, "\n[");
		const char *hash = strstr(line, "trusted_hash"), *is = strstr(at, key);
		if (!hash || (end && hash > end))
			continue;
		if (is && is < line)
			return TRUST_OURS;
		const char *known = strstr(at, "hooks.json:");
		if (!known || known > line)
			found = TRUST_OTHER;
	}
	return found;
}

static enum trust read_trust(const char *toml, const char *key, bool *off)
{
	_cleanup_fclose_ FILE *file = fopen(toml, "re");
	_cleanup_free_ char *text = NULL;
	size_t len;
	if (!file || io_read_all(fileno(file), TOML_BYTES_MAX, &text, &len, NULL) < 0)
		return TRUST_NONE;
	const char *features = strstr(text, "[features]");
	const char *end = features ? strstr(features, "\n[") : NULL;
	const char *hooks = features ? strstr(features, "\nhooks") : NULL;
	if (hooks && (!end || hooks < end)) {
		hooks += 6 + strspn(hooks + 6, " \t");
		*off |= hooks[0] == '=' &&
			strncmp(hooks + 1 + strspn(hooks + 1, " \t"), "false", 5) == 0;
	}
	return find_trust(text, key);
}

static void check_trust(struct doctor *doctor)
{
	struct settings_hook hook = {0};
	char key[PATH_MAX + 64], toml[2 * PATH_MAX];
	bool off = false;
	const struct passwd *user = getpwuid(geteuid());
	if (strcmp(doctor->settings->agent, "codex") != 0)
		return;
	while (settings_next(doctor->settings, doctor->doc->root, "PreToolUse", &hook))
		if (settings_ours(doctor->settings, hook.handler))
			break;
	if (!hook.handler)
		return;
	snprintf(key, sizeof(key), "hooks.json:pre_tool_use:%zu:%zu", hook.group_index, hook.index);
	snprintf(toml, sizeof(toml), "%.*s/config.toml",
		 (int)(strrchr(doctor->doc->path, '/') - doctor->doc->path), doctor->doc->path);
	enum trust trust = read_trust(toml, key, &off);
	if (trust == TRUST_NONE && doctor->line->project && user) {
		snprintf(toml, sizeof(toml), "%s/.codex/config.toml", user->pw_dir);
		snprintf(key, sizeof(key), "%s:pre_tool_use:%zu:%zu", doctor->doc->path,
			 hook.group_index, hook.index);
		trust = read_trust(toml, key, &off);
	}
	if (off)
		fault(doctor, NULL, "take it out of config.toml",
		      "[features] hooks = false: no hook runs");
	if (trust == TRUST_NONE)
		fault(doctor, hook.handler, "start codex and trust it under /hooks",
		      "installed but not trusted: config.toml has no [hooks.state] for it, and "
		      "Codex skips it without a word");
	else if (trust == TRUST_OTHER)
		note(doctor, "config.toml has a [hooks.state], but whether it is for this hook "
			     "cannot be told");
	else
		note(doctor, "it was reviewed; a command line that was changed since has to be "
			     "reviewed again under /hooks");
}

/* ---- a folder of scripts ------------------------------------------------------------------ */

static void check_scripts(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	static struct canary canary;
	char path[2 * PATH_MAX], why[256];
	char *words[] = {path, NULL};
	struct error err;
	for (size_t i = 0; s->events[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", doctor->line->path, s->events[i]);
		if (access(path, F_OK) != 0) {
			if (i > 0 && doctor->hooks > 0)
				note(doctor, "pawl is not told of %s", s->events[i]);
			continue;
		}
		doctor->hooks++;
		if (access(path, X_OK) != 0)
			fault(doctor, NULL, "chmod +x", "%s: cannot be executed", path);
		else if (!event_gates(settings_kind(s, s->events[i])))
			continue;
		else if (canary_run(s, (struct str){NULL, 0}, words, CANARY_TIME_MS, &canary,
				    &err) < 0)
			fault(doctor, NULL, "try again", "%s: %s", path, err.text);
		else if (!refuses(s, s->events[i], &canary, why, sizeof(why)))
			fault(doctor, NULL, "run it by hand, or `pawl install` anew",
			      "%s: does not block: it %s", path, why);
		else
			show(doctor, s->events[i], path, &canary);
	}
}

/* ---- the command ------------------------------------------------------------------------ */

static void look_at(struct doctor *doctor, const char *path)
{
	_cleanup_(doc_done) struct doc doc;
	struct error err;
	int r = doc_open(path, &doc, &err);
	doctor->doc = NULL;
	if (r < 0) {
		doctor->hooks++;
		fault(doctor, NULL, "mend the file: the client may drop all of it", "%s", err.text);
		return;
	}
	doctor->doc = &doc;
	doctor->last = (struct str){NULL, 0};
	int n = count_ours(doctor);
	if (n > 0) {
		check_file(doctor);
		check_trust(doctor);
	}
	doctor->hooks += n;
	doctor->doc = NULL;
}

/* The file that was named; else the user's, and the project's that one stands in. */
static void look_around(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	char mend[128];
	if (s->shape == SHAPE_SCRIPTS) {
		check_scripts(doctor);
	} else {
		look_at(doctor, doctor->line->path);
		if (!doctor->line->given && s->project && access(s->project, F_OK) == 0)
			look_at(doctor, s->project);
	}
	snprintf(mend, sizeof(mend), "`pawl install %s`", s->agent);
	if (doctor->hooks == 0)
		fault(doctor, NULL, mend, "not installed: no hook of pawl's in %s",
		      doctor->line->path);
	for (size_t i = 0; s->holes[i]; i++)
		note(doctor, "%s", s->holes[i]);
}

static void print_json(struct doctor *doctor)
{
	const struct json_writer *w = doctor->writer;
	struct json_object *o = w->object();
	w->add_text(o, "agent", str_of(doctor->settings->agent));
	w->add_bool(o, "ok", doctor->faults == 0);
	w->add(o, "findings", doctor->findings);
	w->add(o, "shown", doctor->shown);
	w->add(o, "notes", doctor->notes);
	printf("%.*s\n", STR_FMT(w->text(o)));
	w->free(o);
}

static int run(const struct tool_line *words)
{
	static struct settings_line line;
	struct doctor doctor = {.quiet = words->quiet};
	struct error err;
	int r = settings_line(words, "doctor", &line);
	if (r != 0)
		return r;
	doctor.line = &line;
	doctor.settings = line.settings;
	if (words->json) {
		doctor.writer = json_writer_get(&err);
		if (!doctor.writer) {
			fprintf(stderr, "pawl doctor: %s\n", err.text);
			return 1;
		}
		doctor.findings = doctor.writer->array();
		doctor.shown = doctor.writer->array();
		doctor.notes = doctor.writer->array();
	}
	look_around(&doctor);
	if (doctor.writer)
		print_json(&doctor);
	return doctor.faults ? 1 : 0;
}

extern const struct tool tool_doctor;
const struct tool tool_doctor = {"doctor", 1, -1, "AGENT [--user | --project [DIR] | --file FILE]",
				 run};
