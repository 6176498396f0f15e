/* bench-rate.c - runs a command on one core and says how many lines a second of CPU it did.
 *
 * usage: bench-rate LINES BYTES_A_LINE COMMAND ARG... */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5 };

static double run(char **argv)
{
	struct rusage use;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(0, &one);
		sched_setaffinity(0, sizeof(one), &one);
		dup2(open("/dev/null", O_WRONLY), 1);
		execv(argv[0], argv);
		_exit(127);
	}
	wait4(pid, &status, 0, &use);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		exit(1);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	double best = 1e9;
	if (argc < 4)
		return 2;
	for (int i = 0; i < RUNS; i++) {
		double seconds = run(argv + 3);
		best = seconds < best ? seconds : best;
	}
	printf("%s lines of %s bytes: %.0f calls a second of CPU (front and worker together)\n",
	       argv[1], argv[2], atof(argv[1]) / best);
	return 0;
}
