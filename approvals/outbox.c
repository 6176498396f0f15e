/* outbox.c - see outbox.h. */
#include <config.h>

#include "outbox.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"

#define BODY_MAX ((size_t)64 << 10)
#define TEXT_MAX 2048 /* of one value in a notice; the queue has all of it */

static void add_text(struct buffer *out, const char *name, struct str value)
{
	char text[2 * TEXT_MAX];
	if (!value.ptr)
		return;
	buffer_add(out, STR(",\""));
	buffer_add(out, str_of(name));
	buffer_add(out, STR("\":\""));
	buffer_add(out, (struct str){text, text_json(value, text, TEXT_MAX)});
	buffer_add(out, STR("\""));
}

/* What is told: enough to know that one should look, nothing that lets anybody decide. The
 * arguments stay in the queue: a notice goes through other people's hands. */
static void write_body(const struct approvals *queue, const struct row *row, struct buffer *out)
{
	char number[32];
	struct str digest = {row->digest.ptr, row->digest.len < 12 ? row->digest.len : 12};
	buffer_add(out, STR("{\"type\":\"approval.requested\""));
	add_text(out, "id", row->id);
	add_text(out, "tool_name", row->tool_name);
	add_text(out, "server", row->server);
	add_text(out, "digest_prefix", digest);
	add_text(out, "session_id", row->session_id);
	add_text(out, "batch_id", row->batch_id);
	add_text(out, "client", row->client);
	add_text(out, "rule", row->rule);
	add_text(out, "plugin", row->plugin);
	add_text(out, "reason", row->reason);
	add_text(out, "instructions", row->instructions);
	if (row->timeout_ns > 0) {
		snprintf(number, sizeof(number), "%" PRId64,
			 queue->now.wall_ms + row->timeout_ns / 1000000);
		buffer_add(out, STR(",\"expires_ms\":"));
		buffer_add(out, str_of(number));
	}
	buffer_add(out, STR("}"));
}

static int add_one(struct approvals *queue, const struct row *row, struct str target,
		   struct str body, struct error *err)
{
	unsigned char dice[12];
	char id[5 + 2 * sizeof(dice)] = "msg_";
	randombytes_buf(dice, sizeof(dice));
	sodium_bin2hex(id + 4, sizeof(id) - 4, dice, sizeof(dice));
	return queue_run(queue, err,
			 "INSERT INTO outbox(delivery_id, approval_id, target, body, state, next_ms)"
			 " VALUES(?, ?, ?, ?, 'waiting', ?)",
			 "cttti", id, row->id, target, body, queue->now.wall_ms);
}

int outbox_add(struct approvals *queue, const struct row *row, const struct json_value *targets,
	       struct error *err)
{
	_cleanup_(buffer_done) struct buffer body = {.max = BODY_MAX};
	size_t n = json_length(targets) < OUTBOX_TARGETS_MAX ? json_length(targets) :
							       OUTBOX_TARGETS_MAX;
	int r = 0;
	if (n > 0)
		write_body(queue, row, &body);
	if (body.error < 0)
		return error_set(err, -body.error, "the notice cannot be written");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_one(queue, row, json_raw(json_item(targets, i)), buffer_str(&body), err);
	return r;
}

/* ---- delivering ------------------------------------------------------------------------------ */

#define PAUSE_MS 1000 /* after the first failure; each next one is twice as long */

/* When to try again, should nothing be heard of this try: after a crash, too. */
static int64_t next_ms(int64_t now_ms, int64_t attempts)
{
	return now_ms + (PAUSE_MS << (attempts < 7 ? attempts : 7)) +
	       randombytes_uniform(PAUSE_MS / 2);
}

static int read_notice(sqlite3_stmt *stmt, struct notice *ret)
{
	snprintf(ret->id, sizeof(ret->id), "%s", sqlite3_column_text(stmt, 0));
	int target = snprintf(ret->target, sizeof(ret->target), "%s", sqlite3_column_text(stmt, 1));
	int body = snprintf(ret->body, sizeof(ret->body), "%s", sqlite3_column_text(stmt, 2));
	ret->attempts = sqlite3_column_int64(stmt, 3) + 1;
	return target < (int)sizeof(ret->target) && body < (int)sizeof(ret->body) ? 0 : -1;
}

static int take(struct approvals *queue, struct notice *ret, int64_t *ret_wait_ms,
		struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(queue, &stmt, err,
			    "SELECT delivery_id, target, body, attempts, next_ms FROM outbox"
			    " WHERE state = 'waiting' ORDER BY next_ms LIMIT 1",
			    "");
	if (r < 0)
		return r;
	int rc = sqlite3_step(stmt);
	*ret_wait_ms = -1;
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : queue_failed(queue, err);
	int64_t wait = sqlite3_column_int64(stmt, 4) - queue->now.wall_ms;
	/* a clock that was set back must not silence us for long */
	if (wait > 0 && wait <= (PAUSE_MS << 8)) {
		*ret_wait_ms = wait;
		return 0;
	}
	bool whole = read_notice(stmt, ret) == 0;
	r = queue_run(queue, err,
		      "UPDATE outbox SET attempts = ?, next_ms = ?, state = ? WHERE delivery_id = ?",
		      "iicc", ret->attempts, next_ms(queue->now.wall_ms, ret->attempts),
		      whole ? "waiting" : "failed", ret->id);
	*ret_wait_ms = 0;
	return r < 0 ? r : whole;
}

int outbox_take(struct approvals *queue, struct notice *ret, int64_t *ret_wait_ms,
		struct error *err)
{
	int r = queue_begin(queue, QUEUE_WRITE, err);
	if (r < 0)
		return r;
	int taken = take(queue, ret, ret_wait_ms, err);
	r = queue_end(queue, taken < 0 ? taken : 0, err);
	return r < 0 ? r : taken;
}

int outbox_done(struct approvals *queue, const struct notice *notice, const char *why,
		struct error *err)
{
	const char *state = !why				? "sent" :
			    notice->attempts >= OUTBOX_ATTEMPTS ? "failed" :
								  "waiting";
	int r = queue_begin(queue, QUEUE_WRITE, err);
	if (r == 0)
		r = queue_run(queue, err,
			      "UPDATE outbox SET state = ?, last_error = ?, sent_ms = iif(? = 'sent',"
			      " ?, NULL) WHERE delivery_id = ? AND state = 'waiting'",
			      "cccic", state, why, state, queue->now.wall_ms, notice->id);
	return queue_end(queue, r, err);
}
