/* fuzz-lane.c - whatever a worker sends, its front stays within its memory, ends with 0 or
 * the client's refusal, and says "go ahead" only where a whole answer says so.
 *
 * The input is read as messages, field by field, and sent from the worker's end; then that
 * end is closed. The front's own functions are asked, in its place. */
#include <config.h>

#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/io.h"

static size_t written[3]; /* bytes written to stdout and stderr */
static int say(int fd, const void *data, size_t len);

static int nobody(pid_t pid, int signal)
{
	(void)pid, (void)signal;
	abort(); /* there is no worker that could be killed */
}

/* Both files as they are, but for where their words go and whom they kill. */
#define io_write_all say
#define kill nobody
#include "fronts/front.c"
#include "fronts/hook.c"
#undef kill
#undef io_write_all

#define must(condition) ((condition) ? (void)0 : abort())
#define MESSAGES_MAX 12

static int say(int fd, const void *data, size_t len)
{
	const volatile char *text = data;
	must(fd == STDOUT_FILENO || fd == STDERR_FILENO);
	if (len > 0)
		(void)(text[0] + text[len - 1]);
	written[fd] += len;
	return 0;
}

struct input {
	const uint8_t *at, *end;
};

static uint64_t number(struct input *in, int bytes)
{
	uint64_t n = 0;
	while (bytes-- > 0 && in->at < in->end)
		n = n << 8 | *in->at++;
	return n;
}

/* Mostly small, mostly a text that ends; sometimes neither. */
static void letters(struct input *in, char *to, size_t size)
{
	size_t len = number(in, 1);
	for (size_t i = 0; i < size && i < len && in->at < in->end; i++)
		to[i] = (char)*in->at++;
}

static uint64_t length(struct input *in)
{
	switch (number(in, 1) % 4) {
	case 0:
		return 0;
	case 1:
		return number(in, 2);
	case 2:
		return LANE_OUT_MAX - number(in, 2);
	default:
		return number(in, 8);
	}
}

static void send_one(struct front *front, struct input *in, int socket)
{
	struct {
		struct lane_message m;
		char more[8];
	} sent = {.m.nonce = front->nonce};
	struct lane_message *m = &sent.m;
	unsigned odd = (unsigned)number(in, 1);
	m->type = (uint32_t)number(in, 1) % 10;
	m->kind = (uint32_t)number(in, 1);
	letters(in, m->agent, sizeof(m->agent));
	letters(in, m->event, sizeof(m->event));
	letters(in, m->id, sizeof(m->id));
	letters(in, m->refusal, sizeof(m->refusal));
	m->deadline_ns = odd & 1 ? (int64_t)number(in, 8) : LANE_DEADLINE_NS;
	m->tick_ns = odd & 2 ? (int64_t)number(in, 8) : 0;
	m->exit = (uint32_t)number(in, odd & 4 ? 4 : 1);
	m->final = odd & 8;
	m->out_len = length(in);
	m->err_len = length(in);
	if ((odd & 0x30) == 0x30)
		m->nonce ^= number(in, 8);
	size_t size = (odd & 0xc0) == 0xc0 ? number(in, 2) % (sizeof(sent) + 1) : sizeof(*m);
	send(socket, &sent, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* As hook_run has it once the event is there. */
static int answer(struct front *front, struct refusal *refusal)
{
	struct loss loss = {.kind = LOSS_START};
	int exit_status, r = judge(front, 2, refusal, &exit_status, &loss);
	if (r < 0)
		return refuse_loss(refusal, &loss);
	if (r == 0)
		await_done(front, &loss);
	return exit_status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct front front;
	struct input in = {data, data + size};
	int pair[2];
	if (!front.lane)
		must(front_init(&front) == 0);
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	const char *agent = forms_agent(number(&in, 1) % 11);
	front.forms = forms_of(agent ? agent : "pawl");
	front.socket = pair[0];
	front.worker = -1;
	front.tick_ns = 0;
	front.nonce = 0x70617761;
	atomic_store(&front.lane->progress.deadline_ns, 0);
	struct refusal refusal = {.form = form_find(front.forms, (struct str){NULL, 0}),
				  .exit = front.forms->refused,
				  .id = "null",
				  .template = "BLOCKED: {reason}"};
	written[STDOUT_FILENO] = written[STDERR_FILENO] = 0;
	for (int i = 0; i < MESSAGES_MAX && in.at < in.end; i++)
		send_one(&front, &in, pair[1]);
	shutdown(pair[1], SHUT_WR);
	int status = answer(&front, &refusal);
	close(pair[1]);
	if (front.socket >= 0)
		front_end(&front);
	must(status == 0 || status == 2);
	must(status == 0 || written[STDERR_FILENO] > 0);
	must(status == 0 || written[STDOUT_FILENO] > 0 || refusal.form->refuse[0] == '\0');
	return 0;
}
