/* test-json-edit.c - splices, quoting, and telling where a value ends. */
#include <config.h>

#include "json-helpers.h"

#include <errno.h>

/* json NULL removes; expected NULL: it fails with result. */
static const struct {
	const char *text, *pointer, *json, *expected;
	int result;
} edits[] = {
	/* replaced: the rest stays byte for byte, white space around the new value goes */
	{" { \"a\" : 1 ,\t\"b\":[ 1e400, -0 ]}\n", "/a", " \n[7] ",
	 "{ \"a\" : [7] ,\t\"b\":[ 1e400, -0 ]}", 0},
	{"{\"a\":{\"b\":[0,1,2]}}", "/a/b/1", "\"x\"", "{\"a\":{\"b\":[0,\"x\",2]}}", 0},
	{"[1]", "", "{\"new\":true}", "{\"new\":true}", 0},
	{"[1]", "", "\xef\xbb\xbf 2 ", "2", 0},
	{"{\"id\":1915883588174806058,\"x\":1e400,\"y\":0.1000,\"z\":-0,\"k\":1}", "/k", "2",
	 "{\"id\":1915883588174806058,\"x\":1e400,\"y\":0.1000,\"z\":-0,\"k\":2}", 0},
	{"{\"a~b/c\":1}", "/a~0b~1c", "2", "{\"a~b/c\":2}", 0},
	{"{\"\\u0061\":1}", "/a", "2", "{\"\\u0061\":2}", 0},
	/* added */
	{"{}", "/a", "1", "{\"a\":1}", 0},
	{"{ }", "/a", "1", "{\"a\":1 }", 0},
	{"{\"a\":1 }", "/b", "2", "{\"a\":1,\"b\":2 }", 0},
	{"{\"a\":{}}", "/a/q\"~0~1\n\xff", "2", "{\"a\":{\"q\\\"~/\\n\xef\xbf\xbd\":2}}", 0},
	{"{}", "/", "1", "{\"\":1}", 0},
	{"[]", "/-", "1", "[1]", 0},
	{"[]", "/0", "1", "[1]", 0},
	{"[1 ]", "/1", "2", "[1,2 ]", 0},
	{"[1,2]", "/-", "[3]", "[1,2,[3]]", 0},
	{"{\"a\":[]}", "/a/-", "{}", "{\"a\":[{}]}", 0},
	{"[]", "/1", "1", NULL, -ENOENT},
	{"[1]", "/00", "1", NULL, -ENOENT},
	{"[1]", "/01", "1", NULL, -ENOENT},
	{"[1]", "/x", "1", NULL, -ENOENT},
	{"{\"a\":1}", "/a/b", "1", NULL, -ENOENT},
	{"{\"a\":1}", "/b/c", "1", NULL, -ENOENT},
	{"{}", "a", "1", NULL, -ENOENT},
	{"{}", "/~", "1", NULL, -ENOENT},
	{"{}", "/~2", "1", NULL, -ENOENT},
	/* what goes in must be one value by itself */
	{"{\"a\":1}", "/a", "", NULL, -EBADMSG},
	{"{\"a\":1}", "/a", " ", NULL, -EBADMSG},
	{"{\"a\":1}", "/a", "1,\"b\":2", NULL, -EBADMSG},
	{"[1]", "/0", "1,2", NULL, -EBADMSG},
	{"[1]", "/0", "1]", NULL, -EBADMSG},
	{"[1]", "/0", "// c\n1", NULL, -EBADMSG},
	{"[1]", "/0", "{\"a\":1,\"a\":2}", NULL, -EBADMSG},
	{"[1]", "/0", "\"\xff\"", NULL, -EBADMSG},
	{"[1]", "/0", "NaN", NULL, -EBADMSG},
	/* removed */
	{"{ \"a\":1, \"b\":2 , \"c\":3 }", "/a", NULL, "{ \"b\":2 , \"c\":3 }", 0},
	{"{ \"a\":1, \"b\":2 , \"c\":3 }", "/b", NULL, "{ \"a\":1 , \"c\":3 }", 0},
	{"{ \"a\":1, \"b\":2 , \"c\":3 }", "/c", NULL, "{ \"a\":1, \"b\":2 }", 0},
	{"{ \"a\":1 }", "/a", NULL, "{  }", 0},
	{"{\"a\" : 1}", "/a", NULL, "{}", 0},
	{"[1,2,3]", "/0", NULL, "[2,3]", 0},
	{"[1,2,3]", "/1", NULL, "[1,3]", 0},
	{"[1,2,3]", "/2", NULL, "[1,2]", 0},
	{"[1]", "/0", NULL, "[]", 0},
	{"{\"a\":[{\"b\":1}]}", "/a/0/b", NULL, "{\"a\":[{}]}", 0},
	{"{\"a\":1}", "", NULL, NULL, -EINVAL},
	{"{\"a\":1}", "/b", NULL, NULL, -ENOENT},
	{"[1]", "/1", NULL, NULL, -ENOENT},
	{"[1]", "/-", NULL, NULL, -ENOENT},
	{"[1]", "/~", NULL, NULL, -ENOENT},
};

