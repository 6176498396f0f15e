/* test-config.c - pawl.json: what it may say, and what each mistake is answered with. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "core/config.h"
#include "core/trust.h"

static char dir[] = "/tmp/pawl-config-XXXXXX";

static struct config *parsed(const char *text)
{
	struct config *config = NULL;
	struct error err = {""};
	if (config_parse(str_of(text), "/w/pawl.json", &config, &err) < 0)
		fail_msg("%s\n%s", text, err.text);
	return config;
}

static void test_empty_object_gives_defaults(void **state)
{
	(void)state;
	struct config *c = parsed("{}");
	assert_string_equal(c->path.ptr, "/w/pawl.json");
	assert_string_equal(c->dir.ptr, "/w");
	assert_int_equal(c->plugin_dir.ptr[0], '/');
	assert_null(c->state_dir.ptr);
	assert_int_equal(c->deny.n + c->require_approval.n + c->n_facts + c->n_chain + c->n_observe,
			 0);
	assert_int_equal(c->limits.bytes, JSON_BYTES_MAX);
	assert_int_equal(c->limits.depth, JSON_DEPTH_MAX);
	assert_int_equal(c->limits.values, JSON_VALUES_MAX);
	assert_int_equal(c->deadline_ns, 2000000000);
	assert_int_equal(c->on_error, ON_ERROR_DENY);
	assert_int_equal(c->resolve, RESOLVE_FIRST);
	assert_string_equal(c->refusal.ptr, "BLOCKED: {reason}");
	assert_true(c->approval.timeout_ns == INT64_C(300000000000));
	assert_int_equal(c->approval.ask, ASK_CLIENT);
	assert_int_equal(c->approval.need, 1);
	assert_false(c->approval.allow_self);
	assert_true(c->approval.redeem_ns == INT64_C(600000000000));
	assert_false(c->approval.on_change_deny);
	assert_int_equal(c->audit_on_error, AUDIT_DROP);
	assert_false(c->system);
	config_free(c);
	config_free(NULL);
}

#define SUM_A "a3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SUM_B "A3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b856"
#define SUM_X "a3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85g"

static const char full[] =
	"\xef\xbb\xbf{ // all there is\n"
	"  \"plugin_dir\": \"plugins\", \"state_dir\": \"/var/lib/pawl\",\n"
	"  \"deny\": [\"drop_table\", \"mcp:prod/*\",], /* static */\n"
	"  \"require_approval\": [\"refund\"],\n"
	"  \"context\": {\"tenant\": \"acme\", \"n\": [1, /* two */ 2,], \"u\": {\"os\": "
	"\"user\"},\n"
	"    \"f\": {\"file\": \"facts/team\"}, \"e\": {\"env\": \"TEAM_1\"}, \"o\": {\"os\": 1, "
	"\"x\": 2}},\n"
	"  \"limits\": {\"bytes\": 1024, \"depth\": 8},\n"
	"  \"deadline\": \"10ms\", \"on_error\": \"halt\", \"resolve\": \"strictest\",\n"
	"  \"refusal\": \"no {tool} {{reason} {rule} {plugin} {}\",\n"
	"  \"approval\": {\"timeout\": \"0\", \"ask\": \"queue\", \"need\": 2, \"allow_self\": "
	"true,\n"
	"    \"redeem\": \"1h\", \"on_change\": \"deny\"},\n"
	"  \"chain\": [\n"
	"    {\"plugin\": \"window\", \"name\": \"deploys\", \"match\": {\"tool\": \"create_*\"},\n"
	"     \"options\": {\"from\": \"02:00\", // \"not a comment\n"
	"       \"url\": \"http://x/*y*/\\\"//z\", \"to\": [\"04:00\",] /* , */ , } },\n"
	"    {\"plugin\": \"hosts\", \"match\": {\"tool\": [\"a\", \"b\"], \"class\": \"fetch\", "
	"\"source\": \"mcp\",\n"
	"     \"server\": \"cap\", \"agent\": [\"\", \"Explore\"], \"client\": \"codex\"},\n"
	"     \"mode\": \"shadow\", \"deadline\": \"500ms\", \"on_error\": \"deny\",\n"
	"     \"isolation\": \"shared\", \"may\": [\"grant\"]},\n"
	"    {\"plugin\": \"far\", \"isolation\": \"process\", \"sandbox\": \"best-effort\",\n"
	"     \"needs\": [\"net\"]},\n"
	"  ],\n"
	"  \"audit\": {\"on_error\": \"fail\"},\n"
	"  \"observe\": [{\"plugin\": \"audit\", \"sha256\": \"" SUM_B "\"}],\n"
	"  \"libraries\": [\"libpcre2-8.so.0\", \"libssl.so\"],\n"
	"}\n";

static void test_every_key_is_read(void **state)
{
	(void)state;
	struct config *c = parsed(full);
	assert_string_equal(c->plugin_dir.ptr, "/w/plugins");
	assert_string_equal(c->state_dir.ptr, "/var/lib/pawl");
	assert_int_equal(c->deny.n, 2);
	assert_string_equal(c->deny.list[1].ptr, "mcp:prod/*");
	assert_int_equal(c->require_approval.n, 1);
	assert_int_equal(c->limits.bytes, 1024);
	assert_int_equal(c->limits.depth, 8);
	assert_int_equal(c->deadline_ns, 10000000);
	assert_int_equal(c->on_error, ON_ERROR_HALT);
	assert_int_equal(c->resolve, RESOLVE_STRICTEST);
	assert_true(c->approval.timeout_ns == 0);
	assert_int_equal(c->approval.ask, ASK_QUEUE);
	assert_int_equal(c->approval.need, 2);
	assert_true(c->approval.allow_self);
	assert_true(c->approval.redeem_ns == INT64_C(3600000000000));
	assert_true(c->approval.on_change_deny);
	assert_int_equal(c->audit_on_error, AUDIT_FAIL);
	assert_int_equal(c->libraries.n, 2);
	assert_string_equal(c->libraries.list[1].ptr, "libssl.so");
	assert_false(c->chain[0].pinned);
	assert_true(c->observe[0].pinned);
	assert_int_equal(c->observe[0].sha256[0], 0xa3);
	assert_int_equal(c->observe[0].sha256[31], 0x56);
	config_free(c);
}

