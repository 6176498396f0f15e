/* isolate.c - see isolate.h. What a process can do wrong becomes an error class here, in
 * one place. */
#include <config.h>

#include "core/isolate.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "core/cell.h"
#include "core/frame.h"
#include "core/open.h"
#include "core/quarantine.h"
#include "core/replytable.h"
#include "core/sandbox.h"
#include "core/turns.h"

/* Whoever waits for us gets an answer before its own patience ends. */
#define EARLY_NS INT64_C(10000000)
#define OVERDUE_NS INT64_C(1000000000) /* we ourselves are stuck: our front ends us */
#define ANSWER_SMALL 4096
#define NOT_EXECUTED 127 /* as cell.c ends before the program is ours: without /proc, say */
#define NOTE_SANDBOX "sandbox" /* the host's own, in a step's notes */

/* BLOCKED: it was not started, and the next question is told why. */
enum state { IDLE, BLOCKED, STARTING, OPEN, REFUSED };

struct isolate {
	struct cell cell;
	enum state state;
	unsigned hooks;
	char version[FRAME_VERSION_MAX + 1];
	char weak[FRAME_WEAK_MAX + 1]; /* "": its sandbox is whole */
	/* the last thing that went wrong */
	const char *fault;
	char text[ERROR_TEXT_MAX], shown[256];
};

/* ---- what went wrong ------------------------------------------------------------------- */

static void stop(struct isolate *isolate, int *ret_status)
{
	cell_stop(&isolate->cell, ret_status);
	isolate->state = IDLE;
}

/* Loading failed for good: asking again would find the same. */
static int refuse(struct slot *slot, const char *fault, const char *shown, struct str why)
{
	struct isolate *isolate = slot->isolate;
	stop(isolate, NULL);
	isolate->state = REFUSED;
	isolate->fault = fault;
	text_clean(why, isolate->text, sizeof(isolate->text));
	snprintf(isolate->shown, sizeof(isolate->shown), "%s", shown);
	return -ENOEXEC;
}

/* The same words as for a plugin in the shared worker. */
static void name_end(struct isolate *isolate, enum cell_end end, int status, const char *entry)
{
	const char *when = isolate->state == STARTING ? " while it was being loaded" : "";
	int number = end == CELL_SIGNAL ? WTERMSIG(status) : WEXITSTATUS(status);
	char *shown = isolate->shown;
	size_t size = sizeof(isolate->shown);
	switch (end) {
	case CELL_SIGNAL:
		isolate->fault = number == SIGSYS ? "sandbox" : "crash";
		snprintf(shown, size, "the plugin crashed%s (signal %d)", when, number);
		break;
	case CELL_EXIT:
		if (number == NOT_EXECUTED && isolate->state == STARTING) {
			isolate->fault = "start";
			snprintf(shown, size, "the plugin's process could not be started");
			break;
		}
		isolate->fault = "exit";
		snprintf(shown, size,
			 "the plugin ended the process%s instead of answering (exit %d)", when,
			 number);
		break;
	case CELL_LATE:
		isolate->fault = "timeout";
		snprintf(shown, size, "deadline exceeded in plugin %s%s", entry, when);
		break;
	case CELL_NONSENSE:
		isolate->fault = "protocol";
		snprintf(shown, size, "the plugin left something that is not an answer%s", when);
		break;
	}
	bool forbidden = end == CELL_SIGNAL && number == SIGSYS;
	snprintf(isolate->text, sizeof(isolate->text), "%s%s", shown,
		 forbidden ? ": it did what its sandbox kills for" : "");
}

/* Where faults cannot be counted there is no quarantine, but each still refuses. */
static void count_fault(struct host *host, const struct slot *slot)
{
	char path[PATH_MAX];
	struct str dir;
	if (config_plugin_path(host->config, slot->entry, path) == 0 &&
	    host_state_dir(host, &dir, NULL) == 0)
		quarantine_fault(dir, slot->entry->name, path, slot->isolate->fault, NULL);
}

