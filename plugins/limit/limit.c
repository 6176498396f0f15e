/* limit.c - the rule "limit": an argument past a bound.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Which bound counts is picked by the
 * argument's type: items of an array, characters of a string, size of a number.  A
 * type that no bound speaks about cannot be compared, and is refused.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "../common/same.h"

#define BOUND_NONE (-1)

struct limit {
	const pawl_host *host;
	pawl_str pointer;
	int64_t max_items, max_length; /* BOUND_NONE: not given */
	pawl_str max, min;	       /* JSON numbers; ptr NULL: not given */
	int32_t verdict;
	pawl_str result; /* JSON text; ptr NULL: not given */
	pawl_str reason; /* ptr NULL: the rule's own */
};

static int32_t speak(const struct limit *self, pawl_reply *reply, const struct say *why)
{
	pawl_str text = self->reason.ptr ? self->reason : say_str(why);
	if (self->verdict == PAWL_SUBSTITUTE &&
	    self->host->result(reply, self->result, 0) != 0)
		return PAWL_E_FAIL;
	return rule_says(self->host, reply, "limit", self->verdict, text);
}

static int32_t cannot_compare(const struct limit *self, pawl_reply *reply, const pawl_value *value)
{
	struct say why = {0};
	say_pointer(&why, self->pointer);
	say(&why, " is ");
	say(&why, say_type(self->host->type(value)));
	say(&why, ", which cannot be compared with the bound; give");
	if (self->max_items != BOUND_NONE)
		say(&why, " an array,");
	if (self->max_length != BOUND_NONE)
		say(&why, " a string,");
	if (self->max.ptr || self->min.ptr)
		say(&why, " a number,");
	say(&why, " or leave it out");
	return rule_says(self->host, reply, "limit", PAWL_DENY, say_str(&why));
}

static int32_t past_count(const struct limit *self, pawl_reply *reply, size_t n, int64_t bound,
			  const char *unit)
{
	struct say why = {0};
	if (n <= (uint64_t)bound)
		return PAWL_ALLOW;
	say_pointer(&why, self->pointer);
	say(&why, " has ");
	say_count(&why, n);
	say(&why, unit);
	say(&why, "; at most ");
	say_count(&why, (uint64_t)bound);
	say(&why, bound == 1 ? " is allowed" : " are allowed");
	return speak(self, reply, &why);
}

static size_t characters(pawl_str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
	return n;
}

static int32_t past_number(const struct limit *self, pawl_reply *reply, const pawl_value *value)
{
	pawl_str number = self->host->json(value);
	struct say why = {0};
	int order_max = 0, order_min = 0;
	if ((self->max.ptr && !number_compare(number, self->max, &order_max)) ||
	    (self->min.ptr && !number_compare(number, self->min, &order_min))) {
		say_pointer(&why, self->pointer);
		say(&why, " is ");
		say_escaped(&why, number, SAY_VALUE_MAX);
		say(&why, ", which cannot be compared with the bound; write a plain number");
		return rule_says(self->host, reply, "limit", PAWL_DENY, say_str(&why));
	}
	if (order_max <= 0 && order_min >= 0)
		return PAWL_ALLOW;
	say_pointer(&why, self->pointer);
	say(&why, " is ");
	say_escaped(&why, number, SAY_VALUE_MAX);
	say(&why, order_max > 0 ? "; at most " : "; at least ");
	say_escaped(&why, order_max > 0 ? self->max : self->min, SAY_VALUE_MAX);
	say(&why, " is allowed");
	return speak(self, reply, &why);
}

static int32_t limit_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct limit *self = data;
	const pawl_host *host = self->host;
	const pawl_value *value = host->at(host->root(call, PAWL_R_ARGS), self->pointer);
	pawl_str text;
	if (!value)
		return PAWL_ALLOW;
	switch (host->type(value)) {
	case PAWL_ARRAY:
		if (self->max_items != BOUND_NONE)
			return past_count(self, reply, host->length(value), self->max_items,
					  " items");
		break;
	case PAWL_STRING:
		if (self->max_length != BOUND_NONE && host->string(value, &text) == 0)
			return past_count(self, reply, characters(text), self->max_length,
					  " characters");
		break;
	case PAWL_NUMBER:
		if (self->max.ptr || self->min.ptr)
			return past_number(self, reply, value);
		break;
	default:
		break;
	}
	return cannot_compare(self, reply, value);
}

