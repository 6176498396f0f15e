/* sandbox.h - the fence around a plugin that runs in a process of its own.
 *
 * Layer: core; base and the kernel.  Knows nothing of plugins but the file's path.
 *
 *	struct sandbox box = {.plugin_path = file, .paths = paths, .n_paths = n};
 *	if (sandbox_enter(&box, err) < 0)	refuse
 *	... dlopen, the entry, open() ...
 *	if (sandbox_tighten(&box, err) < 0)	refuse
 *	... hooks ...
 *
 * What is fenced off, and by what, is in pawl-security(7).  Every part is enforced by
 * Landlock from its first version on or by seccomp, so that a kernel has either all of it
 * or lacks one of the two.
 */
#ifndef PAWL_CORE_SANDBOX_H
#define PAWL_CORE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

#define SANDBOX_CPU_S 3600                      /* seconds; the deadlines are elsewhere */
#define SANDBOX_ADDRESS_BYTES ((size_t)4 << 30) /* 2.4 are reserved for an arena and the lane */
#define SANDBOX_HEAP_BYTES ((size_t)1 << 30)    /* heap and thread stacks */
#define SANDBOX_FILES 256                       /* open descriptors */
#define SANDBOX_WHY_MAX 160

struct sandbox {
	bool best_effort;        /* go on without what the kernel does not have */
	bool net;                /* internet sockets are granted */
	const char *plugin_path; /* absolute */
	const struct str *paths; /* absolute, NUL-terminated: may be read, with what is below */
	size_t n_paths;
	/* out: with best_effort, something was not to be had, and what that is */
	bool weak;
	char weak_why[SANDBOX_WHY_MAX];
};

/* Before dlopen, in a process with one thread and nothing of anybody's: no new privileges,
 * no capabilities, limits, files, then system calls.  From here on nothing can be executed,
 * no process made, no signal sent to another, nothing written below any folder.  0, or
 * -errno: something is not to be had (best_effort: only where even that failed halfway);
 * the process is then to end, as parts may be in force. */
int sandbox_enter(struct sandbox *box, struct error *err);

/* After open(), for all threads there are: what only loading needs goes, too. */
int sandbox_tighten(struct sandbox *box, struct error *err);

/* What this kernel has, for people. */
struct sandbox_kernel {
	int landlock_abi; /* 0: none */
	bool seccomp;
};
void sandbox_probe(struct sandbox_kernel *ret);

#endif
