/* show.c - pawl approvals list, show and export. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/diff.h"
#include "command.h"
#include "escape.h"

#define SECOND INT64_C(1000000000)

/* ---- one, for a person -------------------------------------------------------------------- */

static void field(const char *name, struct str value)
{
	if (!value.ptr || value.len == 0)
		return;
	printf("%-14s", name);
	escape_print(stdout, value, false);
	putchar('\n');
}

static void number(const char *name, int64_t value)
{
	printf("%-14s%" PRId64 "\n", name, value);
}

static void moment(const char *name, int64_t ms)
{
	char text[32];
	command_time(ms, text);
	field(name, str_of(text));
}

static void print_left(struct approvals *queue, const struct row *row)
{
	int64_t left;
	enum approval_status status = row_status(row);
	char why[256];
	row_over(queue, row, &left);
	if (status == APPROVAL_EXPIRED) {
		row_expired_why(row, why, sizeof(why));
		field("expired", str_of(why));
	} else if (status <= APPROVAL_APPROVED && left == INT64_MAX) {
		field("left", STR("no limit"));
	} else if (status <= APPROVAL_APPROVED) {
		printf("%-14s%" PRId64 " s%s\n", "left", left / SECOND,
		       status == APPROVAL_APPROVED ? " to use it" : " to decide");
	}
}

/* What the model wrote and what would run, value by value. diff.h cuts long values: the
 * arguments above are whole. */
static void print_difference(const struct row *row)
{
	_cleanup_free_ char *text = NULL;
	struct json_arena *arena = NULL;
	const struct json_value *before, *after;
	size_t len;
	FILE *out = row->args_given.ptr ? open_memstream(&text, &len) : NULL;
	if (!out)
		return;
	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) == 0 &&
	    json_parse(arena, row->args_given, JSON_DEFAULT_LIMITS, 0, &before, NULL, NULL) == 0 &&
	    json_parse(arena, row->args, JSON_DEFAULT_LIMITS, 0, &after, NULL, NULL) == 0)
		diff_print(out, "  ", before, after);
	json_arena_free(arena);
	fclose(out);
	puts("changed by policy (- as the model wrote it, + as it would run)");
	escape_print(stdout, (struct str){text, len}, true);
}

static void print_votes(struct approvals *queue, const struct row *row)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	if (queue_query(queue, &stmt, NULL,
			"SELECT decision, approver, name, reason, at_ms FROM votes"
			" WHERE approval_id = ? ORDER BY at_ms",
			"t", row->id) < 0)
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		char when[32];
		command_time(sqlite3_column_int64(stmt, 4), when);
		printf("%-14s%s by %s", "vote", sqlite3_column_text(stmt, 0),
		       sqlite3_column_text(stmt, 1));
		for (int i = 2; i < 4; i++) {
			struct str text = str_of((const char *)sqlite3_column_text(stmt, i));
			if (!text.ptr)
				continue;
			fputs(i == 2 ? " (" : ": ", stdout);
			escape_print(stdout, text, false);
			fputs(i == 2 ? ")" : "", stdout);
		}
		printf(", %s\n", when);
	}
}

static void print_notices(struct approvals *queue, const struct row *row)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	if (queue_query(queue, &stmt, NULL,
			"SELECT state, attempts, last_error FROM outbox WHERE approval_id = ?", "t",
			row->id) < 0)
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct str why = str_of((const char *)sqlite3_column_text(stmt, 2));
		printf("%-14s%s after %d attempts", "notice", sqlite3_column_text(stmt, 0),
		       sqlite3_column_int(stmt, 1));
		if (why.ptr) {
			fputs(": ", stdout);
			escape_print(stdout, why, false);
		}
		putchar('\n');
	}
}

void command_print_row(struct approvals *queue, const struct row *row)
{
	field("id", row->id);
	field("status", row->status);
	print_left(queue, row);
	field("tool", row->tool_name);
	field("server", row->server);
	field("source", row->source);
	field("rule", row->rule);
	field("plugin", row->plugin);
	field("reason", row->reason);
	field("instructions", row->instructions);
	field("session", row->session_id);
	field("client", row->client);
	field("agent", row->agent);
	field("folder", row->cwd);
	field("call", row->call_id);
	field("batch", row->batch_id);
	field("context", row->context);
	if (row->need > 1)
		number("needs voters", row->need);
	moment("asked", row->created_ms);
	field("decided by", row->decided_by);
	moment("decided", row->decided_ms);
	field("because", row->decided_why);
	moment("used", row->consumed_ms);
	if (row->changed)
		field("note", STR("the policy that judged it had changed when it was used"));
	print_votes(queue, row);
	print_notices(queue, row);
	printf("arguments, %zu bytes, all of them\n  ", row->args.len);
	escape_print(stdout, row->args, false);
	putchar('\n');
	print_difference(row);
	field("digest", row->digest);
}

static int show_row(struct approvals *queue, const struct line *line, const struct row *row,
		    struct error *err)
{
	const struct json_writer *w = line->json ? json_writer_get(err) : NULL;
	if (line->json && !w)
		return -EIO;
	if (line->json)
		command_print_object(w, command_object(queue, w, row));
	else
		command_print_row(queue, row);
	return 0;
}

