/* run.c - see run.h. */
#include <config.h>

#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 120

static void on_alarm(int number)
{
	(void)number;
}

void run_prepare(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void start(char *const command[], int in, int out, int err, bool traced)
{
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (!traced || trace_me() == 0)
		execv(command[0], command);
	_exit(126);
}

static void take(int fd, char *text)
{
	ssize_t n = pread(fd, text, RUN_TEXT_MAX - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Waits for the command and for whatever it leaves; without ptrace. */
static int wait_all(pid_t child, int *ret_status)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno == EINTR) {
			kill(child, SIGKILL);
			return -ETIME;
		}
		if (pid < 0)
			return 0;
		if (pid == child)
			*ret_status = status;
	}
}

void run(char *const command[], const char *input, size_t len, struct fault *fault, bool traced,
	 struct outcome *outcome)
{
	int in[2], status = 0;
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	if (out < 0 || err < 0 || pipe2(in, O_CLOEXEC) != 0)
		exit(99);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		start(command, in[0], out, err, traced);
	close(in[0]);
	if (child < 0 || (write(in[1], input, len) < 0 && errno != EPIPE))
		exit(99);
	close(in[1]);
	alarm(PATIENCE_S);
	int r = traced ? trace_run(child, fault, &status) : wait_all(child, &status);
	alarm(0);
	outcome->late = r < 0;
	outcome->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	take(out, outcome->out);
	take(err, outcome->err);
}

static const struct {
	const char *name;
	int error;
} errors[] = {{"EIO", EIO},	  {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EINTR", EINTR},
	      {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"ENOSYS", ENOSYS}, {"ENOSPC", ENOSPC},
	      {"KILL", 0}};

int run_fault(const char *name, int *ret_error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(name, errors[i].name) == 0) {
			*ret_error = errors[i].error;
			return 0;
		}
	return -1;
}

static int forget(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st, (void)flag;
	return at->level == 0 ? 0 : remove(path);
}

void run_empty(const char *folder)
{
	nftw(folder, forget, 16, FTW_DEPTH | FTW_PHYS);
}
