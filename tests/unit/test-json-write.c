/* test-json-write.c - the writer, loaded as the worker loads it. */
#include <config.h>

#include "json-helpers.h"

#include <dlfcn.h>

#include "json/write.h"

static const struct json_writer *writer(void)
{
	struct error err = {""};
	const struct json_writer *w = json_writer_get(&err);
	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static void test_writer_writes_one_plain_line(void **state)
{
	(void)state;
	const struct json_writer *w = writer();
	struct json_object *o = w->object(), *a = w->array();
	w->add_text(o, "text", STR("a/\"\n\x01\xc3\xa9"));
	w->add_raw(o, "raw", STR("{ \"x\" : [1e400,-0] }"));
	w->add_integer(o, "least", INT64_MIN);
	w->add_bool(o, "yes", 7);
	w->add_null(o, "none");
	w->add_text(a, NULL, (struct str){NULL, 0});
	w->add_integer(a, NULL, 1);
	w->add_null(a, NULL);
	w->add(o, "list", a);
	assert_str(w->text(o), "{\"text\":\"a/\\\"\\n\\u0001\xc3\xa9\",\"raw\":{ \"x\" : [1e400,-0] },"
			       "\"least\":-9223372036854775808,\"yes\":true,\"none\":null,"
			       "\"list\":[\"\",1,null]}");
	w->free(o);
}

static void test_writer_makes_text_valid(void **state)
{
	(void)state;
	static const struct {
		struct str in;
		const char *out;
	} cases[] = {
		{{"\xff", 1}, "[\"\xef\xbf\xbd\"]"},
		{{"a long, plain beginning \xe2\x82", 26},
		 "[\"a long, plain beginning \xef\xbf\xbd\xef\xbf\xbd\"]"},
		{{"\xed\xa0\x80", 3}, "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]"},
		{{"\xf0\x9d\x84\x9e and \x80 more", 15}, "[\"\xf0\x9d\x84\x9e and \xef\xbf\xbd more\"]"},
		{{"a\0b", 3}, "[\"a\\u0000b\"]"},
	};
	const struct json_writer *w = writer();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json_object *a = w->array();
		w->add_text(a, NULL, cases[i].in);
		assert_str(w->text(a), cases[i].out);
		read_flags(w->text(a), 0);
		w->free(a);
	}
}

/* What could not be added makes no text at all, not one that lacks it. */
static void test_writer_spoils_what_it_cannot_add(void **state)
{
	(void)state;
	const struct json_writer *w = writer();
	struct json_object *o = w->object(), *inner = w->object();
	w->add(inner, "x", NULL);
	w->add(o, "inner", inner);
	assert_null(w->text(o).ptr);
	w->free(o);
	o = w->object();
	w->add_raw(o, "raw", (struct str){"", 0});
	assert_null(w->text(o).ptr);
	w->free(o);
	assert_null(w->text(NULL).ptr);
	w->free(NULL);
}

static void test_writer_keeps_json_c_to_itself(void **state)
{
	(void)state;
	writer();
	assert_null(dlsym(RTLD_DEFAULT, "json_object_new_object"));
	assert_ptr_equal(json_writer_get(NULL), writer());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_writes_one_plain_line),
		cmocka_unit_test(test_writer_makes_text_valid),
		cmocka_unit_test(test_writer_spoils_what_it_cannot_add),
		cmocka_unit_test(test_writer_keeps_json_c_to_itself),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
