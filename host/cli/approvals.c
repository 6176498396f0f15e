/* approvals.c - pawl approvals ..., pawl resume: finds queue and audit in the config and hands over to
 * pawl-approvals. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/module.h"
#include "cli/audit.h"
#include "cli/sibling.h"
#include "cli/tool.h"
#include "core/approval.h"

#define ARGUMENTS_MAX 512

static bool wants_help(const struct tool_line *line)
{
	for (int i = 0; i < line->n; i++)
		if (strcmp(line->words[i], "--help") == 0)
			return true;
	return line->n == 0;
}

/* What the command line of pawl-approvals begins with. */
struct places {
	char store[PATH_MAX], audit[PATH_MAX];
	char options[16]; /* the audit's: a descriptor's number */
	char *policy;  /* the config's files, for resume; NULL: not asked for */
};

static int describe(const struct config *config, char **ret, struct error *err)
{
	struct approval_part parts[CONFIG_FILES_MAX];
	const struct approval_store *store =
		module_symbol("approvals.so", "pawl_approval_store", err);
	for (size_t i = 0; store && i < config->n_sources; i++)
		parts[i] = (struct approval_part){.path = config->sources[i].path,
						  .text = config->sources[i].text,
						  .fd = -1};
	return store ? store->describe(parts, config->n_sources, ret, err) : -ENOENT;
}

/* What the audit leaves out of its log is not to be read in a list of processes, either. */
static int hand_options(struct str options, char ret[16], struct error *err)
{
	int fd = memfd_create("audit-options", 0);
	if (fd < 0 || io_write_all(fd, options.ptr, options.len) < 0 || lseek(fd, 0, SEEK_SET) != 0)
		return error_set(err, errno, "the audit's options cannot be handed over: %s",
				 strerror(errno));
	snprintf(ret, 16, "%d", fd);
	return 0;
}

static int find(const char *path, bool with_policy, struct places *places)
{
	struct config *config = NULL;
	struct error err;
	struct str dir, options;
	int r = config_load(path, &config, &err);
	if (r == 0)
		r = config_state_dir(config, &dir, &err);
	if (r == 0 && with_policy)
		r = describe(config, &places->policy, &err);
	if (r == 0) {
		snprintf(places->store, PATH_MAX, "%.*s", STR_FMT(dir));
		if (audit_find(config, places->audit) < 0)
			places->audit[0] = '\0';
		options = audit_options(config);
		r = hand_options(options.ptr ? options : STR("{}"), places->options, &err);
		config_free(config);
	}
	if (r < 0)
		fprintf(stderr, "pawl approvals: %s\n", err.text);
	return r;
}

static char name[] = "pawl approvals", store_option[] = "--store", audit_option[] = "--audit";
static char options_option[] = "--audit-options";
static char policy_option[] = "--policy", json[] = "--json", quiet[] = "--quiet";
static char resume_word[] = "resume";

static int hand_over(const struct tool_line *line, bool resume)
{
	static struct places places;
	char *argv[ARGUMENTS_MAX + 16];
	int n = 0;
	if (line->n > ARGUMENTS_MAX) {
		fprintf(stderr, "pawl approvals: more than %d arguments\n", ARGUMENTS_MAX);
		return 2;
	}
	argv[n++] = name;
	if (!wants_help(line)) {
		if (find(line->config, resume, &places) < 0)
			return 1;
		argv[n++] = store_option;
		argv[n++] = places.store;
		if (places.audit[0]) {
			argv[n++] = audit_option;
			argv[n++] = places.audit;
			argv[n++] = options_option;
			argv[n++] = places.options;
		}
	}
	if (resume)
		argv[n++] = resume_word;
	if (places.policy) {
		argv[n++] = policy_option;
		argv[n++] = places.policy;
	}
	if (line->json)
		argv[n++] = json;
	if (line->quiet)
		argv[n++] = quiet;
	for (int i = 0; i < line->n; i++)
		argv[n++] = line->words[i];
	argv[n] = NULL;
	sibling_exec("pawl-approvals", argv);
	return 1;
}

static int run(const struct tool_line *line)
{
	return hand_over(line, false);
}

static int run_resume(const struct tool_line *line)
{
	return hand_over(line, true);
}

extern const struct tool tool_approvals, tool_resume;
const struct tool tool_approvals = {"approvals", 0, -1,
				    "list|show|approve|deny|cancel|wait|export", run};
const struct tool tool_resume = {"resume", 1, 1, "BATCH", run_resume};
