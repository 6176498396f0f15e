/* test-sandbox.c - what a sandboxed process can still do, tried in one each.
 *
 * Everything that is refused there has been seen to work outside, or is tried both ways:
 * a call that fails anyway would prove nothing. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/sandbox.h"
#include "json/json.h"

static char dir[] = "/tmp/pawl-sandbox-XXXXXX";
static char granted[64], secret[64];

/* In the child: what is not so is said to the parent. */
#define NEED(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			return #what;                                                              \
	} while (0)
#define NEED_REFUSED(call, code)                                                                   \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) != -1 || errno != (code))                                               \
			return #call " is not refused with " #code;                                \
	} while (0)

typedef const char *deed_fn(struct sandbox *box);

/* Runs the deed in a child; its wait status, and what it said in text. */
static int in_child(deed_fn *deed, const struct sandbox *given, char text[256])
{
	int ends[2], status = -1;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct sandbox box = *given;
		const char *wrong = deed(&box);
		if (wrong && write(ends[1], wrong, strlen(wrong)) < 0)
			_exit(2);
		_exit(wrong ? 1 : 0);
	}
	close(ends[1]);
	ssize_t n = read(ends[0], text, 255);
	text[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void does_with(deed_fn *deed, const struct sandbox *box)
{
	char text[256];
	int status = in_child(deed, box, text);
	if (status != 0)
		fail_msg("status %#x: %s", (unsigned)status, text);
}

/* Nothing but the folder "granted" is. */
static struct sandbox usual(void)
{
	static struct str paths[1];
	paths[0] = str_of(granted);
	return (struct sandbox){.plugin_path = "/proc/self/exe", .paths = paths, .n_paths = 1};
}

static void does(deed_fn *deed)
{
	struct sandbox box = usual();
	does_with(deed, &box);
}

static void dies_of(deed_fn *deed, int signo)
{
	struct sandbox box = usual();
	char text[256];
	int status = in_child(deed, &box, text);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != signo)
		fail_msg("status %#x instead of signal %d: %s", (unsigned)status, signo, text);
}

static const char *enter(struct sandbox *box)
{
	static struct error err;
	return sandbox_enter(box, &err) == 0 ? NULL : err.text;
}

static const char *enter_and_tighten(struct sandbox *box)
{
	static struct error err;
	const char *wrong = enter(box);
	if (wrong)
		return wrong;
	return sandbox_tighten(box, &err) == 0 ? NULL : err.text;
}

#define ENTER(box)                                                                                 \
	do {                                                                                       \
		const char *wrong_ = enter(box);                                                   \
		if (wrong_)                                                                        \
			return wrong_;                                                             \
	} while (0)
#define ENTER_AND_TIGHTEN(box)                                                                     \
	do {                                                                                       \
		const char *wrong_ = enter_and_tighten(box);                                       \
		if (wrong_)                                                                        \
			return wrong_;                                                             \
	} while (0)

