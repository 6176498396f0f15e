/* reply.h - what one hook wrote beside its verdict, already copied and checked.
 *
 * Layer: core. Plugins write it through the host table; the chain reads it.
 */
#ifndef PAWL_CORE_REPLY_H
#define PAWL_CORE_REPLY_H

#include <stdbool.h>

#include "core/call.h"

#define REPLY_REASON_MAX 8192	/* bytes shown to the model; longer is cut */
#define REPLY_RULE_MAX 256
#define REPLY_TELL_MAX 8192
#define REPLY_NOTES_MAX 16
#define REPLY_NOTE_MAX 1024

struct reply_note {
	struct str key, value;
};

struct pawl_reply {
	struct json_arena *arena;
	struct json_limits limits;
	bool merge;			/* set_args merges (a model request) */
	const struct json_value *args;	/* as edited so far */
	bool edited, grant;
	struct str rule, reason;	/* cleaned; absent when not given */
	const struct json_value *result; /* NULL when none was given */
	bool result_is_error;
	bool approval_given;
	struct str instructions;
	int64_t timeout_ns;		/* -1 the host's default, 0 none */
	struct str told;
	const char *fault;		/* a service failed: the hook is an error; why, a literal */
	size_t n_notes;
	struct reply_note notes[REPLY_NOTES_MAX]; /* last: the first n_notes are set */
};

void reply_init(struct pawl_reply *reply, const struct pawl_call *call);

#endif
