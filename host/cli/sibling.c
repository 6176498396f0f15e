/* sibling.c - see sibling.h. */
#include <config.h>

#include "cli/sibling.h"

#include <errno.h>
#include <limits.h>
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
