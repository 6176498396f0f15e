/* decide.c - see decide.h. */
#include <config.h>

#include "decide.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "lineage.h"
#include "mark.h"

#define WHO_MAX 128

/* One ballot, while it is counted. */
struct count {
	struct approvals *queue;
	const struct ballot *ballot;
	const struct voter *voter;
	const struct teller *teller;
	bool by_batch; /* the batch's digest was named, so each call's is */
	char who[WHO_MAX];
	size_t done;
};

/* ---- telling ------------------------------------------------------------------------------ */

static void add_member(struct buffer *out, const char *name, const char *value)
{
	char text[2 * DECIDE_REASON_MAX + 64];
	buffer_add(out, out->len > 0 ? STR(",\"") : STR("{\""));
	buffer_add(out, str_of(name));
	buffer_add(out, STR("\":\""));
	buffer_add(out, (struct str){text, text_json(str_of(value), text, sizeof(text))});
	buffer_add(out, STR("\""));
}

static int tell(const struct count *count, const char *type, const struct row *row,
		const char *decision, struct error *err)
{
	_cleanup_(buffer_done) struct buffer data = {.max = 16384};
	char id[APPROVAL_ID_MAX], digest[DIGEST_HEX + 1], reason[DECIDE_REASON_MAX + 8];
	if (!count->teller || !count->teller->tell)
		return 0;
	snprintf(id, sizeof(id), "%.*s", STR_FMT(row->id));
	snprintf(digest, sizeof(digest), "%.*s", STR_FMT(row->digest));
	text_clean(count->ballot->reason.ptr ? count->ballot->reason : STR(""), reason,
		   sizeof(reason));
	add_member(&data, "approval", id);
	add_member(&data, "decision", decision);
	add_member(&data, "by", count->who);
	add_member(&data, "assurance", count->voter->assurance);
	add_member(&data, "channel", count->voter->channel);
	add_member(&data, "digest", digest);
	if (reason[0])
		add_member(&data, "reason", reason);
	buffer_add(&data, STR("}"));
	if (data.error < 0)
		return error_set(err, -data.error, "out of memory");
	return count->teller->tell(count->teller->context, type, row, buffer_str(&data), err);
}

/* ---- may this be decided, and by this one? --------------------------------------------------- */

static int refuse_ended(const struct count *count, const struct row *row, struct error *err)
{
	char when[32] = "", who[WHO_MAX], why[256];
	time_t t = (time_t)(row->decided_ms / 1000);
	struct tm tm;
	if (row->decided_ms > 0 && gmtime_r(&t, &tm))
		strftime(when, sizeof(when), " at %Y-%m-%dT%H:%M:%SZ", &tm);
	text_clean(row->decided_by.ptr ? row->decided_by : STR("somebody"), who, sizeof(who));
	switch (row_status(row)) {
	case APPROVAL_EXPIRED:
		row_expired_why(row, why, sizeof(why));
		return error_set(err, ESTALE, "%.*s has expired: %s", STR_FMT(row->id), why);
	case APPROVAL_CONSUMED:
		return error_set(err, ESTALE, "%.*s was approved%s by %s, and has been used",
				 STR_FMT(row->id), when, who);
	case APPROVAL_CANCELED:
		text_clean(row->decided_why.ptr ? row->decided_why : STR(""), why, sizeof(why));
		return error_set(err, ESTALE, "%.*s was canceled%s%s", STR_FMT(row->id),
				 why[0] ? ": " : "", why);
	default:
		if (count->ballot->kind == BALLOT_CANCEL && row_status(row) == APPROVAL_APPROVED)
			return 0;
		return error_set(err, ESTALE, "%.*s is already %.*s%s by %s", STR_FMT(row->id),
				 STR_FMT(row->status), when, who);
	}
}

static int check_open(const struct count *count, const struct row *row, struct error *err)
{
	int64_t left;
	char why[256];
	if (row_over(count->queue, row, &left)) {
		row_expired_why(row, why, sizeof(why));
		return error_set(err, ESTALE, "%.*s has expired: %s", STR_FMT(row->id), why);
	}
	return row_status(row) == APPROVAL_PENDING ? 0 : refuse_ended(count, row, err);
}

/* Nobody approves what they did not see. A digest that is given with a denial must fit, too. */
static int check_digest(const struct count *count, const struct row *row, struct error *err)
{
	const struct ballot *b = count->ballot;
	char digest[DIGEST_HEX + 1];
	snprintf(digest, sizeof(digest), "%.*s", STR_FMT(row->digest));
	if (count->by_batch || (b->kind != BALLOT_APPROVE && b->n_digests == 0))
		return 0;
	for (size_t i = 0; i < b->n_digests; i++)
		if (digest_named(digest, b->digests[i]))
			return 0;
	return error_set(err, EBADMSG,
			 "%.*s has another digest than the one given; look again with `pawl "
			 "approvals show %.*s`",
			 STR_FMT(row->id), STR_FMT(row->id));
}

