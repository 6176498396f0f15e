/* test-json-differ.c - random valid texts are read alike by json-c. */
#include <config.h>

#include "json-helpers.h"

/* both have a type of this name */
#define json_type json_c_type
#include <json-c/json.h>
#undef json_type

enum { TEXTS = 3000, TEXT_MAX = 1 << 16 };

static uint64_t seed = 42;

static unsigned any(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

static char text[TEXT_MAX + 1024];
static size_t len;

static void put(const char *piece)
{
	size_t n = strlen(piece);
	memcpy(text + len, piece, n);
	len += n;
}

static void put_space(void)
{
	static const char *const spaces[] = {"", "", "", " ", "\n\t", "\r\n        "};
	put(spaces[any(6)]);
}

static void put_string(unsigned number)
{
	static const char *const pieces[] = {
		"a", "plain words", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\uD834\\uDD1E",
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x84\x9e", "{", "]", ",", "0123456789abcdef",
		"\\b\\f\\r\\t", "\x7f",
	};
	char unique[16];
	put("\"");
	if (number != UINT32_MAX) {
		snprintf(unique, sizeof(unique), "%u", number);
		put(unique);
	}
	/* now and then longer than a few blocks of the scan */
	for (unsigned i = any(len > TEXT_MAX / 4 || any(8) ? 6 : 120); i > 0; i--)
		put(pieces[any(sizeof(pieces) / sizeof(*pieces))]);
	put("\"");
}

static void put_scalar(void)
{
	char number[64];
	switch (any(6)) {
	case 0:
		put(any(2) ? "true" : "false");
		break;
	case 1:
		put("null");
		break;
	case 2:
		snprintf(number, sizeof(number), "%lld",
			 (long long)((int64_t)any(UINT32_MAX) * any(UINT32_MAX) - INT32_MAX));
		put(number);
		break;
	case 3:
		snprintf(number, sizeof(number), "%s%u.%ue%d", any(2) ? "-" : "", any(1000),
			 any(100000), (int)any(40) - 20);
		put(number);
		break;
	default:
		put_string(UINT32_MAX);
	}
}

static void put_value(unsigned depth)
{
	put_space();
	if (depth == 0 || any(3) == 0 || len > TEXT_MAX / 2) {
		put_scalar();
	} else {
		bool object = any(2);
		unsigned count = any(10) == 0 ? any(40) : any(6);
		put(object ? "{" : "[");
		for (unsigned i = 0; i < count; i++) {
			put(i ? "," : "");
			put_space();
			if (object) {
				put_string(i * 100 + any(100));
				put_space();
				put(":");
			}
			put_value(depth - 1);
		}
		put_space();
		put(object ? "}" : "]");
	}
	put_space();
}

static void compare(const struct json_value *ours, struct json_object *theirs);

static void compare_number(const struct json_value *ours, struct json_object *theirs)
{
	double real;
	int64_t integer;
	assert_int_equal(json_real(ours, &real), 0);
	assert_true(real == json_object_get_double(theirs));
	if (json_object_is_type(theirs, json_type_int)) {
		assert_int_equal(json_integer(ours, &integer), 0);
		assert_true(integer == json_object_get_int64(theirs));
	}
}

static void compare_object(const struct json_value *ours, struct json_object *theirs)
{
	size_t i = 0;
	assert_int_equal(json_length(ours), json_object_object_length(theirs));
	json_object_object_foreach(theirs, name, child) {
		const struct json_value *value;
		struct str key = json_key(ours, i++, &value);
		assert_str(key, name);
		assert_ptr_equal(json_member(ours, str_of(name)), value);
		compare(value, child);
	}
}

static void compare(const struct json_value *ours, struct json_object *theirs)
{
	static const enum json_type types[] = {
		[json_type_null] = JSON_NULL,     [json_type_boolean] = JSON_BOOL,
		[json_type_double] = JSON_NUMBER, [json_type_int] = JSON_NUMBER,
		[json_type_object] = JSON_OBJECT, [json_type_array] = JSON_ARRAY,
		[json_type_string] = JSON_STRING,
	};
	struct str string;
	int yes;
	assert_int_equal(json_type(ours), types[json_object_get_type(theirs)]);
	switch (json_type(ours)) {
	case JSON_NULL:
		break;
	case JSON_BOOL:
		assert_int_equal(json_boolean(ours, &yes), 0);
		assert_int_equal(yes, json_object_get_boolean(theirs));
		break;
	case JSON_NUMBER:
		compare_number(ours, theirs);
		break;
	case JSON_STRING:
		assert_int_equal(json_string(ours, &string), 0);
		assert_int_equal(string.len, json_object_get_string_len(theirs));
		assert_memory_equal(string.ptr, json_object_get_string(theirs), string.len + 1);
		break;
	case JSON_ARRAY:
		assert_int_equal(json_length(ours), json_object_array_length(theirs));
		for (size_t i = 0; i < json_length(ours); i++)
			compare(json_item(ours, i), json_object_array_get_idx(theirs, i));
		break;
	case JSON_OBJECT:
		compare_object(ours, theirs);
	}
}

static void test_generated_texts_are_read_alike(void **state)
{
	(void)state;
	size_t mark = json_arena_mark(arena);
	for (int i = 0; i < TEXTS; i++) {
		len = 0;
		put_value(5);
		text[len] = '\0';
		const struct json_value *ours = read_text(text);
		struct json_tokener *tokener = json_tokener_new();
		struct json_object *theirs = json_tokener_parse_ex(tokener, text, (int)len + 1);
		if (json_tokener_get_error(tokener) != json_tokener_success)
			fail_msg("json-c: %s", text);
		compare(ours, theirs);
		/* and the other way: what it writes is the same to us */
		const char *written = json_object_to_json_string_ext(theirs, 0);
		struct json_object *again = json_tokener_parse(written);
		compare(read_text(written), again);
		json_object_put(again);
		json_object_put(theirs);
		json_tokener_free(tokener);
		json_arena_rewind(arena, mark);
	}
}

/* Read where it lies and with nothing behind it, a text's end is gone over byte by byte,
 * while a copy is read block by block: both say the same. */
static void assert_borrowed_alike(void)
{
	const struct json_value *copied, *lent;
	struct json_fault at = {0, 0, 0}, lent_at = {0, 0, 0};
	struct error err = {""}, lent_err = {""};
	struct str whole = {malloc(len), len};
	assert_non_null(whole.ptr);
	memcpy((char *)(uintptr_t)whole.ptr, text, len);
	int r = json_parse(arena, whole, JSON_DEFAULT_LIMITS, 0, &copied, &at, &err);
	assert_int_equal(json_parse(arena, whole, JSON_DEFAULT_LIMITS, JSON_BORROW, &lent,
				    &lent_at, &lent_err), r);
	assert_int_equal(at.offset, lent_at.offset);
	assert_string_equal(err.text, lent_err.text);
	assert_true(r < 0 || json_same(copied, lent));
	free((char *)(uintptr_t)whole.ptr);
}

/* One string of up to a few blocks, one byte of it changed. */
static void test_changed_strings_are_read_alike_wherever_they_lie(void **state)
{
	(void)state;
	size_t mark = json_arena_mark(arena);
	for (int i = 0; i < 10 * TEXTS; i++) {
		len = 0;
		put("[");
		for (unsigned n = any(8); n > 0; n--) {
			put_string(UINT32_MAX);
			put(",");
		}
		put_string(UINT32_MAX);
		put("]");
		assert_borrowed_alike();
		text[any((unsigned)len)] = (char)any(256);
		assert_borrowed_alike();
		json_arena_rewind(arena, mark);
	}
}

/* Every single changed byte of a valid text: nothing that json-c refuses is read. */
static void test_changed_texts_are_refused_at_least_as_often(void **state)
{
	(void)state;
	size_t mark = json_arena_mark(arena);
	struct json_tokener *tokener = json_tokener_new();
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	for (int i = 0; i < TEXTS; i++) {
		len = 0;
		put_value(3);
		text[any((unsigned)len)] = (char)any(256);
		text[len] = '\0';
		const struct json_value *ours;
		if (strlen(text) == len && json_parse(arena, (struct str){text, len},
						      JSON_DEFAULT_LIMITS, 0, &ours, NULL,
						      NULL) == 0) {
			json_tokener_reset(tokener);
			struct json_object *theirs =
				json_tokener_parse_ex(tokener, text, (int)len + 1);
			if (json_tokener_get_error(tokener) != json_tokener_success)
				fail_msg("only read by us: %s", text);
			json_object_put(theirs);
		}
		json_arena_rewind(arena, mark);
	}
	json_tokener_free(tokener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_texts_are_read_alike),
		cmocka_unit_test(test_changed_strings_are_read_alike_wherever_they_lie),
		cmocka_unit_test(test_changed_texts_are_refused_at_least_as_often),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
