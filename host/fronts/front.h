/* front.h - the side of the lane the client talks to: starts a worker, asks it, and turns
 * whatever becomes of it into an answer.
 *
 * Layer: fronts; libc only, no allocation, no plugin code. This is the process whose exit
 * status the client reads.
 */
#ifndef PAWL_FRONTS_FRONT_H
#define PAWL_FRONTS_FRONT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "fronts/lane.h"

/* How long observers may take once the answer is out, and how long a client may take to
 * deliver the rest of an event. */
#define FRONT_OBSERVE_NS INT64_C(5000000000)
#define FRONT_ARRIVE_NS INT64_C(2000000000)
#define FRONT_GRACE_MS 20		      /* what follows a complete value */

struct front {
	const char *agent, *event, *config; /* event and config may be NULL */
	const struct form_list *forms;
	struct lane *lane;
	char *in, *out;
	int memory;
	bool reaps; /* every child there is comes from a worker */
	bool used;  /* the lane is not as new any more */
	/* the worker */
	pid_t worker;
	pid_t guard;	    /* our child, its parent: see front.c */
	atomic_bool ended;  /* the guard has seen it end */
	int status;	    /* as wait has it, once it has ended */
	pid_t notifier; /* delivers notices, and outlives us; 0 none */
	int socket;
	uint64_t nonce;
	unsigned jobs;	 /* how many lines the worker judges at a time; 0 is 1 */
	int64_t tick_ns; /* how often the deadline of what runs is to be looked at; 0 not */
};

/* Set by SIGTERM, SIGINT, SIGHUP and what else would end the front. */
extern volatile sig_atomic_t front_stopped;

/* Descriptors 0-2 open, signals, the lane's memory. -errno. */
int front_init(struct front *front);

/* Starts a worker ("hook" or "eval"); fills loss when it cannot be. */
int front_start(struct front *front, const char *mode, struct loss *loss);

/* Sends a request; the nonce is put in. */
int front_send(struct front *front, struct lane_message *request, struct loss *loss);

/* Waits for the next message of this request until deadline_ns (CLOCK_MONOTONIC); tick_ns
 * > 0: looks at the entry's own deadline that often. 0 and *message, or -1 with the loss:
 * the worker is dead then. */
int front_receive(struct front *front, int64_t deadline_ns, int64_t tick_ns,
		  struct lane_message *message, struct loss *loss);

/* Kills the worker and what it started, in a session of its own or not, and waits for it. */
void front_end(struct front *front);

/* Starts what tells people that a call waits, unless one of ours still does: a process of its
 * own that nobody waits for. Nothing is lost when it cannot be started: the next one delivers. */
void front_notify(struct front *front);

/* Latches the session when the lost plugin's entry says halt. */
void front_halt(const struct front *front, const struct loss *loss);

/* Runs the other commands: the worker program with these arguments, the client's own
 * descriptors and environment. Returns its exit status. */
int front_tool(char *const argv[]);

#endif
