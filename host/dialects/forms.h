/* forms.h - which events each client sends, what they mean, and how a refusal of one
 * looks there.
 *
 * Layer: dialects, but libc and base only: the front, which loads nothing else, refuses
 * by the same table as the encoders do.
 */
#ifndef PAWL_DIALECTS_FORMS_H
#define PAWL_DIALECTS_FORMS_H

#include <stddef.h>

#include "base/str.h"
#include "core/event.h"

struct form {
	const char *event; /* NULL: stands for every name that is not listed */
	enum event_kind kind;
	/* What is printed when a gating event is refused, or when an informing one is done;
	 * {text} the refusal as the model reads it, {reason} without the template, {by}
	 * refused_by, all as the inside of a JSON string; {id} tool_use_id as JSON. */
	const char *answer;
};

struct form_list {
	const char *agent;
	const struct form *forms; /* the first is the unknown event's */
	size_t n;
};

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