static int edit(const struct json_value *root, const char *pointer, const char *json,
		const struct json_value **ret)
{
	struct error err = {""};
	if (json)
		return json_set_at(arena, root, str_of(pointer), str_of(json), JSON_DEFAULT_LIMITS,
				   ret, &err);
	return json_remove_at(arena, root, str_of(pointer), JSON_DEFAULT_LIMITS, ret, &err);
}

static void test_edits_keep_untouched_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
		const struct json_value *root = read_text(edits[i].text), *after = NULL;
		struct str before = json_raw(root);
		char *copy = strndup(before.ptr, before.len);
		size_t mark = json_arena_mark(arena);
		int r = edit(root, edits[i].pointer, edits[i].json, &after);
		if (r != edits[i].result || (r == 0 && !str_is(json_raw(after), edits[i].expected)))
			fail_msg("%s at %s: %d %.*s", edits[i].text, edits[i].pointer, r,
				 STR_FMT(json_raw(after)));
		if (r < 0)
			assert_true(json_arena_mark(arena) == mark);
		assert_str(json_raw(root), copy);
		free(copy);
	}
}

static void test_edit_of_a_part_yields_the_part(void **state)
{
	(void)state;
	const struct json_value *root = read_text("{\"x\":0,\"args\":{ \"a\":1,\"b\":2 }}"), *after;
	const struct json_value *args = json_member(root, STR("args"));
	assert_int_equal(edit(args, "/b", "3", &after), 0);
	assert_str(json_raw(after), "{ \"a\":1,\"b\":3 }");
	assert_int_equal(edit(args, "/a", NULL, &after), 0);
	assert_str(json_raw(after), "{ \"b\":2 }");
	assert_int_equal(edit(after, "/c", "4", &after), 0);
	assert_int_equal(edit(after, "/b", NULL, &after), 0);
	assert_str(json_raw(after), "{ \"c\":4 }");
	assert_int_equal(edit(NULL, "", "1", &after), -ENOENT);
	assert_int_equal(edit(NULL, "/a", NULL, &after), -ENOENT);
}

static void test_edit_of_a_commented_text(void **state)
{
	(void)state;
	const struct json_value *after;
	const struct json_value *root = read_flags(STR("{ // x\n\"a\":[1,],}"), JSON_COMMENTS);
	assert_int_equal(edit(root, "/a/0", NULL, &after), 0);
	assert_str(json_raw(after), "{ // x\n\"a\":[],}");
	assert_int_equal(edit(root, "/b", "2", &after), 0);
	assert_str(json_raw(after), "{ // x\n\"a\":[1,],\"b\":2,}");
	assert_int_equal(edit(root, "/a", NULL, &after), 0);
	assert_str(json_raw(after), "{}");
}

