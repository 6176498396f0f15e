/* hook.c - see hook.h.
 *
 * The client takes a crashed, late or odd hook for "allow". So this process runs no code
 * but its own, starts from the refusal, and lets only a complete, checked answer of its
 * worker replace it. */
#include <config.h>

#include "fronts/hook.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "fronts/front.h"
#include "json/json.h"

/* ---- the event comes in ------------------------------------------------------------ */

struct arrival {
	size_t len;	/* bytes kept at front->in */
	bool too_large; /* more came than is kept */
	bool late;	/* it did not become complete in time */
	bool ended;	/* the client closed its end */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Waits for input; 1 there is some (or its end), 0 the time is over. */
static int wait_input(int64_t until_ns)
{
	for (;;) {
		int64_t left = until_ns - io_monotonic_ns();
		if (left < 0)
			left = 0;
		struct timespec time = {left / 1000000000, left % 1000000000};
		struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
		sigset_t none;
		sigemptyset(&none);
		int r = ppoll(&fd, 1, &time, &none);
		if (r >= 0 || errno != EINTR || front_stopped)
			return r > 0;
	}
}

/* Reads and forgets, until there is nothing more at once: the client must not see EPIPE. */
static void drain(int patience_ms)
{
	char sink[4096]; /* a page of the stack that is there already */
	for (;;) {
		if (!wait_input(io_monotonic_ns() + patience_ms * INT64_C(1000000)))
			return;
		ssize_t n = read(STDIN_FILENO, sink, sizeof(sink));
		if (n == 0 || (n < 0 && errno != EINTR))
			return;
	}
}

/* Leading white space is not kept: a flood of it costs nothing. */
static size_t skip_leading(char *data, size_t n)
{
	size_t skip = 0;
	while (skip < n && is_space(data[skip]))
		skip++;
	memmove(data, data + skip, n - skip);
	return n - skip;
}

/* Reads until one JSON value is complete and nothing follows it for a moment, the end, or
 * a limit. */
static void receive(struct front *front, struct arrival *a)
{
	struct json_end end = {0};
	int64_t until = io_monotonic_ns() + FRONT_ARRIVE_NS;
	while (!a->ended && !front_stopped) {
		if (!wait_input(until)) {
			a->late = !end.done;
			return;
		}
		ssize_t n = read(STDIN_FILENO, front->in + a->len, LANE_IN_MAX - a->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			a->ended = true;
			return;
		}
		size_t fresh = a->len == 0 ? skip_leading(front->in, (size_t)n) : (size_t)n;
		if (!end.done)
			json_end_feed(&end, front->in + a->len, fresh);
		a->len += fresh;
		if (a->len == LANE_IN_MAX) {
			a->too_large = true;
			drain(200);
			return;
		}
		until = io_monotonic_ns() +
			(end.done ? FRONT_GRACE_MS * INT64_C(1000000) : FRONT_ARRIVE_NS);
	}
}

/* ---- the answer goes out ------------------------------------------------------------- */

struct refusal {
	const struct form *form;
	int exit;
	char id[FORM_ID_MAX];
	char template[LANE_TEXT_MAX];
};

/* What a fault of our own may still do: refuse, as long as nothing has been said. */
static struct {
	const struct refusal *refusal;
	pid_t pid;
	volatile sig_atomic_t begun; /* an answer is being written */
	volatile sig_atomic_t exit;  /* and what we will end with when it is */
} last;

/* What is printed when nothing better is known. */
static int refuse(const struct refusal *refusal, const char *reason, const char *by)
{
	last.exit = refusal->exit;
	last.begun = 1;
	static char text[16384], out[65536];
	const struct text_hole hole = {"reason", str_of(reason)};
	const char *template = refusal->form->can & FORM_DEAF ? FORM_DEAF_PATTERN :
								refusal->template;
	size_t n_text = text_fill(str_of(template), &hole, 1, text, sizeof(text) - 1);
	if (n_text == 0) /* some run the tool when there is no word of why not */
		n_text = text_fill(STR("BLOCKED: {reason}"), &hole, 1, text, sizeof(text) - 1);
	bool gates = event_gates(refusal->form->kind);
	size_t n = gates ? form_refuse(refusal->form, (struct str){text, n_text}, str_of(reason),
				       str_of(by), str_of(refusal->id), out, sizeof(out) - 1) :
			   strlen(strcpy(out, refusal->form->pass));
	if (n > 0) {
		out[n] = '\n';
		io_write_all(STDOUT_FILENO, out, n + 1);
	}
	if (!gates)
		return 0;
	text[n_text] = '\n';
	io_write_all(STDERR_FILENO, text, n_text + 1);
	return refusal->exit;
}

static void on_crash(int number)
{
	(void)number;
	if (getpid() != last.pid) /* the worker's guard, which has our memory */
		_exit(127);
	_exit(last.begun ? last.exit : refuse(last.refusal, "the hook itself failed", "host"));
}

/* A client takes a hook that died of a signal for "allow". */
static void catch_crashes(const struct refusal *refusal)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
	last.refusal = refusal;
	last.pid = getpid();
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
}

