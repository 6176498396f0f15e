/* test-json.c - what the strict reader takes and refuses, where it says it stopped,
 * its limits and its memory. */
#include <config.h>

#include "json-helpers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define T(literal) {(literal), sizeof(literal) - 1}

static const struct str accepted[] = {
	T("null"), T(" true "), T("false"), T("\"\""), T("[]"), T("{}"), T(" \t\r\n[ ] \n"),
	T("0"), T("-0"), T("1e400"), T("-1.5E+10"), T("0.1000"), T("1915883588174806058"),
	T("{\"\":1}"), T("{\"a\":{\"a\":{\"a\":1}}}"), T("[[],[[]],{}]"),
	T("{\"a\":1,\"b\":[1,2,{\"c\":null}]}"), T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
	T("\"\\u0000\""), T("\"\\uD834\\uDD1E\""), T("\"\x7f\""),
	/* the ends of UTF-8's ranges */
	T("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
	T("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
	/* any run of leading BOMs; one inside a string is text */
	T("\xef\xbb\xbf{}"), T("\xef\xbb\xbf\xef\xbb\xbf{}"), T("\"\xef\xbb\xbf\""),
	T("{\"a\":1,\"A\":1}"), T("{\"a\":1,\"a \":1}"), T("{\"\xc3\xa9\":1,\"e\xcc\x81\":1}"),
};

static const struct {
	struct str text;
	const char *why; /* part of the message */
	unsigned line, column;
} refused[] = {
	{T(""), "ends where a value", 1, 1},
	{T("  \n "), "ends where a value", 2, 2},
	{T("{"), "ends where a member's name", 1, 2},
	{T("["), "ends where a value", 1, 2},
	{T("[1"), "ends where ',' or ']'", 1, 3},
	{T("{\"a\":1"), "ends where ',' or '}'", 1, 7},
	{T("{} {}"), "more text", 1, 4},
	{T("1 2"), "more text", 1, 3},
	{T("nul"), "a value", 1, 1},
	{T("nulll"), "more text", 1, 5},
	{T("NaN"), "'N' where a value", 1, 1},
	{T("-Infinity"), "a digit", 1, 2},
	{T("Infinity"), "a value", 1, 1},
	{T("'a'"), "a value", 1, 1},
	{T("{a:1}"), "a member's name", 1, 2},
	{T("{'a':1}"), "a member's name", 1, 2},
	{T("{\"a\" 1}"), "':'", 1, 6},
	{T("{\"a\":1,}"), "a member's name", 1, 8},
	{T("[1,]"), "a value", 1, 4},
	{T("[,1]"), "a value", 1, 2},
	{T("[1 2]"), "',' or ']'", 1, 4},
	{T("[1}"), "',' or ']'", 1, 3},
	{T("{\"a\":1]"), "',' or '}'", 1, 7},
	{T("]"), "a value", 1, 1},
	{T("// x\n1"), "a value", 1, 1},
	{T("[1/**/]"), "',' or ']'", 1, 3},
	{T("01"), "more text", 1, 2},
	{T("-"), "a digit", 1, 2},
	{T("-01"), "more text", 1, 3},
	{T("+1"), "a value", 1, 1},
	{T(".5"), "a value", 1, 1},
	{T("1."), "a digit", 1, 3},
	{T("1.e5"), "a digit", 1, 3},
	{T("1e"), "a digit", 1, 3},
	{T("1e+"), "a digit", 1, 4},
	{T("0x10"), "more text", 1, 2},
	{T("1_000"), "more text", 1, 2},
	{T("\"a"), "the string has no end", 1, 3},
	{T("\"a\\"), "unknown escape", 1, 3},
	{T("\"a\\\""), "the string has no end", 1, 5},
	{T("\"\\x41\""), "unknown escape", 1, 2},
	{T("\"\\u12g4\""), "four hex digits", 1, 2},
	{T("\"\\u12"), "four hex digits", 1, 2},
	{T("\"\n\""), "control character 0x0a", 1, 2},
	{T("\"\t\""), "control character 0x09", 1, 2},
	{T("\"a\0b\""), "control character 0x00", 1, 3},
	{T("[1]\0"), "more text", 1, 4},
	{T("\0[1]"), "byte 0x00 where a value", 1, 1},
	{T("[1\0]"), "byte 0x00", 1, 3},
	{T("[\v1]"), "byte 0x0b", 1, 2},
	{T("[\xc2\xa0" "1]"), "byte 0xc2", 1, 2},
	{T("[\xef\xbb\xbf" "1]"), "byte 0xef", 1, 2},
	{T("\xef\xbb\xbf"), "ends where a value", 1, 1},
	{T("\xef\xbb"), "byte 0xef", 1, 1},
	{T("\xff\xfe{\0}\0"), "byte 0xff", 1, 1},
	/* surrogates by halves, escaped and raw */
	{T("\"\\uD800\""), "half of a surrogate pair", 1, 2},
	{T("\"\\uDC00\""), "half of a surrogate pair", 1, 2},
	{T("\"\\uDC00\\uD800\""), "half of a surrogate pair", 1, 2},
	{T("\"\\uD800\\n\""), "half of a surrogate pair", 1, 2},
	{T("\"\\uD800\\u0041\""), "half of a surrogate pair", 1, 2},
	{T("\"\\uD800\\uD800\\uDC00\""), "half of a surrogate pair", 1, 2},
	{T("{\"\\uDEAD\":1}"), "half of a surrogate pair", 1, 3},
	{T("\"\xed\xa0\x80\""), "UTF-8", 1, 2},
	/* UTF-8 that is too long, cut, out of range or out of place */
	{T("\"\xc0\xaf\""), "UTF-8", 1, 2},
	{T("\"\xc1\xbf\""), "UTF-8", 1, 2},
	{T("\"\xe0\x9f\xbf\""), "UTF-8", 1, 2},
	{T("\"\xf0\x8f\xbf\xbf\""), "UTF-8", 1, 2},
	{T("\"\xf4\x90\x80\x80\""), "UTF-8", 1, 2},
	{T("\"\xf8\x88\x80\x80\x80\""), "UTF-8", 1, 2},
	{T("\"a\x80\""), "UTF-8", 1, 3},
	{T("\"\xe2\x82\""), "UTF-8", 1, 2},
	{T("\"\xe2\x82"), "UTF-8", 1, 2},
	{T("\"\xff\""), "UTF-8", 1, 2},
	/* names */
	{T("{\"a\":1,\n \"a\":2}"), "duplicate member \"a\"", 2, 2},
	{T("{\"a\":1,\"\\u0061\":2}"), "duplicate member \"a\"", 1, 8},
	{T("{\"a\\/b\":1,\"a/b\":2}"), "duplicate member \"a/b\"", 1, 11},
	{T("{\"\":1,\"\":2}"), "duplicate member \"\"", 1, 7},
	{T("{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\",\"command\":\"rm -rf /w\"}}"),
	 "duplicate member \"command\"", 1, 50},
	{T("[{\"x\":{\"name\":\"read\",\"name\":\"drop\"}}]"), "duplicate member", 1, 22},
	{T("{\"\\u001b[2J\":1,\"\\u001b[2J\":2}"), "duplicate member \"?[2J\"", 1, 16},
	{T("{\"a\\u0000b\":1}"), "NUL in a member's name", 1, 2},
	{T("{\"\\u0000\":1}"), "NUL in a member's name", 1, 2},
};

static void test_reader_accepts_rfc_8259(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
		read_flags(accepted[i], 0);
}

static void test_reader_refuses_and_says_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const struct json_value *value;
		struct json_fault fault = {0};
		struct error err = {""};
		size_t mark = json_arena_mark(arena);
		int r = json_parse(arena, refused[i].text, JSON_DEFAULT_LIMITS, 0, &value, &fault,
				   &err);
		if (r != -EBADMSG || !strstr(err.text, refused[i].why) ||
		    fault.line != refused[i].line || fault.column != refused[i].column)
			fail_msg("%.*s: %d \"%s\" at %u:%u", STR_FMT(refused[i].text), r, err.text,
				 fault.line, fault.column);
		assert_true(json_arena_mark(arena) == mark);
	}
}

