/* decision.h - what the chain says about one call, and how it came to that.
 *
 * Layer: core. Strings live in the call's arena.
 */
#ifndef PAWL_CORE_DECISION_H
#define PAWL_CORE_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/call.h"
#include "core/reply.h"

enum verdict {
	VERDICT_NONE, /* not asked */
	VERDICT_ALLOW = PAWL_ALLOW,
	VERDICT_DENY = PAWL_DENY,
	VERDICT_REQUIRE_APPROVAL = PAWL_REQUIRE_APPROVAL,
	VERDICT_SUBSTITUTE = PAWL_SUBSTITUTE,
	VERDICT_ERROR, /* anything else a plugin can do */
};

/* "allow" "deny" "require_approval" "substitute" "error" */
const char *verdict_name(enum verdict verdict);

enum refused_by {
	REFUSED_STATIC,
	REFUSED_PLUGIN,
	REFUSED_ERROR,
	REFUSED_HUMAN,
	REFUSED_TIMEOUT,
	REFUSED_CANCELLED,
	REFUSED_HOST,
};

const char *refused_by_name(enum refused_by by);

/* One asking of one plugin. */
struct step {
	size_t entry; /* index in the chain */
	struct str plugin, version;
	enum verdict verdict;
	int64_t ns;
	int round;
	bool shadow, edited, conflict;
	const char *error_class; /* VERDICT_ERROR: crash timeout exit load bad-status fail ... */
	const char *error_text;	 /* for people and check, never for the model or records */
	const char *error_shown; /* for the model: the host's own words, NULL the usual ones */
	struct str rule, reason;
	const struct json_value *args_after; /* edited: the arguments it left */
	const struct reply_note *notes;
	size_t n_notes;
};

/* Something worth a record of its own beside the decision. */
struct remark {
	const char *type; /* "policy.hook_warning" ... */
	struct str plugin;
	const char *error_class;
	struct str text;
	struct str approval; /* the id of the one it is about */
};

#define DECISION_REMARKS_MAX 64

struct decision {
	enum verdict verdict; /* starts as DENY */
	enum refused_by refused_by;
	struct str reason; /* for the model, without the refusal template around it */
	struct str rule;
	struct str plugin; /* the entry's name; absent when no plugin decided */
	struct str refusal; /* the reason inside the template: "BLOCKED: ..." */
	bool modified;	   /* the arguments to run with are not those given */
	bool granted;
	const struct json_value *args; /* to run with */
	const struct json_value *result; /* substitute */
	bool result_is_error;
	struct str instructions;
	int64_t timeout_ns; /* approval: resolved, 0 none */
	struct str approval; /* the id it waits, or waited, under in the queue */
	struct str batch; /* the id under which it is resumed */
	bool notices; /* somebody is to be told that it waits */
	bool held; /* it may run, once its batch mates may */
	bool joined; /* ... where the same call waited already */
	struct str approved_by; /* a person's yes was used for it: who said it */
	struct str told;
	struct step *steps;
	size_t n_steps, max_steps;
	struct remark remarks[DECISION_REMARKS_MAX];
	size_t n_remarks;
	size_t n_asked_after; /* shadow entries still to be asked once the answer has left */
};

#endif