/* BOUND_NONE where it was not given; an error where it is below zero. */
static int32_t read_count(const pawl_host *host, const pawl_value *options, const char *name,
			  int64_t *ret)
{
	const pawl_value *value = option(host, options, name);
	*ret = BOUND_NONE;
	if (!value)
		return 0;
	if (host->integer(value, ret) == 0 && *ret >= 0)
		return 0;
	struct say why = {0};
	say(&why, name);
	say(&why, ": ");
	say_escaped(&why, host->json(value), SAY_VALUE_MAX);
	say(&why, " is not a count; it takes a whole number from 0");
	host->set_error(host, say_str(&why));
	return PAWL_E_OPTION;
}

static pawl_str read_number(const pawl_host *host, const pawl_value *options, const char *name)
{
	const pawl_value *value = option(host, options, name);
	return value ? host->json(value) : (pawl_str){NULL, 0};
}

static int32_t read_bounds(struct limit *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	int order;
	int32_t e = read_count(host, options, "max_items", &self->max_items);
	if (e == 0)
		e = read_count(host, options, "max_length", &self->max_length);
	if (e != 0)
		return e;
	self->max = read_number(host, options, "max");
	self->min = read_number(host, options, "min");
	if (self->max_items == BOUND_NONE && self->max_length == BOUND_NONE && !self->max.ptr &&
	    !self->min.ptr)
		return option_error(host, "no bound: give max_items, max_length, max or min");
	if ((self->max.ptr && !number_compare(self->max, self->max, &order)) ||
	    (self->min.ptr && !number_compare(self->min, self->min, &order)))
		return option_error(host, "max, min: the exponent is too large");
	if (self->max.ptr && self->min.ptr &&
	    (!number_compare(self->max, self->min, &order) || order < 0))
		return option_error(host, "max is less than min: nothing would be allowed");
	return 0;
}

static int32_t read_answer(struct limit *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	const pawl_value *result = host->member(options, str_lit("result"));
	self->reason = option_text(host, options, "reason");
	self->verdict = verdict_of(host, option_text(host, options, "verdict"));
	if (self->verdict == 0 || self->verdict == PAWL_ALLOW)
		return option_error(host, "verdict: takes deny, require_approval or substitute, "
					  "as far as this host offers them");
	if ((self->verdict == PAWL_SUBSTITUTE) != (result != NULL))
		return option_error(host, result ? "result: goes with verdict substitute only"
						 : "verdict substitute needs a result");
	if (result)
		self->result = host->json(result);
	return 0;
}

static int32_t limit_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct limit *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = option_pointer(host, options, "pointer", &self->pointer);
	if (e == 0)
		e = read_bounds(self, options);
	if (e == 0)
		e = read_answer(self, options);
	if (e != 0) {
		free(self);
		return e;
	}
	*ret = self;
	return 0;
}

static const pawl_option limit_options[] = {
	{"pointer", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "JSON pointer to the argument, such as /recipients", NULL},
	{"max_items", PAWL_OPT_INTEGER, 0, NULL, "most items of an array", NULL},
	{"max_length", PAWL_OPT_INTEGER, 0, NULL, "most code points of a string", NULL},
	{"max", PAWL_OPT_NUMBER, 0, NULL, "largest number allowed", NULL},
	{"min", PAWL_OPT_NUMBER, 0, NULL, "smallest number allowed", NULL},
	{"verdict", PAWL_OPT_STRING, 0, "\"deny\"", "what is said past the bound",
	 "deny|require_approval|substitute"},
	{"result", PAWL_OPT_JSON, 0, NULL, "the tool's result for verdict substitute", NULL},
	{"reason", PAWL_OPT_STRING, 0, NULL, "told to the model instead of the rule's own text",
	 NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin limit_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "limit",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "an argument past a bound",
	.options = limit_options,
	.open = limit_open,
	.close = free,
	.pre_tool_use = limit_pre_tool_use,
};

PAWL_PLUGIN("limit", "0.1.0", limit_plugin)
