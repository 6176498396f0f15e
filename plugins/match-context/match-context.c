/* match-context.c - the rule "match-context": an argument equals a trusted fact, in
 * type too.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  "5" is not 5; 5 and 5.0 are the same
 * number.  Either one missing cannot be compared, and refuses.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "../common/same.h"

struct match_context {
	const pawl_host *host;
	pawl_str arg, context;
	pawl_str reason;
};

static int32_t unreadable(const struct match_context *self, pawl_reply *reply, const char *what,
			  pawl_str pointer, const char *why_not)
{
	struct say why = {0};
	say(&why, what);
	say_pointer(&why, pointer);
	say(&why, why_not);
	return rule_says(self->host, reply, "match-context", PAWL_DENY, say_str(&why));
}

static int32_t missing(const struct match_context *self, pawl_reply *reply)
{
	struct say why = {0};
	say(&why, "the argument ");
	say_pointer(&why, self->arg);
	say(&why, " is missing; it must be the session's ");
	say_pointer(&why, self->context);
	return rule_says(self->host, reply, "match-context", PAWL_DENY, say_str(&why));
}

static int32_t refuse(const struct match_context *self, pawl_reply *reply, const pawl_value *given,
		      const pawl_value *fact)
{
	const pawl_host *host = self->host;
	struct say why = {0};
	if (self->reason.ptr)
		return rule_says(host, reply, "match-context", PAWL_DENY, self->reason);
	say_pointer(&why, self->arg);
	say(&why, " is ");
	say_json(&why, host, given);
	say(&why, "; it must be the session's ");
	say_pointer(&why, self->context);
	say(&why, ", ");
	say_json(&why, host, fact);
	if (host->type(given) != host->type(fact)) {
		say(&why, " (");
		say(&why, say_type(host->type(fact)));
		say(&why, ", not ");
		say(&why, say_type(host->type(given)));
		say(&why, ")");
	}
	return rule_says(host, reply, "match-context", PAWL_DENY, say_str(&why));
}

static int32_t match_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct match_context *self = data;
	const pawl_host *host = self->host;
	const pawl_value *given = host->at(host->root(call, PAWL_R_ARGS), self->arg);
	const pawl_value *fact = host->at(host->root(call, PAWL_R_CONTEXT), self->context);
	if (!fact)
		return unreadable(self, reply, "the session's fact ", self->context,
				  " is not known, so this cannot be allowed");
	if (!given)
		return missing(self, reply);
	switch (json_same(host, given, fact, SAME_DEPTH_MAX)) {
	case SAME_YES:
		return PAWL_ALLOW;
	case SAME_NO:
		return refuse(self, reply, given, fact);
	default:
		return unreadable(self, reply, "the argument ", self->arg,
				  " cannot be compared with the session's fact");
	}
}

static int32_t match_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct match_context *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = option_pointer(host, options, "arg", &self->arg);
	if (e == 0)
		e = option_pointer(host, options, "context", &self->context);
	if (e != 0) {
		free(self);
		return e;
	}
	self->reason = option_text(host, options, "reason");
	*ret = self;
	return 0;
}

static const pawl_option match_options[] = {
	{"arg", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "JSON pointer to the argument, such as /user_id", NULL},
	{"context", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "JSON pointer to the fact in the context, such as /user_id", NULL},
	{"reason", PAWL_OPT_STRING, 0, NULL, "told to the model instead of the rule's own text",
	 NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin match_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "match-context",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "an argument equals a trusted fact, in type too",
	.options = match_options,
	.open = match_open,
	.close = free,
	.pre_tool_use = match_pre_tool_use,
};

PAWL_PLUGIN("match-context", "0.1.0", match_plugin)
