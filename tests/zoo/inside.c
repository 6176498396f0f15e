/* inside.c - a plugin that says what the process it runs in looks like, in the reason of its
 * refusal; one that remembers what it was told. Both behave. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pawl/plugin.h>

static const pawl_host *host;
static int told_post, told_decided, told_stop;

struct inside {
	char path[256]; /* option "path" */
};

#define TEXT(literal) ((pawl_str){literal, sizeof(literal) - 1})

static int32_t inside_open(const pawl_host *given, const pawl_value *options, void **self)
{
	struct inside *inside = calloc(1, sizeof(*inside));
	pawl_str path;
	host = given;
	if (!inside)
		return PAWL_E_NOMEM;
	if (given->string(given->member(options, TEXT("path")), &path) == 0)
		snprintf(inside->path, sizeof(inside->path), "%s", path.ptr);
	*self = inside;
	return 0;
}

static int count_open(void)
{
	int n = 0;
	for (int fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int count_environment(void)
{
	extern char **environ;
	int n = 0;
	while (environ && environ[n])
		n++;
	return n;
}

static int in_root(void)
{
	struct stat here, root;
	return stat(".", &here) == 0 && stat("/", &root) == 0 && here.st_ino == root.st_ino &&
	       here.st_dev == root.st_dev;
}

static int can_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int yes = fd >= 0 && read(fd, &byte, 1) >= 0;
	if (fd >= 0)
		close(fd);
	return yes;
}

static int can(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int32_t inside_ask(void *self, const pawl_call *call, pawl_reply *reply)
{
	const struct inside *inside = self;
	char text[512];
	struct rlimit core = {1, 1};
	mode_t mask = umask(077);
	(void)call;
	getrlimit(RLIMIT_CORE, &core);
	int n = snprintf(text, sizeof(text),
			 "open %d environment %d root %d umask %o core %lu passwd %d path %d "
			 "net %d unix %d post %d decided %d stop %d",
			 count_open(), count_environment(), in_root(), mask,
			 (unsigned long)core.rlim_cur, can_read("/etc/passwd"),
			 inside->path[0] && can_read(inside->path),
			 can(socket(AF_INET, SOCK_STREAM, 0)), can(socket(AF_UNIX, SOCK_STREAM, 0)),
			 told_post, told_decided, told_stop);
	host->reason(reply, TEXT("inside"), (pawl_str){text, (size_t)n});
	return PAWL_DENY;
}

static int32_t inside_post(void *self, const pawl_call *call)
{
	(void)self, (void)call;
	told_post++;
	return 0;
}

static int32_t inside_decided(void *self, const pawl_call *call, pawl_str record)
{
	(void)self, (void)call;
	told_decided += record.len > 0;
	return 0;
}

static int32_t inside_stop(void *self, const pawl_call *call)
{
	(void)self, (void)call;
	told_stop++;
	return 0;
}

static const pawl_option inside_options[] = {
	{"path", PAWL_OPT_PATH, 0, NULL, "what it tries to read", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin inside = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.option_size = sizeof(pawl_option),
	.id = "inside",
	.version = "1.0",
	.summary = "says where it runs",
	.options = inside_options,
	.open = inside_open,
	.pre_tool_use = inside_ask,
	.post_tool_use = inside_post,
	.decided = inside_decided,
	.stop = inside_stop,
};

PAWL_PLUGIN("inside", "1.0", inside)
