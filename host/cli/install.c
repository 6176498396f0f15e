/* install.c - pawl install AGENT, pawl uninstall AGENT: pawl's hooks into the settings of an
 * agent client, and out again. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/plugin-file.h"

#define SCRIPT_MARK "# made by pawl install"

/* ---- one file of settings ------------------------------------------------------------- */

static bool is_nothing(const struct doc *doc)
{
	return !doc->root || str_is(doc->text, SETTINGS_NEW);
}

/* A file in which nothing is left, and which held nothing but ours, goes. */
static int save(const struct doc *doc, const struct settings_line *line, bool in, struct error *err)
{
	if (in || !is_nothing(doc))
		return doc_save(doc, line->project ? 0644 : 0600, err);
	return unlink(doc->path) == 0 ? 0
				      : error_set(err, errno, "%s: %s", doc->path, strerror(errno));
}

/* What has the hooks not run although they are there. */
static int check_off(const struct doc *doc, const struct settings *settings)
{
	unsigned line, column;
	const struct json_value *off =
		settings->off ? json_at(doc->root, str_of(settings->off)) : NULL;
	if (!off || !str_is(json_raw(off), settings->off_value))
		return 0;
	json_place(off, &line, &column);
	fprintf(stderr, "pawl install: %s:%u:%u: \"%s\" is %s: no hook runs until it is changed\n",
		doc->path, line, column, strrchr(settings->off, '/') + 1, settings->off_value);
	return 1;
}

/* What would be done to a whole file of ours; NULL: it is not there, or would not be. */
static void show_file(const char *path, const char *before, const char *after)
{
	struct doc doc = {.exists = before != NULL,
			  .before = str_of(before ? before : ""),
			  .text = str_of(after ? after : "")};
	snprintf(doc.path, sizeof(doc.path), "%s", path);
	if (doc_changed(&doc))
		doc_diff(stdout, &doc);
	else
		printf("%s: would be made executable\n", path);
}

/* Goose knows a plugin by a file beside its folder of hooks. */
static const char manifest[] = "{\"name\": \"pawl\", \"version\": \"1.0.0\", "
			       "\"description\": \"asks pawl before each tool call\"}\n";

static bool manifest_path(const struct doc *doc, const struct settings_line *line, char *path,
			  size_t room)
{
	static const char tail[] = "/hooks/hooks.json";
	size_t len = strlen(doc->path), end = sizeof(tail) - 1;
	if (strcmp(line->settings->agent, "goose") != 0 || len <= end ||
	    strcmp(doc->path + len - end, tail) != 0)
		return false;
	snprintf(path, room, "%.*s/plugin.json", (int)(len - end), doc->path);
	return true;
}

static int add_manifest(const struct doc *doc, const struct settings_line *line, struct error *err)
{
	char path[PATH_MAX + 16];
	if (!manifest_path(doc, line, path, sizeof(path)) || access(path, F_OK) == 0)
		return 0;
	if (line->dry_run) {
		show_file(path, NULL, manifest);
		return 0;
	}
	return doc_write(path, str_of(manifest), 0644, err);
}

/* Ours alone, and with no hooks left to it. */
static void cut_manifest(const struct doc *doc, const struct settings_line *line)
{
	char path[PATH_MAX + 16], text[sizeof(manifest) + 1];
	bool gone = line->dry_run ? doc->exists && is_nothing(doc) : access(doc->path, F_OK) != 0;
	if (!gone || !manifest_path(doc, line, path, sizeof(path)))
		return;
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	if (!file || fread(text, 1, sizeof(text), file) != sizeof(manifest) - 1 ||
	    memcmp(text, manifest, sizeof(manifest) - 1) != 0)
		return;
	if (line->dry_run)
		show_file(path, manifest, NULL);
	else
		unlink(path);
}

static void report(const struct doc *doc, const struct settings_line *line, bool in, bool quiet)
{
	if (quiet)
		return;
	if (!doc_changed(doc))
		printf("%s: %s\n", doc->path,
		       in ? "nothing to change" : "no hook of pawl's is there");
	else
		printf("%s: %s\n", doc->path,
		       in ? "pawl's hooks are written" : "pawl's hooks are taken out");
	if (in && line->settings->after)
		printf("%s: %s\n", line->settings->agent, line->settings->after);
	if (in && !line->settings->timeout)
		printf("%s: its hooks have no timeout to set\n", line->settings->agent);
	if (in)
		printf("%s: `pawl doctor %s` shows whether it works\n", line->settings->agent,
		       line->settings->agent);
}

static int change(struct doc *doc, const struct settings_line *line, bool in, struct error *err)
{
	char pawl[PATH_MAX];
	int r = doc_open(line->path, doc, err);
	if (r == 0 && !line->settings->user && !doc->root)
		return error_set(err, ENOENT, "%s: no agent's file is there; make one first",
				 doc->path);
	if (r == 0 && in)
		r = settings_pawl(pawl, err);
	if (r == 0)
		r = in ? settings_add(doc, line, pawl, err) : settings_remove(doc, line, err);
	return r;
}

static int one_file(const struct settings_line *line, bool in, bool quiet, struct error *err)
{
	_cleanup_(doc_done) struct doc doc;
	int r = change(&doc, line, in, err);
	if (r == 0 && line->dry_run && doc_changed(&doc))
		doc_diff(stdout, &doc);
	else if (r == 0 && doc_changed(&doc))
		r = save(&doc, line, in, err);
	if (r == 0 && in)
		r = add_manifest(&doc, line, err);
	if (r < 0)
		return r;
	if (!in)
		cut_manifest(&doc, line);
	if (line->dry_run)
		return 0;
	report(&doc, line, in, quiet);
	return in ? check_off(&doc, line->settings) : 0;
}

