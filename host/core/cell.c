/* cell.c - see cell.h. */
#include <config.h>

#include "core/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define DYING_NS INT64_C(200000000) /* from closing its end to being a corpse */
#define SPLIT_NS INT64_C(5000000000) /* until a seed has forked: no plugin holds it up */
#define KEEP ((size_t)1 << 20)	    /* of either half, between questions */

const char *cell_program = "/proc/self/exe";

/* ---- starting ------------------------------------------------------------------------ */

static char name[] = "pawl-worker", mode[] = "isolated";
static char locale[] = "LC_ALL=C", path_default[] = "PATH=/usr/bin:/bin";
static char *const cell_arguments[] = {name, mode, NULL};
static char *const cell_environment[] = {locale, path_default, NULL};

/* Runs between vfork and exec: nothing of the parent's may change but descriptors. */
static void become_cell(int socket, int memory, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);
	/* out of the way first: any of them may be one of 0 to 4 */
	int s = fcntl(socket, F_DUPFD, 16), m = fcntl(memory, F_DUPFD, 16);
	if (null < 0 || s < 0 || m < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    getppid() != parent || setsid() < 0)
		_exit(127);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	dup2(s, CELL_SOCKET_FD);
	dup2(m, CELL_MEMORY_FD);
	if (syscall(SYS_close_range, CELL_MEMORY_FD + 1, ~0U, 0) != 0)
		_exit(127);
	execve(cell_program, cell_arguments, cell_environment);
	_exit(127);
}

/* The asker sleeps until the other has become the program. */
static pid_t spawn(int socket, int memory)
{
	pid_t self = getpid(), pid = vfork();
	if (pid == 0)
		become_cell(socket, memory, self);
	return pid;
}

/* The memory, mapped here, its size fixed for ever. */
static int make_memory(struct cell *cell, int *ret, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("pawl-cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, CELL_MEMORY) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return error_set(err, errno, "no memory for its process: %s", strerror(errno));
	char *at = mmap(NULL, CELL_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			0);
	if (at == MAP_FAILED)
		return error_set(err, errno, "no memory for its process: %s", strerror(errno));
	cell->question = at;
	cell->answer = at + CELL_QUESTION_MAX;
	*ret = TAKE_FD(fd);
	return 0;
}

/* A plugin in our own process may close the low ones for all it knows. */
static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	if (high >= 0)
		close(fd);
	return high >= 0 ? high : fd;
}

/* What both ends need; theirs are the caller's. */
static int make_ends(struct cell *cell, int *ret_socket, int *ret_memory, struct error *err)
{
	int pair[2];
	*cell = (struct cell){.watch = -1, .socket = -1};
	int r = make_memory(cell, ret_memory, err);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set(err, errno, "no socket for its process: %s", strerror(errno));
	cell->socket = move_high(pair[0]);
	*ret_socket = pair[1];
	return 0;
}

static void take_process(struct cell *cell, pid_t pid)
{
	cell->pid = pid;
	cell->watch = (int)syscall(SYS_pidfd_open, pid, 0);
}

int cell_start(struct cell *cell, struct error *err)
{
	_cleanup_close_ int memory = -1, socket = -1;
	int r = make_ends(cell, &socket, &memory, err);
	pid_t pid = r < 0 ? -1 : spawn(socket, memory);
	if (r == 0 && pid < 0)
		r = error_set(err, errno, "no process for it: %s", strerror(errno));
	if (r == 0)
		take_process(cell, pid);
	else
		cell_stop(cell, NULL);
	return r;
}

/* ---- talking -------------------------------------------------------------------------- */

/* Tells this question's answer from an earlier one's; guessing it gains a cell nothing. */
static uint64_t draw(uint64_t last)
{
	uint64_t nonce = 0;
	if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != (ssize_t)sizeof(nonce))
		nonce = (uint64_t)io_monotonic_ns();
	return nonce == last ? nonce + 1 : nonce;
}

