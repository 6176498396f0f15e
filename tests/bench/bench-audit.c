/* bench-audit.c - the audit store beside what the disk and SQLite do themselves.
 *
 *	bench-audit DIR
 *
 * 32 processes at a time, each for one record, as hooks are; fdatasync of a file by as
 * many; filling the index beside inserting the same rows; verify.
 */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../audit/counters.h"
#include "../../audit/db.h"
#include "../../audit/drops.h"
#include "../../audit/ingest.h"
#include "../../audit/line.h"
#include "../../audit/log.h"
#include "../../audit/project.h"
#include "../../audit/segment.h"
#include "../../audit/store.h"
#include "../../audit/verify.h"

#define WRITERS 32
#define EACH 25
#define ROWS 20000
#define TURNS 3 /* others use the machine, too */

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int write_record(struct store *store, int n, bool count)
{
	char session[24], call[24], *body;
	struct record r = RECORD_EMPTY;
	size_t len;
	snprintf(session, sizeof(session), "s%d", n % 50);
	snprintf(call, sizeof(call), "c%d", n / 2);
	r.type = n % 2 ? "call.completed" : "call.allowed";
	r.session = str_of(session);
	r.call = str_of(call);
	r.tool = STR("Bash");
	r.source = STR("builtin");
	r.client = STR("claude-code");
	r.cwd = STR("/home/dev/app");
	r.verdict = n % 2 ? (struct str){NULL, 0} : STR("allow");
	r.outcome = n % 2 ? STR("ok") : (struct str){NULL, 0};
	r.is_error = n % 2 ? 0 : -1;
	r.input = STR("{\"command\":\"make test\",\"description\":\"runs the tests of the tree\","
		      "\"timeout\":120000,\"run_in_background\":false}");
	r.result = n % 2 ? STR("{\"stdout\":\"PASS: 2700 tests\\nall is well\",\"stderr\":\"\"}")
			 : (struct str){NULL, 0};
	r.trace = STR("[{\"plugin\":\"limit\",\"verdict\":\"allow\",\"ns\":410},{\"plugin\":\"hosts\","
		      "\"verdict\":\"allow\",\"ns\":520}]");
	if (count)
		(void)counters_next(store, r.session, &r.sseq, NULL);
	int code = line_body(&r, &body, &len, NULL);
	if (code == 0) {
		code = log_append(store, (struct str){body, len}, NULL);
		free(body);
	}
	return code;
}

/* ---- writers -------------------------------------------------------------------------- */

#define PROCESSES (WRITERS * EACH)

struct shared {
	double ms[PROCESSES];
	int refused[PROCESSES];
};

static bool raw_record(const char *path)
{
	static const char line[800] = "x";
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	bool done = fd >= 0 && write(fd, line, sizeof(line)) == sizeof(line) && fdatasync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return done;
}

static bool our_record(const char *path, int n)
{
	struct store store;
	bool done = store_open(path, STORE_MAKE, &store, NULL) == 0 &&
		    write_record(&store, n, true) == 0;
	store_close(&store);
	return done;
}

static void one_of(struct shared *shared, const char *path, int n, bool raw)
{
	double start = now(CLOCK_MONOTONIC);
	shared->refused[n] = !(raw ? raw_record(path) : our_record(path, n));
	shared->ms[n] = now(CLOCK_MONOTONIC) - start;
}

