/* row.c - see row.h. */
#include <config.h>

#include "row.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

#define NAME(name) #name ","
const char row_select[] = "SELECT " ROW_COLUMNS(NAME, NAME) " 0 FROM approvals ";

/* ---- reading --------------------------------------------------------------------------- */

static struct str text_at(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	return (struct str){text, text ? (size_t)sqlite3_column_bytes(stmt, i) : 0};
}

void row_read(sqlite3_stmt *stmt, struct row *ret)
{
	int i = 0;
#define READ_TEXT(name) ret->name = text_at(stmt, i++);
#define READ_NUMBER(name) ret->name = sqlite3_column_int64(stmt, i++);
	ROW_COLUMNS(READ_TEXT, READ_NUMBER)
	(void)i;
}

static int find(struct approvals *queue, struct row *ret, struct error *err, const char *where,
		const char *kinds, va_list ap)
{
	char sql[2048];
	*ret = (struct row){0};
	int n = snprintf(sql, sizeof(sql), "%s WHERE %s", row_select, where);
	if (n < 0 || (size_t)n >= sizeof(sql))
		return error_set(err, E2BIG, "the question is too long");
	if (sqlite3_prepare_v2(queue->db, sql, -1, &ret->stmt, NULL) != SQLITE_OK)
		return queue_failed(queue, err);
	for (int i = 1; kinds[i - 1]; i++) {
		if (kinds[i - 1] == 'i') {
			sqlite3_bind_int64(ret->stmt, i, va_arg(ap, int64_t));
			continue;
		}
		struct str text = kinds[i - 1] == 't' ? va_arg(ap, struct str) :
							str_of(va_arg(ap, const char *));
		sqlite3_bind_text64(ret->stmt, i, text.ptr ? text.ptr : "", text.len,
				    SQLITE_TRANSIENT, SQLITE_UTF8);
	}
	int rc = sqlite3_step(ret->stmt);
	if (rc == SQLITE_ROW) {
		row_read(ret->stmt, ret);
		return 0;
	}
	return rc == SQLITE_DONE ? -ENOENT : queue_failed(queue, err);
}

int row_find(struct approvals *queue, struct row *ret, struct error *err, const char *where,
	     const char *kinds, ...)
{
	va_list ap;
	va_start(ap, kinds);
	int r = find(queue, ret, err, where, kinds, ap);
	va_end(ap);
	if (r < 0)
		row_done(ret);
	return r;
}

void row_done(struct row *row)
{
	sqlite3_finalize(row->stmt);
	*row = (struct row){0};
}

/* ---- writing ------------------------------------------------------------------------------ */

static void bind_text(sqlite3_stmt *stmt, int i, struct str text)
{
	if (text.ptr)
		sqlite3_bind_text64(stmt, i, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

int row_insert(struct approvals *queue, const struct row *row, struct error *err)
{
#define HOLE(name) "?,"
	static const char sql[] = "INSERT INTO approvals(" ROW_COLUMNS(NAME, NAME);
	static const char values[] = ") VALUES(" ROW_COLUMNS(HOLE, HOLE);
	char text[sizeof(sql) + sizeof(values) + 2];
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int i = 1;
	/* each list ends in a comma too many */
	snprintf(text, sizeof(text), "%.*s%.*s)", (int)sizeof(sql) - 2, sql,
		 (int)sizeof(values) - 2, values);
	if (sqlite3_prepare_v2(queue->db, text, -1, &stmt, NULL) != SQLITE_OK)
		return queue_failed(queue, err);
#define BIND_TEXT(name) bind_text(stmt, i++, row->name);
#define BIND_NUMBER(name) sqlite3_bind_int64(stmt, i++, row->name);
	ROW_COLUMNS(BIND_TEXT, BIND_NUMBER)
	return sqlite3_step(stmt) == SQLITE_DONE ? 0 : queue_failed(queue, err);
}

/* ---- states and their time ------------------------------------------------------------------ */

static const char *const names[] = {
	[APPROVAL_PENDING] = "pending", [APPROVAL_APPROVED] = "approved",
	[APPROVAL_CONSUMED] = "consumed", [APPROVAL_DENIED] = "denied",
	[APPROVAL_EXPIRED] = "expired", [APPROVAL_CANCELED] = "canceled",
};

const char *status_name(enum approval_status status)
{
	return names[status];
}

/* The table's own check lets no other word in; one that is none may not run. */
enum approval_status row_status(const struct row *row)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(row->status, names[i]))
			return (enum approval_status)i;
	return APPROVAL_CANCELED;
}

static struct moment moment_of(int64_t wall_ms, int64_t boot_ns, struct str boot)
{
	struct moment m = {.wall_ms = wall_ms, .boot_ns = boot_ns};
	snprintf(m.boot, sizeof(m.boot), "%.*s", STR_FMT(boot));
	return m;
}

bool row_over(const struct approvals *queue, const struct row *row, int64_t *left_ns)
{
	enum approval_status status = row_status(row);
	bool pending = status == APPROVAL_PENDING;
	struct moment began = pending ? moment_of(row->created_ms, row->created_boot_ns,
						  row->created_boot) :
					moment_of(row->decided_ms, row->decided_boot_ns,
						  row->decided_boot);
	*left_ns = 0;
	if (!pending && status != APPROVAL_APPROVED)
		return false;
	return clock_over(&began, pending ? row->timeout_ns : row->redeem_ns, &queue->now, left_ns);
}

bool row_denial_over(const struct approvals *queue, const struct row *row)
{
	int64_t left;
	struct moment began = moment_of(row->decided_ms, row->decided_boot_ns, row->decided_boot);
	return clock_over(&began, row->redeem_ns, &queue->now, &left);
}

int row_expire(struct approvals *queue, const struct row *row, struct error *err)
{
	return queue_run(queue, err, "UPDATE approvals SET status = 'expired' WHERE id = ?"
				     " AND status = ?",
			 "tt", row->id, row->status);
}

void row_expired_why(const struct row *row, char *buf, size_t size)
{
	if (row->decided_ms == 0)
		snprintf(buf, size, "nobody decided within %" PRId64 " s", row->timeout_ns / SECOND);
	else
		snprintf(buf, size, "it was approved, and not used within %" PRId64 " s",
			 row->redeem_ns / SECOND);
}
