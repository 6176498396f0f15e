/* deliver.c - pawl approvals deliver: takes what is due out of the outbox, until nothing waits.
 *
 * A hook that held a call starts it and does not wait for it. One at a time delivers: it holds
 * a lock of its own, looks once more after giving it back, and so misses nothing that another
 * left to it. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "command.h"
#include "outbox.h"
#include "sign.h"
#include "webhook.h"

#define EXEC_WORDS_MAX 64
#define EXEC_NS INT64_C(10000000000) /* how long a program may take */
#define SECRET_FILE_MAX 4096
#define DELIVER_LOCK "deliver.lock"

/* ---- a program ------------------------------------------------------------------------- */

static void become_program(char *const words[], const char *id, int in)
{
	static char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C.UTF-8";
	char delivery[96];
	char *const environment[] = {path, locale, delivery, NULL};
	int null = open("/dev/null", O_WRONLY);
	snprintf(delivery, sizeof(delivery), "PAWL_DELIVERY_ID=%s", id);
	dup2(in, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setsid();
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execve(words[0], words, environment);
	_exit(127);
}

/* Its exit status, or -1 when its time was over. */
static int await(pid_t pid)
{
	int64_t until = io_monotonic_ns() + EXEC_NS;
	int status = 0;
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);
		if (r == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if ((r < 0 && errno != EINTR) || io_monotonic_ns() > until)
			break;
		poll(NULL, 0, 5);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -1;
}

static int run_program(const struct json_value *exec, const struct notice *notice,
		       struct error *err)
{
	char *words[EXEC_WORDS_MAX + 1] = {NULL};
	_cleanup_close_ int in = -1, out = -1;
	int pipes[2];
	struct str word;
	for (size_t i = 0; i < json_length(exec) && i < EXEC_WORDS_MAX; i++) {
		if (json_string(json_item(exec, i), &word) < 0)
			return error_set(err, EINVAL, "\"exec\" is no list of texts");
		words[i] = (char *)(uintptr_t)word.ptr; /* execve writes to none of them */
	}
	if (!words[0] || pipe2(pipes, O_CLOEXEC) != 0)
		return error_set(err, words[0] ? errno : EINVAL, "it cannot be started");
	in = pipes[0];
	out = pipes[1];
	pid_t pid = fork();
	if (pid == 0)
		become_program(words, notice->id, in);
	if (pid < 0)
		return error_set(err, errno, "%s: %s", words[0], strerror(errno));
	/* a notice is smaller than a pipe holds */
	io_write_all(out, notice->body, strlen(notice->body));
	close(TAKE_FD(out));
	int status = await(pid);
	return status == 0   ? 0 :
	       status == 127 ? error_set(err, ENOENT, "%s cannot be run", words[0]) :
	       status < 0    ? error_set(err, ETIMEDOUT, "%s took longer than %d s", words[0],
					 (int)(EXEC_NS / 1000000000)) :
			       error_set(err, EPROTO, "%s ended with %d", words[0], status);
}

/* ---- a webhook ----------------------------------------------------------------------------- */

static int read_secret(struct str path, char **ret, struct error *err)
{
	size_t len;
	_cleanup_close_ int fd = open(path.ptr, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path.ptr, strerror(errno));
	return io_read_all(fd, SECRET_FILE_MAX, ret, &len, err);
}

static int post(const struct json_value *target, const struct notice *notice, struct error *err)
{
	char id[96], time[64], signature[SIGN_MAX + 32] = "";
	const char *headers[] = {"Content-Type: application/json", id, time, NULL, NULL};
	int64_t now = io_wall_ns() / 1000000000;
	struct str url, file;
	if (json_string(json_member(target, STR("url")), &url) < 0)
		return error_set(err, EINVAL, "the target has no \"url\"");
	snprintf(id, sizeof(id), "webhook-id: %s", notice->id);
	snprintf(time, sizeof(time), "webhook-timestamp: %lld", (long long)now);
	if (json_string(json_member(target, STR("secret_file")), &file) == 0) {
		_cleanup_free_ char *secret = NULL;
		char value[SIGN_MAX];
		int r = read_secret(file, &secret, err);
		if (r == 0)
			r = sign_webhook(str_of(secret), str_of(notice->id), now,
					 str_of(notice->body), value, err);
		if (r < 0)
			return r;
		snprintf(signature, sizeof(signature), "webhook-signature: %s", value);
		headers[3] = signature;
	}
	return webhook_post(url.ptr, headers, str_of(notice->body), err);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int deliver(const struct notice *notice, struct error *err)
{
	struct json_arena *arena = NULL;
	const struct json_value *target;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, err);
	if (r == 0)
		r = json_parse(arena, str_of(notice->target), JSON_DEFAULT_LIMITS, 0, &target, NULL,
			       err);
	if (r == 0) {
		const struct json_value *exec = json_member(target, STR("exec"));
		r = exec ? run_program(exec, notice, err) : post(target, notice, err);
	}
	json_arena_free(arena);
	return r;
}

/* Until nothing waits. */
static int drain(struct approvals *queue, struct error *err)
{
	static struct notice notice;
	for (;;) {
		struct error why;
		int64_t wait_ms;
		int r = outbox_take(queue, &notice, &wait_ms, err);
		if (r < 0)
			return r;
		if (r == 1) {
			int failed = deliver(&notice, &why);
			r = outbox_done(queue, &notice, failed < 0 ? why.text : NULL, err);
			if (r < 0)
				return r;
		} else if (wait_ms < 0) {
			return 0;
		} else if (wait_ms > 0) {
			nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000},
				  NULL);
		}
	}
}

static int open_lock(const struct line *line, struct error *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" DELIVER_LOCK, line->store);
	int fd = n < (int)sizeof(path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) :
					 (errno = ENAMETOOLONG, -1);
	return fd < 0 ? error_set(err, errno, "%s: %s", path, strerror(errno)) : fd;
}

/* 1 there is something, and nobody is at it. */
static int more_to_do(struct approvals *queue, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_begin(queue, QUEUE_READ, err);
	if (r < 0)
		return r;
	r = queue_query(queue, &stmt, err, "SELECT 1 FROM outbox WHERE state = 'waiting' LIMIT 1",
			"");
	int found = r == 0 && sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(TAKE_PTR(stmt));
	r = queue_end(queue, r, err);
	return r < 0 ? r : found;
}

int command_deliver(const struct line *line)
{
	_cleanup_queue_ struct approvals *queue = NULL;
	_cleanup_close_ int lock = -1;
	struct error err;
	signal(SIGPIPE, SIG_IGN);
	int r = command_open(line, &queue, &err);
	if (r == 1)
		return 0;
	if (r == 0)
		r = lock = open_lock(line, &err);
	while (r >= 0 && (r = more_to_do(queue, &err)) == 1) {
		if (flock(lock, LOCK_EX | LOCK_NB) != 0)
			return 0; /* somebody is at it */
		r = drain(queue, &err);
		flock(lock, LOCK_UN);
	}
	return r < 0 ? command_failed(r, &err) : 0;
}