static void test_edits_keep_the_limits(void **state)
{
	(void)state;
	const struct json_value *root = read_text("[1,2]"), *after;
	struct json_limits limits = {7, 4, 1};
	assert_int_equal(json_set_at(arena, root, STR("/-"), STR("3"), limits, &after, NULL), 0);
	assert_int_equal(json_set_at(arena, root, STR("/-"), STR("33"), limits, &after, NULL),
			 -E2BIG);
	assert_int_equal(json_set_at(arena, root, STR("/0"), STR("[[]]"), limits, &after, NULL),
			 -E2BIG);
	assert_int_equal(json_set_at(arena, root, STR("/0"), STR("[]"), limits, &after, NULL),
			 -E2BIG);
	limits.values = 3;
	assert_int_equal(json_set_at(arena, root, STR("/-"), STR("3"), limits, &after, NULL),
			 -E2BIG);
}

static void test_quote_makes_one_string(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		const char *quoted;
	} cases[] = {
		{{NULL, 0}, "\"\""},
		{{"plain", 5}, "\"plain\""},
		{{"\"\\/", 3}, "\"\\\"\\\\/\""},
		{{"\b\t\n\f\r\x01\x1f\0", 8}, "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u0000\""},
		{{"\xc3\xa9\xf0\x9d\x84\x9e\x7f", 7}, "\"\xc3\xa9\xf0\x9d\x84\x9e\x7f\""},
		{{"a\xff\xc3", 3}, "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
		{{"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str quoted = json_quote(arena, cases[i].text);
		assert_str(quoted, cases[i].quoted);
		assert_int_equal(json_type(read_flags(quoted, 0)), JSON_STRING);
	}
}

/* ---- where a value ends --------------------------------------------------------------- */

static const struct {
	const char *text;
	size_t end; /* bytes that belong to it */
	int done;
} ends[] = {
	{"{} {}", 2, 1}, {" \n[1,[2]]x", 9, 1}, {"\"a\\\"]b\"c", 7, 1}, {"{\"a]}\":\"}\"}\n", 11, 1},
	{"12 ", 2, 1}, {"12", 2, 0}, {"null\n", 4, 1}, {"nu", 2, 0}, {"", 0, 0}, {" \t", 2, 0},
	{"[1,2", 4, 0}, {"\"a", 2, 0}, {"\"a\\", 3, 0}, {"]", 1, 1}, {"}}", 1, 1},
	{"\xef\xbb\xbf\xef\xbb\xbf{}", 8, 1}, {"\xef\xbb\xbf", 3, 0}, {"x{} ", 3, 1},
	{"{\"command\":\"a long text with \\\\ and \\\" in it\"}  ", 46, 1},
};

static void feed_both(const char *text, size_t expected, int done)
{
	struct json_end whole = {0}, bytes = {0};
	size_t len = strlen(text), fed = 0;
	size_t n = json_end_feed(&whole, text, len);
	while (fed < len && json_end_feed(&bytes, text + fed, 1) == 1)
		fed++;
	if (n != expected || fed != expected || whole.done != done || bytes.done != done)
		fail_msg("%s: %zu %zu, done %d %d", text, n, fed, whole.done, bytes.done);
	if (done)
		assert_int_equal(json_end_feed(&whole, "1", 1), 0);
}

static void test_end_is_found_in_one_piece_and_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		feed_both(ends[i].text, ends[i].end, ends[i].done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edits_keep_untouched_bytes),
		cmocka_unit_test(test_edit_of_a_part_yields_the_part),
		cmocka_unit_test(test_edit_of_a_commented_text),
		cmocka_unit_test(test_edits_keep_the_limits),
		cmocka_unit_test(test_quote_makes_one_string),
		cmocka_unit_test(test_end_is_found_in_one_piece_and_byte_by_byte),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
