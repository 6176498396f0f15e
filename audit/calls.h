/* calls.h - what the records say of calls and sessions, in memory.
 *
 * Layer: audit; knows event, nothing of SQLite.
 *
 * What an event makes of the calls depends on the events before it and on nothing else.
 * Whoever fills the index takes a stretch of the log at a time (project.c: what is stored
 * already is put in first) and stores what has changed; whoever verifies it takes all of
 * the log and compares.
 *
 *	struct calls *calls;
 *	if (calls_new(&calls) == 0 && calls_take(calls, &event) == 0)
 *		for (struct call *call = calls_first(calls); call; call = call->later)
 *			...
 */
#ifndef PAWL_AUDIT_CALLS_H
#define PAWL_AUDIT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

/* A column: NULL (no ptr, INT64_MIN), a number (no ptr), or a text of n bytes. */
struct value {
	const char *ptr;
	int64_t n;
};

#define VALUE_NULL ((struct value){NULL, INT64_MIN})

static inline bool value_is_null(struct value value)
{
	return !value.ptr && value.n == INT64_MIN;
}

/* The tables' columns, in the schema's order. */
enum {
	D_SESSION, D_CALL, D_OCCURRENCE, D_CALL_MADE, D_TOOL, D_SOURCE, D_SERVER, D_VERDICT,
	D_REFUSED_BY, D_PLUGIN, D_RULE, D_REASON, D_ARGS, D_ARGS_DIGEST, D_ARGS_ORIGINAL,
	D_TRACE, D_CONFIG, D_SEQ, D_TS, D_STATE, D_COLUMNS
};

enum {
	R_SESSION, R_CALL, R_OCCURRENCE, R_CALL_MADE, R_TOOL, R_SOURCE, R_SERVER, R_OUTCOME,
	R_SUCCESS, R_IS_ERROR, R_SUBSTITUTED, R_MUTATED, R_AUTHORIZED_BY, R_ARGS,
	R_ARGS_ORIGINAL, R_ARGS_DIGEST, R_RESULT, R_RESULT_DIGEST, R_CLIENT, R_AGENT,
	R_AGENT_TYPE, R_DECISION_SEQ, R_POST_SEQ, R_STARTED, R_ENDED, R_DURATION, R_COLUMNS
};

enum {
	S_ID, S_CLIENT, S_TRUST, S_CWD, S_STARTED, S_LAST, S_ENDED, S_END_EVENT, S_END_REASON,
	S_EVENTS, S_MAX_SEQ, S_CALLS, S_ALLOWED, S_DENIED, S_SUBSTITUTED, S_APPROVALS,
	S_MODIFIED, S_ERRORS, S_OK, S_FAILED, S_UNKNOWN, S_COLUMNS
};

/* decisions.state */
enum { DONE, OPEN, HELD, STOPPED, SUBSTITUTED, DENIED };

struct calls_node {
	struct calls_node *next; /* of its bucket */
	uint64_t hash;
};

/* A session: its counts are of the records taken, not of what is stored. */
struct calls_session {
	struct calls_node node;
	struct calls_session *later;
	struct call *open; /* those that were, newest first */
	struct value values[S_COLUMNS];
	bool stored, seen; /* whoever uses this says so */
};

/* The calls of one id, which may be used again. */
struct calls_group {
	struct calls_node node;
	struct calls_session *session;
	struct str id;
	struct call *first, *last; /* by occurrence */
	struct call *live, *found; /* none before it waits; looked up last */
	int64_t top;               /* the highest occurrence that is stored */
};

struct call {
	struct call *next;  /* of its id */
	struct call *later; /* made later */
	struct call *opened; /* of its session, before it */
	struct calls_group *group;
	int64_t occurrence;
	struct value *decision, *row; /* NULL: none */
	bool decision_stored, row_stored, decision_changed, row_changed;
	bool decision_seen, row_seen;
};

struct calls;

/* -ENOMEM */
int calls_new(struct calls **ret);
void calls_free(struct calls *calls); /* takes NULL */
void calls_clear(struct calls *calls);

/* Until they are cleared, what lies in text is not copied: it stays where it is. */
void calls_lasting(struct calls *calls, struct str text);

/* Takes one event in.  -ENOMEM */
int calls_take(struct calls *calls, const struct event *event);

/* Whether it takes an event by its call's id. */
bool calls_by_id(const struct event *event);

/* In the order they were met. */
struct call *calls_first(const struct calls *calls);
struct calls_session *calls_first_session(const struct calls *calls);

/* Looked up and made when missing; *ret_made may be NULL.  NULL: out of memory. */
struct calls_session *calls_session(struct calls *calls, struct str id, bool *ret_made);
struct calls_group *calls_group(struct calls *calls, struct calls_session *session,
				struct str id, bool *ret_made);
struct call *calls_call(struct calls *calls, struct calls_group *group, int64_t occurrence);

/* Looked up only: NULL when there is none. */
struct calls_session *calls_find_session(const struct calls *calls, struct str id);
struct call *calls_find(const struct calls *calls, struct str session, struct str id,
			int64_t occurrence);

/* A decision that is stored already, and its state. */
void calls_put_decision(struct call *call, struct value *decision);

/* n values that live as long as the calls do, all NULL; a copy of a text. */
struct value *calls_values(struct calls *calls, size_t n);
int calls_set(struct calls *calls, struct value *to, struct str text);

#endif
