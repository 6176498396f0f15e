/* template.c - a plugin to start from: refuses commands that contain a word.
 *
 * Copy this folder, put your own id here and in the Makefile, and write your rule
 * into words_pre.  <pawl/plugin.h> and pawl-plugin(3) tell what a rule can look at.
 */
#include <pawl/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words {
	const pawl_host *host;
	const pawl_value *list; /* the option: lives until close */
};

static int32_t words_open(const pawl_host *host, const pawl_value *options, void **self)
{
	const pawl_value *list = host->member(options, pawl_text("words"));
	if (host->length(list) == 0) {
		host->set_error(host, pawl_text("option \"words\" is empty: name at least one"));
		return PAWL_E_OPTION;
	}
	struct words *words = malloc(sizeof(*words));
	if (!words)
		return PAWL_E_NOMEM;
	words->host = host;
	words->list = list;
	*self = words;
	return 0;
}

static void words_close(void *self)
{
	free(self);
}

static int contains(pawl_str text, pawl_str word)
{
	for (size_t at = 0; at + word.len <= text.len; at++)
		if (memcmp(text.ptr + at, word.ptr, word.len) == 0)
			return 1;
	return 0;
}

/* What cannot be read is refused: "match" in the config narrows what is asked about. */
static int32_t words_pre(void *self, const pawl_call *call, pawl_reply *reply)
{
	const struct words *words = self;
	const pawl_host *host = words->host;
	const pawl_value *args = host->root(call, PAWL_R_ARGS);
	pawl_str command, word;
	char why[256];
	if (host->string(host->member(args, pawl_text("command")), &command) != 0) {
		host->reason(reply, pawl_text("unreadable"), pawl_text("\"command\" is no string"));
		return PAWL_DENY;
	}
	for (size_t i = 0; host->string(host->item(words->list, i), &word) == 0; i++) {
		if (!contains(command, word))
			continue;
		snprintf(why, sizeof(why), "the command contains '%s'; do it without", word.ptr);
		host->reason(reply, pawl_text("word"), pawl_text(why));
		return PAWL_DENY;
	}
	return PAWL_ALLOW;
}

static const pawl_option words_options[] = {
	{"words", PAWL_OPT_STRINGS, PAWL_OPTF_REQUIRED, NULL, "what no command contains", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin words_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL, /* nothing changes after open */
	.option_size = sizeof(pawl_option),
	.id = "org.example.words",
	.version = "0.1",
	.vendor = "Example",
	.summary = "refuses commands that contain a word",
	.options = words_options,
	.open = words_open,
	.close = words_close,
	.pre_tool_use = words_pre,
};

PAWL_PLUGIN("org.example.words", "0.1", words_plugin)
