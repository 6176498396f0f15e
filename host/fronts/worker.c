/* worker.c - reads the event, asks the chain, answers, tells the observers.
 *
 * Whatever happens here, the front at the other end of the lane answers the client. The
 * order matters: the front learns what a refusal looks like before any plugin is loaded,
 * and has the answer before any observer runs. */
#include <config.h>

#include "fronts/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/module.h"
#include "base/text.h"
#include "core/approval.h"
#include "core/approve.h"
#include "core/host.h"
#include "core/record.h"
#include "core/state.h"
#include "dialects/dialect.h"
#include "fronts/batch.h"
#include "fronts/front.h"
#include "fronts/lane.h"
#include "fronts/time.h"

struct judged {
	struct pawl_call *call;
	struct decision decision;
	struct answer answer;
	bool readable; /* it was an event */
};

struct worker {
	pid_t pid;
	const volatile char *mark; /* eval: 1 in this process, 0 in a fork of it; may be NULL */
	int socket;
	struct lane *lane;
	struct progress *progress; /* in it: our own */
	const char *in;
	char *out;
	bool lines; /* eval */
	const struct dialect *dialect;
	struct str event_given;
	struct config *config; /* NULL: broken, and why */
	struct error config_why;
	struct host *host;
	struct json_arena *arena;
	const struct lane_message *request;
	bool told_audit_trouble;
	bool notices;  /* a line of this block has some to be told */
	struct crew *crew; /* several judge lines, of whom we are one; else NULL */
	struct lane_message message;
	struct judged judged; /* the one line or event at hand, but for a batch */
};

/* ---- talking to the front ---------------------------------------------------------- */

/* The one message that is ever being filled in: pages are dear at start. */
static struct lane_message *fresh(struct worker *w)
{
	memset(&w->message, 0, sizeof(w->message));
	return &w->message;
}

/* A message that cannot be sent is missing: the front is to learn that now, not when the
 * deadline is over. */
static void reply(struct worker *w, struct lane_message *m, uint32_t type)
{
	ssize_t n;
	m->type = type;
	m->nonce = w->request->nonce;
	do
		n = send(w->socket, m, sizeof(*m), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*m))
		_exit(1);
}

static int64_t shortest_entry_deadline(const struct config *config)
{
	int64_t shortest = 0;
	for (size_t i = 0; config && i < config->n_chain; i++)
		if (config->chain[i].deadline_ns > 0 &&
		    (shortest == 0 || config->chain[i].deadline_ns < shortest))
			shortest = config->chain[i].deadline_ns;
	return shortest;
}

/* The template with everything but the reason filled in: the front puts that. */
static void fill_template(const struct worker *w, const struct pawl_call *call, char *buf,
			  size_t room)
{
	const struct text_hole holes[] = {
		{"tool", call->text[PAWL_T_TOOL]},
		{"rule", STR("")},
		{"plugin", STR("")},
	};
	struct str pattern = w->config ? w->config->refusal : STR("BLOCKED: {reason}");
	text_fill(pattern, holes, 3, buf, room);
}

static void send_kind(struct worker *w, const struct pawl_call *call)
{
	struct lane_message *m = fresh(w);
	m->kind = call->kind;
	text_clean(call->text[PAWL_T_EVENT], m->event, sizeof(m->event));
	text_clean(call->text[PAWL_T_CLIENT], m->agent, sizeof(m->agent));
	snprintf(m->id, sizeof(m->id), "%.*s",
		 call->call_id_json.len < sizeof(m->id) ? (int)call->call_id_json.len : 4,
		 call->call_id_json.len < sizeof(m->id) ? call->call_id_json.ptr : "null");
	fill_template(w, call, m->refusal, sizeof(m->refusal));
	m->deadline_ns = w->config ? w->config->deadline_ns : LANE_DEADLINE_NS;
	m->tick_ns = shortest_entry_deadline(w->config) / 4;
	reply(w, m, LANE_KIND);
}

/* final: nobody is to be told after it, the front need not wait. */
static void send_answer(struct worker *w, const struct answer *answer, bool final)
{
	struct lane_message *m = fresh(w);
	if (answer->out.len + answer->err.len >= LANE_OUT_MAX)
		return; /* no answer is a refusal */
	atomic_store(&w->lane->progress.deadline_ns, 0); /* those of the chain are over */
	memcpy(w->out, answer->out.ptr ? answer->out.ptr : "", answer->out.len);
	memcpy(w->out + answer->out.len, answer->err.ptr ? answer->err.ptr : "", answer->err.len);
	m->exit = (uint32_t)answer->exit;
	m->out_len = answer->out.len;
	m->err_len = answer->err.len;
	m->final = final;
	reply(w, m, LANE_ANSWER);
}

