/* doctor.c - pawl doctor AGENT: whether the client's settings have pawl asked before its
 * tools, and whether what they start refuses. Each finding is a line with its mend. */
#include <config.h>

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/canary.h"
#include "cli/codex.h"
#include "cli/plugin-file.h"
#include "core/config.h"
#include "dialects/dialect.h"
#include "json/write.h"

#define EVENTS_MAX 16

/* What all files together have for one event. */
struct tally {
	int ours, others, files; /* files: with one of ours */
	char other[PATH_MAX + 32]; /* where one of the others is */
};

struct doctor {
	const struct settings *settings;
	const struct settings_line *line;
	const struct json_writer *writer; /* NULL: for people */
	struct json_object *findings, *shown, *notes;
	bool quiet;
	int faults, hooks;
	const struct doc *doc; /* the file being looked at */
	const char *path;      /* it, as it was named */
	bool no_places;	       /* its text is not the file's */
	struct str last;       /* the handler whose program was looked at last */
	struct tally tally[EVENTS_MAX]; /* by the event's index */
};

/* ---- saying it -------------------------------------------------------------------------- */

static void place(const struct doctor *doctor, const struct json_value *value, char *buf,
		  size_t room)
{
	unsigned line = 1, column = 1;
	if (value)
		json_place(value, &line, &column);
	if (doctor->doc && doctor->no_places)
		snprintf(buf, room, "%s", doctor->doc->path);
	else if (doctor->doc)
		snprintf(buf, room, "%s:%u:%u", doctor->doc->path, line, column);
	else
		snprintf(buf, room, "%s", doctor->settings->agent);
}

