/* test-json-vectors.c - files of texts: y_ must be read, n_ refused, and for those that
 * a reader may do either with (i_) what ours does is written down. */
#include <config.h>

#include "json-helpers.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/io.h"

/* Of the common suite: valid by RFC 8259, and refused here because readers differ. */
static const char *const stricter[] = {
	"y_object_duplicated_key.json",
	"y_object_duplicated_key_and_value.json",
	"y_object_escaped_null_in_key.json",
};

static const struct {
	const char *name;
	int accepted;
} either[] = {
	{"i_number_double_huge_neg_exp.json", 1},
	{"i_number_huge_exp.json", 1},
	{"i_number_neg_int_huge_exp.json", 1},
	{"i_number_pos_double_huge_exp.json", 1},
	{"i_number_real_neg_overflow.json", 1},
	{"i_number_real_pos_overflow.json", 1},
	{"i_number_real_underflow.json", 1},
	{"i_number_too_big_neg_int.json", 1},
	{"i_number_too_big_pos_int.json", 1},
	{"i_number_very_big_negative_int.json", 1},
	{"i_object_key_lone_2nd_surrogate.json", 0},
	{"i_string_1st_surrogate_but_2nd_missing.json", 0},
	{"i_string_1st_valid_surrogate_2nd_invalid.json", 0},
	{"i_string_UTF-16LE_with_BOM.json", 0},
	{"i_string_UTF-8_invalid_sequence.json", 0},
	{"i_string_UTF8_surrogate_U+D800.json", 0},
	{"i_string_incomplete_surrogate_and_escape_valid.json", 0},
	{"i_string_incomplete_surrogate_pair.json", 0},
	{"i_string_incomplete_surrogates_escape_valid.json", 0},
	{"i_string_invalid_lonely_surrogate.json", 0},
	{"i_string_invalid_surrogate.json", 0},
	{"i_string_invalid_utf-8.json", 0},
	{"i_string_inverted_surrogates_U+1D11E.json", 0},
	{"i_string_iso_latin_1.json", 0},
	{"i_string_lone_second_surrogate.json", 0},
	{"i_string_lone_utf8_continuation_byte.json", 0},
	{"i_string_not_in_unicode_range.json", 0},
	{"i_string_overlong_sequence_2_bytes.json", 0},
	{"i_string_overlong_sequence_6_bytes.json", 0},
	{"i_string_overlong_sequence_6_bytes_null.json", 0},
	{"i_string_truncated-utf-8.json", 0},
	{"i_string_utf16BE_no_BOM.json", 0},
	{"i_string_utf16LE_no_BOM.json", 0},
	{"i_structure_500_nested_arrays.json", 1},
	{"i_structure_UTF-8_BOM_empty_object.json", 1},
};

/* 1, 0, or -1 for a file that is no vector; an i_ file without an entry fails. */
static int expected(const char *name)
{
	for (size_t i = 0; i < sizeof(stricter) / sizeof(*stricter); i++)
		if (strcmp(name, stricter[i]) == 0)
			return 0;
	for (size_t i = 0; i < sizeof(either) / sizeof(*either); i++)
		if (strcmp(name, either[i].name) == 0)
			return either[i].accepted;
	if (strncmp(name, "i_", 2) == 0)
		fail_msg("%s: no answer is written down", name);
	return strncmp(name, "y_", 2) == 0 ? 1 : strncmp(name, "n_", 2) == 0 ? 0 : -1;
}

static void check_file(const char *folder, const char *name)
{
	char path[8192];
	_cleanup_free_ char *data = NULL;
	size_t len;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_read_all(fd, JSON_BYTES_MAX, &data, &len, NULL), 0);
	close(fd);
	size_t mark = json_arena_mark(arena);
	struct error err = {"accepted"};
	const struct json_value *value;
	int r = json_parse(arena, (struct str){data, len}, JSON_DEFAULT_LIMITS, 0, &value, NULL,
			   &err);
	if ((r == 0) != expected(name))
		fail_msg("%s: %s", path, err.text);
	json_arena_rewind(arena, mark);
}

static size_t check_folder(const char *folder)
{
	size_t count = 0;
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.' || expected(entry->d_name) < 0)
			continue;
		check_file(folder, entry->d_name);
		count++;
	}
	closedir(dir);
	return count;
}

static char own[4096], common[4096];

static void test_own_vectors_are_judged_by_name(void **state)
{
	(void)state;
	assert_true(check_folder(own) >= 30);
}

static void test_common_suite_is_judged_by_name(void **state)
{
	(void)state;
	assert_true(check_folder(common) >= 300);
}

int main(void)
{
	const char *top = getenv("abs_top_srcdir");
	snprintf(own, sizeof(own), "%s/tests/data/json", top ? top : ".");
	snprintf(common, sizeof(common), "%s/../shared/data/json-test-suite/test_parsing",
		 top ? top : ".");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_vectors_are_judged_by_name),
		cmocka_unit_test(test_common_suite_is_judged_by_name),
	};
	const struct CMUnitTest own_only[] = {
		cmocka_unit_test(test_own_vectors_are_judged_by_name),
	};
	if (access(common, R_OK) == 0)
		return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
	printf("# left out: no %s\n", common);
	return cmocka_run_group_tests(own_only, arena_setup, arena_teardown);
}
