/* vote.c - pawl approvals approve, deny, cancel, wait and resume. */
#include <config.h>

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/cleanup.h"
#include "batch.h"
#include "command.h"
#include "hold.h"
#include "lineage.h"
#include "row.h"

#define LOOK_NS 100000000

/* The kernel says who this is; the user database only how they are called. */
static struct voter ourselves(void)
{
	const struct passwd *user = getpwuid(getuid());
	return (struct voter){.uid = getuid(),
			      .pid = getpid(),
			      .name = user ? user->pw_name : NULL,
			      .assurance = "process",
			      .channel = "cli"};
}

/* An attempt that was refused is worth a record, too; that it cannot be made changes nothing. */
static void tell_refused(struct approvals *queue, const struct line *line, const char *id,
			 const char *type)
{
	_cleanup_row_ struct row row = {0};
	struct error ignored;
	char data[256];
	if (!line->teller.tell || queue_begin(queue, QUEUE_READ, &ignored) < 0)
		return;
	if (row_find(queue, &row, &ignored, "id = ?", "c", id) == 0) {
		snprintf(data, sizeof(data),
			 "{\"approval\":\"%.*s\",\"by\":\"uid %lu\",\"status\":\"%.*s\"}",
			 STR_FMT(row.id), (unsigned long)getuid(), STR_FMT(row.status));
		line->teller.tell(line->teller.context, type, &row, str_of(data), &ignored);
	}
	row_done(&row);
	queue_end(queue, 0, &ignored);
}

/* At a terminal: shows the call, and asks for the beginning of its digest. */
static int prompt(struct approvals *queue, const struct line *line, char *buf, size_t size,
		  struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int r = queue_begin(queue, QUEUE_READ, err);
	if (r < 0)
		return r;
	r = row_find(queue, &row, err, "id = ?", "c", line->ids[0]);
	if (r == 0)
		command_print_row(queue, &row);
	row_done(&row);
	r = queue_end(queue, r, err);
	if (r < 0)
		return r == -ENOENT ? error_set(err, ENOENT, "no approval has the id \"%s\"",
						line->ids[0]) :
				      r;
	printf("\nTo approve it, type the first %d characters of its digest: ", DIGEST_PREFIX_MIN);
	fflush(stdout);
	if (!fgets(buf, (int)size, stdin))
		buf[0] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
	return 0;
}