int cell_send(struct cell *cell, enum cell_type type, size_t len)
{
	cell->nonce = draw(cell->nonce);
	const struct cell_message m = {.nonce = cell->nonce, .type = type, .len = len};
	ssize_t n = send(cell->socket, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
	return n == (ssize_t)sizeof(m) ? 0 : n < 0 ? -errno : -EPIPE;
}

/* Sleeps until there is a message, its end, or the time is over (0). */
static int wait_for(const struct cell *cell, bool message, int64_t until_ns)
{
	for (;;) {
		int64_t left = until_ns - io_monotonic_ns();
		if (left < 0)
			left = 0;
		const struct timespec time = {left / 1000000000, left % 1000000000};
		struct pollfd fds[] = {{.fd = cell->watch, .events = POLLIN},
				       {.fd = message ? cell->socket : -1, .events = POLLIN}};
		int r = ppoll(fds, 2, &time, NULL);
		if (r >= 0 || errno != EINTR)
			return r;
	}
}

static bool is_dead(const struct cell *cell)
{
	siginfo_t info = {.si_pid = 0};
	/* a plugin of ours may have had children reaped unseen: then nobody is there either */
	return waitid(P_PID, (id_t)cell->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid != 0;
}

/* It closed its end, or there is something wrong with it. */
static enum cell_end how_it_ended(const struct cell *cell)
{
	siginfo_t info = {.si_pid = 0};
	if (cell->watch >= 0)
		wait_for(cell, false, io_monotonic_ns() + DYING_NS);
	for (int i = 0; cell->watch < 0 && i < 200 && !is_dead(cell); i++)
		poll(NULL, 0, 1);
	if (waitid(P_PID, (id_t)cell->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == 0)
		return CELL_NONSENSE;
	return info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED ? CELL_SIGNAL : CELL_EXIT;
}

int cell_receive(struct cell *cell, int64_t deadline_ns, size_t *ret_len, enum cell_end *ret_end)
{
	struct cell_message m;
	int r = wait_for(cell, true, deadline_ns);
	/* an answer that is there counts, whatever became of the one who gave it */
	ssize_t n = recv(cell->socket, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);
	if (n == (ssize_t)sizeof(m) && m.nonce == cell->nonce && m.type == CELL_REPLY &&
	    m.zero == 0 && m.len <= CELL_ANSWER_MAX) {
		*ret_len = (size_t)m.len;
		return 0;
	}
	bool nothing = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
	*ret_end = nothing && r == 0 ? CELL_LATE : n > 0 ? CELL_NONSENSE : how_it_ended(cell);
	return -1;
}

/* ---- splitting ------------------------------------------------------------------------ */

static bool send_ends(struct cell *seed, int socket, int memory)
{
	const int ends[] = {socket, memory};
	union {
		char room[CMSG_SPACE(sizeof(ends))];
		struct cmsghdr aligned;
	} control = {.room = ""};
	seed->nonce = draw(seed->nonce);
	struct cell_message m = {.nonce = seed->nonce, .type = CELL_SPLIT};
	struct iovec text = {&m, sizeof(m)};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(ends));
	memcpy(CMSG_DATA(c), ends, sizeof(ends));
	return sendmsg(seed->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(m);
}

/* What is killed by its number later on has to be a child of ours. */
static bool is_child(uint64_t number)
{
	siginfo_t info;
	return number > 1 && number <= INT32_MAX &&
	       waitid(P_PID, (id_t)number, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int cell_split(struct cell *seed, struct cell *cell, struct error *err)
{
	_cleanup_close_ int memory = -1, socket = -1;
	size_t number = 0;
	enum cell_end end;
	int r = make_ends(cell, &socket, &memory, err);
	if (r == 0 && (!send_ends(seed, socket, memory) ||
		       cell_receive(seed, io_monotonic_ns() + SPLIT_NS, &number, &end) < 0 ||
		       !is_child(number)))
		r = error_set(err, ECHILD, "no process was forked for it");
	if (r == 0)
		take_process(cell, (pid_t)number);
	else
		cell_stop(cell, NULL);
	return r;
}

void cell_trim(struct cell *cell, size_t question_len, size_t answer_len)
{
	if (question_len > KEEP)
		madvise(cell->question + KEEP, CELL_QUESTION_MAX - KEEP, MADV_REMOVE);
	if (answer_len > KEEP)
		madvise(cell->question + CELL_QUESTION_MAX + KEEP, CELL_ANSWER_MAX - KEEP,
			MADV_REMOVE);
}

/* ---- ending ----------------------------------------------------------------------------- */

void cell_stop(struct cell *cell, int *ret_status)
{
	int status = 0;
	if (cell->pid > 0) {
		kill(-cell->pid, SIGKILL); /* its session: what it started goes too */
		kill(cell->pid, SIGKILL);
		while (waitpid(cell->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (cell->watch >= 0)
		close(cell->watch);
	if (cell->socket >= 0)
		close(cell->socket);
	if (cell->question)
		munmap(cell->question, CELL_MEMORY);
	*cell = (struct cell){.watch = -1, .socket = -1};
	if (ret_status)
		*ret_status = status;
}
