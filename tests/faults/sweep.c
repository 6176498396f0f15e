/* sweep.c - a hook run again and again, each time with another thing failing in it.
 *
 *	sweep FAULTS STRIDE SCRATCH REFUSED TEXT RECORD COMMAND ARG... <EVENT
 *
 * FAULTS is a list of errno names and KILL (each system call of the front, from main on, and
 * of its worker fails with that once; the worker is killed there), or MALLOC (the N-th
 * allocation of the worker fails: SCRATCH/nth says which, for the shim in malloc.c). Every
 * STRIDE-th is tried. SCRATCH/state is emptied before each run.
 *
 * A run has to end as it does when nothing fails, or as a refusal: exit status REFUSED, one
 * line on stdout with TEXT in it, and a word on stderr unless REFUSED is 0. Where RECORD is
 * not empty, anything but a refusal has to have left it in SCRATCH/state/audit_log.jsonl.
 * What did not is written to stdout, one "# ..." line each; the last line is "RUNS WRONG SAME". Ends with 77
 * and a word on stdout where the kernel does not let us. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define PROCESSES_MAX 8

struct sweep {
	long stride;
	const char *scratch, *text, *record;
	int refused;
	char **command;
	char event[RUN_TEXT_MAX];
	size_t event_len;
	struct outcome healthy, now; /* nothing failed; something did */
	long runs, wrong, same;
};

static void run_once(struct sweep *sweep, struct fault *fault, bool traced, struct outcome *outcome)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/state", sweep->scratch);
	run_empty(path);
	run(sweep->command, sweep->event, sweep->event_len, fault, traced, outcome);
}

/* ---- what came of it ------------------------------------------------------------------ */

static bool is_same(const struct sweep *sweep)
{
	return sweep->now.status == sweep->healthy.status &&
	       strcmp(sweep->now.out, sweep->healthy.out) == 0 &&
	       strcmp(sweep->now.err, sweep->healthy.err) == 0;
}

static bool is_refusal(const struct sweep *sweep)
{
	const char *end = strchr(sweep->now.out, '\n');
	return sweep->now.status == sweep->refused && strstr(sweep->now.out, sweep->text) && end &&
	       end[1] == '\0' && (sweep->refused == 0 || sweep->now.err[0]);
}

static bool is_recorded(const struct sweep *sweep)
{
	char path[4096], line[RUN_TEXT_MAX];
	bool found = sweep->record[0] == '\0';
	snprintf(path, sizeof(path), "%s/state/audit_log.jsonl", sweep->scratch);
	FILE *f = found ? NULL : fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, sweep->record) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void judge(struct sweep *sweep, const char *what, const struct fault *fault)
{
	bool same = is_same(sweep);
	sweep->runs++;
	sweep->same += same;
	if (!sweep->now.late && ((same && is_recorded(sweep)) || is_refusal(sweep)))
		return;
	sweep->wrong++;
	printf("# %s at %ld of process %d (system call %ld): %sstatus %d, stdout %.200s, "
	       "stderr %.200s\n",
	       what, fault->call, fault->process, fault->number, sweep->now.late ? "hangs, " : "",
	       sweep->now.status, sweep->now.out, sweep->now.err);
}

/* ---- the ways to fail ------------------------------------------------------------------- */

/* Each call of each process: a process that is not there, or has no such call, is the end. */
static void sweep_calls(struct sweep *sweep, const char *what, int error)
{
	for (int process = error ? 0 : 1; process < PROCESSES_MAX; process++) {
		struct fault fault = {.process = process, .call = 1, .error = error, .hit = true};
		for (; fault.hit; fault.call += sweep->stride) {
			fault.hit = false;
			run_once(sweep, &fault, true, &sweep->now);
			if (!fault.hit)
				break;
			judge(sweep, what, &fault);
		}
		if (fault.call == 1)
			return;
	}
}

/* The shim leaves a mark when it came to that allocation. */
static void sweep_malloc(struct sweep *sweep)
{
	char nth[4096], mark[4096];
	snprintf(nth, sizeof(nth), "%s/nth", sweep->scratch);
	snprintf(mark, sizeof(mark), "%s/failed", sweep->scratch);
	for (struct fault fault = {.process = 1, .call = 1};; fault.call += sweep->stride) {
		FILE *f = fopen(nth, "we");
		if (!f || fprintf(f, "%ld\n", fault.call) < 0 || fclose(f) != 0)
			exit(99);
		unlink(mark);
		run_once(sweep, NULL, false, &sweep->now);
		if (access(mark, F_OK) != 0)
			break;
		judge(sweep, "MALLOC", &fault);
	}
	unlink(nth);
}

static int sweep_fault(struct sweep *sweep, const char *name)
{
	if (strcmp(name, "MALLOC") == 0) {
		sweep_malloc(sweep);
		return 0;
	}
	const char *why = trace_unavailable();
	if (why) {
		puts(why);
		return 77;
	}
	int error;
	if (run_fault(name, &error) < 0)
		return 99;
	sweep_calls(sweep, name, error);
	return 0;
}

int main(int argc, char **argv)
{
	static struct sweep sweep;
	int r = 0;
	if (argc < 8)
		return 99;
	sweep.stride = atol(argv[2]);
	sweep.scratch = argv[3];
	sweep.refused = atoi(argv[4]);
	sweep.text = argv[5];
	sweep.record = argv[6];
	sweep.command = argv + 7;
	ssize_t n = read(STDIN_FILENO, sweep.event, sizeof(sweep.event));
	if (n <= 0 || sweep.stride < 1)
		return 99;
	sweep.event_len = (size_t)n;
	run_prepare();
	run_once(&sweep, NULL, false, &sweep.healthy);
	printf("# healthy: status %d, stdout %.300s\n", sweep.healthy.status, sweep.healthy.out);
	for (char *name = strtok(argv[1], ","); name && r == 0; name = strtok(NULL, ","))
		r = sweep_fault(&sweep, name);
	printf("%ld %ld %ld\n", sweep.runs, sweep.wrong, sweep.same);
	return r;
}