static void send_note(struct worker *w, const char *text)
{
	struct lane_message *m = fresh(w);
	m->err_len = strlen(text) < LANE_TEXT_MAX ? strlen(text) : LANE_TEXT_MAX;
	memcpy(w->out + LANE_OUT_MAX - LANE_TEXT_MAX, text, m->err_len);
	m->out_len = LANE_OUT_MAX - LANE_TEXT_MAX;
	reply(w, m, LANE_NOTE);
}

/* ---- one event ----------------------------------------------------------------------- */

static struct str said(struct pawl_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct str said(struct pawl_call *call, const char *format, ...)
{
	char text[2048], clean[2048];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	size_t len = text_clean(str_of(text), clean, sizeof(clean));
	return json_arena_text(call->arena, (struct str){clean, len});
}

/* What eval's caller may say and a hook's may not. */
static int trusted_fields(struct pawl_call *call, const struct json_value *event,
			  const struct json_value **ret_context, struct error *err)
{
	struct str now;
	const struct json_value *member = json_member(event, STR("now"));
	*ret_context = json_member(event, STR("context"));
	if (*ret_context && json_type(*ret_context) != JSON_OBJECT)
		return error_set(err, EBADMSG, "the event's context is not an object");
	if (!member)
		return 0;
	if (json_string(member, &now) < 0 ||
	    time_rfc3339(now, &call->number[PAWL_N_NOW_NS]) < 0)
		return error_set(err, EBADMSG, "the event's now is not an RFC 3339 time");
	return 0;
}

static int read_event(struct worker *w, struct str text, struct pawl_call *call,
		      const struct json_value **ret_context, struct error *err)
{
	const struct json_value *event;
	struct json_fault at;
	dialect_assume(w->dialect, call, w->event_given);
	if (text.len == 0)
		return error_set(err, EBADMSG, "empty event: nothing came on stdin");
	if (text.len > call->limits.bytes)
		return error_set(err, E2BIG, "the event is larger than %zu bytes (limits.bytes)",
				 call->limits.bytes);
	int r = json_parse(w->arena, text, call->limits, JSON_BORROW, &event, &at, err);
	if (r < 0) {
		error_prefix(err, "the event cannot be read: line %u column %u", at.line,
			     at.column);
		return r;
	}
	r = dialect_decode(w->dialect, call, event, w->event_given, err);
	if (r == 0 && w->lines)
		r = trusted_fields(call, event, ret_context, err);
	return r;
}

static void refuse(struct worker *w, struct judged *j, enum refused_by by, struct str reason)
{
	host_refuse(w->host, j->call, &j->decision, by, reason);
}

/* What a plugin that takes the worker down now does to the session. */
static void arm_latch(struct worker *w, const struct pawl_call *call)
{
	struct progress *p = w->progress;
	struct str dir;
	bool halts = false;
	p->latch[0] = '\0';
	for (size_t i = 0; i < w->config->n_chain; i++)
		halts |= w->config->chain[i].on_error == ON_ERROR_HALT;
	if (!halts || host_state_dir(w->host, &dir, NULL) < 0 || state_prepare(dir, NULL) < 0 ||
	    state_latch_path(dir, call->text[PAWL_T_SESSION], p->latch) < 0)
		p->latch[0] = '\0';
}

/* ---- a person ------------------------------------------------------------------------ */

/* What is left of the deadline for the answer, once a hook has waited in vain. */
#define RESERVE_MIN_NS INT64_C(100000000)
#define RESERVE_MAX_NS INT64_C(1000000000)

static int load_store(struct host *host, struct error *err)
{
	if (!host->store)
		host->store = module_symbol("approvals.so", "pawl_approval_store", err);
	return host->store ? 0 : -ENOENT;
}

static int64_t wait_until(const struct worker *w)
{
	const struct config *config = w->config;
	int64_t now = io_monotonic_ns(), reserve = config->deadline_ns / 4;
	reserve = reserve < RESERVE_MIN_NS ? RESERVE_MIN_NS : reserve;
	reserve = reserve > RESERVE_MAX_NS ? RESERVE_MAX_NS : reserve;
	int64_t latest = w->host->call_deadline_ns - reserve;
	return config->approval.wait_ns < latest - now ? now + config->approval.wait_ns : latest;
}

static bool needs_person(const struct worker *w, const struct judged *j)
{
	return j->decision.verdict == VERDICT_REQUIRE_APPROVAL &&
	       w->config->approval.ask == ASK_QUEUE;
}

/* False: it was refused, as nobody can be asked. */
static bool have_store(struct worker *w, struct judged *j)
{
	struct error err;
	if (load_store(w->host, &err) == 0)
		return true;
	refuse(w, j, REFUSED_HOST,
	       said(j->call, "a person has to approve it, and there is no queue: %s", err.text));
	return false;
}

/* Somebody is to be told: by the front, as what we start ends with us. */
static void tell_notices(struct worker *w, const struct decision *d)
{
	if (!d->notices)
		return;
	w->notices = true;
	if (!w->lines)
		reply(w, fresh(w), LANE_HELD);
}

/* approval.ask "queue": the call is persisted, then recorded, and only then waited for. A
 * client that can be told of a pause is told at once; a hook waits as long as it may. */
static void ask_person(struct worker *w, struct judged *j)
{
	struct error err;
	struct decision *d = &j->decision;
	const struct form *form = dialect_form(w->dialect, j->call);
	bool is_new;
	if (!needs_person(w, j) || !have_store(w, j))
		return;
	if (form->can & FORM_ALL) {
		batch_hold(w->host, w->dialect, &(struct batch_member){j->call, d}, 1);
		tell_notices(w, d);
		return;
	}
	if (d->modified && !(form->can & FORM_REWRITE))
		return; /* what would be approved cannot be run: refused, with what to ask for */
	approve_ask(w->host, j->call, d, &is_new);
	tell_notices(w, d);
	if (d->verdict != VERDICT_REQUIRE_APPROVAL)
		return;
	if (is_new && host_observe_held(w->host, j->call, d, &err) < 0)
		refuse(w, j, REFUSED_HOST, STR("the audit could not record this call"));
	else
		approve_wait(w->host, j->call, d, wait_until(w));
}

/* Asking the kernel who we are takes a tenth of the time a line does. */
static void set_mark(struct worker *w)
{
#ifdef MADV_WIPEONFORK
	size_t page = (size_t)getpagesize();
	char *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mark == MAP_FAILED || madvise(mark, page, MADV_WIPEONFORK) != 0)
		return;
	*mark = 1;
	w->mark = mark;
#else
	(void)w;
#endif
}

