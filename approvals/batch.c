/* batch.c - see batch.h. A resume is one step: the batch is marked, its approvals are used, and
 * that is recorded, before an answer leaves. */
#include <config.h>

#include "batch.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "mark.h"

#define ANSWERS_MAX ((size_t)256 << 20)

void batch_make_id(char ret[APPROVAL_ID_MAX])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	unsigned char dice[16];
	randombytes_buf(dice, sizeof(dice));
	memcpy(ret, "ba-", 3);
	for (size_t i = 0; i < sizeof(dice); i++)
		ret[3 + i] = digits[dice[i] & 31];
	ret[3 + sizeof(dice)] = '\0';
}

/* ---- keeping ------------------------------------------------------------------------------ */

static int keep_call(struct approvals *queue, struct str batch, size_t ordinal,
		     const struct approval_held *h, struct error *err)
{
	return queue_run(queue, err,
			 "INSERT INTO batch_calls(batch_id, ordinal, position, tool_name, source,"
			 " server, call_id, call_id_json, approval_id, answer, refusal)"
			 " VALUES(?,?,?,?,?,?,?,?,?,?,?)",
			 "tiitttttttt", batch, (int64_t)ordinal, h->position, h->tool, h->source,
			 h->server, h->call_id, h->call_id_json, h->approval, h->answer,
			 h->refusal);
}

int batch_keep(struct approvals *queue, const struct approval_batch *b, struct error *err)
{
	if (b->n_held > BATCH_MAX)
		return error_set(err, E2BIG, "more than %d calls of a batch wait", BATCH_MAX);
	int r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	r = queue_run(queue, err,
		      "INSERT INTO batches(batch_id, session_id, run_id, turn, size, created_ms)"
		      " VALUES(?,?,?,?,?,?)",
		      "tttiii", b->id, b->session.ptr ? b->session : STR(""), b->run, b->turn,
		      (int64_t)b->size, queue->now.wall_ms);
	for (size_t i = 0; r == 0 && i < b->n_held; i++)
		r = keep_call(queue, b->id, i, &b->held[i], err);
	return queue_end(queue, r, err);
}

/* ---- resuming ------------------------------------------------------------------------------- */

struct resume {
	struct approvals *queue;
	const char *id, *policy;
	const struct teller *teller;
	struct buffer answers;
	struct str session;
};

static int tell(struct resume *re, const char *type, const struct row *row, struct error *err)
{
	_cleanup_(buffer_done) struct buffer data = {.max = 4096};
	if (!re->teller || !re->teller->tell)
		return 0;
	buffer_add(&data, STR("{\"batch\":\""));
	buffer_add(&data, str_of(re->id));
	if (row->id.ptr) {
		buffer_add(&data, STR("\",\"approval\":\""));
		buffer_add(&data, row->id);
	}
	buffer_add(&data, STR("\"}"));
	return re->teller->tell(re->teller->context, type, row, buffer_str(&data), err);
}

/* The answer line with the reason put in, and by whom: only a denial was a person's word. */
static void add_refusal(struct resume *re, struct str line, const char *reason, const char *by)
{
	static const struct str human = {"\"refused_by\":\"human\"", 20};
	char text[2048], member[64];
	struct str mark = STR(APPROVAL_REASON);
	snprintf(member, sizeof(member), "\"refused_by\":\"%s\"", by);
	struct str refused_by = str_of(member);
	struct str put = {text, text_json(str_of(reason), text, sizeof(text))};
	size_t from = 0;
	for (size_t i = 0; i < line.len;) {
		struct str rest = str_after(line, i), with = put;
		size_t skip = mark.len;
		if (str_starts(rest, human)) {
			with = refused_by;
			skip = human.len;
		} else if (!str_starts(rest, mark)) {
			i++;
			continue;
		}
		buffer_add(&re->answers, (struct str){line.ptr + from, i - from});
		buffer_add(&re->answers, with);
		from = i += skip;
	}
	buffer_add(&re->answers, str_after(line, from));
	buffer_add(&re->answers, STR("\n"));
}

