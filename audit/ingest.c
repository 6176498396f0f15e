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
#include "bodies.h"
#include "chain.h"
#include "db.h"
#include "event.h"
#include "lag.h"
#include "project.h"
#include "schema.h"
#include "segment.h"
#include "tail.h"

/* One transaction's share of the log: bounds the journal and how long a reader waits. */
#define BLOCK ((size_t)4 << 20)

_Static_assert(BLOCK < CHAIN_LINE_MAX, "a block grows to one longest line");

struct fill {
	const struct store *store;
	sqlite3 *db;
	struct project *project;
	struct json_arena *arena;
	struct segments segments;
	const struct segment *segment; /* being read; NULL: there is none */
	int fd;                        /* of it */
	int64_t place;                 /* the segment the index is at; 0 at the beginning */
	int64_t offset;                /* how far it has read in it */
	char hash[CHAIN_HEX + 1];      /* of the line that ends there; "" at the beginning */
	int64_t seq;
	char *block;
	size_t room;
};

#define FILL_EMPTY ((struct fill){.fd = -1})

static void close_segment(struct fill *fill)
{
	if (fill->fd >= 0)
		close(fill->fd);
	fill->fd = -1;
	fill->segment = NULL;
}

static void fill_done(struct fill *fill)
{
	project_free(fill->project);
	json_arena_free(fill->arena);
	close_segment(fill);
	segments_free(&fill->segments);
	free(fill->block);
}

/* ---- the place reached ---------------------------------------------------------------- */

static int load_place(struct fill *fill, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	fill->place = fill->offset = fill->seq = 0;
	fill->hash[0] = '\0';
	if (sqlite3_prepare_v2(fill->db,
			       "SELECT segment_id, ingest_offset, ifnull(last_hash, ''),"
			       " ifnull(last_seq, 0) FROM segments ORDER BY segment_id DESC LIMIT 1",
			       -1, &stmt, NULL) != SQLITE_OK)
		return db_failed(fill->db, "database", err);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		fill->place = sqlite3_column_int64(stmt, 0);
		fill->offset = sqlite3_column_int64(stmt, 1);
		snprintf(fill->hash, sizeof(fill->hash), "%s", sqlite3_column_text(stmt, 2));
		fill->seq = sqlite3_column_int64(stmt, 3);
	}
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(fill->db, "database", err);
}

static int save_place(struct fill *fill, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(
		fill->db,
		"INSERT INTO segments(segment_id, path, first_seq, last_seq, last_hash,"
		" ingest_offset) VALUES(?1, ?2, ?1, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
		" path = excluded.path, last_seq = excluded.last_seq,"
		" last_hash = excluded.last_hash, ingest_offset = excluded.ingest_offset",
		-1, &stmt, NULL) != SQLITE_OK)
		return db_failed(fill->db, "database", err);
	sqlite3_bind_int64(stmt, 1, fill->place);
	sqlite3_bind_text(stmt, 2, fill->segment->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 3, fill->seq);
	sqlite3_bind_text(stmt, 4, fill->hash, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 5, fill->offset);
	return sqlite3_step(stmt) == SQLITE_DONE ? 0 : db_failed(fill->db, "database", err);
}

/* The first segment that the index has read; 0: none. */
static int first_place(sqlite3 *db, int64_t *ret, struct error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, "SELECT ifnull(min(segment_id), 0) FROM segments", -1, &stmt,
			       NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		return db_failed(db, "database", err);
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

/* Whether the segment still is the one that was read: HEX"} and a newline before offset. */
static bool same_log(const struct fill *fill)
{
	char end[CHAIN_HEX + 3];
	if (fill->place == 0 || fill->offset == 0)
		return true;
	if (fill->fd < 0 || fill->offset < (int64_t)sizeof(end) ||
	    pread(fill->fd, end, sizeof(end), fill->offset - (off_t)sizeof(end)) != sizeof(end))
		return false;
	return end[sizeof(end) - 1] == '\n' &&
	       (fill->hash[0] == '\0' || memcmp(end, fill->hash, CHAIN_HEX) == 0);
}

/* ---- which file ------------------------------------------------------------------------ */

static int list_segments(struct fill *fill, struct error *err)
{
	close_segment(fill);
	segments_free(&fill->segments);
	return segments_list(fill->store, &fill->segments, err);
}

/* Opens the segment the index is at, or the first one; none (segment NULL) when it is
 * not there, looked for twice, as files may be renamed while they are listed. */
static int open_segment(struct fill *fill, struct error *err)
{
	int r = 0;
	for (int turns = 0; turns < 3; turns++) {
		if (turns > 0)
			r = list_segments(fill, err);
		close_segment(fill);
		if (r < 0)
			return r;
		fill->segment = fill->place ? segments_find(&fill->segments, fill->place)
				: fill->segments.n > 0 ? &fill->segments.items[0]
						       : NULL;
		if (!fill->segment && fill->place == 0)
			return 0;
		if (!fill->segment)
			continue;
		r = segment_open_listed(fill->store, fill->segment, &fill->fd, err);
		if (r != -ENOENT && r != -ESTALE)
			return r;
		r = 0;
	}
	fill->segment = NULL;
	return 0;
}

static const struct segment *next_segment(const struct fill *fill)
{
	const struct segment *next = fill->segment + 1;
	return next < fill->segments.items + fill->segments.n ? next : NULL;
}

/* ---- reading --------------------------------------------------------------------------- */

/* Reads whole lines from offset on, at least one when there is one.  *ret_len 0: level
 * with the segment. */
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
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "%s: %s", fill->segment->name,
					 strerror(errno));
		const char *newline = memrchr(fill->block, '\n', (size_t)n);
		if (newline) {
			*ret_len = (size_t)(newline - fill->block) + 1;
			return 0;
		}
		if ((size_t)n < room)
			return 0; /* a line that is still being written */
		if (room > CHAIN_LINE_MAX)
			return error_set(err, E2BIG, "%s: a line is too long", fill->segment->name);
		room *= 2;
	}
	return 0;
}