/* In a system install uids tell people and agents apart; in a user install both are one uid,
 * and what the agent started is known by its ancestors. */
static int check_self(const struct count *count, const struct row *row, struct error *err)
{
	const struct voter *voter = count->voter;
	if (count->ballot->kind != BALLOT_APPROVE || row->allow_self)
		return 0;
	if (row->system && (int64_t)voter->uid == row->uid)
		return error_set(err, EPERM,
				 "uid %lu asked for %.*s and may not approve it (approval.allow_self "
				 "is false)",
				 (unsigned long)voter->uid, STR_FMT(row->id));
	struct process agent = {row->agent_pid, row->agent_started};
	if (!row->system && voter->pid > 0 && lineage_descends(voter->pid, agent))
		return error_set(err, EPERM,
				 "%.*s was asked for by process %" PRId64 ", which started this one: "
				 "the agent may not approve its own call (approval.allow_self is "
				 "false)",
				 STR_FMT(row->id), agent.pid);
	return 0;
}

static int check_ballot(const struct ballot *b, struct error *err)
{
	if (b->n_ids > DECIDE_BALLOT_MAX)
		return error_set(err, EINVAL, "more than %d calls at a time", DECIDE_BALLOT_MAX);
	if (b->kind == BALLOT_APPROVE && b->n_digests == 0)
		return error_set(err, EINVAL,
				 "name the first characters of the digest (--digest PREFIX, %d or "
				 "more), as `pawl approvals show` prints it",
				 DIGEST_PREFIX_MIN);
	for (size_t i = 0; i < b->n_digests; i++) {
		struct str d = b->digests[i];
		if (str_starts(d, STR("sha256:")))
			d = str_after(d, 7);
		if (d.len < DIGEST_PREFIX_MIN || d.len > DIGEST_HEX)
			return error_set(err, EINVAL,
					 "\"%.*s\" is not the beginning of a digest: %d characters at "
					 "least, %d at most",
					 STR_FMT(d), DIGEST_PREFIX_MIN, DIGEST_HEX);
	}
	if (b->kind == BALLOT_DENY && b->reason.len == 0)
		return error_set(err, EINVAL, "a denial needs a reason, which the model is told "
					      "(--reason TEXT)");
	if (b->reason.len > DECIDE_REASON_MAX)
		return error_set(err, EINVAL, "the reason is longer than %d bytes",
				 DECIDE_REASON_MAX);
	return 0;
}

/* ---- counting ------------------------------------------------------------------------------- */

static const char *const words[] = {
	[BALLOT_APPROVE] = "approve", [BALLOT_DENY] = "deny", [BALLOT_CANCEL] = "cancel",
};
static const char *const ends[] = {
	[BALLOT_APPROVE] = "approved", [BALLOT_DENY] = "denied", [BALLOT_CANCEL] = "canceled",
};

/* One vote each, and it stands: who changes their mind can take the question back. */
static int has_voted(const struct count *count, const struct row *row, const char *approver,
		     struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(count->queue, &stmt, err,
			    "SELECT decision = 'approve' FROM votes WHERE approval_id = ?"
			    " AND approver = ?",
			    "tc", row->id, approver);
	if (r < 0)
		return r;
	int rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : queue_failed(count->queue, err);
	if (count->ballot->kind == BALLOT_APPROVE && sqlite3_column_int(stmt, 0))
		return error_set(err, EALREADY,
				 "%s has approved %.*s already; it needs %" PRId64
				 " different people",
				 count->who, STR_FMT(row->id), row->need);
	return error_set(err, EALREADY,
			 "%s has voted on %.*s already, and a vote stands; `pawl approvals cancel "
			 "%.*s` takes the question back",
			 count->who, STR_FMT(row->id), STR_FMT(row->id));
}

static int add_vote(const struct count *count, const struct row *row, struct error *err)
{
	const struct voter *voter = count->voter;
	char approver[32];
	snprintf(approver, sizeof(approver), "uid:%lu", (unsigned long)voter->uid);
	int r = has_voted(count, row, approver, err);
	if (r < 0)
		return r;
	return queue_run(count->queue, err,
			 "INSERT INTO votes(approval_id, approver, name, assurance, channel,"
			 " decision, reason, seen_digest, at_ms) VALUES(?,?,?,?,?,?,?,?,?)",
			 "tccccctti", row->id,
			 approver, voter->name, voter->assurance, voter->channel,
			 words[count->ballot->kind], count->ballot->reason, row->digest,
			 count->queue->now.wall_ms);
}