/* Each cut of a text is refused, whatever lay in the arena's memory before. */
static void test_reader_refuses_every_cut(void **state)
{
	(void)state;
	static const char text[] =
		"{\"aaaaaaaaaaaaaaaaaaaaaaaaa\":[true,false,null,-1.5e+10,\"\\uD834\\uDD1E\xe2\x82"
		"\xac\\n\"],\"b\":{\"c\":[[],{}]}}";
	size_t mark = json_arena_mark(arena);
	read_text(text);
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		json_arena_rewind(arena, mark);
		assert_int_equal(try_text((struct str){text, len}), -EBADMSG);
	}
}

static void test_comments_only_where_asked(void **state)
{
	(void)state;
	const struct json_value *v = read_flags(
		STR("// a\n{ /* b */ \"x\" /**/ : [1, 2, // c\n], \"y\": { \"z\": 0, }, } // d"),
		JSON_COMMENTS);
	unsigned line, column;
	assert_int_equal(json_length(json_at(v, STR("/x"))), 2);
	assert_int_equal(json_length(json_at(v, STR("/y"))), 1);
	json_place(json_at(v, STR("/y/z")), &line, &column);
	assert_int_equal(line, 3);
	assert_int_equal(column, 16);
	static const char *const bad[] = {
		"/", "/*", "/* *", "{} /*", "[,]", "[1,,]", "{,}", "[1 /x 2]", "[1] // x\n2", "/**/",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (json_parse(arena, str_of(bad[i]), JSON_DEFAULT_LIMITS, JSON_COMMENTS, &v, NULL,
			       NULL) != -EBADMSG)
			fail_msg("%s", bad[i]);
}

/* What has to be looked at closely, at every place of the blocks that strings are read in,
 * and with every length behind it. */
static void test_strings_are_unescaped_at_any_place(void **state)
{
	(void)state;
	static const struct {
		const char *written, *read;
	} pieces[] = {
		{"\\n", "\n"}, {"\\\"", "\""}, {"\\\\", "\\"}, {"\\\\\\\"", "\\\""},
		{"\\u0041", "A"}, {"\\uD834\\uDD1E", "\xf0\x9d\x84\x9e"},
		{"\xc3\xa9", "\xc3\xa9"}, {"\xe2\x82\xac \xe2\x82\xac", "\xe2\x82\xac \xe2\x82\xac"},
		{"\\t\xf0\x9d\x84\x9e\\/", "\t\xf0\x9d\x84\x9e/"}, {"\\b\\f\\r", "\b\f\r"},
	};
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
	size_t mark = json_arena_mark(arena);
	for (size_t p = 0; p < sizeof(pieces) / sizeof(*pieces); p++)
		for (int before = 0; before < 40; before++)
			for (int after = 0; after < 40; after++) {
				char text[256], expected[256];
				struct str string;
				snprintf(text, sizeof(text), "[\"%.*s%s%.*s%s%.*s\",[\"x\"]]", before,
					 plain, pieces[p].written, after % 7, plain,
					 pieces[p].written, after, plain);
				snprintf(expected, sizeof(expected), "%.*s%s%.*s%s%.*s", before, plain,
					 pieces[p].read, after % 7, plain, pieces[p].read, after,
					 plain);
				const struct json_value *v = read_text(text);
				assert_int_equal(json_string(json_item(v, 0), &string), 0);
				assert_str(string, expected);
				assert_int_equal(json_string(json_at(v, STR("/1/0")), &string), 0);
				assert_str(string, "x");
				assert_str(json_raw(v), text);
				json_arena_rewind(arena, mark);
			}
}

/* ---- limits ---------------------------------------------------------------------- */

static int limited(const char *text, size_t bytes, size_t values, unsigned depth)
{
	const struct json_value *value;
	struct json_fault fault;
	return json_parse(arena, str_of(text), (struct json_limits){bytes, values, depth}, 0,
			  &value, &fault, NULL);
}

static void test_limits_hold_exactly(void **state)
{
	(void)state;
	assert_int_equal(limited("[1,2]", 5, 3, 1), 0);
	assert_int_equal(limited("[1,2]", 4, 3, 1), -E2BIG);
	assert_int_equal(limited("[1,2]", 5, 2, 1), -E2BIG);
	assert_int_equal(limited("[1,2]", 5, 3, 0), -E2BIG);
	assert_int_equal(limited("{\"a\":[]}", 99, 99, 1), -E2BIG);
	assert_int_equal(limited("{\"a\":[]}", 99, 2, 2), 0);
	assert_int_equal(limited("1", 99, 0, 9), -E2BIG);
	assert_int_equal(limited("[[[[", 99, 99, 9), -EBADMSG);
}

static void test_limits_have_a_ceiling(void **state)
{
	(void)state;
	char text[2 * (JSON_DEPTH_MAX + 1) + 1] = "";
	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	assert_int_equal(limited(text, SIZE_MAX, SIZE_MAX, UINT32_MAX), -E2BIG);
	assert_int_equal(try_text((struct str){text + 1, 2 * JSON_DEPTH_MAX}), 0);
	assert_int_equal(try_text((struct str){text, JSON_BYTES_MAX + 1}), -E2BIG);
}

/* A text whose tree does not fit is refused, and the next one is read. */
static void test_full_arena_refuses(void **state)
{
	(void)state;
	struct json_arena *small;
	const struct json_value *value;
	assert_int_equal(json_arena_new(1, &small, NULL), 0);
	char text[100001];
	memset(text, ',', sizeof(text));
	for (size_t i = 1; i < sizeof(text); i += 2)
		text[i] = '1';
	text[0] = '[';
	text[sizeof(text) - 1] = ']';
	for (size_t len = 1000; len < sizeof(text); len += 9000) {
		int r = json_parse(small, (struct str){text, sizeof(text)}, JSON_DEFAULT_LIMITS, 0,
				   &value, NULL, NULL);
		assert_int_equal(r, -ENOMEM);
	}
	assert_int_equal(json_parse(small, (struct str){text, sizeof(text)}, JSON_DEFAULT_LIMITS,
				    JSON_BORROW, &value, NULL, NULL), -ENOMEM);
	assert_int_equal(json_parse(small, STR("[1]"), JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL),
			 0);
	assert_null(json_arena_alloc(small, (size_t)1 << 20));
	assert_null(json_arena_alloc(small, SIZE_MAX));
	assert_null(json_arena_text(small, (struct str){text, SIZE_MAX}).ptr);
	json_arena_free(small);
	json_arena_free(NULL);
	assert_int_equal(json_arena_new(SIZE_MAX, &small, NULL), -ENOMEM);
}

struct deep {
	char *text;
	size_t len;
	int result, within;
};

static void *read_deep(void *data)
{
	struct deep *deep = data;
	const struct json_value *value;
	struct json_arena *own;
	if (json_arena_new(JSON_ARENA_DEFAULT, &own, NULL) < 0)
		return NULL;
	deep->result = json_parse(own, (struct str){deep->text, deep->len}, JSON_DEFAULT_LIMITS, 0,
				  &value, NULL, NULL);
	size_t skip = deep->len / 2 - JSON_DEPTH_MAX;
	if (json_parse(own, (struct str){deep->text + skip, 2 * JSON_DEPTH_MAX},
		       JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL) == 0)
		deep->within = json_same(value, value);
	json_arena_free(own);
	return NULL;
}

static void test_depth_needs_no_stack(void **state)
{
	(void)state;
	enum { DEPTH = 200000 };
	struct deep deep = {malloc(2 * DEPTH), 2 * DEPTH, 0, 0};
	memset(deep.text, '[', DEPTH);
	memset(deep.text + DEPTH, ']', DEPTH);
	pthread_attr_t attr;
	pthread_t thread;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, 256 << 10), 0);
	assert_int_equal(pthread_create(&thread, &attr, read_deep, &deep), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	free(deep.text);
	assert_int_equal(deep.result, -E2BIG);
	assert_true(deep.within);
}

