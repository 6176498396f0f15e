/* test-cell.c - one process split off another: ours, by itself, and with nothing of the
 * other's; and what becomes of it where that cannot be done. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "core/cell.h"

#define PATIENCE_NS INT64_C(60000000000)

static char program[4096];

static void start(struct cell *cell)
{
	struct error err = {""};
	if (cell_start(cell, &err) < 0)
		fail_msg("%s", err.text);
}

static void split(struct cell *seed, struct cell *cell)
{
	struct error err = {""};
	if (cell_split(seed, cell, &err) < 0)
		fail_msg("%s", err.text);
}

/* What it is told before a plugin is open ends it: the status shows who has read it. */
static int answer_to_nonsense(struct cell *cell)
{
	size_t len;
	int status = 0;
	enum cell_end end = CELL_LATE;
	assert_int_equal(cell_send(cell, CELL_ASK, 0), 0);
	assert_int_equal(cell_receive(cell, io_monotonic_ns() + PATIENCE_NS, &len, &end), -1);
	assert_int_equal(end, CELL_EXIT);
	cell_stop(cell, &status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void is_a_child_in_a_session_of_its_own(void **state)
{
	struct cell seed, one, two;
	(void)state;
	start(&seed);
	split(&seed, &one);
	split(&one, &two); /* so it is a seed itself */
	siginfo_t info;
	assert_int_not_equal(one.pid, seed.pid);
	assert_int_equal(waitid(P_PID, (id_t)one.pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(getsid(one.pid), one.pid);
	assert_int_equal(getpgid(one.pid), one.pid);
	cell_stop(&two, NULL);
	cell_stop(&one, NULL);
	cell_stop(&seed, NULL);
}

static void lives_on_without_the_seed(void **state)
{
	struct cell seed, one;
	(void)state;
	start(&seed);
	split(&seed, &one);
	cell_stop(&seed, NULL);
	assert_int_equal(answer_to_nonsense(&one), 125);
}

static void leaves_the_seed_as_it_was(void **state)
{
	struct cell seed, one;
	(void)state;
	start(&seed);
	split(&seed, &one);
	assert_int_equal(answer_to_nonsense(&one), 125);
	assert_int_equal(kill(seed.pid, 0), 0);
	assert_int_equal(answer_to_nonsense(&seed), 125);
}

static ino_t descriptor(pid_t pid, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static int descriptors(pid_t pid)
{
	char path[64];
	int n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	if (!dir)
		return -1;
	for (const struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static bool maps_a_cell(pid_t pid)
{
	char line[512];
	bool does = false;
	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	FILE *maps = fopen(line, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		does |= strstr(line, "memfd") != NULL;
	fclose(maps);
	return does;
}

static void has_nothing_of_the_seed(void **state)
{
	struct cell seed, one, two;
	(void)state;
	start(&seed);
	split(&seed, &one);
	split(&one, &two);
	assert_int_equal(descriptors(one.pid), 5);
	assert_int_not_equal(descriptor(one.pid, CELL_SOCKET_FD), 0);
	for (int fd = CELL_SOCKET_FD; fd <= CELL_MEMORY_FD; fd++)
		assert_int_not_equal(descriptor(one.pid, fd), descriptor(seed.pid, fd));
	assert_false(maps_a_cell(seed.pid));
	assert_false(maps_a_cell(one.pid));
	cell_stop(&two, NULL);
	cell_stop(&one, NULL);
	cell_stop(&seed, NULL);
}

static void a_dead_seed_is_an_error(void **state)
{
	struct cell seed, one;
	struct error err = {""};
	(void)state;
	start(&seed);
	kill(seed.pid, SIGKILL);
	assert_true(cell_split(&seed, &one, &err) < 0);
	assert_int_equal(one.pid, 0);
	assert_int_equal(one.socket, -1);
	assert_null(one.question);
	cell_stop(&seed, NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Who can be asked to fork no more than once: a seed that was told what to do is none. */
static void one_at_work_is_no_seed(void **state)
{
	struct cell seed, one;
	struct error err = {""};
	(void)state;
	start(&seed);
	assert_int_equal(cell_send(&seed, CELL_ASK, 0), 0);
	assert_true(cell_split(&seed, &one, &err) < 0);
	cell_stop(&seed, NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static bool can_split(void)
{
	int *number = NULL;
#if !(defined(__x86_64__) || defined(__aarch64__)) || defined(__SANITIZE_THREAD__)
	return false;
#endif
	return prctl(PR_GET_TID_ADDRESS, &number) == 0 && number && *number == getpid();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_child_in_a_session_of_its_own),
		cmocka_unit_test(lives_on_without_the_seed),
		cmocka_unit_test(leaves_the_seed_as_it_was),
		cmocka_unit_test(has_nothing_of_the_seed),
		cmocka_unit_test(a_dead_seed_is_an_error),
		cmocka_unit_test(one_at_work_is_no_seed),
	};
	const char *top = getenv("abs_top_builddir");
	if (!can_split()) {
		puts("1..0 # SKIP no process can be split here: each is executed");
		return 0;
	}
	snprintf(program, sizeof(program), "%s/libexec/pawl/pawl-worker", top ? top : ".");
	cell_program = program;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