static void test_entries_are_read(void **state)
{
	(void)state;
	struct config *c = parsed(full);
	assert_int_equal(c->n_chain, 3);
	const struct config_entry *a = &c->chain[0], *b = &c->chain[1], *far = &c->chain[2];
	assert_true(far->isolated && far->sandbox_best_effort && far->needs_net);
	assert_false(b->isolated || b->sandbox_best_effort || b->needs_net);
	assert_string_equal(a->name.ptr, "deploys");
	assert_string_equal(a->plugin.ptr, "window");
	assert_string_equal(a->file.ptr, "/w/pawl.json");
	assert_int_equal(a->line, 13);
	assert_int_equal(a->column, 5);
	assert_int_equal(a->on_error, ON_ERROR_HALT); /* the top's, though it could follow */
	assert_false(a->shadow || a->may_grant);
	assert_true(a->deadline_ns == 0);
	assert_string_equal(b->name.ptr, "hosts");
	assert_null(b->options);
	assert_true(b->shadow && b->may_grant);
	assert_int_equal(b->on_error, ON_ERROR_DENY);
	assert_true(b->deadline_ns == 500000000);
	assert_int_equal(b->match.tool.n, 2);
	assert_int_equal(b->match.class.n, 1);
	assert_int_equal(b->match.source.n, 1);
	assert_int_equal(b->match.server.n, 1);
	assert_int_equal(b->match.agent.n, 2);
	assert_int_equal(b->match.client.n, 1);
	assert_int_equal(c->n_observe, 1);
	assert_string_equal(c->observe[0].name.ptr, "audit");
	config_free(c);
}

static void test_facts_are_described(void **state)
{
	(void)state;
	struct config *c = parsed(full);
	assert_int_equal(c->n_facts, 6);
	assert_int_equal(c->facts[0].kind, FACT_CONSTANT);
	assert_string_equal(c->facts[0].name.ptr, "tenant");
	assert_int_equal(c->facts[2].kind, FACT_OS);
	assert_string_equal(c->facts[2].argument.ptr, "user");
	assert_int_equal(c->facts[3].kind, FACT_FILE);
	assert_string_equal(c->facts[3].argument.ptr, "/w/facts/team");
	assert_int_equal(c->facts[3].line, 6);
	assert_int_equal(c->facts[4].kind, FACT_ENV);
	assert_string_equal(c->facts[4].argument.ptr, "TEAM_1");
	assert_int_equal(c->facts[5].kind, FACT_CONSTANT);
	config_free(c);
}

/* What goes on to plugins is JSON: read it again without leave for comments. */
static void test_options_and_constants_are_plain_json(void **state)
{
	(void)state;
	struct config *c = parsed(full);
	struct str texts[] = {json_raw(c->chain[0].options), json_raw(c->facts[1].constant)};
	for (size_t i = 0; i < 2; i++) {
		const struct json_value *again;
		struct error err = {""};
		if (json_parse(c->arena, texts[i], JSON_DEFAULT_LIMITS, 0, &again, NULL, &err) < 0)
			fail_msg("%.*s: %s", STR_FMT(texts[i]), err.text);
		if (i == 1)
			assert_int_equal(json_length(again), 2);
	}
	struct str url;
	assert_int_equal(json_string(json_member(c->chain[0].options, STR("url")), &url), 0);
	assert_string_equal(url.ptr, "http://x/*y*/\"//z");
	config_free(c);
}

#define TOP_KEYS                                                                                   \
	"plugin_dir, libraries, deny, require_approval, context, state_dir, limits, deadline, on_error, "     \
	"resolve, refusal, approval, audit, chain, observe"
#define JSON_MEND "; a config is JSON, comments and trailing commas allowed"

