/* turns.h - several threads judge with the same plugins: who calls which, and when.
 *
 * Layer: core, between ask.c, observe.c, host.c and the plugins. Where one thread judges,
 * host->turns is NULL and none of this locks anything.
 *
 * Whoever waits for a turn has its clocks stopped meanwhile, the call's and the entry's: what
 * holds the plugin has a deadline of its own, and an answer must not hang on how many judge.
 */
#ifndef PAWL_CORE_TURNS_H
#define PAWL_CORE_TURNS_H

#include <pthread.h>

#include "core/host.h"

struct turns {
	pthread_mutex_t loading; /* one plugin at a time */
	_Atomic uint64_t halts;	 /* sessions halted by us so far */
};

/* Until the slot's plugin may be called: its threads says what that waits for, and a process of
 * its own is asked one thing at a time. *now_ns moves on by the wait. For turn_give; NULL where
 * nothing is to be given back. */
pthread_mutex_t *turn_take(struct host *host, struct slot *slot, int64_t *now_ns);

/* The same without waiting: false when somebody else has it. */
bool turn_try(struct host *host, struct slot *slot, pthread_mutex_t **ret);

/* Until no other plugin is being loaded. */
pthread_mutex_t *turn_take_loading(struct host *host);

static inline void turn_give(pthread_mutex_t *turn)
{
	if (turn)
		pthread_mutex_unlock(turn);
}

#endif
