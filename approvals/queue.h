/* queue.h - approvals.db: opened, guarded, and changed in whole steps.
 *
 * Layer: approvals; knows SQLite.
 *
 * The guard is flock(2) on approvals.lock, a file that is never unlinked: a plugin that opens
 * and closes the database inside the worker's process takes SQLite's own (POSIX) locks away
 * without anybody noticing. Every reading and writing is between queue_begin and queue_end.
 *
 *	queue_begin(queue, QUEUE_WRITE, err);
 *	... statements ...
 *	queue_end(queue, r, err);	commits when r is 0, else takes all of it back
 *
 * What the states are and how they follow each other is said once, in the schema, and held
 * by the database itself.
 */
#ifndef PAWL_APPROVALS_QUEUE_H
#define PAWL_APPROVALS_QUEUE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "clock.h"
#include "core/approval.h"

#define QUEUE_DB "approvals.db"
#define QUEUE_LOCK "approvals.lock"
#define QUEUE_APPLICATION_ID 0x7061776c /* "pawl" */
#define QUEUE_VERSION 1
/* How long one may wait for the others; a step is a few milliseconds. */
#define QUEUE_WAIT_NS ((int64_t)5 * 1000000000)

enum queue_mode { QUEUE_READ, QUEUE_WRITE };

struct approvals {
	sqlite3 *db;
	char *path;
	int lock; /* descriptor of the lock's file */
	bool in_step, writes;
	/* see mark.h */
	bool put_back; /* this step found an old copy, and has made void what was open in it */
	bool counted;
	int64_t steps;
	int changes;
	struct moment now; /* of the step: read once, when it begins */
	void (*clock)(struct moment *ret); /* clock_now, unless a test says otherwise */
};

/* *ret is the caller's, free with queue_close. make: folder and files, when missing; without
 * it -ENOENT means that nothing ever waited here. -EPERM: somebody else's database, or a
 * newer pawl's. -EBADMSG: broken. */
int queue_open(const char *state_dir, bool make, struct approvals **ret, struct error *err);
void queue_close(struct approvals *queue); /* takes NULL */

int queue_begin(struct approvals *queue, enum queue_mode mode, struct error *err);
/* r: what the step came to. Returns r, or why it could not be kept. */
int queue_end(struct approvals *queue, int r, struct error *err);

/* Runs SQL with parameters by kinds: t struct str (absent: NULL), c C string, i int64_t. */
int queue_run(struct approvals *queue, struct error *err, const char *sql, const char *kinds, ...);
/* The same for rows: *ret is to be stepped and finalized. */
int queue_query(struct approvals *queue, sqlite3_stmt **ret, struct error *err, const char *sql,
		const char *kinds, ...);
/* err from the database's last failure; -errno. */
int queue_failed(struct approvals *queue, struct error *err);

static inline void cleanup_queue_stmt_(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

static inline void cleanup_queue_(struct approvals **queue)
{
	queue_close(*queue);
}

#define _cleanup_query_ __attribute__((cleanup(cleanup_queue_stmt_)))
#define _cleanup_queue_ __attribute__((cleanup(cleanup_queue_)))

#endif