/* Its process is over, whatever it did; the next question starts another. */
static int lose(struct host *host, struct slot *slot, enum cell_end end)
{
	struct isolate *isolate = slot->isolate;
	int status = 0;
	cell_stop(&isolate->cell, &status);
	/* what was found out by waiting, or by killing it */
	if (end == CELL_EXIT && WIFSIGNALED(status))
		end = CELL_SIGNAL;
	if (end == CELL_SIGNAL && !WIFSIGNALED(status))
		end = CELL_EXIT;
	name_end(isolate, end, status, slot->entry->name.ptr);
	isolate->state = IDLE;
	if (strcmp(isolate->fault, "start") != 0) /* that was not the plugin */
		count_fault(host, slot);
	return -EPROTO;
}

/* ---- starting ---------------------------------------------------------------------------- */

static struct isolate *isolate_of(struct slot *slot)
{
	if (slot->isolate)
		return slot->isolate;
	slot->isolate = calloc(1, sizeof(*slot->isolate));
	if (slot->isolate)
		slot->isolate->cell = (struct cell){.watch = -1, .socket = -1};
	return slot->isolate;
}

static int send_open(struct host *host, struct slot *slot, enum cell_type type)
{
	struct cell *cell = &slot->isolate->cell;
	struct frame_out out = {.data = cell->question, .room = CELL_QUESTION_MAX};
	const struct frame_open open = {slot->entry, host->config->plugin_dir, host->config->dir,
					&host->config->libraries, host_in_chain(host, slot)};
	frame_put_open(&out, &open);
	return out.full ? -E2BIG : cell_send(cell, type, out.len);
}

static void block(struct isolate *isolate, const char *fault, const char *shown, const char *why)
{
	stop(isolate, NULL);
	isolate->state = BLOCKED;
	isolate->fault = fault;
	snprintf(isolate->shown, sizeof(isolate->shown), "%s", shown);
	snprintf(isolate->text, sizeof(isolate->text), "%s", why);
}

static bool is_quarantined(struct host *host, struct slot *slot)
{
	char path[PATH_MAX], why[QUARANTINE_WHY_MAX];
	struct str dir;
	struct error err;
	if (config_plugin_path(host->config, slot->entry, path) < 0)
		snprintf(why, sizeof(why), "the path of its file is too long");
	else if (host_state_dir(host, &dir, &err) < 0)
		snprintf(why, sizeof(why), "whether it is in quarantine cannot be known: %.400s",
			 err.text);
	else if (!quarantined(dir, slot->entry->name, path, why))
		return false;
	block(slot->isolate, "quarantine",
	      "the plugin failed too often and is in quarantine, `pawl check` says why", why);
	return true;
}

static int tell_what(struct host *host, struct slot *slot, enum cell_type type, struct error *err)
{
	slot->isolate->state = STARTING;
	int r = send_open(host, slot, type);
	return r < 0 ? error_set(err, -r, "its process cannot be told what to load: %s",
				 strerror(-r)) :
		       0;
}

/* A process that is told what to load. seed: one it may be split off, or NULL. */
static int start(struct host *host, struct slot *slot, struct slot *seed, enum cell_type type,
		 struct error *err)
{
	struct cell *cell = &slot->isolate->cell;
	int r = seed ? cell_split(&seed->isolate->cell, cell, err) : -ECHILD;
	if (r < 0)
		r = cell_start(cell, err);
	return r < 0 ? r : tell_what(host, slot, type, err);
}

static void block_start(struct slot *slot, const struct error *err)
{
	block(slot->isolate, "start", "the plugin's process could not be started", err->text);
}

static bool may_start(struct host *host, struct slot *slot)
{
	struct isolate *isolate = isolate_of(slot);
	return isolate && isolate->state == IDLE && !is_quarantined(host, slot);
}

static void start_one(struct host *host, struct slot *slot, struct slot *seed)
{
	struct error err;
	if (may_start(host, slot) && start(host, slot, seed, CELL_OPEN, &err) < 0)
		block_start(slot, &err);
}

/* Whether it is one to start, with its turn in *ret: whoever has that has started it, or will. */
static bool take_wanted(struct host *host, struct slot *slot, isolate_wanted_fn wanted,
			const void *data, pthread_mutex_t **ret)
{
	return slot->entry->isolated && wanted(slot->entry, data) && turn_try(host, slot, ret);
}

/* The last that is wanted, executed and told nothing yet; its turn is the caller's. *n: those
 * before it. NULL where none is left. */