static int fill_line(struct fill *fill, struct str line, struct error *err)
{
	struct event event;
	enum bodies_state state;
	struct error why = {""};
	size_t mark = json_arena_mark(fill->arena);
	int r = event_read(fill->arena, line, &event, &why);
	if (r == -EBADMSG) {
		fill->hash[0] = '\0';
		return project_skipped(fill->project, fill->place, fill->offset, line.len,
				       why.text, err);
	}
	if (r < 0)
		return error_set(err, -r, "%s", why.text);
	r = bodies_fill(fill->store, fill->place, fill->arena, &event, &state, err);
	if (r == 0)
		r = project_event(fill->project, &event, fill->place, fill->offset, err);
	chain_hex(event.chain.head, fill->hash);
	fill->seq = (int64_t)event.chain.seq;
	json_arena_rewind(fill->arena, mark);
	return r;
}

static int fill_block(struct fill *fill, size_t len, struct error *err)
{
	const char *at = fill->block, *end = fill->block + len;
	project_lasting(fill->project, (struct str){fill->block, len});
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		int r = fill_line(fill, (struct str){at, (size_t)(newline - at)}, err);
		if (r < 0)
			return r;
		fill->offset += newline + 1 - at;
		at = newline + 1;
	}
	int r = project_flush(fill->project, err);
	return r < 0 ? r : save_place(fill, err);
}

/* The next segment's turn, once this one is read and closed. */
static int go_on(struct fill *fill, size_t *ret_len, struct error *err)
{
	int r = 0;
	while (r == 0 && *ret_len == 0 && fill->segment && next_segment(fill)) {
		fill->place = next_segment(fill)->first;
		fill->offset = 0;
		r = open_segment(fill, err);
		if (r == 0)
			r = read_block(fill, ret_len, err);
	}
	return r;
}

/* Where to begin: 0 where the index is, 1 all over again, -EBADMSG it is another log's. */
static int find_place(struct fill *fill, struct error *err)
{
	int64_t first = 0;
	int r = load_place(fill, err);
	if (r == 0)
		r = first_place(fill->db, &first, err);
	if (r == 0)
		r = open_segment(fill, err);
	if (r < 0)
		return r;
	if (fill->place > 0 && fill->segments.n > 0 && first != fill->segments.items[0].first)
		return 1;
	if (!same_log(fill) || (fill->place > 0 && !fill->segment))
		return error_set(err, EBADMSG, "%s: made from another log", fill->store->db);
	return 0;
}

static int begin_anew(struct fill *fill, struct error *err)
{
	fill->place = fill->offset = fill->seq = 0;
	fill->hash[0] = '\0';
	int r = db_exec(fill->db, schema_empty, err);
	return r < 0 ? r : open_segment(fill, err);
}

