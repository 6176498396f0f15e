/* hostile.c - plugins that look what they could do to others, and say what worked: in a
 * constructor, in open and in the hook. Nothing of it does harm where it works. */
#define ZOO_OPEN hostile_open
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zoo.h"

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);
	return fd >= 0 && close(fd) == 0;
}

static int reads(void)
{
	return opens("/etc/passwd", O_RDONLY) || opens("/proc/self/environ", O_RDONLY);
}

static int lists(void)
{
	return opens("/", O_RDONLY | O_DIRECTORY) || opens("/tmp", O_RDONLY | O_DIRECTORY);
}

static int writes(void)
{
	char path[] = "/tmp/pawl-zoo-XXXXXX";
	int fd = mkstemp(path);
	return fd >= 0 && close(fd) == 0 && unlink(path) == 0;
}

static int has_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd >= 0 && close(fd) == 0;
}

static int has_net(void)
{
	return has_socket(AF_INET);
}

static int has_unix(void)
{
	return has_socket(AF_UNIX);
}

static int signals(void)
{
	return kill(getppid(), 0) == 0 || kill(-1, 0) == 0;
}

static int spawns(void)
{
	char *const argv[] = {(char[]){"true"}, NULL};
	pid_t pid;
	int status = -1;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL) != 0)
		return 0;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static int slips_leash(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
}

static const struct {
	const char *name;
	int (*works)(void);
} deeds[] = {
	{"read", reads},    {"list", lists},     {"write", writes}, {"net", has_net},
	{"unix", has_unix}, {"signal", signals}, {"spawn", spawns}, {"leash", slips_leash},
};

static char said[1024];

__attribute__((unused)) static void look(const char *when)
{
	size_t at = strlen(said);
	int n = 0;
	at += (size_t)snprintf(said + at, sizeof(said) - at, "%s%s:", at ? ", " : "", when);
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (deeds[i].works()) {
			at += (size_t)snprintf(said + at, sizeof(said) - at, " %s", deeds[i].name);
			n++;
		}
	if (n == 0)
		snprintf(said + at, sizeof(said) - at, " nothing");
}

#ifdef ZOO_hostile
__attribute__((constructor)) static void look_early(void)
{
	look("constructor");
}
#endif

static int32_t hostile_open(const pawl_host *given, const pawl_value *options, void **self)
{
#ifdef ZOO_hostile
	look("open");
#endif
	return zoo_open(given, options, self);
}

MISDEED(hostile)
{
	(void)call;
	look("hook");
	host->reason(reply, TEXT("hostile"), pawl_text(said));
	return PAWL_DENY;
}

MISDEED(hostile_trace)
{
	(void)call, (void)reply;
	ptrace(PTRACE_ATTACH, getppid(), 0, 0);
	return PAWL_ALLOW;
}
