/* ingest.c - the drain: lock, read, project, commit, look again. */
#include <config.h>

#include "ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "chain.h"
#include "db.h"
#include "event.h"
#include "project.h"
#include "schema.h"
#include "tail.h"

/* One transaction's share of the log: bounds the journal and how long a reader waits. */
#define BLOCK ((size_t)4 << 20)

_Static_assert(BLOCK < CHAIN_LINE_MAX, "a block grows to one longest line");

struct fill {
	const struct store *store;
	sqlite3 *db;
	struct project *project;
	struct json_arena *arena;
	int fd;                   /* of the log; -1: there is none */
	int64_t offset;           /* how far the index has read */
	char hash[CHAIN_HEX + 1]; /* of the line that ends there; "" at the beginning */
	int64_t seq;
	char *block;
	size_t room;
};

static void fill_done(struct fill *fill)
{
	project_free(fill->project);
	json_arena_free(fill->arena);
	if (fill->fd >= 0)
		close(fill->fd);
	free(fill->block);
}

static int open_log(const struct store *store, int *ret_fd, struct error *err)
{
	*ret_fd = openat(store->dirfd, STORE_LOG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*ret_fd < 0 && errno != ENOENT)
		return error_set(err, errno, "%s/%s: %s", store->dir, STORE_LOG, strerror(errno));
	return 0;
}

/* ---- the place reached ---------------------------------------------------------------- */

static int load_place(struct fill *fill, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	fill->offset = fill->seq = 0;
	fill->hash[0] = '\0';
	if (sqlite3_prepare_v2(fill->db,
			       "SELECT ingest_offset, ifnull(last_hash, ''), ifnull(last_seq, 0)"
			       " FROM segments WHERE segment_id = 1",
			       -1, &stmt, NULL) != SQLITE_OK)
		return db_failed(fill->db, "database", err);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		fill->offset = sqlite3_column_int64(stmt, 0);
		snprintf(fill->hash, sizeof(fill->hash), "%s", sqlite3_column_text(stmt, 1));
		fill->seq = sqlite3_column_int64(stmt, 2);
	}
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(fill->db, "database", err);
}

static int save_place(struct fill *fill, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(
		fill->db,
		"INSERT INTO segments(segment_id, path, first_seq, last_seq, last_hash,"
		" ingest_offset) VALUES(1, ?1, 1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET"
		" last_seq = excluded.last_seq, last_hash = excluded.last_hash,"
		" ingest_offset = excluded.ingest_offset",
		-1, &stmt, NULL) != SQLITE_OK)
		return db_failed(fill->db, "database", err);
	sqlite3_bind_text(stmt, 1, STORE_LOG, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, fill->seq);
	sqlite3_bind_text(stmt, 3, fill->hash, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 4, fill->offset);
	return sqlite3_step(stmt) == SQLITE_DONE ? 0 : db_failed(fill->db, "database", err);
}

/* Whether the log still is the one that was read: HEX"} and a newline before offset. */
static bool same_log(const struct fill *fill)
{
	char end[CHAIN_HEX + 3];
	if (fill->offset == 0)
		return true;
	if (fill->fd < 0 || fill->offset < (int64_t)sizeof(end) ||
	    pread(fill->fd, end, sizeof(end), fill->offset - (off_t)sizeof(end)) != sizeof(end))
		return false;
	return end[sizeof(end) - 1] == '\n' &&
	       (fill->hash[0] == '\0' || memcmp(end, fill->hash, CHAIN_HEX) == 0);
}

/* ---- reading --------------------------------------------------------------------------- */

/* Reads whole lines from offset on, at least one when there is one.  *ret_len 0: level
 * with the log. */
static int read_block(struct fill *fill, size_t *ret_len, struct error *err)
{
	size_t room = BLOCK;
	*ret_len = 0;
	while (fill->fd >= 0) {
		if (fill->room < room) {
			char *block = realloc(fill->block, room);
			if (!block)
				return error_set(err, ENOMEM, "out of memory");
			fill->block = block;
			fill->room = room;
		}
		ssize_t n = pread(fill->fd, fill->block, room, fill->offset);
		if (n < 0)
			return error_set(err, errno, "%s: %s", STORE_LOG, strerror(errno));
		const char *newline = memrchr(fill->block, '\n', (size_t)n);
		if (newline) {
			*ret_len = (size_t)(newline - fill->block) + 1;
			return 0;
		}
		if ((size_t)n < room)
			return 0; /* a line that is still being written */
		if (room > CHAIN_LINE_MAX)
			return error_set(err, E2BIG, "%s: a line is too long", STORE_LOG);
		room *= 2;
	}
	return 0;
}

