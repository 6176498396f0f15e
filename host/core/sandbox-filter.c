/* sandbox-filter.c - see sandbox-filter.h.
 *
 * Lists of what is allowed; what is on none is answered with EPERM, so that a call that is
 * newer than these lists is refused as well.  Only what reaches into another process or
 * into the kernel kills: no honest plugin asks for it, and EPERM would let a hostile one
 * go on looking.
 *
 * No jump leaves the lines of its own entry, so that lists can be added to and strung
 * together.  When a filter is put in place the kernel tries every number there is on it, to
 * know which it need not ask about again; with the lists in a row that was half of the
 * cost, so they are sorted and cut into blocks. */
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
#define ABOVE(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (value), (yes), (no))
#define ANY_BIT(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))

#define ALLOW_IF(call, n, value)                                                                   \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), EQUAL(value, 0, 1), ALLOWED, REFUSED
#define ALLOW_IF_EITHER(call, n, value, other)                                                     \
	EQUAL(__NR_##call, 0, 5), LOAD_ARGUMENT(n), EQUAL(value, 1, 0), EQUAL(other, 0, 1),        \
		ALLOWED, REFUSED
#define ALLOW_WITH(call, n, bits)                                                                  \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), ANY_BIT(bits, 0, 1), ALLOWED, REFUSED
#define ALLOW_WITHOUT(call, n, bits)                                                               \
	EQUAL(__NR_##call, 0, 4), LOAD_ARGUMENT(n), ANY_BIT(bits, 1, 0), ALLOWED, REFUSED

/* A call that is always answered alike. */
struct answer {
	unsigned call;
	unsigned action;
};
/* clang-format off */
#define ALLOW(name) {__NR_##name, SECCOMP_RET_ALLOW}
#define KILL(name) {__NR_##name, SECCOMP_RET_KILL_PROCESS}
/* libc knows what to do without it. */
#define MISSING(name) {__NR_##name, SECCOMP_RET_ERRNO | ENOSYS}

#define X32_BIT 0x40000000u /* a second set of numbers, for 32-bit pointers */

/* ---- lists -------------------------------------------------------------------------- */

static const struct sock_filter begin[] = {
	LOAD(arch), EQUAL(MACHINE, 1, 0), KILLED, LOAD(nr),
#ifdef __x86_64__
	ANY_BIT(X32_BIT, 0, 1), KILLED,
#endif
};

static const struct answer killed[] = {
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

static const struct answer plain[] = {
	/* memory; no memfd, whose pages are nobody's when memory runs out */
	ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(brk),
	ALLOW(msync), ALLOW(membarrier),
	/* threads; without clone3, whose flags lie where a filter cannot look, clone makes them */
	MISSING(clone3), ALLOW(futex), ALLOW(futex_waitv), ALLOW(set_tid_address), ALLOW(set_robust_list),
	ALLOW(rseq), ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(sched_getparam),
	ALLOW(sched_getscheduler), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
	/* its own end, its own signals; never a process group or a session of its own */
	ALLOW(exit), ALLOW(exit_group), ALLOW(restart_syscall), ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask), ALLOW(rt_sigpending), ALLOW(rt_sigtimedwait), ALLOW(rt_sigsuspend),
	ALLOW(rt_sigreturn), ALLOW(sigaltstack),
	/* what it is */
	ALLOW(getpid), ALLOW(gettid), ALLOW(getppid), ALLOW(getpgid), ALLOW(getsid), ALLOW(getuid),
	ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(getresuid), ALLOW(getresgid),
	ALLOW(getgroups), ALLOW(getcpu), ALLOW(getrandom), ALLOW(getrusage), ALLOW(getpriority),
	ALLOW(getrlimit), ALLOW(setrlimit), ALLOW(umask), ALLOW(uname),
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
#ifdef __x86_64__ /* older names of the same */
	ALLOW(arch_prctl), ALLOW(time), ALLOW(alarm), ALLOW(pause), ALLOW(getpgrp), ALLOW(dup2),
	ALLOW(pipe), ALLOW(eventfd), ALLOW(poll), ALLOW(select), ALLOW(epoll_create),
	ALLOW(epoll_wait),
#endif
};

static const struct sock_filter by_argument[] = {
	/* threads of this process only: they end with it */
	ALLOW_WITH(clone, 0, CLONE_THREAD),
	/* never PR_SET_PDEATHSIG */
	ALLOW_IF_EITHER(prctl, 0, PR_SET_NAME, PR_GET_NAME),
	/* its own limits */
	ALLOW_IF(prlimit64, 0, 0),
	/* flags and locks; not where its signals go (F_SETOWN is a way to send one), no leases */
	EQUAL(__NR_fcntl, 0, 5), LOAD_ARGUMENT(1), ABOVE(F_SETLKW, 0, 1),
	EQUAL(F_DUPFD_CLOEXEC, 0, 1), ALLOWED, REFUSED,
};

/* Looking at files, where Landlock lets it; never for writing, Landlock or not. openat2's
 * flags lie where a filter cannot look. */
static const struct answer looking[] = {
	MISSING(openat2), ALLOW(faccessat), ALLOW(faccessat2), ALLOW(readlinkat),
	ALLOW(getdents64), ALLOW(statfs), ALLOW(fstatfs), ALLOW(getcwd),
#ifdef __x86_64__
	ALLOW(access), ALLOW(readlink), ALLOW(stat), ALLOW(lstat),
#endif
};

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
static const struct sock_filter looking_by_argument[] = {
	ALLOW_WITHOUT(openat, 2, WRITING),
#ifdef __x86_64__
	ALLOW_WITHOUT(open, 1, WRITING),
#endif
};

/* No Unix sockets: they lead to daemons, and no Landlock that is about keeps them off. */
static const struct answer internet[] = {
	ALLOW(connect), ALLOW(bind), ALLOW(listen), ALLOW(accept4), ALLOW(accept),
	ALLOW(setsockopt),
};

static const struct sock_filter internet_by_argument[] = {
	ALLOW_IF_EITHER(socket, 0, AF_INET, AF_INET6),
};

static const struct answer tightening[] = {ALLOW(seccomp)};

static const struct sock_filter end[] = {REFUSED};
/* clang-format on */

/* ---- a filter ----------------------------------------------------------------------- */

#define ANSWERS_MAX 256
#define BLOCK 16 /* answers; a jump over them has to fit into eight bits */

struct filter {
	struct sock_filter *code;
	unsigned length;
	struct answer answers[ANSWERS_MAX];
	unsigned n_answers;
};

_Static_assert(sizeof(killed) + sizeof(plain) + sizeof(looking) + sizeof(internet) +
			       sizeof(tightening) <=
		       ANSWERS_MAX * sizeof(struct answer),
	       "ANSWERS_MAX is too small");
_Static_assert(2 * ANSWERS_MAX + 2 * (ANSWERS_MAX / BLOCK + 1) + 80 <= SANDBOX_FILTER_MAX,
	       "SANDBOX_FILTER_MAX is too small");

static void add_code(struct filter *filter, const struct sock_filter *code, size_t size)
{
	memcpy(filter->code + filter->length, code, size);
	filter->length += (unsigned)(size / sizeof(*code));
}

/* Kept sorted by number; qsort would ask the system for its memory first. */
static void add_answers(struct filter *filter, const struct answer *answers, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*answers); i++) {
		unsigned at = filter->n_answers++;
		for (; at > 0 && filter->answers[at - 1].call > answers[i].call; at--)
			filter->answers[at] = filter->answers[at - 1];
		filter->answers[at] = answers[i];
	}
}