static int refuse_loss(const struct refusal *refusal, const struct loss *loss)
{
	char reason[512];
	loss_reason(loss, reason, sizeof(reason));
	return refuse(refusal, reason, loss_by(loss));
}

/* Copies a text out of a message that may be anything. */
static void take_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

/* A time that a worker gives, so that adding it to a clock is safe. */
static int64_t take_time(int64_t ns)
{
	const int64_t day = INT64_C(86400000000000);
	return ns < 0 ? 0 : ns < day ? ns : day;
}

static void learn_kind(struct front *front, const struct lane_message *m, struct refusal *refusal)
{
	char event[sizeof(m->event)];
	char agent[sizeof(m->agent)];
	take_text(event, m->event, sizeof(event));
	take_text(agent, m->agent, sizeof(agent));
	const struct form_list *forms = forms_of(agent);
	refusal->form = form_find(forms ? forms : front->forms, str_of(event));
	refusal->exit = (forms ? forms : front->forms)->refused;
	take_text(refusal->id, m->id, sizeof(refusal->id));
	take_text(refusal->template, m->refusal, sizeof(refusal->template));
}

/* An answer is believed when its parts fit together: an exit status we know, a text within
 * bounds, and with every refusal a word on stderr, and on stdout for a client that reads it. */
static bool answer_fits(const struct lane_message *m, const struct refusal *refusal)
{
	if (m->out_len > LANE_OUT_MAX || m->err_len > LANE_OUT_MAX - m->out_len)
		return false;
	bool said = m->out_len > 0 || refusal->form->refuse[0] == '\0';
	return m->exit == 0 || (m->exit == 2 && said && m->err_len > 0);
}

static int print_answer(const struct front *front, const struct lane_message *m)
{
	int failed = 0;
	/* half a "go ahead" is none: 2 until it is out */
	last.exit = 2;
	last.begun = 1;
	if (m->out_len > 0) {
		failed = io_write_all(STDOUT_FILENO, front->out, m->out_len);
		if (failed == 0)
			failed = io_write_all(STDOUT_FILENO, "\n", 1);
	}
	if (m->err_len > 0) {
		io_write_all(STDERR_FILENO, front->out + m->out_len, m->err_len);
		io_write_all(STDERR_FILENO, "\n", 1);
	}
	if (m->exit == 0 && failed != 0) {
		/* a rewrite that did not get through must not become "go ahead" */
		io_write_all(STDERR_FILENO, "BLOCKED: the answer could not be written\n", 41);
		return 2;
	}
	last.exit = (int)m->exit;
	return (int)m->exit;
}

/* ---- the whole ------------------------------------------------------------------------ */

static void print_note(const struct front *front, const struct lane_message *m)
{
	if (m->err_len <= LANE_TEXT_MAX && m->out_len <= LANE_OUT_MAX - LANE_TEXT_MAX) {
		io_write_all(STDERR_FILENO, front->out + m->out_len, m->err_len);
		io_write_all(STDERR_FILENO, "\n", 1);
	}
}

/* After the answer: wait for the observers, as long as they may take, and for entries in
 * shadow, within their own deadlines. -1: lost. */