static bool is_fork(const struct worker *w)
{
	return w->mark ? *w->mark == 0 : getpid() != w->pid;
}

static void judge_call(struct worker *w, struct judged *j, const struct json_value *context)
{
	struct error err;
	if (!w->config) {
		refuse(w, j, REFUSED_HOST,
		       said(j->call, "pawl cannot read its configuration: %s", w->config_why.text));
		return;
	}
	w->host->call_deadline_ns = w->request->started_ns + w->config->deadline_ns;
	if (w->lines)
		w->host->call_deadline_ns = io_monotonic_ns() + w->config->deadline_ns;
	if (host_set_context(w->host, j->call, context, &err) < 0) {
		refuse(w, j, REFUSED_HOST,
		       said(j->call, "the trusted context cannot be built: %s", err.text));
		return;
	}
	arm_latch(w, j->call);
	host_judge(w->host, j->call, &j->decision);
	dialect_settle(j->call, &j->decision);
	if (is_fork(w))
		_exit(0); /* a plugin forked and came back twice: one of us answers */
	if (!w->lines)
		ask_person(w, j);
}

static void encode(struct worker *w, struct judged *j)
{
	struct error err;
	/* a client that cannot do what was decided is refused, and that is then the decision */
	struct decision shown = j->decision;
	int r = dialect_encode(w->dialect, w->host, j->call, &shown, &j->answer, &err);
	if (r < 0) {
		shown = j->decision;
		host_refuse(w->host, j->call, &shown, REFUSED_HOST,
			    said(j->call, "the answer cannot be written: %s", err.text));
		r = dialect_refuse(w->dialect, j->call, &shown, &j->answer, &err);
	}
	if (r < 0)
		j->answer = (struct answer){.exit = 2};
	if (shown.verdict != j->decision.verdict || shown.n_remarks > j->decision.n_remarks)
		j->decision = shown;
}

