/* canary.c - see canary.h. */
#include <config.h>

#include "cli/canary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

static void become(const struct settings *settings, struct str command, char *const words[],
		   const int fds[3])
{
	const char *shell = getenv("SHELL");
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (!command.ptr)
		execvp(words[0], words);
	else if (settings->login && shell && shell[0] == '/')
		execl(shell, shell, "-lc", command.ptr, (char *)NULL);
	else
		execl("/bin/sh", "sh", settings->login ? "-lc" : "-c", command.ptr, (char *)NULL);
	_exit(127);
}

/* Adds what has come; false at the end. What is past the room is read and forgotten. */
static bool take(int fd, char *buf, size_t *len)
{
	char sink[4096];
	bool full = *len == CANARY_BYTES_MAX;
	ssize_t n =
		full ? read(fd, sink, sizeof(sink)) : read(fd, buf + *len, CANARY_BYTES_MAX - *len);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	*len += full ? 0 : (size_t)n;
	return n > 0;
}

/* Until both ends are closed: that, not the exit, is what clients wait for. */
static bool collect(int out, int err, int64_t until_ns, struct canary *canary)
{
	struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		int64_t left = (until_ns - io_monotonic_ns()) / 1000000;
		if (left <= 0)
			return false;
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents && !take(out, canary->out, &canary->out_len))
			fds[0].fd = -1;
		if (fds[1].revents && !take(err, canary->err, &canary->err_len))
			fds[1].fd = -1;
	}
	return true;
}

static int reap(pid_t pid, int64_t until_ns)
{
	int status;
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);
		if (r == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (r < 0 && errno != EINTR)
			return -1;
		if (io_monotonic_ns() >= until_ns)
			return -1;
		usleep(500);
	}
}

static void close_all(int pipes[3][2])
{
	for (int i = 0; i < 6; i++)
		if (pipes[i / 2][i % 2] >= 0)
			close(pipes[i / 2][i % 2]);
}

static void drop(int *fd)
{
	close(*fd);
	*fd = -1;
}

static void talk(pid_t pid, int pipes[3][2], int64_t limit_ms, struct canary *canary)
{
	int64_t begin = io_monotonic_ns(), until = begin + limit_ms * 1000000;
	drop(&pipes[0][0]);
	drop(&pipes[1][1]);
	drop(&pipes[2][1]);
	/* far less than a pipe holds; one that is closed already is the hook's word too */
	io_write_all(pipes[0][1], CANARY_EVENT, sizeof(CANARY_EVENT) - 1);
	drop(&pipes[0][1]);
	bool ended = collect(pipes[1][0], pipes[2][0], until, canary);
	canary->status = ended ? reap(pid, until) : -1;
	canary->ms = (io_monotonic_ns() - begin) / 1000000;
	if (canary->status < 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	canary->out[canary->out_len] = canary->err[canary->err_len] = '\0';
}

int canary_run(const struct settings *settings, struct str command, char *const words[],
	       int64_t limit_ms, struct canary *canary, struct error *err)
{
	int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	int r = 0;
	canary->status = -1;
	canary->out_len = canary->err_len = 0;
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 3 && r == 0; i++)
		r = pipe2(pipes[i], O_CLOEXEC);
	pid_t pid = r == 0 ? fork() : -1;
	if (pid < 0) {
		r = error_set(err, errno, "cannot be started: %s", strerror(errno));
		close_all(pipes);
		return r;
	}
	if (pid == 0) {
		const int fds[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
		become(settings, command, words, fds);
	}
	talk(pid, pipes, limit_ms < CANARY_TIME_MS ? limit_ms : CANARY_TIME_MS, canary);
	close_all(pipes);
	return 0;
}
