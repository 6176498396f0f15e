/* mark.c - see mark.h. */
#include <config.h>

#include "mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One width, so that noting it again needs no room on a disk that is full. */
#define NOTE "%019" PRId64 "\n"
#define NOTE_LEN 20
#define STEPS_MAX INT64_C(1000000000000000000)
#define PLACE_MAX 80

/* ---- the lock's side --------------------------------------------------------------------- */

/* *ret -1: there is none, or none of ours. */
static int read_note(const struct approvals *queue, int64_t *ret, struct error *err)
{
	char text[NOTE_LEN + 1] = "", *end;
	ssize_t n;
	do
		n = pread(queue->lock, text, NOTE_LEN, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(err, errno, "%s's lock: %s", queue->path, strerror(errno));
	*ret = strtoll(text, &end, 10);
	if (n != NOTE_LEN || *end != '\n' || end != text + NOTE_LEN - 1 || *ret < 0 ||
	    *ret > STEPS_MAX)
		*ret = -1;
	return 0;
}

static int write_note(const struct approvals *queue, int64_t steps, struct error *err)
{
	char text[NOTE_LEN + 1];
	ssize_t n;
	int r;
	snprintf(text, sizeof(text), NOTE, steps);
	do
		n = pwrite(queue->lock, text, NOTE_LEN, 0);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && n < NOTE_LEN)
		errno = ENOSPC;
	do
		r = n == NOTE_LEN ? fdatasync(queue->lock) : -1;
	while (r < 0 && n == NOTE_LEN && errno == EINTR);
	return r == 0 ? 0 : error_set(err, errno, "%s's lock: %s", queue->path, strerror(errno));
}

/* Which file the lock is: nobody gives a copy the number and the hour of birth of another. */
static int place_of(const struct approvals *queue, char ret[PLACE_MAX], struct error *err)
{
	struct statx st = {0};
	if (statx(queue->lock, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0)
		return error_set(err, errno, "%s's lock: %s", queue->path, strerror(errno));
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime.tv_sec = 0, st.stx_btime.tv_nsec = 0;
	snprintf(ret, PLACE_MAX, "%" PRIu64 " %" PRId64 ".%09u", (uint64_t)st.stx_ino,
		 (int64_t)st.stx_btime.tv_sec, (unsigned)st.stx_btime.tv_nsec);
	return 0;
}

/* ---- the database's side ------------------------------------------------------------------- */

static int read_steps(struct approvals *queue, int64_t *ret, char place[PLACE_MAX],
		      struct error *err)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	int r = queue_query(queue, &stmt, err, "SELECT n, place FROM steps", "");
	if (r == 0 && sqlite3_step(stmt) != SQLITE_ROW)
		r = sqlite3_errcode(queue->db) == SQLITE_DONE ?
			    error_set(err, EBADMSG, "%s: its count of steps is gone", queue->path) :
			    queue_failed(queue, err);
	if (r < 0)
		return r;
	*ret = sqlite3_column_int64(stmt, 0);
	snprintf(place, PLACE_MAX, "%s", sqlite3_column_text(stmt, 1));
	return 0;
}

int mark_make(struct approvals *queue, struct error *err)
{
	int64_t noted;
	int r = queue_run(queue, err,
			  "CREATE TABLE IF NOT EXISTS steps("
			  " one INTEGER PRIMARY KEY CHECK(one = 1), n INTEGER NOT NULL,"
			  " place TEXT NOT NULL) STRICT",
			  "");
	if (r == 0)
		r = queue_run(queue, err, "INSERT OR IGNORE INTO steps VALUES(1, 0, '')", "");
	if (r == 0)
		r = read_note(queue, &noted, err);
	return r == 0 && noted < 0 ? write_note(queue, 0, err) : r;
}

/* A batch whose answers may have been given is not answered again, either. */
static int make_void(struct approvals *queue, struct error *err)
{
	int r = queue_run(queue, err,
			  "UPDATE approvals SET status = 'canceled', decided_why = ?"
			  " WHERE status IN ('pending','approved')",
			  "c", MARK_PUT_BACK);
	return r < 0 ? r :
		       queue_run(queue, err,
				 "UPDATE batches SET resumed_ms = -1 WHERE resumed_ms IS NULL", "");
}

int mark_begin(struct approvals *queue, struct error *err)
{
	char place[PLACE_MAX], now[PLACE_MAX];
	int64_t noted;
	int r = read_note(queue, &noted, err);
	if (r == 0)
		r = place_of(queue, now, err);
	if (r == 0)
		r = read_steps(queue, &queue->steps, place, err);
	if (r < 0)
		return r;
	queue->put_back = (noted < 0 ? queue->steps > 0 : noted > queue->steps) ||
			  (place[0] && strcmp(place, now) != 0);
	queue->changes = queue->put_back ? -1 : sqlite3_total_changes(queue->db);
	if (noted > queue->steps)
		queue->steps = noted;
	return queue->put_back ? make_void(queue, err) : 0;
}

int mark_count(struct approvals *queue, struct error *err)
{
	char place[PLACE_MAX];
	queue->counted = sqlite3_total_changes(queue->db) != queue->changes;
	if (!queue->counted)
		return 0;
	int r = place_of(queue, place, err);
	return r < 0 ? r :
		       queue_run(queue, err, "UPDATE steps SET n = ?, place = ?", "ic",
				 ++queue->steps, place);
}

int mark_note(struct approvals *queue, struct error *err)
{
	int r = queue->counted ? write_note(queue, queue->steps, err) : 0;
	if (r < 0)
		error_prefix(err, "it stands in the queue, but that it does could not be noted");
	return r;
}