static int await_done(struct front *front, struct loss *loss)
{
	struct lane_message m;
	int64_t until = io_monotonic_ns() + FRONT_OBSERVE_NS;
	for (;;) {
		if (front_receive(front, until, front->tick_ns, &m, loss) < 0)
			return -1;
		if (m.type == LANE_DONE)
			return 0;
		if (m.type == LANE_NOTE)
			print_note(front, &m);
	}
}

/* A worker that runs no policy tells the observers what became of the call. */
static void record_loss(struct front *front, size_t len, const struct loss *loss)
{
	struct lane_message request = {.type = LANE_RECORD,
				       .len = len,
				       .has_loss = 1,
				       .started_ns = io_monotonic_ns(),
				       .loss = *loss};
	struct loss ignored;
	if (front_start(front, "hook", &ignored) == 0 &&
	    front_send(front, &request, &ignored) == 0)
		await_done(front, &ignored);
	front_end(front);
}

/* Asks the worker; 0 with *exit when it answered, 1 when that was all it has to say, -1 with
 * the loss. */
static int judge(struct front *front, size_t len, struct refusal *refusal, int *exit_status,
		 struct loss *loss)
{
	struct lane_message m, request = {.type = LANE_JUDGE, .len = len};
	request.started_ns = io_monotonic_ns();
	int64_t deadline = request.started_ns + LANE_DEADLINE_NS;
	if (front_send(front, &request, loss) < 0)
		return -1;
	for (;;) {
		if (front_receive(front, deadline, front->tick_ns, &m, loss) < 0)
			return -1;
		if (m.type == LANE_KIND) {
			learn_kind(front, &m, refusal);
			deadline = request.started_ns + take_time(m.deadline_ns);
			front->tick_ns = take_time(m.tick_ns);
		} else if (m.type == LANE_NOTE) {
			print_note(front, &m);
		} else if (m.type == LANE_HELD) {
			front_notify(front);
		} else if (m.type == LANE_ANSWER && answer_fits(&m, refusal)) {
			*exit_status = print_answer(front, &m);
			return m.final ? 1 : 0;
		} else {
			loss_read(loss, &front->lane->progress);
			loss->kind = LOSS_PROTOCOL;
			front_end(front);
			return -1;
		}
	}
}

static int after_answer(struct front *front, size_t len, int exit_status, bool final)
{
	struct loss loss = {0};
	bool lost = !final && await_done(front, &loss) < 0;
	/* a shadow plugin took the worker down: that is worth a record, and nothing more */
	bool shadow = (loss.flags & PROGRESS_SHADOW) != 0;
	front_end(front);
	if (lost && shadow && !front_stopped)
		record_loss(front, len, &loss);
	drain(0);
	return exit_status;
}

int hook_run(const char *agent, const char *event, const char *config)
{
	struct front front = {.agent = agent, .event = event, .config = config,
			      .forms = forms_of(agent)};
	struct refusal refusal = {.form = form_find(front.forms, str_of(event)),
				  .exit = front.forms->refused,
				  .id = "null",
				  .template = "BLOCKED: {reason}"};
	struct arrival arrival = {0};
	struct loss loss = {.kind = LOSS_START};
	catch_crashes(&refusal);
	int exit_status, r = front_init(&front);
	if (r < 0) {
		loss.status = -r;
		return refuse_loss(&refusal, &loss);
	}
	bool started = front_start(&front, "hook", &loss) == 0;
	receive(&front, &arrival);
	const char *wrong = arrival.too_large ? "the event is larger than 64 MiB (limits.bytes)" :
			    arrival.late ? "the event did not arrive completely within 2 s" :
			    front_stopped ? "the hook was asked to stop before an answer was found" :
					    NULL;
	if (wrong || !started) {
		exit_status = wrong ? refuse(&refusal, wrong, front_stopped ? "cancelled" : "host") :
				      refuse_loss(&refusal, &loss);
		front_end(&front);
		drain(0);
		return exit_status;
	}
	r = judge(&front, arrival.len, &refusal, &exit_status, &loss);
	if (r >= 0)
		return after_answer(&front, arrival.len, exit_status, r == 1);
	front_halt(&front, &loss);
	exit_status = refuse_loss(&refusal, &loss);
	if (loss.kind != LOSS_CANCELLED)
		record_loss(&front, arrival.len, &loss);
	drain(0);
	return exit_status;
}
