/* status.c - pawl status: is anything in the way, and which fences are up. */
#include <config.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit.h"
#include "cli/tool.h"
#include "core/config.h"
#include "core/quarantine.h"
#include "core/sandbox.h"
#include "core/state.h"
#include "json/write.h"

#define HALTS_SHOWN 20 /* for people; --json shows all */

/* Each section is a line that begins with its name, or a member of the object. */
struct status {
	const struct config *config;
	const struct json_writer *w; /* NULL: for people */
	struct json_object *root;
	bool bad;
	struct json_object *halted;
	unsigned n_halted, n_quarantined;
};

static void line(const char *section, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void line(const char *section, const char *format, ...)
{
	va_list ap;
	printf("%-12s", section);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

static size_t count_isolated(const struct config *config)
{
	size_t n = 0;
	for (size_t i = 0; i < config->n_chain; i++)
		n += config->chain[i].isolated;
	for (size_t i = 0; i < config->n_observe; i++)
		n += config->observe[i].isolated;
	return n;
}

/* ---- the config ------------------------------------------------------------------------- */

static void show_config(struct status *s)
{
	const struct config *c = s->config;
	const char *trust = c->system ? "system" : "user";
	if (!s->w) {
		for (size_t i = 0; i < c->n_files; i++)
			line(i == 0 ? "config" : "", "%s", c->files[i].ptr);
		line("trust", "%s: %s", trust,
		     c->system ? "it enforces"
			       : "it advises: whoever can write the config owns the policy");
		line("chain", "%zu in chain, %zu observing, %zu in a process of its own",
		     c->n_chain, c->n_observe, count_isolated(c));
		return;
	}
	struct json_object *files = s->w->array();
	for (size_t i = 0; i < c->n_files; i++)
		s->w->add_text(files, NULL, c->files[i]);
	s->w->add(s->root, "config", files);
	s->w->add_text(s->root, "trust", str_of(trust));
	s->w->add_integer(s->root, "chain", (int64_t)c->n_chain);
	s->w->add_integer(s->root, "observe", (int64_t)c->n_observe);
	s->w->add_integer(s->root, "isolated", (int64_t)count_isolated(c));
}

/* ---- the sandbox ---------------------------------------------------------------------------- */

/* What cannot be fenced in refuses everything. */
static void show_unfenced(struct status *s, const struct config_entry *entries, size_t n,
			  struct json_object *list)
{
	for (size_t i = 0; i < n; i++) {
		if (!entries[i].isolated || entries[i].sandbox_best_effort)
			continue;
		s->bad = true;
		if (s->w)
			s->w->add_text(list, NULL, entries[i].name);
		else
			line("", "%s refuses: it cannot be fenced in here", entries[i].name.ptr);
	}
}

static void show_sandbox(struct status *s)
{
	struct sandbox_kernel kernel;
	sandbox_probe(&kernel);
	bool whole = kernel.landlock_abi > 0 && kernel.seccomp;
	if (s->w) {
		struct json_object *o = s->w->object();
		s->w->add_bool(o, "whole", whole);
		s->w->add_integer(o, "landlock_abi", kernel.landlock_abi);
		s->w->add_bool(o, "seccomp", kernel.seccomp);
		s->w->add(s->root, "sandbox", o);
	} else if (whole) {
		line("sandbox", "this kernel can do all of it: Landlock (ABI %d), seccomp",
		     kernel.landlock_abi);
	} else {
		line("sandbox", "this kernel has no %s%s%s",
		     kernel.landlock_abi > 0 ? "" : "Landlock",
		     kernel.landlock_abi == 0 && !kernel.seccomp ? " and no " : "",
		     kernel.seccomp ? "" : "seccomp");
	}
	struct json_object *unfenced = s->w ? s->w->array() : NULL;
	if (!whole) {
		show_unfenced(s, s->config->chain, s->config->n_chain, unfenced);
		show_unfenced(s, s->config->observe, s->config->n_observe, unfenced);
	}
	if (s->w)
		s->w->add(s->root, "unfenced", unfenced);
}

/* ---- what was stopped -------------------------------------------------------------------------
 */

static void show_halt(void *data, const char *session, const char *path, const char *who)
{
	struct status *s = data;
	s->bad = true;
	s->n_halted++;
	if (s->w) {
		struct json_object *o = s->w->object();
		if (session[0])
			s->w->add_text(o, "session", str_of(session));
		s->w->add_text(o, "plugin", str_of(who));
		s->w->add_text(o, "file", str_of(path));
		s->w->add(s->halted, NULL, o);
	} else if (s->n_halted <= HALTS_SHOWN && session[0]) {
		line("halted", "session %s, after an error of %s; `pawl reset %s` lifts it",
		     session, who, session);
	} else if (s->n_halted <= HALTS_SHOWN) {
		line("halted",
		     "a session with a long name, after an error of %s; removing %s "
		     "lifts it",
		     who, path);
	}
}

static void show_quarantine(struct status *s, struct str state_dir,
			    const struct config_entry *entry, struct json_object *list)
{
	char path[PATH_MAX], why[QUARANTINE_WHY_MAX];
	if (config_plugin_path(s->config, entry, path) < 0 ||
	    !quarantined(state_dir, entry->name, path, why))
		return;
	s->bad = true;
	s->n_quarantined++;
	if (s->w) {
		struct json_object *o = s->w->object();
		s->w->add_text(o, "plugin", entry->name);
		s->w->add_text(o, "why", str_of(why));
		s->w->add(list, NULL, o);
	} else {
		line("quarantine", "%s: %s", entry->name.ptr, why);
	}
}

static void show_quarantines(struct status *s, struct str state_dir)
{
	const struct config *c = s->config;
	struct json_object *list = s->w ? s->w->array() : NULL;
	for (size_t i = 0; i < c->n_chain; i++)
		show_quarantine(s, state_dir, &c->chain[i], list);
	for (size_t i = 0; i < c->n_observe; i++)
		show_quarantine(s, state_dir, &c->observe[i], list);
	if (s->w)
		s->w->add(s->root, "quarantined", list);
	else if (s->n_quarantined == 0)
		line("quarantine", "no plugin");
}

static int show_stopped(struct status *s, struct config *config, struct error *err)
{
	struct str dir;
	s->halted = s->w ? s->w->array() : NULL;
	int r = config_state_dir(config, &dir, err);
	if (r == 0)
		r = state_each_halt(dir, show_halt, s, err);
	if (s->w)
		s->w->add(s->root, "halted", s->halted);
	if (r < 0)
		return r;
	if (!s->w && s->n_halted > HALTS_SHOWN)
		line("", "and %u more", s->n_halted - HALTS_SHOWN);
	if (!s->w && s->n_halted == 0)
		line("halted", "no session");
	show_quarantines(s, dir);
	return 0;
}

/* ---- the audit ---------------------------------------------------------------------------- */

static void show_audit(struct status *s)
{
	char path[PATH_MAX];
	bool there = audit_find(s->config, path) == 0;
	bool well = there && audit_status(path) == 0;
	s->bad = s->bad || (there && !well);
	if (s->w) {
		struct json_object *o = s->w->object();
		if (there)
			s->w->add_text(o, "path", str_of(path));
		s->w->add_bool(o, "ok", well);
		s->w->add(s->root, "audit", o);
	} else if (!there) {
		line("audit", "none is configured: nothing is recorded");
	} else if (well) {
		line("audit", "%s: well", path);
	} else {
		line("audit", "%s: not well; `pawl audit status` says why", path);
	}
}

/* ---- all ---------------------------------------------------------------------------------- */

static int fail(struct status *s, const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	s->bad = true;
	if (s->w)
		s->w->add_text(s->root, "error", str_of(err->text));
	return 1;
}

static void show(struct status *s, const char *path)
{
	struct config *config = NULL;
	struct error err;
	int r = config_load(path, &config, &err);
	s->config = config;
	if (r == 0) {
		show_config(s);
		show_sandbox(s);
		r = show_stopped(s, config, &err);
		show_audit(s);
	}
	if (r < 0)
		fail(s, &err);
	config_free(config);
}

static int run(const struct tool_line *line)
{
	struct status status = {.bad = false};
	struct error err;
	if (line->json) {
		status.w = json_writer_get(&err);
		if (!status.w)
			return fail(&status, &err);
		status.root = status.w->object();
	}
	if (line->quiet && !freopen("/dev/null", "w", stdout))
		return 1;
	show(&status, line->config);
	if (status.w) {
		status.w->add_bool(status.root, "ok", !status.bad);
		printf("%.*s\n", STR_FMT(status.w->text(status.root)));
		status.w->free(status.root);
	}
	return status.bad ? 1 : 0;
}

extern const struct tool tool_status;
const struct tool tool_status = {"status", 0, 0, "", run};