/* The twice-used half of a test: before and after tightening. */
#define BOTH(name)                                                                                 \
	static const char *name##_loading(struct sandbox *box)                                     \
	{                                                                                          \
		ENTER(box);                                                                        \
		return name(box);                                                                  \
	}                                                                                          \
	static const char *name##_tight(struct sandbox *box)                                       \
	{                                                                                          \
		ENTER_AND_TIGHTEN(box);                                                            \
		return name(box);                                                                  \
	}                                                                                          \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		does(name##_loading);                                                              \
		does(name##_tight);                                                                \
	}

/* ---- files -------------------------------------------------------------------------- */

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static const char *other_files_cannot_be_read(struct sandbox *box)
{
	(void)box;
	NEED_REFUSED(opens(secret, O_RDONLY), EACCES);
	NEED_REFUSED(opens(dir, O_RDONLY | O_DIRECTORY), EACCES);
	NEED_REFUSED(opens("/etc/passwd", O_RDONLY), EACCES);
	NEED_REFUSED(opens("/etc/shadow", O_RDONLY), EACCES);
	NEED_REFUSED(opens("/root", O_RDONLY | O_DIRECTORY), EACCES);
	NEED_REFUSED(opens("/proc/self/environ", O_RDONLY), EACCES);
	NEED_REFUSED(opens("/", O_RDONLY | O_DIRECTORY), EACCES);
	return NULL;
}
BOTH(other_files_cannot_be_read)

static const char *granted_files_can_be_read(struct sandbox *box)
{
	char path[128];
	(void)box;
	_cleanup_closedir_ DIR *folder = opendir(granted);
	NEED(folder);
	NEED(readdir(folder));
	snprintf(path, sizeof(path), "%s/below/file", granted);
	NEED(opens(path, O_RDONLY) == 0);
	return NULL;
}
BOTH(granted_files_can_be_read)

static const char *nothing_can_be_written(struct sandbox *box)
{
	char path[128], other[128];
	(void)box;
	snprintf(path, sizeof(path), "%s/below/file", granted);
	snprintf(other, sizeof(other), "%s/new", granted);
	NEED_REFUSED(opens(path, O_WRONLY), EPERM);
	NEED_REFUSED(opens(path, O_RDWR), EPERM);
	NEED_REFUSED(opens(other, O_RDONLY | O_CREAT), EPERM);
	NEED_REFUSED(truncate(path, 0), EPERM);
	NEED_REFUSED(unlink(path), EPERM);
	NEED_REFUSED(rename(path, other), EPERM);
	NEED_REFUSED(link(path, other), EPERM);
	NEED_REFUSED(symlink(path, other), EPERM);
	NEED_REFUSED(mkdir(other, 0700), EPERM);
	NEED_REFUSED(mknod(other, S_IFIFO | 0600, 0), EPERM);
	NEED_REFUSED(chmod(path, 0777), EPERM);
	NEED_REFUSED(chown(path, geteuid(), getegid()), EPERM);
	NEED_REFUSED(utimensat(AT_FDCWD, path, NULL, 0), EPERM);
	NEED_REFUSED(chdir("/"), EPERM);
	return NULL;
}
BOTH(nothing_can_be_written)

/* What was open before stays open: the lanes to the host are. */
static const char *open_file_stays(struct sandbox *box)
{
	char text[16];
	_cleanup_close_ int fd = open(secret, O_RDONLY | O_CLOEXEC);
	ENTER_AND_TIGHTEN(box);
	NEED(read(fd, text, sizeof(text)) > 0);
	return NULL;
}

static void test_open_descriptors_stay(void **state)
{
	(void)state;
	does(open_file_stays);
}

static const char *opens_only_before(struct sandbox *box)
{
	static struct error err;
	ENTER(box);
	NEED(opens("/dev/null", O_RDONLY) == 0);
	NEED(sandbox_tighten(box, &err) == 0);
	NEED_REFUSED(opens("/dev/null", O_RDONLY), EPERM);
	return NULL;
}

static void test_without_paths_no_file_opens_after_open(void **state)
{
	struct sandbox box = {.plugin_path = "/proc/self/exe"};
	(void)state;
	does_with(opens_only_before, &box);
}

/* A path in the config that is not there is the plugin's to complain about. */
static void test_path_that_is_not_there_is_no_error(void **state)
{
	struct str paths[] = {STR("/nowhere/at/all"), STR("/etc/hostname/below")};
	struct sandbox box = {.plugin_path = "/proc/self/exe", .paths = paths, .n_paths = 2};
	(void)state;
	does_with(enter_and_tighten, &box);
}

static void test_single_file_is_granted(void **state)
{
	struct str paths[] = {str_of(secret)};
	struct sandbox box = {.plugin_path = "/proc/self/exe", .paths = paths, .n_paths = 1};
	(void)state;
	does_with(enter_and_tighten, &box);
	/* and then it is no secret */
	char text[256];
	int status = in_child(other_files_cannot_be_read_tight, &box, text);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(text, "opens(secret"));
}

/* ---- network ------------------------------------------------------------------------ */

static const char *no_socket_can_be_made(struct sandbox *box)
{
	int pair[2];
	(void)box;
	NEED_REFUSED(socket(AF_INET, SOCK_STREAM, 0), EPERM);
	NEED_REFUSED(socket(AF_INET6, SOCK_DGRAM, 0), EPERM);
	NEED_REFUSED(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
	NEED_REFUSED(socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
	NEED_REFUSED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), EPERM);
	return NULL;
}
BOTH(no_socket_can_be_made)

static struct sockaddr_in listening; /* a server of the test's own, any port */

static const char *old_socket_cannot_connect(struct sandbox *box)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	NEED(fd >= 0);
	ENTER(box);
	NEED_REFUSED(connect(fd, (struct sockaddr *)&listening, sizeof(listening)), EPERM);
	return NULL;
}

