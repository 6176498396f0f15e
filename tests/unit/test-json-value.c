/* test-json-value.c - looking at frozen values. */
#include <config.h>

#include "json-helpers.h"

#include <errno.h>
#include <float.h>

static void test_accessors_tell_types_apart(void **state)
{
	(void)state;
	const struct json_value *v = read_text("[null,true,false,1,\"a\\u0000b\",[1,2],{\"x\":1}]");
	static const enum json_type types[] = {
		JSON_NULL, JSON_BOOL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT,
	};
	static const size_t lengths[] = {0, 0, 0, 0, 3, 2, 1};
	int64_t integer;
	double real;
	int yes;
	struct str text;
	for (size_t i = 0; i < 7; i++) {
		const struct json_value *item = json_item(v, i);
		assert_int_equal(json_type(item), types[i]);
		assert_int_equal(json_length(item), lengths[i]);
		assert_int_equal(json_integer(item, &integer), i == 3 ? 0 : -EPROTOTYPE);
		assert_int_equal(json_real(item, &real), i == 3 ? 0 : -EPROTOTYPE);
		assert_int_equal(json_string(item, &text), i == 4 ? 0 : -EPROTOTYPE);
		assert_int_equal(json_boolean(item, &yes), i == 1 || i == 2 ? 0 : -EPROTOTYPE);
		if (i == 1 || i == 2)
			assert_int_equal(yes, i == 1);
		assert_true((json_member(item, STR("x")) != NULL) == (i == 6));
		assert_true((json_item(item, 0) != NULL) == (i == 5));
		assert_true((json_key(item, 0, NULL).ptr != NULL) == (i == 6));
	}
	assert_int_equal(json_string(json_item(v, 4), &text), 0);
	assert_memory_equal(text.ptr, "a\0b", 4);
	assert_null(json_item(v, 7));
	assert_null(json_item(v, SIZE_MAX));
}

static void test_accessors_take_null(void **state)
{
	(void)state;
	int64_t integer;
	double real;
	int yes;
	struct str text;
	unsigned line, column;
	const struct json_value *value = (const struct json_value *)1;
	assert_int_equal(json_type(NULL), JSON_NULL);
	assert_int_equal(json_length(NULL), 0);
	assert_null(json_member(NULL, STR("a")));
	assert_null(json_item(NULL, 0));
	assert_null(json_at(NULL, STR("/a")));
	assert_null(json_key(NULL, 0, &value).ptr);
	assert_null(value);
	assert_null(json_raw(NULL).ptr);
	assert_int_equal(json_string(NULL, &text), -ENOENT);
	assert_int_equal(json_integer(NULL, &integer), -ENOENT);
	assert_int_equal(json_real(NULL, &real), -ENOENT);
	assert_int_equal(json_boolean(NULL, &yes), -ENOENT);
	assert_true(json_same(NULL, NULL));
	assert_false(json_same(NULL, read_text("null")));
	json_place(NULL, &line, &column);
	assert_null(json_member(read_text("{\"\":1}"), (struct str){NULL, 0}));
	assert_non_null(json_member(read_text("{\"\":1}"), STR("")));
}

/* ---- numbers ---------------------------------------------------------------------- */

static const struct {
	const char *text;
	int result;
	int64_t value;
} integers[] = {
	{"10", 0, 10}, {"10.0", 0, 10}, {"1e1", 0, 10}, {"100e-1", 0, 10}, {"1.0E+1", 0, 10},
	{"0.1e2", 0, 10}, {"0.0010e4", 0, 10}, {"0", 0, 0}, {"-0", 0, 0}, {"-0.0e-5", 0, 0},
	{"0e99999999999999999999", 0, 0}, {"0.000e-99999999999999999999", 0, 0},
	{"1915883588174806058", 0, 1915883588174806058},
	{"9223372036854775807", 0, INT64_MAX}, {"-9223372036854775808", 0, INT64_MIN},
	{"9223372036854775807.000", 0, INT64_MAX}, {"0.9223372036854775807e19", 0, INT64_MAX},
	{"92233720368547758070e-1", 0, INT64_MAX}, {"1e18", 0, 1000000000000000000},
	{"9e18", 0, 9000000000000000000}, {"-1e0000000000000000000000001", 0, -10},
	{"9223372036854775808", -ERANGE, 0}, {"-9223372036854775809", -ERANGE, 0},
	{"9223372036854775807.5", -ERANGE, 0}, {"1.5", -ERANGE, 0}, {"1e-1", -ERANGE, 0},
	{"1e19", -ERANGE, 0}, {"1e400", -ERANGE, 0}, {"-1e400", -ERANGE, 0},
	{"1e-400", -ERANGE, 0}, {"1e99999999999999999999", -ERANGE, 0},
	{"1e-99999999999999999999", -ERANGE, 0}, {"18446744073709551616", -ERANGE, 0},
	{"18446744073709551626", -ERANGE, 0}, {"99999999999999999999", -ERANGE, 0},
};

