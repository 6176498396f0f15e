/* stale.c - one query. */
#include <config.h>

#include "stale.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"

static const char sql[] = "SELECT session_id, call_id, tool_name FROM decisions"
			  " WHERE state BETWEEN 1 AND 4 AND state = 1 AND ts_ms < ?1"
			  " ORDER BY seq LIMIT ?2";

int stale_find(const struct store *store, int64_t before_ms, struct stale *ret, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	ret->n = 0;
	int r = db_open(store, DB_READ, &db, err);
	if (r < 0)
		return r;
	sqlite3_busy_timeout(db, 50); /* the next one finds them as well */
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return db_failed(db, "database", err);
	sqlite3_bind_int64(stmt, 1, before_ms);
	sqlite3_bind_int(stmt, 2, STALE_MAX);
	while (r == 0 && ret->n < STALE_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
		size_t i = ret->n++;
		ret->session[i] = strdup((const char *)sqlite3_column_text(stmt, 0));
		ret->call[i] = strdup((const char *)sqlite3_column_text(stmt, 1));
		ret->tool[i] = strdup((const char *)sqlite3_column_text(stmt, 2));
		if (!ret->session[i] || !ret->call[i] || !ret->tool[i])
			r = error_set(err, ENOMEM, "out of memory");
	}
	return r;
}

void stale_free(struct stale *stale)
{
	for (size_t i = 0; i < stale->n; i++) {
		free(stale->session[i]);
		free(stale->call[i]);
		free(stale->tool[i]);
	}
	stale->n = 0;
}
