/* test-audit-verify.c - a store changed in every way, and what verify says of it. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../audit/chain.h"
#include "../../audit/db.h"
#include "../../audit/drops.h"
#include "../../audit/head.h"
#include "../../audit/ingest.h"
#include "../../audit/line.h"
#include "../../audit/log.h"
#include "../../audit/verify.h"

#include "test-audit-host.h"

#define RECORDS 10
#define LINES_MAX 64

struct text {
	char *lines[LINES_MAX]; /* without newline */
	int n;
};

static char *dir;
static struct store store;
static struct verify verify;

static void append(const char *session, uint32_t sseq, const char *type)
{
	struct record record = RECORD_EMPTY;
	char *body;
	size_t len;
	record.type = type;
	record.session = str_of(session);
	record.sseq = sseq;
	record.call = STR("c");
	record.tool = STR("echo");
	record.verdict = STR("allow");
	record.input = STR("{\"to\":\"you\"}");
	assert_int_equal(line_body(&record, &body, &len, NULL), 0);
	assert_int_equal(log_append(&store, (struct str){body, len}, NULL), 0);
	free(body);
}

/* Line 1 is audit.opened, so session record k is line k + 1. */
static int set_up(void **state)
{
	char path[4096];
	(void)state;
	dir = fake_folder();
	snprintf(path, sizeof(path), "%s/audit.db", dir);
	if (store_open(path, STORE_MAKE, &store, NULL) < 0)
		return -1;
	store.sync = false;
	for (uint32_t i = 1; i < RECORDS; i++)
		append("s", i, i % 2 ? "call.allowed" : "call.completed");
	return ingest_drain(&store, INGEST_NO_LIMIT, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	store_close(&store);
	fake_remove(dir);
	return 0;
}

static char *path_of(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void read_log(struct text *text)
{
	FILE *in = fopen(path_of(STORE_LOG), "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	text->n = 0;
	assert_non_null(in);
	while ((n = getline(&line, &room, in)) > 0) {
		line[n - 1] = '\0';
		text->lines[text->n++] = strdup(line);
	}
	free(line);
	fclose(in);
}

static void write_log(struct text *text)
{
	FILE *out = fopen(path_of(STORE_LOG), "w");
	assert_non_null(out);
	for (int i = 0; i < text->n; i++) {
		fprintf(out, "%s\n", text->lines[i]);
		free(text->lines[i]);
	}
	fclose(out);
}

static int check(bool index)
{
	struct error err;
	verify_done(&verify);
	verify_begin(&verify);
	if (verify_log(&store, &verify, &err) == 0 && index)
		verify_index(&store, &verify, &err);
	for (size_t i = 0; i < verify.n_findings; i++)
		printf("# %s\n", verify.findings[i].text);
	return (int)verify_code(&verify);
}

/* The body between "seq":N, and ,"prev" */
static char *body_of(const char *line)
{
	const char *from = strchr(strstr(line, "\"seq\":"), ',') + 1;
	return strndup(from, (size_t)(strstr(line, ",\"prev\":") - from));
}

/* All from line i on numbered and hashed anew, as whoever has the code can do. */
static void hash_anew(struct text *text, int i)
{
	struct chain chain;
	if (i == 0) {
		char id[64];
		sscanf(strstr(text->lines[0], "\"chain\":\"") + 9, "%63[^\"]", id);
		chain_begin(&chain, str_of(id));
	} else {
		assert_true(chain_read(str_of(text->lines[i - 1]), &chain));
	}
	for (; i < text->n; i++) {
		char *body = body_of(text->lines[i]), *line = NULL;
		size_t len = 0;
		assert_int_equal(chain_add(&chain, str_of(body), &line, &len, NULL), 0);
		free(text->lines[i]);
		text->lines[i] = strndup(line, len - 1);
		free(line);
		free(body);
	}
}

static void edit(struct text *text, int i)
{
	char *at = strstr(text->lines[i], "you");
	assert_non_null(at);
	memcpy(at, "eve", 3);
}

static void remove_lines(struct text *text, int from, int n)
{
	for (int i = from; i < from + n; i++)
		free(text->lines[i]);
	for (int i = from; i < text->n - n; i++)
		text->lines[i] = text->lines[i + n];
	text->n -= n;
}

static void insert(struct text *text, int at, const char *line)
{
	for (int i = text->n; i > at; i--)
		text->lines[i] = text->lines[i - 1];
	text->lines[at] = strdup(line);
	text->n++;
}

/* ---- ways to change a log ------------------------------------------------------------ */

static void edited(struct text *t) { edit(t, 4); }
static void edited_first(struct text *t) { t->lines[0][strlen(t->lines[0]) / 2] ^= 1; }
static void edited_last(struct text *t) { edit(t, t->n - 1); }
static void edited_number(struct text *t) { *(strstr(t->lines[4], "\"seq\":5") + 6) = '6'; }
static void removed(struct text *t) { remove_lines(t, 4, 1); }
static void removed_many(struct text *t) { remove_lines(t, 4, 3); }
static void removed_front(struct text *t) { remove_lines(t, 0, 2); }
static void doubled(struct text *t) { insert(t, 5, t->lines[4]); }
static void garbage(struct text *t) { insert(t, 5, "hello"); }
static void garbage_end(struct text *t) { insert(t, t->n, "hello"); }
static void empty_line(struct text *t) { insert(t, 5, ""); }
static void replaced(struct text *t)
{
	free(t->lines[4]);
	t->lines[4] = strdup("{}");
}
static void swapped(struct text *t)
{
	char *line = t->lines[4];
	t->lines[4] = t->lines[5];
	t->lines[5] = line;
}
static void put_in(struct text *t)
{
	struct text copy = {.n = 0};
	insert(&copy, 0, t->lines[3]);
	insert(&copy, 1, t->lines[7]);
	hash_anew(&copy, 1);
	insert(t, 4, copy.lines[1]);
	remove_lines(&copy, 0, 2);
}
static void edited_and_hashed(struct text *t)
{
	edit(t, 4);
	struct text one = {.n = 5};
	memcpy(one.lines, t->lines, sizeof(one.lines));
	hash_anew(&one, 4);
	t->lines[4] = one.lines[4];
}
static void rewritten(struct text *t)
{
	edit(t, 4);
	hash_anew(t, 4);
}
static void renumbered(struct text *t)
{
	remove_lines(t, 4, 1);
	hash_anew(t, 4);
}
static void cut(struct text *t) { remove_lines(t, t->n - 1, 1); }
static void nothing(struct text *t) { (void)t; }

static const struct {
	const char *name;
	void (*change)(struct text *);
	int alone;   /* what the log alone shows */
	int bad;     /* first bad number, 0: none */
	int indexed; /* with the database beside it */
	int indexed_bad;
	int headed; /* with head.bin beside it, and no database */
} ways[] = {
	{"nothing", nothing, 0, 0, 0, 0, 0},
	{"edited", edited, 1, 5, 1, 5, 0},
	{"edited first", edited_first, 1, 1, 1, 1, 0},
	{"edited last", edited_last, 1, 10, 1, 10, 0},
	{"edited number", edited_number, 1, 5, 1, 5, 0},
	{"removed", removed, 1, 5, 1, 5, 0},
	{"removed many", removed_many, 1, 5, 1, 5, 0},
	{"removed front", removed_front, 1, 1, 1, 1, 0},
	{"doubled", doubled, 1, 5, 1, 5, 0},
	{"garbage", garbage, 1, 6, 1, 6, 0},
	{"garbage at the end", garbage_end, 1, 11, 1, 11, 0},
	{"empty line", empty_line, 1, 6, 1, 6, 0},
	{"replaced", replaced, 1, 5, 1, 5, 0},
	{"swapped", swapped, 1, 5, 1, 5, 0},
	{"put in", put_in, 1, 5, 1, 5, 0},
	/* the break shows one further; the database knows better */
	{"edited and hashed", edited_and_hashed, 1, 6, 1, 5, 0},
	/* the chain alone cannot show these; the missing number of the session counts once
     * the session has been quiet for a while */
	{"rewritten", rewritten, 0, 0, 1, 5, 1},
	{"renumbered", renumbered, 0, 0, 1, 5, 2},
	{"cut", cut, 0, 0, 1, 10, 2},
};

static void test_each_change_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct text text;
		printf("# %s\n", ways[i].name);
		tear_down(NULL);
		set_up(NULL);
		read_log(&text);
		ways[i].change(&text);
		write_log(&text);
		assert_int_equal(check(false), ways[i].headed ? ways[i].headed : ways[i].alone);
		assert_int_equal(unlink(path_of(STORE_HEAD)), 0);
		assert_int_equal(check(false), ways[i].alone);
		assert_int_equal(verify.first_bad, ways[i].bad);
		assert_int_equal(check(true), ways[i].indexed);
		if (ways[i].indexed_bad)
			assert_int_equal(verify.first_bad, ways[i].indexed_bad);
	}
}

/* ---- the database -------------------------------------------------------------------- */

static const struct {
	const char *sql;
	int bad;
} lies[] = {
	{"DROP TRIGGER events_no_update; UPDATE events SET outcome = 'ok' WHERE seq = 4", 4},
	{"DROP TRIGGER events_no_update", 0},
	{"DROP TRIGGER events_no_update; UPDATE events SET data = replace(data, 'you', 'eve')"
     " WHERE seq = 4; CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT"
     " RAISE(ABORT, 'events is append-only'); END",
     4},
	{"DELETE FROM events WHERE seq = 6", 6},
	{"INSERT INTO events(seq, event_id, segment_id, byte_off, ts_ms, type, data, hash)"
     " VALUES(11, 'x', 1, 1000000, 0, 'call.allowed', '{}', '')",
     11},
	{"UPDATE decisions SET verdict = 'deny' WHERE seq = 2", 2},
	{"DELETE FROM tool_calls", 0},
	{"UPDATE tool_calls SET outcome = 'tool_error'", 0},
	{"UPDATE sessions SET n_denied = 7", 0},
	{"INSERT INTO skipped VALUES(1, 5, 1, 'why')", 0},
	{"DROP VIEW session_summaries; CREATE VIEW session_summaries AS SELECT 1", 0},
	{"DROP TABLE decisions", 0},
};

static void test_a_database_that_lies_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		sqlite3 *db;
		tear_down(NULL);
		set_up(NULL);
		assert_int_equal(check(true), 0);
		assert_true(verify.rows > RECORDS);
		assert_int_equal(sqlite3_open(store.db, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, lies[i].sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(check(true), 1);
		if (lies[i].bad)
			assert_int_equal(verify.first_bad, lies[i].bad);
		assert_int_equal(check(false), 0);
	}
}

static void test_a_database_behind_is_no_lie(void **state)
{
	(void)state;
	append("s", RECORDS, "call.allowed");
	assert_int_equal(check(true), 0);
	assert_true(verify.behind > 0);
	assert_int_equal(unlink(store.db), 0);
	assert_int_equal(check(true), 0);
	assert_true(verify.no_index);
}

static void test_a_broken_database_is_found(void **state)
{
	(void)state;
	int fd = open(store.db, O_WRONLY);
	assert_int_equal(pwrite(fd, "garbage", 7, 0), 7);
	close(fd);
	assert_int_equal(check(true), 1);
}

/* Another store's database, put in the place of this one. */
static void test_a_swapped_database_is_found(void **state)
{
	(void)state;
	char *mine = dir, other[4096];
	struct store first = store;
	set_up(NULL);
	append("other", 1, "call.allowed");
	assert_int_equal(ingest_drain(&store, INGEST_NO_LIMIT, NULL), 0);
	snprintf(other, sizeof(other), "%s", store.db);
	assert_int_equal(rename(other, first.db), 0);
	tear_down(NULL);
	store = first;
	dir = mine;
	assert_int_equal(check(true), 1);
}

/* ---- losses -------------------------------------------------------------------------- */

static void test_a_told_loss_is_a_gap(void **state)
{
	(void)state;
	assert_int_equal(drops_count(&store, REASON_NO_SPACE, NULL), 0);
	assert_int_equal(check(true), 3);
	assert_int_equal(verify.pending, 1);
	append("s", RECORDS + 1, "call.allowed");
	assert_int_equal(check(true), 3);
	assert_int_equal(verify.told, 1);
	assert_int_equal(verify.pending, 0);
	assert_int_equal(verify.first_bad, 0);
}

/* A number that nobody told of, in a session that has long been quiet: the times in the
 * log are set back, and all hashed anew. */
static void test_a_hole_in_a_session_is_a_gap(void **state)
{
	(void)state;
	struct text text;
	read_log(&text);
	remove_lines(&text, 4, 1);
	for (int i = 0; i < text.n; i++)
		memcpy(strstr(text.lines[i], "\"ts\":\"") + 6, "2020", 4);
	hash_anew(&text, 0);
	write_log(&text);
	unlink(path_of(STORE_HEAD));
	assert_int_equal(check(false), 3);
	assert_int_equal(verify.missing, 1);
}

static void test_a_torn_end_is_a_gap(void **state)
{
	(void)state;
	int fd = open(path_of(STORE_LOG), O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"v\":1,\"seq\":11,", 16), 16);
	close(fd);
	assert_int_equal(check(true), 3);
	assert_int_equal(verify.torn, 16);
}

