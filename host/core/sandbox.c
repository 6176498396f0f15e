/* sandbox.c - see sandbox.h.
 *
 * Landlock says which files, seccomp which system calls.  What a Landlock of the first
 * version leaves open (truncating, TCP, devices, signals, abstract sockets: versions 3 to 6)
 * seccomp closes alike, so that any version will do; where there is more, it is used as well.
 *
 * There is no limit on processes: RLIMIT_NPROC counts all of a user's, so that any number
 * would be too small or no limit, and no process can be made here.  Threads can; heap and
 * address space bound them. */
#include <config.h>

#include "core/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/sandbox-filter.h"

/* ---- what cannot be had --------------------------------------------------------------- */

/* A part that this kernel does not have, what would mend that, and what is open without. */
struct lack {
	const char *part, *mend, *open;
};

#define FILES_OPEN "it can read what you can"
#define CALLS_OPEN "it can use the network and signal processes"
static const struct lack no_landlock = {"this kernel has no Landlock",
					"Linux 5.13 and later can have it", FILES_OPEN};
static const struct lack landlock_off = {"Landlock is switched off",
					 "the kernel's lsm= has to name it", FILES_OPEN};
static const struct lack no_seccomp = {"this kernel has no seccomp filters",
				       "it has to be built with them", CALLS_OPEN};
static const struct lack no_filter = {"no system-call filter is known for this machine",
				      "x86-64 and 64-bit ARM have one", CALLS_OPEN};

/* The end, or a remark. */
static int lacks(struct sandbox *box, const struct lack *lack, struct error *err)
{
	if (!box->best_effort)
		return error_set(err, ENOTSUP,
				 "sandbox: %s (%s); the plugin does not run without it, unless its "
				 "entry says \"sandbox\": \"best-effort\"",
				 lack->part, lack->mend);
	if (strstr(box->weak_why, lack->part)) /* said before */
		return 0;
	size_t len = strlen(box->weak_why);
	snprintf(box->weak_why + len, sizeof(box->weak_why) - len, "%s%s, so %s", len ? "; " : "",
		 lack->part, lack->open);
	box->weak = true;
	return 0;
}

/* What should never fail did. */
static int fail(const char *what, struct error *err)
{
	int code = errno;
	return error_set(err, code, "sandbox: %s: %s", what, strerror(code));
}

/* ---- privileges and limits ------------------------------------------------------------ */

/* A root that has no capabilities is a user whose number is 0. */
static int drop_capabilities(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	if (syscall(__NR_capset, &header, none) != 0)
		return fail("capabilities cannot be dropped", err);
	return 0;
}

static int set_limits(struct error *err)
{
	static const struct {
		int resource;
		rlim_t most;
	} limits[] = {
		{RLIMIT_CORE, 0},
		{RLIMIT_CPU, SANDBOX_CPU_S},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_MSGQUEUE, 0},
		{RLIMIT_NOFILE, SANDBOX_FILES},
#if !defined(PAWL_SANITIZED) && !defined(__SANITIZE_THREAD__) /* they reserve terabytes */
		{RLIMIT_AS, SANDBOX_ADDRESS_BYTES},
		{RLIMIT_DATA, SANDBOX_HEAP_BYTES},
#endif
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit limit = {limits[i].most, limits[i].most};
		/* EPERM: there was a lower one, and capabilities are gone */
		if (setrlimit((__rlimit_resource_t)limits[i].resource, &limit) != 0 &&
		    errno != EPERM)
			return fail("a limit cannot be set", err);
	}
	return 0;
}

/* ---- Landlock ---------------------------------------------------------------------------- */

/* What the header of a kernel as old as 6.1 does not know. */
#define FS_ABI_1 ((UINT64_C(1) << 13) - 1) /* EXECUTE to MAKE_SYM */
#define FS_REFER (UINT64_C(1) << 13)       /* from ABI 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14)    /* from ABI 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15)   /* from ABI 5 */
#define NET_BIND_AND_CONNECT_TCP UINT64_C(3)
#define SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS UINT64_C(3)

/* As of ABI 6; an older kernel takes the longer struct while what it does not know is 0. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static int landlock_abi(void)
{
	return (int)syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Everything there is to be forbidden. */
static int ruleset_open(int abi, bool net)
{
	struct ruleset all = {.fs = FS_ABI_1};
	if (abi >= 2)
		all.fs |= FS_REFER;
	if (abi >= 3)
		all.fs |= FS_TRUNCATE;
	if (abi >= 4 && !net)
		all.net = NET_BIND_AND_CONNECT_TCP;
	if (abi >= 5)
		all.fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		all.scoped = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS;
	return (int)syscall(__NR_landlock_create_ruleset, &all, sizeof(all), 0);
}

