/* test-plugin-descriptor.c - what an entry may return, field by field. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/hosttable.h"
#include "core/plugin.h"

/* Stands in for hosttable.c: only the features are looked at here. */
const pawl_host host_table = {
	.struct_size = sizeof(pawl_host),
	.abi_minor = PAWL_ABI_MINOR,
	.features = PAWL_FEAT_REWRITE | PAWL_FEAT_APPROVAL,
};

static const struct plugin_note note = {.abi_minor = 1, .id = "org.example", .version = "2.1"};

static int32_t open_plugin(const pawl_host *host, const pawl_value *options, void **self)
{
	(void)host, (void)options, (void)self;
	return 0;
}

static int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self, (void)call, (void)reply;
	return PAWL_ALLOW;
}

static const pawl_plugin plain = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = 1,
	.option_size = sizeof(pawl_option),
	.id = "org.example",
	.version = "2.1",
	.open = open_plugin,
	.pre_tool_use = pre_tool_use,
};

static int check(const void *raw, size_t room, pawl_plugin *ret, struct error *err)
{
	err->text[0] = '\0';
	return plugin_descriptor_copy("FILE.so", &note, raw, room, ret, err);
}

static void assert_refused(const pawl_plugin *desc, const char *says)
{
	pawl_plugin ret;
	struct error err;
	assert_int_equal(check(desc, sizeof(*desc), &ret, &err), -ENOEXEC);
	if (!strstr(err.text, says) || strncmp(err.text, "FILE.so: ", 9) != 0)
		fail_msg("wants \"%s\", says: %s", says, err.text);
}

static void test_descriptor_is_copied(void **state)
{
	pawl_plugin ret;
	struct error err;
	(void)state;
	assert_int_equal(check(&plain, sizeof(plain), &ret, &err), 0);
	assert_memory_equal(&ret, &plain, sizeof(plain));
}

static void test_null_is_refused(void **state)
{
	pawl_plugin ret;
	struct error err;
	(void)state;
	assert_int_equal(check(NULL, 0, &ret, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "NULL"));
}

static void test_pointer_outside_is_refused(void **state)
{
	pawl_plugin ret;
	struct error err;
	(void)state;
	for (size_t room = 0; room < sizeof(plain); room++) {
		assert_int_equal(check(&plain, room, &ret, &err), -ENOEXEC);
		assert_non_null(strstr(err.text, "outside"));
	}
}

static void test_struct_size_is_checked(void **state)
{
	static const uint32_t sizes[] = {0, 1, 8, offsetof(pawl_plugin, open),
					 sizeof(pawl_plugin) - 1, sizeof(pawl_plugin) - 4,
					 PLUGIN_DESCRIPTOR_MAX + 8, UINT32_MAX};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pawl_plugin desc = plain;
		desc.struct_size = sizes[i];
		assert_refused(&desc, "struct_size");
	}
}

/* An older, shorter header: hooks behind its end are not read, whatever lies there. */
static void test_shorter_descriptor_reads_as_zero(void **state)
{
	pawl_plugin desc = plain, ret;
	struct error err;
	(void)state;
	desc.struct_size = offsetof(pawl_plugin, pre_model_call);
	memset((char *)&desc + desc.struct_size, 0xff, sizeof(desc) - desc.struct_size);
	assert_int_equal(check(&desc, sizeof(desc), &ret, &err), 0);
	assert_ptr_equal(ret.pre_tool_use, plain.pre_tool_use);
	assert_null(ret.pre_model_call);
	assert_null(ret.stop);
}

static void test_longer_descriptor_needs_zero_tail(void **state)
{
	struct {
		pawl_plugin desc;
		char more[64];
	} later = {.desc = plain};
	pawl_plugin ret;
	struct error err;
	(void)state;
	later.desc.struct_size = sizeof(later);
	assert_int_equal(check(&later, sizeof(later), &ret, &err), 0);
	later.more[63] = 1;
	assert_int_equal(check(&later, sizeof(later), &ret, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "never call"));
}

/* Nothing past the last readable byte is touched. */
static void test_descriptor_at_page_end_is_read(void **state)
{
	pawl_plugin ret;
	struct error err;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	(void)state;
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	char *place = pages + page - sizeof(plain);
	memcpy(place, &plain, sizeof(plain));
	assert_int_equal(check(place, sizeof(plain), &ret, &err), 0);
	uint32_t size = PLUGIN_DESCRIPTOR_MAX;
	memcpy(place, &size, sizeof(size));
	assert_int_equal(check(place, sizeof(plain), &ret, &err), -ENOEXEC);
	munmap(pages, 2 * page);
}

static void test_identity_has_to_be_the_notes(void **state)
{
	static const char *const wrong[] = {NULL, "", "org.exampl", "org.example2", "2.1.0", "2."};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pawl_plugin desc = plain;
		desc.id = wrong[i];
		assert_refused(&desc, "id is not");
		desc = plain;
		desc.version = wrong[i];
		assert_refused(&desc, "version is not");
	}
	pawl_plugin desc = plain;
	desc.abi_minor = 9999;
	assert_refused(&desc, "abi_minor is 9999");
	desc = plain;
	desc.summary = "two\nlines";
	assert_refused(&desc, "one line");
}

