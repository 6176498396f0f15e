/* calls.c - events into decisions, executions and sessions. */
#include <config.h>

#include "calls.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

struct chunk {
	struct chunk *next;
	size_t room, used;
	_Alignas(16) char bytes[];
};

struct table {
	struct calls_node **buckets;
	size_t room, n;
};

struct calls {
	struct chunk *chunks, *spare; /* in use, the newest first; kept from before */
	struct str lasting;           /* texts in it are not copied */
	struct table sessions, groups;
	struct call *first, *last;
	struct calls_session *first_session, *last_session;
};

/* ---- memory --------------------------------------------------------------------------- */

static struct chunk *new_chunk(struct calls *calls, size_t size)
{
	struct chunk *chunk = calls->spare;
	if (chunk && size <= CHUNK) {
		calls->spare = chunk->next;
		chunk->used = 0;
		return chunk;
	}
	size_t room = size > CHUNK ? size : CHUNK;
	chunk = malloc(sizeof(*chunk) + room);
	if (chunk)
		*chunk = (struct chunk){.room = room};
	return chunk;
}

static void *take(struct calls *calls, size_t size)
{
	struct chunk *chunk = calls->chunks;
	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->room - chunk->used < size) {
		chunk = new_chunk(calls, size);
		if (!chunk)
			return NULL;
		chunk->next = calls->chunks;
		calls->chunks = chunk;
	}
	void *ret = chunk->bytes + chunk->used;
	chunk->used += size;
	return ret;
}

static void *take_zeroed(struct calls *calls, size_t size)
{
	void *ret = take(calls, size);
	return ret ? memset(ret, 0, size) : NULL;
}

struct value *calls_values(struct calls *calls, size_t n)
{
	struct value *values = take(calls, n * sizeof(*values));
	for (size_t i = 0; values && i < n; i++)
		values[i] = VALUE_NULL;
	return values;
}

int calls_set(struct calls *calls, struct value *to, struct str text)
{
	if (!text.ptr) {
		*to = VALUE_NULL;
		return 0;
	}
	if (to->ptr && str_equal((struct str){to->ptr, (size_t)to->n}, text))
		return 0; /* a session says the same of itself each time */
	if (calls->lasting.ptr && text.ptr >= calls->lasting.ptr &&
	    text.ptr + text.len <= calls->lasting.ptr + calls->lasting.len) {
		*to = (struct value){text.ptr, (int64_t)text.len};
		return 0;
	}
	char *copy = take(calls, text.len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text.ptr, text.len);
	*to = (struct value){copy, (int64_t)text.len};
	return 0;
}

/* ---- looking up ----------------------------------------------------------------------- */

static uint64_t hash_of(struct str text, uint64_t h)
{
	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.ptr[i]) * 1099511628211u; /* FNV-1a */
	return h;
}

#define HASH_BEGIN ((uint64_t)14695981039346656037u)

static struct calls_node **bucket(const struct table *table, uint64_t hash)
{
	return &table->buckets[(hash ^ hash >> 32) & (table->room - 1)];
}

static void grow(struct table *table)
{
	struct table wider = {.room = table->room * 4, .n = table->n};
	wider.buckets = calloc(wider.room, sizeof(struct calls_node *));
	if (!wider.buckets)
		return; /* slower, not wrong */
	for (size_t i = 0; i < table->room; i++)
		for (struct calls_node *node = table->buckets[i], *next; node; node = next) {
			struct calls_node **to = bucket(&wider, node->hash);
			next = node->next;
			node->next = *to;
			*to = node;
		}
	free(table->buckets);
	*table = wider;
}

static void insert(struct table *table, struct calls_node *node, uint64_t hash)
{
	struct calls_node **to = bucket(table, hash);
	node->hash = hash;
	node->next = *to;
	*to = node;
	if (++table->n > table->room)
		grow(table);
}

static struct str text_of(struct value value)
{
	return (struct str){value.ptr, value.ptr ? (size_t)value.n : 0};
}

static struct calls_session *find_session(const struct calls *calls, struct str id, uint64_t hash)
{
	for (struct calls_node *n = *bucket(&calls->sessions, hash); n; n = n->next) {
		struct calls_session *s = (struct calls_session *)(void *)n; /* its first member */
		if (n->hash == hash && str_equal(text_of(s->values[S_ID]), id))
			return s;
	}
	return NULL;
}

struct calls_session *calls_find_session(const struct calls *calls, struct str id)
{
	return find_session(calls, id, hash_of(id, HASH_BEGIN));
}

