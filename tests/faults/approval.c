/* approval.c - one approval from its call to its use, again and again, each time with another
 * system call failing in it.
 *
 *	approval FAULTS STRIDE SCRATCH CONFIG EVENT PAWL
 *
 * FAULTS as for sweep.c, without MALLOC. The config keeps everything in SCRATCH/state and gates
 * EVENT's tool. Three steps are swept, every STRIDE-th call of each process of each:
 *
 *	hold	the call is made for the first time
 *	vote	a person approves it
 *	use	it is made again
 *
 * After each failure the rest is done with nothing failing. Then what was said has to be so, a
 * call or a vote is there once or not at all, a yes has let the call run once - not at all only
 * where it is gone, and the call refused - and where an audit log is kept, it tells of it.
 * What went otherwise is a "# ..." line; the last line is "RUNS WRONG UNUSED". Ends with 77 and
 * a word where the kernel does not let us. */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "run.h"

#define PROCESSES 4 /* a hook's three, and one more for whoever grows a fourth */
#define ID_MAX 64
#define PATH_SIZE 4096

struct test {
	long stride;
	const char *scratch, *config, *event, *pawl;
	bool audited;
	struct outcome now, then; /* what failed; what came after */
	char id[ID_MAX];	  /* of the healthy run, in the folders that are kept */
	char digest[128], kept_call[RUN_TEXT_MAX];
	const char *wrong;
	long runs, wrongs, unused;
};

enum answer { BROKEN, REFUSED, WAITS, RUNS };

/* ---- the folder --------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
	struct stat st;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) != 0)
		exit(99);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0 || (st.st_size > 0 && sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size))
		exit(99);
	close(in);
	close(out);
}

static void copy_files(const char *from, const char *to)
{
	char source[PATH_SIZE], target[PATH_SIZE];
	struct stat st;
	DIR *dir = opendir(from);
	if (!dir)
		exit(99);
	for (struct dirent *entry; (entry = readdir(dir));) {
		snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
		snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
		if (lstat(source, &st) == 0 && S_ISREG(st.st_mode))
			copy_file(source, target);
	}
	closedir(dir);
}

/* A folder that was copied is an old one to the queue; one that is not bound to a place yet is
 * bound to the next. */
static void unbind(const struct test *t)
{
	char path[PATH_SIZE];
	sqlite3 *db = NULL;
	snprintf(path, sizeof(path), "%s/state/approvals.db", t->scratch);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, "UPDATE steps SET place = ''", NULL, NULL, NULL) != SQLITE_OK)
		exit(99);
	sqlite3_close(db);
}

/* "state" is what the config names; "held" and "voted" are copies of it. */
static const char *folder(const struct test *t, const char *name, char buf[PATH_SIZE])
{
	snprintf(buf, PATH_SIZE, "%s/%s", t->scratch, name);
	return buf;
}

static void keep(const struct test *t, const char *name)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	unbind(t);
	mkdir(folder(t, name, to), 0700);
	run_empty(to);
	copy_files(folder(t, "state", from), to);
}

static void put_back(const struct test *t, const char *name)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	run_empty(folder(t, "state", to));
	if (name)
		copy_files(folder(t, name, from), to);
}

/* ---- what is there -------------------------------------------------------------------- */

/* One value of the queue, as text; "" where there is none. */
static const char *value(const struct test *t, const char *sql, char *buf, size_t size)
{
	char path[PATH_SIZE];
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	snprintf(path, sizeof(path), "%s/state/approvals.db", t->scratch);
	buf[0] = '\0';
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		snprintf(buf, size, "%s", sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return buf;
}

static bool is(const struct test *t, const char *expected, const char *sql)
{
	static char text[RUN_TEXT_MAX];
	return strcmp(value(t, sql, text, sizeof(text)), expected) == 0;
}

static bool is_logged(const struct test *t, const char *type, const char *id)
{
	static char line[RUN_TEXT_MAX];
	char path[PATH_SIZE];
	bool found = false;
	snprintf(path, sizeof(path), "%s/state/audit_log.jsonl", t->scratch);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, type) && strstr(line, id);
	if (f)
		fclose(f);
	return found;
}