static int fill_line(struct fill *fill, struct str line, struct error *err)
{
	struct event event;
	struct error why = {""};
	size_t mark = json_arena_mark(fill->arena);
	int r = event_read(fill->arena, line, &event, &why);
	if (r == -EBADMSG) {
		fill->hash[0] = '\0';
		return project_skipped(fill->project, INGEST_SEGMENT, fill->offset, line.len,
				       why.text, err);
	}
	if (r < 0)
		return error_set(err, -r, "%s", why.text);
	r = project_event(fill->project, &event, INGEST_SEGMENT, fill->offset, err);
	chain_hex(event.chain.head, fill->hash);
	fill->seq = (int64_t)event.chain.seq;
	json_arena_rewind(fill->arena, mark);
	return r;
}

static int fill_block(struct fill *fill, size_t len, struct error *err)
{
	const char *at = fill->block, *end = fill->block + len;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		int r = fill_line(fill, (struct str){at, (size_t)(newline - at)}, err);
		if (r < 0)
			return r;
		fill->offset += newline + 1 - at;
		at = newline + 1;
	}
	return save_place(fill, err);
}

/* One transaction.  1 when there may be more. */
static int fill_some(struct fill *fill, struct error *err)
{
	size_t len = 0;
	int r = db_exec(fill->db, "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	r = load_place(fill, err);
	if (r == 0 && !same_log(fill)) {
		fill->offset = fill->seq = 0;
		fill->hash[0] = '\0';
		r = db_exec(fill->db, schema_empty, err);
	}
	if (r == 0)
		r = read_block(fill, &len, err);
	if (r == 0 && len > 0)
		r = fill_block(fill, len, err);
	if (r == 0)
		r = db_exec(fill->db, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(fill->db, "ROLLBACK", NULL, NULL, NULL);
	return r < 0 ? r : len > 0;
}

int ingest_fill(const struct store *store, sqlite3 *db, int64_t budget_ns, struct error *err)
{
	_cleanup_(fill_done) struct fill fill = {.store = store, .db = db, .fd = -1};
	int64_t start = io_monotonic_ns();
	int r = open_log(store, &fill.fd, err);
	if (r == 0)
		r = json_arena_new(JSON_ARENA_DEFAULT, &fill.arena, err);
	if (r == 0)
		r = project_new(db, &fill.project, err);
	if (r < 0)
		return r;
	do
		r = fill_some(&fill, err);
	while (r == 1 && io_monotonic_ns() - start < budget_ns);
	return r;
}

/* ---- who fills -------------------------------------------------------------------------- */

static int log_size(const struct store *store, int64_t *ret, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st = {0};
	off_t end = 0;
	int r = open_log(store, &fd, err);
	if (r == 0 && fd >= 0 && fstat(fd, &st) == 0)
		r = tail_last_newline(fd, st.st_size, &end, err);
	*ret = end;
	return r;
}

/* [under the lock] */
static int fill_database(const struct store *store, int64_t budget_ns, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	int r = db_open(store, DB_INGEST, &db, err);
	return r < 0 ? r : ingest_fill(store, db, budget_ns, err);
}

static int drain_once(const struct store *store, int64_t budget_ns, struct error *err)
{
	_cleanup_close_ int lock = -1;
	int r = store_lock(store, STORE_DB_LOCK, 0, &lock, err);
	if (r < 0)
		return r == -EAGAIN ? 1 : r;
	r = fill_database(store, budget_ns, err);
	/* Broken, not foreign: the log has it all. */
	if (r == -EBADMSG && db_quarantine(store, err) == 0)
		r = fill_database(store, budget_ns, err);
	return r;
}

int ingest_drain(const struct store *store, int64_t budget_ns, struct error *err)
{
	int64_t start = io_monotonic_ns(), before = -1, after = 0;
	int r = 0;
	while (r == 0) {
		r = log_size(store, &before, err);
		if (r == 0)
			r = drain_once(store, budget_ns, err);
		if (r == 0)
			r = log_size(store, &after, err);
		if (after == before)
			break;
		if (r == 0 && io_monotonic_ns() - start >= budget_ns)
			r = 1;
	}
	return r;
}

int ingest_place(const struct store *store, sqlite3 *db, struct ingest_place *ret,
		 struct error *err)
{
	_cleanup_(fill_done) struct fill fill = {.store = store, .db = db, .fd = -1};
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	int r = open_log(store, &fill.fd, err);
	if (r == 0)
		r = load_place(&fill, err);
	if (r == 0)
		r = log_size(store, &ret->size, err);
	if (r < 0)
		return r;
	ret->offset = same_log(&fill) ? fill.offset : 0;
	ret->last_seq = fill.seq;
	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM skipped", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		return db_failed(db, "database", err);
	ret->skipped = sqlite3_column_int64(stmt, 0);
	return 0;
}
