/* sibling.c - see sibling.h. */
#include <config.h>

#include "cli/sibling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sibling_exec(const char *program, char *const argv[])
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash = n > 0 ? (path[n] = '\0', strrchr(path, '/')) : NULL;
	if (slash && (size_t)(slash - path) + strlen(program) + 2 < sizeof(path)) {
		strcpy(slash + 1, program);
		execv(path, argv);
	}
	fprintf(stderr, "pawl: %s: %s\n", slash ? path : program, strerror(errno));
}

int sibling_audit(const struct config *config, char path[PATH_MAX])
{
	struct str value;
	for (size_t i = 0; i < config->n_observe; i++) {
		const struct config_entry *entry = &config->observe[i];
		if (!str_is(entry->plugin, "audit") ||
		    json_string(json_member(entry->options, STR("path")), &value) < 0)
			continue;
		int n = value.ptr[0] == '/' ?
				snprintf(path, PATH_MAX, "%s", value.ptr) :
				snprintf(path, PATH_MAX, "%s/%s", config->dir.ptr, value.ptr);
		return n < PATH_MAX ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}
