/* eval.c - see eval.h.
 *
 * Lines go to the worker in blocks. When one takes the worker down, what was answered
 * before it is printed, and a new worker begins at that line, told what happened: it
 * answers the line with the refusal, records it, and goes on.
 *
 * With --jobs the worker judges several lines at a time, and when it goes down, which of them
 * did it is not known. Those begun are then asked about again, one after the other by a new
 * worker: that finds the one exactly, and costs only time. */
#include <config.h>

#include "fronts/eval.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "fronts/front.h"

#define BLOCK_MAX ((size_t)256 << 10) /* bytes asked for at a time; a line may be longer */
#define FAILURES_MAX 3		      /* workers a line may cost before it is answered here */
#define LOOK_NS INT64_C(20000000)     /* how often a line's deadline is looked at */

_Static_assert(EVAL_JOBS_MAX == PROGRESS_JOBS_MAX, "each has its progress");

struct eval {
	struct front front;
	size_t fill; /* bytes of input held */
	unsigned jobs;
	bool ended;	   /* no input comes any more */
	bool cut;	   /* lines go one at a time: no batch is waited for */
	bool incomplete;   /* what is held is a batch that is not complete */
	bool skipping; /* the rest of a line that was too long */
	int exit_status;
};

/* The answer to a line no worker could answer. */
static void answer_lost(struct eval *eval, const char *reason, const char *by)
{
	static char out[65536];
	char text[1024];
	int n = snprintf(text, sizeof(text), "BLOCKED: %s", reason);
	size_t len = form_refuse(form_find(eval->front.forms, (struct str){NULL, 0}),
				 (struct str){text, n < 0 ? 0 : (size_t)n}, str_of(reason),
				 str_of(by), STR("null"), out, sizeof(out) - 1);
	out[len++] = '\n';
	io_write_all(STDOUT_FILENO, out, len);
}

static size_t line_end(const char *data, size_t from, size_t len)
{
	const char *end = memchr(data + from, '\n', len - from);
	return end ? (size_t)(end - data) + 1 : len;
}

/* Sends the block [at, len) to be judged by so many jobs; how far it was answered, with the loss
 * when the worker died. */
static size_t ask_block(struct eval *eval, size_t at, size_t len, unsigned jobs, struct loss *loss,
			bool *lost)
{
	struct front *front = &eval->front;
	struct lane_message m, request = {.type = LANE_LINES,
					  .offset = at,
					  .len = len - at,
					  .has_loss = loss->kind != LOSS_NONE,
					  .ended = eval->ended || eval->cut || eval->fill == LANE_IN_MAX,
					  .jobs = jobs,
					  .started_ns = io_monotonic_ns(),
					  .loss = *loss};
	struct progress *progress = &front->lane->progress;
	atomic_store(&progress->taken, 0);
	atomic_store(&progress->given, 0);
	atomic_store(&progress->begun, 0);
	*lost = front_send(front, &request, loss) < 0 ||
		front_receive(front, INT64_MAX, LOOK_NS, &m, loss) < 0;
	/* whoever writes to the socket in the worker's name may have written elsewhere too */
	if (*lost && loss->kind == LOSS_PROTOCOL)
		return at;
	uint64_t taken = *lost ? atomic_load(&progress->taken) : m.taken;
	uint64_t given = *lost ? atomic_load(&progress->given) : m.out_len;
	if (taken > len - at || given > LANE_OUT_MAX || (!*lost && m.type != LANE_DONE))
		return at;
	if (io_write_all(STDOUT_FILENO, front->out, given) < 0)
		eval->exit_status = 2;
	eval->incomplete = !*lost && m.incomplete;
	if (!*lost && m.notices)
		front_notify(front);
	if (!*lost && m.unreadable > 0 && eval->exit_status == 0)
		eval->exit_status = 1;
	return at + taken;
}

/* An observer's fault is not the next line's. Observers have no place in the chain. */
static bool was_observing(const struct loss *loss)
{
	return loss->phase == PROGRESS_OBSERVE || (loss->phase == PROGRESS_LOAD && loss->entry == 0);
}

/* Several were at work on [at, len) when the worker was lost: up to where each line is to be
 * asked about alone. */
static size_t begun_until(const struct eval *eval, size_t at, size_t len, const struct loss *loss)
{
	uint64_t begun = atomic_load(&eval->front.lane->progress.begun);
	size_t first = line_end(eval->front.in, at, len);
	if (loss->kind == LOSS_PROTOCOL || begun > len - at)
		return len; /* what it left is not believed */
	return at + begun > first ? at + begun : first;
}

/* All lines of [0, len), or those before a batch that goes on behind them; how far. A line
 * that is lost again and again is answered here. Where an answer was forged, nothing of its
 * block is believed, and the lines go one at a time until the one that did it is found. */
