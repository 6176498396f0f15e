/* require-context.c - the rule "require-context": a trusted fact has one of some
 * values.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Facts come from the host's sealed
 * context, never from arguments.  Values compare by type and exact value.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "../common/same.h"

struct require_context {
	const pawl_host *host;
	pawl_str pointer;
	const pawl_value *in, *not_in; /* arrays; NULL: not given */
	pawl_str reason;
};

static int32_t unreadable(const struct require_context *self, pawl_reply *reply,
			  const char *why_not)
{
	struct say why = {0};
	say(&why, "the session's fact ");
	say_pointer(&why, self->pointer);
	say(&why, why_not);
	return rule_says(self->host, reply, "require-context", PAWL_DENY, say_str(&why));
}

static int32_t refuse(const struct require_context *self, pawl_reply *reply, const pawl_value *fact)
{
	struct say why = {0};
	if (self->reason.ptr)
		return rule_says(self->host, reply, "require-context", PAWL_DENY, self->reason);
	say(&why, "the session's fact ");
	say_pointer(&why, self->pointer);
	say(&why, " is ");
	say_json(&why, self->host, fact);
	if (self->in) {
		say(&why, "; this takes one of ");
		say_list(&why, self->host, self->in);
	}
	if (self->not_in) {
		say(&why, "; this is not for ");
		say_list(&why, self->host, self->not_in);
	}
	return rule_says(self->host, reply, "require-context", PAWL_DENY, say_str(&why));
}

static int32_t require_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct require_context *self = data;
	const pawl_host *host = self->host;
	const pawl_value *fact = host->at(host->root(call, PAWL_R_CONTEXT), self->pointer);
	if (!fact)
		return unreadable(self, reply, " is not known, so this cannot be allowed");
	enum same listed = self->in ? json_is_in(host, fact, self->in) : SAME_YES;
	enum same banned = self->not_in ? json_is_in(host, fact, self->not_in) : SAME_NO;
	if (listed == SAME_CANNOT_TELL || banned == SAME_CANNOT_TELL)
		return unreadable(self, reply, " cannot be compared, so this cannot be allowed");
	if (listed == SAME_YES && banned == SAME_NO)
		return PAWL_ALLOW;
	return refuse(self, reply, fact);
}

/* An array with something in it, or NULL when not given. */
static int32_t read_list(const pawl_host *host, const pawl_value *options, const char *name,
			 const pawl_value **ret)
{
	struct say why = {0};
	*ret = host->member(options, str_lit(name));
	if (!*ret || (host->type(*ret) == PAWL_ARRAY && host->length(*ret) > 0))
		return 0;
	say(&why, name);
	say(&why, ": takes an array with at least one value");
	host->set_error(host, say_str(&why));
	return PAWL_E_OPTION;
}

static int32_t read_options(struct require_context *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	int32_t e = option_pointer(host, options, "pointer", &self->pointer);
	if (e == 0)
		e = read_list(host, options, "in", &self->in);
	if (e == 0)
		e = read_list(host, options, "not_in", &self->not_in);
	if (e == 0 && !self->in && !self->not_in)
		e = option_error(host, "no values: give in, not_in or both");
	self->reason = option_text(host, options, "reason");
	return e;
}

static int32_t require_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct require_context *self = calloc(1, sizeof(*self));
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

static const pawl_option require_options[] = {
	{"pointer", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "JSON pointer to the fact in the context, such as /tier", NULL},
	{"in", PAWL_OPT_JSON, 0, NULL, "array of values; the fact must be one of them", NULL},
	{"not_in", PAWL_OPT_JSON, 0, NULL, "array of values; the fact must be none of them", NULL},
	{"reason", PAWL_OPT_STRING, 0, NULL, "told to the model instead of the rule's own text",
	 NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin require_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "require-context",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "a trusted fact has one of some values",
	.options = require_options,
	.open = require_open,
	.close = free,
	.pre_tool_use = require_pre_tool_use,
};

PAWL_PLUGIN("require-context", "0.1.0", require_plugin)