/* ---- memory --------------------------------------------------------------------- */

static int faults_on_write(const void *place)
{
	pid_t child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)(uintptr_t)place = 'x';
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	/* a sanitizer turns the signal into an exit status of its own */
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0;
}

static void test_handed_out_memory_is_read_only(void **state)
{
	(void)state;
	const struct json_value *v = read_text("{\"name\":\"text\\n\"}"), *member;
	struct str text;
	struct str name = json_key(v, 0, &member);
	json_string(member, &text);
	assert_int_equal(text.ptr[text.len], 0);
	assert_int_equal(name.ptr[name.len], 0);
	assert_true(faults_on_write(v));
	assert_true(faults_on_write(member));
	assert_true(faults_on_write(name.ptr));
	assert_true(faults_on_write(text.ptr));
	assert_true(faults_on_write(json_raw(member).ptr));
	assert_true(faults_on_write(json_arena_text(arena, STR("x")).ptr));
	char *writable = json_arena_alloc(arena, 1);
	const char *frozen = json_arena_frozen(arena, writable);
	*writable = 'y';
	assert_int_equal(*frozen, 'y');
}

static void test_text_is_copied_unless_borrowed(void **state)
{
	(void)state;
	char text[] = "[1234]";
	const struct json_value *copied = read_flags(str_of(text), 0);
	const struct json_value *borrowed = read_flags(str_of(text), JSON_BORROW);
	assert_ptr_equal(json_raw(borrowed).ptr, text);
	text[1] = '9';
	assert_str(json_raw(copied), "[1234]");
	assert_str(json_raw(json_item(borrowed, 0)), "9234");
}