static void test_integer_is_exact_or_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
		int64_t value = 0;
		int r = json_integer(read_text(integers[i].text), &value);
		if (r != integers[i].result || value != integers[i].value)
			fail_msg("%s: %d %lld", integers[i].text, r, (long long)value);
	}
}

static void test_real_is_nearest_or_refused(void **state)
{
	(void)state;
	double real = 1;
	assert_int_equal(json_real(read_text("0.1000"), &real), 0);
	assert_true(real == 0.1);
	assert_int_equal(json_real(read_text("-1.7976931348623157e308"), &real), 0);
	assert_true(real == -DBL_MAX);
	assert_int_equal(json_real(read_text("1e400"), &real), -ERANGE);
	assert_int_equal(json_real(read_text("-1e400"), &real), -ERANGE);
	assert_int_equal(json_real(read_text("[1e-400]"), &real), -EPROTOTYPE);
	assert_int_equal(json_real(json_item(read_text("[1e-400]"), 0), &real), 0);
	assert_true(real == 0);
	assert_int_equal(json_real(json_item(read_text("[3,4]"), 0), &real), 0);
	assert_true(real == 3);
}

/* ---- pointers ------------------------------------------------------------------------ */

static void test_pointer_follows_rfc_6901(void **state)
{
	(void)state;
	const struct json_value *v = read_text(
		"{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
		"\"k\\\"l\":6,\" \":7,\"m~n\":8,\"~1\":9,\"0\":{\"01\":10}}");
	static const struct {
		const char *pointer, *raw;
	} cases[] = {
		{"/foo/0", "\"bar\""}, {"/foo/1", "\"baz\""}, {"/", "0"}, {"/a~1b", "1"},
		{"/c%d", "2"}, {"/e^f", "3"}, {"/g|h", "4"}, {"/i\\j", "5"}, {"/k\"l", "6"},
		{"/ ", "7"}, {"/m~0n", "8"}, {"/~01", "9"}, {"/0/01", "10"}, {"/foo/2", NULL},
		{"/foo/00", NULL}, {"/foo/01", NULL}, {"/foo/-", NULL}, {"/foo/+1", NULL},
		{"/foo/", NULL}, {"/foo/ 1", NULL}, {"/foo/18446744073709551616", NULL},
		{"/foo/4294967296", NULL}, {"/foo/0/x", NULL}, {"/nope", NULL}, {"foo", NULL},
		{"/m~n", NULL}, {"/m~", NULL}, {"/~2", NULL}, {"/foo/0/", NULL}, {"//", NULL},
		{"/foo/-1", NULL},
	};
	assert_ptr_equal(json_at(v, STR("")), v);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str raw = json_raw(json_at(v, str_of(cases[i].pointer)));
		if (!str_is(raw, cases[i].raw ? cases[i].raw : "") ||
		    (raw.ptr == NULL) != (cases[i].raw == NULL))
			fail_msg("%s: %.*s", cases[i].pointer, STR_FMT(raw));
	}
}

/* ---- members ---------------------------------------------------------------------- */

/* A name is written, number, after; names that differ only in the middle share their
 * sign. */
struct kind {
	const char *written, *read; /* before the number, in the text and unescaped */
	int width;
	const char *after;
};

static const struct kind kinds[] = {
	{"", "", 1, ""},
	{"", "", 7, ""},
	{"member_", "member_", 5, ""},
	{"same-first-bytes-", "same-first-bytes-", 7, "-same-last-bytes"},
	{"\\u0041", "A", 8, ""},
	{"aaaaaaaa", "aaaaaaaa", 9, "bbbbbbbb"},
};

/* {"NAME":0,"NAME":1,...}, and once more the name of number again when that is less. */
static char *many(size_t count, const struct kind *kind, size_t again)
{
	char *text = malloc((count + 1) * 80 + 3), *at = text;
	size_t all = count + (again < count);
	*at++ = '{';
	for (size_t i = 0; i < all; i++)
		at += sprintf(at, "%s\"%s%0*zu%s\":%zu", i ? "," : "", kind->written, kind->width,
			      i < count ? i : again, kind->after, i);
	memcpy(at, "}", 2);
	return text;
}

static void check_members(const struct kind *kind, size_t count)
{
	char *text = many(count, kind, SIZE_MAX);
	const struct json_value *v = read_text(text), *value;
	free(text);
	assert_int_equal(json_length(v), count);
	for (size_t i = 0; i < count; i++) {
		char name[64];
		int64_t number;
		int n = sprintf(name, "%s%0*zu%s", kind->read, kind->width, i, kind->after);
		assert_str(json_key(v, i, &value), name);
		assert_ptr_equal(json_member(v, (struct str){name, (size_t)n}), value);
		assert_int_equal(json_integer(value, &number), 0);
		assert_int_equal(number, i);
		name[n] = 'x';
		assert_null(json_member(v, (struct str){name, (size_t)n + 1}));
	}
	assert_null(json_member(v, STR("")));
	assert_null(json_key(v, count, &value).ptr);
}