/* A worker was lost over this event: the refusal its front gave, for the observers. */
static void decide_loss(struct worker *w, struct judged *j, const struct loss *loss)
{
	char reason[512];
	size_t len = loss_reason(loss, reason, sizeof(reason));
	struct decision *d = &j->decision;
	struct step *step = json_arena_alloc(w->arena, sizeof(*step));
	memset(d, 0, sizeof(*d));
	d->args = j->call->root[PAWL_R_ARGS];
	if (loss->plugin[0])
		d->plugin = json_arena_text(w->arena, str_of(loss->plugin));
	if (step && loss->plugin[0]) {
		*step = (struct step){.plugin = d->plugin,
				      .entry = loss->entry ? loss->entry - 1 : 0,
				      .verdict = VERDICT_ERROR,
				      .shadow = (loss->flags & PROGRESS_SHADOW) != 0,
				      .error_class = loss_class(loss)};
		d->steps = step;
		d->n_steps = d->max_steps = 1;
	}
	refuse(w, j,
	       loss->kind == LOSS_TIMEOUT   ? REFUSED_TIMEOUT :
	       loss->kind == LOSS_CANCELLED ? REFUSED_CANCELLED :
	       loss->plugin[0]		    ? REFUSED_ERROR :
					      REFUSED_HOST,
	       json_arena_text(w->arena, (struct str){reason, len}));
	dialect_mark_unheard(w->dialect, j->call, d);
}

/* From text to decision; the front is told the kind on the way. */
static bool judge_text(struct worker *w, struct str text, const struct loss *loss, struct judged *j)
{
	struct error err;
	const struct json_value *context = NULL;
	struct json_limits limits = w->config ? w->config->limits : JSON_DEFAULT_LIMITS;
	memset(j, 0, sizeof(*j));
	atomic_store_explicit(&w->progress->phase, PROGRESS_DECODE, memory_order_relaxed);
	j->call = call_new(w->arena, limits);
	if (!j->call)
		return false;
	int r = read_event(w, text, j->call, &context, &err);
	j->readable = r == 0;
	if (!w->lines)
		send_kind(w, j->call);
	if (r < 0)
		refuse(w, j, REFUSED_HOST, said(j->call, "%s", err.text));
	else if (loss && !(loss->flags & PROGRESS_SHADOW))
		decide_loss(w, j, loss);
	else if (event_gates(j->call->kind))
		judge_call(w, j, context);
	return true;
}

/* What a person decided, or is to decide, counts only when it is on record. */
static bool must_be_told(const struct decision *d)
{
	return d->approved_by.ptr ||
	       (d->verdict == VERDICT_REQUIRE_APPROVAL && d->approval.ptr);
}

/* A yes was used up before that could be recorded: a log that says so of a call whose yes then
 * stays would be worse than one that lacks it. */
static void refuse_unrecorded(struct worker *w, struct judged *j)
{
	struct str text = STR("the audit could not record this call");
	const struct decision *d = &j->decision;
	if (d->approved_by.ptr)
		text = said(j->call, "%.*s; it did not run, and its approval %.*s is used up: ask "
				     "again for a new one",
			    STR_FMT(text), STR_FMT(d->approval));
	refuse(w, j, REFUSED_HOST, text);
}

/* audit.on_error other than drop: the record comes first, and counts. What is recorded is
 * what the client will be told, so the answer is made before; anew when the record fails. */
static void observe_first(struct worker *w, struct judged *j, bool *ret_told)
{
	struct error err;
	*ret_told = false;
	if (!w->config || !j->readable || !event_gates(j->call->kind) ||
	    (w->config->audit_on_error == AUDIT_DROP && !must_be_told(&j->decision)))
		return;
	*ret_told = true;
	if (host_observe(w->host, j->call, &j->decision, &err) == 0)
		return;
	if (w->config->audit_on_error == AUDIT_WARN && !must_be_told(&j->decision))
		w->told_audit_trouble = true;
	else if (j->decision.verdict != VERDICT_DENY) {
		refuse_unrecorded(w, j);
		encode(w, j);
	}
}

static void observe(struct worker *w, struct judged *j, bool told)
{
	struct error err;
	struct progress *progress = w->progress;
	atomic_store(&progress->phase, PROGRESS_OBSERVE);
	if (!w->config || !j->readable)
		return;
	if (w->lines) /* nobody waits for the answer, but for the next line's */
		atomic_store(&progress->deadline_ns, io_monotonic_ns() + FRONT_OBSERVE_NS);
	if (!told)
		host_observe(w->host, j->call, &j->decision, &err);
	atomic_store(&progress->deadline_ns, 0);
	if (j->decision.n_asked_after == 0)
		return;
	size_t first = j->decision.n_steps;
	host_judge_shadow(w->host, j->call, &j->decision);
	host_observe_shadow(w->host, j->call, &j->decision, first);
}

