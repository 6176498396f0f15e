/* agents.c - pawl agents [NAME]: what each client can be told, off the tables that the
 * answers themselves are made by. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "dialects/dialect.h"
#include "json/write.h"

static const struct {
	unsigned can;
	const char *name;
} abilities[] = {
	{FORM_REWRITE, "rewrite"}, {FORM_ASK, "ask"},
	{FORM_GRANT, "grant"},	   {FORM_TELL, "tell"},
	{FORM_SUBSTITUTE, "substitute"},
};

#define N_ABILITIES (sizeof(abilities) / sizeof(abilities[0]))
#define FORM_EACH (FORM_REWRITE | FORM_ASK | FORM_GRANT | FORM_TELL | FORM_SUBSTITUTE)

static unsigned form_can(const struct form *form)
{
	return form->can & FORM_ALL ? FORM_EACH : form->can;
}

/* What any of the client's events of this kind can be answered; 0 when it sends none. */
static unsigned list_can(const struct form_list *list, enum event_kind kind, bool *ret_any)
{
	unsigned can = 0;
	*ret_any = false;
	for (size_t i = 1; i < list->n; i++)
		if (list->forms[i].kind == kind) {
			can |= form_can(&list->forms[i]);
			*ret_any = true;
		}
	return can;
}

static const char *yes(unsigned can, unsigned what)
{
	return can & what ? "yes" : "no";
}

/* What can be done about a prompt or a request before the model sees it. */
static const char *before_model(const struct form_list *list)
{
	bool any;
	unsigned can = list_can(list, EVENT_PRE_MODEL, &any);
	return !any		  ? "no" :
	       can & FORM_REWRITE ? "change" :
	       can & FORM_DEAF	  ? "watch" :
				    "refuse";
}

static const struct form *first_gate(const struct form_list *list)
{
	for (size_t i = 1; i < list->n; i++)
		if (list->forms[i].kind == EVENT_PRE_TOOL)
			return &list->forms[i];
	return &list->forms[0];
}

static void put_timeout(const struct ability *can, char *buf, size_t room)
{
	if (can->timeout == 0 && can->timeout_unit[0])
		snprintf(buf, room, "in %s", can->timeout_unit);
	else if (can->timeout == 0)
		snprintf(buf, room, "-");
	else if (can->timeout_unit[0])
		snprintf(buf, room, "%d %s", can->timeout, can->timeout_unit);
	else
		snprintf(buf, room, "%d s, fixed", can->timeout);
}

/* ---- for people ----------------------------------------------------------------------- */

#define ROW "%-12s %-8s %-4s %-7s %-11s %-6s %-5s %-7s %-13s %-23s %s\n"

static void print_row(const struct dialect *dialect)
{
	const struct form_list *list = forms_of(dialect->name);
	char timeout[32];
	bool any;
	unsigned can = list_can(list, EVENT_PRE_TOOL, &any);
	put_timeout(&dialect->can, timeout, sizeof(timeout));
	const char *pass = first_gate(list)->pass;
	printf(ROW, dialect->name, yes(can, FORM_REWRITE), yes(can, FORM_ASK),
	       strcmp(dialect->can.result, "no") == 0 ? "no" : "yes",
	       can & FORM_SUBSTITUTE ? "yes" : "as a deny", yes(can, FORM_GRANT),
	       yes(can, FORM_TELL), before_model(list), timeout,
	       can & FORM_SUBSTITUTE ? "in full" : pass[0] ? pass : "nothing",
	       dialect->can.on_failure);
}

static void print_event(const struct form *form)
{
	printf("  %-24s", form->event);
	for (size_t i = 0; i < N_ABILITIES; i++)
		if (form_can(form) & abilities[i].can)
			printf(" %s", abilities[i].name);
	if (form->can & FORM_DEAF)
		printf(" (goes on whatever is answered)");
	putchar('\n');
}

static void print_full(const struct dialect *dialect)
{
	const struct form_list *list = forms_of(dialect->name);
	const struct form *gate = first_gate(list);
	char timeout[32];
	put_timeout(&dialect->can, timeout, sizeof(timeout));
	printf("%s: %s (%s)\n", dialect->name, dialect->can.title, dialect->can.version);
	printf("  no objection   %s, exit 0\n", gate->pass[0] ? gate->pass : "nothing printed");
	printf("  refusal        %s, the word on stderr, exit %d\n",
	       gate->refuse[0] ? "its own form on stdout" : "nothing on stdout", list->refused);
	printf("  timeout        %s\n", timeout);
	printf("  failed hook    %s\n", dialect->can.on_failure);
	printf("  tool's result  %s (pawl only watches)\n", dialect->can.result);
	if (dialect->can.note[0])
		printf("  note           %s\n", dialect->can.note);
	printf("\nevents that can be refused, and what else can be answered:\n");
	for (size_t i = 1; i < list->n; i++)
		if (event_gates(list->forms[i].kind))
			print_event(&list->forms[i]);
	printf("\nevents that are watched:\n ");
	for (size_t i = 1; i < list->n; i++)
		if (!event_gates(list->forms[i].kind) && list->forms[i].kind != EVENT_OTHER)
			printf(" %s", list->forms[i].event);
	putchar('\n');
}

