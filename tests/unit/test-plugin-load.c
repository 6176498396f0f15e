/* test-plugin-load.c - from a name in a folder to an opened plugin. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* The plugin "renamed-0" by another name of that length. */
static void install_renamed(const char *name)
{
	static const char old[] = "renamed-0";
	_cleanup_free_ char *data = NULL, *path = path_in(folder, name);
	size_t len, found = 0;
	assert_int_equal(strlen(name), strlen(old));
	read_built(BAD_FOLDER, old, &data, &len);
	for (char *at = data; (at = memmem(at, len - (size_t)(at - data), old, strlen(old)));
	     found++)
		memcpy(at, name, strlen(name));
	assert_true(found >= 2); /* the note's and the descriptor's */
	write_file(path, data, len, 0644);
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

/* ---- what was checked is what runs ------------------------------------------------------- */

/* Does this between the check and the load, once. */
static void (*meanwhile)(const char *path);

int __real_plugin_note_read(int fd, const char *path, const struct patterns *libraries,
			    struct plugin_note *ret, struct error *err);
int __wrap_plugin_note_read(int fd, const char *path, const struct patterns *libraries,
			    struct plugin_note *ret, struct error *err);
int __wrap_plugin_note_read(int fd, const char *path, const struct patterns *libraries,
			    struct plugin_note *ret, struct error *err)
{
	int r = __real_plugin_note_read(fd, path, libraries, ret, err);
	void (*act)(const char *) = meanwhile;
	meanwhile = NULL;
	if (act)
		act(path);
	return r;
}

/* open-fails.so, by the name of another: its open says who it is */
static void put_other_in_place(const char *path)
{
	_cleanup_free_ char *other = path_in(folder, "swap");
	install_as("open-fails", "swap", 0644);
	assert_int_equal(rename(other, path), 0);
}

static void write_over(const char *path)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(io_write_all(fd, "gone", 4), 0);
}

static void assert_opens(const struct plugin_file *file)
{
	struct plugin *plugin = NULL;
	struct error err = {""};
	if (plugin_open(file, &host_table, NULL, &plugin, &err) < 0)
		fail_msg("%s", err.text);
	free(plugin);
}

static void test_file_put_in_place_meanwhile_is_not_run(void **state)
{
	(void)state;
	install_renamed("swapped-1");
	meanwhile = put_other_in_place;
	struct plugin_file *file = load("swapped-1");
	assert_null(meanwhile);
	assert_opens(file);
	assert_ptr_equal(load("swapped-1"), file);
}

/* A plugin may close what it likes; N is then the next file's number. */
static void test_number_is_not_used_again(void **state)
{
	(void)state;
	install_renamed("numbers-a");
	install_renamed("numbers-b");
	int first = load("numbers-a")->fd;
	assert_int_equal(close(first), 0);
	struct plugin_file *file = load("numbers-b");
	assert_string_equal(file->desc.id, "numbers-b");
	assert_true(file->fd > first);
}

/* Runs fn in a child; its result is the test's. 77: cannot be tried here. */
static void in_child(int (*fn)(void), const char *what)
{
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		print_message("# %s: not allowed here, nothing tried\n", what);
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: status %#x", what, status);
}

static int own_mounts(void)
{
	if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
}

static int refused_with(const char *name, const char *says)
{
	struct plugin_file *file = NULL;
	struct error err = {""};
	int r = plugin_file_load(folder, name, NULL, &file, &err);
	if (r < 0 && strstr(err.text, says) && strstr(err.text, name))
		return 0;
	print_message("# %s: %d, wants \"%s\", says: %s\n", name, r, says, err.text);
	return 1;
}

static int without_proc(void)
{
	if (own_mounts() != 0 || mount("none", "/proc", "tmpfs", 0, NULL) != 0)
		return 77;
	return refused_with("no-proc-1", "mount /proc");
}

static void test_without_proc_is_refused(void **state)
{
	(void)state;
	install_renamed("no-proc-1");
	in_child(without_proc, "a /proc that is none");
	load("no-proc-1");
}

static int on_noexec(void)
{
	if (own_mounts() != 0 || mount(folder, folder, "none", MS_BIND, NULL) != 0 ||
	    mount("none", folder, "none", MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL) != 0)
		return 77;
	return refused_with("no-exec-1", "cannot be loaded");
}

static void test_folder_without_exec_is_refused(void **state)
{
	(void)state;
	install_renamed("no-exec-1");
	in_child(on_noexec, "a folder mounted noexec");
	load("no-exec-1");
}

static int few_descriptors(void)
{
	struct plugin_file *file;
	struct error err = {""};
	const struct rlimit few = {8, 8};
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 77;
	/* the numbers below 8 are the plugins' already */
	if (plugin_file_load(folder, "few-files", NULL, &file, &err) < 0 &&
	    (strstr(err.text, "ulimit -n") || strstr(err.text, "Too many open files")))
		return 0;
	print_message("# says: %s\n", err.text);
	return 1;
}

static void test_few_descriptors_are_told(void **state)
{
	(void)state;
	install_renamed("few-files");
	in_child(few_descriptors, "ulimit -n 8");
	load("few-files");
}

/* ---- held to a sum ------------------------------------------------------------------------ */