static void put_fault(struct doctor *doctor, const char *where, const char *what, const char *mend)
{
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
	put_fault(doctor, where, what, mend);
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
		if (r == -EILSEQ) {
			fault(doctor, value, "mend it, or take \"matcher\" out",
			      "%s: the matcher \"%.*s\" is no regular expression: it matches no "
			      "tool, and a client may drop the whole file for it",
			      hook->event, STR_FMT(matcher));
			return;
		}
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
		fault(doctor, hook->handler,
		      doctor->settings->login
			      ? "run it by hand in a login shell, as the client does (-lc), or "
				"`pawl install` anew"
			      : "run it by hand, or `pawl install` anew",
		      "%s: `%s` does not block: it %s", hook->event, line, why);
	else
		show(doctor, hook->event, line, &canary);
	if (ms > 0 && canary.status >= 0 && canary.ms > ms / 2)
		note(doctor, "%s: it took %lld ms of the %lld ms that the client waits", hook->event,
		     (long long)canary.ms, (long long)ms);
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

/* The event's hooks in this file, and how many of them there are. */
static void check_event(struct doctor *doctor, const char *event, struct tally *tally)
{
	struct settings_hook hook = {0};
	int ours = 0;
	while (settings_next(doctor->settings, doctor->doc->root, event, &hook)) {
		if (!settings_ours(doctor->settings, hook.handler)) {
			if (tally->others++ == 0)
				place(doctor, hook.handler, tally->other, sizeof(tally->other));
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
	tally->ours += ours;
	tally->files += ours > 0;
}

/* The same call once more, behind an event that is looked at already. */
static void note_again(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	for (size_t i = 0; s->again && s->again[i]; i++) {
		struct settings_hook hook = {0};
		while (settings_next(s, doctor->doc->root, s->again[i], &hook))
			if (settings_ours(s, hook.handler))
				note(doctor,
				     "%s: what %s was asked about is decided and recorded a "
				     "second time; `pawl install` takes it out",
				     s->again[i], s->events[0]);
	}
}

static void check_race(struct doctor *doctor, const char *event, const struct tally *tally)
{
	char what[256];
	if (tally->others == 0 || !doctor->settings->parallel)
		return;
	snprintf(what, sizeof(what),
		 "%s: %d other hook%s at the same time on the same arguments, and whoever "
		 "rewrites last wins",
		 event, tally->others, tally->others > 1 ? "s run" : " runs");
	put_fault(doctor, tally->other, what, "have pawl the only one, or the other change nothing");
}

/* What all files together have of the event; of the first, nothing is enough to go by. */
static void check_tally(struct doctor *doctor, size_t index)
{
	const struct settings *s = doctor->settings;
	const struct tally *tally = &doctor->tally[index];
	const char *event = s->events[index];
	bool tool = settings_kind(s, event) == EVENT_PRE_TOOL;
	if (tally->ours > 0 && tool)
		check_race(doctor, event, tally);
	if (tally->files > 1)
		note(doctor, "%s: pawl is asked by %d files, and once each", event, tally->files);
	if (tally->ours == 0 && tool && (index == 0 || s->match == MATCH_NONE))
		fault(doctor, NULL, "`pawl install` adds it",
		      "pawl is not asked on %s: those calls run", event);
	else if (tally->ours == 0)
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

/* What has none of the hooks run, or not these. */
static void check_off(struct doctor *doctor, int ours)
{
	const struct settings *s = doctor->settings;
	const struct json_value *off = s->off ? json_at(doctor->doc->root, str_of(s->off)) : NULL;
	const struct json_value *only =
		json_member(doctor->doc->root, STR("allowManagedHooksOnly"));
	if (off && str_is(json_raw(off), s->off_value))
		fault(doctor, off, "change it", "\"%s\" is %s: no hook runs",
		      strrchr(s->off, '/') + 1, s->off_value);
	if (only && str_is(json_raw(only), "true") && ours == 0)
		fault(doctor, only, "write pawl's hooks into this file",
		      "\"allowManagedHooksOnly\" is true: no hook of another file runs");
}

static void check_head(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	const struct json_value *head =
		s->head ? json_member(doctor->doc->root, str_of(s->head)) : NULL;
	if (s->head && json_type(head) != JSON_OBJECT && strcmp(s->head, "version") == 0 &&
	    (!head || !str_is(json_raw(head), s->head_value)))
		fault(doctor, head, "`pawl install` adds it where it is missing",
		      "\"version\" has to be 1: the client drops the whole file");
}

/* ---- Codex: what was reviewed ------------------------------------------------------------ */

static void say_trust(struct doctor *doctor, const struct settings_hook *hook,
		      enum codex_state state)
{
	static const struct {
		const char *what, *mend;
	} words[] = {
		[CODEX_UNKNOWN] = {"installed but not trusted: config.toml has no [hooks.state] for "
				   "it, and Codex skips it without a word",
				   "start codex and trust it under /hooks"},
		[CODEX_CHANGED] = {"changed since it was trusted: Codex skips it without a word",
				   "start codex and trust it anew under /hooks"},
		[CODEX_OFF] = {"turned off: its [hooks.state] in config.toml has enabled = false",
			       "turn it on under /hooks"},
	};
	if (state == CODEX_TRUSTED)
		note(doctor, "%s: it was reviewed, and is what was reviewed", hook->event);
	else if (event_gates(settings_kind(doctor->settings, hook->event)))
		fault(doctor, hook->handler, words[state].mend, "%s: %s", hook->event,
		      words[state].what);
	else
		note(doctor, "%s: %s; %s", hook->event, words[state].what, words[state].mend);
}

static void path_beside(const struct doctor *doctor, const char *path, char *buf, size_t room)
{
	const char *slash = strrchr(path, '/');
	snprintf(buf, room, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
		 doctor->settings->beside);
}

/* In the file beside the hooks, then in the user's, where Codex keeps it for projects. */
static enum codex_state trust_of(const struct doctor *doctor, const struct codex *beside,
				 const struct codex *users, const struct settings_hook *hook)
{
	const char *const files[] = {doctor->doc->path, doctor->path};
	const struct json_value *matcher = json_member(hook->group, STR("matcher"));
	enum codex_state best = CODEX_UNKNOWN;
	for (size_t i = 0; i < 4; i++) {
		enum codex_state state =
			codex_state(i < 2 ? beside : users, files[i % 2], hook->event,
				    hook->group_index, hook->index, matcher, hook->handler);
		best = state > best ? state : best;
	}
	return best;
}

/* A file that cannot be read is told of when its own hooks are looked at. */
static void read_toml(struct doctor *doctor, const char *path, struct codex *codex)
{
	if (codex_read(doctor->doc->arena, path, codex, NULL) < 0)
		codex->n_trust = 0;
	if (codex->off)
		fault(doctor, NULL, "take it out of config.toml",
		      "%s: [features] hooks = false: no hook runs", path);
}

static void check_trust(struct doctor *doctor)
{
	static struct codex beside, users;
	char toml[2 * PATH_MAX], home[PATH_MAX];
	const struct settings *s = doctor->settings;
	bool project = doctor->line->project ||
		       (!doctor->line->given && strcmp(doctor->path, doctor->line->path) != 0);
	path_beside(doctor, doctor->path, toml, sizeof(toml));
	read_toml(doctor, toml, &beside);
	users.n_trust = 0;
	if (project && settings_home(home, sizeof(home), NULL) == 0) {
		snprintf(toml, sizeof(toml), "%s/.codex/config.toml", home);
		read_toml(doctor, toml, &users);
	}
	for (size_t i = 0; s->events[i]; i++) {
		struct settings_hook hook = {0};
		while (settings_next(s, doctor->doc->root, s->events[i], &hook))
			if (settings_ours(s, hook.handler))
				say_trust(doctor, &hook, trust_of(doctor, &beside, &users, &hook));
	}
}

/* Hooks of config.toml, put as hooks.json has them. */
static int open_toml(struct doctor *doctor, const char *path, struct doc *doc, struct error *err)
{
	static struct codex codex;
	memset(doc, 0, sizeof(*doc));
	snprintf(doc->path, sizeof(doc->path), "%s", path);
	int r = json_arena_new(JSON_ARENA_DEFAULT, &doc->arena, err);
	if (r == 0)
		r = codex_read(doc->arena, path, &codex, err);
	if (r == 0 && codex.inline_hooks)
		note(doctor, "%s: hooks that are not written as tables cannot be read here", path);
	if (r == 0 && codex.hooks.ptr)
		r = doc_set(doc, codex.hooks, err);
	return r;
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

/* ---- a file of code --------------------------------------------------------------------- */

/* What the plugin starts, with an event that has to be refused. */
static void try_plugin(struct doctor *doctor, const char *path, const struct json_value *command)
{
	static struct canary canary;
	static struct settings_words words;
	char line[1024] = "";
	struct error err;
	if (!settings_array(command, &words)) {
		fault(doctor, NULL, "`pawl install` writes it anew", "%s: no command is in it", path);
		return;
	}
	for (int i = 0; i < words.n; i++) {
		size_t len = strlen(line);
		snprintf(line + len, sizeof(line) - len, "%s%s", i ? " " : "", words.word[i]);
	}
	if (!can_run(words.word[0]))
		fault(doctor, NULL, "`pawl install` writes where it is now",
		      "%s: %s cannot be executed: %s", path, words.word[0], strerror(errno));
	else if (canary_run(doctor->settings, (struct str){NULL, 0}, words.word, CANARY_TIME_MS,
			    &canary, &err) < 0)
		fault(doctor, NULL, "try again", "%s: %s", path, err.text);
	else if (canary.status != 2 || !strstr(canary.out, "\"decision\":\"deny\""))
		fault(doctor, NULL, "run it by hand, or `pawl install` anew",
		      "%s: `%s` does not block (exit %d)", path, line, canary.status);
	else
		show(doctor, "tool.execute.before", line, &canary);
}

static void check_plugin(struct doctor *doctor, const char *path)
{
	struct json_arena *arena;
	struct str text, shipped;
	struct error err;
	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, &err) < 0)
		return;
	int r = plugin_file_read(arena, path, &text, &err);
	if (r < 0)
		fault(doctor, NULL, "mend it", "%s", err.text);
	if (r == 0 && plugin_file_ours(text)) {
		doctor->hooks++;
		if (plugin_file_text(arena, doctor->line, "pawl", &shipped, &err) == 0 &&
		    !plugin_file_same(text, shipped))
			fault(doctor, NULL, "`pawl install` writes it anew",
			      "%s: is not the plugin that came with this pawl", path);
		try_plugin(doctor, path, plugin_file_command(arena, text));
	}
	json_arena_free(arena);
}

/* ---- the command ------------------------------------------------------------------------ */

static bool is_toml(const char *path)
{
	size_t len = strlen(path);
	return len > 5 && strcmp(path + len - 5, ".toml") == 0;
}

static void look_at_one(struct doctor *doctor, const char *path)
{
	_cleanup_(doc_done) struct doc doc;
	struct error err;
	doctor->doc = NULL;
	int r = is_toml(path) ? open_toml(doctor, path, &doc, &err) : doc_open(path, &doc, &err);
	if (r < 0) {
		doctor->hooks++;
		fault(doctor, NULL, "mend the file: the client may drop all of it", "%s", err.text);
		return;
	}
	doctor->doc = &doc;
	doctor->path = path;
	doctor->no_places = is_toml(path);
	doctor->last = (struct str){NULL, 0};
	int n = count_ours(doctor);
	check_off(doctor, n);
	if (n > 0)
		check_head(doctor);
	for (size_t i = 0; doctor->settings->events[i] && i < EVENTS_MAX; i++)
		check_event(doctor, doctor->settings->events[i], &doctor->tally[i]);
	if (doctor->tally[0].ours > 0)
		note_again(doctor);
	if (n > 0 && strcmp(doctor->settings->agent, "codex") == 0)
		check_trust(doctor);
	doctor->hooks += n;
	doctor->doc = NULL;
}

static void look_at(struct doctor *doctor, const char *path)
{
	char other[2 * PATH_MAX];
	look_at_one(doctor, path);
	if (!doctor->settings->beside)
		return;
	path_beside(doctor, path, other, sizeof(other));
	look_at_one(doctor, other);
}

/* Files that a pattern names, but for the one that was looked at first. */
static void look_at_each(struct doctor *doctor, const char *pattern)
{
	glob_t found;
	char real[PATH_MAX];
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (strcmp(found.gl_pathv[i], doctor->line->path) != 0 &&
		    (!realpath(found.gl_pathv[i], real) || strcmp(real, doctor->line->path) != 0))
			look_at(doctor, found.gl_pathv[i]);
	globfree(&found);
}

/* The rest of what the client reads: nothing where one file was named, a project's where that
 * was asked for, else all. */
static void look_elsewhere(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	const struct settings_line *line = doctor->line;
	char home[PATH_MAX], pattern[2 * PATH_MAX], folder[PATH_MAX] = ".";
	if (line->project)
		snprintf(folder, sizeof(folder), "%.*s",
			 (int)(strlen(line->path) - strlen(s->project) - 1), line->path);
	else if (!line->given && s->project)
		look_at(doctor, s->project);
	for (size_t i = 0; s->others && s->others[i]; i++) {
		const char *other = s->others[i];
		if (other[0] == '~' && !line->given &&
		    settings_home(home, sizeof(home), NULL) == 0)
			snprintf(pattern, sizeof(pattern), "%s%s", home, other + 1);
		else if (other[0] == '/' && !line->given)
			snprintf(pattern, sizeof(pattern), "%s", other);
		else if (other[0] != '~' && other[0] != '/' && (!line->given || line->project))
			snprintf(pattern, sizeof(pattern), "%s/%s", folder, other);
		else
			continue;
		look_at_each(doctor, pattern);
	}
}

/* The file that was named; else the user's, and the project's that one stands in. */
static void look_around(struct doctor *doctor)
{
	const struct settings *s = doctor->settings;
	char mend[128];
	if (s->shape == SHAPE_SCRIPTS) {
		check_scripts(doctor);
	} else if (s->shape == SHAPE_PLUGIN) {
		check_plugin(doctor, doctor->line->path);
		if (!doctor->line->given)
			check_plugin(doctor, s->project);
	} else {
		look_at(doctor, doctor->line->path);
		look_elsewhere(doctor);
	}
	snprintf(mend, sizeof(mend), "`pawl install %s`", s->agent);
	if (doctor->hooks == 0)
		fault(doctor, NULL, mend, "not installed: no hook of pawl's in %s",
		      doctor->line->path);
	for (size_t i = 0; s->shape != SHAPE_SCRIPTS && doctor->hooks > 0 && s->events[i]; i++)
		check_tally(doctor, i);
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
