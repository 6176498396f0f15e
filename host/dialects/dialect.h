/* dialect.h - the JSON of one agent client: its events decoded to the one call, the
 * decision encoded to its answer.
 *
 * Layer: dialects; knows core through its headers, json and base.
 *
 * A new client is one file that ends in its struct dialect, one line in dialects.c, and
 * its rows in forms.c.
 */
#ifndef PAWL_DIALECTS_DIALECT_H
#define PAWL_DIALECTS_DIALECT_H

#include "core/host.h"
#include "dialects/forms.h"

/* What goes back to the client. Texts live in the call's arena. */
struct answer {
	struct str out; /* stdout, without newline; empty: print nothing */
	struct str err; /* stderr: the reason of a refusal */
	int exit;	/* 0 may run, 2 may not */
};

struct dialect {
	const char *name;
	/* Fills the call from the event (an object); kind is set already. -EBADMSG names the
	 * member that cannot be used. */
	int (*decode)(struct pawl_call *call, const struct json_value *event, struct error *err);
	/* Allow, approval and substitute; a deny is encoded from forms. May turn the decision
	 * into a deny where the client cannot do it (dialect_deny). */
	int (*encode)(const struct host *host, struct pawl_call *call, struct decision *decision,
		      struct answer *answer, struct error *err);
};

/* NULL when there is none of that name. */
const struct dialect *dialect_find(const char *name);

/* What is said of an event that cannot be read: kind and name are those of this one, which
 * --event gave; none when its ptr is NULL. */
void dialect_assume(const struct dialect *dialect, struct pawl_call *call, struct str event);

/* Reads one event: kind by its name (or by event_given, what --event said), then the
 * dialect's fields. On an error the call holds what could be read, kind included. */
int dialect_decode(const struct dialect *dialect, struct pawl_call *call,
		   const struct json_value *event, struct str event_given, struct error *err);

/* The answer to a decided call; to an event that only informs when decision is NULL. */
int dialect_encode(const struct dialect *dialect, const struct host *host, struct pawl_call *call,
		   struct decision *decision, struct answer *answer, struct error *err);

/* The refusal of a decided deny in the client's form, with libc alone. */
int dialect_refuse(const struct dialect *dialect, struct pawl_call *call,
		   const struct decision *decision, struct answer *answer, struct error *err);

/* The form an event of this call is refused in. */
const struct form *dialect_form(const struct dialect *dialect, const struct pawl_call *call);

/* For encode: the client cannot do what was decided, so it is a deny with what to do
 * instead. */
int dialect_deny(const struct host *host, struct pawl_call *call, struct decision *decision,
		 const char *why);

/* For encode of clients that have no way to take a result from a hook: a deny whose reason is
 * the result, marked as one. */
int dialect_substitute_as_deny(const struct host *host, struct pawl_call *call,
			       struct decision *decision);

/* Claude Code's {"hookSpecificOutput":{"hookEventName":"PreToolUse", ...}}: permission is
 * "allow", "ask" or NULL; the arguments are added when they were modified. */
int dialect_claude_output(struct pawl_call *call, const struct decision *decision,
			  const char *permission, struct answer *answer, struct error *err);

/* For encode: builds text with the writer and keeps it in the call's arena. */
struct json_object;
struct json_writer;
int dialect_keep(struct pawl_call *call, const struct json_writer *w, struct json_object *o,
		 struct answer *answer, struct error *err);

/* Fields of Claude Code's shape, which most others took over. */
int dialect_decode_claude_fields(struct pawl_call *call, const struct json_value *event,
				 struct error *err);

#endif