static const struct {
	const char *text, *want; /* after "/w/pawl.json:" */
} wrong[] = {
	/* not a config at all */
	{"", "1:1: the file is empty; a config is a JSON object, {} at least"},
	{" \n\t", "1:1: the file is empty; a config is a JSON object, {} at least"},
	{"[]", "1:1: a config is a JSON object, this is an array"},
	{"null", "1:1: a config is a JSON object, this is null"},
	/* unknown and repeated keys */
	{"{\n  \"dney\": []}",
	 "2:3: unknown key \"dney\"; did you mean \"deny\"? known here: " TOP_KEYS},
	{"{\"Deny\": []}",
	 "1:2: unknown key \"Deny\"; did you mean \"deny\"? known here: " TOP_KEYS},
	{"{\"zzzzzz\" : 1}", "1:2: unknown key \"zzzzzz\"; known here: " TOP_KEYS},
	{"{\"\\u0001\\\"\": 1}", "1:2: unknown key \"?\"\"; known here: " TOP_KEYS},
	{"{\"limits\": {\"byte\": 1}}",
	 "1:13: unknown key \"byte\"; did you mean \"bytes\"? known here: bytes, depth"},
	{"{\"approval\": {\"timeot\": \"1s\"}}",
	 "1:15: unknown key \"timeot\"; did you mean \"timeout\"? known here: timeout, ask, need, "
	 "allow_self, redeem, wait, notify, on_change"},
	{"{\"audit\": {\"path\": \"x\"}}", "1:12: unknown key \"path\"; known here: on_error"},
	{"{\"chain\": [{\"plugin\": \"a\", \"option\": {}}]}",
	 "1:28: unknown key \"option\"; did you mean \"options\"? known here: plugin, sha256, name, match, "
	 "options, mode, deadline, on_error, isolation, sandbox, needs, may"},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": {\"tools\": \"x\"}}]}",
	 "1:38: unknown key \"tools\"; did you mean \"tool\"? known here: tool, class, source, "
	 "server, "
	 "agent, client"},
	{"{\"observe\": [{\"plugin\": \"a\", \"mode\": \"shadow\"}]}",
	 "1:30: \"mode\" means nothing in observe: an observer decides nothing; remove it, or move "
	 "the "
	 "entry to chain"},
	/* single values */
	{"{\"plugin_dir\": 1}", "1:16: \"plugin_dir\" is a number; write a string"},
	{"{\"plugin_dir\": \"\"}",
	 "1:16: \"plugin_dir\" is empty; fill it in or leave the key out"},
	{"{\"plugin_dir\": \"a\\u0000b\"}",
	 "1:16: \"plugin_dir\" has a control character; take it out"},
	{"{\"limits\": []}", "1:12: \"limits\" is an array; write an object"},
	{"{\"limits\": {\"bytes\": 1023}}",
	 "1:22: \"bytes\" must be a whole number from 1024 to 67108864"},
	{"{\"limits\": {\"bytes\": 67108865}}",
	 "1:22: \"bytes\" must be a whole number from 1024 to 67108864"},
	{"{\"limits\": {\"depth\": 7}}", "1:22: \"depth\" must be a whole number from 8 to 512"},
	{"{\"limits\": {\"depth\": 8.5}}", "1:22: \"depth\" must be a whole number from 8 to 512"},
	{"{\"limits\": {\"depth\": \"8\"}}",
	 "1:22: \"depth\" must be a whole number from 8 to 512"},
	{"{\"deadline\": 2}", "1:14: \"deadline\" is a number; write a duration such as \"250ms\", "
			      "\"2s\", \"5m\" or \"1h\""},
	{"{\"deadline\": \"2\"}",
	 "1:14: \"deadline\" is \"2\"; write a duration such as \"250ms\", "
	 "\"2s\", \"5m\" or \"1h\""},
	{"{\"deadline\": \"9ms\"}", "1:14: \"deadline\" is \"9ms\"; write 10ms to 10m"},
	{"{\"deadline\": \"601s\"}", "1:14: \"deadline\" is \"601s\"; write 10ms to 10m"},
	{"{\"deadline\": \"0\"}", "1:14: \"deadline\" is \"0\"; write 10ms to 10m"},
	{"{\"on_error\": \"allow\"}", "1:14: \"on_error\" is \"allow\"; write one of deny|halt"},
	{"{\"on_error\": null}", "1:14: \"on_error\" is null; write one of deny|halt"},
	{"{\"resolve\": \"last\"}", "1:13: \"resolve\" is \"last\"; write one of first|strictest"},
	{"{\"refusal\": \"{why}\"}",
	 "1:13: \"refusal\" has {why}; known are {tool} {reason} {rule} {plugin}"},
	{"{\"approval\": {\"need\": 0}}", "1:23: \"need\" must be a whole number from 1 to 16"},
	{"{\"approval\": {\"allow_self\": 1}}",
	 "1:29: \"allow_self\" is a number; write true or false"},
	{"{\"approval\": {\"ask\": \"me\"}}",
	 "1:22: \"ask\" is \"me\"; write one of client|queue|deny"},
	{"{\"approval\": {\"redeem\": \"0\"}}", "1:25: \"redeem\" is \"0\"; write 1s to 8784h"},
	{"{\"audit\": {\"on_error\": \"deny\"}}",
	 "1:24: \"on_error\" is \"deny\"; write one of drop|warn|fail"},
	/* lists */
	{"{\"deny\": \"x\"}", "1:10: \"deny\" is a string; write an array"},
	{"{\"deny\": [1]}", "1:11: \"deny\" holds a number; a pattern is a string"},
	{"{\"deny\": [\"a\", \"mcp:prod\"]}",
	 "1:16: \"deny\": the pattern \"mcp:prod\" names no server; write \"mcp:SERVER/NAME\", "
	 "\"mcp:prod/*\" for all of a server's tools"},
	{"{\"deny\": [\"\"]}",
	 "1:11: \"deny\": the pattern \"\" is empty; \"*\" stands for every tool"},
	{"{\n\"require_approval\": [\"b\", \"a\"],\n\"deny\": [\"c\", \"a\"]}",
	 "2:27: \"a\" is on \"deny\" too (/w/pawl.json:3); keep it on one of the lists"},
	/* context */
	{"{\"context\": []}", "1:13: \"context\" is an array; write an object"},
	{"{\"context\": {\"\": 1}}", "1:14: a fact of \"context\" has no name; give it one"},
	{"{\"context\": {\"u\": {\"os\": \"shell\"}}}",
	 "1:26: {\"os\": \"shell\"}: there is no such fact; known are user, uid, gid, home, "
	 "hostname"},
	{"{\"context\": {\"u\": {\"file\": 3}}}", "1:28: \"file\" is a number; write a string"},
	{"{\"context\": {\"u\": {\"env\": \"A-B\"}}}",
	 "1:27: {\"env\": \"A-B\"} is no variable's name; write letters, digits and _"},
	/* entries */
	{"{\"chain\": {}}", "1:11: \"chain\" is an object; write an array"},
	{"{\"chain\": [\"hosts\"]}",
	 "1:12: \"chain\" is a string; write objects such as {\"plugin\": \"hosts\"}"},
	{"{\"chain\": [{}]}",
	 "1:12: an entry of \"chain\" without \"plugin\"; name the plugin's file without .so"},
	{"{\"chain\": [{\"plugin\": \"../evil\"}]}",
	 "1:23: \"plugin\" is \"../evil\"; write at most 64 of A-Z a-z 0-9 . _ -, beginning with a "
	 "letter, a digit or _"},
	{"{\"chain\": [{\"plugin\": \"a/b\"}]}", "1:23: \"plugin\" is \"a/b\"; write at most 64 of "
						 "A-Z a-z 0-9 . _ -, beginning with a letter, a "
						 "digit or _"},
	{"{\"chain\": [{\"plugin\": \"a\"},\n {\"plugin\": \"a\"}]}",
	 "2:2: the name \"a\" is taken by the entry at /w/pawl.json:1; give this one a \"name\" of "
	 "its "
	 "own"},
	{"{\"observe\": [{\"plugin\": \"b\", \"name\": \"a\"}], \"chain\": [{\"plugin\": \"a\"}]}",
	 "1:14: the name \"a\" is taken by the entry at /w/pawl.json:1; give this one a \"name\" "
	 "of its "
	 "own"},
	{"{\"chain\": [{\"plugin\": \"a\", \"options\": []}]}",
	 "1:39: \"options\" is an array; write an object"},
	{"{\"chain\": [{\"plugin\": \"a\", \"mode\": \"off\"}]}",
	 "1:36: \"mode\" is \"off\"; write one of enforce|shadow"},
	{"{\"chain\": [{\"plugin\": \"a\", \"deadline\": \"0\"}]}",
	 "1:40: \"deadline\" is \"0\"; write 1ms to 10m"},
	{"{\"chain\": [{\"plugin\": \"a\", \"may\": [\"allow\"]}]}",
	 "1:36: \"may\" knows only \"grant\"; write [\"grant\"]"},
	{"{\"chain\": [{\"plugin\": \"a\", \"isolation\": \"thread\"}]}",
	 "1:41: \"isolation\" is \"thread\"; write one of shared|process"},
	{"{\"chain\": [{\"plugin\": \"a\", \"isolation\": true}]}",
	 "1:41: \"isolation\" is true or false; write one of shared|process"},
	{"{\"chain\": [{\"plugin\": \"a\", \"isolation\": \"process\", \"sandbox\": \"off\"}]}",
	 "1:63: \"sandbox\" is \"off\"; write one of require|best-effort"},
	{"{\"chain\": [{\"plugin\": \"a\", \"isolation\": \"process\", \"needs\": [\"disk\"]}]}",
	 "1:62: \"needs\" knows only \"net\"; write [\"net\"]"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sandbox\": \"best-effort\"}]}",
	 "1:28: \"sandbox\" means nothing in the shared worker; add \"isolation\": \"process\", or "
	 "take it out"},
	{"{\"chain\": [{\"plugin\": \"a\", \"isolation\": \"shared\", \"needs\": [\"net\"]}]}",
	 "1:51: \"needs\" means nothing in the shared worker; add \"isolation\": \"process\", or "
	 "take it out"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": \"ab\"}]}",
	 "1:38: \"sha256\" must be 64 hexadecimal digits; sha256sum FILE prints them"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": \"" SUM_A "0\"}]}",
	 "1:38: \"sha256\" must be 64 hexadecimal digits; sha256sum FILE prints them"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": \"" SUM_X "\"}]}",
	 "1:38: \"sha256\" must be 64 hexadecimal digits; sha256sum FILE prints them"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": 1}]}",
	 "1:38: \"sha256\" must be 64 hexadecimal digits; sha256sum FILE prints them"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": \"" SUM_A "\"}],\n"
	 " \"observe\": [{\"plugin\": \"a\", \"name\": \"b\"}]}",
	 "2:14: this entry's \"sha256\" is not that of the other entry of \"a\" (/w/pawl.json:1); "
	 "give both the same"},
	{"{\"chain\": [{\"plugin\": \"a\"}, {\"plugin\": \"a\", \"name\": \"b\",\n"
	 " \"sha256\": \"" SUM_A "\"}]}",
	 "1:12: this entry's \"sha256\" is not that of the other entry of \"a\" (/w/pawl.json:1); "
	 "give both the same"},
	{"{\"chain\": [{\"plugin\": \"a\", \"sha256\": \"" SUM_A "\"},\n"
	 "{\"plugin\": \"a\", \"name\": \"b\", \"sha256\": \"" SUM_B "\"}]}",
	 "2:1: this entry's \"sha256\" is not that of the other entry of \"a\" (/w/pawl.json:1); "
	 "give both the same"},
	{"{\"libraries\": [1]}", "1:16: \"libraries\" holds a number; a pattern is a string"},
	{"{\"libraries\": [\"/usr/lib/libssl.so\"]}",
	 "1:16: \"libraries\": the pattern \"/usr/lib/libssl.so\" is no library's name; write it as "
	 "in readelf -d: \"libssl.so.3\", or \"libssl.so\" for any version"},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": []}]}",
	 "1:37: \"match\" is an array; write an object such as {\"tool\": \"create_*\"}"},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": {\"tool\": []}}]}",
	 "1:46: \"tool\" is an empty list; leave the key out to mean any"},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": {\"class\": \"Shell\"}}]}",
	 "1:47: \"class\": the pattern \"Shell\" holds for no class; classes are " MATCH_CLASSES},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": {\"source\": [\"mpc\"]}}]}",
	 "1:49: \"source\": the pattern \"mpc\" holds for no source; sources are " MATCH_SOURCES},
	{"{\"chain\": [{\"plugin\": \"a\", \"match\": {\"client\": \"\"}}]}",
	 "1:48: \"client\": the pattern \"\" is empty; leave the key out to mean any"},
};

