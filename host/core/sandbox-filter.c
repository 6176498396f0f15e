/* sandbox-filter.c - see sandbox-filter.h.
 *
 * Lists of what is allowed; what is on none is answered with EPERM, so that a call that is
 * newer than these lists is refused as well.  Only what reaches into another process or
 * into the kernel kills: no honest plugin asks for it, and EPERM would let a hostile one
 * go on looking.
 *
 * Each entry is a comparison and its answer side by side: no jump leaves its own lines, so
 * lists can be added to and strung together.  The kernel remembers which numbers are
 * always allowed, so their order and their length cost next to nothing at run time. */
#include <config.h>

#include "core/sandbox-filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifndef MACHINE

unsigned sandbox_filter(bool loading, bool files, bool net,
			struct sock_filter buf[SANDBOX_FILTER_MAX])
{
	(void)loading, (void)files, (void)net, (void)buf;
	return 0;
}

#else

/* ---- words -------------------------------------------------------------------------- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n) LOAD(args[n]) /* its low half: every argument looked at is an int */
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOWED RETURN(SECCOMP_RET_ALLOW)
#define REFUSED RETURN(SECCOMP_RET_ERRNO | EPERM)
#define KILLED RETURN(SECCOMP_RET_KILL_PROCESS)
/* Go over yes or no instructions. */
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define ANY_BIT(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))

#define ALLOW(call) EQUAL(__NR_##call, 0, 1), ALLOWED
#define KILL(call) EQUAL(__NR_##call, 0, 1), KILLED
#define ALLOW_IF(call, n, value)                                                                   \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), EQUAL(value, 0, 1), ALLOWED, REFUSED
#define ALLOW_IF_EITHER(call, n, value, other)                                                     \
	EQUAL(__NR_##call, 0, 5), LOAD_ARGUMENT(n), EQUAL(value, 1, 0), EQUAL(other, 0, 1),        \
		ALLOWED, REFUSED
#define ALLOW_WITH(call, n, bits)                                                                  \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), ANY_BIT(bits, 0, 1), ALLOWED, REFUSED
#define ALLOW_WITHOUT(call, n, bits)                                                               \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), ANY_BIT(bits, 1, 0), ALLOWED, REFUSED

#define X32_BIT 0x40000000u /* a second set of numbers, for 32-bit pointers */

/* ---- lists -------------------------------------------------------------------------- */

/* clang-format off */

static const struct sock_filter begin[] = {
	LOAD(arch), EQUAL(MACHINE, 1, 0), KILLED, LOAD(nr),
#ifdef __x86_64__
	ANY_BIT(X32_BIT, 0, 1), KILLED,
#endif
};

static const struct sock_filter killed[] = {
	/* other processes */
	KILL(ptrace), KILL(process_vm_readv), KILL(process_vm_writev), KILL(process_madvise),
	KILL(pidfd_getfd), KILL(kcmp), KILL(perf_event_open),
	/* the kernel */
	KILL(bpf), KILL(userfaultfd), KILL(init_module), KILL(finit_module), KILL(delete_module),
	KILL(kexec_load), KILL(reboot), KILL(swapon), KILL(swapoff),
#ifdef __NR_kexec_file_load
	KILL(kexec_file_load),
#endif
	/* keys, and what is mounted */
	KILL(add_key), KILL(request_key), KILL(keyctl), KILL(mount), KILL(umount2),
	KILL(pivot_root), KILL(move_mount), KILL(open_tree), KILL(fsopen), KILL(fsmount),
	KILL(fsconfig), KILL(fspick), KILL(mount_setattr),
};

static const struct sock_filter plain[] = {
	/* memory */
	ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(brk),
	ALLOW(msync), ALLOW(memfd_create), ALLOW(ftruncate), ALLOW(membarrier),
	/* threads, of this process only: they end with it. Without clone3, whose flags lie
	 * where a filter cannot look, libc uses clone. */
	ALLOW_WITH(clone, 0, CLONE_THREAD),
	EQUAL(__NR_clone3, 0, 1), RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	ALLOW(futex), ALLOW(futex_waitv), ALLOW(set_tid_address), ALLOW(set_robust_list),
	ALLOW(rseq), ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(sched_getparam),
	ALLOW(sched_getscheduler), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
	/* its own end, its own signals; never PR_SET_PDEATHSIG, a process group, a session */
	ALLOW(exit), ALLOW(exit_group), ALLOW(restart_syscall), ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask), ALLOW(rt_sigpending), ALLOW(rt_sigtimedwait), ALLOW(rt_sigsuspend),
	ALLOW(rt_sigreturn), ALLOW(sigaltstack),
	ALLOW_IF_EITHER(prctl, 0, PR_SET_NAME, PR_GET_NAME),
	/* what it is */
	ALLOW(getpid), ALLOW(gettid), ALLOW(getppid), ALLOW(getpgid), ALLOW(getsid), ALLOW(getuid),
	ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(getresuid), ALLOW(getresgid),
	ALLOW(getgroups), ALLOW(getcpu), ALLOW(getrandom), ALLOW(getrusage), ALLOW(getpriority),
	ALLOW(getrlimit), ALLOW(setrlimit), ALLOW_IF(prlimit64, 0, 0), ALLOW(umask), ALLOW(uname),
	ALLOW(sysinfo), ALLOW(capget),
	/* time */
	ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep),
	ALLOW(gettimeofday), ALLOW(times), ALLOW(getitimer), ALLOW(setitimer), ALLOW(timer_create),
	ALLOW(timer_settime), ALLOW(timer_gettime), ALLOW(timer_getoverrun), ALLOW(timer_delete),
	ALLOW(timerfd_create), ALLOW(timerfd_settime), ALLOW(timerfd_gettime),
	/* descriptors that are there. fstat() is newfstatat in libc: what a file is can be
	 * asked by its name too, what is in it cannot. */
	ALLOW(read), ALLOW(readv), ALLOW(pread64), ALLOW(preadv), ALLOW(preadv2), ALLOW(write),
	ALLOW(writev), ALLOW(pwrite64), ALLOW(pwritev), ALLOW(pwritev2), ALLOW(lseek), ALLOW(close),
	ALLOW(close_range), ALLOW(dup), ALLOW(dup3), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx),
	ALLOW(fsync), ALLOW(fdatasync), ALLOW(fadvise64), ALLOW(pipe2), ALLOW(eventfd2),
	ALLOW(ppoll), ALLOW(pselect6), ALLOW(epoll_create1), ALLOW(epoll_ctl), ALLOW(epoll_pwait),
	ALLOW(epoll_pwait2), ALLOW(sendto), ALLOW(sendmsg), ALLOW(sendmmsg), ALLOW(recvfrom),
	ALLOW(recvmsg), ALLOW(recvmmsg), ALLOW(shutdown), ALLOW(getsockopt), ALLOW(getsockname),
	ALLOW(getpeername),
	/* not where its signals go: F_SETOWN is a way to send one */
	EQUAL(__NR_fcntl, 0, 6), LOAD_ARGUMENT(1), EQUAL(F_SETOWN, 3, 0), EQUAL(F_SETOWN_EX, 2, 0),
	EQUAL(F_SETSIG, 1, 0), ALLOWED, REFUSED,