static size_t ask_lines(struct eval *eval, size_t len)
{
	struct front *front = &eval->front;
	struct loss loss = {0};
	size_t at = 0;
	int failures = 0; /* at this line */
	size_t alone = 0; /* one job for what is before */
	bool singly = false;
	while (at < len && eval->exit_status != 2 && !front_stopped) {
		struct loss start, before = loss;
		bool lost = false, another = false;
		size_t reached = at;
		unsigned jobs = singly || at < alone ? 1 : eval->jobs;
		size_t end = singly ? line_end(front->in, at, len) : at < alone ? alone : len;
		eval->cut = singly || at < alone;
		if (front->worker > 0 || front_start(front, "eval", &start) == 0)
			reached = ask_block(eval, at, end, jobs, &loss, &lost);
		else
			loss = start;
		if (!lost && eval->incomplete)
			return reached;
		if (lost && reached == at && before.kind != LOSS_NONE)
			another = loss_join(&loss, &before);
		if (lost && jobs > 1) {
			alone = begun_until(eval, at, end, &loss);
			loss.kind = LOSS_NONE;
		} else if (!lost && reached > at) {
			loss.kind = LOSS_NONE;
		} else if (loss.kind == LOSS_PROTOCOL && line_end(front->in, at, len) < end) {
			singly = true;
			loss.kind = LOSS_NONE;
		} else if (reached == at && !another && ++failures == FAILURES_MAX) {
			char reason[512];
			loss_reason(&loss, reason, sizeof(reason));
			answer_lost(eval, reason, loss_by(&loss));
			reached = line_end(front->in, at, len);
			loss.kind = LOSS_NONE;
		} else {
			front_halt(front, &loss);
			if (was_observing(&loss) && failures < 2)
				loss.kind = LOSS_NONE;
		}
		if (reached > at)
			failures = 0;
		at = reached;
	}
	return at;
}

/* Where the last whole line of [0, fill) ends; everything at the end of input. */
static size_t whole_lines(const struct eval *eval, bool ended)
{
	if (ended)
		return eval->fill;
	for (size_t i = eval->fill; i > 0; i--)
		if (eval->front.in[i - 1] == '\n')
			return i;
	return 0;
}

static void drop_front(struct eval *eval, size_t n)
{
	memmove(eval->front.in, eval->front.in + n, eval->fill - n);
	eval->fill -= n;
}

/* A line longer than we hold is refused at once and its rest skipped. */
static void refuse_long_line(struct eval *eval)
{
	answer_lost(eval, "the line is longer than 64 MiB (limits.bytes)", "host");
	if (eval->exit_status == 0)
		eval->exit_status = 1;
	eval->skipping = true;
	eval->fill = 0;
}

static void end_skipping(struct eval *eval)
{
	size_t end = line_end(eval->front.in, 0, eval->fill);
	eval->skipping = end == 0 || eval->front.in[end - 1] != '\n';
	drop_front(eval, end);
}

static int run_file(struct eval *eval, int fd)
{
	bool ended = false;
	while (!ended && eval->exit_status != 2 && !front_stopped) {
		size_t room = LANE_IN_MAX - eval->fill;
		ssize_t n = read(fd, eval->front.in + eval->fill, room < BLOCK_MAX ? room : BLOCK_MAX);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		ended = n == 0;
		eval->fill += (size_t)n;
		if (eval->skipping)
			end_skipping(eval);
		size_t whole = whole_lines(eval, ended);
		eval->ended = ended;
		drop_front(eval, ask_lines(eval, whole));
		if (eval->fill == LANE_IN_MAX)
			refuse_long_line(eval);
	}
	return 0;
}

static int run_name(struct eval *eval, const char *name)
{
	bool is_stdin = strcmp(name, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : run_file(eval, fd);
	if (fd > STDERR_FILENO)
		close(fd);
	if (r < 0)
		dprintf(STDERR_FILENO, "pawl eval: %s: %s\n", name, strerror(-r));
	return r;
}

int eval_run(char *const files[], int n, const char *config, unsigned jobs)
{
	static struct eval eval;
	eval.front = (struct front){.agent = "pawl", .config = config, .forms = forms_of("pawl"), .jobs = jobs};
	eval.jobs = jobs;
	int r = front_init(&eval.front);
	if (r < 0) {
		dprintf(STDERR_FILENO, "pawl eval: cannot start: %s\n", strerror(-r));
		return 2;
	}
	if (n == 0 && run_name(&eval, "-") < 0)
		eval.exit_status = 2;
	for (int i = 0; i < n && eval.exit_status != 2 && !front_stopped; i++)
		if (run_name(&eval, files[i]) < 0)
			eval.exit_status = 2;
	front_end(&eval.front);
	return front_stopped ? 2 : eval.exit_status;
}