/* ---- requests --------------------------------------------------------------------------- */

static void serve_event(struct worker *w)
{
	struct judged *j = &w->judged;
	bool told;
	if (!judge_text(w, (struct str){w->in, w->request->len}, NULL, j))
		return;
	encode(w, j);
	observe_first(w, j, &told);
	if (w->told_audit_trouble)
		send_note(w, "pawl: the audit could not record this call");
	bool final = told || !w->config || !j->readable || !host_listens(w->host, j->call);
	final = final && j->decision.n_asked_after == 0;
	send_answer(w, &j->answer, final);
	if (final)
		return;
	observe(w, j, told);
	reply(w, fresh(w), LANE_DONE);
}

static void serve_record(struct worker *w)
{
	struct judged *j = &w->judged;
	const struct loss *loss = &w->request->loss;
	if (!judge_text(w, (struct str){w->in, w->request->len}, loss, j))
		return;
	atomic_store(&w->lane->progress.phase, PROGRESS_OBSERVE);
	if (j->readable && w->config && event_gates(j->call->kind)) {
		if (loss->flags & PROGRESS_SHADOW) {
			decide_loss(w, j, loss);
			host_observe_shadow(w->host, j->call, &j->decision, 0);
		} else {
			host_observe(w->host, j->call, &j->decision, NULL);
		}
	}
	reply(w, fresh(w), LANE_DONE);
}

/* A block of lines, and how far it is answered. */
struct block {
	struct str text;
	const struct loss *loss; /* of its first line */
	/* handing out */
	size_t at;	 /* what begins here is nobody's yet */
	uint64_t pieces; /* handed out */
	bool incomplete; /* what is left is a batch that goes on behind the block */
	/* answering */
	uint64_t answered; /* pieces */
	size_t taken;
	uint64_t given;
	uint32_t unreadable;
	int error; /* what is behind it stays unanswered */
};

/* What one thread judges at a time: a line, or the lines of a batch. */
struct piece {
	struct str text;
	uint64_t number, end; /* of it in the block */
	size_t n;	      /* lines */
	const struct loss *loss;
};

static int judge_line(struct worker *w, struct str line, const struct loss *loss, struct judged *j)
{
	if (w->host)
		w->host->shadow = loss && (loss->flags & PROGRESS_SHADOW) ? SHADOW_SKIP :
									     SHADOW_IN_PLACE;
	if (!judge_text(w, line, loss, j))
		return -ENOMEM;
	if (loss && (loss->flags & PROGRESS_SHADOW) && w->config) {
		struct judged lost = {.call = j->call};
		decide_loss(w, &lost, loss);
		host_observe_shadow(w->host, j->call, &lost.decision, 0);
	}
	return 0;
}

static int put_answer(struct worker *w, const struct judged *j, struct block *block)
{
	struct str out = j->answer.out;
	if (!out.ptr || block->given + out.len + 1 > LANE_OUT_MAX - LANE_TEXT_MAX)
		return -ENOSPC;
	memcpy(w->out + block->given, out.ptr, out.len);
	block->given += out.len;
	w->out[block->given++] = '\n';
	block->unreadable += !j->readable;
	return 0;
}

/* What was put counts as given from now on; up to end the block is taken. */
static void count_given(struct worker *w, struct block *block, uint64_t end)
{
	block->taken = end;
	atomic_store_explicit(&w->lane->progress.given, block->given, memory_order_relaxed);
	atomic_store_explicit(&w->lane->progress.taken, end, memory_order_release);
}

/* ---- several at work ----------------------------------------------------------------------- */

/* With --jobs, the lines of a block are judged by several threads. What follows the judging is
 * done in the order of the lines, by one thread at a time: whoever has judged a line waits until
 * those before it are answered and recorded. So what comes out, and the order of the records,
 * does not hang on the timing, and no answer has to be kept. */
struct crew {
	pthread_mutex_t lock;
	pthread_cond_t work;	/* there is a block */
	pthread_cond_t idle;	/* a thread has found nothing left */
	pthread_cond_t turn[PROGRESS_JOBS_MAX]; /* of the piece with that number modulo jobs */
	unsigned jobs, at_work;
	uint64_t blocks; /* so far */
	struct block *block;
	struct worker worker[PROGRESS_JOBS_MAX]; /* [0] is not used: the process's own */
};

/* Until all before the piece is answered; false when it stays unanswered as what is before it
 * does. The clocks are the front's: nothing of ours runs meanwhile. */
