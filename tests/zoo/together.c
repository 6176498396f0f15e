/* together.c - plugins that see who is in them at the same time, one for each of the classes
 * that a descriptor's threads can name. They do nothing wrong; they tell when the host does. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <pawl/plugin.h>

#define TEXT(literal) ((pawl_str){literal, sizeof(literal) - 1})
#define PATIENCE_S 60 /* for another to come in, on whatever machine this is */

struct self {
	const pawl_host *host;
	atomic_int inside;
	uint64_t calls; /* not atomic: the host has to see to that */
};

static atomic_int inside_all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const void *first; /* who waits for a second */
static int met;

static int32_t together_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct self *self = calloc(1, sizeof(*self));
	(void)options;
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	*ret = self;
	return 0;
}

static int32_t deny(const struct self *self, pawl_reply *reply, pawl_str why)
{
	self->host->reason(reply, TEXT("together"), why);
	return PAWL_DENY;
}

/* Others get every chance to come in. */
static void dawdle(void)
{
	for (int i = 0; i < 50; i++)
		sched_yield();
}

/* Whether a second call came in while the first was in, be it of the same instance or not. */
static int meet(const struct self *self, int other_instance)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&lock);
	if (first && (!other_instance || first != self)) {
		met = 1;
		pthread_cond_broadcast(&changed);
	} else {
		first = self;
	}
	while (!met)
		if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT)
			break;
	int yes = met;
	pthread_mutex_unlock(&lock);
	return yes;
}

static int32_t alone(struct self *self, atomic_int *inside, pawl_reply *reply)
{
	int32_t verdict = PAWL_ALLOW;
	if (atomic_fetch_add(inside, 1) != 0)
		verdict = deny(self, reply, TEXT("two were in at the same time"));
	uint64_t calls = self->calls;
	dawdle();
	self->calls = calls + 1;
	atomic_fetch_sub(inside, 1);
	return verdict;
}

/* All instances count in one place. */
__attribute__((unused)) static int32_t one_at_a_time(struct self *self, pawl_reply *reply)
{
	return alone(self, &inside_all, reply);
}

__attribute__((unused)) static int32_t one_an_instance(struct self *self, pawl_reply *reply)
{
	int32_t verdict = alone(self, &self->inside, reply);
	if (verdict == PAWL_ALLOW && !meet(self, 1))
		verdict = deny(self, reply, TEXT("the other instance never came in meanwhile"));
	return verdict;
}

__attribute__((unused)) static int32_t all_at_once(struct self *self, pawl_reply *reply)
{
	return meet(self, 0) ? PAWL_ALLOW :
			       deny(self, reply, TEXT("no second call came in meanwhile"));
}

static int32_t together_hook(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)call;
	return ZOO(self, reply);
}

/* SERIAL holds for all callbacks of the file. */
static int32_t together_decided(void *data, const pawl_call *call, pawl_str record)
{
	struct self *self = data;
	(void)call, (void)record;
	if (TOGETHER_THREADS != PAWL_THREADS_SERIAL)
		return 0;
	int others = atomic_fetch_add(&inside_all, 1);
	dawdle();
	atomic_fetch_sub(&inside_all, 1);
	self->calls++;
	return others == 0 ? 0 : PAWL_E_FAIL;
}

static const pawl_plugin together = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = TOGETHER_THREADS,
	.id = ZOO_ID,
	.version = "1.0",
	.summary = "sees who is in it at the same time",
	.open = together_open,
	.pre_tool_use = together_hook,
	.decided = together_decided,
};

PAWL_PLUGIN(ZOO_ID, "1.0", together)