#define CALLS                                                                                      \
	"SELECT group_concat(status || digest || args || session_id || tool_name) FROM approvals"
#define VOTES "SELECT count(*) FROM votes"
#define USED "SELECT count(*) FROM approvals WHERE status = 'consumed'"

/* ---- the steps --------------------------------------------------------------------------- */

/* execv changes none of the words. */
static void start(const char *const words[], const char *input, struct fault *fault,
		  struct outcome *outcome)
{
	run((char *const *)(uintptr_t)words, input, strlen(input), fault, fault != NULL, outcome);
}

static void ask(struct test *t, struct fault *fault, struct outcome *outcome)
{
	const char *words[] = {t->pawl, "hook", "claude-code", "--config", t->config, NULL};
	start(words, t->event, fault, outcome);
}

static void approve(struct test *t, struct fault *fault, struct outcome *outcome)
{
	const char *words[] = {t->pawl, "--config", t->config,	"approvals", "approve",
			       t->id,	"--digest", t->digest, NULL};
	if (fault)
		fault->all = true;
	start(words, "", fault, outcome);
}

/* What a client would do; ret_id is the approval's, where the answer names one. */
static enum answer answer(const struct outcome *o, char ret_id[ID_MAX])
{
	const char *end = strchr(o->out, '\n'), *at = strstr(o->out, "pending as ");
	ret_id[0] = '\0';
	if (o->late)
		return BROKEN;
	if (o->status == 0 && !o->out[0])
		return RUNS;
	if (o->status != 2 || !strstr(o->out, "\"permissionDecision\":\"deny\"") || !end || end[1] ||
	    !o->err[0])
		return BROKEN;
	if (at)
		sscanf(at, "pending as %63[a-z0-9-]", ret_id);
	return at ? WAITS : REFUSED;
}

static void expect(struct test *t, bool well, const char *what)
{
	if (!well && !t->wrong)
		t->wrong = what;
}

/* The front itself killed is no answer, and the client's to refuse. */
static bool is_gone(const struct test *t, const struct fault *fault)
{
	return fault->process == 0 && fault->error == 0 && t->now.status == 128 + 9;
}

static enum answer again(struct test *t, char id[ID_MAX])
{
	ask(t, NULL, &t->then);
	return answer(&t->then, id);
}

static void hold(struct test *t, struct fault *fault)
{
	char said[ID_MAX], id[ID_MAX];
	put_back(t, NULL);
	ask(t, fault, &t->now);
	enum answer first = answer(&t->now, said);
	expect(t, is_gone(t, fault) || first == REFUSED || first == WAITS, "not refused");
	expect(t, again(t, id) == WAITS, "cannot be held any more");
	expect(t, first != WAITS || strcmp(said, id) == 0, "what was said to wait does not");
	expect(t, is(t, t->kept_call, CALLS), "not there once, or not as it was made");
	expect(t, is(t, "0", VOTES), "votes that nobody gave");
}

static void vote(struct test *t, struct fault *fault)
{
	char id[ID_MAX];
	put_back(t, "held");
	approve(t, fault, &t->now);
	bool said = t->now.status == 0 && !t->now.late;
	expect(t, !t->now.late, "hangs");
	expect(t, said || t->now.status > 128 || t->now.err[0], "fails and does not say why");
	expect(t, !said || !t->audited || (is_logged(t, "approval.voted", t->id) &&
					     is_logged(t, "approval.decided", t->id)),
	       "not on record");
	enum answer next = again(t, id);
	expect(t, !said || next == RUNS, "what was said to be approved is not");
	if (next == WAITS) {
		expect(t, strcmp(id, t->id) == 0, "waits as another");
		expect(t, is(t, t->kept_call, CALLS) && is(t, "0", VOTES), "half a vote");
		approve(t, NULL, &t->then);
		expect(t, t->then.status == 0, "cannot be approved any more");
		next = again(t, id);
	}
	expect(t, next == RUNS, "does not run");
	expect(t, is(t, "1", VOTES) && is(t, "1", USED), "not voted or used once");
}