static void test_members_are_found_in_any_size(void **state)
{
	(void)state;
	static const size_t counts[] = {1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 64, 65, 1000, 5000};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			check_members(&kinds[k], counts[i]);
}

static void test_duplicates_are_found_in_any_size(void **state)
{
	(void)state;
	static const size_t counts[] = {1, 2, 3, 15, 16, 17, 33, 5000};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			for (size_t again = 0; again < counts[i]; again += counts[i] / 3 + 1) {
				char *text = many(counts[i], &kinds[k], again);
				assert_int_equal(try_text(str_of(text)), -EBADMSG);
				free(text);
			}
}

/* Names in whose sign anyone can make collisions, and lots of them: the time is not
 * measured, but were it quadratic this would not end. */
static void test_colliding_names_cost_no_more(void **state)
{
	(void)state;
	size_t mark = json_arena_mark(arena);
	char *text = many(400000, &kinds[5], SIZE_MAX);
	assert_int_equal(json_length(read_text(text)), 400000);
	free(text);
	json_arena_rewind(arena, mark);
}

/* ---- raw text, comparing ------------------------------------------------------------- */

static void test_raw_keeps_every_byte(void **state)
{
	(void)state;
	const struct json_value *v = read_text(
		" {\"id\":1915883588174806058, \"x\" : 1e400 ,\"y\":0.1000,\"z\":-0,\"s\":\"\\u00e9\\/\","
		"\"a\":[ 1 , 2 ],\"o\":{ },\"t\":true} ");
	static const char *const raws[] = {
		"1915883588174806058", "1e400", "0.1000", "-0", "\"\\u00e9\\/\"", "[ 1 , 2 ]",
		"{ }", "true",
	};
	for (size_t i = 0; i < 8; i++) {
		const struct json_value *value;
		json_key(v, i, &value);
		assert_str(json_raw(value), raws[i]);
	}
	assert_int_equal(json_raw(v).ptr[0], '{');
	assert_int_equal(json_raw(v).ptr[json_raw(v).len - 1], '}');
}

static void test_same_compares_values_not_text(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		int same;
	} cases[] = {
		{"{\"a\":1,\"b\":[2]}", "{ \"b\":[2.0],\"a\":10e-1 }", 1},
		{"{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}", 0},
		{"{\"a\":1}", "{\"a\":1,\"b\":1}", 0},
		{"[1,2]", "[2,1]", 0}, {"[[],{}]", "[{},[]]", 0}, {"[]", "[[]]", 0},
		{"[[1],[2]]", "[[1],[2]]", 1}, {"[[1],[2]]", "[[1],[3]]", 0},
		{"\"\\u00e9\"", "\"\xc3\xa9\"", 1}, {"\"a\"", "\"A\"", 0}, {"\"1\"", "1", 0},
		{"null", "false", 0}, {"true", "true", 1}, {"true", "false", 0},
		{"0", "-0.0e9", 1}, {"1e400", "10e399", 1}, {"1e400", "1e401", 0},
		{"1", "-1", 0}, {"0.1", "1e-1", 1}, {"12.5", "125e-1", 1}, {"12.5", "1.25", 0},
		{"9007199254740993", "9007199254740992", 0}, {"100", "1", 0}, {"1.01", "1.001", 0},
		{"1e99999999999999999999", "1e99999999999999999999", 1},
		{"1e99999999999999999999", "1e99999999999999999998", 0},
		{"0e99999999999999999999", "0", 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct json_value *a = read_text(cases[i].a), *b = read_text(cases[i].b);
		if (json_same(a, b) != cases[i].same || json_same(b, a) != cases[i].same)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	}
}

static void test_place_counts_from_one(void **state)
{
	(void)state;
	unsigned line, column;
	const struct json_value *v = read_text("\xef\xbb\xbf[1,\r\n\n  \"\\n\", {\"a\":2}]");
	static const unsigned places[][2] = {{1, 2}, {3, 3}, {3, 9}};
	for (size_t i = 0; i < 3; i++) {
		json_place(json_item(v, i), &line, &column);
		assert_int_equal(line, places[i][0]);
		assert_int_equal(column, places[i][1]);
	}
	json_place(json_at(v, STR("/2/a")), &line, &column);
	assert_int_equal(column, 14);
	json_place(v, &line, &column);
	assert_int_equal(column, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accessors_tell_types_apart),
		cmocka_unit_test(test_accessors_take_null),
		cmocka_unit_test(test_integer_is_exact_or_refused),
		cmocka_unit_test(test_real_is_nearest_or_refused),
		cmocka_unit_test(test_pointer_follows_rfc_6901),
		cmocka_unit_test(test_members_are_found_in_any_size),
		cmocka_unit_test(test_duplicates_are_found_in_any_size),
		cmocka_unit_test(test_colliding_names_cost_no_more),
		cmocka_unit_test(test_raw_keeps_every_byte),
		cmocka_unit_test(test_same_compares_values_not_text),
		cmocka_unit_test(test_place_counts_from_one),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