static int enough(const struct count *count, const struct row *row, bool *ret, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(count->queue, &stmt, err, "SELECT count(*) FROM votes"
						      " WHERE approval_id = ? AND decision = 'approve'",
			    "t", row->id);
	if (r == 0 && sqlite3_step(stmt) != SQLITE_ROW)
		r = queue_failed(count->queue, err);
	if (r == 0)
		*ret = sqlite3_column_int64(stmt, 0) >= row->need;
	return r;
}

static int finish(struct count *count, const struct row *row, struct error *err)
{
	const struct moment *now = &count->queue->now;
	const char *status = ends[count->ballot->kind];
	int r = queue_run(count->queue, err,
			  "UPDATE approvals SET status = ?, decided_ms = ?, decided_boot_ns = ?,"
			  " decided_boot = ?, decided_by = ?, decided_why = ?"
			  " WHERE id = ? AND status = ?",
			  "ciiccttt", status, now->wall_ms, now->boot_ns, now->boot, count->who,
			  count->ballot->reason, row->id, row->status);
	if (r == 0 && sqlite3_changes(count->queue->db) != 1)
		r = error_set(err, ESTALE, "%.*s was decided by somebody else", STR_FMT(row->id));
	if (r == 0)
		r = tell(count,
			 count->ballot->kind == BALLOT_CANCEL ? "approval.canceled" :
								"approval.decided",
			 row, status, err);
	count->done += r == 0;
	return r;
}

static int count_row(struct count *count, const struct row *row, struct error *err)
{
	bool decided = true;
	int r = check_open(count, row, err);
	if (r == 0)
		r = check_digest(count, row, err);
	if (r == 0)
		r = check_self(count, row, err);
	if (r < 0 || count->ballot->kind == BALLOT_CANCEL)
		return r < 0 ? r : finish(count, row, err);
	r = add_vote(count, row, err);
	if (r == 0)
		r = tell(count, "approval.voted", row, words[count->ballot->kind], err);
	if (r == 0 && count->ballot->kind == BALLOT_APPROVE)
		r = enough(count, row, &decided, err);
	return r == 0 && decided ? finish(count, row, err) : r;
}

static int count_id(struct count *count, const char *id, struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int r = row_find(count->queue, &row, err, "id = ?", "c", id);
	if (r == -ENOENT)
		return error_set(err, ENOENT, "no approval has the id \"%s\"", id);
	return r < 0 ? r : count_row(count, &row, err);
}

/* ---- batches ---------------------------------------------------------------------------------- */

struct ids {
	char id[DECIDE_BALLOT_MAX][APPROVAL_ID_MAX];
	char digest[DECIDE_BALLOT_MAX][DIGEST_HEX + 1];
	size_t n;
};

static int batch_ids(struct approvals *queue, const char *batch, bool pending, struct ids *ids,
		     struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int rc, r = queue_query(queue, &stmt, err,
				"SELECT id, digest FROM approvals WHERE (batch_id = ?1 OR id IN"
				" (SELECT approval_id FROM batch_calls WHERE batch_id = ?1))"
				" AND (status = 'pending' OR NOT ?2) ORDER BY id",
				"ci", batch, (int64_t)pending);
	if (r < 0)
		return r;
	for (ids->n = 0; (rc = sqlite3_step(stmt)) == SQLITE_ROW; ids->n++) {
		if (ids->n == DECIDE_BALLOT_MAX)
			return error_set(err, E2BIG, "more than %d calls at a time",
					 DECIDE_BALLOT_MAX);
		snprintf(ids->id[ids->n], APPROVAL_ID_MAX, "%s", sqlite3_column_text(stmt, 0));
		snprintf(ids->digest[ids->n], DIGEST_HEX + 1, "%s", sqlite3_column_text(stmt, 1));
	}
	return rc == SQLITE_DONE ? 0 : queue_failed(queue, err);
}

static void digest_of_ids(const struct ids *ids, char ret[DIGEST_HEX + 1])
{
	_cleanup_(buffer_done) struct buffer all = {.max = sizeof(ids->digest)};
	for (size_t i = 0; i < ids->n; i++)
		buffer_add(&all, str_of(ids->digest[i]));
	digest_bytes(buffer_str(&all), ret);
}