static bool begin_answer(struct worker *w, const struct block *block, const struct piece *piece)
{
	struct crew *crew = w->crew;
	if (!crew)
		return true;
	atomic_store(&w->progress->deadline_ns, 0);
	pthread_mutex_lock(&crew->lock);
	while (block->answered != piece->number)
		pthread_cond_wait(&crew->turn[piece->number % crew->jobs], &crew->lock);
	pthread_mutex_unlock(&crew->lock);
	return block->error == 0;
}

static void end_answer(struct worker *w, struct block *block, const struct piece *piece, int r)
{
	struct crew *crew = w->crew;
	if (crew)
		pthread_mutex_lock(&crew->lock);
	if (block->error == 0)
		block->error = r;
	block->answered++;
	if (!crew)
		return;
	pthread_cond_signal(&crew->turn[(piece->number + 1) % crew->jobs]);
	pthread_mutex_unlock(&crew->lock);
}

/* The answer counts before any observer runs. Where several are at work it counts after: what
 * takes the worker down may be another's line, and this one is then asked about again rather
 * than not recorded. */
static void observe_counted(struct worker *w, struct judged *j, bool told, struct block *block,
			    uint64_t end)
{
	if (!w->crew)
		count_given(w, block, end);
	observe(w, j, told);
	if (w->crew)
		count_given(w, block, end);
}

/* One line of eval, up to end of the block: its answer goes behind the others. */
static int answer_line(struct worker *w, struct judged *j, const struct piece *piece,
		       struct block *block)
{
	bool told;
	ask_person(w, j);
	encode(w, j);
	observe_first(w, j, &told);
	int r = put_answer(w, j, block);
	if (r == 0)
		observe_counted(w, j, told, block, piece->end);
	return r;
}

static int serve_line(struct worker *w, const struct piece *piece, struct block *block)
{
	int r = judge_line(w, piece->text, piece->loss, &w->judged);
	if (begin_answer(w, block, piece) && r == 0)
		r = answer_line(w, &w->judged, piece, block);
	return r;
}

/* ---- a batch ------------------------------------------------------------------------------- */

struct batch_line {
	struct judged judged;
	bool told;
};

static void hold_batch(struct worker *w, struct batch_line *lines, size_t n)
{
	static struct batch_member members[BATCH_CALLS_MAX];
	size_t n_members = 0;
	for (size_t i = 0; w->config && i < n; i++) {
		struct judged *j = &lines[i].judged;
		if (needs_person(w, j) && !have_store(w, j))
			continue;
		if (j->readable && j->call->kind == EVENT_PRE_TOOL)
			members[n_members++] = (struct batch_member){j->call, &j->decision};
	}
	if (n_members > 0)
		batch_hold(w->host, w->dialect, members, n_members);
	for (size_t i = 0; i < n_members; i++)
		tell_notices(w, members[i].decision);
}

/* All lines of a batch are judged, in their order, before anybody is asked. Those that took a
 * worker down before are refused. */
static int judge_batch(struct worker *w, const struct piece *piece, struct batch_line *lines)
{
	struct str text = piece->text;
	int r = 0;
	size_t at = 0;
	for (size_t i = 0; r == 0 && i < piece->n; i++) {
		const char *stop = memchr(text.ptr + at, '\n', text.len - at);
		size_t len = stop ? (size_t)(stop - text.ptr) - at : text.len - at;
		bool lost = piece->loss && loss_befell(piece->loss, i);
		atomic_store(&w->progress->line, (uint32_t)i);
		r = judge_line(w, (struct str){text.ptr + at, len}, lost ? piece->loss : NULL,
			       &lines[i].judged);
		at += len + 1;
	}
	atomic_store(&w->progress->line, PROGRESS_ALL);
	return r;
}

static int answer_batch(struct worker *w, const struct piece *piece, struct batch_line *lines,
			struct block *block)
{
	struct block before = *block;
	size_t n = piece->n;
	int r = 0;
	hold_batch(w, lines, n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		encode(w, &lines[i].judged);
		observe_first(w, &lines[i].judged, &lines[i].told);
		r = put_answer(w, &lines[i].judged, block);
	}
	if (r < 0) {
		block->given = before.given;
		block->unreadable = before.unreadable;
		return r;
	}
	if (!w->crew)
		count_given(w, block, piece->end);
	for (size_t i = 0; i < n; i++)
		observe(w, &lines[i].judged, lines[i].told);
	if (w->crew)
		count_given(w, block, piece->end);
	return 0;
}