/* Whether the plugins' files are still those that judged it. */
static bool same_plugins(const struct row *row)
{
	struct json_arena *arena = NULL;
	const struct json_value *chain = NULL;
	bool same = json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) == 0 &&
		    json_parse(arena, row->chain, JSON_DEFAULT_LIMITS, 0, &chain, NULL, NULL) == 0;
	const struct json_value *plugins = json_member(chain, STR("plugins"));
	for (size_t i = 0; same && i < json_length(plugins); i++) {
		struct str path = {NULL, 0}, digest = {NULL, 0};
		char now[DIGEST_HEX + 1] = "";
		json_string(json_member(json_item(plugins, i), STR("path")), &path);
		json_string(json_member(json_item(plugins, i), STR("sha256")), &digest);
		_cleanup_close_ int fd = path.ptr ? open(path.ptr, O_RDONLY | O_CLOEXEC) : -1;
		same = fd >= 0 && digest_file(fd, now) == 0 && str_is(digest, now);
	}
	json_arena_free(arena);
	return same;
}

static bool same_policy(const struct resume *re, const struct row *row)
{
	struct str head = {row->chain.ptr, row->chain.len};
	const char *end = head.ptr ? strstr(head.ptr, "],\"plugins\":[") : NULL;
	head.len = end ? (size_t)(end - head.ptr) + 1 : 0;
	return (!re->policy || str_is(head, re->policy)) && same_plugins(row);
}

static int use(struct resume *re, const struct row *row, bool changed, struct error *err)
{
	int r = queue_run(re->queue, err,
			  "UPDATE approvals SET status = 'consumed', consumed_ms = ?,"
			  " consumed_by = ?, changed = ? WHERE id = ? AND status = 'approved'",
			  "itit", re->queue->now.wall_ms, row->call_id, (int64_t)changed, row->id);
	if (r == 0 && sqlite3_changes(re->queue->db) != 1)
		r = error_set(err, ESTALE, "%.*s: somebody else has used it", STR_FMT(row->id));
	return r == 0 ? tell(re, "approval.consumed", row, err) : r;
}

/* What is in a column of batch_calls. */
enum { TOOL, SOURCE, SERVER, CALL, APPROVAL, ANSWER, REFUSAL };

static struct str column(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	return (struct str){text, text ? (size_t)sqlite3_column_bytes(stmt, i) : 0};
}

/* The call's own record: it may run, or may not. */
static int tell_call(struct resume *re, sqlite3_stmt *stmt, const struct row *approval,
		     const char *reason, const char *by, struct error *err)
{
	struct row row = *approval;
	row.session_id = re->session;
	row.tool_name = column(stmt, TOOL);
	row.source = column(stmt, SOURCE);
	row.server = column(stmt, SERVER);
	row.call_id = column(stmt, CALL);
	row.reason = str_of(reason);
	row.decided_why = str_of(by); /* of a denial: refused_by */
	return tell(re, by ? "policy.denied" : "call.allowed", &row, err);
}

static int refuse_call(struct resume *re, sqlite3_stmt *stmt, const struct row *row,
		       struct error *err)
{
	char text[1200], why[APPROVAL_TEXT_MAX];
	const char *by = "host";
	if (row_status(row) == APPROVAL_EXPIRED) {
		row_expired_why(row, why, sizeof(why));
		snprintf(text, sizeof(text), "the approval it needed expired: %s", why);
		by = "timeout";
	} else if (row_status(row) == APPROVAL_DENIED) {
		snprintf(text, sizeof(text), "a person denied it: %.*s", STR_FMT(row->decided_why));
		by = "human";
	} else if (row_status(row) == APPROVAL_CANCELED) {
		snprintf(text, sizeof(text), "the request for approval was canceled%s%.*s",
			 row->decided_why.len > 0 ? ": " : "", STR_FMT(row->decided_why));
		by = "cancelled";
	} else {
		snprintf(text, sizeof(text),
			 "the approval it needed is used up: it was for one execution");
	}
	add_refusal(re, column(stmt, REFUSAL), text, by);
	return tell_call(re, stmt, row, text, by, err);
}

static int allow_call(struct resume *re, sqlite3_stmt *stmt, const struct row *row,
		      struct error *err)
{
	char by[256] = "held by its batch";
	if (row->id.ptr)
		snprintf(by, sizeof(by), "approved by %.*s", STR_FMT(row->decided_by));
	buffer_add(&re->answers, column(stmt, ANSWER));
	buffer_add(&re->answers, STR("\n"));
	return tell_call(re, stmt, row, by, NULL, err);
}