/* ---- a folder of scripts --------------------------------------------------------------- */

static int script_text(const struct settings_line *line, char *buf, size_t room, struct error *err)
{
	char pawl[PATH_MAX], quoted[2 * PATH_MAX], config[2 * PATH_MAX] = "";
	int r = settings_pawl(pawl, err);
	if (r < 0)
		return r;
	settings_quote(str_of(pawl), quoted, sizeof(quoted));
	if (line->config) {
		char word[2 * PATH_MAX - 16];
		settings_quote(str_of(line->config), word, sizeof(word));
		snprintf(config, sizeof(config), " --config %s", word);
	}
	snprintf(buf, room, "#!/bin/sh\n%s\nexec %s%s hook %s\n", SCRIPT_MARK, quoted, config,
		 line->settings->agent);
	return 0;
}

/* 1: there and ours, 0: not there. */
static int read_script(const char *path, char *buf, size_t room, struct error *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : error_set(err, errno, "%s: %s", path, strerror(errno));
	size_t n = fread(buf, 1, room - 1, file);
	buf[n] = '\0';
	if (!strstr(buf, SCRIPT_MARK))
		return error_set(err, EEXIST,
				 "%s: is somebody else's; call pawl from there, or move "
				 "it away",
				 path);
	return 1;
}

static int one_script(const struct settings_line *line, const char *event, const char *text,
		      bool *changed, struct error *err)
{
	char path[2 * PATH_MAX], old[8 * PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", line->path, event);
	int r = read_script(path, old, sizeof(old), text ? err : NULL);
	if (r < 0)
		return text ? r : 0;
	if (text ? r == 1 && strcmp(old, text) == 0 && access(path, X_OK) == 0 : r == 0)
		return 0;
	*changed = true;
	if (line->dry_run)
		show_file(path, r == 1 ? old : NULL, text);
	else if (text)
		return doc_write(path, str_of(text), 0755, err);
	else if (unlink(path) != 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int scripts(const struct settings_line *line, bool in, bool quiet, struct error *err)
{
	char text[8 * PATH_MAX];
	const char *const *events = line->settings->events;
	bool changed = false;
	int r = in ? script_text(line, text, sizeof(text), err) : 0;
	for (size_t i = 0; r == 0 && events[i]; i++)
		r = one_script(line, events[i], in ? text : NULL, &changed, err);
	if (r == 0 && !quiet && !line->dry_run)
		printf("%s: %s\n", line->path,
		       !changed ? "nothing to change"
		       : in     ? "pawl's hooks are written"
				: "pawl's hooks are taken out");
	return r;
}

/* ---- a file of code --------------------------------------------------------------------- */

static int plugin_change(struct doc *doc, const struct settings_line *line, bool in,
			 struct error *err)
{
	char pawl[PATH_MAX];
	snprintf(doc->path, sizeof(doc->path), "%s", line->path);
	int r = json_arena_new(JSON_ARENA_DEFAULT, &doc->arena, err);
	if (r == 0)
		r = plugin_file_read(doc->arena, line->path, &doc->before, err);
	if (r == 0 && doc->before.ptr && !plugin_file_ours(doc->before))
		r = in ? error_set(err, EEXIST, "%s: is somebody else's; move it away", line->path) :
			 1;
	if (r == 0 && in)
		r = settings_pawl(pawl, err);
	if (r == 0 && in)
		r = plugin_file_text(doc->arena, line, pawl, &doc->text, err);
	return r;
}

static int plugin(const struct settings_line *line, bool in, bool quiet, struct error *err)
{
	_cleanup_(doc_done) struct doc doc = {.exists = true};
	int r = plugin_change(&doc, line, in, err);
	if (r < 0)
		return r;
	if (r > 0) /* nothing of ours */
		doc.text = doc.before;
	if (line->dry_run) {
		if (doc_changed(&doc))
			doc_diff(stdout, &doc);
		return 0;
	}
	if (doc_changed(&doc))
		r = in ? doc_write(line->path, doc.text, 0644, err) :
		    unlink(line->path) != 0 ?
			 error_set(err, errno, "%s: %s", line->path, strerror(errno)) :
			 0;
	else
		r = 0;
	if (r == 0)
		report(&doc, line, in, quiet);
	return r;
}

/* ---- the commands ---------------------------------------------------------------------- */

static int run(const struct tool_line *words, const char *command, bool in)
{
	static struct settings_line line;
	struct error err;
	int r = settings_line(words, command, &line);
	if (r != 0)
		return r;
	r = line.settings->shape == SHAPE_SCRIPTS  ? scripts(&line, in, words->quiet, &err)
	    : line.settings->shape == SHAPE_PLUGIN ? plugin(&line, in, words->quiet, &err)
						   : one_file(&line, in, words->quiet, &err);
	if (r < 0)
		fprintf(stderr, "pawl %s: %s\n", command, err.text);
	return r == 0 ? 0 : 1;
}

static int run_install(const struct tool_line *line)
{
	return run(line, "install", true);
}

static int run_uninstall(const struct tool_line *line)
{
	return run(line, "uninstall", false);
}

#define WHERE "AGENT [--user | --project [DIR] | --file FILE]"

extern const struct tool tool_install, tool_uninstall;
const struct tool tool_install = {"install", 1, -1, WHERE " [--timeout 10s] [--dry-run]",
				  run_install};
const struct tool tool_uninstall = {"uninstall", 1, -1, WHERE " [--dry-run]", run_uninstall};
