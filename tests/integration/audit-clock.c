/* audit-clock.c - preloaded: the wall clock is CLOCK_DAYS days off. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);
	const char *days = getenv("CLOCK_DAYS");
	if (!real)
		*(void **)(void *)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(id, ret);
	if (id == CLOCK_REALTIME && days)
		ret->tv_sec += atol(days) * 86400;
	return r;
}
