/* first.c - a plugin of the first day: uses all of the first <pawl/plugin.h>, and only it.
 *
 * Never changed, as a plugin that was shipped is not: what it was compiled with lies beside
 * it, and tests/abi/first.sh holds every later host to it.
 */
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct first {
	const pawl_host *host;
	const pawl_value *options;
	pawl_str path; /* what the observing hooks write to */
	int calls;     /* of this instance */
};

static int is(pawl_str text, const char *other)
{
	return text.ptr && text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

/* ---- options ------------------------------------------------------------------------- */

static const pawl_option options_table[] = {
	{"string", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL, "one of three", "a|b|c"},
	{"integer", PAWL_OPT_INTEGER, 0, "7", "a whole number", NULL},
	{"boolean", PAWL_OPT_BOOLEAN, 0, "true", "yes or no", NULL},
	{"strings", PAWL_OPT_STRINGS, 0, "\"one\"", "a list", NULL},
	{"duration", PAWL_OPT_DURATION, 0, "\"2s\"", "a time", NULL},
	{"path", PAWL_OPT_PATH, PAWL_OPTF_REQUIRED, NULL, "a file", NULL},
	{"json", PAWL_OPT_JSON, 0, "{\"a\": [1, 2.50]}", "anything", NULL},
	{"number", PAWL_OPT_NUMBER, PAWL_OPTF_SECRET, "1.5", "a number", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

/* NULL, or the name of the option that is not as it should be. */
static const char *wrong_option(const pawl_host *host, const pawl_value *options)
{
	pawl_str text;
	int64_t whole;
	int32_t yes;
	double real;
	const pawl_value *json = host->member(options, pawl_text("json"));
	if (host->string(host->member(options, pawl_text("string")), &text) != 0 || !is(text, "b"))
		return "string";
	if (host->integer(host->member(options, pawl_text("integer")), &whole) != 0 || whole != 7)
		return "integer";
	if (host->boolean(host->member(options, pawl_text("boolean")), &yes) != 0 || yes != 1)
		return "boolean";
	if (host->string(host->item(host->member(options, pawl_text("strings")), 0), &text) != 0 ||
	    !is(text, "one"))
		return "strings";
	if (host->integer(host->member(options, pawl_text("duration")), &whole) != 0 ||
	    whole != INT64_C(2000000000))
		return "duration";
	if (host->string(host->member(options, pawl_text("path")), &text) != 0 ||
	    text.ptr[0] != '/')
		return "path";
	if (!is(host->json(host->at(json, pawl_text("/a/1"))), "2.50"))
		return "json";
	if (host->real(host->member(options, pawl_text("number")), &real) != 0 || real != 1.5)
		return "number";
	return NULL;
}

static int32_t first_open(const pawl_host *host, const pawl_value *options, void **self)
{
	const char *wrong = wrong_option(host, options);
	if (host->struct_size < sizeof(pawl_host) || host->abi_minor < PAWL_ABI_MINOR ||
	    !host->host_data)
		return PAWL_E_UNSUPPORTED;
	if (wrong) {
		host->set_error(host, pawl_text(wrong));
		return PAWL_E_OPTION;
	}
	if (!PAWL_HAS(host, interface) || host->interface(host, "org.example.nothing"))
		return PAWL_E_FAIL;
	struct first *first = (struct first *)calloc(1, sizeof(*first));
	if (!first)
		return PAWL_E_NOMEM;
	first->host = host;
	first->options = options;
	host->string(host->member(options, pawl_text("path")), &first->path);
	host->log(host, PAWL_LOG_INFO, pawl_text("opened"));
	*self = first;
	return 0;
}

static void first_close(void *self)
{
	free(self);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* The arguments of the tool "read":
 * {"s":"a\u00e9","n":[null,true,1e1,1.5,9223372036854775808],"o":{"k":{}}} */
static const char *wrong_value(const pawl_host *host, const pawl_value *args)
{
	pawl_str text = {NULL, 0};
	const pawl_value *n = host->member(args, pawl_text("n")), *value = NULL;
	int64_t whole = 0;
	int32_t yes = 0;
	double real = 0;
	if (host->type(args) != PAWL_OBJECT || host->type(n) != PAWL_ARRAY ||
	    host->type(host->item(n, 0)) != PAWL_NULL || host->type(host->item(n, 1)) != PAWL_BOOL ||
	    host->type(host->item(n, 2)) != PAWL_NUMBER || host->type(NULL) != PAWL_NULL ||
	    host->type(host->member(args, pawl_text("s"))) != PAWL_STRING)
		return "type";
	if (host->length(args) != 3 || host->length(n) != 5 || host->length(NULL) != 0)
		return "length";
	if (host->member(args, pawl_text("none")) || host->member(NULL, pawl_text("s")))
		return "member";
	if (host->item(n, 5) || host->item(NULL, 0))
		return "item";
	if (!host->at(args, pawl_text("/o/k")) || host->at(args, pawl_text("/o/x")) ||
	    host->at(args, pawl_text("")) != args)
		return "at";
	if (!is(host->key(args, 1, &value), "n") || value != n || host->key(args, 3, NULL).ptr)
		return "key";
	if (host->string(host->member(args, pawl_text("s")), &text) != 0 || !is(text, "a\xc3\xa9") ||
	    host->string(n, &text) != PAWL_E_TYPE || host->string(NULL, &text) != PAWL_E_MISSING)
		return "string";
	if (host->integer(host->item(n, 2), &whole) != 0 || whole != 10 ||
	    host->integer(host->item(n, 3), &whole) != PAWL_E_LIMIT ||
	    host->integer(host->item(n, 4), &whole) != PAWL_E_LIMIT)
		return "integer";
	if (host->real(host->item(n, 3), &real) != 0 || real != 1.5)
		return "real";
	if (host->boolean(host->item(n, 1), &yes) != 0 || yes != 1)
		return "boolean";
	if (!is(host->json(host->item(n, 2)), "1e1") || host->json(NULL).ptr)
		return "json";
	return NULL;
}

static const char *wrong_call(const pawl_host *host, const pawl_call *call)
{
	static const struct {
		int32_t field;
		const char *is; /* NULL: any, or absent */
	} texts[] = {
		{PAWL_T_EVENT, "PreToolUse"}, {PAWL_T_TOOL, "read"},	  {PAWL_T_SOURCE, "local"},
		{PAWL_T_SERVER, NULL},	      {PAWL_T_TARGET, NULL},	  {PAWL_T_CALL_ID, "t1"},
		{PAWL_T_SESSION, "s1"},	      {PAWL_T_RUN, "r1"},	  {PAWL_T_AGENT, "a1"},
		{PAWL_T_AGENT_TYPE, "kind"},  {PAWL_T_CLIENT, "pawl"},	  {PAWL_T_CWD, "/w"},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].is && !is(host->text(call, texts[i].field), texts[i].is))
			return texts[i].is;
	if (host->text(call, 9999).ptr || host->number(call, 9999) != INT64_MIN ||
	    host->root(call, 9999))
		return "unknown field";
	if (host->number(call, PAWL_N_TURN) != 3 || host->number(call, PAWL_N_POSITION) != 1 ||
	    host->number(call, PAWL_N_BATCH) != 2 || host->number(call, PAWL_N_ROUND) != 0 ||
	    host->number(call, PAWL_N_NOW_NS) != INT64_C(1700000000000000000) ||
	    host->number(call, PAWL_N_DEADLINE_NS) <= 0 ||
	    host->number(call, PAWL_N_CANCELLED) == 1 ||
	    host->number(call, PAWL_N_IS_ERROR) == 1 ||
	    host->number(call, PAWL_N_SUBSTITUTED) == 1 ||
	    host->number(call, PAWL_N_DURATION_NS) != INT64_MIN)
		return "number";
	if (!is(host->json(host->member(host->root(call, PAWL_R_CONTEXT), pawl_text("tenant"))),
		"\"acme\"") ||
	    host->type(host->root(call, PAWL_R_ARGS_GIVEN)) != PAWL_OBJECT ||
	    host->type(host->root(call, PAWL_R_META)) != PAWL_OBJECT ||
	    host->type(host->root(call, PAWL_R_EVENT)) != PAWL_OBJECT ||
	    host->root(call, PAWL_R_RESULT) || host->root(call, PAWL_R_REQUEST) ||
	    host->root(call, PAWL_R_MESSAGE) || host->root(call, PAWL_R_SESSION))
		return "root";
	return wrong_value(host, host->root(call, PAWL_R_ARGS));
}

static int32_t read_all(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	const char *wrong = wrong_call(first->host, call);
	first->host->reason(reply, pawl_text("read"), pawl_text(wrong ? wrong : "all is read"));
	return PAWL_DENY;
}

/* ---- answering --------------------------------------------------------------------------- */

static int32_t edit(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	const pawl_host *host = first->host;
	if (host->number(call, PAWL_N_ROUND) > 0)
		return PAWL_ALLOW;
	if (host->set_at(reply, pawl_text("/n"), pawl_text("1.50")) != 0 ||
	    host->remove_at(reply, pawl_text("/gone")) != 0)
		return PAWL_E_FAIL;
	return PAWL_ALLOW;
}

static int32_t replace(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	(void)call;
	return first->host->set_args(reply, pawl_text("{\"new\":true}")) == 0 ? PAWL_ALLOW :
									      PAWL_E_FAIL;
}

static int32_t ask(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	(void)call;
	first->host->reason(reply, pawl_text("ask"), pawl_text("a person should see it"));
	first->host->approval(reply, pawl_text("look twice"), INT64_C(5000000000));
	return PAWL_REQUIRE_APPROVAL;
}

static int32_t stand_in(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	(void)call;
	return first->host->result(reply, pawl_text("{\"from\":\"first\"}"), 0) == 0 ?
		       PAWL_SUBSTITUTE :
		       PAWL_E_FAIL;
}

static int32_t grant(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	(void)call;
	first->host->grant(reply);
	first->host->tell(reply, pawl_text("by the way"));
	first->host->note(reply, pawl_text("first-note"), pawl_text("kept"));
	return PAWL_ALLOW;
}

static int32_t fail(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	(void)call, (void)reply;
	first->host->set_error(first->host, pawl_text("as it was told to"));
	return PAWL_E_FAIL;
}

static int32_t count(struct first *first, const pawl_call *call, pawl_reply *reply)
{
	char text[64];
	(void)call;
	snprintf(text, sizeof(text), "call %d of this instance", first->calls);
	first->host->reason(reply, pawl_text("count"), pawl_text(text));
	return PAWL_DENY;
}

static int32_t first_pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	static const struct {
		const char *tool;
		int32_t (*answer)(struct first *, const pawl_call *, pawl_reply *);
	} answers[] = {{"read", read_all}, {"edit", edit},   {"replace", replace}, {"ask", ask},
		       {"stand-in", stand_in}, {"grant", grant}, {"fail", fail},     {"count", count}};
	struct first *first = (struct first *)self;
	pawl_str tool = first->host->text(call, PAWL_T_TOOL);
	first->calls++;
	if (is(tool, "count-two") && first->calls == 1)
		return count(first, call, reply);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (is(tool, answers[i].tool))
			return answers[i].answer(first, call, reply);
	return PAWL_ALLOW;
}

static int32_t first_pre_model_call(void *self, const pawl_call *call, pawl_reply *reply)
{
	struct first *first = (struct first *)self;
	if (first->host->type(first->host->root(call, PAWL_R_REQUEST)) != PAWL_OBJECT)
		return PAWL_E_TYPE;
	first->host->reason(reply, pawl_text("model"), pawl_text("no model today"));
	return PAWL_DENY;
}

static int32_t first_post_model_call(void *self, const pawl_call *call, pawl_reply *reply)
{
	struct first *first = (struct first *)self;
	if (first->host->type(first->host->root(call, PAWL_R_MESSAGE)) != PAWL_OBJECT)
		return PAWL_E_TYPE;
	first->host->reason(reply, pawl_text("model"), pawl_text("not that answer"));
	return PAWL_DENY;
}

/* ---- observing ------------------------------------------------------------------------------ */

static int32_t tell(struct first *first, const char *what, pawl_str text)
{
	FILE *file = fopen(first->path.ptr, "a");
	if (!file)
		return PAWL_E_FAIL;
	fprintf(file, "%s %.*s\n", what, (int)text.len, text.ptr ? text.ptr : "");
	return fclose(file) == 0 ? 0 : PAWL_E_FAIL;
}

static int32_t first_post_tool_use(void *self, const pawl_call *call)
{
	struct first *first = (struct first *)self;
	const pawl_host *host = first->host;
	if (host->number(call, PAWL_N_SUBSTITUTED) == 1)
		return tell(first, "substituted", host->json(host->root(call, PAWL_R_RESULT)));
	return tell(first, host->number(call, PAWL_N_IS_ERROR) == 1 ? "failed" : "ran",
		    host->json(host->root(call, PAWL_R_RESULT)));
}

static int32_t first_decided(void *self, const pawl_call *call, pawl_str record_json)
{
	(void)call;
	return tell((struct first *)self, "decided", record_json);
}

static int32_t first_stop(void *self, const pawl_call *call)
{
	struct first *first = (struct first *)self;
	return tell(first, "stopped", first->host->text(call, PAWL_T_SESSION));
}

static const pawl_plugin first_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.needs = PAWL_FEAT_REWRITE | PAWL_FEAT_SUBSTITUTE,
	.threads = PAWL_THREADS_SERIAL,
	.option_size = sizeof(pawl_option),
	.id = "org.example.first",
	.version = "1.0",
	.vendor = "Example",
	.summary = "uses all of the first header",
	.options = options_table,
	.open = first_open,
	.close = first_close,
	.pre_tool_use = first_pre_tool_use,
	.pre_model_call = first_pre_model_call,
	.post_model_call = first_post_model_call,
	.post_tool_use = first_post_tool_use,
	.decided = first_decided,
	.stop = first_stop,
};

PAWL_PLUGIN("org.example.first", "1.0", first_plugin)
