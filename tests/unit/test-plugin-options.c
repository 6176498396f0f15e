/* test-plugin-options.c - a config's options against a plugin's table. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/hosttable.h"
#include "core/plugin.h"

const pawl_host host_table = {.struct_size = sizeof(pawl_host)};

/* Stands in for config.c's where that is not linked in: "2s" and "250ms". */
__attribute__((weak)) int config_duration(struct str text, int64_t *ret_ns)
{
	char buf[32] = "", *end;
	memcpy(buf, text.ptr, text.len < 31 ? text.len : 31);
	long n = strtol(buf, &end, 10);
	if (end == buf || (strcmp(end, "s") != 0 && strcmp(end, "ms") != 0))
		return -EINVAL;
	*ret_ns = n * (end[0] == 's' ? 1000000000 : 1000000);
	return 0;
}

static const pawl_option table[] = {
	{"text", PAWL_OPT_STRING, 0, NULL, "any text", NULL},
	{"verdict", PAWL_OPT_STRING, 0, "\"deny\"", NULL, "deny|require_approval"},
	{"count", PAWL_OPT_INTEGER, 0, NULL, NULL, NULL},
	{"ratio", PAWL_OPT_NUMBER, 0, NULL, NULL, NULL},
	{"strict", PAWL_OPT_BOOLEAN, 0, NULL, NULL, NULL},
	{"hosts", PAWL_OPT_STRINGS, 0, NULL, NULL, NULL},
	{"days", PAWL_OPT_STRINGS, 0, NULL, NULL, "mon|tue"},
	{"wait", PAWL_OPT_DURATION, 0, "\"2s\"", NULL, NULL},
	{"file", PAWL_OPT_PATH, 0, NULL, NULL, NULL},
	{"result", PAWL_OPT_JSON, 0, NULL, NULL, NULL},
	{"token", PAWL_OPT_STRING, PAWL_OPTF_SECRET, NULL, NULL, "one|two"},
	{"grace", PAWL_OPT_DURATION, PAWL_OPTF_SECRET, NULL, NULL, NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static struct json_arena *arena;

static int make_arena(void **state)
{
	struct error err;
	(void)state;
	return json_arena_new((size_t)64 << 20, &arena, &err);
}

static int free_arena(void **state)
{
	(void)state;
	json_arena_free(arena);
	return 0;
}

static struct plugin_file file_with(const pawl_option *options)
{
	struct plugin_file file = {.note = {.id = "t"}};
	file.desc.options = options;
	file.desc.option_size = sizeof(pawl_option);
	return file;
}

static const struct json_value *parse(const char *text)
{
	const struct json_value *value;
	struct error err;
	if (json_parse(arena, str_of(text), JSON_DEFAULT_LIMITS, JSON_COMMENTS, &value, NULL,
		       &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return value;
}

static int run(const pawl_option *options, const char *text, const struct json_value **ret,
	       struct error *err)
{
	struct plugin_file file = file_with(options);
	err->text[0] = '\0';
	return plugin_options(&file, text ? parse(text) : NULL, "/etc/pawl", arena, ret, err);
}

static void test_options_are_given_to_open(void **state)
{
	static const struct {
		const char *given, *wants;
	} cases[] = {
		{NULL, "{\"verdict\":\"deny\",\"wait\":2000000000}"},
		{"{}", "{\"verdict\":\"deny\",\"wait\":2000000000}"},
		{"{\"wait\":\"250ms\",\"text\":\"a\\u0062\"}",
		 "{\"text\":\"a\\u0062\",\"verdict\":\"deny\",\"wait\":250000000}"},
		{"{\"verdict\":\"require_approval\",\"count\":1e1,\"ratio\":0.10,\"strict\":true}",
		 "{\"verdict\":\"require_approval\",\"count\":1e1,\"ratio\":0.10,\"strict\":true,"
		 "\"wait\":2000000000}"},
		{"{\"hosts\":[\"a\", \"b\" /* c */,],\"days\":\"tue\"}",
		 "{\"verdict\":\"deny\",\"hosts\":[\"a\",\"b\"],\"days\":[\"tue\"],"
		 "\"wait\":2000000000}"},
		{"{\"hosts\":[]}", "{\"verdict\":\"deny\",\"hosts\":[],\"wait\":2000000000}"},
		{"{\"file\":\"list.txt\"}",
		 "{\"verdict\":\"deny\",\"wait\":2000000000,\"file\":\"/etc/pawl/list.txt\"}"},
		{"{\"file\":\"/a\\u0020b\"}",
		 "{\"verdict\":\"deny\",\"wait\":2000000000,\"file\":\"/a b\"}"},
		{"{\"result\":null}", "{\"verdict\":\"deny\",\"wait\":2000000000,\"result\":null}"},
		{"{\"result\": /* x */ {\"a, }\" : [1, 2,\n// y\n], \"b\\\"//\": \"\\\\\", },}",
		 "{\"verdict\":\"deny\",\"wait\":2000000000,"
		 "\"result\":{\"a, }\":[1,2],\"b\\\"//\":\"\\\\\"}}"},
		{"{\"result\":1915883588174806058}",
		 "{\"verdict\":\"deny\",\"wait\":2000000000,\"result\":1915883588174806058}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct json_value *ret;
		struct error err;
		if (run(table, cases[i].given, &ret, &err) < 0)
			fail_msg("case %zu: %s", i, err.text);
		struct str raw = json_raw(ret);
		if (!str_is(raw, cases[i].wants))
			fail_msg("case %zu: %.*s", i, STR_FMT(raw));
	}
}

static void test_wrong_option_is_named_with_its_place(void **state)
{
	static const struct {
		const char *given, *says;
	} cases[] = {
		{"[]", "1:1: the options of plugin \"t\" are not an object"},
		{"{\n  \"verdit\": \"deny\"}", "2:13: plugin \"t\" has no option \"verdit\": did you "
					       "mean \"verdict\"? it takes text, verdict, count"},
		{"{\"zzzzzzzz\": 1}", "no option \"zzzzzzzz\": it takes text"},
		{"{\"\": 1}", "no option \"\": it takes text"},
		{"{\"text\": 1}", "1:10: plugin \"t\": option \"text\" takes a string"},
		{"{\"text\": null}", "takes a string"},
		{"{\"verdict\": \"allow\"}",
		 "option \"verdict\" is \"allow\": it takes one of deny|require_approval"},
		{"{\"verdict\": \"\"}", "takes one of"},
		{"{\"verdict\": \"deny|require_approval\"}", "takes one of"},
		{"{\"verdict\": \"den\"}", "takes one of"},
		{"{\"count\": 1.5}", "takes a whole number"},
		{"{\"count\": \"1\"}", "takes a whole number"},
		{"{\"count\": 9223372036854775808}", "takes a whole number"},
		{"{\"ratio\": 1e999}", "takes a number"},
		{"{\"ratio\": true}", "takes a number"},
		{"{\"strict\": 1}", "takes true or false"},
		{"{\"hosts\": [\"a\", 1]}", "1:17: plugin \"t\": option \"hosts\" takes a list"},
		{"{\"hosts\": {}}", "takes a list of strings"},
		{"{\"hosts\": null}", "takes a list of strings"},
		{"{\"days\": [\"mon\", \"wed\"]}", "is \"wed\": it takes one of mon|tue"},
		{"{\"wait\": 2}", "takes a duration with its unit"},
		{"{\"wait\": \"2 weeks\"}", "is \"2 weeks\": it takes a duration"},
		{"{\"file\": \"\"}", "takes the path"},
		{"{\"file\": 7}", "takes the path"},
		{"{\"file\": \"a\\u0000b\"}", "NUL"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct json_value *ret = NULL;
		struct error err;
		int r = run(table, cases[i].given, &ret, &err);
		if (r != -EINVAL || !strstr(err.text, cases[i].says))
			fail_msg("case %zu: %d, wants \"%s\", says: %s", i, r, cases[i].says,
				 err.text);
		assert_null(ret);
	}
}

static void test_secret_is_never_shown(void **state)
{
	static const char *const cases[] = {"{\"token\":\"hunter2\"}", "{\"grace\":\"hunter2\"}",
					    "{\"token\":[\"hunter2\"]}"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct json_value *ret;
		struct error err;
		assert_int_equal(run(table, cases[i], &ret, &err), -EINVAL);
		assert_null(strstr(err.text, "hunter2"));
	}
}

static void test_long_path_is_refused(void **state)
{
	char text[5000];
	const struct json_value *ret;
	struct error err;
	(void)state;
	int n = snprintf(text, sizeof(text), "{\"file\":\"%04090d\"}", 0);
	assert_in_range(n, 4000, 4999);
	assert_int_equal(run(table, text, &ret, &err), -EINVAL);
	assert_non_null(strstr(err.text, "longer than a path"));
}

static void test_required_option_is_asked_for(void **state)
{
	static const pawl_option required[] = {
		{"pointer", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL, "where to look", NULL},
		{NULL, 0, 0, NULL, NULL, NULL},
	};
	const struct json_value *ret;
	struct error err;
	(void)state;
	assert_int_equal(run(required, "\n {}", &ret, &err), -EINVAL);
	assert_string_equal(err.text, "2:2: plugin \"t\" needs the option \"pointer\": where to look");
	assert_int_equal(run(required, NULL, &ret, &err), -EINVAL);
	assert_string_equal(err.text, "plugin \"t\" needs the option \"pointer\": where to look");
}

static void test_plugin_without_options_takes_none(void **state)
{
	const struct json_value *ret;
	struct error err;
	(void)state;
	assert_int_equal(run(NULL, "{}", &ret, &err), 0);
	assert_int_equal(json_type(ret), JSON_OBJECT);
	assert_int_equal(run(NULL, "{\"a\":1}", &ret, &err), -EINVAL);
	assert_non_null(strstr(err.text, "it takes none"));
}

static void test_bad_default_is_the_plugins_fault(void **state)
{
	static const struct {
		const char *fallback, *says;
	} cases[] = {
		{"deny", "its own default of option \"x\" is not JSON"},
		{"", "is not JSON"},
		{"1 2", "is not JSON"},
		{"[1,]", "is not JSON"},
		{"\"many\"", "its own default of option \"x\" takes a whole number"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pawl_option options[] = {{"x", PAWL_OPT_INTEGER, 0, cases[i].fallback, NULL, NULL},
					 {NULL, 0, 0, NULL, NULL, NULL}};
		const struct json_value *ret;
		struct error err;
		assert_int_equal(run(options, "{}", &ret, &err), -ENOEXEC);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: says: %s", i, err.text);
		assert_int_equal(run(options, "{\"x\":1}", &ret, &err), 0);
	}
}

static void test_large_value_is_given_whole(void **state)
{
	size_t n = 100000;
	struct error err;
	const struct json_value *ret;
	(void)state;
	char *text = malloc(n * 4 + 32);
	size_t len = (size_t)sprintf(text, "{\"result\":[");
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%zu,", i % 10);
	sprintf(text + len, "]}");
	assert_int_equal(run(table, text, &ret, &err), 0);
	assert_int_equal(json_length(json_member(ret, STR("result"))), n);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_are_given_to_open),
		cmocka_unit_test(test_wrong_option_is_named_with_its_place),
		cmocka_unit_test(test_secret_is_never_shown),
		cmocka_unit_test(test_long_path_is_refused),
		cmocka_unit_test(test_required_option_is_asked_for),
		cmocka_unit_test(test_plugin_without_options_takes_none),
		cmocka_unit_test(test_bad_default_is_the_plugins_fault),
		cmocka_unit_test(test_large_value_is_given_whole),
	};
	return cmocka_run_group_tests(tests, make_arena, free_arena);
}