/* One transaction.  1 when there may be more. */
static int fill_some(struct fill *fill, struct error *err)
{
	size_t len = 0;
	int r = db_exec(fill->db, "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	r = find_place(fill, err);
	if (r == 1)
		r = begin_anew(fill, err);
	if (r == 0 && fill->segment)
		fill->place = fill->segment->first;
	if (r == 0)
		r = read_block(fill, &len, err);
	if (r == 0 && len == 0)
		r = go_on(fill, &len, err);
	if (r == 0 && len > 0)
		r = fill_block(fill, len, err);
	if (r == 0)
		r = db_exec(fill->db, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(fill->db, "ROLLBACK", NULL, NULL, NULL);
	return r < 0 ? r : len > 0;
}

static int fill_all(struct fill *fill, int64_t budget_ns, struct error *err)
{
	int64_t start = io_monotonic_ns();
	int r = list_segments(fill, err);
	if (r == 0)
		r = json_arena_new(JSON_ARENA_DEFAULT, &fill->arena, err);
	if (r == 0)
		r = project_new(fill->db, &fill->project, err);
	if (r < 0)
		return r;
	do
		r = fill_some(fill, err);
	while (r == 1 && io_monotonic_ns() - start < budget_ns);
	return r;
}

int ingest_fill(const struct store *store, sqlite3 *db, int64_t budget_ns, struct error *err)
{
	_cleanup_(fill_done) struct fill fill = FILL_EMPTY;
	fill.store = store;
	fill.db = db;
	return fill_all(&fill, budget_ns, err);
}

/* ---- who fills -------------------------------------------------------------------------- */

/* Whole lines of all segments up to the first record number until, in bytes. */
static int log_size(const struct store *store, int64_t until, int64_t *ret, struct error *err)
{
	struct segments list;
	int r = segments_list(store, &list, err);
	*ret = 0;
	for (size_t i = 0; r == 0 && i < list.n && list.items[i].first < until; i++) {
		_cleanup_close_ int fd = -1;
		off_t end = list.items[i].size;
		r = segment_open(store, list.items[i].name, &fd, err);
		if (r == 0)
			r = tail_last_newline(fd, end, &end, err);
		*ret += end;
	}
	segments_free(&list);
	return r == -ENOENT ? 0 : r; /* renamed just now: whoever asks looks again */
}

/* [under the lock] */
static int fill_database(const struct store *store, int64_t budget_ns, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_(fill_done) struct fill fill = FILL_EMPTY;
	int r = db_open(store, DB_INGEST, &db, err);
	fill.store = store;
	fill.db = db;
	if (r == 0)
		r = fill_all(&fill, budget_ns, err);
	if (r == 0)
		lag_write(store, fill.place, fill.offset);
	return r;
}

static int drain_once(const struct store *store, int64_t budget_ns, struct error *err)
{
	_cleanup_close_ int lock = -1;
	int r = store_lock(store, STORE_DB_LOCK, 0, &lock, err);
	if (r < 0)
		return r == -EAGAIN ? 1 : r;
	r = fill_database(store, budget_ns, err);
	/* Broken, not foreign: the log has it all. */
	if (r == -EBADMSG && db_set_aside(store, "corrupt", NULL, err) == 0)
		r = fill_database(store, budget_ns, err);
	return r;
}

int ingest_drain(const struct store *store, int64_t budget_ns, struct error *err)
{
	int64_t start = io_monotonic_ns(), before = -1, after = 0;
	int r = 0;
	while (r == 0) {
		r = log_size(store, INT64_MAX, &before, err);
		if (r == 0)
			r = drain_once(store, budget_ns, err);
		if (r == 0)
			r = log_size(store, INT64_MAX, &after, err);
		if (after == before)
			break;
		if (r == 0 && io_monotonic_ns() - start >= budget_ns)
			r = 1;
	}
	return r;
}

int ingest_drain_due(const struct store *store, int64_t budget_ns, struct error *err)
{
	return lag_is_due(store) ? ingest_drain(store, budget_ns, err) : 1;
}

int ingest_rebuild(const struct store *store, char *ret_path, struct error *err)
{
	_cleanup_close_ int lock = -1;
	ret_path[0] = '\0';
	int r = store_lock(store, STORE_DB_LOCK, STORE_LOG_WAIT_NS, &lock, err);
	if (r == 0 && access(store->db, F_OK) == 0)
		r = db_set_aside(store, "replaced", ret_path, err);
	return r < 0 ? r : fill_database(store, INGEST_NO_LIMIT, err);
}

int ingest_refill(const struct store *store, struct error *err)
{
	_cleanup_close_ int lock = -1;
	_cleanup_db_ sqlite3 *db = NULL;
	int r = store_lock(store, STORE_DB_LOCK, STORE_LOG_WAIT_NS, &lock, err);
	if (r == 0)
		r = db_open(store, DB_INGEST, &db, err);
	if (r == 0)
		r = db_exec(db, schema_empty, err); /* secure_delete is on */
	return r < 0 ? r : ingest_fill(store, db, INGEST_NO_LIMIT, err);
}

int ingest_place(const struct store *store, sqlite3 *db, struct ingest_place *ret,
		 struct error *err)
{
	_cleanup_(fill_done) struct fill fill = FILL_EMPTY;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	*ret = (struct ingest_place){0};
	fill.store = store;
	fill.db = db;
	int r = list_segments(&fill, err);
	if (r == 0)
		r = find_place(&fill, err);
	bool level = r == 0 && fill.segment && fill.place > 0;
	ret->foreign = r == -EBADMSG;
	if (r == 1 || r == -EBADMSG)
		r = 0;
	if (r == 0 && level)
		r = log_size(store, fill.segment->first, &ret->offset, err);
	if (r == 0)
		r = log_size(store, INT64_MAX, &ret->size, err);
	if (r < 0)
		return r;
	if (level) {
		ret->segment = fill.place;
		ret->segment_offset = fill.offset;
		ret->offset += fill.offset;
	}
	ret->last_seq = fill.seq;
	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM skipped", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		return db_failed(db, "database", err);
	ret->skipped = sqlite3_column_int64(stmt, 0);
	return 0;
}