static void test_mistakes_are_told_with_place_and_mend(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char want[ERROR_TEXT_MAX];
		struct config *config = NULL;
		struct error err = {""};
		int r = config_parse(str_of(wrong[i].text), "/w/pawl.json", &config, &err);
		snprintf(want, sizeof(want), "/w/pawl.json:%s", wrong[i].want);
		if (r >= 0 || strcmp(err.text, want) != 0)
			fail_msg("%s\n got %d %s\nwant %s", wrong[i].text, r, err.text, want);
		assert_null(config);
	}
}

/* The reader's own words stand between place and mend. */
static void test_broken_json_is_told_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *place, *word;
	} cases[] = {
		{"{\n \"deny\": [],\n \"deny\": []}", "/w/pawl.json:3:2: ", "deny"},
		{"{\n \"deny\": [}", "/w/pawl.json:2:11: ", ""},
		{"{\"a\": 1} {}", "/w/pawl.json:1:10: ", ""},
		{"{'deny': []}", "/w/pawl.json:1:2: ", ""},
		{"{\"refusal\": \"\xff\"}", "/w/pawl.json:1:14: ", ""},
		{"{ /* no end", "/w/pawl.json:1:", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config *config = NULL;
		struct error err = {""};
		assert_true(config_parse(str_of(cases[i].text), "/w/pawl.json", &config, &err) < 0);
		if (strncmp(err.text, cases[i].place, strlen(cases[i].place)) != 0 ||
		    !strstr(err.text, cases[i].word) || !strstr(err.text, JSON_MEND))
			fail_msg("%s\n%s", cases[i].text, err.text);
	}
}

