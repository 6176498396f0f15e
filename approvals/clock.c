/* clock.c - see clock.h. */
#include <config.h>

#include "clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define MS INT64_C(1000000)

/* Without one every boot looks like another: then the wall clock decides, and one that is
 * set back ends the wait. */
static void read_boot(char boot[CLOCK_BOOT_MAX])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, CLOCK_BOOT_MAX - 1);
	boot[n == CLOCK_BOOT_MAX - 1 ? n : 0] = '\0';
}

void clock_now(struct moment *ret)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	ret->boot_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	ret->wall_ms = io_wall_ns() / MS;
	read_boot(ret->boot);
}

static bool same_boot(const struct moment *a, const struct moment *b)
{
	return a->boot[0] && strcmp(a->boot, b->boot) == 0;
}

bool clock_over(const struct moment *began, int64_t limit_ns, const struct moment *now,
		int64_t *left_ns)
{
	*left_ns = INT64_MAX;
	if (limit_ns == 0)
		return false;
	int64_t by_wall = limit_ns / MS - (now->wall_ms - began->wall_ms);
	int64_t by_boot = limit_ns - (now->boot_ns - began->boot_ns);
	bool boot = same_boot(began, now);
	bool doubt = boot ? now->boot_ns < began->boot_ns : now->wall_ms < began->wall_ms;
	*left_ns = by_wall < 0 ? 0 : by_wall > INT64_MAX / MS ? INT64_MAX : by_wall * MS;
	if (boot && by_boot < *left_ns)
		*left_ns = by_boot;
	if (doubt || *left_ns < 0)
		*left_ns = 0;
	return *left_ns == 0;
}
