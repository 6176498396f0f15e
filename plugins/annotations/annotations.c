/* annotations.c - the rule "annotations": what an MCP tool declares of itself.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Reads /annotations of the declaration.
 * Silence, and a hint that is no boolean, count as the worst: destructive,
 * open-world, not read-only.  Hints are the server's own word, never a proof.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"

struct trait {
	const char *option, *hint, *is, *mend;
	bool worst; /* the hint's value that lets the trait hold */
};

enum { DESTRUCTIVE, OPEN_WORLD, NOT_READ_ONLY, TRAITS };

static const struct trait traits[TRAITS] = {
	[DESTRUCTIVE] = {"destructive", "destructiveHint", "destructive",
			 "destructiveHint false or readOnlyHint true", true},
	[OPEN_WORLD] = {"open_world", "openWorldHint", "open-world", "openWorldHint false", true},
	[NOT_READ_ONLY] = {"not_read_only", "readOnlyHint", "not read-only", "readOnlyHint true",
			   false},
};

struct annotations {
	const pawl_host *host;
	int32_t verdict[TRAITS]; /* 0: no opinion */
};

/* What one tool says about one trait. */
struct finding {
	bool holds, silent, odd;
};

static struct finding look(const pawl_host *host, const pawl_value *hints,
			   const struct trait *trait)
{
	const pawl_value *hint = host->member(hints, str_lit(trait->hint));
	int32_t yes = 0;
	if (host->type(hint) == PAWL_NULL)
		return (struct finding){.holds = true, .silent = true};
	if (host->type(hint) != PAWL_BOOL || host->boolean(hint, &yes) != 0)
		return (struct finding){.holds = true, .odd = true};
	return (struct finding){.holds = !yes == !trait->worst};
}

static int strictness(int32_t verdict)
{
	return verdict == PAWL_DENY ? 3 : verdict == PAWL_REQUIRE_APPROVAL ? 2 : verdict != 0;
}

static void say_finding(struct say *why, const struct trait *trait, struct finding finding)
{
	say(why, why->len == 0 ? "the tool " : "; it ");
	say(why, finding.silent ? "does not declare "
		 : finding.odd	? "declares with no boolean "
				: "declares by ");
	say(why, trait->hint);
	say(why, finding.silent || finding.odd ? ", which counts as " : " that it is ");
	say(why, trait->is);
	say(why, " (allowed: ");
	say(why, trait->mend);
	say(why, ")");
}

static int32_t annotations_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct annotations *self = data;
	const pawl_host *host = self->host;
	const pawl_value *hints =
		host->member(host->root(call, PAWL_R_META), str_lit("annotations"));
	struct finding found[TRAITS];
	int32_t verdict = PAWL_ALLOW;
	for (int i = 0; i < TRAITS; i++)
		found[i] = look(host, hints, &traits[i]);
	/* the protocol: destructiveHint means something only where not read-only */
	if (!found[NOT_READ_ONLY].holds)
		found[DESTRUCTIVE].holds = false;
	for (int i = 0; i < TRAITS; i++)
		if (found[i].holds && strictness(self->verdict[i]) > strictness(verdict))
			verdict = self->verdict[i];
	if (verdict == PAWL_ALLOW)
		return PAWL_ALLOW;
	struct say why = {0};
	for (int i = 0; i < TRAITS; i++)
		if (found[i].holds && self->verdict[i] == verdict)
			say_finding(&why, &traits[i], found[i]);
	return rule_says(host, reply, "annotations", verdict, say_str(&why));
}

static int32_t read_verdicts(struct annotations *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	bool any = false;
	for (int i = 0; i < TRAITS; i++) {
		pawl_str word = option_text(host, options, traits[i].option);
		if (!word.ptr)
			continue;
		any = true;
		self->verdict[i] = verdict_of(host, word);
		if (self->verdict[i] == 0 || self->verdict[i] == PAWL_SUBSTITUTE)
			return option_error(host, "a verdict is allow, deny or require_approval, "
						  "as far as this host offers them");
	}
	if (!any)
		return option_error(host, "no verdict: give destructive, open_world or "
					  "not_read_only");
	return 0;
}

static int32_t annotations_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct annotations *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = read_verdicts(self, options);
	if (e != 0) {
		free(self);
		return e;
	}
	*ret = self;
	return 0;
}

#define VERDICTS "allow|deny|require_approval"
static const pawl_option annotations_options[] = {
	{"destructive", PAWL_OPT_STRING, 0, NULL, "said to a tool that may destroy", VERDICTS},
	{"open_world", PAWL_OPT_STRING, 0, NULL, "said to a tool that reaches outside", VERDICTS},
	{"not_read_only", PAWL_OPT_STRING, 0, NULL, "said to a tool that may change something",
	 VERDICTS},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin annotations_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "annotations",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "what an MCP tool declares of itself",
	.options = annotations_options,
	.open = annotations_open,
	.close = free,
	.pre_tool_use = annotations_pre_tool_use,
};

PAWL_PLUGIN("annotations", "0.1.0", annotations_plugin)