struct calls_session *calls_session(struct calls *calls, struct str id, bool *ret_made)
{
	uint64_t hash = hash_of(id, HASH_BEGIN);
	struct calls_session *s = find_session(calls, id, hash);
	if (ret_made)
		*ret_made = !s;
	if (s)
		return s;
	s = take_zeroed(calls, sizeof(*s));
	if (!s)
		return NULL;
	for (size_t i = 0; i < S_COLUMNS; i++)
		s->values[i] = i < S_EVENTS ? VALUE_NULL : (struct value){NULL, 0};
	if (calls_set(calls, &s->values[S_ID], id) < 0)
		return NULL;
	insert(&calls->sessions, &s->node, hash);
	if (calls->last_session)
		calls->last_session->later = s;
	else
		calls->first_session = s;
	calls->last_session = s;
	return s;
}

static struct calls_group *find_group(const struct calls *calls,
				      const struct calls_session *session, struct str id,
				      uint64_t hash)
{
	for (struct calls_node *n = *bucket(&calls->groups, hash); n; n = n->next) {
		struct calls_group *group = (struct calls_group *)(void *)n;
		if (n->hash == hash && group->session == session && str_equal(group->id, id))
			return group;
	}
	return NULL;
}

struct calls_group *calls_group(struct calls *calls, struct calls_session *session,
				struct str id, bool *ret_made)
{
	uint64_t hash = hash_of(id, session->node.hash);
	struct calls_group *group = find_group(calls, session, id, hash);
	struct value copy = VALUE_NULL;
	if (ret_made)
		*ret_made = !group;
	if (group)
		return group;
	group = take_zeroed(calls, sizeof(*group));
	if (!group || calls_set(calls, &copy, id) < 0)
		return NULL;
	group->id = text_of(copy);
	group->session = session;
	insert(&calls->groups, &group->node, hash);
	return group;
}

struct call *calls_call(struct calls *calls, struct calls_group *group, int64_t occurrence)
{
	struct call **at = &group->first;
	if (group->last && group->last->occurrence < occurrence)
		at = &group->last->next;
	while (*at && (*at)->occurrence < occurrence)
		at = &(*at)->next;
	if (*at && (*at)->occurrence == occurrence)
		return *at;
	struct call *call = take_zeroed(calls, sizeof(*call));
	if (!call)
		return NULL;
	call->group = group;
	call->occurrence = occurrence;
	call->next = *at;
	*at = call;
	if (!call->next)
		group->last = call;
	if (calls->last)
		calls->last->later = call;
	else
		calls->first = call;
	calls->last = call;
	return call;
}

struct call *calls_find(const struct calls *calls, struct str session, struct str id,
			int64_t occurrence)
{
	const struct calls_session *s = calls_find_session(calls, session);
	struct calls_group *group =
	    s ? find_group(calls, s, id, hash_of(id, s->node.hash)) : NULL;
	struct call *call = group ? group->first : NULL;
	if (call && group->found && group->found->occurrence <= occurrence)
		call = group->found; /* whoever asks goes upwards */
	while (call && call->occurrence != occurrence)
		call = call->next;
	if (call)
		group->found = call;
	return call;
}

struct call *calls_first(const struct calls *calls)
{
	return calls->first;
}

struct calls_session *calls_first_session(const struct calls *calls)
{
	return calls->first_session;
}

/* ---- life ------------------------------------------------------------------------------ */

int calls_new(struct calls **ret)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	if (calls) {
		calls->sessions.room = 256;
		calls->groups.room = 4096;
		calls->sessions.buckets = calloc(calls->sessions.room, sizeof(struct calls_node *));
		calls->groups.buckets = calloc(calls->groups.room, sizeof(struct calls_node *));
	}
	if (!calls || !calls->sessions.buckets || !calls->groups.buckets) {
		calls_free(calls);
		return -ENOMEM;
	}
	*ret = calls;
	return 0;
}

static void empty(struct table *table)
{
	memset(table->buckets, 0, table->room * sizeof(struct calls_node *));
	table->n = 0;
}

