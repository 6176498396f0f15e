/* turns.c - see turns.h. */
#include <config.h>

#include "core/turns.h"

#include <errno.h>
#include <stdlib.h>

#include "base/io.h"

#define RELAXED memory_order_relaxed

int host_share(struct host *host, struct progress *progress, struct host **ret, struct error *err)
{
	/* read now, while nobody else is there: what goes wrong refuses the calls, as always */
	host_read_context(host, NULL);
	host_settle_trust(host);
	if (!host->turns)
		host->turns = calloc(1, sizeof(*host->turns));
	struct host *other = malloc(sizeof(*other));
	if (!host->turns || !other) {
		free(other);
		return error_set(err, ENOMEM, "out of memory");
	}
	*other = *host;
	other->progress = progress ? progress : &other->own_progress;
	other->queue = NULL; /* a connection is one thread's */
	other->not_halted.until_ns = 0;
	*ret = other;
	return 0;
}

static pthread_mutex_t *turn_of(struct slot *slot)
{
	if (slot->entry->isolated)
		return &slot->turn;
	struct plugin *plugin = slot->plugin;
	switch (plugin->file->desc.threads) {
	case PAWL_THREADS_PARALLEL:
		return NULL;
	case PAWL_THREADS_INSTANCE:
		return &plugin->turn;
	default:
		return plugin->file->turn;
	}
}

static void wait_for(struct host *host, pthread_mutex_t *turn, int64_t *now_ns)
{
	if (pthread_mutex_trylock(turn) == 0)
		return;
	int64_t start = io_monotonic_ns();
	int64_t deadline = atomic_load_explicit(&host->progress->deadline_ns, RELAXED);
	atomic_store_explicit(&host->progress->deadline_ns, 0, RELAXED);
	pthread_mutex_lock(turn);
	int64_t now = io_monotonic_ns();
	if (host->call_deadline_ns > 0)
		host->call_deadline_ns += now - start;
	if (deadline > 0)
		atomic_store_explicit(&host->progress->deadline_ns, deadline + now - start, RELAXED);
	if (now_ns)
		*now_ns = now;
}

pthread_mutex_t *turn_take(struct host *host, struct slot *slot, int64_t *now_ns)
{
	pthread_mutex_t *turn = host->turns ? turn_of(slot) : NULL;
	if (turn)
		wait_for(host, turn, now_ns);
	return turn;
}

bool turn_try(struct host *host, struct slot *slot, pthread_mutex_t **ret)
{
	*ret = host->turns ? turn_of(slot) : NULL;
	return !*ret || pthread_mutex_trylock(*ret) == 0;
}

pthread_mutex_t *turn_take_loading(struct host *host)
{
	if (!host->turns)
		return NULL;
	wait_for(host, &host->turns->loading, NULL);
	return &host->turns->loading;
}
