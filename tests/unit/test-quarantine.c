/* test-quarantine.c - faults of plugins, remembered in files. */
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/quarantine.h"

static char top[] = "/tmp/pawl-quarantine-XXXXXX";
static char dir[64], plugin[64], place[96];
static char why[QUARANTINE_WHY_MAX];

static void put(const char *path, const char *text)
{
	_cleanup_fclose_ FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static void fault(const char *class)
{
	struct error err;
	if (quarantine_fault(str_of(dir), STR("egress"), plugin, class, &err) < 0)
		fail_msg("%s", err.text);
}

static bool is_in(void)
{
	why[0] = '\0';
	return quarantined(str_of(dir), STR("egress"), plugin, why);
}

/* The file of now, as lines name it. */
static const char *identity(void)
{
	static char text[96];
	struct stat st;
	assert_int_equal(stat(plugin, &st), 0);
	snprintf(text, sizeof(text), "%llx:%llx:%llx:%llx.%lx", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
		 (unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
	return text;
}

/* n faults, step seconds apart. */
static void put_faults(const char *boot, int n, int step)
{
	_cleanup_fclose_ FILE *file = fopen(place, "w");
	assert_non_null(file);
	for (int i = 0; i < n; i++)
		fprintf(file, "\n%s %d %s timeout\n", boot, i * step, identity());
}

static void says(const char *text)
{
	if (!strstr(why, text))
		fail_msg("\"%s\" lacks \"%s\"", why, text);
}

static void test_nothing_is_known_at_first(void **state)
{
	(void)state;
	assert_false(is_in());
}

static void test_faults_make_a_quarantine(void **state)
{
	struct stat st;
	(void)state;
	for (int i = 1; i < QUARANTINE_FAULTS; i++) {
		fault("timeout");
		assert_false(is_in());
	}
	fault("crash");
	assert_true(is_in());
	says("failed 5 times");
	says("last with crash");
	says("`pawl reset --plugin egress`");
	assert_int_equal(stat(place, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_another_entry_is_not_meant(void **state)
{
	(void)state;
	put_faults("b", QUARANTINE_FAULTS, 1);
	assert_true(is_in());
	assert_false(quarantined(str_of(dir), STR("hosts"), plugin, why));
}

static void test_lifting_forgets(void **state)
{
	bool was = false;
	struct error err;
	(void)state;
	put_faults("b", QUARANTINE_FAULTS, 1);
	assert_int_equal(quarantine_lift(str_of(dir), STR("egress"), &was, &err), 0);
	assert_true(was);
	assert_false(is_in());
	assert_int_equal(quarantine_lift(str_of(dir), STR("egress"), &was, &err), 0);
	assert_false(was);
	fault("crash");
	assert_false(is_in());
}

static void test_another_file_lifts(void **state)
{
	char other[80];
	(void)state;
	put_faults("b", QUARANTINE_FAULTS, 1);
	assert_true(is_in());
	snprintf(other, sizeof(other), "%s.new", plugin);
	put(other, "PLUGIN"); /* the same length, as a rebuilt one may have */
	assert_int_equal(rename(other, plugin), 0);
	assert_false(is_in());
	for (int i = 0; i < QUARANTINE_FAULTS; i++)
		fault("crash");
	assert_true(is_in());
	says("failed 5 times"); /* those of the old file are not its */
}

static void test_file_written_over_lifts(void **state)
{
	(void)state;
	put_faults("b", QUARANTINE_FAULTS, 1);
	put(plugin, "plugin, mended");
	assert_false(is_in());
}

static void test_slow_faults_are_bearable(void **state)
{
	(void)state;
	put_faults("b", 20, QUARANTINE_WINDOW_S / (QUARANTINE_FAULTS - 1) + 1);
	assert_false(is_in());
	put_faults("b", 20, QUARANTINE_WINDOW_S / (QUARANTINE_FAULTS - 1));
	assert_true(is_in());
}

/* It was long ago, even before the machine was started anew: it stays. */
static void test_quarantine_stays(void **state)
{
	(void)state;
	put_faults("another-boot", QUARANTINE_FAULTS, 1);
	assert_true(is_in());
}

static void test_seconds_of_two_boots_are_not_compared(void **state)
{
	struct timespec now;
	(void)state;
	clock_gettime(CLOCK_BOOTTIME, &now);
	_cleanup_fclose_ FILE *file = fopen(place, "w");
	for (int i = 0; i < QUARANTINE_FAULTS - 1; i++)
		fprintf(file, "another-boot %lld %s crash\n", (long long)now.tv_sec, identity());
	fflush(file);
	fault("crash");
	assert_false(is_in());
}

static void test_torn_line_spoils_no_other(void **state)
{
	(void)state;
	put_faults("b", QUARANTINE_FAULTS - 1, 1);
	_cleanup_fclose_ FILE *file = fopen(place, "a");
	fprintf(file, "b 5 %.10s", identity());
	fflush(file);
	assert_false(is_in());
	fprintf(file, "\nb 5 %s crash\n", identity());
	fflush(file);
	assert_true(is_in());
}

static void test_rubbish_is_passed_over(void **state)
{
	char text[4096];
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(place, text);
	assert_false(is_in());
	put(place, "b 99999999999999999999 f crash\nb -1 f\n\n\n \n");
	assert_false(is_in());
	for (int i = 0; i < QUARANTINE_FAULTS; i++)
		fault("crash");
	assert_true(is_in());
}

/* ---- files that cannot be what we wrote ------------------------------------------------- */

static void unreadable_is_quarantine(const char *word)
{
	assert_true(is_in());
	says("cannot be read");
	says(place);
	says(word);
}

static void test_unreadable_is_quarantine(void **state)
{
	char other[80];
	(void)state;
	snprintf(other, sizeof(other), "%s/other", top);
	put(other, "");
	assert_int_equal(symlink(other, place), 0);
	unreadable_is_quarantine("symbolic link");
	unlink(place);
	assert_int_equal(mkfifo(place, 0600), 0);
	unreadable_is_quarantine("alone can write");
	unlink(place);
	assert_int_equal(mkdir(place, 0700), 0);
	unreadable_is_quarantine("");
	rmdir(place);
	put(place, "");
	assert_int_equal(chmod(place, 0666), 0);
	unreadable_is_quarantine("alone can write");
	chmod(place, 0600);
	assert_int_equal(truncate(place, 1 << 20), 0);
	unreadable_is_quarantine("");
}

static void test_fault_follows_no_link(void **state)
{
	char other[80];
	struct error err;
	struct stat st;
	(void)state;
	snprintf(other, sizeof(other), "%s/other", top);
	put(other, "");
	assert_int_equal(symlink(other, place), 0);
	assert_int_equal(quarantine_fault(str_of(dir), STR("egress"), plugin, "crash", &err),
			 -ELOOP);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, 0);
}

/* ---- many -------------------------------------------------------------------------------- */

static void test_faults_of_many_processes_all_count(void **state)
{
	enum { PROCESSES = 8, EACH = 5 };
	int status;
	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() > 0)
			continue;
		struct error err;
		int r = 0;
		for (int k = 0; k < EACH; k++)
			r |= quarantine_fault(str_of(dir), STR("egress"), plugin, "crash", &err);
		_exit(r != 0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_true(is_in());
	says("failed 40 times");
}

static void test_file_stays_small(void **state)
{
	struct stat st;
	(void)state;
	/* far apart: no quarantine, years of them */
	put_faults("b", 300, 10000);
	fault("crash");
	assert_int_equal(stat(place, &st), 0);
	assert_true(st.st_size < 2048);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_false(is_in());
	for (int i = 1; i < QUARANTINE_FAULTS; i++)
		fault("crash");
	assert_true(is_in());
}

static void test_class_is_a_word(void **state)
{
	(void)state;
	for (int i = 0; i < QUARANTINE_FAULTS; i++)
		fault("bad\n class\x1b[31m");
	assert_true(is_in());
	says("last with bad--class-");
}

static int set_up(void **state)
{
	char command[160];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*; mkdir -p %s/fault", top, dir);
	assert_int_equal(system(command), 0);
	put(plugin, "plugin");
	return 0;
}

static int set_up_all(void **state)
{
	(void)state;
	umask(022);
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/state", top);
	snprintf(plugin, sizeof(plugin), "%s/egress.so", top);
	snprintf(place, sizeof(place), "%s/fault/egress", dir);
	return 0;
}

static int tear_down_all(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing_is_known_at_first, set_up),
		cmocka_unit_test_setup(test_faults_make_a_quarantine, set_up),
		cmocka_unit_test_setup(test_another_entry_is_not_meant, set_up),
		cmocka_unit_test_setup(test_lifting_forgets, set_up),
		cmocka_unit_test_setup(test_another_file_lifts, set_up),
		cmocka_unit_test_setup(test_file_written_over_lifts, set_up),
		cmocka_unit_test_setup(test_slow_faults_are_bearable, set_up),
		cmocka_unit_test_setup(test_quarantine_stays, set_up),
		cmocka_unit_test_setup(test_seconds_of_two_boots_are_not_compared, set_up),
		cmocka_unit_test_setup(test_torn_line_spoils_no_other, set_up),
		cmocka_unit_test_setup(test_rubbish_is_passed_over, set_up),
		cmocka_unit_test_setup(test_unreadable_is_quarantine, set_up),
		cmocka_unit_test_setup(test_fault_follows_no_link, set_up),
		cmocka_unit_test_setup(test_faults_of_many_processes_all_count, set_up),
		cmocka_unit_test_setup(test_file_stays_small, set_up),
		cmocka_unit_test_setup(test_class_is_a_word, set_up),
	};
	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
