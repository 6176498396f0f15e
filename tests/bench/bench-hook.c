/* bench-hook.c - whole hook processes against each other: CPU of the process and its
 * children, wall time, peak memory; interleaved, medians.
 *
 * usage: bench-hook EVENT_FILE NAME[@EVENT_FILE]=COMMAND... ; a command runs through no
 * shell, its words are split at spaces. The first is what the others are compared with. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 32, RUNS = 201, WORDS = 32 };

struct command {
	const char *name, *event;
	char *words[WORDS];
	double cpu[RUNS], wall[RUNS];
	long peak_kb;
};

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *use)
{
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1e3 +
	       (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e3;
}

static void run(struct command *command, int round)
{
	struct rusage use;
	int status;
	double start = now_ms();
	pid_t pid = vfork();
	if (pid == 0) {
		int in = open(command->event, O_RDONLY), out = open("/dev/null", O_WRONLY);
		dup2(in, 0);
		dup2(out, 1);
		dup2(out, 2);
		execv(command->words[0], command->words);
		_exit(127);
	}
	wait4(pid, &status, 0, &use);
	command->wall[round] = now_ms() - start;
	command->cpu[round] = cpu_ms(&use);
	if (use.ru_maxrss > command->peak_kb)
		command->peak_kb = use.ru_maxrss;
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)) {
		fprintf(stderr, "bench-hook: %s ended badly (%d)\n", command->name, status);
		exit(1);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static struct command commands[COMMANDS];
	int n = 0;
	for (int i = 2; i < argc && n < COMMANDS; i++, n++) {
		char *eq = strchr(argv[i], '=');
		if (!eq)
			return 2;
		*eq = '\0';
		char *at = strchr(argv[i], '@');
		commands[n].name = argv[i];
		commands[n].event = at ? at + 1 : argv[1];
		if (at)
			*at = '\0';
		int words = 0;
		for (char *w = strtok(eq + 1, " "); w && words + 1 < WORDS; w = strtok(NULL, " "))
			commands[n].words[words++] = w;
	}
	for (int round = 0; round < RUNS; round++)
		for (int i = 0; i < n; i++)
			run(&commands[i], round);
	printf("%-34s %9s %9s %9s %9s %9s\n", "one hook process", "CPU ms", "ratio", "adds ms",
	       "wall ms", "peak KiB");
	for (int i = 0; i < n; i++) {
		qsort(commands[i].cpu, RUNS, sizeof(double), compare);
		qsort(commands[i].wall, RUNS, sizeof(double), compare);
		double cpu = commands[i].cpu[RUNS / 2], first = commands[0].cpu[RUNS / 2];
		printf("%-34s %9.2f %9.2f %9.2f %9.2f %9ld\n", commands[i].name, cpu, cpu / first,
		       cpu - first, commands[i].wall[RUNS / 2], commands[i].peak_kb);
	}
	return 0;
}
