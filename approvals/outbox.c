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
	       bool *ret_any, struct error *err)
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
	*ret_any = n > 0;
	return r;
}