/* ---- for programs --------------------------------------------------------------------- */

static struct json_object *event_object(const struct json_writer *w, const struct form *form)
{
	static const char *const kinds[] = {
		[EVENT_UNKNOWN] = "unknown",	   [EVENT_PRE_TOOL] = "pre_tool_use",
		[EVENT_PRE_MODEL] = "pre_model_call", [EVENT_POST_MODEL] = "post_model_call",
		[EVENT_POST_TOOL] = "post_tool_use",  [EVENT_STOP] = "stop",
		[EVENT_START] = "start",	      [EVENT_OTHER] = "other",
	};
	struct json_object *o = w->object(), *can = w->array();
	w->add_text(o, "event", str_of(form->event));
	w->add_text(o, "kind", str_of(kinds[form->kind]));
	w->add_bool(o, "refuse", event_gates(form->kind) && !(form->can & FORM_DEAF));
	for (size_t i = 0; i < N_ABILITIES; i++)
		if (form_can(form) & abilities[i].can)
			w->add_text(can, NULL, str_of(abilities[i].name));
	w->add(o, "can", can);
	w->add_text(o, "abstain", str_of(form->pass));
	return o;
}

static struct json_object *agent_object(const struct json_writer *w, const struct dialect *dialect)
{
	const struct form_list *list = forms_of(dialect->name);
	struct json_object *o = w->object(), *timeout = w->object(), *events = w->array();
	bool any;
	unsigned can = list_can(list, EVENT_PRE_TOOL, &any);
	w->add_text(o, "name", str_of(dialect->name));
	w->add_text(o, "title", str_of(dialect->can.title));
	w->add_text(o, "version", str_of(dialect->can.version));
	for (size_t i = 0; i < N_ABILITIES; i++)
		w->add_bool(o, abilities[i].name, (can & abilities[i].can) != 0);
	w->add_text(o, "model", str_of(before_model(list)));
	w->add_text(o, "result", str_of(dialect->can.result));
	w->add_text(o, "abstain", str_of(first_gate(list)->pass));
	w->add_integer(o, "refusal_exit", list->refused);
	w->add_text(timeout, "unit", str_of(dialect->can.timeout_unit));
	w->add_integer(timeout, "default", dialect->can.timeout);
	w->add(o, "timeout", timeout);
	w->add_text(o, "on_failure", str_of(dialect->can.on_failure));
	w->add_text(o, "note", str_of(dialect->can.note));
	for (size_t i = 1; i < list->n; i++)
		w->add(events, NULL, event_object(w, &list->forms[i]));
	w->add(o, "events", events);
	return o;
}

static int print_json(const struct dialect *one)
{
	struct error err;
	const struct json_writer *w = json_writer_get(&err);
	if (!w) {
		fprintf(stderr, "pawl agents: %s\n", err.text);
		return 1;
	}
	struct json_object *all = one ? agent_object(w, one) : w->array();
	for (size_t i = 0; !one && dialect_at(i); i++)
		w->add(all, NULL, agent_object(w, dialect_at(i)));
	printf("%.*s\n", STR_FMT(w->text(all)));
	w->free(all);
	return 0;
}

/* ---- the command ---------------------------------------------------------------------- */

static int run(const struct tool_line *line)
{
	const struct dialect *one = line->n > 0 ? dialect_find(line->words[0]) : NULL;
	if (line->n > 0 && !one) {
		fprintf(stderr, "pawl agents: no agent \"%s\" is known\n", line->words[0]);
		return 1;
	}
	if (line->json)
		return print_json(one);
	if (one) {
		print_full(one);
		return 0;
	}
	printf(ROW, "agent", "rewrite", "ask", "result", "substitute", "grant", "tell", "model",
	       "timeout", "no objection", "a failed hook");
	for (size_t i = 0; dialect_at(i); i++)
		print_row(dialect_at(i));
	return 0;
}

extern const struct tool tool_agents;
const struct tool tool_agents = {"agents", 0, 1, "[NAME]", run};
