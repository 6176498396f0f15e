/* front.c - see front.h. */
#include <config.h>

#include "fronts/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

/* <linux/futex.h>, which musl's compiler does not find */
#define FUTEX_WAIT_PRIVATE (0 | 128)
#define FUTEX_WAKE_PRIVATE (1 | 128)

#define ORPHAN_TRIES 1000 /* about a second, for a plugin that starts ever more */

volatile sig_atomic_t front_stopped;

static void on_signal(int number)
{
	front_stopped = number;
}

/* A closed standard descriptor would become our socket or memory. What fills it can be read
 * only: an answer that nobody gets must fail to be written. */
static int open_standard(void)
{
	int fd;
	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	close(fd);
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		fcntl(fd, F_SETFD, 0);
	return 0;
}

static void catch_signals(void)
{
	/* the first three are how we are told to stop; the others would end us without a word */
	static const int stops[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,	  SIGXCPU,
				    SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t held;
	sigemptyset(&action.sa_mask);
	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		sigaction(stops[i], &action, NULL);
		sigaddset(&held, stops[i]);
	}
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGXFSZ, &action, NULL); /* a limit on files is an error, not our end */
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
	/* held back but while we wait, so that none slips in before poll */
	sigprocmask(SIG_BLOCK, &held, NULL);
}

int front_init(struct front *front)
{
	front->worker = front->guard = -1;
	front->socket = front->memory = -1;
	catch_signals();
	/* a shell may have left us children of its own when it became us: then none is ended */
	front->reaps = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD &&
		       prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
	int r = open_standard();
	if (r < 0)
		return r;
	front->memory = memfd_create("pawl", MFD_CLOEXEC);
	if (front->memory < 0 || ftruncate(front->memory, (off_t)LANE_SIZE) != 0)
		return -errno;
	void *at = mmap(NULL, LANE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			front->memory, 0);
	if (at == MAP_FAILED)
		return -errno;
	front->lane = at;
	front->lane->front = (int32_t)getpid();
	front->in = (char *)at + LANE_IN;
	front->out = (char *)at + LANE_OUT;
	return 0;
}

/* ---- starting ------------------------------------------------------------------- */

/* The worker of the build tree lies beside us, the installed one where configure said. */
static void exec_worker(char *const argv[], char *const environment[])
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	if (n > 0) {
		path[n] = '\0';
		char *slash = strrchr(path, '/');
		if (slash) {
			strcpy(slash, "/libexec/pawl/pawl-worker");
			execve(path, argv, environment);
		}
	}
	execve(PAWL_LIBEXECDIR "/pawl-worker", argv, environment);
}

static char locale[] = "LC_ALL=C", path_default[] = "PATH=/usr/bin:/bin";
static char *const worker_environment[] = {locale, path_default, NULL};

/* Runs between vfork and exec: nothing of the parent's may change but descriptors. */
static void become_worker(const struct front *front, int socket, char *const argv[])
{
	int null = open("/dev/null", O_RDWR);
	/* out of the way first: any of them may be 3 or 4 */
	int s = fcntl(socket, F_DUPFD, 16), m = fcntl(front->memory, F_DUPFD, 16);
	if (null < 0 || s < 0 || m < 0)
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(s, LANE_SOCKET);
	dup2(m, LANE_MEMORY);
	syscall(SYS_close_range, LANE_MEMORY + 1, ~0U, 0);
	exec_worker(argv, worker_environment);
	_exit(127);
}

/* SIGKILL to each of our children; how many the kernel named. */
static int kill_children(const struct front *front)
{
	char text[4096];
	int n = 0, fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	for (char *at = text, *end; *at; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at || *end != ' ') /* a number that was cut is none */
			break;
		if (pid == front->notifier)
			continue;
		kill((pid_t)pid, SIGKILL);
		n++;
	}
	return n;
}

/* What a plugin started outside of the worker's session has become our child, being orphaned. */
static void end_orphans(const struct front *front)
{
	for (int tries = 0; tries < ORPHAN_TRIES; tries++) {
		pid_t r = waitpid(-1, NULL, WNOHANG);
		if (r < 0 && errno != EINTR)
			return;
		if (r == 0 && kill_children(front) == 0)
			return;
		if (r == 0)
			poll(NULL, 0, 1);
	}
}