static bool may_prompt(const struct line *line)
{
	return line->n_digests == 0 && line->n_ids == 1 && !line->json && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

static void say_done(const struct line *line, enum ballot_kind kind, size_t done)
{
	static const char *const words[] = {"approved", "denied", "canceled"};
	size_t n = line->n_ids;
	if (line->quiet)
		return;
	if (line->batch)
		printf("%s %zu of batch %s\n", words[kind], done, line->batch);
	else if (done < n)
		printf("your approval is noted; %zu of %zu still need%s others\n", n - done, n,
		       n - done == 1 ? "s" : "");
	else
		for (size_t i = 0; i < n; i++)
			printf("%s %s\n", words[kind], line->ids[i]);
}

static int cast(const struct line *line, enum ballot_kind kind)
{
	_cleanup_queue_ struct approvals *queue = NULL;
	struct error err;
	char typed[DIGEST_HEX + 16];
	struct str digest;
	struct voter voter = ourselves();
	size_t done = 0;
	struct ballot ballot = {.kind = kind, .ids = line->ids, .n_ids = line->n_ids,
				.batch = line->batch, .digests = line->digests,
				.n_digests = line->n_digests, .reason = str_of(line->reason)};
	int r = command_open(line, &queue, &err);
	if (r == 1)
		r = error_set(&err, ENOENT, "no approval has the id \"%s\"",
			      line->batch ? line->batch : line->ids[0]);
	if (r == 0 && kind == BALLOT_APPROVE && may_prompt(line)) {
		r = prompt(queue, line, typed, sizeof(typed), &err);
		digest = str_of(typed);
		ballot.digests = &digest;
		ballot.n_digests = 1;
	}
	if (r == 0)
		r = decide_cast(queue, &ballot, &voter, &line->teller, &done, &err);
	if (r == 0) {
		say_done(line, kind, done);
		return 0;
	}
	if (queue && r != -ENOENT && r != -EINVAL && line->n_ids > 0)
		tell_refused(queue, line, line->ids[0],
			     r == -EBADMSG ? "approval.mismatch" : "approval.refused");
	return r == -EINVAL ? (command_failed(r, &err), 1) : command_failed(r, &err);
}

int command_approve(const struct line *line)
{
	return cast(line, BALLOT_APPROVE);
}

int command_deny(const struct line *line)
{
	return cast(line, BALLOT_DENY);
}

int command_cancel(const struct line *line)
{
	return cast(line, BALLOT_CANCEL);
}

/* ---- wait -------------------------------------------------------------------------------- */

/* "30s" "5m" "250ms"; -1 malformed, INT64_MAX when not given */
static int64_t patience(const char *text)
{
	long long n;
	int used = 0;
	if (!text)
		return INT64_MAX;
	if (sscanf(text, "%lld%n", &n, &used) != 1 || n < 0 || n > 100000000)
		return -1;
	const char *unit = text + used;
	return strcmp(unit, "ms") == 0			 ? n * 1000000 :
	       strcmp(unit, "s") == 0 || unit[0] == '\0' ? n * 1000000000 :
	       strcmp(unit, "m") == 0			 ? n * 60 * 1000000000 :
							   -1;
}

static int say_end(const struct line *line, const struct approval_state *state)
{
	if (line->json)
		return command_show(line) == 0 && state->status <= APPROVAL_CONSUMED ? 0 : 1;
	if (!line->quiet)
		printf("%s %s%s%s%s%s\n", state->id, status_name(state->status),
		       state->who[0] ? " by " : "", state->who, state->reason[0] ? ": " : "",
		       state->reason);
	return state->status <= APPROVAL_CONSUMED ? 0 : 1;
}

/* As it stands: whose time is over is for the sweep, which records it. */
static int look(struct approvals *queue, const char *id, struct approval_state *state,
		struct error *err)
{
	_cleanup_row_ struct row row = {0};
	*state = (struct approval_state){.status = APPROVAL_PENDING};
	int r = queue_begin(queue, QUEUE_READ, err);
	if (r < 0)
		return r;
	r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r == -ENOENT)
		error_set(err, ENOENT, "no approval has the id \"%s\"", id);
	if (r == 0)
		hold_state(queue, &row, state);
	row_done(&row);
	return queue_end(queue, r, err);
}

int command_wait(const struct line *line)
{
	_cleanup_queue_ struct approvals *queue = NULL;
	struct approval_state state = {.status = APPROVAL_PENDING};
	struct error err;
	int64_t limit = patience(line->timeout), start = io_monotonic_ns();
	if (limit < 0) {
		error_set(&err, EINVAL, "--timeout: \"%s\" is not a duration", line->timeout);
		return command_failed(-EINVAL, &err);
	}
	int r = command_open(line, &queue, &err);
	if (r == 1)
		r = error_set(&err, ENOENT, "no approval has the id \"%s\"", line->ids[0]);
	while (r == 0) {
		r = decide_sweep(queue, &line->teller, &err);
		if (r == 0)
			r = look(queue, line->ids[0], &state, &err);
		if (r < 0 || state.status != APPROVAL_PENDING)
			break;
		if (io_monotonic_ns() - start > limit) {
			error_set(&err, EAGAIN, "%s is still pending", state.id);
			return command_failed(-EAGAIN, &err);
		}
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	}
	return r < 0 ? command_failed(r, &err) : say_end(line, &state);
}

/* ---- resume ------------------------------------------------------------------------------ */

int command_resume(const struct line *line)
{
	_cleanup_queue_ struct approvals *queue = NULL;
	_cleanup_free_ char *answers = NULL;
	struct error err;
	int r = command_open(line, &queue, &err);
	if (r == 1)
		r = error_set(&err, ENOENT, "no batch has the id \"%s\"", line->ids[0]);
	if (r == 0)
		r = batch_resume(queue, line->ids[0], line->policy, &line->teller, &answers, &err);
	if (r < 0)
		return command_failed(r, &err);
	fputs(answers, stdout);
	if (fflush(stdout) == 0)
		return 0;
	error_set(&err, errno, "the answers could not be written, and are given once: %s",
		  strerror(errno));
	return command_failed(-EIO, &err);
}