static const char *can_connect(struct sandbox *box)
{
	ENTER_AND_TIGHTEN(box);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	NEED(fd >= 0);
	NEED(connect(fd, (struct sockaddr *)&listening, sizeof(listening)) == 0);
	NEED(opens("/etc/hosts", O_RDONLY) == 0 || errno == ENOENT);
	NEED_REFUSED(opens(secret, O_RDONLY), EACCES);
	NEED_REFUSED(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
	NEED_REFUSED(socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
	return NULL;
}

static void test_network_is_there_when_granted(void **state)
{
	struct sandbox box = {.plugin_path = "/proc/self/exe", .net = true};
	socklen_t len = sizeof(listening);
	(void)state;
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	listening =
		(struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	assert_int_equal(bind(fd, (struct sockaddr *)&listening, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&listening, &len), 0);
	does_with(can_connect, &box);
	does(old_socket_cannot_connect);
}

/* ---- processes ------------------------------------------------------------------------ */

static const char *others_cannot_be_touched(struct sandbox *box)
{
	struct rlimit limit;
	int ends[2];
	pid_t parent = getppid();
	(void)box;
	NEED_REFUSED(kill(parent, 0), EPERM);
	NEED_REFUSED(kill(0, 0), EPERM);
	NEED_REFUSED(kill(-1, 0), EPERM);
	NEED_REFUSED((int)syscall(__NR_tgkill, parent, parent, 0), EPERM);
	NEED_REFUSED((int)syscall(__NR_tkill, parent, 0), EPERM);
	NEED_REFUSED((int)syscall(__NR_pidfd_open, parent, 0), EPERM);
	NEED_REFUSED(sigqueue(parent, 0, (union sigval){0}), EPERM);
	NEED_REFUSED(prlimit(parent, RLIMIT_CPU, NULL, &limit), EPERM);
	NEED_REFUSED(setpriority(PRIO_PROCESS, (id_t)parent, 19), EPERM);
	NEED_REFUSED(sched_setaffinity(parent, 0, NULL), EPERM);
	NEED(pipe2(ends, O_CLOEXEC) == 0);
	NEED_REFUSED(fcntl(ends[0], F_SETOWN, parent), EPERM);
	NEED_REFUSED(fcntl(ends[0], F_SETSIG, SIGKILL), EPERM);
	NEED_REFUSED(fcntl(ends[0], F_SETLEASE, F_RDLCK), EPERM);
	NEED(fcntl(ends[0], F_DUPFD_CLOEXEC, 100) >= 100);
	NEED(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	NEED(kill(getpid(), 0) == 0);
	return NULL;
}
BOTH(others_cannot_be_touched)

static const char *no_process_can_be_made(struct sandbox *box)
{
	char *const argv[] = {(char *)(uintptr_t) "true", NULL};
	char *const envp[] = {NULL};
	(void)box;
	NEED_REFUSED(execve("/bin/true", argv, envp), EPERM);
	NEED_REFUSED(execve("/proc/self/exe", argv, envp), EPERM);
	NEED_REFUSED(execve("/lib64/ld-linux-x86-64.so.2", argv, envp), EPERM);
	NEED_REFUSED((int)syscall(__NR_execveat, 0, "", argv, envp, AT_EMPTY_PATH), EPERM);
	NEED_REFUSED((int)syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0), EPERM);
	NEED_REFUSED((int)syscall(__NR_clone3, NULL, 0), ENOSYS);
	NEED_REFUSED(fork(), EPERM);
	NEED_REFUSED(unshare(CLONE_NEWUSER), EPERM);
#ifdef __NR_vfork
	NEED_REFUSED((int)syscall(__NR_vfork), EPERM);
	NEED_REFUSED((int)syscall(__NR_fork), EPERM);
#endif
	return NULL;
}
BOTH(no_process_can_be_made)

/* What keeps a worker killable: its group, its parent's death. */
static const char *leash_stays(struct sandbox *box)
{
	(void)box;
	NEED_REFUSED(setsid(), EPERM);
	NEED_REFUSED(setpgid(0, getppid()), EPERM);
	NEED_REFUSED(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0), EPERM);
	NEED_REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), EPERM);
	return NULL;
}
BOTH(leash_stays)

#define DEADLY(name, call)                                                                         \
	static const char *name(struct sandbox *box)                                               \
	{                                                                                          \
		ENTER_AND_TIGHTEN(box);                                                            \
		call;                                                                              \
		return #call " is survived";                                                       \
	}