int decide_batch_digest(struct approvals *queue, const char *batch, char ret[DIGEST_HEX + 1],
			struct error *err)
{
	_cleanup_free_ struct ids *ids = calloc(1, sizeof(*ids));
	int r = ids ? batch_ids(queue, batch, false, ids, err) :
		      error_set(err, ENOMEM, "out of memory");
	if (r == 0)
		digest_of_ids(ids, ret);
	return r;
}

static int count_batch(struct count *count, struct error *err)
{
	const struct ballot *b = count->ballot;
	char digest[DIGEST_HEX + 1];
	_cleanup_free_ struct ids *ids = calloc(1, sizeof(*ids));
	int r = ids ? batch_ids(count->queue, b->batch, false, ids, err) :
		      error_set(err, ENOMEM, "out of memory");
	if (r == 0 && ids->n == 0)
		return error_set(err, ENOENT, "no batch has the id \"%s\"", b->batch);
	if (r < 0)
		return r;
	digest_of_ids(ids, digest);
	count->by_batch = b->n_digests == 1 && digest_named(digest, b->digests[0]);
	r = batch_ids(count->queue, b->batch, true, ids, err);
	if (r == 0 && ids->n == 0)
		return error_set(err, ESTALE, "nothing of batch %s is pending any more", b->batch);
	for (size_t i = 0; r == 0 && i < ids->n; i++)
		r = count_id(count, ids->id[i], err);
	return r;
}

/* ---- the doors ----------------------------------------------------------------------------------- */

int decide_cast(struct approvals *queue, const struct ballot *ballot, const struct voter *voter,
		const struct teller *teller, size_t *ret_done, struct error *err)
{
	struct count count = {.queue = queue, .ballot = ballot, .voter = voter, .teller = teller};
	snprintf(count.who, sizeof(count.who), voter->name ? "uid %lu (%s)" : "uid %lu",
		 (unsigned long)voter->uid, voter->name);
	int r = check_ballot(ballot, err);
	if (r == 0)
		r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	if (ballot->batch)
		r = count_batch(&count, err);
	for (size_t i = 0; r == 0 && i < ballot->n_ids; i++)
		r = count_id(&count, ballot->ids[i], err);
	r = queue_end(queue, r, err);
	if (r == 0)
		*ret_done = count.done;
	return r;
}

static int sweep_one(struct approvals *queue, const char *id, const struct teller *teller,
		     struct error *err)
{
	_cleanup_row_ struct row row = {0};
	char why[256], data[512];
	int64_t left;
	int r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r < 0 || !row_over(queue, &row, &left))
		return r == -ENOENT ? 0 : r;
	r = row_expire(queue, &row, err);
	if (r < 0 || !teller || !teller->tell)
		return r;
	row_expired_why(&row, why, sizeof(why));
	snprintf(data, sizeof(data), "{\"approval\":\"%s\",\"reason\":\"%s\"}", id, why);
	return teller->tell(teller->context, "approval.expired", &row, str_of(data), err);
}

/* Ids first: a statement that stands on a row would see what is changed below it. */
static int open_ids(struct approvals *queue, char (**ret)[APPROVAL_ID_MAX], size_t *ret_n,
		    struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	_cleanup_free_ char (*ids)[APPROVAL_ID_MAX] = NULL;
	size_t n = 0, room = 0;
	int rc, r = queue_query(queue, &stmt, err, "SELECT id FROM approvals"
						   " WHERE status IN ('pending','approved')", "");
	if (r < 0)
		return r;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (n == room) {
			room = room ? 2 * room : 64;
			void *more = realloc(ids, room * sizeof(*ids));
			if (!more)
				return error_set(err, ENOMEM, "out of memory");
			ids = more;
		}
		snprintf(ids[n++], sizeof(*ids), "%s", sqlite3_column_text(stmt, 0));
	}
	if (rc != SQLITE_DONE)
		return queue_failed(queue, err);
	*ret = TAKE_PTR(ids);
	*ret_n = n;
	return 0;
}

int decide_sweep(struct approvals *queue, const struct teller *teller, struct error *err)
{
	static const struct row nobody = {.session_id = {"", 0}};
	_cleanup_free_ char (*ids)[APPROVAL_ID_MAX] = NULL;
	size_t n = 0;
	int r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	if (queue->put_back && teller && teller->tell)
		r = teller->tell(teller->context, "approval.canceled", &nobody,
				 STR("{\"reason\":\"" MARK_PUT_BACK "\"}"), err);
	if (r == 0)
		r = open_ids(queue, &ids, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sweep_one(queue, ids[i], teller, err);
	return queue_end(queue, r, err);
}