static void sum_of(const char *name, unsigned char ret[PLUGIN_SUM])
{
	char command[512], line[128] = "";
	_cleanup_free_ char *path = path_in(folder, name);
	snprintf(command, sizeof(command), "sha256sum '%s'", path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	assert_int_equal(pclose(pipe), 0);
	for (size_t i = 0; i < PLUGIN_SUM; i++)
		assert_int_equal(sscanf(line + 2 * i, "%2hhx", &ret[i]), 1);
}

static int load_pinned(const char *name, const unsigned char *sum, struct plugin_file **ret,
		       struct error *err)
{
	const struct plugin_terms terms = {sum, NULL};
	err->text[0] = '\0';
	return plugin_file_load(folder, name, &terms, ret, err);
}

static void test_pinned_plugin_is_a_sealed_copy(void **state)
{
	unsigned char sum[PLUGIN_SUM];
	struct plugin_file *file = NULL, *again = NULL;
	struct error err;
	(void)state;
	install_renamed("pinned-it");
	sum_of("pinned-it", sum);
	/* what is written over the file once it has been read is not what runs */
	meanwhile = write_over;
	if (load_pinned("pinned-it", sum, &file, &err) < 0)
		fail_msg("%s", err.text);
	assert_null(meanwhile);
	assert_true(file->pinned);
	assert_int_equal(fcntl(file->fd, F_GET_SEALS),
			 F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	assert_opens(file);
	assert_int_equal(load_pinned("pinned-it", sum, &again, &err), 0);
	assert_ptr_equal(again, file);
}

static void test_other_sum_is_refused(void **state)
{
	unsigned char sum[PLUGIN_SUM];
	char is[2 * PLUGIN_SUM + 1], wanted[2 * PLUGIN_SUM + 1];
	struct plugin_file *file = NULL;
	struct error err;
	(void)state;
	install_renamed("other-sum");
	sum_of("other-sum", sum);
	for (size_t i = 0; i < PLUGIN_SUM; i++)
		snprintf(is + 2 * i, 3, "%02x", sum[i]);
	sum[31] ^= 1;
	for (size_t i = 0; i < PLUGIN_SUM; i++)
		snprintf(wanted + 2 * i, 3, "%02x", sum[i]);
	assert_int_equal(load_pinned("other-sum", sum, &file, &err), -EPERM);
	assert_non_null(strstr(err.text, is));
	assert_non_null(strstr(err.text, wanted));
	assert_non_null(strstr(err.text, "other-sum.so: "));
	assert_non_null(strstr(err.text, "write its sum into"));
	assert_null(file);
	_cleanup_free_ char *path = path_in(folder, "other-sum");
	write_over(path);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(load_pinned("other-sum", sum, &file, &err), -EPERM);
	assert_non_null(strstr(err.text, "empty"));
}

/* What already runs cannot be held to a sum any more. */
static void test_loaded_plugin_is_not_pinned_later(void **state)
{
	unsigned char sum[PLUGIN_SUM];
	struct plugin_file *file = NULL;
	struct error err;
	(void)state;
	install_renamed("pin-late1");
	load("pin-late1");
	sum_of("pin-late1", sum);
	assert_int_equal(load_pinned("pin-late1", sum, &file, &err), -EPERM);
	assert_non_null(strstr(err.text, "already loaded"));
}

/* ---- libraries ------------------------------------------------------------------------------ */

static void test_absent_library_is_told(void **state)
{
	struct str name = STR("libpawl-unit.so");
	const struct patterns libraries = {&name, 1};
	const struct plugin_terms terms = {NULL, &libraries};
	struct plugin_file *file = NULL;
	struct error err = {""};
	(void)state;
	install("needs-library");
	assert_refused("needs-library", ENOEXEC, "\"libraries\"");
	assert_int_equal(plugin_file_load(folder, "needs-library", &terms, &file, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "libpawl-unit.so.2: cannot open"));
}

static void test_examine_runs_nothing(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	bool system = false;
	(void)state;
	_cleanup_free_ char *path = path_in(folder, "undefined");
	unlink(path);
	install("undefined");
	assert_int_equal(plugin_file_examine(folder, "undefined", NULL, &note, &system, &err), 0);
	assert_string_equal(note.id, "undefined");
	install("runpath");
	assert_int_equal(system, geteuid() == 0);
	assert_int_equal(plugin_file_examine(folder, "runpath", NULL, &note, &system, &err),
			 -ENOEXEC);
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
		cmocka_unit_test(test_few_descriptors_are_told),
		cmocka_unit_test(test_file_put_in_place_meanwhile_is_not_run),
		cmocka_unit_test(test_number_is_not_used_again),
		cmocka_unit_test(test_without_proc_is_refused),
		cmocka_unit_test(test_folder_without_exec_is_refused),
		cmocka_unit_test(test_pinned_plugin_is_a_sealed_copy),
		cmocka_unit_test(test_other_sum_is_refused),
		cmocka_unit_test(test_loaded_plugin_is_not_pinned_later),
		cmocka_unit_test(test_absent_library_is_told),
		cmocka_unit_test(test_examine_runs_nothing),
		cmocka_unit_test(test_open_gives_an_instance_each),
		cmocka_unit_test(test_open_that_fails_says_why),
		cmocka_unit_test(test_open_that_returns_a_verdict_is_an_error),
		cmocka_unit_test(test_error_class_has_a_word_each),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