DEADLY(ptrace_parent, ptrace(PTRACE_ATTACH, getppid(), 0, 0))
DEADLY(ptrace_me, ptrace(PTRACE_TRACEME, 0, 0, 0))
DEADLY(read_parent, syscall(__NR_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0))
DEADLY(bpf, syscall(__NR_bpf, 0, NULL, 0))
DEADLY(keyring, syscall(__NR_keyctl, 0, 0, 0, 0, 0))
DEADLY(do_mount, syscall(__NR_mount, "none", "/nowhere", "tmpfs", 0, NULL))
DEADLY(do_abort, abort())
#ifdef __x86_64__
DEADLY(x32_call, syscall(0x40000000 | __NR_getpid))
#endif

static void test_reaching_into_others_kills(void **state)
{
	(void)state;
	dies_of(ptrace_parent, SIGSYS);
	dies_of(ptrace_me, SIGSYS);
	dies_of(read_parent, SIGSYS);
	dies_of(bpf, SIGSYS);
	dies_of(keyring, SIGSYS);
	dies_of(do_mount, SIGSYS);
#ifdef __x86_64__
	dies_of(x32_call, SIGSYS);
#endif
}

static void test_abort_is_still_an_abort(void **state)
{
	(void)state;
	dies_of(do_abort, SIGABRT);
}

static const char *privileges_are_gone(struct sandbox *box)
{
	struct {
		uint32_t version;
		int pid;
	} header = {0x20080522, 0};
	uint32_t data[6] = {1, 1, 1, 1, 1, 1};
	ENTER(box);
	NEED(prctl(PR_GET_NAME, (char[16]){0}, 0, 0, 0) == 0);
	NEED(syscall(__NR_capget, &header, data) == 0);
	for (int i = 0; i < 6; i++)
		NEED(data[i] == 0);
	NEED_REFUSED(setuid(getuid()), EPERM);
	return NULL;
}

static void test_no_privilege_is_left(void **state)
{
	(void)state;
	does(privileges_are_gone);
}

/* ---- what an honest plugin needs ---------------------------------------------------------- */

static void *thread(void *data)
{
	*(int *)data = 77;
	return data;
}

static const char *plain_needs_are_met(struct sandbox *box)
{
	struct timespec ts = {0, 1};
	struct stat st;
	pthread_t id;
	int got = 0, ends[2];
	char byte = 0;
	(void)box;
	for (size_t i = 1; i <= 64; i *= 2) {
		_cleanup_free_ char *p = malloc(i << 20);
		NEED(p);
		memset(p, 1, i << 20);
	}
	NEED(pthread_create(&id, NULL, thread, &got) == 0);
	NEED(pthread_join(id, NULL) == 0 && got == 77);
	NEED(clock_gettime(CLOCK_REALTIME, &ts) == 0 && time(NULL) > 0);
	NEED(nanosleep(&(struct timespec){0, 1000}, NULL) == 0);
	NEED(getpid() == (pid_t)syscall(__NR_getpid) && getppid() > 0);
	NEED(syscall(__NR_getrandom, &got, sizeof(got), 0) == sizeof(got));
	NEED(pipe2(ends, O_CLOEXEC) == 0);
	NEED(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x');
	NEED(fstat(ends[0], &st) == 0 && S_ISFIFO(st.st_mode));
	return NULL;
}
BOTH(plain_needs_are_met)

/* The host's own: an arena, a message over the socket it got. */
static const char *host_needs_are_met(struct sandbox *box)
{
	struct json_arena *arena = NULL;
	struct error err;
	int pair[2];
	char byte = 0;
	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	NEED(json_arena_new(JSON_ARENA_DEFAULT, &arena, &err) == 0);
	ENTER_AND_TIGHTEN(box);
	for (int i = 0; i < 3; i++) {
		NEED(json_arena_alloc(arena, 64 << 20));
		json_arena_rewind(arena, 0);
	}
	NEED(send(pair[0], "x", 1, MSG_NOSIGNAL) == 1);
	NEED(recv(pair[1], &byte, 1, 0) == 1 && byte == 'x');
	return NULL;
}

static void test_host_needs_are_met(void **state)
{
	struct sandbox box = {.plugin_path = "/proc/self/exe"};
	(void)state;
	does_with(host_needs_are_met, &box);
}

static const char *loads_libraries(struct sandbox *box)
{
	/* one that even a sanitizer has not brought */
	NEED(!dlopen("libresolv.so.2", RTLD_NOW | RTLD_NOLOAD));
	ENTER(box);
	return dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL) ? NULL : dlerror();
}

static void test_libraries_load(void **state)
{
	(void)state;
	does(loads_libraries);
}

