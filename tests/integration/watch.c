/* watch.c - runs a command and tells what it left behind.
 *
 *	watch REPORT SECONDS COMMAND ARG...
 *
 * Whatever the command's processes leave orphaned becomes our child (subreaper). What is
 * still alive half a second after the command ended is written to REPORT, one
 * "left PID COMMAND" a line, and killed; so is "late" when the command took more than
 * SECONDS, and "ms N", "kb N", the time and memory it took. Ends with the command's status, 128 + N after
 * signal N. */
#include <config.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_MS 500

static long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The parent of pid and the name of its program; 0 when there is no such process. */
static long parent_of(long pid, char name[64])
{
	char path[64], line[512] = "";
	long parent = 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	char *end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (end && sscanf(end + 1, " %*c %ld", &parent) == 1) {
		*end = '\0';
		char *begin = strchr(line, '(');
		snprintf(name, 64, "%s", begin ? begin + 1 : "?");
	}
	fclose(f);
	return parent;
}

/* Kills and reports every child there is; how many. */
static int sweep(FILE *report)
{
	DIR *proc = opendir("/proc");
	int n = 0;
	for (struct dirent *e; proc && (e = readdir(proc));) {
		char name[64];
		long pid = atol(e->d_name);
		if (!isdigit((unsigned char)e->d_name[0]) || parent_of(pid, name) != getpid())
			continue;
		fprintf(report, "left %ld %s\n", pid, name);
		kill((pid_t)pid, SIGKILL);
		waitpid((pid_t)pid, NULL, 0);
		n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

static void look_behind(FILE *report)
{
	long until = now_ms() + GRACE_MS;
	pid_t r;
	while ((r = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (r > 0)
			continue;
		if (now_ms() > until && sweep(report) == 0)
			return;
		poll(NULL, 0, 2);
	}
}

int main(int argc, char *argv[])
{
	if (argc < 4)
		return 125;
	FILE *report = fopen(argv[1], "we");
	if (!report || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return 125;
	long start = now_ms(), limit = atol(argv[2]) * 1000;
	int status = 0, late = 0;
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		poll(NULL, 0, 1);
		if (!late && now_ms() - start > limit) {
			late = fprintf(report, "late\n");
			kill(pid, SIGKILL);
		}
	}
	fprintf(report, "ms %ld\n", now_ms() - start);
	struct rusage used;
	if (getrusage(RUSAGE_CHILDREN, &used) == 0)
		fprintf(report, "kb %ld\n", used.ru_maxrss);
	look_behind(report);
	fclose(report);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
