/* forms.c - see forms.h; the tables are in form-table.c. */
#include <config.h>

#include "dialects/forms.h"

#include "base/text.h"

const char *forms_agent(size_t index)
{
	return form_lists[index].agent;
}

const struct form_list *forms_of(const char *agent)
{
	for (const struct form_list *list = form_lists; list->agent; list++)
		if (strcmp(list->agent, agent) == 0)
			return list;
	return NULL;
}

const struct form *form_find(const struct form_list *list, struct str event)
{
	for (size_t i = 1; i < list->n; i++)
		if (str_is(event, list->forms[i].event))
			return &list->forms[i];
	return &list->forms[0];
}

size_t form_refuse(const struct form *form, struct str text, struct str reason, struct str by,
		   struct str id_json, char *buf, size_t room)
{
	/* each text takes at most a third of what there is, so that all of the form fits */
	static char inside_text[24 * 1024], inside_reason[24 * 1024];
	size_t n_text = text_json(text, inside_text, sizeof(inside_text));
	size_t n_reason = text_json(reason, inside_reason, sizeof(inside_reason));
	const struct text_hole holes[] = {
		{"text", {inside_text, n_text}},
		{"reason", {inside_reason, n_reason}},
		{"by", by},
		{"id", id_json.ptr && id_json.len <= FORM_ID_MAX ? id_json : STR("null")},
	};
	return text_fill(str_of(form->refuse), holes, sizeof(holes) / sizeof(holes[0]), buf, room);
}
