/* trace.h - one system call of one process of a hook run made to fail, or the process killed
 * there.
 *
 * ptrace rather than strace's inject=: that counts each kind of call by itself and in every
 * process, so that one number makes several calls fail; and this needs nothing installed.
 */
#ifndef PAWL_TESTS_TRACE_H
#define PAWL_TESTS_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

struct fault {
	int process; /* in order of appearance: 0 the front, 1 its worker */
	long call;   /* 1: its first system call (the front's: of main) */
	int error;   /* errno; 0: SIGKILL instead */
	bool all;    /* of the front too every call counts: for commands that are none */
	bool hit;    /* there was such a call */
	long number; /* which system call it was */
};

/* In the child, before exec: 0 or -errno. */
int trace_me(void);

/* Runs the child and what it starts to their ends; *ret_status is the child's. -ETIME when
 * SIGALRM came first: everything has been killed then. fault may be NULL. */
int trace_run(pid_t child, struct fault *fault, int *ret_status);

/* Whether this can be had here at all; if not, why. */
const char *trace_unavailable(void);

#endif