static struct slot *start_seed(struct host *host, struct slot *slots, size_t *n,
			       isolate_wanted_fn wanted, const void *data, pthread_mutex_t **ret)
{
	struct error err;
	while (*n > 0) {
		struct slot *slot = &slots[--*n];
		if (!take_wanted(host, slot, wanted, data, ret))
			continue;
		bool may = may_start(host, slot);
		if (may && cell_start(&slot->isolate->cell, &err) == 0)
			return slot;
		if (may)
			block_start(slot, &err);
		turn_give(*ret);
	}
	return NULL;
}

void isolate_start(struct host *host, struct slot *slots, size_t n, isolate_wanted_fn wanted,
		   const void *data)
{
	struct error err;
	pthread_mutex_t *turn, *seed_turn;
	struct slot *seed = start_seed(host, slots, &n, wanted, data, &seed_turn);
	if (!seed)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!take_wanted(host, &slots[i], wanted, data, &turn))
			continue;
		start_one(host, &slots[i], seed);
		turn_give(turn);
	}
	if (tell_what(host, seed, CELL_OPEN, &err) < 0)
		block_start(seed, &err);
	turn_give(seed_turn);
}

/* Copies the answer out before anything of it is looked at: its writer may go on. *ret is the
 * caller's, free() unless it is small. */
static char *copy_answer(const struct isolate *isolate, size_t len, char small[ANSWER_SMALL])
{
	char *copy = len <= ANSWER_SMALL ? small : malloc(len);
	if (copy)
		memcpy(copy, isolate->cell.answer, len);
	return copy;
}

static void take_text(char *to, size_t size, struct str text)
{
	if (text.len > 0)
		text_clean(text, to, size);
	else
		to[0] = '\0';
}

/* What its sandbox lacks. The plugin's code has run when that is told, and may have had a hand
 * in it; that something is lacking we know ourselves. */
static void take_weak(struct slot *slot, struct str told)
{
	struct isolate *isolate = slot->isolate;
	struct sandbox_kernel kernel;
	isolate->weak[0] = '\0';
	if (!slot->entry->sandbox_best_effort)
		return;
	sandbox_probe(&kernel);
	if (kernel.landlock_abi > 0 && kernel.seccomp)
		return;
	take_text(isolate->weak, sizeof(isolate->weak),
		  told.len > 0 ? told : STR("this kernel lacks a part of the sandbox"));
}

static int take_opened(struct host *host, struct slot *slot, size_t len)
{
	struct isolate *isolate = slot->isolate;
	char small[ANSWER_SMALL];
	struct frame_opened opened;
	struct frame_in in = {.data = small, .left = len};
	if (len > sizeof(small))
		return lose(host, slot, CELL_NONSENSE);
	copy_answer(isolate, len, small);
	if (frame_get_opened(&in, &opened) < 0)
		return lose(host, slot, CELL_NONSENSE);
	if (opened.stage == FRAME_NOT_FENCED)
		return refuse(slot, "sandbox",
			      "the plugin cannot be fenced in here, `pawl check` says why",
			      opened.why);
	if (opened.stage != FRAME_OPENED)
		return refuse(slot, "load", "the plugin cannot be loaded, `pawl check` says why",
			      opened.why);
	take_text(isolate->version, sizeof(isolate->version), opened.version);
	take_weak(slot, opened.weak);
	isolate->hooks = opened.hooks;
	isolate->state = OPEN;
	slot->version = str_of(isolate->version);
	return 0;
}

