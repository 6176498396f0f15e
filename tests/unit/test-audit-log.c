/* test-audit-log.c - the log through crashes, full disks and limits: nothing that was
 * acknowledged is lost, nothing that was lost is silent. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../audit/chain.h"
#include "../../audit/counters.h"
#include "../../audit/drops.h"
#include "../../audit/event.h"
#include "../../audit/line.h"
#include "../../audit/log.h"
#include "../../audit/shallow.h"
#include "../../audit/store.h"
#include "test-audit-host.h"

struct fixture {
	char *dir;
	struct store store;
};

static void open_store(struct fixture *f)
{
	char path[4200];
	struct error err = {""};
	snprintf(path, sizeof(path), "%s/audit.db", f->dir);
	if (store_open(path, STORE_MAKE, &f->store, &err) < 0)
		fail_msg("%s", err.text);
	f->store.sync = false;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->dir = fake_folder();
	open_store(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	store_close(&f->store);
	fake_remove(f->dir);
	free(f);
	return 0;
}

static int append(struct fixture *f, const char *session)
{
	struct record record = RECORD_EMPTY;
	char *body;
	size_t len;
	struct error err = {""};
	record.type = "call.allowed";
	record.session = str_of(session);
	(void)counters_next(&f->store, record.session, &record.sseq, NULL);
	if (line_body(&record, &body, &len, &err) < 0)
		return -ENOMEM;
	int r = log_append(&f->store, (struct str){body, len}, &err);
	free(body);
	return r;
}

static char *read_log(struct fixture *f)
{
	struct stat st;
	int fd = openat(f->store.dirfd, STORE_LOG, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	assert_int_equal(read(fd, text, (size_t)st.st_size), st.st_size);
	close(fd);
	return text;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;
	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* All lines are whole and chained. */
static void check_chain(struct fixture *f)
{
	char *text = read_log(f), *line = text, *end;
	struct chain chain = {0};
	for (; (end = strchr(line, '\n')); line = end + 1) {
		struct str s = {line, (size_t)(end - line)};
		if (line == text)
			chain_begin(&chain, (struct str){strstr(line, "\"chain\":\"") + 9, 36});
		assert_true(chain_follows(s, &chain));
		assert_true(chain_read(s, &chain));
	}
	assert_int_equal(*line, '\0');
	free(text);
}