static int show_id(struct approvals *queue, const struct line *line, const char *id,
		   struct error *err)
{
	_cleanup_row_ struct row row = {0};
	int r = row_find(queue, &row, err, "id = ?", "c", id);
	if (r == -ENOENT)
		return error_set(err, ENOENT, "no approval has the id \"%s\"", id);
	return r < 0 ? r : show_row(queue, line, &row, err);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void print_head(const struct line *line)
{
	if (!line->quiet)
		printf("%-20s %-9s %6s %-16s %-12s %s\n", "ID", "STATUS", "LEFT", "TOOL", "DIGEST",
		       "REASON");
}

static void print_short(struct approvals *queue, const struct row *row)
{
	int64_t left;
	char time[16] = "-";
	row_over(queue, row, &left);
	if (row_status(row) <= APPROVAL_APPROVED && left != INT64_MAX)
		snprintf(time, sizeof(time), "%" PRId64 "s", left / SECOND);
	printf("%-20.*s %-9.*s %6s ", STR_FMT(row->id), STR_FMT(row->status), time);
	escape_print(stdout, row->tool_name, false);
	printf("%*s %.12s ", row->tool_name.len < 16 ? (int)(16 - row->tool_name.len) : 0, "",
	       row->digest.ptr);
	escape_print(stdout, row->reason, false);
	putchar('\n');
}

/* full: everything of each, as export wants it */
static int each(struct approvals *queue, const struct line *line, bool json, struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	const struct json_writer *w = json ? json_writer_get(err) : NULL;
	char sql[2048];
	int rc, n = 0;
	if (json && !w)
		return -EIO;
	snprintf(sql, sizeof(sql),
		 "%s WHERE (NOT ? OR status = 'pending') AND (? IS NULL OR batch_id = ?)"
		 " ORDER BY created_ms, id",
		 row_select);
	int r = queue_query(queue, &stmt, err, sql, "icc", (int64_t)line->pending, line->batch,
			    line->batch);
	if (r < 0)
		return r;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct row row;
		row_read(stmt, &row);
		if (!json && n++ == 0)
			print_head(line);
		if (json)
			command_print_object(w, command_object(queue, w, &row));
		else
			print_short(queue, &row);
	}
	return rc == SQLITE_DONE ? 0 : queue_failed(queue, err);
}

/* A batch is approved by this. */
static int print_batch_digest(struct approvals *queue, const struct line *line, struct error *err)
{
	char digest[DIGEST_HEX + 1];
	int r = decide_batch_digest(queue, line->batch, digest, err);
	if (r == 0)
		printf("digest of batch %s: %s\n", line->batch, digest);
	return r;
}

static void print_failed_notices(struct approvals *queue)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	if (queue_query(queue, &stmt, NULL,
			"SELECT count(*), max(last_error) FROM outbox WHERE state <> 'sent'"
			" AND last_error IS NOT NULL",
			"") < 0 ||
	    sqlite3_step(stmt) != SQLITE_ROW || sqlite3_column_int64(stmt, 0) == 0)
		return;
	fprintf(stderr, "pawl approvals: %lld notices were not delivered: ",
		(long long)sqlite3_column_int64(stmt, 0));
	escape_print(stderr, str_of((const char *)sqlite3_column_text(stmt, 1)), false);
	fputc('\n', stderr);
}

/* One reading step around what is printed. */
static int reading(const struct line *line,
		   int (*body)(struct approvals *, const struct line *, struct error *))
{
	_cleanup_queue_ struct approvals *queue = NULL;
	struct error err;
	int r = command_open(line, &queue, &err);
	if (r == 1 && line->n_ids == 0 && !line->batch)
		return 0; /* nothing ever waited */
	if (r == 1)
		r = error_set(&err, ENOENT, "no approval has the id \"%s\"",
			      line->n_ids > 0 ? line->ids[0] : line->batch);
	if (r == 0)
		r = queue_begin(queue, QUEUE_READ, &err);
	if (r == 0)
		r = queue_end(queue, body(queue, line, &err), &err);
	return r < 0 ? command_failed(r, &err) : 0;
}

static int list_body(struct approvals *queue, const struct line *line, struct error *err)
{
	int r = each(queue, line, line->json, err);
	if (r == 0 && line->batch && !line->json)
		r = print_batch_digest(queue, line, err);
	if (!line->quiet)
		print_failed_notices(queue);
	return r;
}

static int show_body(struct approvals *queue, const struct line *line, struct error *err)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < line->n_ids; i++) {
		if (i > 0 && !line->json)
			putchar('\n');
		r = show_id(queue, line, line->ids[i], err);
	}
	return r;
}

static int export_body(struct approvals *queue, const struct line *line, struct error *err)
{
	return each(queue, line, true, err);
}

int command_list(const struct line *line)
{
	return reading(line, list_body);
}

int command_show(const struct line *line)
{
	return reading(line, show_body);
}

int command_export(const struct line *line)
{
	return reading(line, export_body);
}
