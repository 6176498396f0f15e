/* test-codex.c - Codex's config.toml is read for its hooks and for what a person has trusted,
 * and what is trusted is told by the same hash that Codex takes: those here are its own, as
 * 0.171.0 listed them for these hooks. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/codex.h"
#include "cli/sha256.h"
#include "cli/toml.h"

static struct json_arena *arena;

static int set_up(void **state)
{
	(void)state;
	return json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL);
}

static const struct json_value *parsed(const char *text)
{
	const struct json_value *value = NULL;
	struct error err;
	if (json_parse(arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &value, NULL, &err) < 0)
		fail_msg("%s: %s", err.text, text);
	return value;
}

static void assert_str(struct str text, const char *expected)
{
	if (!str_is(text, expected))
		fail_msg("\"%.*s\" is not \"%s\"", STR_FMT(text), expected);
}

static void test_sha256_is_as_published(void **state)
{
	static const char *const cases[][2] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	static char million[1000000];
	char hex[SHA256_HEX + 1];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sha256_hex(str_of(cases[i][0]), hex, NULL), 0);
		assert_string_equal(hex, cases[i][1]);
	}
	memset(million, 'a', sizeof(million));
	assert_int_equal(sha256_hex((struct str){million, sizeof(million)}, hex, NULL), 0);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

#define PAWL "\"command\":\"/usr/local/bin/pawl hook codex\""

static const struct {
	const char *event, *matcher, *handler, *hash;
} hashes[] = {
	{"PreToolUse", "\"*\"", "{\"type\":\"command\"," PAWL ",\"timeout\":10}",
	 "fb6571441ef484399ed4c3eb6c3c83b4d08758e3fe420046dc3ef9607a5de655"},
	{"PreToolUse", NULL,
	 "{\"type\":\"command\",\"command\":\"a \\\"b\\\" \xC3\xA9 / \\u0001 \\u007f\","
	 "\"timeout\":0}",
	 "01c32e79fb26079319741966fe1c3c0e48b6d1afb483a2901005959d963542b2"},
	{"PreToolUse", NULL, "{\"type\":\"command\",\"command\":\"x\",\"statusMessage\":\"hi\"}",
	 "f2a115b3d45d3cbfa2cabb0e9086319add811027ecda831d63bfeb8314c7a84f"},
	{"PreToolUse", NULL, "{\"type\":\"command\",\"command\":\"x\",\"async\":true}",
	 "200dc617b88eb1a091fa1c5ee76512ebd5c7ae60beb0bd89163f8293db44a680"},
	{"PreToolUse", "\"\"", "{\"type\":\"command\",\"command\":\"x\",\"timeout\":10}",
	 "a77c0c85d1ee9c85f232f31c10fbd3a54200b0e5fc4e68583c79c90f224e6786"},
	{"PreToolUse", "\"Bash\"",
	 "{\"type\":\"command\",\"command\":\"y\",\"async\":false,\"foo\":1,\"timeout\":2}",
	 "4f2229871ec2fb0fb09e75c5f9550e74b1319c88d742d2a73009e491458d1430"},
	{"PostToolUse", "\"*\"", "{\"type\":\"command\",\"command\":\"x\"}",
	 "28e36e3220a6e921775fbb6ab4aa9f312e72273ff05b209ba81727e383c55e42"},
	{"SessionEnd", NULL, "{\"type\":\"command\"," PAWL ",\"timeout\":10}",
	 "24d046457fe4de72fe3bfd335416150a3f2ba123536f5a1dbfcfdaaa666e42b1"},
	{"UserPromptSubmit", NULL, "{\"type\":\"command\"," PAWL "}",
	 "31abc8d9fbb7abad805e29ac7ec5586648d2180503c01c577d42989be1b052b7"},
	{"Stop", "\"zzz\"", "{\"type\":\"command\"," PAWL ",\"timeout\":10}",
	 "266014254f8b1131573d92404c6b2df4ab8a39b4d4b96dcfcd98afa5f7a53ae0"},
};

static void test_hashes_are_those_of_codex(void **state)
{
	struct str hash;
	(void)state;
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		const char *matcher = hashes[i].matcher;
		assert_int_equal(codex_hash(arena, hashes[i].event,
					    matcher ? parsed(matcher) : NULL,
					    parsed(hashes[i].handler), &hash),
				 0);
		assert_true(str_starts(hash, STR("sha256:")));
		assert_str(str_after(hash, 7), hashes[i].hash);
	}
	assert_true(codex_hash(arena, "Stop", NULL, parsed("{\"type\":\"prompt\"}"), &hash) < 0);
}

/* ---- TOML ------------------------------------------------------------------------------- */

static char seen[4096];

static void see(void *context, const struct toml_item *item)
{
	size_t len = strlen(seen);
	(void)context;
	for (size_t i = 0; i < item->n; i++, len = strlen(seen))
		snprintf(seen + len, sizeof(seen) - len, "%s%.*s", i ? "/" : "",
			 STR_FMT(item->path[i]));
	snprintf(seen + len, sizeof(seen) - len, item->begins ? "+;" : "=%s%.*s;",
		 item->is_text ? "'" : "", STR_FMT(item->value));
}

