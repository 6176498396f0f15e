/* progress.h - what a worker is doing right now, written where its front can read it
 * after the worker is gone.
 *
 * Layer: core; libc only. The front maps the same page.
 */
#ifndef PAWL_CORE_PROGRESS_H
#define PAWL_CORE_PROGRESS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

enum progress_phase {
	PROGRESS_START,	  /* reading the config, waiting for the event */
	PROGRESS_DECODE,  /* reading the event */
	PROGRESS_LOAD,	  /* a plugin's constructors or its open run */
	PROGRESS_ASK,	  /* a plugin's hook runs */
	PROGRESS_ANSWER,  /* our own code again */
	PROGRESS_OBSERVE, /* the answer has left */
};

#define PROGRESS_HALT 1u   /* the entry's on_error is halt */
#define PROGRESS_SHADOW 2u /* the entry is in shadow mode */

/* Threads that judge at the same time (eval --jobs), each with a struct progress. */
#define PROGRESS_JOBS_MAX 16

#define PROGRESS_ALL UINT32_MAX

struct progress {
	_Atomic uint32_t phase;
	_Atomic uint32_t entry; /* 1 + the index in chain, 0 none */
	_Atomic uint32_t flags;
	_Atomic int64_t deadline_ns; /* CLOCK_MONOTONIC, of what runs now; 0 none */
	_Atomic int64_t call_deadline_ns; /* of the whole call; 0 none */
	_Atomic uint64_t taken;	 /* eval: bytes of the block whose lines are answered */
	_Atomic uint64_t given;	 /* eval: bytes of answers that are complete */
	_Atomic uint64_t begun;	 /* eval, several jobs: where the last line begun so far ends */
	_Atomic uint32_t line;	 /* eval: of a batch, which line is judged, or PROGRESS_ALL */
	char plugin[64];	/* the entry's name */
	char latch[PATH_MAX];	/* the file that halts the session, "" when none may */
};

#endif