/* ---- the guard ------------------------------------------------------------------- */

/* The worker's parent. It outlives us when we are killed, and then ends whatever the worker
 * has started, in a session of its own or not: being its subreaper, it is given all that is
 * orphaned. It shares our memory, as a copy of it would cost more than all the rest. errno is
 * shared too: nothing here fails while we run. */
struct guard {
	struct front *front;
	pid_t parent;
	int socket;
	char *const *argv;
	_Atomic uint32_t started; /* a futex: the worker is another program by now, or is not */
};

static void settle_guard(sigset_t *wakes)
{
	sigemptyset(wakes);
	sigaddset(wakes, SIGCHLD);
	sigaddset(wakes, SIGTERM);
	sigprocmask(SIG_BLOCK, wakes, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Takes those that have ended; whether the worker is among them, now or before. */
static bool worker_ended(struct front *front)
{
	int status;
	for (pid_t r; (r = waitpid(-1, &status, WNOHANG)) > 0;)
		if (r == front->worker) {
			front->status = status;
			atomic_store(&front->ended, true);
			return true;
		}
	return false;
}

static int run_guard(void *data)
{
	struct guard *guard = data;
	struct front *front = guard->front;
	pid_t parent = guard->parent;
	sigset_t wakes;
	settle_guard(&wakes);
	pid_t worker = vfork();
	if (worker == 0)
		become_worker(front, guard->socket, guard->argv);
	front->worker = worker;
	atomic_store(&guard->started, 1);
	syscall(SYS_futex, &guard->started, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (worker < 0)
		return 0;
	syscall(SYS_close_range, 0, ~0U, 0); /* none of the client's is held here */
	while (getppid() == parent && !worker_ended(front))
		sigwaitinfo(&wakes, NULL);
	kill(-worker, SIGKILL);
	if (!atomic_load(&front->ended))
		kill(worker, SIGKILL);
	end_orphans(front);
	return 0;
}

/* 0 with the worker started, or -errno. */
static int start_guard(struct front *front, int socket, char *const argv[])
{
	static char stack[65536] __attribute__((aligned(16)));
	struct guard guard = {.front = front, .parent = getpid(), .socket = socket, .argv = argv};
	const struct timespec moment = {0, 50000000};
	front->worker = -1;
	atomic_store(&front->ended, false);
#ifdef PAWL_SANITIZED /* a sanitizer does not know such a stack: no guard then */
	front->worker = vfork();
	if (front->worker == 0)
		become_worker(front, socket, argv);
	return front->worker > 0 ? 0 : -errno;
#endif
	front->guard = clone(run_guard, stack + sizeof(stack), CLONE_VM | SIGCHLD, &guard);
	if (front->guard < 0)
		return -errno;
	while (!atomic_load(&guard.started)) {
		syscall(SYS_futex, &guard.started, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0);
		if (!atomic_load(&guard.started) &&
		    waitpid(front->guard, NULL, WNOHANG) == front->guard) {
			front->guard = -1;
			return -ECHILD;
		}
	}
	return front->worker > 0 ? 0 : -EAGAIN;
}

static uint64_t draw(void)
{
	uint64_t nonce = 0;
	/* only tells accidents apart; a clock will do where there is no entropy */
	if (syscall(SYS_getrandom, &nonce, sizeof(nonce), 1 /* GRND_NONBLOCK */) != sizeof(nonce))
		nonce = (uint64_t)io_monotonic_ns();
	return nonce;
}

int front_start(struct front *front, const char *mode, struct loss *loss)
{
	int pair[2];
	/* execve wants char *; it writes to none of them */
	union {
		const char *ours[6];
		char *its[6];
	} argv = {{"pawl-worker", mode, front->agent, front->event ? front->event : "",
		   front->config ? front->config : "", NULL}};
	for (unsigned i = 0; front->used && (i == 0 || i < front->jobs); i++)
		memset(lane_progress(front->lane, i), 0, sizeof(struct progress));
	front->used = true;
	*loss = (struct loss){.kind = LOSS_START};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		loss->status = errno;
		return -1;
	}
	front->nonce = draw();
	int r = start_guard(front, pair[1], argv.its);
	close(pair[1]);
	front->socket = pair[0];
	if (r == 0)
		return 0;
	loss->status = -r;
	front_end(front);
	return -1;
}

/* ---- talking --------------------------------------------------------------------- */

/* Whether the worker has ended, and how; where its guard was killed, it has. */
static bool take_end(struct front *front, int *status)
{
	if (front->guard > 0 && waitpid(front->guard, status, WNOHANG) == front->guard)
		front->guard = -1; /* it has ended all, or was killed, and the worker with it */
#ifdef PAWL_SANITIZED
	else if (waitpid(front->worker, status, WNOHANG) == front->worker)
		;
#endif
	else if (!atomic_load(&front->ended))
		return false;
	if (atomic_load(&front->ended))
		*status = front->status;
	front->worker = -front->worker;
	return true;
}

/* What became of the worker, once it cannot answer any more. */
static int lost(struct front *front, enum loss_kind kind, struct loss *loss)
{
	int status = 0;
	memset(loss, 0, sizeof(*loss));
	loss_read(loss, &front->lane->progress);
	loss->kind = kind;
	if (kind == LOSS_EXIT && front->worker > 0) {
		/* it closed its end: give it the moment it needs to be a corpse */
		for (int i = 0; i < 200 && !take_end(front, &status); i++)
			poll(NULL, 0, 1);
		if (front->worker < 0 && WIFSIGNALED(status)) {
			loss->kind = LOSS_SIGNAL;
			loss->status = WTERMSIG(status);
		} else if (front->worker < 0) {
			loss->status = WEXITSTATUS(status);
			if (loss->status == 127 && loss->phase == PROGRESS_START) {
				loss->kind = LOSS_START;
				loss->status = ENOENT;
			}
		} else {
			loss->kind = LOSS_PROTOCOL;
		}
	}
	front_end(front);
	return -1;
}

int front_send(struct front *front, struct lane_message *request, struct loss *loss)
{
	request->nonce = front->nonce;
	ssize_t n = send(front->socket, request, sizeof(*request), MSG_NOSIGNAL);
	return n == (ssize_t)sizeof(*request) ? 0 : lost(front, LOSS_EXIT, loss);
}

/* The first that is over of what the worker's jobs do; 0 none. */
static int64_t entry_deadline(const struct front *front)
{
	int64_t first = 0;
	for (unsigned i = 0; i == 0 || i < front->jobs; i++) {
		int64_t own = atomic_load(&lane_progress(front->lane, i)->deadline_ns);
		if (own > 0 && (first == 0 || own < first))
			first = own;
	}
	return first;
}

/* Until when to sleep: the call's deadline, or the entry's own if that comes first. */
static int64_t next_look(const struct front *front, int64_t deadline, int64_t tick, int64_t now)
{
	int64_t entry = entry_deadline(front);
	if (entry > 0 && entry < deadline)
		deadline = entry;
	if (tick > 0 && now + tick < deadline)
		deadline = now + tick;
	return deadline;
}

static bool overdue(const struct front *front, int64_t deadline, int64_t now)
{
	int64_t entry = entry_deadline(front);
	return now >= deadline || (entry > 0 && now > entry);
}

static int wait_for(struct front *front, int64_t until, int64_t now)
{
	int64_t left = until > now ? until - now : 0;
	struct timespec time = {left / 1000000000, left % 1000000000};
	struct pollfd fd = {.fd = front->socket, .events = POLLIN};
	sigset_t none;
	sigemptyset(&none);
	return ppoll(&fd, 1, &time, &none);
}

/* An empty message reads like the end, but the other side is still there. */
static bool hung_up(const struct front *front)
{
	struct pollfd fd = {.fd = front->socket};
	return poll(&fd, 1, 0) != 1 || (fd.revents & (POLLHUP | POLLERR));
}

int front_receive(struct front *front, int64_t deadline_ns, int64_t tick_ns,
		  struct lane_message *message, struct loss *loss)
{
	for (;;) {
		int64_t now = io_monotonic_ns();
		int r = wait_for(front, next_look(front, deadline_ns, tick_ns, now), now);
		if (front_stopped)
			return lost(front, LOSS_CANCELLED, loss);
		if (r < 0 && errno != EINTR)
			return lost(front, LOSS_PROTOCOL, loss);
		if (r > 0) {
			ssize_t n = recv(front->socket, message, sizeof(*message), MSG_TRUNC);
			if (n <= 0)
				return lost(front, hung_up(front) ? LOSS_EXIT : LOSS_PROTOCOL, loss);
			if (n != (ssize_t)sizeof(*message) || message->nonce != front->nonce)
				return lost(front, LOSS_PROTOCOL, loss);
			return 0;
		}
		if (overdue(front, deadline_ns, io_monotonic_ns()))
			return lost(front, LOSS_TIMEOUT, loss);
	}
}

static void take(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void front_end(struct front *front)
{
	pid_t worker = front->worker < -1 ? -front->worker : front->worker;
	bool lives = worker > 1 && !atomic_load(&front->ended); /* -1 would be everybody */
	if (lives) {
		kill(-worker, SIGKILL); /* its session: what it started goes too */
		kill(worker, SIGKILL);
	}
	if (front->guard > 1) {
		/* what it had is ours then; where we take nothing over, it does what is left,
		 * and may not be held up by who stopped it */
		kill(front->guard, front->reaps ? SIGKILL : SIGCONT);
		take(front->guard);
	}
	if (front->reaps && lives)
		take(worker);
	if (front->reaps && worker > 1)
		end_orphans(front);
	if (front->socket >= 0)
		close(front->socket);
	front->worker = front->guard = -1;
	front->socket = -1;
}

/* Between vfork and exec, as above. */
static void become_notifier(char *const argv[])
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);
	if (null < 0)
		_exit(127);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	exec_worker(argv, worker_environment);
	_exit(127);
}

void front_notify(struct front *front)
{
	union {
		const char *ours[7];
		char *its[7];
	} argv = {{"pawl-worker", "tool", "approvals", front->config ? front->config : "", "-q",
		   "deliver", NULL}};
	if (front->notifier > 0 && waitpid(front->notifier, NULL, WNOHANG) == 0)
		return; /* it goes on until nothing waits */
	pid_t pid = vfork();
	if (pid == 0)
		become_notifier(argv.its);
	front->notifier = pid > 0 ? pid : 0;
}

void front_halt(const struct front *front, const struct loss *loss)
{
	char path[PATH_MAX];
	if (!(loss->flags & PROGRESS_HALT) || (loss->flags & PROGRESS_SHADOW))
		return;
	memcpy(path, front->lane->progress.latch, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	if (!path[0])
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	io_write_all(fd, loss->plugin, strlen(loss->plugin));
	close(fd);
}

/* The tool's exit status; 2 and a word when it has none, so that nobody takes silence for an
 * answer. */
static int end_of_tool(pid_t pid)
{
	int status;
	pid_t r;
	while ((r = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (r < 0)
		dprintf(STDERR_FILENO, "pawl: how pawl-worker ended is not known: %s\n",
			strerror(errno));
	else if (WIFSIGNALED(status))
		dprintf(STDERR_FILENO, "pawl: pawl-worker was ended by signal %d (%s)\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 127)
		return WEXITSTATUS(status);
	else
		dprintf(STDERR_FILENO, "pawl: pawl-worker could not be started; is pawl installed "
				       "whole (" PAWL_LIBEXECDIR ")?\n");
	return 2;
}

int front_tool(char *const argv[])
{
	extern char **environ;
	pid_t pid = vfork();
	if (pid == 0) {
		exec_worker(argv, environ);
		_exit(127);
	}
	if (pid > 0)
		return end_of_tool(pid);
	dprintf(STDERR_FILENO, "pawl: pawl-worker could not be started: %s\n", strerror(errno));
	return 2;
}
