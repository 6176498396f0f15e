/* log.c - the append, in the order that AUDIT's write path prescribes. */
#include <config.h>

#include "log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "batch.h"
#include "bodies.h"
#include "chain.h"
#include "drops.h"
#include "head.h"
#include "line.h"
#include "rotate.h"
#include "tail.h"

static int add_recovered(struct batch *batch, const struct tail *tail, const char *name,
			 struct error *err)
{
	char data[TAIL_NAME_MAX + 80];
	snprintf(data, sizeof(data), "{\"bytes\":%lld,\"offset\":%lld,\"file\":\"%s\"}",
		 (long long)(tail->size - tail->good), (long long)tail->good, name);
	return batch_add_own(batch, "audit.recovered", str_of(data), err);
}

static int add_gap(struct batch *batch, const struct drops *drops, struct error *err)
{
	char data[1024], first[LINE_TIME_MAX], last[LINE_TIME_MAX];
	line_time(drops->first_ms, first);
	line_time(drops->last_ms, last);
	int n = snprintf(data, sizeof(data),
			 "{\"count\":%" PRIu64 ",\"total\":%" PRIu64
			 ",\"first\":\"%s\",\"last\":\"%s\",\"reasons\":{",
			 drops_sum(drops->pending), drops_sum(drops->total), first, last);
	const char *comma = "";
	for (int i = 0; i < REASON_COUNT; i++) {
		if (drops->pending[i] == 0)
			continue;
		n += snprintf(data + n, sizeof(data) - (size_t)n, "%s\"%s\":%" PRIu64, comma,
			      reason_name((enum reason)i), drops->pending[i]);
		comma = ",";
	}
	snprintf(data + n, sizeof(data) - (size_t)n, "}}");
	return batch_add_own(batch, "audit.gap", str_of(data), err);
}

/* ---- writing --------------------------------------------------------------------- */

/* One write at the file's end.  A part of it would be a torn line for every reader:
 * cut off again, and when even that fails the next writer does it. */
static int write_once(int fd, off_t end, const char *text, size_t len)
{
	ssize_t n;
	do
		n = pwrite(fd, text, len, end);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)len) {
		int code = n < 0 ? errno : ENOSPC;
		if (n > 0 && ftruncate(fd, end) != 0)
			code = errno;
		return -code;
	}
	return 0;
}

static int sync_file(const struct store *store, int fd, const char *name, struct error *err)
{
	if (store->sync && fdatasync(fd) != 0)
		return error_set(err, errno, "%s/%s: cannot write: %s", store->dir, name,
				 strerror(errno));
	return 0;
}

static int write_lines(const struct store *store, int fd, const char *name, bool made, off_t end,
		       struct str text, struct error *err)
{
	if (!store_is_named(store, fd, name))
		return error_set(err, ESTALE, "%s/%s: replaced while it was written", store->dir,
				 name);
	int r = write_once(fd, end, text.ptr, text.len);
	if (r < 0)
		return error_set(err, -r, "%s/%s: cannot write: %s", store->dir, name,
				 strerror(-r));
	return made ? store_sync_dir(store, err) : 0;
}

static int named(const struct store *store, const char *name, int r, struct error *err)
{
	if (r < 0)
		error_prefix(err, "%s/%s", store->dir, name);
	return r;
}

/* ---- one append ----------------------------------------------------------------------- */

struct append {
	const struct store *store;
	int lock, fd;
	bool made;  /* the file is new in its folder */
	bool close; /* the current file is to be closed, due or not */
	const char *note; /* for audit.recovered */
	struct str aside; /* bodies that do not go into the log */
	int64_t aside_first, aside_at; /* where they went; 0: nowhere */
	struct tail tail;
	struct before before;
	struct drops drops;
	struct prune *prune; /* NULL: nothing to be removed */
	struct batch batch;
};

static void append_done(struct append *a)
{
	batch_done(&a->batch);
	free(a->prune);
	if (a->fd >= 0)
		close(a->fd);
	if (a->lock >= 0)
		store_unlock(a->lock);
}

