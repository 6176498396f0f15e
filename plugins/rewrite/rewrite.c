/* rewrite.c - the rule "rewrite": changes an argument on its way to the tool.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Every change is one that changes
 * nothing when done twice, so that in a later round "still as I left it" can be
 * told from the final arguments alone.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "../common/same.h"

struct rewrite {
	const pawl_host *host;
	pawl_str pointer, parent; /* parent: pointer without its last token */
	bool trim, lowercase, remove, enforce;
	const pawl_value *set, *fallback; /* NULL: not given */
};

/* What is to become of the argument.  json is malloc'd where own says so. */
struct change {
	enum { KEEP, REPLACE, REMOVE, CANNOT } what;
	pawl_str json;
	char *own;
	const char *why_not;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static pawl_str trimmed(pawl_str text)
{
	while (text.len > 0 && is_space(text.ptr[0])) {
		text.ptr++;
		text.len--;
	}
	while (text.len > 0 && is_space(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* text as a JSON string, in lower case where wanted; NULL without memory. */
static char *quoted(pawl_str text, bool lowercase, size_t *ret_len)
{
	char *json = malloc(text.len * 6 + 3);
	size_t at = 0;
	if (!json)
		return NULL;
	json[at++] = '"';
	for (size_t i = 0; i < text.len; i++) {
		char c = lowercase ? lower(text.ptr[i]) : text.ptr[i];
		if ((unsigned char)c < 0x20) {
			at += (size_t)snprintf(json + at, 7, "\\u%04x", (unsigned)c);
			continue;
		}
		if (c == '"' || c == '\\')
			json[at++] = '\\';
		json[at++] = c;
	}
	json[at++] = '"';
	*ret_len = at;
	return json;
}

static bool has_upper(pawl_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')
			return true;
	return false;
}

/* trim and lowercase of a value that is there, or is about to be. */
static struct change change_text(const struct rewrite *self, const pawl_value *value)
{
	struct change change = {.what = KEEP};
	pawl_str text;
	size_t len = 0;
	if (!self->trim && !self->lowercase)
		return change;
	if (self->host->type(value) != PAWL_STRING || self->host->string(value, &text) != 0)
		return (struct change){.what = CANNOT, .why_not = " is not a string"};
	pawl_str inner = self->trim ? trimmed(text) : text;
	if (inner.len == text.len && !(self->lowercase && has_upper(text)))
		return change;
	change.own = quoted(inner, self->lowercase, &len);
	if (!change.own)
		return (struct change){.what = CANNOT, .why_not = " is too large to change"};
	change.what = REPLACE;
	change.json = (pawl_str){change.own, len};
	return change;
}

/* value: set or default, through trim and lowercase (open has checked that it can be) */
static struct change change_to(const struct rewrite *self, const pawl_value *value)
{
	struct change change = change_text(self, value);
	if (change.what == KEEP)
		change = (struct change){.what = REPLACE, .json = self->host->json(value)};
	return change;
}

/* Whether the argument already is what change makes of it. */
static bool is_already(const struct rewrite *self, const pawl_value *now,
		       const struct change *change)
{
	pawl_str text;
	if (!change->own) /* set as it is written */
		return json_same(self->host, now, self->set, SAME_DEPTH_MAX) == SAME_YES;
	if (self->host->type(now) != PAWL_STRING || self->host->string(now, &text) != 0)
		return false;
	size_t len = 0;
	char *json = quoted(text, false, &len);
	bool same = json && len == change->json.len && memcmp(json, change->json.ptr, len) == 0;
	free(json);
	return same;
}

static struct change wanted(const struct rewrite *self, const pawl_value *args)
{
	const pawl_host *host = self->host;
	const pawl_value *now = host->at(args, self->pointer);
	const pawl_value *parent = host->at(args, self->parent);
	struct change change = {.what = KEEP};
	if (self->remove) {
		if (!now)
			return change;
		if (host->type(parent) != PAWL_OBJECT)
			return (struct change){.what = CANNOT,
					       .why_not = " is an item of an array, not a member"};
		change.what = REMOVE;
		return change;
	}
	if (now && !self->set)
		return change_text(self, now);
	if (!now && !self->set && !self->fallback)
		return change;
	if (!now && host->type(parent) != PAWL_OBJECT)
		return (struct change){.what = CANNOT,
				       .why_not = " cannot be made: it would not lie in an object"};
	change = change_to(self, self->set ? self->set : self->fallback);
	if (now && change.what == REPLACE && is_already(self, now, &change)) {
		free(change.own);
		change = (struct change){.what = KEEP};
	}
	return change;
}

static int32_t refuse(const struct rewrite *self, pawl_reply *reply, const char *why_not)
{
	struct say why = {0};
	say_pointer(&why, self->pointer);
	say(&why, why_not);
	say(&why, "; it cannot be rewritten as the policy wants");
	return rule_says(self->host, reply, "rewrite", PAWL_DENY, say_str(&why));
}

static int32_t undone(const struct rewrite *self, pawl_reply *reply)
{
	struct say why = {0};
	say(&why, "a later rule changed ");
	say_pointer(&why, self->pointer);
	say(&why, ", which must stay as this policy writes it: ");
	if (self->remove)
		say(&why, "left out");
	else if (self->set)
		say_json(&why, self->host, self->set);
	else if (self->trim)
		say(&why, "without white space around");
	else if (self->lowercase)
		say(&why, "in lower case");
	else
		say(&why, "present");
	return rule_says(self->host, reply, "rewrite", PAWL_DENY, say_str(&why));
}

static int32_t apply(const struct rewrite *self, pawl_reply *reply, const struct change *change)
{
	int32_t e = change->what == REMOVE
			    ? self->host->remove_at(reply, self->pointer)
			    : self->host->set_at(reply, self->pointer, change->json);
	return e == 0 ? PAWL_ALLOW : PAWL_E_FAIL;
}

static int32_t rewrite_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct rewrite *self = data;
	const pawl_host *host = self->host;
	int32_t verdict = PAWL_ALLOW;
	struct change change = wanted(self, host->root(call, PAWL_R_ARGS));
	if (change.what == CANNOT)
		verdict = refuse(self, reply, change.why_not);
	else if (change.what != KEEP && self->enforce && host->number(call, PAWL_N_ROUND) > 0)
		verdict = undone(self, reply);
	else if (change.what != KEEP)
		verdict = apply(self, reply, &change); /* in a later round: only recorded */
	free(change.own);
	return verdict;
}

static int32_t check_together(const struct rewrite *self)
{
	const pawl_host *host = self->host;
	const pawl_value *made = self->set ? self->set : self->fallback;
	if (self->pointer.len == 0)
		return option_error(host, "pointer: must name one argument, not all of them");
	if (self->remove && (self->set || self->fallback || self->trim || self->lowercase))
		return option_error(host, "remove goes with none of set, default, trim, lowercase");
	if (self->set && self->fallback)
		return option_error(host, "set leaves nothing to default: give one of them");
	if (!self->remove && !made && !self->trim && !self->lowercase)
		return option_error(host, "no change: give trim, lowercase, set, default, remove");
	if (made && (self->trim || self->lowercase) && host->type(made) != PAWL_STRING)
		return option_error(host, "trim and lowercase need a string in set and default");
	return 0;
}

static int32_t read_options(struct rewrite *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	int32_t e = option_pointer(host, options, "pointer", &self->pointer);
	if (e != 0)
		return e;
	self->parent = self->pointer;
	while (self->parent.len > 0 && self->parent.ptr[--self->parent.len] != '/')
		;
	self->trim = option_is_on(host, options, "trim");
	self->lowercase = option_is_on(host, options, "lowercase");
	self->remove = option_is_on(host, options, "remove");
	self->enforce = option_is_on(host, options, "enforce");
	self->set = host->member(options, str_lit("set"));
	self->fallback = host->member(options, str_lit("default"));
	return check_together(self);
}

static int32_t rewrite_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct rewrite *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = read_options(self, options);
	if (e != 0) {
		free(self);
		return e;
	}
	*ret = self;
	return 0;
}

static const pawl_option rewrite_options[] = {
	{"pointer", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "JSON pointer to the argument, such as /to", NULL},
	{"trim", PAWL_OPT_BOOLEAN, 0, "false", "white space around a string goes", NULL},
	{"lowercase", PAWL_OPT_BOOLEAN, 0, "false", "A-Z of a string become a-z", NULL},
	{"set", PAWL_OPT_JSON, 0, NULL, "the value it gets, there or not", NULL},
	{"default", PAWL_OPT_JSON, 0, NULL, "the value it gets where it is missing", NULL},
	{"remove", PAWL_OPT_BOOLEAN, 0, "false", "the argument goes", NULL},
	{"enforce", PAWL_OPT_BOOLEAN, 0, "false", "deny when a later plugin undid it", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin rewrite_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.needs = PAWL_FEAT_REWRITE,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "rewrite",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "changes an argument on its way to the tool",
	.options = rewrite_options,
	.open = rewrite_open,
	.close = free,
	.pre_tool_use = rewrite_pre_tool_use,
};

PAWL_PLUGIN("rewrite", "0.1.0", rewrite_plugin)
