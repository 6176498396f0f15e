/* lane.h - what a front and its worker share: one piece of memory and one socket.
 *
 * Layer: fronts; libc only, both sides include it.
 *
 * The memory (a memfd) holds the worker's progress, the input the front reads from the
 * client, and the output the worker wrote. The socket (SOCK_SEQPACKET, so that a message
 * is whole or not there) carries one request at a time from the front, and answers:
 *
 *	front				worker
 *	REQUEST(where the event is) ->
 *				     <-	KIND(what a refusal of it looks like)
 *	(plugins are loaded only now)
 *				     <-	ANSWER(exit, where the text is)
 *	(printed at once)
 *				     <-	DONE(observers have been told)
 *
 * Each message names the request it belongs to by a number that the front drew at random,
 * so that what a plugin writes to a descriptor it found is not taken for one.
 */
#ifndef PAWL_FRONTS_LANE_H
#define PAWL_FRONTS_LANE_H

#include <stddef.h>
#include <stdint.h>

#include "core/progress.h"
#include "dialects/forms.h"
#include "fronts/loss.h"

#define LANE_SOCKET 3 /* descriptors the worker starts with */
#define LANE_MEMORY 4

#define LANE_IN_MAX (((size_t)64 << 20) + 4096) /* JSON_BYTES_MAX and white space around */
#define LANE_OUT_MAX ((size_t)160 << 20)
#define LANE_IN ((size_t)128 << 10)
#define LANE_OUT (LANE_IN + LANE_IN_MAX)
#define LANE_SIZE (LANE_OUT + LANE_OUT_MAX)

struct lane {
	struct progress progress; /* of the first job: the only one but for eval --jobs */
	struct progress more[PROGRESS_JOBS_MAX - 1];
	int32_t front; /* its process: the worker's parent may be the guard between them */
	/* and, at LANE_IN and LANE_OUT, the bytes */
};
_Static_assert(sizeof(struct lane) <= LANE_IN, "the input lies behind it");

static inline struct progress *lane_progress(struct lane *lane, unsigned job)
{
	return job == 0 ? &lane->progress : &lane->more[job - 1];
}

enum lane_type {
	LANE_JUDGE = 1, /* front: one event; answer, then observe */
	LANE_LINES,	/* front: a block of events, one a line */
	LANE_RECORD,	/* front: one event that was refused when a worker was lost: tell the observers */
	LANE_KIND,	/* worker */
	LANE_ANSWER,
	LANE_NOTE,	/* a line for stderr */
	LANE_HELD,	/* worker: a call waits, and somebody is to be told */
	LANE_DONE,
};

#define LANE_TEXT_MAX 2048
#define LANE_DEADLINE_NS INT64_C(2000000000) /* of a call while no config is read */

struct lane_message {
	uint64_t nonce;
	uint32_t type;
	/* requests */
	uint32_t has_loss; /* LINES: the first line's; RECORD: the event's */
	uint64_t offset, len; /* of the input below LANE_IN */
	uint32_t ended;	      /* LINES: nothing comes behind the block */
	uint32_t jobs;	      /* LINES: threads that judge it */
	int64_t started_ns;   /* CLOCK_MONOTONIC: when the event was complete */
	struct loss loss;
	/* KIND */
	uint32_t kind;	  /* enum event_kind */
	char agent[16];	  /* whose event it is, should that be another's; "": the front's */
	char event[64];	  /* the form's name */
	char id[FORM_ID_MAX]; /* tool_use_id as JSON */
	char refusal[LANE_TEXT_MAX]; /* the config's template, {reason} still open */
	int64_t deadline_ns, tick_ns; /* of the call; how often entries' own must be looked at */
	/* ANSWER and DONE */
	uint32_t exit;
	uint32_t final; /* no DONE follows */
	uint64_t out_len, err_len; /* at LANE_OUT, err behind out */
	uint64_t taken;		   /* LINES: bytes of input answered */
	uint32_t notices;	   /* LINES: as LANE_HELD says */
	uint32_t incomplete;	   /* LINES: what is left is a batch that goes on behind the block */
	uint32_t unreadable;	   /* LINES: answered lines that were no event */
};

#endif