static int open_current(struct append *a, struct error *err)
{
	int r = store_file(a->store, STORE_LOG, STORE_READ_MODE, &a->fd, &a->made, err);
	return r < 0 ? r : named(a->store, STORE_LOG, tail_read(a->fd, &a->tail, err), err);
}

static int cut_torn(struct append *a, char *name, struct error *err)
{
	if (a->tail.size == a->tail.good)
		return 0;
	return tail_cut(a->store, a->fd, a->tail.good, a->tail.size, name, err);
}

/* A file that cannot be closed is gone on with: it is the record that counts. */
static int rotate(struct append *a, struct error *err)
{
	if (!(a->close && a->tail.good > 0) && !rotate_is_due(a->store, a->fd, &a->tail))
		return 0;
	int r = rotate_close(a->store, a->fd, &a->tail, err);
	if (r < 0)
		return a->close ? r : 0;
	close(TAKE_FD(a->fd));
	return open_current(a, err);
}

static int choose_pruned(struct append *a, struct error *err)
{
	if (a->store->keep_bytes <= 0 && a->store->keep_ms <= 0)
		return 0;
	a->prune = calloc(1, sizeof(*a->prune));
	if (!a->prune)
		return error_set(err, ENOMEM, "out of memory");
	/* what cannot be looked through is kept */
	if (prune_choose(a->store, a->prune, NULL) < 0 || a->prune->n == 0) {
		free(a->prune);
		a->prune = NULL;
	}
	return 0;
}

/* What has to be said before the record. */
static int tell(struct append *a, const struct tail *torn, const char *name, struct error *err)
{
	int r = rotate_before(a->store, a->fd, &a->tail, &a->before, err);
	if (r == 0)
		r = rotate_tell(&a->before, &a->tail, a->note, &a->batch, err);
	if (r == 0 && torn->size > torn->good)
		r = add_recovered(&a->batch, torn, name, err);
	if (r == 0 && drops_sum(a->drops.pending) > 0)
		r = add_gap(&a->batch, &a->drops, err);
	if (r == 0 && a->tail.good == 0)
		r = choose_pruned(a, err);
	if (r == 0 && a->prune)
		r = prune_tell(a->prune, &a->batch, err);
	return r;
}

/* The chain's id, for the head: a chain that begins with this batch has it in there. */
static void note_head(struct append *a)
{
	if (a->before.chain_id[0] == '\0') {
		const char *at = strstr(a->batch.text, "\"data\":{\"chain\":\"");
		if (at)
			snprintf(a->before.chain_id, LINE_ID_MAX, "%s", at + 17);
	}
	head_write(a->store, a->before.chain_id, &a->batch.chain);
}

/* The lock is given back before the disk is waited for, so that whoever comes meanwhile
 * shares the wait: a line is safe when it and all before it are, whoever asked for that.
 * A gap and what is to be removed are told under the lock, as the count is taken back
 * and the files go once the line is safe. */
static int make_safe(struct append *a, struct error *err)
{
	bool gap = drops_sum(a->drops.pending) > 0;
	if (!gap && !a->prune)
		store_unlock(TAKE_FD(a->lock));
	int r = sync_file(a->store, a->fd, STORE_LOG, err);
	/* a gap told twice is better than a loss never told */
	if (r == 0 && gap)
		(void)drops_told(a->store, &a->drops, NULL);
	if (r == 0 && a->prune)
		prune_remove(a->store, a->prune);
	return r;
}

/* The record, with the place of its bodies.  They are on the disk before it is. */
static int add_record(struct append *a, struct str body, struct error *err)
{
	int64_t first = a->tail.good > 0 ? segment_first(a->fd) : (int64_t)a->before.chain.seq + 1;
	_cleanup_free_ char *text = NULL;
	int64_t at;
	if (!a->aside.ptr)
		return batch_add(&a->batch, body, err);
	int r = bodies_append(a->store, first, a->aside, &at, err);
	if (r < 0)
		return r;
	a->aside_first = first;
	a->aside_at = at;
	int n = asprintf(&text, "%.*s,\"aside\":{\"at\":%" PRId64 ",\"len\":%zu}", STR_FMT(body),
			 at, a->aside.len);
	return n < 0 ? error_set(err, ENOMEM, "out of memory")
		     : batch_add(&a->batch, (struct str){text, (size_t)n}, err);
}