static const struct {
	const char *toml, *seen; /* NULL: cannot be followed */
} tables[] = {
	{"", ""},
	{"\xEF\xBB\xBF# only a word\r\n\r\n", ""},
	{"a = 1", "a=1;"},
	{"a.b.\"c.d\" = 'e'#f\n", "a/b/c.d='e;"},
	{"[t]\na=true\n[t.u]\r\nb=1.5 # x", "t/a=true;t/u/b=1.5;"},
	{"[[h.x]]\nm=\"q\"\n[[h.x.h]]\nc='d'", "h/x+;h/x/m='q;h/x/h+;h/x/h/c='d;"},
	{"[ \"a b\" . c ]\nd = \"\\\"\\\\\\t\\u00e9\\U0001F600\"",
	 "a b/c/d='\"\\\t\xC3\xA9\xF0\x9F\x98\x80;"},
	{"a='\\'\nb=\"#\"", "a='\\;b='#;"},
	{"a=\"\"\"\nx \"y\" \\\n   z\"\"\"\nb='''\n'q''''", NULL},
	{"a=\"\"\"\nx \"y\" \\\n   z\"\"\"\nb='''\nq'''", "a='x \"y\" z;b='q;"},
	{"a=[1, \"]\", # ]\n [2]]\nb={c = '}', d = [1]}", "a=[1, \"]\", # ]\n [2]];b={c = '}', d = [1]};"},
	{"[a.b.c.d.e.f.g.h.i]\nx=1\n[y]\nz=2", "y/z=2;"},
	{"a", NULL},
	{"a=", NULL},
	{"=1", NULL},
	{"[a", NULL},
	{"[[a]", NULL},
	{"a=\"b", NULL},
	{"a=\"b\nc\"", NULL},
	{"a=\"\\x\"", NULL},
	{"a=\"\\u12\"", NULL},
	{"a=\"\\", NULL},
	{"a=[1", NULL},
	{"a=1 2", NULL},
	{"a='''b", NULL},
};

static void test_toml_is_followed_as_far_as_it_goes(void **state)
{
	struct error err;
	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		seen[0] = '\0';
		/* of its own length: what is read past it is found */
		size_t len = strlen(tables[i].toml);
		_cleanup_free_ char *copy = malloc(len ? len : 1);
		memcpy(copy, tables[i].toml, len);
		int r = toml_read(arena, (struct str){copy, len}, see, NULL, &err);
		if ((r == 0) != (tables[i].seen != NULL))
			fail_msg("%s: %d %s", tables[i].toml, r, r < 0 ? err.text : seen);
		if (r == 0)
			assert_string_equal(seen, tables[i].seen);
		else
			assert_non_null(strstr(err.text, "line "));
	}
}

/* ---- the file --------------------------------------------------------------------------- */

static void read_text(const char *text, struct codex *ret)
{
	char path[] = "test-codex.XXXXXX";
	struct error err = {""};
	_cleanup_close_ int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	int r = codex_read(arena, path, ret, &err);
	unlink(path);
	if (r < 0)
		fail_msg("%s", err.text);
}

static void test_hooks_and_trust_are_found(void **state)
{
	static struct codex codex;
	(void)state;
	read_text("model = \"m\"\n"
		  "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n"
		  "[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = 'a \"b\"'\n"
		  "timeout = 10\n"
		  "[[hooks.PreToolUse.hooks]]\ncommand = \"x\"\nasync = true\n"
		  "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"s\"\n"
		  "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"y\"\n"
		  "[features]\nhooks = true\n"
		  "[hooks.state.\"/f:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
		  "[hooks.state.'/f:stop:0:0']\nenabled = false\n",
		  &codex);
	assert_str(codex.hooks,
		   "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":"
		   "\"command\",\"command\":\"a \\\"b\\\"\",\"timeout\":10},{\"command\":\"x\","
		   "\"async\":true}]},{\"hooks\":[{\"command\":\"y\"}]}],"
		   "\"Stop\":[{\"hooks\":[{\"command\":\"s\"}]}]}}");
	parsed(codex.hooks.ptr);
	assert_false(codex.off || codex.inline_hooks);
	assert_int_equal(codex.n_trust, 2);
	const struct json_value *handler = parsed("{\"command\":\"x\"}");
	assert_int_equal(codex_state(&codex, "/f", "PreToolUse", 0, 0, NULL, handler),
			 CODEX_CHANGED);
	assert_int_equal(codex_state(&codex, "/f", "PreToolUse", 0, 1, NULL, handler),
			 CODEX_UNKNOWN);
	assert_int_equal(codex_state(&codex, "/g", "PreToolUse", 0, 0, NULL, handler),
			 CODEX_UNKNOWN);
	assert_int_equal(codex_state(&codex, "/f", "Stop", 0, 0, NULL, handler), CODEX_OFF);
	read_text("[hooks.state.\"/f:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:"
		  "4f2229871ec2fb0fb09e75c5f9550e74b1319c88d742d2a73009e491458d1430\"\n",
		  &codex);
	assert_null(codex.hooks.ptr);
	handler = parsed("{\"command\":\"y\",\"timeout\":2}");
	assert_int_equal(codex_state(&codex, "/f", "PreToolUse", 0, 0, parsed("\"Bash\""), handler),
			 CODEX_TRUSTED);
	assert_int_equal(codex_state(&codex, "/f", "PreToolUse", 0, 0, parsed("\"*\""), handler),
			 CODEX_CHANGED);
	read_text("features.hooks = false\nhooks.PreToolUse = [{hooks = []}]\n", &codex);
	assert_true(codex.off && codex.inline_hooks);
	assert_int_equal(codex_read(arena, "/nonexistent/config.toml", &codex, NULL), 0);
	assert_false(codex.exists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256_is_as_published),
		cmocka_unit_test(test_hashes_are_those_of_codex),
		cmocka_unit_test(test_toml_is_followed_as_far_as_it_goes),
		cmocka_unit_test(test_hooks_and_trust_are_found),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
