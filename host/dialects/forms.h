/* forms.h - which events each client sends, what they mean, and what can be answered to
 * each.
 *
 * Layer: dialects, but libc and base only: the front, which loads nothing else, refuses
 * by the same table as the encoders do.
 */
#ifndef PAWL_DIALECTS_FORMS_H
#define PAWL_DIALECTS_FORMS_H

#include <stddef.h>

#include "base/str.h"
#include "core/event.h"

/* What an answer to a gating event can say beside yes and no. */
#define FORM_REWRITE 1u	   /* other arguments to run with */
#define FORM_ASK 2u	   /* a person is asked by the client */
#define FORM_GRANT 4u	   /* the client's own prompt is left out */
#define FORM_TELL 8u	   /* more context for the model */
#define FORM_SUBSTITUTE 16u /* a result in the call's place */
#define FORM_ALL 32u	   /* whatever was decided, a refusal included: the encoder says it */
#define FORM_DEAF 64u	   /* the client goes on whatever is answered */

/* What a refusal says there instead of the config's template: nothing was stopped. */
#define FORM_DEAF_PATTERN "not enforced (this client's hooks only watch prompts): {reason}"

struct form {
	const char *event; /* NULL: stands for every name that is not listed */
	enum event_kind kind;
	unsigned can; /* FORM_* */
	/* What is printed when a gating event is refused; "": the word on stderr is all that
	 * this client reads. {text} the refusal as the model reads it, {reason} without the
	 * template, {by} refused_by, all as the inside of a JSON string; {id} tool_use_id as
	 * JSON. */
	const char *refuse;
	const char *pass; /* printed when there is no objection, or to an event that only informs */
};

struct form_list {
	const char *agent;
	const struct form *forms; /* the first is the unknown event's */
	size_t n;
	int refused; /* exit status of a refusal: 2, but where the client reads that as a crash */
};

extern const struct form_list form_lists[]; /* ends with agent NULL */

/* NULL when no such agent is known. */
const struct form_list *forms_of(const char *agent);
/* Never NULL: the unknown event's when name is not listed. */
const struct form *form_find(const struct form_list *list, struct str event);
/* The names of the agents, for a usage text. */
const char *forms_agent(size_t index);

#define FORM_ID_MAX 512

/* Fills a refusal in. buf holds room bytes; returns the length. */
size_t form_refuse(const struct form *form, struct str text, struct str reason, struct str by,
		   struct str id_json, char *buf, size_t room);

#endif