/* A pinned plugin is loaded from sealed memory. */
static const char *loads_from_memory(struct sandbox *box)
{
	char path[32], data[65536];
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	_cleanup_close_ int from = open(box->plugin_path, O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0 && from >= 0);
	for (ssize_t n; (n = read(from, data, sizeof(data))) > 0;)
		NEED(write(fd, data, (size_t)n) == n);
	NEED(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
	ENTER(box);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) ? NULL : dlerror();
}

static void test_plugin_loads_from_its_file_and_from_memory(void **state)
{
	char path[4096];
	struct sandbox box = {.plugin_path = path};
	(void)state;
	snprintf(path, sizeof(path), "%s/lib/pawl/plugins/hosts.so",
		 getenv("abs_top_builddir") ? getenv("abs_top_builddir") : ".");
	if (access(path, R_OK) != 0)
		return; /* run by hand, from elsewhere */
	does_with(loads_from_memory, &box);
}

static const char *limits_hold(struct sandbox *box)
{
	struct rlimit limit;
	ENTER_AND_TIGHTEN(box);
	NEED(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0);
	NEED(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max <= SANDBOX_FILES);
	NEED(getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_max <= SANDBOX_CPU_S);
#ifndef PAWL_SANITIZED
	char *volatile much = malloc(SANDBOX_HEAP_BYTES);
	NEED(!much);
#endif
	NEED_REFUSED(memfd_create("more", 0), EPERM);
	NEED(getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_max == 0);
	limit = (struct rlimit){SANDBOX_FILES * 2, SANDBOX_FILES * 2};
	NEED_REFUSED(setrlimit(RLIMIT_NOFILE, &limit), EPERM);
	return NULL;
}

static void test_limits_hold(void **state)
{
	(void)state;
	does(limits_hold);
}

/* ---- threads from before ------------------------------------------------------------------- */

static int wake[2], report[2];

static void *waits_and_opens(void *data)
{
	char byte;
	(void)data;
	if (read(wake[0], &byte, 1) == 1)
		byte = opens("/dev/null", O_RDONLY) == 0 ? 'o' : 'r';
	return write(report[1], &byte, 1) == 1 ? NULL : data;
}

