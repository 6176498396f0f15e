/* bench-isolate.c - plugins in processes of their own: one question to a process that runs,
 * against a bare SEQPACKET round trip with the same bytes; ten started side by side, one
 * executed and nine forked off it, against one, executed. (What a client waits for, the hook with them, is bench-hook's to measure.)
 *
 * usage: bench-isolate PLUGIN_DIR PAWL_WORKER EVENT_FILE STATE_DIR. Nothing here passes or
 * fails. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "core/cell.h"
#include "core/frame.h"
#include "core/host.h"

enum { ROUNDS = 41, QUESTIONS = 500, STARTS = 41, MOST = 10, ANSWER = 64 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void fail(const char *what)
{
	fprintf(stderr, "bench-isolate: %s\n", what);
	exit(1);
}

static struct host *make_host(char *const argv[], int n)
{
	char text[8192];
	struct config *config;
	struct host *host;
	struct error err;
	int len = snprintf(text, sizeof(text),
			   "{\"plugin_dir\": \"%s\", \"state_dir\": \"%s\", \"deadline\": \"30s\", "
			   "\"chain\": [", argv[1], argv[4]);
	for (int i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"%s{\"plugin\": \"allow%d\", \"isolation\": \"process\"}",
				i ? "," : "", i);
	snprintf(text + len, sizeof(text) - (size_t)len, "]}");
	if (config_parse(str_of(text), "/pawl.json", &config, &err) < 0 ||
	    host_new(config, NULL, &host, &err) < 0)
		fail(err.text);
	return host;
}

static struct pawl_call *make_call(struct json_arena *arena, struct str text)
{
	struct error err;
	const struct json_value *root;
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	if (!call || json_parse(arena, text, call->limits, 0, &root, NULL, &err) < 0 ||
	    call_set_tool(call, STR("Bash"), STR("local"), (struct str){NULL, 0}, &err) < 0)
		fail(err.text);
	call->kind = EVENT_PRE_TOOL;
	call->root[PAWL_R_EVENT] = root;
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] =
		json_member(root, STR("tool_input"));
	return call;
}

static void judge(struct host *host, struct pawl_call *call, struct json_arena *arena)
{
	struct decision decision;
	size_t mark = json_arena_mark(arena);
	host->call_deadline_ns = io_monotonic_ns() + INT64_C(30000000000);
	host_judge(host, call, &decision);
	if (decision.verdict != VERDICT_ALLOW)
		fail(decision.reason.ptr ? decision.reason.ptr : "not allowed");
	json_arena_rewind(arena, mark);
}

static double time_questions(struct host *host, struct pawl_call *call, struct json_arena *arena)
{
	int64_t start = io_monotonic_ns();
	for (int i = 0; i < QUESTIONS; i++)
		judge(host, call, arena);
	return (double)(io_monotonic_ns() - start) / QUESTIONS;
}

/* ---- the bare round trip ------------------------------------------------------------- */

static char bytes[1 << 17];

static int start_echo(pid_t *ret_pid)
{
	int pair[2], room = 1 << 19;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		fail("no socket");
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	*ret_pid = fork();
	if (*ret_pid == 0) {
		close(pair[0]);
		while (recv(pair[1], bytes, sizeof(bytes), 0) > 0)
			send(pair[1], bytes, ANSWER, 0);
		_exit(0);
	}
	close(pair[1]);
	return pair[0];
}

static double time_bare(int socket, size_t len)
{
	char answer[ANSWER];
	int64_t start = io_monotonic_ns();
	for (int i = 0; i < QUESTIONS; i++)
		if (send(socket, bytes, len, 0) < 0 || recv(socket, answer, ANSWER, 0) <= 0)
			fail("the echo is gone");
	return (double)(io_monotonic_ns() - start) / QUESTIONS;
}

static size_t question_size(const struct pawl_call *call)
{
	struct frame_out out = {.data = bytes, .room = sizeof(bytes)};
	frame_put_call(&out, call);
	if (out.full)
		fail("the event is too large");
	return out.len;
}

/* ---- starting --------------------------------------------------------------------------- */

/* From nothing to the chain's first decision. */
static double time_start(char *const argv[], int n, struct pawl_call *call,
			 struct json_arena *arena)
{
	struct host *host = make_host(argv, n);
	int64_t start = io_monotonic_ns();
	judge(host, call, arena);
	double took = (double)(io_monotonic_ns() - start);
	host_free(host);
	return took;
}

/* CPU of the children that ended so far, ms. */
static double cpu_ms(void)
{
	struct rusage use;
	getrusage(RUSAGE_CHILDREN, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
	double asked[ROUNDS], bare[ROUNDS], one[STARTS], ten[STARTS];
	double cpu_one[STARTS], cpu_ten[STARTS];
	struct json_arena *arena;
	char *text;
	size_t len;
	pid_t echo;
	if (argc != 5)
		return 2;
	cell_program = argv[2];
	int fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_all(fd, 1 << 16, &text, &len, NULL) < 0 ||
	    json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		fail("the event cannot be read");
	struct pawl_call *call = make_call(arena, (struct str){text, len});
	size_t size = question_size(call);
	int socket = start_echo(&echo);
	struct host *host = make_host(argv, 1);
	judge(host, call, arena);
	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = time_bare(socket, size);
		asked[i] = time_questions(host, call, arena);
	}
	host_free(host);
	for (int i = 0; i < STARTS; i++) {
		double before = cpu_ms();
		one[i] = time_start(argv, 1, call, arena);
		double between = cpu_ms();
		ten[i] = time_start(argv, MOST, call, arena);
		cpu_one[i] = between - before;
		cpu_ten[i] = cpu_ms() - between;
	}
	close(socket);
	waitpid(echo, NULL, 0);
	double b = median(bare, ROUNDS), a = median(asked, ROUNDS);
	double o = median(one, STARTS), t = median(ten, STARTS);
	printf("one question of %zu bytes, us   bare SEQPACKET %6.1f   asked %6.1f   %.2fx (2.5)\n",
	       size, b / 1e3, a / 1e3, a / b);
	printf("started and asked, ms          one plugin %6.2f   %d %6.2f   %.2fx\n", o / 1e6,
	       MOST, t / 1e6, t / o);
	/* what bounds that ratio: the first, and nine times the second over the processors */
	o = median(cpu_one, STARTS), t = median(cpu_ten, STARTS);
	printf("CPU of such a process, ms      executed %6.2f   forked %6.2f   processors %ld\n",
	       o, (t - o) / (MOST - 1), sysconf(_SC_NPROCESSORS_ONLN));
	return 0;
}
