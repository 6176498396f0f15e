/* bench-sandbox.c - what the fence around a process costs: putting it up, and each system
 * call behind it. Time of the processor, a process each, medians and minima. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/sandbox.h"

enum { RUNS = 101, CALLS = 10000 };

struct figures {
	double enter_us, tighten_us, before_ns, after_ns;
};

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* One that both filters let pass, and that does next to nothing itself. */
static double call_ns(void)
{
	double start = now_us();
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (now_us() - start) * 1e3 / CALLS;
}

static int measure(struct figures *figures)
{
	struct sandbox box = {.plugin_path = "/proc/self/exe"};
	struct error err;
	figures->before_ns = call_ns();
	double start = now_us();
	if (sandbox_enter(&box, &err) < 0)
		return 1;
	double entered = now_us();
	if (sandbox_tighten(&box, &err) < 0)
		return 1;
	figures->tighten_us = now_us() - entered;
	figures->enter_us = entered - start;
	figures->after_ns = call_ns();
	return 0;
}

static int smaller(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void print(const char *what, const struct figures *all, size_t offset, const char *unit)
{
	double sorted[RUNS];
	for (int i = 0; i < RUNS; i++)
		sorted[i] = *(const double *)((const char *)&all[i] + offset);
	qsort(sorted, RUNS, sizeof(sorted[0]), smaller);
	printf("%-34s %8.1f %s (least %.1f)\n", what, sorted[RUNS / 2], unit, sorted[0]);
}

int main(void)
{
	struct figures *all = mmap(NULL, RUNS * sizeof(*all), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	for (int i = 0; i < RUNS; i++) {
		int status = 1;
		pid_t pid = fork();
		if (pid == 0)
			_exit(measure(&all[i]));
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
			printf("not measured: this kernel cannot do all of the sandbox\n");
			return 0;
		}
	}
	print("sandbox_enter", all, offsetof(struct figures, enter_us), "us");
	print("sandbox_tighten", all, offsetof(struct figures, tighten_us), "us");
	print("a system call before", all, offsetof(struct figures, before_ns), "ns");
	print("a system call behind both filters", all, offsetof(struct figures, after_ns), "ns");
	return 0;
}
