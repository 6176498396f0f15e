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
#include "chain.h"
#include "drops.h"
#include "line.h"
#include "tail.h"

/* What one append writes: its lines, and the chain as it goes on. */
struct batch {
	struct chain chain;
	char *text;
	size_t len;
};

static void batch_done(struct batch *batch)
{
	free(batch->text);
}

/* One of the store's own records; data is its JSON. */
static int add_own(struct batch *batch, const char *type, struct str data, struct error *err)
{
	struct record record = RECORD_EMPTY;
	_cleanup_free_ char *body = NULL;
	size_t len;
	record.type = type;
	record.data = data;
	int r = line_body(&record, &body, &len, err);
	if (r < 0)
		return r;
	return chain_add(&batch->chain, (struct str){body, len}, &batch->text, &batch->len, err);
}

static int add_opened(struct batch *batch, struct error *err)
{
	char id[LINE_ID_MAX], data[80];
	line_id(id);
	chain_begin(&batch->chain, str_of(id));
	snprintf(data, sizeof(data), "{\"chain\":\"%s\"}", id);
	return add_own(batch, "audit.opened", str_of(data), err);
}

static int add_recovered(struct batch *batch, const struct tail *tail, const char *name,
			 struct error *err)
{
	char data[TAIL_NAME_MAX + 80];
	snprintf(data, sizeof(data), "{\"bytes\":%lld,\"offset\":%lld,\"file\":\"%s\"}",
		 (long long)(tail->size - tail->good), (long long)tail->good, name);
	return add_own(batch, "audit.recovered", str_of(data), err);
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
	return add_own(batch, "audit.gap", str_of(data), err);
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

/* What has to be said before the record. */
static int add_before(const struct store *store, int fd, const struct tail *tail,
		      const struct drops *drops, struct batch *batch, struct error *err)
{
	char torn[TAIL_NAME_MAX];
	int r = 0;
	batch->chain = tail->chain;
	if (tail->size > tail->good)
		r = tail_cut(store, fd, tail->good, tail->size, torn, err);
	if (r == 0 && tail->good == 0)
		r = add_opened(batch, err);
	if (r == 0 && tail->size > tail->good)
		r = add_recovered(batch, tail, torn, err);
	if (r == 0 && drops_sum(drops->pending) > 0)
		r = add_gap(batch, drops, err);
	return r;
}

/* The lock is given back before the disk is waited for, so that whoever comes meanwhile
 * shares the wait: a line is safe when it and all before it are, whoever asked for that.
 * Only a gap is told under the lock, as its count is taken back once the line is safe. */
static int make_safe(const struct store *store, int fd, int *lock, const struct drops *drops,
		     struct error *err)
{
	bool gap = drops_sum(drops->pending) > 0;
	if (!gap) {
		close(*lock);
		*lock = -1;
	}
	int r = sync_file(store, fd, STORE_LOG, err);
	/* a gap told twice is better than a loss never told */
	if (r == 0 && gap)
		(void)drops_told(store, drops, NULL);
	return r;
}

int log_append(const struct store *store, struct str body, struct error *err)
{
	_cleanup_(batch_done) struct batch batch = {.text = NULL};
	_cleanup_close_ int lock = -1;
	_cleanup_close_ int fd = -1;
	struct drops drops;
	struct tail tail;
	bool made;
	int r = store_lock(store, STORE_LOG_LOCK, STORE_LOG_WAIT_NS, &lock, err);
	if (r == 0)
		r = store_file(store, STORE_LOG, STORE_READ_MODE, &fd, &made, err);
	if (r == 0)
		r = named(store, STORE_LOG, tail_read(fd, &tail, err), err);
	if (r == 0)
		r = drops_read(store, &drops, err);
	if (r == 0)
		r = add_before(store, fd, &tail, &drops, &batch, err);
	if (r == 0)
		r = chain_add(&batch.chain, body, &batch.text, &batch.len, err);
	if (r == 0)
		r = write_lines(store, fd, STORE_LOG, made, tail.good,
				(struct str){batch.text, batch.len}, err);
	return r < 0 ? r : make_safe(store, fd, &lock, &drops, err);
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