static void test_what_cannot_be_read_is_said(void **state)
{
	(void)state;
	char path[4096];
	snprintf(path, sizeof(path), "%s", path_of(STORE_LOG));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(check(false), 4);
	rmdir(path);
}

/* Numbers may reach the log in any order; one that comes again is a new beginning. */
static void test_numbers_out_of_order_are_no_hole(void **state)
{
	(void)state;
	tear_down(NULL);
	set_up(NULL);
	append("t", 2, "call.allowed");
	append("t", 1, "call.allowed");
	append("t", 3, "call.allowed");
	append("t", 1, "call.allowed");
	struct text text;
	read_log(&text);
	for (int i = 0; i < text.n; i++)
		memcpy(strstr(text.lines[i], "\"ts\":\"") + 6, "2020", 4);
	hash_anew(&text, 0);
	write_log(&text);
	unlink(path_of(STORE_HEAD));
	assert_int_equal(check(false), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_each_change_is_found),
		TEST(test_a_database_that_lies_is_found),
		TEST(test_a_database_behind_is_no_lie),
		TEST(test_a_broken_database_is_found),
		TEST(test_a_swapped_database_is_found),
		TEST(test_a_told_loss_is_a_gap),
		TEST(test_a_hole_in_a_session_is_a_gap),
		TEST(test_a_torn_end_is_a_gap),
		TEST(test_what_cannot_be_read_is_said),
		TEST(test_numbers_out_of_order_are_no_hole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
