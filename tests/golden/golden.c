/* golden.c - the plugin of the golden tests: the event says what it shall answer.
 *
 * It takes the word behind "golden:" wherever that stands in the event, and does what the
 * word says. Its reason names the arguments it could read under the names that rules use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/plugin.h>

static const pawl_host *host;

static int32_t open_plugin(const pawl_host *given, const pawl_value *options, void **self)
{
	(void)options;
	host = given;
	*self = NULL;
	return 0;
}

/* "" when the event asks for nothing. */
static void read_word(const pawl_call *call, char *word, size_t room)
{
	static const char mark[] = "golden:";
	pawl_str event = host->json(host->root(call, PAWL_R_EVENT));
	const char *at = memmem(event.ptr, event.len, mark, sizeof(mark) - 1);
	size_t n = 0;
	at = at ? at + sizeof(mark) - 1 : event.ptr + event.len;
	while (at < event.ptr + event.len && n + 1 < room &&
	       ((*at >= 'a' && *at <= 'z') || *at == '-'))
		word[n++] = *at++;
	word[n] = '\0';
}

static const pawl_value *arguments(const pawl_call *call)
{
	const pawl_value *args = host->root(call, PAWL_R_MESSAGE);
	if (!args)
		args = host->root(call, PAWL_R_REQUEST);
	return args ? args : host->root(call, PAWL_R_ARGS);
}

/* What rules would find, so that a golden file shows it. */
static void give_reason(const pawl_call *call, const char *word, pawl_reply *reply)
{
	static const char *const names[] = {"command", "file_path", "url",
					    "prompt",  "text",	    "model"};
	const pawl_value *args = arguments(call);
	pawl_str server = host->text(call, PAWL_T_SERVER), tool = host->text(call, PAWL_T_TOOL);
	char text[4096];
	int n = snprintf(text, sizeof(text), "%s for ", word);
	if (server.len > 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%.*s/", (int)server.len,
			      server.ptr);
	n += tool.len > 0 ? snprintf(text + n, sizeof(text) - (size_t)n, "%.*s", (int)tool.len,
				     tool.ptr) :
			    snprintf(text + n, sizeof(text) - (size_t)n, "the model");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pawl_str value;
		if (host->string(host->member(args, pawl_text(names[i])), &value) == 0)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s is '%.*s'",
				      names[i], value.len > 200 ? 200 : (int)value.len, value.ptr);
	}
	host->reason(reply, pawl_text("golden"), pawl_text(text));
}

static void long_reason(pawl_reply *reply)
{
	char *text = malloc(100001);
	if (!text)
		return;
	memset(text, 'x', 100000);
	text[100000] = '\0';
	host->reason(reply, pawl_text("golden"), pawl_text(text));
	free(text);
}

static void rewrite(const pawl_call *call, pawl_reply *reply)
{
	static const char *const names[] = {"command", "file_path", "url", "prompt", "text"};
	const pawl_value *args = arguments(call);
	if (host->number(call, PAWL_N_ROUND) > 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char pointer[32];
		if (!host->member(args, pawl_text(names[i])))
			continue;
		snprintf(pointer, sizeof(pointer), "/%s", names[i]);
		host->set_at(reply, pawl_text(pointer), pawl_text("\"rewritten\""));
		return;
	}
	host->set_at(reply, pawl_text("/rewritten"), pawl_text("true"));
}

static int32_t deny(const pawl_call *call, const char *word, pawl_reply *reply)
{
	(void)call;
	if (strcmp(word, "deny-odd") == 0)
		host->reason(reply, pawl_text("golden"),
			     pawl_text("a \"quote\", a \\, a\ttab,\n\x01, \xff, "
				       "\xed\xa0\x80 and {tool}"));
	else if (strcmp(word, "deny-long") == 0)
		long_reason(reply);
	return PAWL_DENY;
}

static int32_t substitute(const char *word, pawl_reply *reply)
{
	if (strcmp(word, "substitute-json") == 0)
		host->result(reply, pawl_text("{\"rows\":[1,20000000000000000001]}"), 0);
	else
		host->result(reply, pawl_text("\"the result in its place\""),
			     strcmp(word, "substitute-error") == 0);
	return PAWL_SUBSTITUTE;
}

static int32_t judge(void *self, const pawl_call *call, pawl_reply *reply)
{
	char word[32];
	(void)self;
	read_word(call, word, sizeof(word));
	if (!strstr(word, "-silent"))
		give_reason(call, word, reply);
	if (strncmp(word, "deny", 4) == 0)
		return deny(call, word, reply);
	if (strncmp(word, "substitute", 10) == 0)
		return substitute(word, reply);
	if (strncmp(word, "rewrite", 7) == 0)
		rewrite(call, reply);
	if (strcmp(word, "grant") == 0)
		host->grant(reply);
	if (strcmp(word, "tell") == 0)
		host->tell(reply, pawl_text("mind the \"gap\""));
	if (strcmp(word, "error") == 0)
		return PAWL_E_FAIL;
	if (strcmp(word, "crash") == 0)
		abort();
	if (strncmp(word, "ask", 3) == 0 || strcmp(word, "rewrite-ask") == 0) {
		host->approval(reply, pawl_text("look at it"), -1);
		return PAWL_REQUIRE_APPROVAL;
	}
	return PAWL_ALLOW;
}

static const pawl_plugin descriptor = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.option_size = sizeof(pawl_option),
	.id = "golden",
	.version = "1.0",
	.open = open_plugin,
	.pre_tool_use = judge,
	.pre_model_call = judge,
	.post_model_call = judge,
};

PAWL_PLUGIN("golden", "1.0", descriptor)