static const char *thread_is_tightened_too(struct sandbox *box)
{
	static struct error err;
	pthread_t id;
	char byte = 0;
	NEED(pipe2(wake, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0);
	ENTER(box);
	NEED(pthread_create(&id, NULL, waits_and_opens, NULL) == 0);
	NEED(sandbox_tighten(box, &err) == 0);
	NEED(write(wake[1], "x", 1) == 1 && read(report[0], &byte, 1) == 1);
	NEED(byte == 'r');
	return NULL;
}

static void test_threads_are_tightened_too(void **state)
{
	struct sandbox box = {.plugin_path = "/proc/self/exe"};
	(void)state;
	does_with(thread_is_tightened_too, &box);
}

/* ---- kernels that lack something ---------------------------------------------------------- */

/* As if this kernel did not have the call. */
static const char *forget_call(unsigned number, unsigned code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	NEED(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
	return NULL;
}

static const char *refuses(struct sandbox *box, const char *word)
{
	static struct error err;
	NEED(sandbox_enter(box, &err) == -ENOTSUP);
	if (!strstr(err.text, word) || !strstr(err.text, "\"sandbox\": \"best-effort\""))
		return err.text;
	NEED(!box->weak);
	return NULL;
}

static const char *goes_on(struct sandbox *box, const char *word)
{
	ENTER_AND_TIGHTEN(box);
	NEED(box->weak);
	const char *at = strstr(box->weak_why, word);
	/* once, and whole */
	if (!at || strstr(at + 1, word) || strlen(box->weak_why) >= SANDBOX_WHY_MAX - 1)
		return box->weak_why;
	return NULL;
}

#define WITHOUT(name, number, code, word)                                                          \
	static const char *name(struct sandbox *box)                                               \
	{                                                                                          \
		const char *wrong = forget_call(number, code);                                     \
		if (wrong)                                                                         \
			return wrong;                                                              \
		return box->best_effort ? goes_on(box, word) : refuses(box, word);                 \
	}
WITHOUT(no_landlock, __NR_landlock_create_ruleset, ENOSYS, "has no Landlock")
WITHOUT(landlock_off, __NR_landlock_create_ruleset, EOPNOTSUPP, "Landlock is switched off")
WITHOUT(no_seccomp, __NR_seccomp, ENOSYS, "has no seccomp")

/* What Landlock refuses here, and older ones do not, the filter does alone. */
static const char *no_landlock_is_still_no_network(struct sandbox *box)
{
	const char *wrong = no_landlock(box);
	if (wrong)
		return wrong;
	NEED(opens(secret, O_RDONLY) == 0); /* as weak_why says */
	NEED_REFUSED(opens(secret, O_WRONLY), EPERM);
	wrong = no_socket_can_be_made(box);
	return wrong ? wrong : others_cannot_be_touched(box);
}

static const char *no_seccomp_is_still_no_file(struct sandbox *box)
{
	const char *wrong = no_seccomp(box);
	return wrong ? wrong : other_files_cannot_be_read(box);
}

static const char *neither_is_there(struct sandbox *box)
{
	NEED(!forget_call(__NR_landlock_create_ruleset, EOPNOTSUPP));
	NEED(!forget_call(__NR_seccomp, ENOSYS));
	const char *wrong = goes_on(box, "Landlock is switched off");
	NEED(strstr(box->weak_why, "; this kernel has no seccomp filters, so it can"));
	return wrong;
}

static void test_require_refuses_what_cannot_be_had(void **state)
{
	(void)state;
	does(no_landlock);
	does(landlock_off);
	does(no_seccomp);
}

static void test_best_effort_goes_on_and_says_so(void **state)
{
	struct sandbox box = usual();
	(void)state;
	box.best_effort = true;
	does_with(no_landlock_is_still_no_network, &box);
	does_with(landlock_off, &box);
	does_with(no_seccomp_is_still_no_file, &box);
	does_with(neither_is_there, &box);
}

static const char *best_effort_is_not_weak_here(struct sandbox *box)
{
	ENTER_AND_TIGHTEN(box);
	NEED(!box->weak && box->weak_why[0] == '\0');
	return other_files_cannot_be_read(box);
}

static void test_best_effort_takes_all_there_is(void **state)
{
	struct sandbox box = usual();
	(void)state;
	box.best_effort = true;
	does_with(best_effort_is_not_weak_here, &box);
}

/* ---- the files ---------------------------------------------------------------------------- */

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
}

static int set_up(void **state)
{
	char path[128];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(secret, sizeof(secret), "%s/secret", dir);
	snprintf(granted, sizeof(granted), "%s/granted", dir);
	put(secret);
	mkdir(granted, 0700);
	snprintf(path, sizeof(path), "%s/below", granted);
	mkdir(path, 0700);
	strcat(path, "/file");
	put(path);
	/* what the sandbox is to refuse works here */
	assert_int_equal(opens(secret, O_RDWR), 0);
	assert_int_equal(opens("/proc/self/environ", O_RDONLY), 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	struct sandbox_kernel kernel;
	sandbox_probe(&kernel);
	if (kernel.landlock_abi == 0 || !kernel.seccomp) {
		printf("1..0 # SKIP this kernel has no %s\n",
		       kernel.seccomp ? "Landlock" : "seccomp");
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_files_cannot_be_read),
		cmocka_unit_test(test_granted_files_can_be_read),
		cmocka_unit_test(test_nothing_can_be_written),
		cmocka_unit_test(test_open_descriptors_stay),
		cmocka_unit_test(test_without_paths_no_file_opens_after_open),
		cmocka_unit_test(test_path_that_is_not_there_is_no_error),
		cmocka_unit_test(test_single_file_is_granted),
		cmocka_unit_test(test_no_socket_can_be_made),
		cmocka_unit_test(test_network_is_there_when_granted),
		cmocka_unit_test(test_others_cannot_be_touched),
		cmocka_unit_test(test_no_process_can_be_made),
		cmocka_unit_test(test_leash_stays),
		cmocka_unit_test(test_reaching_into_others_kills),
		cmocka_unit_test(test_abort_is_still_an_abort),
		cmocka_unit_test(test_no_privilege_is_left),
		cmocka_unit_test(test_plain_needs_are_met),
		cmocka_unit_test(test_host_needs_are_met),
		cmocka_unit_test(test_libraries_load),
		cmocka_unit_test(test_plugin_loads_from_its_file_and_from_memory),
		cmocka_unit_test(test_limits_hold),
		cmocka_unit_test(test_threads_are_tightened_too),
		cmocka_unit_test(test_require_refuses_what_cannot_be_had),
		cmocka_unit_test(test_best_effort_goes_on_and_says_so),
		cmocka_unit_test(test_best_effort_takes_all_there_is),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
