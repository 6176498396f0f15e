/* plugins.c - pawl plugins [NAME]: what there is, from the notes alone; one of them with its
 * options and hooks, for which it is loaded (in a child). */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/child.h"
#include "cli/tool.h"
#include "core/config.h"
#include "core/host.h"
#include "core/isolate.h"
#include "core/plugin.h"
#include "json/write.h"

static const char *const option_types[] = {"",	       "string", "integer", "boolean", "list of strings",
					   "duration", "path",	 "JSON",    "number"};

/* ---- the list ------------------------------------------------------------------------ */

static int is_plugin(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* What the config says of the file: its entries agree about the sum. */
static struct plugin_terms terms_of(const struct config *config, const char *stem)
{
	struct plugin_terms terms = {NULL, &config->libraries};
	for (size_t i = 0; i < config->n_chain + config->n_observe; i++) {
		const struct config_entry *entry =
			i < config->n_chain ? &config->chain[i] :
					      &config->observe[i - config->n_chain];
		if (entry->pinned && str_is(entry->plugin, stem))
			terms.sha256 = entry->sha256;
	}
	return terms;
}

static void print_line(const char *stem, const char *path, const struct plugin_note *note,
		       bool system, const char *why)
{
	if (note)
		printf("%-24s %-10s abi %u.%u  trust %-6s  %s\n", note->id, note->version,
		       note->abi_major, note->abi_minor, system ? "system" : "user", path);
	else
		printf("%-24s cannot be used: %s\n", stem, why);
}

static struct json_object *line_object(const struct json_writer *w, const char *path,
				       const struct plugin_note *note, bool system,
				       const char *why)
{
	char abi[32];
	struct json_object *o = w->object();
	w->add_text(o, "file", str_of(path));
	if (!note) {
		w->add_text(o, "error", str_of(why));
		return o;
	}
	snprintf(abi, sizeof(abi), "%u.%u", note->abi_major, note->abi_minor);
	w->add_text(o, "id", str_of(note->id));
	w->add_text(o, "version", str_of(note->version));
	w->add_text(o, "abi", str_of(abi));
	w->add_text(o, "trust", str_of(system ? "system" : "user"));
	return o;
}

/* By the loader's own checks, so that what is listed as well can be loaded. */
static bool list_one(const struct json_writer *w, struct json_object *list,
		     const struct config *config, const char *file)
{
	char path[PATH_MAX], stem[NAME_MAX + 1];
	struct plugin_note note;
	struct error err = {""};
	bool system = false;
	snprintf(path, sizeof(path), "%s/%s", config->plugin_dir.ptr, file);
	snprintf(stem, sizeof(stem), "%.*s", (int)strlen(file) - 3, file);
	const struct plugin_terms terms = terms_of(config, stem);
	int r = plugin_file_examine(config->plugin_dir.ptr, stem, &terms, &note, &system, &err);
	if (w)
		w->add(list, NULL, line_object(w, path, r < 0 ? NULL : &note, system, err.text));
	else
		print_line(stem, path, r < 0 ? NULL : &note, system, err.text);
	return r == 0;
}

static int list_all(const struct config *config, const struct json_writer *w)
{
	const char *dir = config->plugin_dir.ptr;
	struct dirent **names;
	bool bad = false;
	int n = scandir(dir, &names, is_plugin, alphasort);
	if (n < 0) {
		fprintf(stderr, "pawl plugins: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	struct json_object *list = w ? w->array() : NULL;
	for (int i = 0; i < n; i++) {
		bad |= !list_one(w, list, config, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (w) {
		printf("%.*s\n", STR_FMT(w->text(list)));
		w->free(list);
	} else if (n == 0) {
		printf("no plugins in %s\n", dir);
	}
	return bad ? 1 : 0;
}

/* ---- one -------------------------------------------------------------------------------- */

struct wanted {
	const struct config *config;
	const char *name;
	const struct json_writer *writer;
};

/* In the order of enum hook's bits. */
static const char *const hooks[] = {"pre_tool_use",  "pre_model_call", "post_model_call",
				    "post_tool_use", "decided",	       "stop"};
#define N_HOOKS (sizeof(hooks) / sizeof(hooks[0]))

static void print_people(const struct frame_description *what, FILE *out)
{
	const pawl_plugin *d = &what->desc;
	pawl_option option;
	fprintf(out, "%s %s%s%s\n", d->id, d->version, d->vendor ? " by " : "",
		d->vendor ? d->vendor : "");
	if (d->summary)
		fprintf(out, "  %s\n", d->summary);
	fprintf(out, "  file   %s\n  trust  %s\n  abi    %d.%u\n  hooks ", what->path.ptr,
		what->system ? "system" : "user", PAWL_ABI_MAJOR, d->abi_minor);
	for (size_t i = 0; i < N_HOOKS; i++)
		if (what->hooks & 1u << i)
			fprintf(out, " %s", hooks[i]);
	fprintf(out, "\n");
	for (size_t i = 0; plugin_option_get(d, i, &option); i++) {
		fprintf(out, "  %-16s %s%s", option.name, option_types[option.type],
			option.flags & PAWL_OPTF_REQUIRED ? ", required" : "");
		if (option.choices)
			fprintf(out, " (%s)", option.choices);
		if (option.fallback && !(option.flags & PAWL_OPTF_SECRET))
			fprintf(out, ", default %s", option.fallback);
		fprintf(out, "\n      %s\n", option.help ? option.help : "");
	}
}

static struct json_object *option_object(const struct json_writer *w, const pawl_option *option)
{
	struct json_object *o = w->object();
	w->add_text(o, "name", str_of(option->name));
	w->add_text(o, "type", str_of(option_types[option->type]));
	w->add_bool(o, "required", (option->flags & PAWL_OPTF_REQUIRED) != 0);
	if (option->choices)
		w->add_text(o, "choices", str_of(option->choices));
	if (option->fallback && !(option->flags & PAWL_OPTF_SECRET))
		w->add_raw(o, "default", str_of(option->fallback));
	if (option->help)
		w->add_text(o, "help", str_of(option->help));
	return o;
}

static void print_json(const struct frame_description *what, const struct json_writer *w,
		       FILE *out)
{
	const pawl_plugin *d = &what->desc;
	struct json_object *o = w->object(), *options = w->array(), *has = w->array();
	pawl_option option;
	w->add_text(o, "id", str_of(d->id));
	w->add_text(o, "version", str_of(d->version));
	if (d->vendor)
		w->add_text(o, "vendor", str_of(d->vendor));
	if (d->summary)
		w->add_text(o, "summary", str_of(d->summary));
	w->add_text(o, "file", what->path);
	w->add_text(o, "trust", str_of(what->system ? "system" : "user"));
	for (size_t i = 0; i < N_HOOKS; i++)
		if (what->hooks & 1u << i)
			w->add_text(has, NULL, str_of(hooks[i]));
	w->add(o, "hooks", has);
	for (size_t i = 0; plugin_option_get(d, i, &option); i++)
		w->add(options, NULL, option_object(w, &option));
	w->add(o, "options", options);
	fprintf(out, "%.*s\n", STR_FMT(w->text(o)));
	w->free(o);
}

static void print_one(const struct wanted *wanted, const struct frame_description *what, FILE *out)
{
	if (wanted->writer)
		print_json(what, wanted->writer, out);
	else
		print_people(what, out);
}

static int show(void *data, struct progress *progress, FILE *out)
{
	const struct wanted *wanted = data;
	struct plugin_file *file;
	struct error err;
	atomic_store(&progress->phase, PROGRESS_LOAD);
	snprintf(progress->plugin, sizeof(progress->plugin), "%s", wanted->name);
	const struct plugin_terms terms = terms_of(wanted->config, wanted->name);
	if (plugin_file_load(wanted->config->plugin_dir.ptr, wanted->name, &terms, &file, &err) <
	    0) {
		fprintf(out, "%s", err.text);
		return 1;
	}
	const struct frame_description what = {.desc = file->desc,
					       .hooks = hooks_of(&file->desc),
					       .path = str_of(file->path),
					       .system = file->system};
	print_one(wanted, &what, out);
	return 0;
}

static int show_one(struct wanted *wanted)
{
	_cleanup_free_ char *report = NULL;
	struct loss loss;
	int status;
	if (child_run(show, wanted, CHILD_TIME_NS, &report, &status, &loss) < 0) {
		char text[512];
		loss_reason(&loss, text, sizeof(text));
		fprintf(stderr, "pawl plugins: %s\n", text);
		return 1;
	}
	if (status != 0)
		fprintf(stderr, "pawl plugins: %s\n", report);
	else
		fputs(report, stdout);
	return status;
}

/* ---- one that an entry isolates: its code runs nowhere else, for a listing either --------- */

static struct slot *isolated_slot(const struct host *host, const char *name)
{
	const struct config *config = host->config;
	for (size_t i = 0; i < config->n_chain; i++)
		if (config->chain[i].isolated && str_is(config->chain[i].plugin, name))
			return &host->chain[i];
	for (size_t i = 0; i < config->n_observe; i++)
		if (config->observe[i].isolated && str_is(config->observe[i].plugin, name))
			return &host->observe[i];
	return NULL;
}

static int show_isolated(struct wanted *wanted, struct host *host, struct slot *slot)
{
	struct frame_description what;
	struct error err;
	if (isolate_describe(host, slot, CHILD_TIME_NS, host->options_arena, &what, &err) < 0) {
		fprintf(stderr, "pawl plugins: %s\n", err.text);
		return 1;
	}
	print_one(wanted, &what, stdout);
	return 0;
}

static int show_wanted(struct wanted *wanted, struct config *config)
{
	struct host *host = NULL;
	struct error err;
	if (host_new(config, NULL, &host, &err) < 0) {
		fprintf(stderr, "pawl plugins: %s\n", err.text);
		return 1;
	}
	struct slot *slot = isolated_slot(host, wanted->name);
	int status = slot ? show_isolated(wanted, host, slot) : show_one(wanted);
	host_free(host);
	return status;
}

static int run(const struct tool_line *line)
{
	struct config *config = NULL;
	struct error err;
	const struct json_writer *w = line->json ? json_writer_get(&err) : NULL;
	if (line->json && !w) {
		fprintf(stderr, "pawl plugins: %s\n", err.text);
		return 1;
	}
	int r = config_load(line->config, &config, &err);
	/* what is installed can be listed without any config */
	if (r == -ENOENT && !line->config)
		r = config_parse(STR("{}"), "/pawl.json", &config, &err);
	if (r < 0) {
		fprintf(stderr, "pawl plugins: %s\n", err.text);
		return 1;
	}
	struct wanted wanted = {config, line->n > 0 ? line->words[0] : NULL, w};
	r = wanted.name ? show_wanted(&wanted, config) : list_all(config, w);
	config_free(config);
	return r;
}

extern const struct tool tool_plugins;
const struct tool tool_plugins = {"plugins", 0, 1, "[NAME]", run};