static void use(struct test *t, struct fault *fault)
{
	char id[ID_MAX];
	put_back(t, "voted");
	ask(t, fault, &t->now);
	enum answer first = answer(&t->now, id);
	expect(t, is_gone(t, fault) || first != BROKEN, "no answer");
	expect(t, first != RUNS || is(t, "1", USED), "runs and is not used");
	expect(t, first != RUNS || !t->audited || (is_logged(t, "approval.consumed", t->id) &&
						     is_logged(t, "call.allowed", t->id)),
	       "runs and is not on record");
	bool gone = first != RUNS && is(t, "1", USED);
	enum answer second = again(t, id);
	expect(t, (second == RUNS) == (first != RUNS && !gone), "runs twice, or not at all");
	expect(t, again(t, id) == WAITS, "runs again");
	expect(t, is(t, "1", USED), "not used once");
	t->unused += gone;
}

static const struct {
	const char *name;
	void (*run)(struct test *t, struct fault *fault);
} steps[] = {{"hold", hold}, {"vote", vote}, {"use", use}};

/* ---- the sweep ------------------------------------------------------------------------------- */

static void one(struct test *t, size_t step, const char *name, struct fault *fault)
{
	t->wrong = NULL;
	fault->hit = false;
	steps[step].run(t, fault);
	t->runs += fault->hit;
	if (!t->wrong)
		return;
	t->wrongs++;
	printf("# %s, %s at %ld of process %d (system call %ld): %s; status %d, stdout %.250s, "
	       "stderr %.250s; then %d, %.250s\n",
	       steps[step].name, name, fault->call, fault->process, fault->number, t->wrong,
	       t->now.status, t->now.out, t->now.err, t->then.status, t->then.out);
}

/* Each fault begins at another place, so that a stride misses as little as it can. */
static void sweep(struct test *t, const char *name, int error, int turn)
{
	for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++)
		for (int process = 0; process < PROCESSES; process++) {
			struct fault fault = {.process = process, .error = error, .hit = true};
			fault.call = 1 + (turn * 5 + (long)step * 3) % t->stride;
			for (; fault.hit; fault.call += t->stride)
				one(t, step, name, &fault);
		}
}

/* Nothing fails: what the steps begin with. */
static bool is_ready(struct test *t)
{
	char path[PATH_SIZE], none[ID_MAX];
	put_back(t, NULL);
	if (again(t, t->id) != WAITS)
		return false;
	value(t, CALLS, t->kept_call, sizeof(t->kept_call));
	value(t, "SELECT digest FROM approvals", t->digest, sizeof(t->digest));
	t->audited = access(folder(t, "state/audit_log.jsonl", path), F_OK) == 0;
	keep(t, "held");
	approve(t, NULL, &t->then);
	if (t->then.status != 0)
		return false;
	keep(t, "voted");
	return again(t, none) == RUNS && again(t, none) == WAITS;
}

int main(int argc, char **argv)
{
	static struct test t;
	int error, turn = 0;
	const char *why = trace_unavailable();
	if (argc != 7 || (t.stride = atol(argv[2])) < 1)
		return 99;
	if (why) {
		puts(why);
		return 77;
	}
	t.scratch = argv[3];
	t.config = argv[4];
	t.event = argv[5];
	t.pawl = argv[6];
	run_prepare();
	if (!is_ready(&t)) {
		printf("# nothing fails, and yet: status %d, stdout %s, stderr %s\n", t.then.status,
		       t.then.out, t.then.err);
		return 99;
	}
	for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) {
		if (run_fault(name, &error) < 0)
			return 99;
		sweep(&t, name, error, turn++);
	}
	printf("%ld %ld %ld\n", t.runs, t.wrongs, t.unused);
	return 0;
}