/* Lets what lies at path be read; nothing there is no error. No right to execute is ever
 * given: a library is mapped, which needs none. */
static int grant(int ruleset, const char *path, struct error *err)
{
	struct stat st;
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st) != 0)
		return fail(path, err);
	struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
						  .parent_fd = fd};
	if (S_ISDIR(st.st_mode))
		rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		return fail(path, err);
	return 0;
}

static int grant_all(int ruleset, const char *const *paths, struct error *err)
{
	int r = 0;
	for (; r == 0 && *paths; paths++)
		r = grant(ruleset, *paths, err);
	return r;
}

/* What any library may need to work, and nothing that says anything about anybody. */
static const char *const system_paths[] = {
	"/lib",
	"/lib64",
	"/usr/lib",
	"/usr/lib64",
	"/usr/local/lib",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/usr/share/zoneinfo",
	"/dev/null",
	"/dev/urandom",
	NULL,
};

/* The same for whoever speaks to the internet. */
static const char *const net_paths[] = {
	"/etc/gai.conf",
	"/etc/host.conf",
	"/etc/hosts",
	"/etc/nsswitch.conf",
	"/etc/pki/tls/certs",
	"/etc/protocols",
	"/etc/resolv.conf",
	"/etc/services",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/usr/share/ca-certificates",
	NULL,
};

static int grant_entry(int ruleset, const struct sandbox *box, struct error *err)
{
	int r = grant_all(ruleset, system_paths, err);
	if (r == 0 && box->net)
		r = grant_all(ruleset, net_paths, err);
	if (r == 0)
		r = grant(ruleset, box->plugin_path, err);
	for (size_t i = 0; r == 0 && i < box->n_paths; i++)
		r = grant(ruleset, box->paths[i].ptr, err);
	return r;
}

static int fence_files(struct sandbox *box, struct error *err)
{
	int abi = landlock_abi();
	if (abi < 1)
		return lacks(box, errno == EOPNOTSUPP ? &landlock_off : &no_landlock, err);
	_cleanup_close_ int ruleset = ruleset_open(abi, box->net);
	if (ruleset < 0)
		return fail("Landlock", err);
	int r = grant_entry(ruleset, box, err);
	if (r < 0)
		return r;
	if (syscall(__NR_landlock_restrict_self, ruleset, 0) != 0)
		return fail("Landlock", err);
	return 0;
}

/* ---- seccomp -------------------------------------------------------------------------- */

static bool has_seccomp(void)
{
	const uint32_t kill = SECCOMP_RET_KILL_PROCESS;
	return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) == 0;
}

static int fence_calls(struct sandbox *box, bool loading, struct error *err)
{
	struct sock_filter code[SANDBOX_FILTER_MAX];
	bool files = box->net || box->n_paths > 0;
	unsigned length = sandbox_filter(loading, files, box->net, code);
	if (length == 0 || !has_seccomp())
		return lacks(box, length == 0 ? &no_filter : &no_seccomp, err);
	const struct sock_fprog filter = {.len = (unsigned short)length, .filter = code};
	/* for all threads: a constructor may have left some; a thread that cannot be had is > 0 */
	long r = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
	if (r < 0)
		return fail("seccomp", err);
	if (r > 0)
		return error_set(err, EBUSY, "sandbox: thread %ld has a seccomp filter of its own",
				 r);
	return 0;
}

/* ---- the sandbox ---------------------------------------------------------------------- */

int sandbox_enter(struct sandbox *box, struct error *err)
{
	box->weak = false;
	box->weak_why[0] = '\0';
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return fail("no_new_privs", err);
	int r = drop_capabilities(err);
	if (r == 0)
		r = set_limits(err);
	if (r == 0)
		r = fence_files(box, err);
	if (r == 0)
		r = fence_calls(box, true, err);
	return r;
}

int sandbox_tighten(struct sandbox *box, struct error *err)
{
	return fence_calls(box, false, err);
}

void sandbox_probe(struct sandbox_kernel *ret)
{
	struct sock_filter code[SANDBOX_FILTER_MAX];
	int abi = landlock_abi();
	*ret = (struct sandbox_kernel){
		.landlock_abi = abi > 0 ? abi : 0,
		.seccomp = has_seccomp() && sandbox_filter(true, true, true, code) > 0,
	};
}