/* Each block begins with a jump over all of it for numbers that are past it. */
static void add_blocks(struct filter *filter)
{
	for (unsigned at = 0; at < filter->n_answers; at += BLOCK) {
		const struct answer *block = filter->answers + at;
		unsigned n = filter->n_answers - at < BLOCK ? filter->n_answers - at : BLOCK;
		const struct sock_filter over[] = {ABOVE(block[n - 1].call, 2 * n + 1, 0)};
		add_code(filter, over, sizeof(over));
		for (unsigned i = 0; i < n; i++) {
			const struct sock_filter answer[] = {EQUAL(block[i].call, 0, 1),
							     RETURN(block[i].action)};
			add_code(filter, answer, sizeof(answer));
		}
		add_code(filter, end, sizeof(end));
	}
	add_code(filter, end, sizeof(end));
}

#define ADD_CODE(filter, list) add_code(filter, list, sizeof(list))
#define ADD_ANSWERS(filter, list) add_answers(filter, list, sizeof(list))

unsigned sandbox_filter(bool loading, bool files, bool net,
			struct sock_filter buf[SANDBOX_FILTER_MAX])
{
	const unsigned me = (unsigned)getpid();
	/* abort() is a signal to oneself */
	const struct sock_filter own[] = {ALLOW_IF(kill, 0, me), ALLOW_IF(tgkill, 0, me)};
	struct filter filter = {.code = buf};
	ADD_CODE(&filter, begin);
	ADD_CODE(&filter, own);
	ADD_CODE(&filter, by_argument);
	ADD_ANSWERS(&filter, killed);
	ADD_ANSWERS(&filter, plain);
	if (loading || files) {
		ADD_CODE(&filter, looking_by_argument);
		ADD_ANSWERS(&filter, looking);
	}
	if (net) {
		ADD_CODE(&filter, internet_by_argument);
		ADD_ANSWERS(&filter, internet);
	}
	if (loading)
		ADD_ANSWERS(&filter, tightening);
	add_blocks(&filter);
	return filter.length;
}

#endif