static void test_durations_are_as_listed(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns; /* -1: refused */
	} cases[] = {
		{"0", 0},
		{"00", 0},
		{"0s", 0},
		{"250ms", 250000000},
		{"2s", 2000000000},
		{"5m", INT64_C(300000000000)},
		{"1h", INT64_C(3600000000000)},
		{"007s", 7000000000},
		{"2562047h", INT64_C(9223369200000000000)},
		{"", -1},
		{"1", -1},
		{"s", -1},
		{"-1s", -1},
		{"+1s", -1},
		{"1.5s", -1},
		{"1 s", -1},
		{" 1s", -1},
		{"1s ", -1},
		{"1S", -1},
		{"1sec", -1},
		{"1d", -1},
		{"1us", -1},
		{"0x1s", -1},
		{"2562048h", -1},
		{"9223372036854775808ms", -1},
		{"99999999999999999999999s", -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ns = -1;
		int r = config_duration(str_of(cases[i].text), &ns);
		if ((r == 0) != (cases[i].ns >= 0) || ns != cases[i].ns)
			fail_msg("\"%s\": %d %lld", cases[i].text, r, (long long)ns);
	}
}

/* ---- files ------------------------------------------------------------------------ */

static const char *at(const char *name)
{
	static char path[4][160];
	static unsigned turn;
	char *buf = path[turn++ % 4];
	snprintf(buf, sizeof(path[0]), "%s/%s", dir, name);
	return buf;
}

static void make(const char *name, const char *text)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void load_fails(const char *name, int code, const char *want)
{
	struct config *config = NULL;
	struct error err = {""};
	int r = config_load(at(name), &config, &err);
	if (r != code || strcmp(err.text, want) != 0)
		fail_msg("%s\n got %d %s\nwant %d %s", name, r, err.text, code, want);
	assert_null(config);
}

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *format, ...)
{
	static char buf[ERROR_TEXT_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(buf, sizeof(buf), format, ap);
	va_end(ap);
	return buf;
}

static void test_bad_files_are_refused(void **state)
{
	(void)state;
	load_fails("none.json", -ENOENT,
		   text("%s/none.json:1:1: does not exist; write it as pawl.json(5) says, or name "
			"another "
			"with --config",
			dir));
	make("empty.json", "");
	load_fails(
		"empty.json", -EBADMSG,
		text("%s/empty.json:1:1: the file is empty; a config is a JSON object, {} at least",
		     dir));
	assert_int_equal(mkdir(at("dir.json"), 0755), 0);
	load_fails("dir.json", -EISDIR,
		   text("%s/dir.json:1:1: is a folder, not a file; name the file in it", dir));
	assert_int_equal(mkfifo(at("fifo.json"), 0600), 0);
	load_fails("fifo.json", -EINVAL,
		   text("%s/fifo.json:1:1: is no regular file (a pipe, socket or device); put a "
			"file there",
			dir));
	make("open.json", "{}");
	assert_int_equal(chmod(at("open.json"), 0666), 0);
	load_fails("open.json", -EPERM,
		   text("%s/open.json:1:1: the file can be written by everybody (mode 0666); chmod "
			"go-w "
			"%s/open.json",
			dir, dir));
	make("good.json", "{}");
	assert_int_equal(symlink("good.json", at("link.json")), 0);
	load_fails("link.json", -ELOOP,
		   text("%s/link.json:1:1: is a symbolic link, and only the file itself is read; "
			"name the "
			"file it points to, or put a copy in its place",
			dir));
	load_fails("good.json/x", -ENOTDIR,
		   text("%s/good.json/x:1:1: cannot be opened: Not a directory", dir));
	assert_int_equal(mkdir(at("shared"), 0755), 0);
	make("shared/pawl.json", "{}");
	assert_int_equal(chmod(at("shared"), 0777), 0);
	load_fails("shared/pawl.json", -EPERM,
		   text("%s/shared/pawl.json:1:1: %s/shared: the folder can be written by "
			"everybody (mode "
			"0777); chmod go-w %s/shared",
			dir, dir, dir));
}

static void test_other_owner_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# needs root to give a file away: nothing tried\n");
		return;
	}
	make("theirs.json", "{}");
	assert_int_equal(chown(at("theirs.json"), 54321, 54321), 0);
	load_fails(
		"theirs.json", -EPERM,
		text("%s/theirs.json:1:1: the file belongs to user 54321, not to root; chown root "
		     "%s/theirs.json",
		     dir, dir));
}