static int append(struct append *a, struct str body, struct error *err)
{
	char name[TAIL_NAME_MAX];
	int r = store_lock(a->store, STORE_LOG_LOCK, STORE_LOG_WAIT_NS, &a->lock, err);
	if (r == 0)
		r = open_current(a, err);
	struct tail torn = a->tail;
	if (r == 0)
		r = cut_torn(a, name, err);
	if (r == 0)
		r = rotate(a, err);
	if (r == 0)
		r = drops_read(a->store, &a->drops, err);
	if (r == 0)
		r = tell(a, &torn, name, err);
	if (r == 0 && body.ptr)
		r = add_record(a, body, err);
	if (r < 0 || a->batch.len == 0)
		return r;
	r = write_lines(a->store, a->fd, STORE_LOG, a->made, a->tail.good,
			(struct str){a->batch.text, a->batch.len}, err);
	if (r < 0 && a->aside_first > 0) /* nobody would know of them, to erase them */
		(void)bodies_cut(a->store, a->aside_first, a->aside_at);
	if (r == 0)
		note_head(a);
	return r < 0 ? r : make_safe(a, err);
}

/* What an append begins with. */
#define APPEND(...) (&(struct append){.lock = -1, .fd = -1, __VA_ARGS__})

/* Somebody may move the file away just while it is written to: once more, then. */
static int append_retrying(const struct append *begin, struct str body, uint64_t *from,
			   uint64_t *to, struct error *err)
{
	int r = -ESTALE;
	for (int turns = 0; r == -ESTALE && turns < 4; turns++) {
		_cleanup_(append_done) struct append a = *begin;
		r = append(&a, body, err);
		*from = a.before.chain.seq;
		*to = a.batch.chain.seq;
	}
	return r;
}

int log_append_told(const struct store *store, struct str body, struct str aside,
		    uint64_t *ret_from, uint64_t *ret_to, struct error *err)
{
	return append_retrying(APPEND(.store = store, .aside = aside), body, ret_from, ret_to, err);
}

int log_append(const struct store *store, struct str body, struct error *err)
{
	uint64_t from, to;
	return append_retrying(APPEND(.store = store), body, &from, &to, err);
}

int log_rotate(const struct store *store, struct error *err)
{
	uint64_t from, to;
	return append_retrying(APPEND(.store = store, .close = true), (struct str){NULL, 0}, &from,
			       &to, err);
}

int log_mend(const struct store *store, const char *note, struct error *err)
{
	uint64_t from, to;
	return append_retrying(APPEND(.store = store, .note = note), (struct str){NULL, 0}, &from,
			       &to, err);
}

int log_summary(const struct store *store, struct str line, struct error *err)
{
	_cleanup_close_ int lock = -1;
	_cleanup_close_ int fd = -1;
	char torn[TAIL_NAME_MAX];
	struct stat st;
	off_t end;
	bool made;
	int r = store_lock(store, STORE_LOG_LOCK, STORE_LOG_WAIT_NS, &lock, err);
	if (r == 0)
		r = store_file(store, STORE_SUMMARIES, STORE_READ_MODE, &fd, &made, err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "%s/%s: %s", store->dir, STORE_SUMMARIES,
				 strerror(errno));
	r = named(store, STORE_SUMMARIES, tail_last_newline(fd, st.st_size, &end, err), err);
	if (r == 0 && end < st.st_size)
		r = tail_cut(store, fd, end, st.st_size, torn, err);
	if (r == 0)
		r = write_lines(store, fd, STORE_SUMMARIES, made, end, line, err);
	return r < 0 ? r : sync_file(store, fd, STORE_SUMMARIES, err);
}
