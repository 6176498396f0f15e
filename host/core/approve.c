/* approve.c - see approve.h. An allow is said in one place, take_state(), and only when the
 * queue has changed the one approval of this very call from approved to consumed for us. */
#include <config.h>

#include "core/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "core/approval.h"

#define LOOK_NS INT64_C(50000000) /* how often one that waits is looked after */

static struct str say(struct pawl_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct str say(struct pawl_call *call, const char *format, ...)
{
	char text[REPLY_REASON_MAX];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	return json_arena_text(call->arena, (struct str){text, len});
}

static void remark(struct decision *d, const char *type, struct str id, struct str text)
{
	if (d->n_remarks < DECISION_REMARKS_MAX)
		d->remarks[d->n_remarks++] =
			(struct remark){.type = type, .text = text, .approval = id};
}

static void deny(struct host *host, struct pawl_call *call, struct decision *d,
		 enum refused_by by, struct str reason)
{
	/* the arguments that nobody runs are those that were asked for */
	d->args = call->root[call_args_root(call)] = call->root[PAWL_R_ARGS_GIVEN];
	host_refuse(host, call, d, by, reason);
}

/* ---- what judged it ----------------------------------------------------------------------- */

/* A plugin in a process of its own has no file open here. */
static int open_plugin(const struct host *host, const struct slot *slot, int *ret_own)
{
	char path[PATH_MAX];
	if (slot->plugin)
		return slot->plugin->file->fd;
	int n = snprintf(path, sizeof(path), "%s/%s.so", host->config->plugin_dir.ptr,
			 slot->entry->plugin.ptr);
	if (n < 0 || n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	*ret_own = fd;
	return fd < 0 ? -errno : fd;
}

/* The config, and each plugin that was asked and could have said no. */
struct parts {
	struct approval_part part[APPROVAL_PARTS_MAX];
	int own[APPROVAL_PARTS_MAX]; /* to be closed, or -1 */
	size_t n;
};

static void parts_free(struct parts **parts)
{
	for (size_t i = 0; *parts && i < (*parts)->n; i++)
		if ((*parts)->own[i] >= 0)
			close((*parts)->own[i]);
	free(*parts);
}

static int add_plugin(const struct host *host, struct pawl_call *call, const struct step *step,
		      struct parts *parts, struct error *err)
{
	const struct slot *slot = &host->chain[step->entry];
	int *own = &parts->own[parts->n];
	int fd = open_plugin(host, slot, own);
	if (fd < 0)
		return error_set(err, -fd, "plugin %s", slot->entry->plugin.ptr);
	parts->part[parts->n++] = (struct approval_part){
		.name = slot->entry->name,
		.id = slot->entry->plugin,
		.version = step->version,
		.path = say(call, "%s/%s.so", host->config->plugin_dir.ptr,
			    slot->entry->plugin.ptr),
		.fd = fd,
	};
	return 0;
}

static int collect(const struct host *host, struct pawl_call *call, const struct decision *d,
		   struct parts *parts, struct error *err)
{
	const struct config *config = host->config;
	for (size_t i = 0; i < APPROVAL_PARTS_MAX; i++)
		parts->own[i] = -1;
	for (size_t i = 0; i < config->n_sources; i++)
		parts->part[parts->n++] = (struct approval_part){
			.path = config->sources[i].path, .text = config->sources[i].text, .fd = -1};
	for (size_t i = 0; i < d->n_steps; i++) {
		const struct step *step = &d->steps[i];
		if (step->shadow || step->round > 0 || step->verdict == VERDICT_NONE)
			continue;
		if (parts->n == APPROVAL_PARTS_MAX)
			return error_set(err, E2BIG, "more plugins judged it than can be kept");
		int r = add_plugin(host, call, step, parts, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- the question --------------------------------------------------------------------------- */

static struct str tool_of(const struct pawl_call *call)
{
	struct str tool = call->text[PAWL_T_TOOL];
	return tool.ptr ? tool : call->text[PAWL_T_EVENT]; /* a model call */
}

static void fill(const struct host *host, const struct pawl_call *call, const struct decision *d,
		 const struct parts *parts, struct approval_request *q)
{
	const struct config *config = host->config;
	*q = (struct approval_request){
		.session = call->text[PAWL_T_SESSION], .tool = tool_of(call),
		.source = call->text[PAWL_T_SOURCE], .server = call->text[PAWL_T_SERVER],
		.args = d->args, .context = call->root[PAWL_R_CONTEXT],
		.args_given = d->modified ? call->root[PAWL_R_ARGS_GIVEN] : NULL,
		.event = call->text[PAWL_T_EVENT], .client = call->text[PAWL_T_CLIENT],
		.agent = call->text[PAWL_T_AGENT], .agent_type = call->text[PAWL_T_AGENT_TYPE],
		.cwd = call->text[PAWL_T_CWD], .run = call->text[PAWL_T_RUN],
		.call_id = call->text[PAWL_T_CALL_ID], .call_id_json = call->call_id_json,
		.rule = d->rule, .plugin = d->plugin, .reason = d->reason,
		.instructions = d->instructions, .system = config->system,
		.requester = host->environment_of, .timeout_ns = d->timeout_ns,
		.redeem_ns = config->approval.redeem_ns, .need = config->approval.need,
		.allow_self = config->approval.allow_self,
		.on_change_deny = config->approval.on_change_deny,
		.parts = parts->part, .n_parts = parts->n, .batch = d->batch,
		.notify = config->approval.notify,
	};
}

/* ---- the answers ------------------------------------------------------------------------------ */

/* What a state other than approved comes to. */
static void deny_state(struct host *host, struct pawl_call *call, struct decision *d,
		       const struct approval_state *state)
{
	const char *id = d->approval.ptr;
	switch (state->status) {
	case APPROVAL_DENIED:
		deny(host, call, d, REFUSED_HUMAN, say(call, "a person denied it: %s", state->reason));
		return;
	case APPROVAL_EXPIRED:
		deny(host, call, d, REFUSED_TIMEOUT,
		     say(call, "the approval it needed expired (%s): %s", id, state->reason));
		return;
	case APPROVAL_CANCELED:
		deny(host, call, d, state->changed ? REFUSED_HOST : REFUSED_CANCELLED,
		     state->changed ? say(call, "it was approved as %s, but %s", id, state->reason) :
				      say(call, "the request for approval (%s) was canceled%s%s", id,
					  state->reason[0] ? ": " : "", state->reason));
		return;
	case APPROVAL_CONSUMED:
		deny(host, call, d, REFUSED_HOST,
		     say(call, "the approval %s is used up: it was for one execution", id));
		return;
	default:
		deny(host, call, d, REFUSED_TIMEOUT,
		     say(call, "%.*s; pending as %s, ask again once approved", STR_FMT(d->reason),
			 id));
	}
}

static void tell_end(struct pawl_call *call, struct decision *d, const struct approval_state *state)
{
	if (state->status == APPROVAL_EXPIRED)
		remark(d, "approval.expired", d->approval, say(call, "%s", state->reason));
	if (state->status == APPROVAL_CANCELED && state->changed)
		remark(d, "approval.canceled", d->approval, say(call, "%s", state->reason));
	if (state->mine)
		remark(d, "approval.consumed", d->approval,
		       say(call, "approved by %s%s", state->who,
			   state->changed ? "; the policy that judged it has changed since" : ""));
}

/* True: it still waits. */
static bool take_state(struct host *host, struct pawl_call *call, struct decision *d,
		       const struct approval_request *request, struct approval_state *state)
{
	struct error err;
	if (state->status == APPROVAL_PENDING)
		return true;
	if (state->status == APPROVAL_APPROVED &&
	    host->store->consume(host->queue, d->approval.ptr, request, state, &err) < 0) {
		deny(host, call, d, REFUSED_HOST,
		     say(call, "it was approved as %s, but the approval cannot be used: %s",
			 d->approval.ptr, err.text));
		return false;
	}
	tell_end(call, d, state);
	if (state->mine && state->status == APPROVAL_CONSUMED) {
		d->approved_by = say(call, "%s", state->who);
		d->reason = say(call, "approved by %s", state->who);
		d->verdict = VERDICT_ALLOW;
		return false;
	}
	if (state->status == APPROVAL_PENDING || state->status == APPROVAL_APPROVED)
		deny(host, call, d, REFUSED_HOST, STR("the approval it needed cannot be used"));
	else
		deny_state(host, call, d, state);
	return false;
}

static int ask(struct host *host, struct pawl_call *call, struct decision *d,
	       const struct approval_request *request, struct approval_state *state,
	       struct error *err)
{
	struct str dir;
	int r = host->store ? -ESTALE : error_set(err, ENOSYS, "there is no queue");
	/* once more where somebody has put another file in the place of the one we had open */
	for (int tries = 0; tries < 2 && r == -ESTALE; tries++) {
		r = host->queue ? 0 : host_state_dir(host, &dir, err);
		if (r == 0 && !host->queue)
			r = host->store->open(dir.ptr, true, &host->queue, err);
		if (r == 0)
			r = host->store->hold(host->queue, request, state, err);
		if (r == -ESTALE) {
			host->store->close(host->queue);
			host->queue = NULL;
		}
	}
	if (r < 0)
		return r;
	d->approval = say(call, "%s", state->id);
	if (!d->approval.ptr)
		return error_set(err, ENOMEM, "out of memory");
	if (state->put_back)
		remark(d, "approval.canceled", (struct str){NULL, 0},
		       STR("the queue's database is older than what was done with it, or was "
			   "moved; what was open in it is void"));
	if (state->expired[0])
		remark(d, "approval.expired", say(call, "%s", state->expired),
		       STR("its time was over"));
	return 0;
}

static void no_queue(struct host *host, struct pawl_call *call, struct decision *d,
		     const struct error *err)
{
	deny(host, call, d, REFUSED_HOST,
	     say(call, "a person has to approve it, and it cannot be put before one: %s", err->text));
}

void approve_ask(struct host *host, struct pawl_call *call, struct decision *d, bool *ret_fresh)
{
	__attribute__((cleanup(parts_free))) struct parts *parts = calloc(1, sizeof(*parts));
	struct approval_request request;
	struct approval_state state = {.status = APPROVAL_PENDING};
	struct error err = {"out of memory"};
	*ret_fresh = false;
	if (!parts || collect(host, call, d, parts, &err) < 0) {
		no_queue(host, call, d, &err);
		return;
	}
	fill(host, call, d, parts, &request);
	if (ask(host, call, d, &request, &state, &err) < 0) {
		no_queue(host, call, d, &err);
		return;
	}
	*ret_fresh = state.fresh;
	d->notices = state.fresh && json_length(host->config->approval.notify) > 0;
	d->joined = take_state(host, call, d, &request, &state) && !state.fresh;
}

void approve_wait(struct host *host, struct pawl_call *call, struct decision *d, int64_t until_ns)
{
	__attribute__((cleanup(parts_free))) struct parts *parts = calloc(1, sizeof(*parts));
	struct approval_request request;
	struct approval_state state = {.status = APPROVAL_PENDING};
	struct error err = {"out of memory"};
	int r = parts ? collect(host, call, d, parts, &err) : -ENOMEM;
	if (r == 0)
		fill(host, call, d, parts, &request);
	while (r == 0) {
		r = host->store->look(host->queue, d->approval.ptr, &state, &err);
		if (r < 0 || !take_state(host, call, d, &request, &state))
			break;
		int64_t now = io_monotonic_ns();
		if (now >= until_ns) {
			deny_state(host, call, d, &state);
			return;
		}
		nanosleep(&(struct timespec){.tv_nsec = until_ns - now < LOOK_NS ? until_ns - now :
										   LOOK_NS},
			  NULL);
	}
	if (r < 0)
		deny(host, call, d, REFUSED_HOST,
		     say(call, "it waits as %s, but cannot be looked after: %s", d->approval.ptr,
			 err.text));
}
