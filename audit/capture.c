/* capture.c - the rules, and what each level leaves of a record. */
#include <config.h>

#include "capture.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum level { LEVEL_NONE, LEVEL_METADATA, LEVEL_REQUEST, LEVEL_FULL };

static const char *const level_names[] = {"none", "metadata", "request", "full"};

/* What a rule looks at; globs, NULL: any. */
static const struct {
	const char *name;
	size_t at; /* in struct record */
} subjects[] = {
	{"tool", offsetof(struct record, tool)},       {"source", offsetof(struct record, source)},
	{"server", offsetof(struct record, server)},   {"session", offsetof(struct record, session)},
	{"client", offsetof(struct record, client)},   {"agent", offsetof(struct record, agent)},
	{"agent_type", offsetof(struct record, agent_type)},
	{"verdict", offsetof(struct record, verdict)},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

struct rule {
	char *globs[SUBJECTS];
	enum level level;
	bool aside;
};

struct capture {
	struct rule rules[CAPTURE_RULES_MAX];
	size_t n;
};

static int take_level(struct rule *rule, struct str text, size_t i, struct error *err)
{
	for (size_t l = 0; l < 4; l++)
		if (str_is(text, level_names[l])) {
			rule->level = (enum level)l;
			return 0;
		}
	return error_set(err, EINVAL,
			 "capture[%zu].level: takes \"none\", \"metadata\", \"request\" or \"full\"",
			 i);
}

static int take_member(struct rule *rule, struct str name, const struct json_value *value, size_t i,
		       struct error *err)
{
	struct str text;
	if (json_string(value, &text) < 0)
		return error_set(err, EINVAL, "capture[%zu].%.*s: takes a text", i, STR_FMT(name));
	if (str_is(name, "level"))
		return take_level(rule, text, i, err);
	if (str_is(name, "bodies")) {
		rule->aside = str_is(text, "aside");
		return rule->aside || str_is(text, "inline")
			       ? 0
			       : error_set(err, EINVAL,
					   "capture[%zu].bodies: takes \"inline\" or \"aside\"", i);
	}
	for (size_t s = 0; s < SUBJECTS; s++)
		if (str_is(name, subjects[s].name)) {
			rule->globs[s] = strndup(text.ptr, text.len);
			return rule->globs[s] ? 0 : error_set(err, ENOMEM, "out of memory");
		}
	return error_set(err, EINVAL,
			 "capture[%zu]: unknown key \"%.*s\"; known are level, bodies, tool, source, "
			 "server, session, client, agent, agent_type, verdict",
			 i, STR_FMT(name));
}

static int take_rule(struct rule *rule, const struct json_value *object, size_t i,
		     struct error *err)
{
	int r = 0;
	rule->level = LEVEL_FULL;
	if (json_type(object) != JSON_OBJECT)
		return error_set(err, EINVAL, "capture[%zu]: takes an object", i);
	if (!json_member(object, STR("level")) && !json_member(object, STR("bodies")))
		return error_set(err, EINVAL, "capture[%zu]: says no level", i);
	for (size_t m = 0; r == 0 && m < json_length(object); m++) {
		const struct json_value *value;
		struct str name = json_key(object, m, &value);
		r = take_member(rule, name, value, i, err);
	}
	return r;
}

int capture_new(const struct json_value *options, struct capture **ret, struct error *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int r = c ? 0 : error_set(err, ENOMEM, "out of memory");
	if (r == 0 && options &&
	    (json_type(options) != JSON_ARRAY || json_length(options) > CAPTURE_RULES_MAX))
		r = error_set(err, EINVAL, "capture: takes a list of at most %d rules",
			      CAPTURE_RULES_MAX);
	for (size_t i = 0; r == 0 && i < json_length(options); i++)
		r = take_rule(&c->rules[c->n++], json_item(options, i), i, err);
	if (r < 0)
		capture_free(c);
	else
		*ret = c;
	return r;
}

void capture_free(struct capture *c)
{
	for (size_t i = 0; c && i < c->n; i++)
		for (size_t s = 0; s < SUBJECTS; s++)
			free(c->rules[i].globs[s]);
	free(c);
}

static bool matches(const struct rule *rule, const struct record *record)
{
	for (size_t s = 0; s < SUBJECTS; s++) {
		struct str is = *(const struct str *)(const void *)((const char *)record +
								      subjects[s].at);
		if (!rule->globs[s])
			continue;
		_cleanup_free_ char *text = strndup(is.ptr ? is.ptr : "", is.len);
		if (!text || fnmatch(rule->globs[s], text, 0) != 0)
			return false;
	}
	return true;
}

static const struct rule *find(const struct capture *c, const struct record *record)
{
	static const struct rule all = {.level = LEVEL_FULL};
	for (size_t i = 0; i < c->n; i++)
		if (matches(&c->rules[i], record))
			return &c->rules[i];
	return &all;
}

static void leave_out(struct record *record, enum level level)
{
	static const struct str none = {NULL, 0};
	record->omit_input = level < LEVEL_REQUEST;
	record->omit_result = level < LEVEL_FULL;
	if (level > LEVEL_NONE)
		return;
	record->input = record->input_given = record->result = record->data = none;
	record->reason = record->instructions = record->trace = none;
	record->cwd = record->tool_raw = none;
}

int capture_apply(const struct capture *capture, const struct redact *redact,
		  struct json_arena *arena, struct record *record, struct error *err)
{
	struct str *const json[] = {&record->input, &record->input_given, &record->result,
				    &record->data, &record->trace};
	struct str *const text[] = {&record->reason, &record->instructions};
	const struct rule *rule = find(capture, record);
	int r = 0;
	leave_out(record, rule->level);
	record->aside = rule->aside && rule->level > LEVEL_METADATA;
	for (size_t i = 0; r == 0 && i < sizeof(json) / sizeof(json[0]); i++)
		r = redact_json(redact, arena, json[i], err);
	for (size_t i = 0; r == 0 && i < sizeof(text) / sizeof(text[0]); i++)
		r = redact_text(redact, arena, text[i], err);
	return r;
}
