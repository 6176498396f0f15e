/* run.h - a command run to its end with a text on stdin, one system call of it failing. */
#ifndef PAWL_TESTS_RUN_H
#define PAWL_TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "trace.h"

#define RUN_TEXT_MAX 65536

struct outcome {
	int status; /* 128 + the signal's number when one ended it */
	bool late;  /* it hung, and was killed */
	char out[RUN_TEXT_MAX], err[RUN_TEXT_MAX];
};

/* Once, before the first run. */
void run_prepare(void);

/* With untraced nothing fails and ptrace is not used; fault may be NULL. Waits for what the
 * command leaves behind, too. */
void run(char *const command[], const char *input, size_t len, struct fault *fault, bool traced,
	 struct outcome *outcome);

/* 0, or -1 when no fault is called that; *ret_error is what struct fault takes. */
int run_fault(const char *name, int *ret_error);

/* Removes what is in the folder. */
void run_empty(const char *folder);

#endif
