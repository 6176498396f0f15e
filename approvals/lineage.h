/* lineage.h - which process is the agent, and who descends from it.
 *
 * Layer: approvals; libc and /proc.
 *
 * In a user install the agent and the person have the same uid. All that tells them apart is
 * that what the agent starts is below the agent's process. That is advice, not a wall: a
 * process can leave its parents.
 */
#ifndef PAWL_APPROVALS_LINEAGE_H
#define PAWL_APPROVALS_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, and when it started (clock ticks since boot), so that a number given away again
 * is not taken for it. */
struct process {
	int64_t pid, started; /* 0: unknown */
};

/* The agent's client: the parent of the process it started for us, or, where that is a
 * shell that was started for one command ("sh -c ..."), the shell's parent. */
struct process lineage_agent(pid_t ours);

/* Whether pid is, or descends from, the process. */
bool lineage_descends(pid_t pid, struct process from);

#endif