#ifdef __x86_64__ /* older names of the same */
	ALLOW(arch_prctl), ALLOW(time), ALLOW(alarm), ALLOW(pause), ALLOW(getpgrp), ALLOW(dup2),
	ALLOW(pipe), ALLOW(eventfd), ALLOW(poll), ALLOW(select), ALLOW(epoll_create),
	ALLOW(epoll_wait),
#endif
};

/* Looking at files, where Landlock lets it; never for writing, Landlock or not. openat2's
 * flags lie where a filter cannot look. */
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
static const struct sock_filter looking[] = {
	ALLOW_WITHOUT(openat, 2, WRITING), ALLOW(faccessat), ALLOW(faccessat2), ALLOW(readlinkat),
	ALLOW(getdents64), ALLOW(statfs), ALLOW(fstatfs), ALLOW(getcwd),
#ifdef __x86_64__
	ALLOW_WITHOUT(open, 1, WRITING), ALLOW(access), ALLOW(readlink), ALLOW(stat), ALLOW(lstat),
#endif
	EQUAL(__NR_openat2, 0, 1), RETURN(SECCOMP_RET_ERRNO | ENOSYS),
};

/* No Unix sockets: they lead to daemons, and no Landlock that is about keeps them off. */
static const struct sock_filter internet[] = {
	ALLOW_IF_EITHER(socket, 0, AF_INET, AF_INET6), ALLOW(connect), ALLOW(bind), ALLOW(listen),
	ALLOW(accept4), ALLOW(accept), ALLOW(setsockopt),
};

static const struct sock_filter tightening[] = {ALLOW(seccomp)};

static const struct sock_filter end[] = {REFUSED};
/* clang-format on */

/* ---- a filter ----------------------------------------------------------------------- */

struct filter {
	struct sock_filter *code;
	unsigned length;
};

static void add(struct filter *filter, const struct sock_filter *list, size_t size)
{
	memcpy(filter->code + filter->length, list, size);
	filter->length += (unsigned)(size / sizeof(*list));
}

_Static_assert(sizeof(begin) + sizeof(killed) + sizeof(plain) + sizeof(looking) + sizeof(internet) +
			       sizeof(tightening) + sizeof(end) + 16 * 8 <=
		       SANDBOX_FILTER_MAX * sizeof(struct sock_filter),
	       "SANDBOX_FILTER_MAX is too small");

unsigned sandbox_filter(bool loading, bool files, bool net,
			struct sock_filter buf[SANDBOX_FILTER_MAX])
{
	const unsigned me = (unsigned)getpid();
	/* abort() is a signal to oneself */
	const struct sock_filter own[] = {ALLOW_IF(kill, 0, me), ALLOW_IF(tgkill, 0, me)};
	struct filter filter = {.code = buf};
	add(&filter, begin, sizeof(begin));
	add(&filter, killed, sizeof(killed));
	add(&filter, plain, sizeof(plain));
	add(&filter, own, sizeof(own));
	if (loading || files)
		add(&filter, looking, sizeof(looking));
	if (net)
		add(&filter, internet, sizeof(internet));
	if (loading)
		add(&filter, tightening, sizeof(tightening));
	add(&filter, end, sizeof(end));
	return filter.length;
}

#endif