static void free_chunks(struct chunk *first)
{
	for (struct chunk *chunk = first, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

/* For the next stretch, which is about as long: fresh pages cost more than copying. */
static void spare_chunks(struct calls *calls)
{
	for (struct chunk *chunk = calls->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		if (chunk->room > CHUNK) {
			free(chunk);
			continue;
		}
		chunk->next = calls->spare;
		calls->spare = chunk;
	}
	calls->chunks = NULL;
}

void calls_lasting(struct calls *calls, struct str text)
{
	calls->lasting = text;
}

void calls_clear(struct calls *calls)
{
	spare_chunks(calls);
	calls->lasting = (struct str){NULL, 0};
	empty(&calls->sessions);
	empty(&calls->groups);
	calls->first = calls->last = NULL;
	calls->first_session = calls->last_session = NULL;
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	free_chunks(calls->chunks);
	free_chunks(calls->spare);
	free(calls->sessions.buckets);
	free(calls->groups.buckets);
	free(calls);
}

/* ---- rows ------------------------------------------------------------------------------ */

struct set {
	int column;
	struct str text;
};

static int set_texts(struct calls *calls, struct value *values, const struct set *sets, size_t n)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = calls_set(calls, &values[sets[i].column], sets[i].text);
	return r;
}

#define SET(calls, values, ...)                                                                    \
	set_texts(calls, values, (const struct set[]){__VA_ARGS__},                               \
		  sizeof((const struct set[]){__VA_ARGS__}) / sizeof(struct set))

static void set_number(struct value *to, int64_t n)
{
	*to = (struct value){NULL, n};
}

static struct str or_empty(struct str text)
{
	return text.ptr ? text : STR("");
}

static struct value value_of(struct str text)
{
	return text.ptr ? (struct value){text.ptr, (int64_t)text.len} : VALUE_NULL;
}

/* What begins every row of a call; ids are the group's, not copied again. */
static struct value *new_row(struct calls *calls, const struct call *call, size_t columns)
{
	struct value *values = calls_values(calls, columns);
	if (!values)
		return NULL;
	values[D_SESSION] = call->group->session->values[S_ID];
	values[D_CALL] = value_of(call->group->id);
	set_number(&values[D_OCCURRENCE], call->occurrence);
	return values;
}

static struct call *next_call(struct calls *calls, struct calls_group *group)
{
	int64_t top = group->top;
	if (group->last && group->last->occurrence > top)
		top = group->last->occurrence;
	return calls_call(calls, group, top + 1);
}

static int64_t state_of(const struct call *call)
{
	return call->decision ? call->decision[D_STATE].n : DONE;
}

static void set_state(struct call *call, int64_t state)
{
	set_number(&call->decision[D_STATE], state);
	call->decision_changed = true;
	if (state != OPEN)
		return;
	call->opened = call->group->session->open;
	call->group->session->open = call;
}

void calls_put_decision(struct call *call, struct value *decision)
{
	call->decision = decision;
	set_state(call, decision[D_STATE].n);
	call->decision_stored = true;
	call->decision_changed = false;
}

/* The first that may wait: those before it are done for good. */
static struct call *first_live(struct calls_group *group)
{
	struct call *call = group->live ? group->live : group->first;
	while (call && call != group->last && state_of(call) == DONE)
		call = call->next;
	return group->live = call;
}

/* The oldest still open; else one given up at a stop; else one that was denied and seems to
 * have run all the same. */
static struct call *find_waiting(struct calls_group *group, bool substituted)
{
	static const int ranks[] = {[OPEN] = 3, [HELD] = 3, [STOPPED] = 2, [DENIED] = 1};
	struct call *best = NULL;
	int rank = 0;
	for (struct call *call = first_live(group); call; call = call->next) {
		int64_t state = state_of(call);
		int is = substituted ? state == SUBSTITUTED
			 : state > 0 && state <= DENIED ? ranks[state]
							: 0;
		if (is > rank) {
			best = call;
			rank = is;
		}
	}
	return best;
}

/* ---- what is known of an execution ------------------------------------------------------- */

/* The event's, or what the decision says; most often both say the same. */
static int set_known(struct calls *calls, struct value *to, struct str text,
		     const struct value *decision, int column)
{
	struct str known = decision ? text_of(decision[column]) : (struct str){NULL, 0};
	if (!decision || (text.ptr && !(known.ptr && str_equal(known, text))))
		return calls_set(calls, to, text);
	*to = decision[column];
	return 0;
}

static const char *who(const struct value *decision)
{
	struct str verdict = decision ? text_of(decision[D_VERDICT]) : (struct str){NULL, 0};
	return str_is(verdict, "require_approval") ? "human"
	       : str_is(verdict, "deny")	   ? "denied"
	       : verdict.ptr			   ? "policy"
						   : "unseen";
}

/* What never changes once the row is there. */
static int begin_row(struct calls *calls, struct call *call, const struct event *e)
{
	const struct value *d = call->decision;
	struct value *row = call->row = new_row(calls, call, R_COLUMNS);
	if (!row)
		return -ENOMEM;
	set_number(&row[R_CALL_MADE], e->call_made);
	row[R_AUTHORIZED_BY] = value_of(str_of(who(d)));
	row[R_DECISION_SEQ] = d ? d[D_SEQ] : VALUE_NULL;
	set_number(&row[R_STARTED], d && !value_is_null(d[D_TS]) ? d[D_TS].n : e->ts_ms);
	const struct value *s = call->group->session->values;
	int r = SET(calls, row, {R_AGENT, e->agent}, {R_AGENT_TYPE, e->agent_type});
	if (r == 0)
		r = e->client.ptr ? set_known(calls, &row[R_CLIENT], e->client, s, S_CLIENT) : 0;
	if (r == 0)
		r = set_known(calls, &row[R_TOOL], or_empty(e->tool), d, D_TOOL);
	if (r == 0)
		r = set_known(calls, &row[R_SOURCE], e->source, d, D_SOURCE);
	return r < 0 ? r : set_known(calls, &row[R_SERVER], e->server, d, D_SERVER);
}

struct end {
	struct str outcome;
	int64_t success, is_error, substituted, post_seq, duration_us;
	struct str result, result_digest;
};

static int add_row(struct calls *calls, struct call *call, const struct event *e,
		   const struct end *end)
{
	const struct value *d = call->decision;
	int r = call->row ? 0 : begin_row(calls, call, e);
	struct value *row = call->row;
	if (r < 0)
		return r;
	call->row_changed = true;
	set_number(&row[R_SUCCESS], end->success);
	set_number(&row[R_IS_ERROR], end->is_error);
	set_number(&row[R_SUBSTITUTED], end->substituted);
	set_number(&row[R_POST_SEQ], end->post_seq);
	set_number(&row[R_ENDED], e->ts_ms);
	set_number(&row[R_DURATION], end->duration_us);
	r = SET(calls, row, {R_OUTCOME, end->outcome}, {R_RESULT, end->result},
		{R_RESULT_DIGEST, end->result_digest});
	if (r == 0)
		r = set_known(calls, &row[R_ARGS], e->input, d, D_ARGS);
	if (r == 0)
		r = set_known(calls, &row[R_ARGS_DIGEST], e->input_digest, d, D_ARGS_DIGEST);
	if (r == 0)
		r = set_known(calls, &row[R_ARGS_ORIGINAL], e->input_given, d, D_ARGS_ORIGINAL);
	set_number(&row[R_MUTATED], !value_is_null(row[R_ARGS_ORIGINAL]));
	return r;
}

/* An execution that nothing was heard of.  1: there was no row yet. */
static int add_unknown(struct calls *calls, struct call *call)
{
	static const struct {
		int to, from;
	} same[] = {{R_CALL_MADE, D_CALL_MADE}, {R_TOOL, D_TOOL}, {R_SOURCE, D_SOURCE},
		    {R_SERVER, D_SERVER}, {R_ARGS, D_ARGS}, {R_ARGS_ORIGINAL, D_ARGS_ORIGINAL},
		    {R_ARGS_DIGEST, D_ARGS_DIGEST}, {R_DECISION_SEQ, D_SEQ}, {R_STARTED, D_TS}};
	const struct value *d = call->decision;
	if (call->row)
		return 0;
	struct value *row = call->row = new_row(calls, call, R_COLUMNS);
	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		row[same[i].to] = d[same[i].from];
	row[R_OUTCOME] = value_of(STR("unknown"));
	row[R_AUTHORIZED_BY] = value_of(STR("policy"));
	set_number(&row[R_IS_ERROR], 0);
	set_number(&row[R_SUBSTITUTED], 0);
	set_number(&row[R_MUTATED], !value_is_null(d[D_ARGS_ORIGINAL]));
	call->row_changed = true;
	return 1;
}

/* ---- decisions ------------------------------------------------------------------------ */

static const struct {
	const char *type, *verdict;
	int64_t state;
	int count; /* column of the session, beside calls */
} primary[] = {
	{"call.allowed", "allow", OPEN, S_ALLOWED},
	{"policy.denied", "deny", DENIED, S_DENIED},
	{"policy.substituted", "substitute", SUBSTITUTED, S_SUBSTITUTED},
	{"approval.requested", "require_approval", HELD, S_APPROVALS},
};

#define PRIMARY (sizeof(primary) / sizeof(primary[0]))

static int add_decision(struct calls *calls, struct call *call, const struct event *e,
			const char *verdict, int64_t state)
{
	struct value *d = call->decision = new_row(calls, call, D_COLUMNS);
	if (!d)
		return -ENOMEM;
	set_number(&d[D_CALL_MADE], e->call_made);
	set_number(&d[D_SEQ], (int64_t)e->chain.seq);
	set_number(&d[D_TS], e->ts_ms);
	set_state(call, state);
	d[D_VERDICT] = value_of(str_of(verdict));
	return SET(calls, d, {D_TOOL, or_empty(e->tool)}, {D_SOURCE, e->source},
		   {D_SERVER, e->server}, {D_REFUSED_BY, e->refused_by}, {D_PLUGIN, e->plugin},
		   {D_RULE, e->rule}, {D_REASON, e->reason}, {D_ARGS, e->input},
		   {D_ARGS_DIGEST, e->input_digest}, {D_ARGS_ORIGINAL, e->input_given},
		   {D_TRACE, e->trace}, {D_CONFIG, e->config});
}

/* The end of a call that waited for a person: what was asked waits no more. */
static int answered(struct calls *calls, struct call *call, const struct event *e)
{
	for (struct call *asked = first_live(call->group); asked; asked = asked->next)
		if (state_of(asked) == HELD)
			set_state(asked, DONE);
	if (!str_is(e->refused_by, "human"))
		return 0;
	/* A person said no: that is an execution that failed, as one that never began. */
	return add_row(calls, call, e,
		       &(struct end){STR("rejected"), 0, 1, 0, INT64_MIN, INT64_MIN, {0}, {0}});
}

static int decided(struct calls *calls, struct calls_group *group, const struct event *e,
		   size_t kind)
{
	int64_t state = primary[kind].state;
	bool was_held = json_at(e->root, STR("/data/approval")) && state != HELD;
	/* who let it run is a person, then */
	const char *verdict =
	    was_held && state == OPEN ? "require_approval" : primary[kind].verdict;
	struct call *call = next_call(calls, group);
	int r = call ? add_decision(calls, call, e, verdict, state) : -ENOMEM;
	if (r == 0 && was_held)
		r = answered(calls, call, e);
	if (r == 0 && state == SUBSTITUTED)
		r = add_row(calls, call, e,
			    &(struct end){STR("substituted"), 1, e->is_error, 1, INT64_MIN,
					  INT64_MIN, e->result, e->result_digest});
	group->session->values[S_CALLS].n++;
	group->session->values[primary[kind].count].n++;
	return r;
}

/* ---- executions ------------------------------------------------------------------------ */

static struct str outcome_of(const struct event *e)
{
	if (e->substituted)
		return STR("substituted");
	if (e->outcome.ptr)
		return e->outcome;
	return e->is_error ? STR("tool_error") : STR("ok");
}

static void count_outcome(struct value *counts, struct str outcome)
{
	if (str_is(outcome, "ok"))
		counts[S_OK].n++;
	else if (str_is(outcome, "unknown"))
		counts[S_UNKNOWN].n++;
	else if (!str_is(outcome, "substituted")) /* counted with its decision */
		counts[S_FAILED].n++;
}

static int64_t duration_of(const struct event *e)
{
	return e->duration_ns == INT64_MIN ? INT64_MIN : e->duration_ns / 1000;
}

static int tell_substituted(struct calls *calls, struct call *call, const struct event *e)
{
	struct value *row = call->row;
	int r = 0;
	if (!row)
		return 0;
	call->row_changed = true;
	set_number(&row[R_POST_SEQ], (int64_t)e->chain.seq);
	if (value_is_null(row[R_RESULT]))
		r = calls_set(calls, &row[R_RESULT], e->result);
	if (r == 0 && value_is_null(row[R_RESULT_DIGEST]))
		r = calls_set(calls, &row[R_RESULT_DIGEST], e->result_digest);
	if (value_is_null(row[R_DURATION]))
		set_number(&row[R_DURATION], duration_of(e));
	return r;
}

static int completed(struct calls *calls, struct calls_group *group, const struct event *e)
{
	struct value *counts = group->session->values;
	struct call *call = find_waiting(group, e->substituted);
	int64_t state = DONE;
	if (call) {
		state = state_of(call);
		set_state(call, DONE);
	} else { /* nobody asked before, or it was told twice */
		call = next_call(calls, group);
		counts[S_CALLS].n++;
		counts[S_SUBSTITUTED].n += e->substituted;
	}
	if (!call)
		return -ENOMEM;
	if (state == SUBSTITUTED)
		return tell_substituted(calls, call, e);
	struct str outcome = outcome_of(e);
	counts[S_UNKNOWN].n -= state == STOPPED;
	count_outcome(counts, outcome);
	return add_row(calls, call, e,
		       &(struct end){outcome, str_is(outcome, "ok") || e->substituted, e->is_error,
				     e->substituted, (int64_t)e->chain.seq, duration_of(e),
				     e->result, e->result_digest});
}

static int stopped(struct calls *calls, struct calls_session *session, const struct event *e)
{
	struct str reason = {NULL, 0};
	int r = 0;
	for (struct call *call = session->open; r >= 0 && call; call = call->opened) {
		if (state_of(call) != OPEN)
			continue;
		r = add_unknown(calls, call);
		session->values[S_UNKNOWN].n += r == 1;
		set_state(call, STOPPED);
	}
	session->open = NULL;
	(void)json_string(json_at(e->root, STR("/data/reason")), &reason);
	set_number(&session->values[S_ENDED], e->ts_ms);
	return r < 0 ? r : SET(calls, session->values, {S_END_EVENT, e->event},
			       {S_END_REASON, reason});
}

/* Closed by age; a call that was heard of meanwhile is none any more. */
static int given_up(struct calls *calls, struct calls_group *group)
{
	struct call *call = find_waiting(group, false);
	if (!call || state_of(call) != OPEN)
		return 0;
	int r = add_unknown(calls, call);
	set_state(call, STOPPED);
	group->session->values[S_UNKNOWN].n++;
	return r < 0 ? r : 0;
}

/* ---- the entrance ------------------------------------------------------------------------ */

static size_t primary_kind(const struct event *e)
{
	size_t i = 0;
	/* A prompt or a model call is no tool call: its decisions are events and no more. */
	while (i < PRIMARY && (!e->tool.ptr || !str_is(e->type, primary[i].type)))
		i++;
	return i;
}

static bool is_end(const struct event *e)
{
	return str_is(e->type, "call.completed") || str_is(e->type, "call.failed");
}

bool calls_by_id(const struct event *e)
{
	return is_end(e) || str_is(e->type, "call.unknown") || primary_kind(e) < PRIMARY;
}

static int take_by_id(struct calls *calls, struct calls_session *session, const struct event *e)
{
	size_t kind = primary_kind(e);
	struct calls_group *group = calls_group(calls, session, or_empty(e->call), NULL);
	if (!group)
		return -ENOMEM;
	return kind < PRIMARY ? decided(calls, group, e, kind)
	       : is_end(e)    ? completed(calls, group, e)
			      : given_up(calls, group);
}

static int touch(struct calls *calls, struct calls_session *session, const struct event *e)
{
	struct value *values = session->values;
	const struct set said[] = {{S_CLIENT, e->client}, {S_TRUST, e->trust}, {S_CWD, e->cwd}};
	if (values[S_STARTED].n == INT64_MIN)
		set_number(&values[S_STARTED], e->ts_ms);
	set_number(&values[S_LAST], e->ts_ms);
	values[S_EVENTS].n += e->sseq != INT64_MIN;
	if (e->sseq > values[S_MAX_SEQ].n)
		values[S_MAX_SEQ].n = e->sseq;
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(said) / sizeof(said[0]); i++)
		if (said[i].text.ptr)
			r = calls_set(calls, &values[said[i].column], said[i].text);
	return r;
}

int calls_take(struct calls *calls, const struct event *e)
{
	/* The store's own records belong to no session; a call without one belongs to "". */
	if (str_starts(e->type, STR("audit.")))
		return 0;
	struct calls_session *session = calls_session(calls, or_empty(e->session), NULL);
	int r = session ? touch(calls, session, e) : -ENOMEM;
	if (r < 0)
		return r;
	if (calls_by_id(e))
		return take_by_id(calls, session, e);
	if (str_is(e->type, "session.stop"))
		return stopped(calls, session, e);
	session->values[S_MODIFIED].n += str_is(e->type, "policy.modified");
	session->values[S_ERRORS].n += str_is(e->type, "policy.hook_error");
	return 0;
}