static void test_unknown_need_is_refused(void **state)
{
	pawl_plugin desc = plain, ret;
	struct error err;
	(void)state;
	desc.needs = PAWL_FEAT_REWRITE;
	assert_int_equal(check(&desc, sizeof(desc), &ret, &err), 0);
	desc.needs = PAWL_FEAT_REWRITE | PAWL_FEAT_GRANT;
	assert_refused(&desc, "\"grant\"");
	desc.needs = UINT64_C(1) << 63;
	assert_refused(&desc, "bit 63");
}

static void test_mandatory_functions_are_checked(void **state)
{
	pawl_plugin desc = plain;
	(void)state;
	desc.open = NULL;
	assert_refused(&desc, "no open");
	desc = plain;
	desc.pre_tool_use = NULL;
	assert_refused(&desc, "no hook");
	desc = plain;
	desc.threads = 3;
	assert_refused(&desc, "threads is 3");
	desc.threads = -1;
	assert_refused(&desc, "threads is -1");
}

static void test_option_table_is_checked(void **state)
{
	static const struct {
		pawl_option option;
		const char *says;
	} cases[] = {
		{{"", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, "its name"},
		{{"Name", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, "its name"},
		{{"9a", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, "its name"},
		{{"a b", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, "its name"},
		{{"first", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, "twice"},
		{{"x", 0, 0, NULL, NULL, NULL}, "its type is 0"},
		{{"x", 99, 0, NULL, NULL, NULL}, "its type is 99"},
		{{"x", -1, 0, NULL, NULL, NULL}, "its type is -1"},
		{{"x", PAWL_OPT_STRING, 4, NULL, NULL, NULL}, "flags 0x4"},
		{{"x", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, "\"y\"", NULL, NULL}, "has a default"},
		{{"x", PAWL_OPT_STRING, 0, NULL, "a\nb", NULL}, "its help"},
		{{"x", PAWL_OPT_INTEGER, 0, NULL, NULL, "1|2"}, "have choices"},
		{{"x", PAWL_OPT_STRING, 0, NULL, NULL, ""}, "its choices"},
		{{"x", PAWL_OPT_STRING, 0, NULL, NULL, "a|"}, "its choices"},
		{{"x", PAWL_OPT_STRING, 0, NULL, NULL, "|a"}, "its choices"},
		{{"x", PAWL_OPT_STRING, 0, NULL, NULL, "a||b"}, "its choices"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pawl_option table[] = {{"first", PAWL_OPT_STRINGS, 0, NULL, "h", "a|b"},
				       cases[i].option,
				       {NULL, 0, 0, NULL, NULL, NULL}};
		pawl_plugin desc = plain;
		desc.options = table;
		assert_refused(&desc, cases[i].says);
	}
}

static void test_option_size_is_checked(void **state)
{
	static const uint32_t sizes[] = {0, 8, sizeof(pawl_option) - 8, sizeof(pawl_option) + 4,
					 PLUGIN_OPTION_SIZE_MAX + 8, UINT32_MAX};
	pawl_option table[] = {{NULL, 0, 0, NULL, NULL, NULL}};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pawl_plugin desc = plain;
		desc.options = table;
		desc.option_size = sizes[i];
		assert_refused(&desc, "option_size");
	}
}

static void test_option_table_without_end_is_refused(void **state)
{
	static char names[PLUGIN_OPTIONS_MAX + 2][8];
	static pawl_option table[PLUGIN_OPTIONS_MAX + 2];
	(void)state;
	for (size_t i = 0; i < PLUGIN_OPTIONS_MAX + 2; i++) {
		snprintf(names[i], sizeof(names[i]), "o%zu", i);
		table[i] = (pawl_option){names[i], PAWL_OPT_STRING, 0, NULL, NULL, NULL};
	}
	pawl_plugin desc = plain;
	desc.options = table;
	assert_refused(&desc, "more than 256 options");
}

/* A later header's longer element: walked by its own size, its tail must be zero. */
static void test_longer_option_is_walked_by_its_size(void **state)
{
	struct {
		pawl_option option;
		const char *more;
	} table[] = {{{"a", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, NULL},
		     {{"b", PAWL_OPT_STRING, 0, NULL, NULL, NULL}, NULL},
		     {{NULL, 0, 0, NULL, NULL, NULL}, NULL}};
	pawl_plugin desc = plain, ret;
	pawl_option option;
	struct error err;
	(void)state;
	desc.options = &table[0].option;
	desc.option_size = sizeof(table[0]);
	assert_int_equal(check(&desc, sizeof(desc), &ret, &err), 0);
	assert_true(plugin_option_get(&ret, 1, &option));
	assert_string_equal(option.name, "b");
	assert_false(plugin_option_get(&ret, 2, &option));
	table[1].more = "set";
	assert_refused(&desc, "option 2 uses something");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptor_is_copied),
		cmocka_unit_test(test_null_is_refused),
		cmocka_unit_test(test_pointer_outside_is_refused),
		cmocka_unit_test(test_struct_size_is_checked),
		cmocka_unit_test(test_shorter_descriptor_reads_as_zero),
		cmocka_unit_test(test_longer_descriptor_needs_zero_tail),
		cmocka_unit_test(test_descriptor_at_page_end_is_read),
		cmocka_unit_test(test_identity_has_to_be_the_notes),
		cmocka_unit_test(test_unknown_need_is_refused),
		cmocka_unit_test(test_mandatory_functions_are_checked),
		cmocka_unit_test(test_option_table_is_checked),
		cmocka_unit_test(test_option_size_is_checked),
		cmocka_unit_test(test_option_table_without_end_is_refused),
		cmocka_unit_test(test_longer_option_is_walked_by_its_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