static int serve_batch(struct worker *w, const struct piece *piece, struct block *block)
{
	struct batch_line *lines = calloc(piece->n, sizeof(*lines));
	int r = lines ? judge_batch(w, piece, lines) : -ENOMEM;
	if (begin_answer(w, block, piece) && r == 0)
		r = answer_batch(w, piece, lines, block);
	free(lines);
	return r;
}

static bool is_blank(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
			return false;
	return true;
}

/* The next piece of the block, for this thread; false when there is none. */
static bool cut_piece(struct worker *w, struct block *block, struct piece *piece)
{
	size_t end;
	if (block->at >= block->text.len || block->error < 0)
		return false;
	struct str rest = str_after(block->text, block->at);
	size_t n = batch_extent(w->arena, rest, w->request->ended, &end);
	block->incomplete = n == 0;
	if (n == 0)
		return false;
	*piece = (struct piece){.text = {rest.ptr, end - (rest.ptr[end - 1] == '\n')},
				.number = block->pieces++,
				.end = block->at + end,
				.n = n,
				.loss = block->at == 0 ? block->loss : NULL};
	block->at = piece->end;
	atomic_store(&w->lane->progress.begun, piece->end);
	return true;
}

static bool next_piece(struct worker *w, struct block *block, struct piece *piece)
{
	json_arena_rewind(w->arena, 0);
	if (!w->crew)
		return cut_piece(w, block, piece);
	pthread_mutex_lock(&w->crew->lock);
	bool is = !block->incomplete && cut_piece(w, block, piece);
	pthread_mutex_unlock(&w->crew->lock);
	return is;
}

static int serve_blank(struct worker *w, const struct piece *piece, struct block *block)
{
	if (begin_answer(w, block, piece))
		block->taken = piece->end;
	return 0;
}

static void work_on(struct worker *w, struct block *block)
{
	struct piece piece;
	while (next_piece(w, block, &piece)) {
		int r = piece.n > 1		 ? serve_batch(w, &piece, block) :
			is_blank(piece.text) ? serve_blank(w, &piece, block) :
					       serve_line(w, &piece, block);
		end_answer(w, block, &piece, r);
	}
}

/* A thread of the crew: a block, and the next. */
static void *be_job(void *data)
{
	struct worker *w = data;
	struct crew *crew = w->crew;
	uint64_t seen = 0;
	pthread_mutex_lock(&crew->lock);
	for (;;) {
		while (crew->blocks == seen)
			pthread_cond_wait(&crew->work, &crew->lock);
		seen = crew->blocks;
		w->request = crew->worker[0].request;
		pthread_mutex_unlock(&crew->lock);
		work_on(w, crew->block);
		pthread_mutex_lock(&crew->lock);
		if (--crew->at_work == 0)
			pthread_cond_signal(&crew->idle);
	}
	return NULL;
}

static int start_job(struct worker *w, struct crew *crew, unsigned job)
{
	struct worker *other = &crew->worker[job];
	struct error err;
	pthread_t thread;
	*other = *w;
	other->crew = crew;
	other->progress = lane_progress(w->lane, job);
	int r = json_arena_new(JSON_ARENA_DEFAULT, &other->arena, &err);
	if (r == 0 && w->host)
		r = host_share(w->host, other->progress, &other->host, &err);
	return r < 0 ? r : -pthread_create(&thread, NULL, be_job, other);
}

/* As many as can be had: one is enough. */
static void start_crew(struct worker *w, unsigned jobs)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	if (!crew)
		return;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->work, NULL);
	pthread_cond_init(&crew->idle, NULL);
	crew->jobs = 1;
	for (unsigned i = 0; i < PROGRESS_JOBS_MAX; i++)
		pthread_cond_init(&crew->turn[i], NULL);
	while (crew->jobs < jobs && crew->jobs < PROGRESS_JOBS_MAX &&
	       start_job(w, crew, crew->jobs) == 0)
		crew->jobs++;
	w->crew = crew;
}

static void work_together(struct worker *w, struct block *block)
{
	struct crew *crew = w->crew;
	pthread_mutex_lock(&crew->lock);
	crew->block = block;
	crew->worker[0].request = w->request;
	crew->at_work = crew->jobs - 1;
	crew->blocks++;
	pthread_cond_broadcast(&crew->work);
	pthread_mutex_unlock(&crew->lock);
	work_on(w, block);
	pthread_mutex_lock(&crew->lock);
	while (crew->at_work > 0)
		pthread_cond_wait(&crew->idle, &crew->lock);
	for (unsigned i = 1; i < crew->jobs; i++) {
		w->notices |= crew->worker[i].notices;
		crew->worker[i].notices = false;
	}
	pthread_mutex_unlock(&crew->lock);
}

