/* trace.c - see trace.h. */
#include <config.h>

#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in <linux/ptrace.h>, which does not go together with <sys/ptrace.h>. */
#define GET_SYSCALL_INFO 0x420e
#define SYSCALL_ENTRY 1
#define SYSCALL_EXIT 2

struct syscall_info {
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t instruction_pointer, stack_pointer;
	uint64_t number, args[6]; /* of an entry */
};

#define TRACEES_MAX 64

struct tracee {
	pid_t pid;
	int process;
	long calls;
	bool in_main;
	bool failing; /* the call it is in is to fail */
};

struct trace {
	struct tracee tracees[TRACEES_MAX];
	int n, started;
	struct fault *fault;
	pid_t front;
	int status;
};

int trace_me(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0 ? 0 : -errno;
}

/* The call that was about to be made is made no more. */
static void skip_call(pid_t pid)
{
#if defined(__x86_64__)
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
#elif defined(__aarch64__)
	int none = -1;
	struct iovec v = {&none, sizeof(none)};
	ptrace(PTRACE_SETREGSET, pid, 0x404 /* NT_ARM_SYSTEM_CALL */, &v);
#else
	(void)pid;
#endif
}

static void set_result(pid_t pid, long result)
{
#if defined(__x86_64__)
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), result);
#elif defined(__aarch64__)
	struct user_regs_struct regs;
	struct iovec v = {&regs, sizeof(regs)};
	ptrace(PTRACE_GETREGSET, pid, 1 /* NT_PRSTATUS */, &v);
	regs.regs[0] = (unsigned long)result;
	ptrace(PTRACE_SETREGSET, pid, 1, &v);
#else
	(void)pid, (void)result;
#endif
}

/* The front's first act in main is to catch signals; what the C library does before is not
 * ours. Nor is writing the answer, which may be all that is left to be done. */
static bool counts(struct tracee *t, const struct syscall_info *info, bool all)
{
	if (t->process != 0 || all)
		return true;
	t->in_main |= info->number == SYS_rt_sigaction || info->number == SYS_rt_sigprocmask;
	return t->in_main && !(info->number == SYS_write &&
			       (info->args[0] == STDOUT_FILENO || info->args[0] == STDERR_FILENO));
}

static void at_call(struct trace *trace, struct tracee *t)
{
	struct syscall_info info = {0};
	struct fault *fault = trace->fault;
	if (ptrace(GET_SYSCALL_INFO, t->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == SYSCALL_EXIT && t->failing) {
		set_result(t->pid, -fault->error);
		t->failing = false;
	}
	if (info.op != SYSCALL_ENTRY || !counts(t, &info, fault->all) || ++t->calls != fault->call)
		return;
	fault->hit = true;
	fault->number = (long)info.number;
	if (fault->error == 0) {
		kill(t->pid, SIGKILL);
		return;
	}
	skip_call(t->pid);
	t->failing = true;
}

static struct tracee *find(struct trace *trace, pid_t pid)
{
	for (int i = 0; i < trace->n; i++)
		if (trace->tracees[i].pid == pid)
			return &trace->tracees[i];
	return NULL;
}

static struct tracee *begin(struct trace *trace, pid_t pid)
{
	if (trace->n == TRACEES_MAX)
		return NULL;
	struct tracee *t = &trace->tracees[trace->n++];
	*t = (struct tracee){.pid = pid, .process = trace->started++};
	if (pid == trace->front)
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
		       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	return t;
}

/* Only the process that is to fail is stopped at its calls: the rest runs as it would. */
static void go_on(struct trace *trace, const struct tracee *t, int signal)
{
	const struct fault *fault = trace->fault;
	bool watch = fault && t->process == fault->process && (!fault->hit || t->failing);
	ptrace(watch ? PTRACE_SYSCALL : PTRACE_CONT, t->pid, NULL, (long)signal);
}

static void stopped(struct trace *trace, pid_t pid, int status)
{
	struct tracee *t = find(trace, pid);
	int signal = WSTOPSIG(status);
	if (!t) {
		t = begin(trace, pid);
		signal = 0;
	} else if (signal == (SIGTRAP | 0x80)) {
		at_call(trace, t);
		signal = 0;
	} else if (status >> 16 != 0) {
		signal = 0; /* it forked or became another program */
	}
	if (t)
		go_on(trace, t, signal);
	else
		kill(pid, SIGKILL);
}

static void ended(struct trace *trace, pid_t pid, int status)
{
	struct tracee *t = find(trace, pid);
	if (pid == trace->front)
		trace->status = status;
	if (t)
		*t = trace->tracees[--trace->n];
}

static void kill_all(struct trace *trace)
{
	for (int i = 0; i < trace->n; i++)
		kill(trace->tracees[i].pid, SIGKILL);
}

int trace_run(pid_t child, struct fault *fault, int *ret_status)
{
	struct trace trace = {.fault = fault, .front = child};
	bool late = false;
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR) {
			late = true;
			kill_all(&trace);
		} else if (pid < 0) {
			break;
		} else if (WIFSTOPPED(status)) {
			stopped(&trace, pid, status);
		} else {
			ended(&trace, pid, status);
		}
	}
	*ret_status = trace.status;
	return late ? -ETIME : 0;
}

const char *trace_unavailable(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return "no way to make a system call fail is known for this machine";
#endif
	int status = 0;
	struct syscall_info info;
	pid_t pid = fork();
	if (pid == 0)
		_exit(trace_me() == 0 ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, __WALL) < 0)
		return "fork failed";
	if (!WIFSTOPPED(status))
		return "ptrace is not allowed here";
	errno = 0;
	long r = ptrace(GET_SYSCALL_INFO, pid, sizeof(info), &info);
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
	return r > 0 ? NULL : "the kernel does not tell which system call it is";
}
