/* test-audit-parallel.c - many one-shot hooks on one store: each gets in, none is lost. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../audit/ingest.h"
#include "../../audit/store.h"
#include "test-audit-host.h"

static const pawl_plugin *plugin;

static int set_up(void **state)
{
	*state = fake_folder();
	return 0;
}

static int tear_down(void **state)
{
	fake_remove(*state);
	return 0;
}

/* Fills the index as well, as if much had gathered. */
static int write_one(const char *dir, int n)
{
	void *self;
	char id[16], path[4200];
	snprintf(path, sizeof(path), "%s/" STORE_LAG, dir);
	(void)unlink(path);
	struct fake_call call = {.number = FAKE_NUMBERS};
	snprintf(id, sizeof(id), "c%d", n);
	call.text[PAWL_T_EVENT] = "PostToolUse";
	call.text[PAWL_T_SESSION] = "s";
	call.text[PAWL_T_CALL_ID] = id;
	call.text[PAWL_T_TOOL] = "echo";
	call.root[PAWL_R_ARGS] = "{}";
	call.root[PAWL_R_RESULT] = "1";
	if (fake_open(plugin, dir, "", &self) != 0 || fake_post(plugin, self, &call) != 0) {
		fprintf(stderr, "# %s\n", fake_error);
		return 1;
	}
	return 0;
}

/* All at once, each in a process of its own that ends without close. */
static void write_many(const char *dir, int from, int to)
{
	int failed = 0, status;
	for (int i = from; i < to; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(write_one(dir, i));
	}
	for (int i = from; i < to; i++) {
		assert_true(wait(&status) > 0);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
}

static void drain(const char *dir)
{
	char path[4200];
	struct store store;
	struct error err = {""};
	snprintf(path, sizeof(path), "%s/audit.db", dir);
	assert_int_equal(store_open(path, STORE_EXISTING, &store, &err), 0);
	if (ingest_drain(&store, INGEST_NO_LIMIT, &err) != 0)
		fail_msg("%s", err.text);
	store_close(&store);
}

static sqlite3 *open_db(const char *dir)
{
	char path[4200];
	sqlite3 *db;
	snprintf(path, sizeof(path), "%s/audit.db", dir);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return db;
}

static int number(const char *dir, const char *sql)
{
	sqlite3 *db = open_db(dir);
	sqlite3_stmt *stmt;
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int n = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return n;
}

static void check_rows(const char *dir, int n)
{
	assert_int_equal(number(dir, "SELECT count(DISTINCT call_id) FROM tool_calls"), n);
	assert_int_equal(number(dir, "SELECT count(*) FROM tool_calls"), n);
	assert_int_equal(number(dir, "SELECT count(DISTINCT session_seq) FROM events"), n);
	assert_int_equal(number(dir, "SELECT dropped FROM session_summaries"), 0);
	assert_int_equal(number(dir, "SELECT count(*) FROM skipped"), 0);
}

static void test_two_hundred_hooks_get_in(void **state)
{
	write_many(*state, 0, 200);
	/* a hook leaves what its second does not suffice for to the next one, and no more */
	write_many(*state, 200, 201);
	check_rows(*state, 201);
}

/* Holds the database's lock until the pipe closes. */
static void hold_lock(const char *dir, int ready, int until)
{
	struct store store;
	struct error err = {""};
	char path[4200], byte = 0;
	int lock;
	snprintf(path, sizeof(path), "%s/audit.db", dir);
	if (store_open(path, STORE_EXISTING, &store, &err) != 0 ||
	    store_lock(&store, STORE_DB_LOCK, 0, &lock, &err) != 0 ||
	    write(ready, &byte, 1) != 1)
		_exit(1);
	_exit(read(until, &byte, 1) != 0);
}

static void test_record_beside_another_drain_is_left_to_the_next(void **state)
{
	int ready[2], until[2], status;
	char byte;
	write_many(*state, 0, 1);
	assert_true(pipe(ready) == 0 && pipe(until) == 0);
	pid_t holder = fork();
	if (holder == 0) {
		close(until[1]);
		hold_lock(*state, ready[1], until[0]);
	}
	close(until[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	write_many(*state, 1, 2);
	assert_int_equal(number(*state, "SELECT count(*) FROM tool_calls"), 1);
	close(until[1]);
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_int_equal(status, 0);
	write_many(*state, 2, 3);
	check_rows(*state, 3);
}

/* Holds a read transaction open, which a rollback journal cannot commit under. */
static void hold_reader(const char *dir, int seconds)
{
	sqlite3 *db = open_db(dir);
	sqlite3_stmt *stmt;
	if (sqlite3_prepare_v2(db, "SELECT * FROM events", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		_exit(1);
	sleep((unsigned)seconds);
	_exit(0);
}

static void test_reader_in_the_way_loses_nothing(void **state)
{
	int status;
	write_many(*state, 0, 1);
	pid_t reader = fork();
	if (reader == 0)
		hold_reader(*state, 3);
	usleep(300000);
	time_t start = time(NULL);
	for (int i = 1; i < 65; i++) {
		if (fork() == 0)
			_exit(write_one(*state, i));
	}
	for (int i = 1; i < 65; i++) {
		pid_t child = wait(&status);
		assert_true(child > 0);
		assert_int_equal(status, 0);
		if (child == reader)
			i--;
	}
	/* the reader holds up the index, not the hooks */
	print_message("# 64 records beside a reader: %ld s\n", (long)(time(NULL) - start));
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	drain(*state);
	check_rows(*state, 65);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_two_hundred_hooks_get_in),
	    TEST(test_record_beside_another_drain_is_left_to_the_next),
	    TEST(test_reader_in_the_way_loses_nothing),
	};
	plugin = fake_load();
	if (!plugin)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
