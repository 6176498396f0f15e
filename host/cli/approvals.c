/* approvals.c - pawl approvals ...: finds queue and audit in the config and hands over to
 * pawl-approvals. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/sibling.h"
#include "cli/tool.h"

#define ARGUMENTS_MAX 512

static bool wants_help(const struct tool_line *line)
{
	for (int i = 0; i < line->n; i++)
		if (strcmp(line->words[i], "--help") == 0)
			return true;
	return line->n == 0;
}

static int find(const char *path, char store[PATH_MAX], char audit[PATH_MAX])
{
	struct config *config = NULL;
	struct error err;
	struct str dir;
	int r = config_load(path, &config, &err);
	if (r == 0)
		r = config_state_dir(config, &dir, &err);
	if (r < 0) {
		fprintf(stderr, "pawl approvals: %s\n", err.text);
		return r;
	}
	snprintf(store, PATH_MAX, "%.*s", STR_FMT(dir));
	if (sibling_audit(config, audit) < 0)
		audit[0] = '\0';
	config_free(config);
	return 0;
}

static int run(const struct tool_line *line)
{
	static char name[] = "pawl approvals", store_option[] = "--store", store[PATH_MAX];
	static char audit_option[] = "--audit", audit[PATH_MAX], json[] = "--json";
	static char quiet[] = "--quiet";
	char *argv[ARGUMENTS_MAX + 12];
	int n = 0;
	argv[n++] = name;
	if (!wants_help(line)) {
		if (find(line->config, store, audit) < 0)
			return 1;
		argv[n++] = store_option;
		argv[n++] = store;
		if (audit[0]) {
			argv[n++] = audit_option;
			argv[n++] = audit;
		}
	}
	if (line->json)
		argv[n++] = json;
	if (line->quiet)
		argv[n++] = quiet;
	if (line->n > ARGUMENTS_MAX) {
		fprintf(stderr, "pawl approvals: more than %d arguments\n", ARGUMENTS_MAX);
		return 2;
	}
	for (int i = 0; i < line->n; i++)
		argv[n++] = line->words[i];
	argv[n] = NULL;
	sibling_exec("pawl-approvals", argv);
	return 1;
}

extern const struct tool tool_approvals;
const struct tool tool_approvals = {"approvals", 0, -1,
				    "list|show|approve|deny|cancel|wait|export", run};
