/* check.c - pawl check: the same code that runs before a tool, without acting. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/child.h"
#include "cli/tool.h"
#include "core/host.h"
#include "core/quarantine.h"
#include "dialects/dialect.h"
#include "fronts/front.h"
#include "json/write.h"

/* Each problem is a line FILE:LINE:COLUMN: text; --json an object of an array. */
struct findings {
	bool json;
	const struct json_writer *writer;
	struct json_object *list, *warnings;
	int n;
};

static void find(struct findings *findings, const char *text)
{
	findings->n++;
	if (findings->json)
		findings->writer->add_text(findings->list, NULL, str_of(text));
	else
		fprintf(stderr, "%s\n", text);
}

/* Worth a look, and no reason to fail. */
static void warn(struct findings *findings, const char *text)
{
	if (findings->json)
		findings->writer->add_text(findings->warnings, NULL, str_of(text));
	else
		fprintf(stderr, "%s\n", text);
}

struct opening {
	struct host *host;
	struct slot *slot;
};

static int open_slot(void *data, struct progress *progress, FILE *out)
{
	struct opening *opening = data;
	opening->host->progress = progress;
	int r = slot_load(opening->host, opening->slot);
	if (r < 0)
		fprintf(out, "%s", opening->slot->why ? opening->slot->why : "out of memory");
	return r < 0 ? 1 : 0;
}

/* Options' errors already say where; the others get the entry's place. */
static void find_at(struct findings *findings, const struct config_entry *entry, const char *text)
{
	char line[ERROR_TEXT_MAX + 4608];
	if (strncmp(text, entry->file.ptr, entry->file.len) == 0)
		snprintf(line, sizeof(line), "%s", text);
	else
		snprintf(line, sizeof(line), "%s:%u:%u: plugin \"%s\": %s", entry->file.ptr,
			 entry->line, entry->column, entry->name.ptr, text);
	find(findings, line);
}

static void check_slot(struct findings *findings, struct host *host, struct slot *slot)
{
	struct opening opening = {host, slot};
	_cleanup_free_ char *report = NULL;
	struct loss loss;
	int status;
	int64_t time =
		slot->entry->deadline_ns > 0 ? slot->entry->deadline_ns : host->config->deadline_ns;
	if (child_run(open_slot, &opening, time, &report, &status, &loss) < 0) {
		char text[512];
		loss_reason(&loss, text, sizeof(text));
		find_at(findings, slot->entry, text);
	} else if (status != 0) {
		find_at(findings, slot->entry, report);
	}
}

/* It loads well, and is refused all the same. */
static void check_quarantine(struct findings *findings, struct host *host, const struct slot *slot)
{
	char path[PATH_MAX], why[QUARANTINE_WHY_MAX];
	struct str dir;
	if (config_plugin_path(host->config, slot->entry, path) == 0 &&
	    host_state_dir(host, &dir, NULL) == 0 && quarantined(dir, slot->entry->name, path, why))
		find_at(findings, slot->entry, why);
}

static void check_entry(struct findings *findings, struct host *host, struct slot *slot)
{
	check_slot(findings, host, slot);
	check_quarantine(findings, host, slot);
}

static int try_context(void *data, struct progress *progress, FILE *out)
{
	struct error err;
	(void)progress;
	int r = host_read_context(data, &err);
	if (r < 0)
		fprintf(out, "%s", err.text);
	return r < 0 ? 1 : 0;
}

static void check_context(struct findings *findings, struct host *host)
{
	_cleanup_free_ char *report = NULL;
	struct loss loss;
	int status;
	if (child_run(try_context, host, CHILD_TIME_NS, &report, &status, &loss) == 0 && status)
		find(findings, report);
}

/* A client that waits no longer lets the call run, and it waits until the hook has ended:
 * the observers' time counts. */
static void check_patience(struct findings *findings, const struct config *config)
{
	const struct dialect *dialect;
	for (size_t i = 0; (dialect = dialect_at(i)); i++) {
		char text[PATH_MAX + 512];
		int64_t patience = dialect->can.timeout * INT64_C(1000000);
		if (strcmp(dialect->can.timeout_unit, "ms") != 0)
			patience *= 1000;
		if (patience == 0 || config->deadline_ns + FRONT_OBSERVE_NS < patience)
			continue;
		snprintf(text, sizeof(text),
			 "%s: warning: deadline is %g s, and observers may take %g s more; %s waits "
			 "%g s for a hook unless its settings say otherwise, and then lets the call "
			 "run: lower \"deadline\"%s",
			 config->path.ptr, (double)config->deadline_ns / 1e9, FRONT_OBSERVE_NS / 1e9,
			 dialect->name, (double)patience / 1e9,
			 dialect->can.timeout_unit[0] ? ", or raise the timeout" : "");
		warn(findings, text);
	}
}

static void check_host(struct findings *findings, struct host *host)
{
	check_patience(findings, host->config);
	for (size_t i = 0; i < host->config->n_chain; i++)
		check_entry(findings, host, &host->chain[i]);
	for (size_t i = 0; i < host->config->n_observe; i++)
		check_entry(findings, host, &host->observe[i]);
	check_context(findings, host);
}

static void print_well(struct host *host)
{
	const struct config *config = host->config;
	host_settle_trust(host);
	printf("%s: well: %zu in chain, %zu observing, %s\n", config->path.ptr, config->n_chain,
	       config->n_observe,
	       host->system   ? "trust: system (it enforces)" :
	       config->system ? "trust: user (it advises: the config is root's, but not every plugin is)" :
				"trust: user (it advises: whoever can write this file owns the policy)");
}

static void print_json(struct findings *findings)
{
	const struct json_writer *w = findings->writer;
	struct json_object *o = w->object();
	w->add_bool(o, "ok", findings->n == 0);
	w->add(o, "problems", findings->list);
	w->add(o, "warnings", findings->warnings);
	printf("%.*s\n", STR_FMT(w->text(o)));
	w->free(o);
}

static int run(const struct tool_line *line)
{
	struct findings findings = {.json = line->json};
	struct config *config = NULL;
	struct host *host = NULL;
	struct error err;
	if (line->json) {
		findings.writer = json_writer_get(&err);
		if (!findings.writer) {
			fprintf(stderr, "pawl check: %s\n", err.text);
			return 1;
		}
		findings.list = findings.writer->array();
		findings.warnings = findings.writer->array();
	}
	if (config_load(line->config, &config, &err) < 0 || host_new(config, NULL, &host, &err) < 0)
		find(&findings, err.text);
	else
		check_host(&findings, host);
	if (line->json)
		print_json(&findings);
	else if (findings.n == 0 && !line->quiet)
		print_well(host);
	host_free(host);
	config_free(config);
	return findings.n > 0 ? 1 : 0;
}

extern const struct tool tool_check;
const struct tool tool_check = {"check", 0, 0, "", run};
