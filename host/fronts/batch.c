/* batch.c - see batch.h. */
#include <config.h>

#include "fronts/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/approval.h"
#include "core/approve.h"

/* ---- which lines belong together -------------------------------------------------------- */

struct place {
	struct str session, run;
	int64_t turn, position, size; /* size 0: of no batch */
};

static int64_t number(const struct json_value *event, struct str name)
{
	int64_t n;
	return json_integer(json_member(event, name), &n) == 0 ? n : CALL_ABSENT;
}

static struct place place_of(struct json_arena *arena, struct str line)
{
	struct place place = {.size = 0};
	const struct json_value *event;
	if (!memmem(line.ptr, line.len, "batch_size", 10) ||
	    json_parse(arena, line, JSON_DEFAULT_LIMITS, JSON_BORROW, &event, NULL, NULL) < 0)
		return place;
	json_string(json_member(event, STR("session_id")), &place.session);
	json_string(json_member(event, STR("run_id")), &place.run);
	place.turn = number(event, STR("turn"));
	place.position = number(event, STR("position"));
	int64_t size = number(event, STR("batch_size"));
	if (size > 1 && size <= BATCH_CALLS_MAX && place.position >= 0 && place.position < size)
		place.size = size;
	return place;
}

static bool follows(const struct place *before, const struct place *next)
{
	return next->size == before->size && next->position == before->position + 1 &&
	       next->turn == before->turn && str_equal(next->session, before->session) &&
	       str_equal(next->run, before->run);
}

static struct str line_at(struct str text, size_t at, size_t *ret_next)
{
	const char *end = memchr(text.ptr + at, '\n', text.len - at);
	size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
	*ret_next = at + len + (end != NULL);
	return (struct str){text.ptr + at, len};
}

size_t batch_extent(struct json_arena *arena, struct str text, bool ended, size_t *ret_end)
{
	size_t mark = json_arena_mark(arena), at = 0, n = 1;
	struct place last = place_of(arena, line_at(text, 0, &at));
	*ret_end = at;
	while (last.size > 0 && last.position + 1 < last.size) {
		if (at == text.len) {
			n = ended ? n : 0;
			break;
		}
		struct place next = place_of(arena, line_at(text, at, &at));
		if (!follows(&last, &next))
			break;
		*ret_end = at;
		last = next;
		n++;
	}
	json_arena_rewind(arena, mark);
	return n;
}

/* ---- asking for them together -------------------------------------------------------------- */

static struct str kept(struct pawl_call *call, const char *text)
{
	return json_arena_text(call->arena, str_of(text));
}

static bool waits(const struct batch_member *m)
{
	return m->decision->verdict == VERDICT_REQUIRE_APPROVAL;
}

static bool any_waits(const struct batch_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (waits(&members[i]))
			return true;
	return false;
}

/* What it will be answered when it may run, or may not. */
static int answers(const struct host *host, const struct dialect *dialect,
		   const struct batch_member *m, struct approval_held *held, struct error *err)
{
	struct decision *d = malloc(sizeof(*d));
	struct answer answer;
	if (!d)
		return error_set(err, ENOMEM, "out of memory");
	*d = *m->decision;
	d->verdict = VERDICT_ALLOW;
	int r = dialect_encode(dialect, host, m->call, d, &answer, err);
	held->answer = answer.out;
	if (r == 0) {
		host_refuse(host, m->call, d, REFUSED_HUMAN, kept(m->call, APPROVAL_REASON));
		r = dialect_encode(dialect, host, m->call, d, &answer, err);
		held->refusal = answer.out;
	}
	free(d);
	return r;
}

static int keep(struct host *host, const struct dialect *dialect, struct batch_member *members,
		size_t n, struct str id, struct error *err)
{
	const struct pawl_call *first = members[0].call;
	_cleanup_free_ struct approval_held *held = calloc(n, sizeof(*held));
	struct approval_batch batch = {.id = id, .session = first->text[PAWL_T_SESSION],
				       .run = first->text[PAWL_T_RUN],
				       .turn = first->number[PAWL_N_TURN], .size = n, .held = held};
	int r = held ? 0 : error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct pawl_call *call = members[i].call;
		if (!waits(&members[i]))
			continue;
		struct approval_held *h = &held[batch.n_held++];
		*h = (struct approval_held){.tool = call->text[PAWL_T_TOOL],
					    .source = call->text[PAWL_T_SOURCE],
					    .server = call->text[PAWL_T_SERVER],
					    .call_id = call->text[PAWL_T_CALL_ID],
					    .call_id_json = call->call_id_json,
					    .position = (int64_t)i,
					    .approval = members[i].decision->approval};
		r = answers(host, dialect, &members[i], h, err);
	}
	return r < 0 ? r : host->store->batch_keep(host->queue, &batch, err);
}

/* What may run waits for its mates: it would be answered before they are. */
static void hold_mate(struct batch_member *m, struct str id)
{
	struct decision *d = m->decision;
	if (d->verdict != VERDICT_ALLOW || str_is(m->call->text[PAWL_T_TARGET], "client"))
		return;
	d->verdict = VERDICT_REQUIRE_APPROVAL;
	d->held = true;
	d->batch = id;
	d->approval = (struct str){NULL, 0};
	d->reason = STR("it may run, and waits for a call of its batch that needs a person");
}

static void refuse_all(struct host *host, struct batch_member *members, size_t n,
		       const struct error *err)
{
	char text[sizeof(err->text) + 64];
	snprintf(text, sizeof(text), "the batch cannot be kept until a person decides: %s",
		 err->text);
	for (size_t i = 0; i < n; i++)
		if (waits(&members[i]))
			host_refuse(host, members[i].call, members[i].decision, REFUSED_HOST,
				    kept(members[i].call, text));
}

void batch_hold(struct host *host, const struct dialect *dialect, struct batch_member *members,
		size_t n)
{
	char id[APPROVAL_ID_MAX];
	struct error err;
	bool fresh;
	if (host->config->approval.ask != ASK_QUEUE || !any_waits(members, n))
		return;
	host->store->batch_id(id);
	struct str batch = kept(members[0].call, id);
	for (size_t i = 0; i < n; i++) {
		if (!waits(&members[i]))
			continue;
		members[i].decision->batch = batch;
		approve_ask(host, members[i].call, members[i].decision, &fresh);
	}
	if (!any_waits(members, n))
		return;
	for (size_t i = 0; i < n; i++)
		hold_mate(&members[i], batch);
	if (keep(host, dialect, members, n, batch, &err) < 0)
		refuse_all(host, members, n, &err);
}