/* Present pages of the arena's mapping that begins at place. */
static size_t present(const void *place, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), sum = 0, pages = size / page;
	unsigned char *map = malloc(pages);
	uintptr_t start = (uintptr_t)place / page * page;
	if (mincore((void *)start, size, map) == 0)
		for (size_t i = 0; i < pages; i++)
			sum += map[i] & 1;
	free(map);
	return sum * page;
}

static void test_rewind_gives_pages_back(void **state)
{
	(void)state;
	enum { SIZE = 32 << 20 };
	struct json_arena *own;
	assert_int_equal(json_arena_new(JSON_ARENA_DEFAULT, &own, NULL), 0);
	size_t mark = json_arena_mark(own);
	for (int round = 0; round < 2; round++) {
		char *place = json_arena_alloc(own, SIZE);
		memset(place, 1, SIZE);
		assert_true(present(place, SIZE) >= SIZE / 2);
		json_arena_rewind(own, mark);
		assert_ptr_equal(json_arena_alloc(own, 1), place);
		json_arena_rewind(own, mark);
		assert_true(present(place, SIZE) < SIZE / 2);
	}
	json_arena_free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_accepts_rfc_8259),
		cmocka_unit_test(test_reader_refuses_and_says_where),
		cmocka_unit_test(test_reader_refuses_every_cut),
		cmocka_unit_test(test_comments_only_where_asked),
		cmocka_unit_test(test_strings_are_unescaped_at_any_place),
		cmocka_unit_test(test_limits_hold_exactly),
		cmocka_unit_test(test_limits_have_a_ceiling),
		cmocka_unit_test(test_full_arena_refuses),
		cmocka_unit_test(test_depth_needs_no_stack),
		cmocka_unit_test(test_handed_out_memory_is_read_only),
		cmocka_unit_test(test_text_is_copied_unless_borrowed),
		cmocka_unit_test(test_rewind_gives_pages_back),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