static int resume_gated(struct resume *re, sqlite3_stmt *stmt, const struct row *row,
			struct error *err)
{
	if (row_status(row) != APPROVAL_APPROVED)
		return refuse_call(re, stmt, row, err);
	bool changed = !same_policy(re, row);
	if (changed && row->on_change_deny) {
		static const char why[] = "the policy that judged it has changed since "
					  "(approval.on_change)";
		int r = queue_run(re->queue, err, "UPDATE approvals SET status = 'canceled'"
						  " WHERE id = ? AND status = 'approved'",
				  "t", row->id);
		add_refusal(re, column(stmt, REFUSAL), why, "host");
		return r < 0 ? r : tell_call(re, stmt, row, why, "host", err);
	}
	int r = use(re, row, changed, err);
	return r < 0 ? r : allow_call(re, stmt, row, err);
}

static int resume_call(struct resume *re, sqlite3_stmt *stmt, struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int64_t left;
	if (!column(stmt, APPROVAL).ptr)
		return allow_call(re, stmt, &row, err);
	int r = row_find(re->queue, &row, err, "id = ?", "t", column(stmt, APPROVAL));
	if (r == 0 && row_over(re->queue, &row, &left)) {
		r = row_expire(re->queue, &row, err);
		row.status = STR("expired");
	}
	if (r == 0 && row_status(&row) == APPROVAL_PENDING)
		return error_set(err, EAGAIN, "%.*s still waits for a decision; nothing was resumed",
				 STR_FMT(row.id));
	return r == -ENOENT ? error_set(err, EBADMSG, "batch %s: an approval is missing", re->id) :
	       r < 0	    ? r :
			      resume_gated(re, stmt, &row, err);
}

/* Of all who try, one finds a batch to mark. */
static int mark(struct resume *re, sqlite3_stmt **ret_session, struct error *err)
{
	int r = queue_query(re->queue, ret_session, err,
			    "SELECT session_id, resumed_ms FROM batches WHERE batch_id = ?", "c",
			    re->id);
	if (r < 0)
		return r;
	int rc = sqlite3_step(*ret_session);
	if (rc == SQLITE_DONE)
		return error_set(err, ENOENT, "no batch has the id \"%s\"", re->id);
	if (rc != SQLITE_ROW)
		return queue_failed(re->queue, err);
	re->session = column(*ret_session, 0);
	if (sqlite3_column_int64(*ret_session, 1) < 0)
		return error_set(err, ECANCELED, "batch %s is void, and its calls have to be asked "
						 "about again: " MARK_PUT_BACK,
				 re->id);
	if (sqlite3_column_type(*ret_session, 1) != SQLITE_NULL)
		return error_set(err, EALREADY, "batch %s was resumed already: its answers were "
						"given, and are given once",
				 re->id);
	return queue_run(re->queue, err, "UPDATE batches SET resumed_ms = ? WHERE batch_id = ?",
			 "ic", re->queue->now.wall_ms, re->id);
}

static int resume_in_step(struct resume *re, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *session = NULL, *stmt = NULL;
	int rc, r = mark(re, &session, err);
	if (r == 0)
		r = queue_query(re->queue, &stmt, err,
				"SELECT tool_name, source, server, call_id, approval_id, answer,"
				" refusal FROM batch_calls WHERE batch_id = ? ORDER BY ordinal",
				"c", re->id);
	if (r < 0)
		return r;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		r = resume_call(re, stmt, err);
		if (r < 0)
			return r;
	}
	if (rc != SQLITE_DONE)
		return queue_failed(re->queue, err);
	return re->answers.error < 0 ? error_set(err, -re->answers.error, "out of memory") : 0;
}

int batch_resume(struct approvals *queue, const char *id, const char *policy,
		 const struct teller *teller, char **ret, struct error *err)
{
	struct resume re = {.queue = queue, .id = id, .policy = policy, .teller = teller,
			    .answers = {.max = ANSWERS_MAX}};
	int r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	r = queue_end(queue, resume_in_step(&re, err), err);
	buffer_add(&re.answers, (struct str){"", 1}); /* its NUL */
	if (r == 0 && re.answers.error < 0)
		r = error_set(err, ENOMEM, "out of memory");
	if (r < 0)
		buffer_done(&re.answers);
	else
		*ret = re.answers.data;
	return r;
}
