/* audit.c - pawl audit ...: finds the store in the config and hands over to pawl-audit, so
 * that SQLite is loaded by nobody else. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/audit.h"
#include "cli/sibling.h"
#include "cli/tool.h"
#include "core/config.h"

#define ARGUMENTS_MAX 256

static const struct config_entry *find_entry(const struct config *config, struct str *ret_path)
{
	for (size_t i = 0; i < config->n_observe; i++)
		if (str_is(config->observe[i].plugin, "audit") &&
		    json_string(json_member(config->observe[i].options, STR("path")), ret_path) == 0)
			return &config->observe[i];
	return NULL;
}

int audit_find(const struct config *config, char path[PATH_MAX])
{
	struct str value;
	if (!find_entry(config, &value))
		return -ENOENT;
	int n = value.ptr[0] == '/' ? snprintf(path, PATH_MAX, "%s", value.ptr) :
				      snprintf(path, PATH_MAX, "%s/%s", config->dir.ptr, value.ptr);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

struct str audit_options(const struct config *config)
{
	struct str path;
	const struct config_entry *entry = find_entry(config, &path);
	return entry ? json_raw(entry->options) : (struct str){NULL, 0};
}

/* Its own process: it fills the index, and a broken store is to be no end of ours. */
int audit_status(const char *path)
{
	char *const argv[] = {(char *)(uintptr_t) "pawl audit", (char *)(uintptr_t) "--db",
			      (char *)(uintptr_t)path, (char *)(uintptr_t) "status", NULL};
	int status;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		sibling_exec("pawl-audit", argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

static bool wants_help(const struct tool_line *line)
{
	for (int i = 0; i < line->n; i++)
		if (strcmp(line->words[i], "--help") == 0)
			return true;
	return line->n == 0;
}

/* Of `verify`, 1 would say that the store was changed. */
static int failed(const struct tool_line *line)
{
	return line->n > 0 && strcmp(line->words[0], "verify") == 0 ? 4 : 1;
}

static int run(const struct tool_line *line)
{
	static char name[] = "pawl audit", db_option[] = "--db", json[] = "--json";
	static char quiet[] = "--quiet", db[PATH_MAX];
	char *argv[ARGUMENTS_MAX + 8];
	struct config *config = NULL;
	struct error err;
	int n = 0;
	argv[n++] = name;
	if (!wants_help(line)) {
		if (config_load(line->config, &config, &err) < 0) {
			fprintf(stderr, "pawl audit: %s\n", err.text);
			return failed(line);
		}
		if (audit_find(config, db) < 0) {
			fprintf(stderr,
				"pawl audit: %s: no audit is configured; add {\"plugin\": "
				"\"audit\", "
				"\"options\": {\"path\": \"/…/audit.db\"}} to \"observe\"\n",
				config->path.ptr);
			return failed(line);
		}
		argv[n++] = db_option;
		argv[n++] = db;
	}
	if (line->json)
		argv[n++] = json;
	if (line->quiet)
		argv[n++] = quiet;
	for (int i = 0; i < line->n && n < ARGUMENTS_MAX; i++)
		argv[n++] = line->words[i];
	argv[n] = NULL;
	sibling_exec("pawl-audit", argv);
	return failed(line);
}

extern const struct tool tool_audit;
const struct tool tool_audit = {
	"audit", 0, -1,
	"list|show|tail|stats|sessions|status|export|verify|checkpoint|anchor|rotate|rebuild|repair|"
	"erase|hash",
	run};
