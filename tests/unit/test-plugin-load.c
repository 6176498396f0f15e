/* test-plugin-load.c - from a name in a folder to an opened plugin. */
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
#include "core/hosttable.h"
#include "core/plugin.h"
#include "core/trust.h"

/* ---- what stands in for the rest of the core ------------------------------------- */

static void set_error(const pawl_host *host, pawl_str message)
{
	struct plugin *plugin = host->host_data;
	size_t len = message.len < sizeof(plugin->error_text) - 1 ? message.len
								  : sizeof(plugin->error_text) - 1;
	memcpy(plugin->error_text, message.ptr, len);
	plugin->error_text[len] = '\0';
}

const pawl_host host_table = {
	.struct_size = sizeof(pawl_host),
	.abi_minor = PAWL_ABI_MINOR,
	.set_error = set_error,
};

/* ---- a folder of its own, plugins copied in as they are wanted ------------------------ */

#define BAD_FOLDER "tests/unit/plugins"
#define TEMPLATE_FOLDER "lib/pawl/template"

static char folder[200];

static char *path_in(const char *dir, const char *stem)
{
	char *path;
	assert_true(asprintf(&path, "%s/%s.so", dir, stem) > 0);
	return path;
}

static void write_file(const char *path, const char *data, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(io_write_all(fd, data, len), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void read_built(const char *below, const char *stem, char **ret, size_t *ret_len)
{
	struct error err;
	char dir[4096];
	const char *build = getenv("abs_top_builddir");
	snprintf(dir, sizeof(dir), "%s/%s", build ? build : ".", below);
	_cleanup_free_ char *path = path_in(dir, stem);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(io_read_all(fd, PLUGIN_FILE_MAX, ret, ret_len, &err), 0);
}

static void install_from(const char *below, const char *stem, const char *name, mode_t mode)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	read_built(below, stem, &data, &len);
	_cleanup_free_ char *path = path_in(folder, name);
	write_file(path, data, len, mode);
}

static void install_as(const char *stem, const char *name, mode_t mode)
{
	install_from(BAD_FOLDER, stem, name, mode);
}

static void install(const char *stem)
{
	install_as(stem, stem, 0644);
}

static void assert_refused(const char *name, int code, const char *says)
{
	struct plugin_file *file = NULL;
	struct error err = {""};
	int r = plugin_file_load(folder, name, NULL, &file, &err);
	if (r != -code || !strstr(err.text, says))
		fail_msg("%s: %d, wants \"%s\", says: %s", name, r, says, err.text);
	assert_null(file);
}

static struct plugin_file *load(const char *name)
{
	struct plugin_file *file = NULL;
	struct error err = {""};
	if (plugin_file_load(folder, name, NULL, &file, &err) < 0)
		fail_msg("%s", err.text);
	return file;
}

static int make_folder(void **state)
{
	(void)state;
	/* not below the build tree, whose folders may be open to a group */
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(folder, sizeof(folder), "%s/pawl-load-XXXXXX", tmp ? tmp : "/tmp");
	return n < (int)sizeof(folder) - 60 && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[256];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* ---- the tests --------------------------------------------------------------------------- */

static void test_good_plugin_is_loaded_once(void **state)
{
	(void)state;
	install("good");
	struct plugin_file *file = load("good");
	assert_string_equal(file->note.id, "good");
	assert_string_equal(file->desc.id, "good");
	assert_true(file->fd >= 0);
	assert_ptr_equal(load("good"), file);
	char by_another_name[256];
	struct plugin_file *again = NULL;
	struct error err;
	snprintf(by_another_name, sizeof(by_another_name), "%s/.", folder);
	assert_int_equal(plugin_file_load(by_another_name, "good", NULL, &again, &err), 0);
	assert_ptr_equal(again, file);
}

static void test_plugin_of_later_header_is_loaded(void **state)
{
	(void)state;
	install("later");
	assert_int_equal(load("later")->desc.struct_size, sizeof(pawl_plugin) + 2 * sizeof(void *));
}

/* gold and musl export names that no author chose. */
static void test_toolchains_exports_are_no_fault(void **state)
{
	(void)state;
	install("toolchain");
	load("toolchain");
}

/* What vendors are given to begin with. */
static void test_template_is_loaded(void **state)
{
	pawl_option option;
	(void)state;
	install_from(TEMPLATE_FOLDER, "hello", "hello", 0755);
	assert_non_null(load("hello")->desc.pre_tool_use);
	install_from(TEMPLATE_FOLDER, "org.example.words", "org.example.words", 0755);
	assert_true(plugin_option_get(&load("org.example.words")->desc, 0, &option));
	assert_string_equal(option.name, "words");
}

static void test_bad_plugin_is_refused(void **state)
{
	static const struct {
		const char *stem, *says;
	} cases[] = {
		{"no-note", "no plugin note"},	  {"two-notes", "more than one"},
		{"other-id", "window.so"},	  {"wrong-major", "plugin ABI 1.0"},
		{"extra-export", "helper_of_mine"}, {"null-entry", "returned NULL"},
		{"host-pointer", "outside"},	  {"heap", "outside"},
		{"size-8", "struct_size is 8"},	  {"size-past", "struct_size is 65528"},
		{"tail", "never call"},		  {"no-open", "no open"},
		{"undefined", "pawl_test_nowhere"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		install(cases[i].stem);
		assert_refused(cases[i].stem, ENOEXEC, cases[i].says);
		/* and again: a refusal leaves nothing that would pass */
		assert_refused(cases[i].stem, ENOEXEC, cases[i].says);
	}
}

static void test_absent_plugin_lists_those_there(void **state)
{
	static const char *const names[] = {"nowhere", "", "../good", "Good", ".", "a/b"};
	struct error err = {""};
	struct plugin_file *file;
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_refused(names[i], ENOENT, "there are: ");
	assert_refused("nowhere", ENOENT, "good");
	assert_true(plugin_file_load("/nonexistent/folder", "good", NULL, &file, &err) < 0);
	assert_non_null(strstr(err.text, "/nonexistent"));
}

static void test_what_is_no_file_is_refused(void **state)
{
	struct plugin_file *file;
	struct error err;
	(void)state;
	_cleanup_free_ char *dir = path_in(folder, "folder");
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_true(plugin_file_load(folder, "folder", NULL, &file, &err) < 0);
	_cleanup_free_ char *fifo = path_in(folder, "fifo");
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_true(plugin_file_load(folder, "fifo", NULL, &file, &err) < 0);
	install_as("good", "target", 0644);
	_cleanup_free_ char *target = path_in(folder, "target");
	_cleanup_free_ char *link = path_in(folder, "link");
	assert_int_equal(symlink(target, link), 0);
	assert_true(plugin_file_load(folder, "link", NULL, &file, &err) < 0);
	_cleanup_free_ char *empty = path_in(folder, "empty");
	write_file(empty, "", 0, 0644);
	assert_refused("empty", ENOEXEC, "too short");
	_cleanup_free_ char *text = path_in(folder, "text");
	char words[4096];
	memset(words, 'w', sizeof(words));
	write_file(text, words, sizeof(words), 0644);
	assert_refused("text", ENOEXEC, "not an ELF");
}

static void test_file_others_may_write_is_refused(void **state)
{
	(void)state;
	install_as("good", "loose", 0666);
	assert_refused("loose", EPERM, "loose.so");
	install_as("good", "group", 0664);
	assert_refused("group", EPERM, "group.so");
	install_as("good", "setuid", 04755);
	assert_refused("setuid", EPERM, "setuid.so");
}

/* Asked for by that name, the loader would give the plugin that came before. */
static void test_soname_of_another_is_refused(void **state)
{
	static const char *const names[] = {"/proc/self/fd/9", "libjson-c.so.5", "victim.so", ""};
	_cleanup_free_ char *data = NULL;
	size_t len;
	char filler[201];
	(void)state;
	memset(filler, '@', 200);
	read_built(BAD_FOLDER, "soname", &data, &len);
	char *soname = memmem(data, len, filler, 200);
	assert_non_null(soname);
	_cleanup_free_ char *path = path_in(folder, "soname");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		memset(soname, 0, 200);
		strcpy(soname, names[i]);
		write_file(path, data, len, 0644);
		assert_refused("soname", ENOEXEC, "SONAME");
		assert_int_equal(unlink(path), 0);
	}
	strcpy(soname, "soname.so");
	write_file(path, data, len, 0644);
	load("soname");
}

static void test_open_gives_an_instance_each(void **state)
{
	struct plugin *a = NULL, *b = NULL;
	struct error err;
	(void)state;
	struct plugin_file *file = load("good");
	assert_int_equal(plugin_open(file, &host_table, NULL, &a, &err), 0);
	assert_int_equal(plugin_open(file, &host_table, NULL, &b, &err), 0);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(a->host.host_data, a);
	assert_ptr_equal(a->file, file);
	free(a);
	free(b);
}

static void test_open_that_fails_says_why(void **state)
{
	struct plugin *plugin = NULL;
	struct error err;
	(void)state;
	install("open-fails");
	assert_int_equal(plugin_open(load("open-fails"), &host_table, NULL, &plugin, &err), -EINVAL);
	assert_null(plugin);
	assert_non_null(strstr(err.text, "open failed (option): the list is empty"));
}

static void test_open_that_returns_a_verdict_is_an_error(void **state)
{
	struct plugin *plugin = NULL;
	struct error err;
	(void)state;
	install("open-positive");
	assert_int_equal(plugin_open(load("open-positive"), &host_table, NULL, &plugin, &err),
			 -EPROTO);
	assert_null(plugin);
	assert_non_null(strstr(err.text, "open failed (bad-status)"));
}

static void test_error_class_has_a_word_each(void **state)
{
	(void)state;
	assert_string_equal(plugin_error_class(PAWL_E_FAIL), "fail");
	assert_string_equal(plugin_error_class(PAWL_E_CANCELLED), "cancelled");
	assert_string_equal(plugin_error_class(-9), "bad-status");
	assert_string_equal(plugin_error_class(0), "bad-status");
	assert_string_equal(plugin_error_class(77), "bad-status");
	assert_string_equal(plugin_error_class(INT32_MIN), "bad-status");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_plugin_is_loaded_once),
		cmocka_unit_test(test_plugin_of_later_header_is_loaded),
		cmocka_unit_test(test_template_is_loaded),
		cmocka_unit_test(test_toolchains_exports_are_no_fault),
		cmocka_unit_test(test_bad_plugin_is_refused),
		cmocka_unit_test(test_absent_plugin_lists_those_there),
		cmocka_unit_test(test_what_is_no_file_is_refused),
		cmocka_unit_test(test_file_others_may_write_is_refused),
		cmocka_unit_test(test_soname_of_another_is_refused),
		cmocka_unit_test(test_open_gives_an_instance_each),
		cmocka_unit_test(test_open_that_fails_says_why),
		cmocka_unit_test(test_open_that_returns_a_verdict_is_an_error),
		cmocka_unit_test(test_error_class_has_a_word_each),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