static void test_large_file_is_refused(void **state)
{
	(void)state;
	make("large.json", "{}");
	assert_int_equal(truncate(at("large.json"), (off_t)CONFIG_BYTES_MAX + 1), 0);
	load_fails("large.json", -EFBIG,
		   text("%s/large.json:1:1: has 4194305 bytes, more than the 4194304 that are read",
			dir));
}

static void test_relative_path_is_made_absolute(void **state)
{
	(void)state;
	struct config *config = NULL;
	struct error err = {""};
	char old[4096];
	make("rel.json", "{\"plugin_dir\": \"p\"}");
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	int r = config_load("./rel.json", &config, &err),
	    none = config_load("no.json", &config, &err);
	assert_int_equal(chdir(old), 0);
	assert_int_equal(r, 0);
	assert_string_equal(config->path.ptr, at("rel.json"));
	assert_string_equal(config->plugin_dir.ptr, at("p"));
	assert_int_equal(none, -ENOENT);
	config_free(config);
}

static void make_dropins(const char *name)
{
	char sub[64];
	assert_int_equal(mkdir(at(name), 0755), 0);
	snprintf(sub, sizeof(sub), "%s/conf.d", name);
	assert_int_equal(mkdir(at(sub), 0755), 0);
}

static void test_dropins_append_in_name_order(void **state)
{
	(void)state;
	make_dropins("d");
	make("d/pawl.json", "{\"deny\": [\"m\"], \"on_error\": \"halt\", \"context\": {\"a\": 1},\n"
			    "\"chain\": [{\"plugin\": \"one\"}], \"limits\": {\"depth\": 9}}");
	make("d/conf.d/20-b.json", "{\"deny\": [\"b\"], \"chain\": [{\"plugin\": \"three\"}]}");
	make("d/conf.d/10-a.json",
	     "{\"deny\": [\"a\"], \"chain\": [{\"plugin\": \"two\"}], \"context\": "
	     "{\"b\": 2}, \"deadline\": \"1s\", \"limits\": {\"bytes\": 2048},\n"
	     "\"observe\": [{\"plugin\": \"o\"}], \"plugin_dir\": \"p\"}");
	make("d/conf.d/README", "not JSON");
	make("d/conf.d/.x.json", "not JSON");
	make("d/conf.d/30.json.rpmsave", "not JSON");
	struct config *c = NULL;
	struct error err = {""};
	if (config_load(at("d/pawl.json"), &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c->deny.n, 3);
	assert_string_equal(c->deny.list[0].ptr, "m");
	assert_string_equal(c->deny.list[1].ptr, "a");
	assert_string_equal(c->deny.list[2].ptr, "b");
	assert_int_equal(c->n_chain, 3);
	assert_string_equal(c->chain[1].plugin.ptr, "two");
	assert_string_equal(c->chain[1].file.ptr, at("d/conf.d/10-a.json"));
	assert_int_equal(c->chain[1].on_error, ON_ERROR_HALT);
	assert_string_equal(c->chain[2].plugin.ptr, "three");
	assert_int_equal(c->n_observe, 1);
	assert_int_equal(c->n_facts, 2);
	assert_true(c->deadline_ns == 1000000000);
	assert_int_equal(c->limits.depth, 9);
	assert_int_equal(c->limits.bytes, 2048);
	assert_string_equal(c->plugin_dir.ptr, at("d/p")); /* the main file's folder */
	assert_int_equal(c->system, geteuid() == 0);
	config_free(c);
}

static void test_dropins_set_nothing_twice(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"{\n\"deadline\": \"1s\"}",
		 "2:1: \"deadline\" is already set in %s/t/pawl.json:1; keep one of them"},
		{"{\"limits\": {\"depth\": 10}}",
		 "1:13: \"depth\" is already set in %s/t/pawl.json:2; keep one of them"},
		{"{\"context\": {\"a\": 1}}",
		 "1:14: \"a\" is already set in %s/t/pawl.json:3; keep one of them"},
		{"{\"require_approval\": [\"m\"]}",
		 "1:23: \"m\" is on \"deny\" too (%s/t/pawl.json:4); keep it on one of the lists"},
		{"{\"chain\": [{\"plugin\": \"p\"}]}",
		 "1:12: the name \"p\" is taken by the entry at %s/t/pawl.json:5; give this one a "
		 "\"name\" "
		 "of its own"},
		{"[]", "1:1: a config is a JSON object, this is an array"},
	};
	make_dropins("t");
	make("t/pawl.json",
	     "{\"deadline\": \"2s\",\n\"limits\": {\"depth\": 9},\n\"context\": {\"a\": 1},\n"
	     "\"deny\": [\"m\"],\n\"chain\": [{\"plugin\": \"p\"}]}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[ERROR_TEXT_MAX];
		struct config *config = NULL;
		struct error err = {""};
		make("t/conf.d/a.json", cases[i].text);
		size_t n = (size_t)snprintf(want, sizeof(want), "%s/t/conf.d/a.json:", dir);
		const char *percent = strstr(cases[i].want, "%s");
		if (percent)
			snprintf(want + n, sizeof(want) - n, "%.*s%s%s",
				 (int)(percent - cases[i].want), cases[i].want, dir, percent + 2);
		else
			snprintf(want + n, sizeof(want) - n, "%s", cases[i].want);
		assert_true(config_load(at("t/pawl.json"), &config, &err) < 0);
		assert_string_equal(err.text, want);
	}
}

