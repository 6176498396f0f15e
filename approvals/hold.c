/* hold.c - see hold.h. Each function is one step: all of it stands, or nothing. */
#include <config.h>

#include "hold.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "chain.h"
#include "digest.h"
#include "lineage.h"
#include "outbox.h"

/* ---- what the gate is told ------------------------------------------------------------- */

static void copy(char *to, size_t size, struct str text)
{
	text_clean(text.ptr ? text : STR(""), to, size);
}

void hold_state(const struct approvals *queue, const struct row *row, struct approval_state *ret)
{
	copy(ret->id, sizeof(ret->id), row->id);
	snprintf(ret->digest, sizeof(ret->digest), "%.*s", STR_FMT(row->digest));
	ret->status = row_status(row);
	copy(ret->who, sizeof(ret->who), row->decided_by);
	copy(ret->reason, sizeof(ret->reason), row->decided_why);
	if (ret->status == APPROVAL_EXPIRED)
		row_expired_why(row, ret->reason, sizeof(ret->reason));
	row_over(queue, row, &ret->left_ns);
}

/* Reads the row again as it stands after what this step did to it. */
static int state_of(struct approvals *queue, const char *id, struct approval_state *ret,
		    struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r == -ENOENT)
		return error_set(err, ENOENT, "no approval has the id \"%s\"", id);
	if (r == 0)
		hold_state(queue, &row, ret);
	return r;
}

/* ---- hold ---------------------------------------------------------------------------------- */

/* 80 random bits that nobody confuses when reading them out. */
static void make_id(char id[APPROVAL_ID_MAX])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	unsigned char dice[16];
	randombytes_buf(dice, sizeof(dice));
	memcpy(id, "ap-", 3);
	for (size_t i = 0; i < sizeof(dice); i++)
		id[3 + i] = digits[dice[i] & 31];
	id[3 + sizeof(dice)] = '\0';
}

static struct str or_empty(struct str text)
{
	return text.ptr ? text : STR("");
}

static struct str raw(const struct json_value *value)
{
	return value ? json_raw(value) : (struct str){NULL, 0};
}

static int room_left(struct approvals *queue, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(queue, &stmt, err,
			    "SELECT count(*) FROM approvals WHERE status = 'pending'", "");
	if (r < 0)
		return r;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return queue_failed(queue, err);
	if (sqlite3_column_int64(stmt, 0) >= QUEUE_PENDING_MAX)
		return error_set(err, ENOBUFS,
				 "%d calls wait already; decide or cancel some (pawl approvals list)",
				 QUEUE_PENDING_MAX);
	return 0;
}

static void fill_row(const struct approvals *queue, const struct approval_request *q,
		     struct row *row)
{
	struct process agent = lineage_agent(q->requester);
	*row = (struct row){
		.session_id = or_empty(q->session), .tool_name = or_empty(q->tool),
		.source = q->source, .server = q->server, .args = or_empty(raw(q->args)),
		.args_given = raw(q->args_given), .context = raw(q->context), .event = q->event,
		.client = q->client, .agent = q->agent, .agent_type = q->agent_type, .cwd = q->cwd,
		.run_id = q->run, .call_id = q->call_id, .call_id_json = q->call_id_json,
		.rule = q->rule, .plugin = q->plugin, .reason = q->reason,
		.instructions = q->instructions, .batch_id = q->batch, .system = q->system,
		.uid = geteuid(), .agent_pid = agent.pid, .agent_started = agent.started,
		.need = q->need < 1 ? 1 : q->need, .allow_self = q->allow_self,
		.on_change_deny = q->on_change_deny, .timeout_ns = q->timeout_ns,
		.redeem_ns = q->redeem_ns, .created_ms = queue->now.wall_ms,
		.created_boot_ns = queue->now.boot_ns, .created_boot = str_of(queue->now.boot),
	};
}

static int insert(struct approvals *queue, const struct approval_request *request,
		  struct str chain, struct approval_state *ret, struct error *err)
{
	struct row row;
	int r = room_left(queue, err);
	if (r < 0)
		return r;
	fill_row(queue, request, &row);
	make_id(ret->id);
	row.id = str_of(ret->id);
	row.status = STR("pending");
	row.digest = str_of(ret->digest);
	row.chain = chain;
	r = row_insert(queue, &row, err);
	if (r == 0)
		r = outbox_add(queue, &row, request->notify, err);
	ret->fresh = true;
	return r;
}

/* A decision of this very call that still stands: 1 and *ret, or 0. */
static int find_standing(struct approvals *queue, const struct approval_request *request,
			 struct approval_state *ret, struct error *err)
{
	_cleanup_row_ struct row open = {0}, denied = {0};
	int64_t left;
	struct str session = or_empty(request->session);
	int r = row_find(queue, &open, err, "session_id = ? AND digest = ?"
					    " AND status IN ('pending','approved')",
			 "tc", session, ret->digest);
	if (r == 0 && !row_over(queue, &open, &left)) {
		hold_state(queue, &open, ret);
		return 1;
	}
	if (r == 0) {
		copy(ret->expired, sizeof(ret->expired), open.id);
		r = row_expire(queue, &open, err);
	}
	if (r < 0 && r != -ENOENT)
		return r;
	r = row_find(queue, &denied, err, "session_id = ? AND digest = ? AND status = 'denied'"
					  " ORDER BY decided_ms DESC LIMIT 1",
		     "tc", session, ret->digest);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (row_denial_over(queue, &denied))
		return 0;
	hold_state(queue, &denied, ret);
	return 1;
}

