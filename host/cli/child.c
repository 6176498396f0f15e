/* child.c - see child.h. */
#include <config.h>

#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

static void be_child(child_fn fn, void *data, struct progress *progress, int to)
{
	char *text = NULL;
	size_t len = 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	to = fcntl(to, F_DUPFD_CLOEXEC, 200);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	FILE *out = open_memstream(&text, &len);
	if (!out)
		_exit(126);
	int status = fn(data, progress, out);
	fclose(out);
	/* the status goes first: a report without it is not one */
	if (io_write_all(to, &status, sizeof(status)) == 0)
		io_write_all(to, text, len);
	_exit(0);
}

static void lose(pid_t pid, enum loss_kind kind, const struct progress *progress,
		 struct loss *loss)
{
	int status = 0;
	memset(loss, 0, sizeof(*loss));
	loss_read(loss, progress);
	loss->kind = kind;
	if (kind == LOSS_TIMEOUT)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (kind == LOSS_TIMEOUT)
		return;
	loss->kind = WIFSIGNALED(status) ? LOSS_SIGNAL : LOSS_EXIT;
	loss->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reads to the end or the time; bytes read, -1 the time is over. */
static ssize_t read_report(int fd, int64_t until, char **ret)
{
	size_t room = 65536, len = 0;
	char *data = malloc(room);
	while (data && len < CHILD_REPORT_MAX) {
		int64_t left = (until - io_monotonic_ns()) / 1000000;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int r = poll(&p, 1, left > 0 ? (int)left : 0);
		if (r == 0)
			break;
		ssize_t n = r < 0 ? -1 : read(fd, data + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			data[len] = '\0';
			*ret = data;
			return (ssize_t)len;
		}
		len += (size_t)n;
		if (len + 1 == room) {
			char *more = realloc(data, room *= 2);
			if (!more)
				break;
			data = more;
		}
	}
	free(data);
	return -1;
}

int child_run(child_fn fn, void *data, int64_t time_ns, char **ret_report, int *ret_status,
	      struct loss *loss)
{
	int ends[2], status = 0;
	_cleanup_free_ char *report = NULL;
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(loss, 0, sizeof(*loss));
	loss->kind = LOSS_START;
	if (progress == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
		loss->status = errno;
		return -1;
	}
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		be_child(fn, data, progress, ends[1]);
	loss->status = errno;
	close(ends[1]);
	ssize_t n = pid > 0 ? read_report(ends[0], io_monotonic_ns() + time_ns, &report) : 0;
	close(ends[0]);
	if (pid > 0 && n < (ssize_t)sizeof(status)) {
		lose(pid, n < 0 ? LOSS_TIMEOUT : LOSS_EXIT, progress, loss);
		n = 0;
	} else if (pid > 0) {
		memcpy(&status, report, sizeof(status));
		memmove(report, report + sizeof(status), (size_t)n - sizeof(status) + 1);
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	munmap(progress, sizeof(*progress));
	if (n < (ssize_t)sizeof(status))
		return -1;
	loss->kind = LOSS_NONE;
	*ret_report = TAKE_PTR(report);
	*ret_status = status;
	return 0;
}
