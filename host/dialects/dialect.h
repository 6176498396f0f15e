/* dialect.h - the JSON of one agent client: its events decoded to the one call, the
 * decision encoded to its answer.
 *
 * Layer: dialects; knows core through its headers, json and base.
 *
 * A new client is one file that ends in its struct dialect, one line in dialects.c, and
 * its rows in form-table.c. What an event's row says the client cannot do is refused before
 * encode is asked, so that an encoder never passes anything over in silence.
 */
#ifndef PAWL_DIALECTS_DIALECT_H
#define PAWL_DIALECTS_DIALECT_H

#include "core/host.h"
#include "dialects/forms.h"

/* What goes back to the client. Texts live in the call's arena. */
struct answer {
	struct str out; /* stdout, without newline; empty: print nothing */
	struct str err; /* stderr: the reason of a refusal */
	int exit;	/* 0 may run, 2 may not (a refusal of Cline's is 0 too) */
};

/* What `pawl agents` prints of a client beside its rows in form-table.c. */
struct ability {
	const char *title, *version; /* version: what was read or measured */
	const char *timeout_unit;    /* "s", "ms"; "": cannot be set */
	int timeout;		     /* the client's default, in that unit or s; 0: unknown */
	const char *on_failure;	     /* what it does when a hook before a tool crashes or is late */
	const char *result;	     /* how a hook may change a tool's result; pawl only watches */
	const char *note;	     /* what to know beside, or "" */
};

struct dialect {
	const char *name;
	struct ability can;
	/* The event's own name, absent when it does not say; NULL: its "hook_event_name". */
	struct str (*event_name)(const struct json_value *event);
	/* What the members tell, where neither the event nor --event does; NULL: nothing. */
	const char *(*event_guess)(const struct json_value *event);
	/* Fills the call from the event (an object); kind is set already. -EBADMSG names the
	 * member that cannot be used. */
	int (*decode)(struct pawl_call *call, const struct json_value *event, struct error *err);
	/* Whatever is more than "no" and "no objection" and the event's row can express; NULL
	 * when no row can. Leaves answer->out absent to have decision refused after all. */
	int (*encode)(const struct host *host, struct pawl_call *call, struct decision *decision,
		      struct answer *answer, struct error *err);
};

/* NULL when there is none of that name. */
const struct dialect *dialect_find(const char *name);
/* One after the other, NULL at the end. */
const struct dialect *dialect_at(size_t index);

/* What is said of an event that cannot be read: kind and name are those of this one, which
 * --event gave; none when its ptr is NULL. */
void dialect_assume(const struct dialect *dialect, struct pawl_call *call, struct str event);

/* Reads one event: kind by its name (or by event_given, what --event said), then the
 * dialect's fields. On an error the call holds what could be read, kind included. An event
 * of Cursor's that comes to Claude Code's dialect is read as Cursor's, and the call's client
 * says so. */
int dialect_decode(const struct dialect *dialect, struct pawl_call *call,
		   const struct json_value *event, struct str event_given, struct error *err);

/* The answer to a decided call; to an event that only informs when decision is NULL. Both
 * this and dialect_refuse speak the call's client's language, once it is known. */
int dialect_encode(const struct dialect *dialect, const struct host *host, struct pawl_call *call,
		   struct decision *decision, struct answer *answer, struct error *err);

/* The refusal of a decided deny in the client's form, with libc alone. */
int dialect_refuse(const struct dialect *dialect, struct pawl_call *call,
		   const struct decision *decision, struct answer *answer, struct error *err);

/* A refusal that the client does not hear is no refusal: has the decision say so, in its
 * words and as a remark for the records. Does nothing where it is heard. */
void dialect_mark_unheard(const struct dialect *dialect, struct pawl_call *call,
			  struct decision *decision);

/* The row of this call's event. */
const struct form *dialect_form(const struct dialect *dialect, const struct pawl_call *call);

/* ---- for decode (decode.c) ------------------------------------------------------------ */

/* -EBADMSG "the event has no WHAT", "the event's WHAT is a number, not a string". */
int dialect_need(const struct json_value *value, enum json_type type, const char *what,
		 struct error *err);

/* The text of the first of these members that is one; names end with NULL. */
struct str dialect_text(const struct json_value *event, const char *const names[]);
void dialect_set_text(struct pawl_call *call, int field, const struct json_value *event,
		      const char *const names[]);

/* tool_use_id under any of the names. */
void dialect_set_id(struct pawl_call *call, const struct json_value *event,
		    const char *const names[]);

/* The tool's name, a string that must be there; source and server may be absent. */
int dialect_set_tool(struct pawl_call *call, const struct json_value *name, const char *what,
		     struct str source, struct str server, struct error *err);

/* The arguments: JSON inside a string is taken out of it (text that nobody can read as JSON
 * stays as it is), and the names that rules know are added beside the client's own:
 * "command", "file_path". To be called once the tool is known. -EBADMSG where rules and the
 * client could read different things. */
int dialect_set_arguments(struct pawl_call *call, const struct json_value *input,
			  struct error *err);
const struct json_value *dialect_unwrap(struct pawl_call *call, const struct json_value *value);

/* After the chain: the name that was added says what the client's own does, whichever of
 * them a plugin wrote to, so that what is recorded is what the client tells after the tool. */
void dialect_settle(struct pawl_call *call, struct decision *decision);

/* A prompt becomes the model request {"prompt": ...}. */
int dialect_set_prompt(struct pawl_call *call, const struct json_value *prompt, struct error *err);

/* {"name": value, ...} of what there is of the values, spliced from their bytes. */
int dialect_object(struct pawl_call *call, const char *const names[],
		   const struct json_value *const values[], size_t n,
		   const struct json_value **ret, struct error *err);

/* Session, folder, agent, id, tool and arguments in Claude Code's shape, which most others
 * took over; the result and whether it is a failure in read_result. */
int dialect_decode_claude_fields(struct pawl_call *call, const struct json_value *event,
				 struct error *err);
void dialect_set_result(struct pawl_call *call, const struct json_value *result, bool failed);
void dialect_set_duration(struct pawl_call *call, const struct json_value *ms);

/* ---- for encode (encode.c) ------------------------------------------------------------ */

/* The client cannot do what was decided, so it is a deny with what to do instead. */
int dialect_deny(const struct host *host, struct pawl_call *call, struct decision *decision,
		 const char *why);

/* The arguments to run with as the client names them: the names that decode added are taken
 * off again, and what a plugin wrote to one is written to the client's own. */
int dialect_arguments(struct pawl_call *call, const struct decision *decision, struct str *ret,
		      struct error *err);
/* With what an encoder begins: the writer, and those arguments, absent when nothing was
 * modified. */
struct json_writer;
int dialect_begin(struct pawl_call *call, const struct decision *decision,
		  const struct json_writer **ret_writer, struct str *ret_args, struct error *err);

/* Claude Code's {"hookSpecificOutput":{"hookEventName": the event's, ...}}: permission is
 * "allow", "ask" or NULL; the arguments are added when they were modified. */
int dialect_claude_output(struct pawl_call *call, const struct decision *decision,
			  const char *permission, struct answer *answer, struct error *err);

/* "ask", "allow" where it has to be said, or NULL. */
const char *dialect_permission(const struct decision *decision);

/* Builds the text and keeps it in the call's arena; the tool may run. */
struct json_object;
int dialect_keep(struct pawl_call *call, const struct json_writer *w, struct json_object *o,
		 struct answer *answer, struct error *err);

#endif