static void test_dropins_are_checked_like_the_config(void **state)
{
	(void)state;
	make_dropins("c");
	make("c/pawl.json", "{}");
	make("c/conf.d/a.json", "{}");
	assert_int_equal(chmod(at("c/conf.d/a.json"), 0664), 0);
	load_fails("c/pawl.json", -EPERM,
		   text("%s/c/conf.d/a.json:1:1: the file can be written by its group (mode 0664); "
			"chmod "
			"go-w %s/c/conf.d/a.json",
			dir, dir));
	assert_int_equal(unlink(at("c/conf.d/a.json")), 0);
	assert_int_equal(symlink("nowhere", at("c/conf.d/a.json")), 0);
	load_fails("c/pawl.json", -ELOOP,
		   text("%s/c/conf.d/a.json:1:1: is a symbolic link, and only the file itself is "
			"read; name "
			"the file it points to, or put a copy in its place",
			dir));
	assert_int_equal(unlink(at("c/conf.d/a.json")), 0);
	assert_int_equal(chmod(at("c/conf.d"), 0777), 0);
	load_fails("c/pawl.json", -EPERM,
		   text("%s/c/pawl.json:1:1: %s/c/conf.d: the folder can be written by everybody "
			"(mode "
			"0777); chmod go-w %s/c/conf.d",
			dir, dir, dir));
	assert_int_equal(rmdir(at("c/conf.d")), 0);
	make("c/conf.d", "");
	load_fails("c/pawl.json", -ENOTDIR,
		   text("%s/c/conf.d:1:1: is no folder (links are not followed); make it one or "
			"remove "
			"it",
			dir));
}

static void test_environment_is_refused_in_a_system_install(void **state)
{
	(void)state;
	struct config *c = NULL;
	struct error err = {""};
	make("env.json", "{\"context\": {\"t\": {\"env\": \"TEAM\"}}}");
	int r = config_load(at("env.json"), &c, &err);
	if (geteuid() != 0) {
		assert_int_equal(r, 0);
		assert_false(c->system);
	} else {
		assert_int_equal(r, -EINVAL);
		assert_string_equal(
			err.text,
			text("%s/env.json:1:27: {\"env\": \"TEAM\"}: the environment decides "
			     "nothing "
			     "in a system install; write {\"file\": PATH} or {\"os\": \"user\"}",
			     dir));
	}
	config_free(c);
}

/* ---- where it is looked for ------------------------------------------------------- */

#define SYSTEM_DIR PAWL_SYSCONFDIR "/pawl"
#define SYSTEM_FILE SYSTEM_DIR "/pawl.json"

static void remove_system_file(void)
{
	unlink(SYSTEM_FILE);
	rmdir(SYSTEM_FILE);
	rmdir(SYSTEM_DIR);
	rmdir(PAWL_SYSCONFDIR);
}