static void add_bytes(struct fixture *f, const char *bytes)
{
	int fd = openat(f->store.dirfd, STORE_LOG, O_WRONLY | O_APPEND | O_CREAT, 0600);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

static bool exists(struct fixture *f, const char *name)
{
	return faccessat(f->store.dirfd, name, F_OK, 0) == 0;
}

/* ---- the chain ------------------------------------------------------------------------- */

static void test_chain_shows_any_change(void **state)
{
	struct fixture *f = *state;
	struct chain before, after;
	for (int i = 0; i < 3; i++)
		assert_int_equal(append(f, "s"), 0);
	check_chain(f);
	char *text = read_log(f), *second = strchr(text, '\n') + 1, *end = strchr(second, '\n');
	assert_true(chain_read((struct str){text, (size_t)(second - 1 - text)}, &before));
	for (char *c = second; c < end; c++) {
		struct str line = {second, (size_t)(end - second)};
		assert_true(chain_follows(line, &before));
		*c ^= 1;
		assert_false(chain_follows(line, &before));
		*c ^= 1;
	}
	char *third = end + 1;
	assert_false(chain_follows((struct str){third, strlen(third) - 1}, &before));
	assert_true(chain_read((struct str){third, strcspn(third, "\n")}, &after));
	assert_int_equal(after.seq, before.seq + 2);
	free(text);
}

static void test_text_without_frame_is_no_record(void **state)
{
	static const char *const bad[] = {
	    "",
	    "{}",
	    "{\"v\":1,\"seq\":1,",
	    "{\"v\":2,\"seq\":1,\"prev\":\"\",\"h\":\"\"}",
	    "{\"v\":1,\"seq\":99999999999999999999999,\"a\":1,\"prev\":\"\",\"h\":\"\"}",
	};
	struct chain chain;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(chain_read(str_of(bad[i]), &chain));
}

/* ---- what a crash leaves ------------------------------------------------------------------ */

static void test_torn_end_is_cut_and_kept(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(append(f, "s"), 0);
	add_bytes(f, "{\"v\":1,\"seq\":3,\"half a rec");
	assert_int_equal(append(f, "s"), 0);
	check_chain(f);
	assert_true(exists(f, STORE_TORN));
	char *text = read_log(f);
	assert_int_equal(count(text, "audit.recovered"), 1);
	assert_int_equal(count(text, "half a rec"), 0);
	assert_int_equal(count(text, "\"bytes\":26"), 1);
	free(text);
}

static void test_lines_of_others_are_moved_aside(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(append(f, "s"), 0);
	add_bytes(f, "hello\nworld\n");
	assert_int_equal(append(f, "s"), 0);
	check_chain(f);
}

static void test_torn_first_write_is_cut(void **state)
{
	struct fixture *f = *state;
	add_bytes(f, "{\"v\":1,");
	assert_int_equal(append(f, "s"), 0);
	check_chain(f);
}

static void test_log_of_others_is_left_alone(void **state)
{
	struct fixture *f = *state;
	add_bytes(f, "{\"tool\":\"echo\"}\n");
	assert_int_equal(append(f, "s"), -EBADMSG);
	char *text = read_log(f);
	assert_string_equal(text, "{\"tool\":\"echo\"}\n");
	free(text);
}

static void test_links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(symlinkat("elsewhere", f->store.dirfd, STORE_LOG), 0);
	assert_true(append(f, "s") < 0);
	assert_false(exists(f, "elsewhere"));
	unlinkat(f->store.dirfd, STORE_LOG, 0);
	assert_int_equal(mkfifoat(f->store.dirfd, STORE_LOG, 0600), 0);
	assert_true(append(f, "s") < 0);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void test_drops_are_told_by_the_next_record(void **state)
{
	struct fixture *f = *state;
	struct drops drops;
	assert_int_equal(drops_make(&f->store, NULL), 0);
	assert_int_equal(append(f, "s"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(drops_count(&f->store, REASON_NO_SPACE, NULL), 0);
	assert_int_equal(drops_count(&f->store, REASON_LOCK_TIMEOUT, NULL), 0);
	assert_int_equal(append(f, "s"), 0);
	assert_int_equal(append(f, "s"), 0);
	char *text = read_log(f);
	assert_int_equal(count(text, "audit.gap"), 1);
	assert_int_equal(count(text, "{\"count\":4,\"total\":4,"), 1);
	assert_int_equal(count(text, "{\"lock_timeout\":1,\"no_space\":3}"), 1);
	free(text);
	check_chain(f);
	assert_int_equal(drops_read(&f->store, &drops, NULL), 0);
	assert_int_equal(drops_sum(drops.pending), 0);
	assert_int_equal(drops_sum(drops.total), 4);
}

static void test_lost_record_leaves_a_hole_in_its_session(void **state)
{
	struct fixture *f = *state;
	uint32_t lost;
	assert_int_equal(append(f, "s"), 0);
	assert_int_equal(append(f, "t"), 0);
	assert_int_equal(counters_next(&f->store, STR("s"), &lost, NULL), 0);
	assert_int_equal(lost, 2);
	assert_int_equal(append(f, "s"), 0);
	char *text = read_log(f);
	assert_int_equal(count(text, "\"session\":\"s\",\"sseq\":3"), 1);
	assert_int_equal(count(text, "\"session\":\"t\",\"sseq\":1"), 1);
	free(text);
}

static void test_held_lock_is_given_up_on(void **state)
{
	struct fixture *f = *state;
	int lock = -1, second = -1;
	assert_int_equal(store_lock(&f->store, STORE_DB_LOCK, 0, &lock, NULL), 0);
	assert_int_equal(store_lock(&f->store, STORE_DB_LOCK, 0, &second, NULL), -EAGAIN);
	assert_int_equal(store_lock(&f->store, STORE_DB_LOCK, 50000000, &second, NULL), -ETIMEDOUT);
	close(lock);
	assert_int_equal(store_lock(&f->store, STORE_DB_LOCK, 0, &second, NULL), 0);
	close(second);
}

/* Runs body in a process of its own; its exit status, or -1 for a signal. */
static int apart(int (*body)(struct fixture *), struct fixture *f)
{
	pid_t child = fork();
	int status;
	if (child == 0)
		_exit(body(f));
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #condition);                  \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static const char pre[] =
	"{\"type\":\"call.allowed\",\"tool\":{\"name\":\"echo\"},\"tool_input\":{}}";

/* Through the plugin: the signal must not kill, the loss must be counted. */
static int write_past_the_limit(struct fixture *f)
{
	const pawl_plugin *plugin = fake_load();
	void *self;
	struct stat st;
	struct drops drops;
	signal(SIGXFSZ, SIG_DFL);
	CHECK(plugin && fake_open(plugin, f->dir, ",\"sync\":\"off\"", &self) == 0);
	CHECK(fake_pre(plugin, self, "s", "c1", pre) == 0);
	CHECK(fstatat(f->store.dirfd, STORE_LOG, &st, 0) == 0);
	struct rlimit limit = {(rlim_t)(st.st_size > 4096 ? st.st_size : 4096) + 100,
			       RLIM_INFINITY};
	/* fill up to the limit */
	int failed = 0;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (int i = 0; i < 30; i++)
		failed += fake_pre(plugin, self, "s", "c", pre) != 0;
	CHECK(failed > 0 && failed < 30);
	CHECK(drops_read(&f->store, &drops, NULL) == 0);
	CHECK(drops.pending[REASON_NO_SPACE] == (uint64_t)failed);
	CHECK(strstr(fake_error, "no_space"));
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(fake_pre(plugin, self, "s", "last", pre) == 0);
	CHECK(drops_read(&f->store, &drops, NULL) == 0 && drops_sum(drops.pending) == 0);
	plugin->close(self);
	return 0;
}

static void test_file_size_limit_is_counted(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(apart(write_past_the_limit, f), 0);
	check_chain(f);
	char *text = read_log(f);
	assert_int_equal(count(text, "audit.gap"), 1);
	free(text);
}

/* Exit status 77: not possible here. */
static int write_on_a_full_disk(struct fixture *f)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", f->dir, "tmpfs", 0, "size=1228800") != 0)
		return 77;
	const pawl_plugin *plugin = fake_load();
	void *self;
	struct drops drops;
	struct fixture inside = {.dir = f->dir};
	open_store(&inside);
	CHECK(plugin && fake_open(plugin, f->dir, "", &self) == 0);
	CHECK(fake_pre(plugin, self, "s", "first", pre) == 0);
	int ballast = openat(inside.store.dirfd, "ballast", O_WRONLY | O_CREAT, 0600), failed = 0;
	char block[4096] = {0};
	while (write(ballast, block, sizeof(block)) > 0)
		;
	for (int i = 0; i < 40; i++)
		failed += fake_pre(plugin, self, "s", "c", pre) != 0;
	CHECK(failed > 20);
	CHECK(drops_read(&inside.store, &drops, NULL) == 0);
	CHECK(drops.pending[REASON_NO_SPACE] == (uint64_t)failed);
	CHECK(ftruncate(ballast, 0) == 0);
	CHECK(fake_pre(plugin, self, "s", "last", pre) == 0);
	CHECK(drops_read(&inside.store, &drops, NULL) == 0 && drops_sum(drops.pending) == 0);
	check_chain(&inside);
	char *text = read_log(&inside), gap[64];
	snprintf(gap, sizeof(gap), "\"count\":%d,", failed);
	CHECK(count(text, gap) == 1);
	free(text);
	plugin->close(self);
	store_close(&inside.store);
	return 0;
}

static void test_full_disk_is_counted(void **state)
{
	int code = apart(write_on_a_full_disk, *state);
	if (code == 77)
		print_message("# no mount here: full disk not tried\n");
	else
		assert_int_equal(code, 0);
}

static int write_read_only(struct fixture *f)
{
	struct drops drops;
	void *self;
	const pawl_plugin *plugin = fake_load();
	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 77;
	CHECK(plugin && fake_open(plugin, f->dir, "", &self) == 0);
	int32_t answer = fake_pre(plugin, self, "s", "c", pre);
	if (access(f->dir, X_OK) != 0)
		return 77;
	CHECK(answer == PAWL_E_FAIL);
	CHECK(strstr(fake_error, "record lost (read_only)"));
	CHECK(drops_read(&f->store, &drops, NULL) == 0);
	CHECK(drops.pending[REASON_READ_ONLY] == 1);
	plugin->close(self);
	return 0;
}

static void test_read_only_folder_is_counted(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(drops_make(&f->store, NULL), 0);
	assert_int_equal(fchmodat(f->store.dirfd, STORE_DROPS, 0666, 0), 0);
	assert_int_equal(chmod(f->dir, 0555), 0);
	int code = apart(write_read_only, f);
	chmod(f->dir, 0700);
	if (code == 77)
		print_message("# cannot become another user here\n");
	else
		assert_int_equal(code, 0);
}

/* ---- small things -----------------------------------------------------------------------------
 */

static void test_too_large_record_is_refused(void **state)
{
	struct fixture *f = *state;
	char *body = malloc(CHAIN_LINE_MAX + 1);
	memset(body, 'x', CHAIN_LINE_MAX);
	body[CHAIN_LINE_MAX] = '\0';
	assert_int_equal(log_append(&f->store, (struct str){body, CHAIN_LINE_MAX}, NULL), -E2BIG);
	assert_int_equal(append(f, "s"), 0);
	check_chain(f);
	free(body);
}

static void test_shallow_walks_members(void **state)
{
	static const char text[] =
	    " {\"a\" : {\"x\":[1,\"}\\\"]\"]} , \"b\":1e400,\"c\\n\":\"\" } ";
	static const char *const want[] = {"a",   "{\"x\":[1,\"}\\\"]\"]}", "b", "1e400", "c\\n",
					   "\"\""};
	static const char *const bad[] = {"",    "{",   "{\"a\"}",    "{\"a\":}", "{\"a\":1",
					  "[1]", "{,}", "{\"a\":1,}", "{\"a",     "{1:2}"};
	struct str name, value;
	size_t at = 0;
	(void)state;
	for (size_t i = 0; i < 6; i += 2) {
		assert_int_equal(shallow_next(str_of(text), &at, &name, &value), 1);
		assert_true(str_is(name, want[i]) && str_is(value, want[i + 1]));
	}
	assert_int_equal(shallow_next(str_of(text), &at, &name, &value), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int r;
		for (at = 0; (r = shallow_next(str_of(bad[i]), &at, &name, &value)) == 1;)
			;
		assert_int_equal(r, -1);
	}
	assert_int_equal(shallow_depth(str_of("[{\"[[[\":[]},1]")), 3);
}

static void test_text_is_made_valid(void **state)
{
	struct record record = RECORD_EMPTY;
	char *body;
	size_t len;
	(void)state;
	record.type = "x";
	record.tool = str_of("a\xff\xc3(\xed\xa0\x80z\n");
	record.input = str_of("{\"a\":\n1}");
	assert_int_equal(line_body(&record, &body, &len, NULL), 0);
	assert_non_null(strstr(body, "\"tool\":\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd"
				     "\xef\xbf\xbdz\\n\""));
	assert_non_null(strstr(body, "\"input\":{\"a\": 1}"));
	assert_null(strchr(body, '\n'));
	free(body);
}

/* Every half day of the years that are read by hand, and what is left to the library. */
static void test_times_are_read_as_they_are_written(void **state)
{
	(void)state;
	for (int64_t s = 0; s < 4102444800; s += 43207) {
		char text[LINE_TIME_MAX];
		int64_t ms = s * 1000 + s % 1000;
		line_time(ms, text);
		assert_int_equal(event_time(str_of(text)), ms);
	}
	assert_int_equal(event_time(STR("2026-02-29T00:00:00.000Z")), 1772323200000);
	assert_int_equal(event_time(STR("2100-03-01T00:00:00.000Z")), 4107542400000);
	assert_int_equal(event_time(STR("2026-01-01")), 1767225600000);
	assert_true(event_time(STR("x026-01-01T00:00:00.000Z")) == INT64_MIN);
	assert_true(event_time(STR("2026-01-01T00:00:00.000z")) == INT64_MIN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_chain_shows_any_change),
	    TEST(test_text_without_frame_is_no_record),
	    TEST(test_torn_end_is_cut_and_kept),
	    TEST(test_lines_of_others_are_moved_aside),
	    TEST(test_torn_first_write_is_cut),
	    TEST(test_log_of_others_is_left_alone),
	    TEST(test_links_are_not_followed),
	    TEST(test_drops_are_told_by_the_next_record),
	    TEST(test_lost_record_leaves_a_hole_in_its_session),
	    TEST(test_held_lock_is_given_up_on),
	    TEST(test_file_size_limit_is_counted),
	    TEST(test_full_disk_is_counted),
	    TEST(test_read_only_folder_is_counted),
	    TEST(test_too_large_record_is_refused),
	    TEST(test_shallow_walks_members),
	    TEST(test_text_is_made_valid),
	    TEST(test_times_are_read_as_they_are_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