static void serve_lines(struct worker *w)
{
	struct block block = {.text = {w->in + w->request->offset, w->request->len},
			      .loss = w->request->has_loss ? &w->request->loss : NULL};
	if (w->request->jobs > 1 && !w->crew)
		start_crew(w, w->request->jobs);
	if (w->crew)
		work_together(w, &block);
	else
		work_on(w, &block);
	struct lane_message *done = fresh(w);
	done->taken = block.taken;
	done->out_len = block.given;
	done->unreadable = block.unreadable;
	done->incomplete = block.incomplete;
	done->notices = w->notices;
	w->notices = false;
	reply(w, done, LANE_DONE);
}

/* ---- the process --------------------------------------------------------------------------- */

/* Descriptors a plugin may stumble over are moved far up. */
static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	if (high >= 0)
		close(fd);
	return high >= 0 ? high : fd;
}

static int map_lane(struct worker *w)
{
	int memory = move_high(LANE_MEMORY);
	w->socket = move_high(LANE_SOCKET);
	void *head = mmap(NULL, LANE_IN, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	void *in = mmap(NULL, LANE_IN_MAX, PROT_READ, MAP_SHARED | MAP_NORESERVE, memory, LANE_IN);
	void *out = mmap(NULL, LANE_OUT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 memory, LANE_OUT);
	if (head == MAP_FAILED || in == MAP_FAILED || out == MAP_FAILED)
		return -errno;
	close(memory);
	w->lane = head;
	w->progress = &w->lane->progress;
	w->in = in;
	w->out = out;
	return 0;
}

static void settle(void)
{
	sigset_t none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(077);
}

/* One arena for config, options and the one event of a hook: each more is some system calls
 * and fresh pages. eval rewinds the events', so the others need one of their own. */
static void open_host(struct worker *w, const char *config)
{
	struct json_arena *kept = w->lines ? NULL : w->arena;
	const char *path = config[0] ? config : NULL;
	int r = kept ? config_load_in(kept, path, &w->config, &w->config_why) :
		       config_load(path, &w->config, &w->config_why);
	if (r == 0)
		r = host_new(w->config, kept, &w->host, &w->config_why);
	if (r < 0) {
		w->config = NULL;
		w->host = NULL;
		return;
	}
	w->host->progress = w->progress;
	w->host->environment_of = w->lane->front; /* no plugin was loaded yet that could change it */
	w->host->shadow = w->lines ? SHADOW_IN_PLACE : SHADOW_AFTER;
}

/* What a start is seen to touch of stack and heap. */
#define READY_STACK 28672
#define READY_HEAP 36864

/* Pages that are asked for together cost less than a fault each. Where the kernel cannot, or
 * there is nothing, they come as they are touched. */
static void get_ready(void *at, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)getpagesize();
	char *start = (char *)at - (uintptr_t)at % page;
	madvise(start, (size_t)((char *)at + size - start), MADV_POPULATE_WRITE);
#else
	(void)at, (void)size;
#endif
}

static void get_all_ready(void *own, size_t size)
{
	char *frame = __builtin_frame_address(0), *heap = malloc(1);
	get_ready(own, size);
	get_ready(frame - READY_STACK, READY_STACK);
	if (heap)
		get_ready(heap, READY_HEAP);
	free(heap);
}

int worker_run(char *const argv[])
{
	static struct {
		struct worker w;
		struct lane_message request;
	} hot;
	struct worker *w = &hot.w;
	struct lane_message *request = &hot.request;
	struct error err;
	get_all_ready(&hot, sizeof(hot));
	settle();
	w->pid = getpid();
	w->lines = strcmp(argv[0], "eval") == 0;
	w->dialect = dialect_find(argv[1]);
	w->event_given = argv[2][0] ? str_of(argv[2]) : (struct str){NULL, 0};
	if (!w->dialect || map_lane(w) < 0 ||
	    json_arena_new(JSON_ARENA_DEFAULT, &w->arena, &err) < 0)
		return 126;
	if (w->lines)
		set_mark(w);
	open_host(w, argv[3]);
	w->request = request;
	while (recv(w->socket, request, sizeof(*request), 0) == (ssize_t)sizeof(*request)) {
		if (request->type == LANE_JUDGE)
			serve_event(w);
		else if (request->type == LANE_RECORD)
			serve_record(w);
		else
			serve_lines(w);
	}
	_exit(0);
}