static bool make_system_file(mode_t mode, const char *content)
{
	struct error err = {""};
	remove_system_file();
	assert_int_equal(mkdir(PAWL_SYSCONFDIR, 0755), 0);
	assert_int_equal(mkdir(SYSTEM_DIR, 0755), 0);
	int fd = open(SYSTEM_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	if (trust_folders(SYSTEM_DIR, NULL, &err) == 0)
		return true;
	remove_system_file();
	print_message("# %s: nothing tried\n", err.text);
	return false;
}

static void test_system_config_comes_first(void **state)
{
	(void)state;
	struct config *config = NULL;
	struct error err = {""};
	if (!make_system_file(0644, "{\"deny\": [\"x\"]}"))
		return;
	int r = config_load(NULL, &config, &err);
	remove_system_file();
	assert_int_equal(r, 0);
	assert_string_equal(config->path.ptr, SYSTEM_FILE);
	assert_int_equal(config->deny.n, 1);
	config_free(config);
}

/* A system config that cannot be used is an error, never a reason to take the user's. */
static void test_bad_system_config_is_no_fall_through(void **state)
{
	(void)state;
	static const struct {
		mode_t mode;
		const char *text, *want;
	} cases[] = {
		{0666, "{}", "the file can be written by everybody"},
		{0644, "", "the file is empty"},
		{0644, "{\"dney\": []}", "unknown key"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config *config = NULL;
		struct error err = {""};
		if (!make_system_file(cases[i].mode, cases[i].text))
			return;
		int r = config_load(NULL, &config, &err);
		remove_system_file();
		assert_true(r < 0 && r != -ENOENT);
		assert_int_equal(strncmp(err.text, SYSTEM_FILE ":1:", strlen(SYSTEM_FILE ":1:")),
				 0);
		assert_non_null(strstr(err.text, cases[i].want));
	}
	struct config *config = NULL;
	struct error err = {""};
	assert_true(make_system_file(0644, "{}"));
	assert_int_equal(unlink(SYSTEM_FILE), 0);
	assert_int_equal(symlink("nowhere", SYSTEM_FILE), 0);
	int r = config_load(NULL, &config, &err);
	remove_system_file();
	assert_int_equal(r, -ELOOP);
}

static void test_no_config_says_where_it_was_looked_for(void **state)
{
	(void)state;
	struct config *config = NULL;
	struct error err = {""};
	remove_system_file();
	setenv("HOME", "/from-the-environment/home", 1);
	setenv("XDG_CONFIG_HOME", "/from-the-environment/config", 1);
	int r = config_load(NULL, &config, &err);
	if (r == -ENOENT && !strstr(err.text, "user database")) {
		assert_non_null(strstr(err.text, "no config: neither " SYSTEM_FILE " nor /"));
		assert_non_null(strstr(err.text, "/.config/pawl/pawl.json exists; write one"));
		assert_null(strstr(err.text, "from-the-environment"));
	}
	config_free(config); /* there may be one in the real home */
}

static void test_arena_can_be_the_callers(void **state)
{
	(void)state;
	struct config *config = NULL;
	struct error err = {""};
	struct json_arena *arena;
	make("arena.json", "{\"deny\": [\"x\"]}");
	assert_int_equal(json_arena_new(JSON_ARENA_DEFAULT, &arena, &err), 0);
	size_t mark = json_arena_mark(arena);
	assert_int_equal(config_load_in(arena, at("arena.json"), &config, &err), 0);
	assert_ptr_equal(config->arena, arena);
	assert_true(json_arena_mark(arena) > mark);
	config_free(config);
	json_arena_rewind(arena, mark);
	json_arena_free(arena);
}

/* HOME names nothing: the user database does. */
static void test_state_dir_is_of_the_user_database(void **state)
{
	(void)state;
	struct error err = {""};
	struct str path;
	setenv("HOME", "/from-the-environment/home", 1);
	setenv("XDG_STATE_HOME", "/from-the-environment/state", 1);
	struct config *c = parsed("{}");
	if (config_state_dir(c, &path, &err) == 0) {
		assert_int_equal(path.ptr[0], '/');
		assert_non_null(strstr(path.ptr, "/.local/state/pawl"));
		assert_null(strstr(path.ptr, "from-the-environment"));
	}
	config_free(c);
	c = parsed("{\"state_dir\": \"s\"}");
	assert_int_equal(config_state_dir(c, &path, &err), 0);
	assert_string_equal(path.ptr, "/w/s");
	config_free(c);
}

/* ---- the page ------------------------------------------------------------------------ */

/* pawl.json(5) has a ".It Cm KEY" for every key; keys inside others carry their path,
 * but for an entry's, which have a section of their own. */
static void test_page_names_every_key(void **state)
{
	(void)state;
	char path[4096], key[64], want[96];
	const char *top = getenv("abs_top_srcdir");
	snprintf(path, sizeof(path), "%s/host/core/pawl.json.5", top ? top : "..");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		print_message("# no %s here: nothing tried\n", path);
		return;
	}
	_cleanup_free_ char *page = NULL;
	size_t len;
	assert_int_equal(io_read_all(fd, 1 << 20, &page, &len, NULL), 0);
	size_t n = 0;
	for (; config_key_path(n, key, sizeof(key)); n++) {
		const char *from = page, *name = key;
		if (strncmp(key, "chain[].", 8) == 0) {
			from = strstr(page, ".Sh ENTRIES");
			assert_non_null(from);
			name = key + 8;
		}
		snprintf(want, sizeof(want), "\n.It Cm %s", name);
		const char *found = strstr(from, want);
		if (!found || (found[strlen(want)] != '\n' && found[strlen(want)] != ' '))
			fail_msg("pawl.json(5) does not name %s", key);
	}
	assert_true(n > 30);
}

static int make_place(void **state)
{
	(void)state;
	umask(022);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_place(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_object_gives_defaults),
		cmocka_unit_test(test_every_key_is_read),
		cmocka_unit_test(test_entries_are_read),
		cmocka_unit_test(test_facts_are_described),
		cmocka_unit_test(test_options_and_constants_are_plain_json),
		cmocka_unit_test(test_mistakes_are_told_with_place_and_mend),
		cmocka_unit_test(test_broken_json_is_told_with_its_place),
		cmocka_unit_test(test_durations_are_as_listed),
		cmocka_unit_test(test_bad_files_are_refused),
		cmocka_unit_test(test_other_owner_is_refused),
		cmocka_unit_test(test_large_file_is_refused),
		cmocka_unit_test(test_relative_path_is_made_absolute),
		cmocka_unit_test(test_dropins_append_in_name_order),
		cmocka_unit_test(test_dropins_set_nothing_twice),
		cmocka_unit_test(test_dropins_are_checked_like_the_config),
		cmocka_unit_test(test_environment_is_refused_in_a_system_install),
		cmocka_unit_test(test_system_config_comes_first),
		cmocka_unit_test(test_bad_system_config_is_no_fall_through),
		cmocka_unit_test(test_no_config_says_where_it_was_looked_for),
		cmocka_unit_test(test_arena_can_be_the_callers),
		cmocka_unit_test(test_state_dir_is_of_the_user_database),
		cmocka_unit_test(test_page_names_every_key),
	};
	struct error err;
	if (trust_folders("/tmp", NULL, &err) < 0) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
