/* lineage.c - see lineage.h. */
#include <config.h>

#include "lineage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DEEPEST 128 /* generations looked at */

static size_t read_proc(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* The fields after the name, which may hold anything, ")" too. */
static bool stat_of(pid_t pid, pid_t *ret_parent, int64_t *ret_started)
{
	char text[1024];
	read_proc(pid, "stat", text, sizeof(text));
	char *at = strrchr(text, ')');
	long parent;
	long long started;
	if (!at || sscanf(at + 1,
			  " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			  "%*d %*d %lld",
			  &parent, &started) != 2)
		return false;
	*ret_parent = (pid_t)parent;
	*ret_started = started;
	return true;
}

/* "sh", "-c", ... as /proc has it. */
static bool is_one_command_shell(pid_t pid)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"};
	char line[256];
	size_t n = read_proc(pid, "cmdline", line, sizeof(line));
	const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line;
	size_t first = strlen(line) + 1;
	if (first >= n || line[first] != '-' || !strchr(line + first, 'c'))
		return false;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

struct process lineage_agent(pid_t ours)
{
	struct process agent = {0};
	pid_t parent, above;
	int64_t started;
	if (!stat_of(ours, &parent, &started))
		return agent;
	for (int i = 0; i < DEEPEST && parent > 1; i++) {
		if (!stat_of(parent, &above, &started))
			return agent;
		if (!is_one_command_shell(parent))
			return (struct process){parent, started};
		parent = above;
	}
	return agent;
}

bool lineage_descends(pid_t pid, struct process from)
{
	for (int i = 0; from.pid > 1 && i < DEEPEST && pid > 1; i++) {
		pid_t parent;
		int64_t started;
		if (!stat_of(pid, &parent, &started))
			return false;
		if (pid == from.pid && started == from.started)
			return true;
		pid = parent;
	}
	return false;
}