/* 0 once it is open, or -errno with isolate->fault, text and shown. */
static int await_open(struct host *host, struct slot *slot, int64_t deadline_ns)
{
	size_t len;
	enum cell_end end;
	start_one(host, slot, NULL);
	if (!slot->isolate)
		return -ENOMEM;
	if (slot->isolate->state == OPEN)
		return 0;
	if (slot->isolate->state != STARTING) {
		if (slot->isolate->state == BLOCKED)
			slot->isolate->state = IDLE;
		return -ENOEXEC;
	}
	if (cell_receive(&slot->isolate->cell, deadline_ns, &len, &end) < 0)
		return lose(host, slot, end);
	return take_opened(host, slot, len);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* A little before the deadline, so that it is us who end what is late, not our front us. */
static int64_t patience(struct host *host, int64_t deadline_ns)
{
	int64_t now = io_monotonic_ns();
	if (deadline_ns <= 0)
		deadline_ns = now + host->config->deadline_ns;
	int64_t early = (deadline_ns - now) / 16;
	atomic_store_explicit(&host->progress->deadline_ns, deadline_ns + OVERDUE_NS,
			      memory_order_relaxed);
	return deadline_ns - (early < 0 ? 0 : early < EARLY_NS ? early : EARLY_NS);
}

struct question {
	enum cell_type type;
	enum hook hook; /* one of those it needs to be asked at all */
	const struct pawl_call *call;
	struct str record; /* CELL_TELL */
};

static int fail(struct slot *slot, const char *fault, const char *text)
{
	struct isolate *isolate = slot->isolate;
	isolate->fault = fault;
	snprintf(isolate->text, sizeof(isolate->text), "%s", text);
	snprintf(isolate->shown, sizeof(isolate->shown), "the plugin failed");
	return -E2BIG;
}

static int send_question(struct slot *slot, const struct question *question, size_t *ret_len)
{
	struct cell *cell = &slot->isolate->cell;
	struct frame_out out = {.data = cell->question, .room = CELL_QUESTION_MAX};
	if (question->type == CELL_TELL) {
		frame_put_u32(&out, question->hook);
		frame_put_text(&out, question->record);
	}
	frame_put_call(&out, question->call);
	if (out.full)
		return fail(slot, "limit", "the call is too large for its process");
	*ret_len = out.len;
	return cell_send(cell, question->type, out.len) < 0 ? -EPIPE : 0;
}

/* Asks; 0 with the length of the answer in the cell's half, 1 it has no such hook, -errno
 * with what went wrong. */
static int exchange(struct host *host, struct slot *slot, const struct question *question,
		    int64_t until_ns, int64_t *ret_sent_ns, size_t *ret_len)
{
	enum cell_end end;
	size_t asked = 0;
	int r = -EPIPE;
	/* one that died since its last answer owes nothing for this one: another is started */
	for (int tries = 0; r == -EPIPE && tries < 2; tries++) {
		r = await_open(host, slot, until_ns);
		if (r == 0 && !isolate_has(slot->isolate, question->hook))
			return 1;
		if (r == 0)
			r = send_question(slot, question, &asked);
		if (r == -EPIPE)
			lose(host, slot, CELL_EXIT);
	}
	if (r < 0)
		return r;
	*ret_sent_ns = io_monotonic_ns();
	if (cell_receive(&slot->isolate->cell, until_ns, ret_len, &end) < 0)
		return lose(host, slot, end);
	cell_trim(&slot->isolate->cell, asked, 0);
	return 0;
}

/* The answer into reply; -errno with what went wrong. */
static int take_reply(struct host *host, struct slot *slot, size_t len, struct pawl_reply *reply,
		      struct isolate_said *ret)
{
	char small[ANSWER_SMALL], *copy = copy_answer(slot->isolate, len, small);
	struct frame_in in = {.data = copy, .left = len};
	if (!copy)
		return fail(slot, "limit", "there is no memory for its answer");
	int r = frame_get_reply(&in, slot->entry->plugin.ptr, NOTE_SANDBOX, reply, &ret->status,
				&ret->error_text);
	if (copy != small)
		free(copy);
	if (r < 0)
		return lose(host, slot, CELL_NONSENSE);
	cell_trim(&slot->isolate->cell, 0, len);
	return 0;
}

static void note_weak(const struct isolate *isolate, struct pawl_reply *reply)
{
	char text[FRAME_WEAK_MAX + 32];
	if (!isolate->weak[0])
		return;
	int n = snprintf(text, sizeof(text), "best-effort: %s", isolate->weak);
	reply_note(reply, pawl_text(NOTE_SANDBOX), (pawl_str){text, (size_t)n});
}

static const char *kept(const struct pawl_call *call, const char *text)
{
	const char *copy = json_arena_text(call->arena, str_of(text)).ptr;
	return copy ? copy : "out of memory";
}

/* ---- the doors ------------------------------------------------------------------------------ */

void isolate_ask(struct host *host, struct slot *slot, const struct pawl_call *call,
		 int64_t deadline_ns, struct pawl_reply *reply, struct isolate_said *ret)
{
	const struct question question = {CELL_ASK, hook_of_kind(call->kind), call, {NULL, 0}};
	size_t len = 0;
	memset(ret, 0, sizeof(*ret));
	int r = exchange(host, slot, &question, patience(host, deadline_ns), &ret->asked_ns, &len);
	if (r == 0) {
		/* it has answered; reading that is our own work, however large it is */
		atomic_store_explicit(&host->progress->deadline_ns, 0, memory_order_relaxed);
		note_weak(slot->isolate, reply);
		r = take_reply(host, slot, len, reply, ret);
	}
	ret->silent = r == 1;
	if (r >= 0)
		return;
	const struct isolate *isolate = slot->isolate;
	if (!isolate) {
		ret->fault = "nomem";
		return;
	}
	reply_init(reply, call); /* half an answer is none */
	note_weak(isolate, reply);
	ret->fault = isolate->fault;
	ret->fault_text = kept(call, isolate->text);
	ret->shown = kept(call, isolate->shown);
}

int32_t isolate_tell(struct host *host, struct slot *slot, const struct pawl_call *call,
		     enum hook hook, struct str record)
{
	const struct question question = {CELL_TELL, hook, call, record};
	char small[ANSWER_SMALL];
	struct frame_in in = {.data = small, .left = sizeof(int32_t)};
	size_t len = 0;
	int64_t own = slot->entry->deadline_ns, sent_ns;
	int64_t of_all = atomic_load(&host->progress->deadline_ns);
	int r = exchange(host, slot, &question,
			 patience(host, own > 0 ? io_monotonic_ns() + own : 0), &sent_ns, &len);
	atomic_store(&host->progress->deadline_ns, of_all);
	if (r != 0)
		return r == 1 ? 0 : PAWL_E_FAIL;
	if (len != sizeof(int32_t)) {
		lose(host, slot, CELL_NONSENSE);
		return PAWL_E_FAIL;
	}
	copy_answer(slot->isolate, len, small);
	return (int32_t)frame_get_u32(&in);
}

int isolate_load(struct host *host, struct slot *slot)
{
	int64_t own = slot->entry->deadline_ns;
	int r = await_open(host, slot, patience(host, own > 0 ? io_monotonic_ns() + own : 0));
	if (r < 0 && slot->isolate) {
		free(slot->why);
		slot->why = strdup(slot->isolate->text);
	}
	return r;
}

static int take_description(struct isolate *isolate, size_t len, struct json_arena *arena,
			    struct frame_description *ret, struct error *err)
{
	_cleanup_free_ char *copy = malloc(len + 1);
	struct frame_in in = {.data = copy, .left = len};
	if (!copy)
		return error_set(err, ENOMEM, "out of memory");
	memcpy(copy, isolate->cell.answer, len);
	struct str why = frame_get_text(&in, FRAME_WHY_MAX);
	char clean[FRAME_WHY_MAX + 8];
	if (why.ptr && frame_ends(&in)) {
		text_clean(why, clean, sizeof(clean));
		return error_set(err, ENOEXEC, "%s", clean);
	}
	if (why.ptr || frame_get_description(&in, arena, ret) < 0)
		return error_set(err, EPROTO, "the plugin left something that is no description");
	return 0;
}

int isolate_describe(struct host *host, struct slot *slot, int64_t time_ns,
		     struct json_arena *arena, struct frame_description *ret, struct error *err)
{
	size_t len;
	enum cell_end end;
	struct isolate *isolate = isolate_of(slot);
	if (!isolate)
		return error_set(err, ENOMEM, "out of memory");
	int r = start(host, slot, NULL, CELL_DESCRIBE, err);
	if (r == 0 && cell_receive(&isolate->cell, io_monotonic_ns() + time_ns, &len, &end) < 0) {
		lose(host, slot, end);
		return error_set(err, EPROTO, "%s", isolate->text);
	}
	if (r == 0)
		r = take_description(isolate, len, arena, ret, err);
	stop(isolate, NULL);
	return r;
}

bool isolate_has(const struct isolate *isolate, unsigned hooks)
{
	return isolate && isolate->state == OPEN && (isolate->hooks & hooks) != 0;
}

void isolate_free(struct isolate *isolate)
{
	if (!isolate)
		return;
	cell_stop(&isolate->cell, NULL);
	free(isolate);
}