static int hold_in_step(struct approvals *queue, const struct approval_request *request,
			struct str chain, struct approval_state *ret, struct error *err)
{
	int r = find_standing(queue, request, ret, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = insert(queue, request, chain, ret, err);
	if (r < 0)
		return r;
	char id[APPROVAL_ID_MAX];
	memcpy(id, ret->id, sizeof(id));
	return state_of(queue, id, ret, err);
}

/* A call and what judged it, as the queue has them, and a step begun. */
struct asked {
	char digest[DIGEST_HEX + 1];
	struct buffer chain;
};

static void asked_done(struct asked *asked)
{
	buffer_done(&asked->chain);
}

static int asked_begin(struct asked *asked, struct approvals *queue,
		       const struct approval_request *request, struct error *err)
{
	asked->chain.max = CHAIN_TEXT_MAX;
	int r = digest_request(request, asked->digest);
	if (r < 0)
		return error_set(err, -r, "out of memory");
	r = chain_text(request->parts, request->n_parts, &asked->chain, err);
	return r < 0 ? r : queue_begin(queue, QUEUE_WRITE, err);
}

int hold_request(struct approvals *queue, const struct approval_request *request,
		 struct approval_state *ret, struct error *err)
{
	_cleanup_(asked_done) struct asked asked = {.digest = ""};
	*ret = (struct approval_state){.status = APPROVAL_PENDING};
	if (json_raw(request->args).len > QUEUE_ARGS_MAX)
		return error_set(err, E2BIG, "its arguments are larger than the %zu bytes that a "
					     "person can be asked about",
				 QUEUE_ARGS_MAX);
	int r = asked_begin(&asked, queue, request, err);
	if (r < 0)
		return r;
	memcpy(ret->digest, asked.digest, sizeof(ret->digest));
	ret->put_back = queue->put_back;
	r = hold_in_step(queue, request, buffer_str(&asked.chain), ret, err);
	return queue_end(queue, r, err);
}

/* ---- look ------------------------------------------------------------------------------------ */

/* Whose time is over is that from now on, whoever notices. */
static int expire_if_over(struct approvals *queue, const char *id, struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int64_t left;
	int r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r == 0 && row_over(queue, &row, &left))
		r = row_expire(queue, &row, err);
	return r == -ENOENT ? 0 : r;
}

int hold_look(struct approvals *queue, const char *id, struct approval_state *ret,
	      struct error *err)
{
	*ret = (struct approval_state){.status = APPROVAL_PENDING};
	int r = queue_begin(queue, QUEUE_READ, err);
	if (r < 0)
		return r;
	r = queue_end(queue, state_of(queue, id, ret, err), err);
	if (r < 0 || ret->left_ns > 0 ||
	    (ret->status != APPROVAL_PENDING && ret->status != APPROVAL_APPROVED))
		return r;
	r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	r = expire_if_over(queue, id, err);
	if (r == 0)
		r = state_of(queue, id, ret, err);
	return queue_end(queue, r, err);
}

/* ---- consume ----------------------------------------------------------------------------------- */

/* Compare and swap: of all who try, one finds a row to change. */
static int swap(struct approvals *queue, const struct row *row, const struct approval_request *q,
		bool changed, struct error *err)
{
	int r = queue_run(queue, err,
			  "UPDATE approvals SET status = 'consumed', consumed_ms = ?,"
			  " consumed_by = ?, changed = ? WHERE id = ? AND status = 'approved'"
			  " AND digest = ?",
			  "ititt", queue->now.wall_ms, q->call_id, (int64_t)changed, row->id,
			  row->digest);
	if (r == 0 && sqlite3_changes(queue->db) != 1)
		r = error_set(err, ESTALE, "somebody else has used it");
	return r;
}

static int consume_row(struct approvals *queue, const struct row *row,
		       const struct approval_request *request, const struct asked *asked,
		       struct approval_state *ret, struct error *err)
{
	int64_t left;
	if (!str_is(row->digest, asked->digest))
		return error_set(err, ESTALE, "%.*s is about another call", STR_FMT(row->id));
	if (row_over(queue, row, &left))
		return row_expire(queue, row, err);
	if (row_status(row) != APPROVAL_APPROVED)
		return 0;
	bool changed = !str_equal(row->chain, buffer_str(&asked->chain));
	if (changed && row->on_change_deny) {
		int r = queue_run(queue, err, "UPDATE approvals SET status = 'canceled'"
					      " WHERE id = ? AND status = 'approved'",
				  "t", row->id);
		ret->changed = true;
		return r;
	}
	int r = swap(queue, row, request, changed, err);
	ret->mine = r == 0;
	ret->changed = r == 0 && changed;
	return r;
}

static int consume_in_step(struct approvals *queue, const char *id,
			   const struct approval_request *request, const struct asked *asked,
			   struct approval_state *ret, struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r == -ENOENT)
		return error_set(err, ENOENT, "no approval has the id \"%s\"", id);
	if (r == 0)
		r = consume_row(queue, &row, request, asked, ret, err);
	if (r == 0)
		r = state_of(queue, id, ret, err);
	if (r == 0 && ret->changed && ret->status == APPROVAL_CANCELED)
		snprintf(ret->reason, sizeof(ret->reason),
			 "the policy that judged it has changed since (approval.on_change)");
	return r;
}

int hold_consume(struct approvals *queue, const char *id, const struct approval_request *request,
		 struct approval_state *ret, struct error *err)
{
	_cleanup_(asked_done) struct asked asked = {.digest = ""};
	*ret = (struct approval_state){.status = APPROVAL_PENDING};
	int r = asked_begin(&asked, queue, request, err);
	if (r < 0)
		return r;
	r = consume_in_step(queue, id, request, &asked, ret, err);
	r = queue_end(queue, r, err);
	if (r < 0) /* whatever the step saw, it was taken back, or must not count */
		*ret = (struct approval_state){.status = APPROVAL_PENDING};
	return r;
}