static double writers(const char *what, const char *path, bool raw)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int refused = 0;
	if (shared == MAP_FAILED)
		exit(1);
	double start = now(CLOCK_MONOTONIC);
	int n = PROCESSES;
	for (int i = 0; i < n; i++) {
		if (i >= WRITERS)
			wait(NULL);
		if (fork() == 0) {
			one_of(shared, path, i, raw);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	double ms = now(CLOCK_MONOTONIC) - start;
	for (int i = 0; i < n; i++)
		refused += shared->refused[i];
	qsort(shared->ms, (size_t)n, sizeof(double), compare);
	double p99 = shared->ms[n * 99 / 100];
	printf("%-44s p50 %7.2f ms  p99 %7.2f ms  max %7.2f ms  %6.0f/s  refused %d\n", what,
	       shared->ms[n / 2], p99, shared->ms[n - 1], n * 1e3 / ms, refused);
	munmap(shared, sizeof(*shared));
	return p99;
}

/* ---- the index ------------------------------------------------------------------------ */

/* What SQLite takes for the same rows: the statements that made the index, their rows read
 * from it, in one transaction, into the same tables. */
static double copy_rows(const struct store *store, const char *path)
{
	static const char *const tables[] = {"events", "decisions", "tool_calls", "sessions"};
	sqlite3 *to, *from;
	struct store other;
	int64_t n = 0;
	if (store_open(path, STORE_MAKE, &other, NULL) < 0 ||
	    db_open(&other, DB_INGEST, &to, NULL) < 0 || db_open(store, DB_READ, &from, NULL) < 0)
		exit(1);
	double ms = 0;
	db_exec(to, "BEGIN IMMEDIATE", NULL);
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		char sql[400];
		sqlite3_stmt *in, *out;
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[t]);
		if (sqlite3_prepare_v2(from, sql, -1, &in, NULL) != SQLITE_OK)
			exit(1);
		size_t at = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?", tables[t]);
		for (int i = 1; i < sqlite3_column_count(in); i++)
			at += (size_t)snprintf(sql + at, sizeof(sql) - at, ",?");
		snprintf(sql + at, sizeof(sql) - at, ")");
		if (sqlite3_prepare_v2(to, sql, -1, &out, NULL) != SQLITE_OK)
			exit(1);
		while (sqlite3_step(in) == SQLITE_ROW) {
			for (int i = 0; i < sqlite3_column_count(in); i++)
				sqlite3_bind_value(out, i + 1, sqlite3_column_value(in, i));
			double start = now(CLOCK_THREAD_CPUTIME_ID);
			sqlite3_step(out);
			sqlite3_reset(out);
			ms += now(CLOCK_THREAD_CPUTIME_ID) - start;
			n++;
		}
		sqlite3_finalize(in);
		sqlite3_finalize(out);
	}
	double start = now(CLOCK_THREAD_CPUTIME_ID);
	db_exec(to, "COMMIT", NULL);
	ms += now(CLOCK_THREAD_CPUTIME_ID) - start;
	/* without what asking for the time has cost */
	start = now(CLOCK_THREAD_CPUTIME_ID);
	for (int64_t i = 0; i < n; i++)
		(void)now(CLOCK_THREAD_CPUTIME_ID);
	ms -= now(CLOCK_THREAD_CPUTIME_ID) - start;
	sqlite3_close(to);
	sqlite3_close(from);
	store_close(&other);
	printf("%-44s %8.0f ms of processor (%" PRId64 " rows)\n",
	       "SQLite alone: inserting the same rows", ms, n);
	return ms;
}

static void fill(const struct store *store, double *ret_cpu, double *ret_wall)
{
	struct error err = {""};
	double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
	if (ingest_drain(store, INGEST_NO_LIMIT, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*ret_cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	*ret_wall = now(CLOCK_MONOTONIC) - wall;
	printf("%-44s %8.0f ms, %.0f ms of processor (%d records)\n", "filling the index",
	       *ret_wall, *ret_cpu, ROWS);
}

int main(int argc, char **argv)
{
	char path[4096], raw[4096], copy[4096];
	struct store store;
	struct verify verify;
	struct error err = {""};
	if (argc != 2)
		return fputs("usage: bench-audit DIR\n", stderr), 2;
	if (mkdir(argv[1], 0700) != 0)
		return perror(argv[1]), 1;
	snprintf(path, sizeof(path), "%s/crowd/audit.db", argv[1]);
	snprintf(raw, sizeof(raw), "%s/raw", argv[1]);
	double disk = writers("32 writers, raw: open, write 800 B, fdatasync", raw, true);
	double p99 = writers("32 writers, a record each time, acknowledged", path, false);
	printf("%-44s %.2f x raw, wanted: p99 <= 60 ms\n", "  p99", p99 / disk);

	snprintf(path, sizeof(path), "%s/fill/audit.db", argv[1]);
	if (store_open(path, STORE_MAKE, &store, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	store.sync = false;
	for (int i = 0; i < ROWS; i++)
		write_record(&store, i, true);
	store.sync = true;
	double cpu = 0, wall = 0, least = 0, alone = 0;
	for (int turn = 0; turn < TURNS; turn++) {
		snprintf(copy, sizeof(copy), "%s/copy%d/audit.db", argv[1], turn);
		(void)unlink(path);
		fill(&store, &cpu, &wall);
		double ms = copy_rows(&store, copy);
		least = turn == 0 || cpu < least ? cpu : least;
		alone = turn == 0 || ms < alone ? ms : alone;
	}
	printf("%-44s %.2f x SQLite's own (least processor time of %d each), wanted: >= 0.8\n",
	       "  rate", alone / least, TURNS);

	verify_begin(&verify);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
	if (verify_log(&store, &verify, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = now(CLOCK_MONOTONIC) - wall;
	double mb = (double)verify.bytes / 1e6;
	printf("%-44s %8.0f MB/s, %.0f MB/s of processor (%.1f MB); wanted: >= 100\n",
	       "verify, the log", mb / wall * 1e3, mb / cpu * 1e3, mb);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
	if (verify_index(&store, &verify, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = now(CLOCK_MONOTONIC) - wall;
	printf("%-44s %8.0f MB/s, %.0f MB/s of processor\n",
	       "verify, the database against a new index", mb / wall * 1e3, mb / cpu * 1e3);
	if (verify_code(&verify) != VERIFY_INTACT)
		printf("verify: NOT INTACT: %s\n",
		       verify.n_findings ? verify.findings[0].text : "?");
	verify_done(&verify);
	store_close(&store);
	return 0;
}
