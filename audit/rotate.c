/* rotate.c - see rotate.h; what goes wrong here must not cost the record that waits. */
#include <config.h>

#include "rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "bodies.h"
#include "event.h"
#include "head.h"
#include "shallow.h"

#define CLOSED_MODE 0440
#define START_MAX 8192 /* of a file: enough for the first members of its first line */

/* ---- looking at a file's first line -------------------------------------------------- */

static size_t read_start(int fd, char buf[START_MAX])
{
	ssize_t n = pread(fd, buf, START_MAX, 0);
	const char *newline = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;
	return newline ? (size_t)(newline - buf) : n > 0 ? (size_t)n : 0;
}

static int64_t time_of(struct str line)
{
	struct str name, value;
	size_t at = 0;
	while (shallow_next(line, &at, &name, &value) == 1)
		if (str_is(name, "ts") && value.len > 2)
			return event_time((struct str){value.ptr + 1, value.len - 2});
	return INT64_MIN;
}

static void chain_id_of(int fd, char ret[40])
{
	static const char mark[] = "\"data\":{\"chain\":\"";
	char start[START_MAX];
	size_t len = read_start(fd, start), n = 0;
	const char *at = memmem(start, len, mark, sizeof(mark) - 1);
	for (at = at ? at + sizeof(mark) - 1 : NULL;
	     at && at < start + len && *at != '"' && n < 39; at++)
		ret[n++] = *at;
	ret[n] = '\0';
}

/* ---- closing ---------------------------------------------------------------------------- */

bool rotate_is_due(const struct store *store, int fd, const struct tail *tail)
{
	char start[START_MAX];
	if (tail->good == 0)
		return false;
	if (store->rotate_bytes > 0 && tail->good >= store->rotate_bytes)
		return true;
	if (store->rotate_ms <= 0)
		return false;
	int64_t began = time_of((struct str){start, read_start(fd, start)});
	return began != INT64_MIN && io_wall_ns() / 1000000 - began >= store->rotate_ms;
}

int rotate_close(const struct store *store, int fd, const struct tail *tail, struct error *err)
{
	char name[NAME_MAX + 1];
	int64_t first = segment_first(fd);
	snprintf(name, sizeof(name), "audit_log-%" PRId64 "-%" PRIu64 ".jsonl",
		 first > 0 ? first : 1, tail->chain.seq);
	if (renameat2(store->dirfd, STORE_LOG, store->dirfd, name, RENAME_NOREPLACE) != 0)
		return error_set(err, errno, "%s/%s: cannot rename to %s: %s", store->dir,
				 STORE_LOG, name, strerror(errno));
	(void)fchmod(fd, CLOSED_MODE); /* a hint for people; it is the hash that counts */
	return 0;
}

/* ---- going on --------------------------------------------------------------------------- */

static int look_at_closed(const struct store *store, struct before *ret, struct error *err)
{
	struct segments list;
	int r = segments_list(store, &list, err);
	for (size_t i = list.n; r == 0 && i-- > 0;) {
		_cleanup_close_ int fd = -1;
		struct tail tail;
		if (list.items[i].current)
			continue;
		r = segment_open(store, list.items[i].name, &fd, err);
		if (r == 0 && tail_read(fd, &tail, NULL) == 0 && tail.good > 0) {
			ret->chain = tail.chain;
			ret->first = list.items[i].first;
			ret->bytes = tail.size;
			strcpy(ret->file, list.items[i].name);
			chain_id_of(fd, ret->chain_id);
			break;
		}
	}
	segments_free(&list);
	return r;
}

/* The log may end before the head because somebody emptied or cut it; or because a power
 * cut took what nobody was told is safe: then it ends where it ends. */
static void look_at_head(const struct store *store, const struct tail *tail, struct before *ret)
{
	struct head head;
	head_read(store, &head);
	if (ret->chain_id[0] == '\0' && head.chain.seq > 0)
		snprintf(ret->chain_id, sizeof(ret->chain_id), "%s", head.chain_id);
	if (head.chain.seq <= ret->chain.seq || (tail->good > 0 && !head_is_fresh(&head)))
		return;
	ret->missing_from = (int64_t)ret->chain.seq + 1;
	ret->missing_to = (int64_t)head.chain.seq;
	ret->chain = head.chain;
}

int rotate_before(const struct store *store, int fd, const struct tail *tail, struct before *ret,
		  struct error *err)
{
	int r = 0;
	*ret = (struct before){.chain = tail->chain};
	if (tail->good == 0)
		r = look_at_closed(store, ret, err);
	else
		chain_id_of(fd, ret->chain_id);
	if (r == 0)
		look_at_head(store, tail, ret);
	return r;
}

/* A file's name goes into JSON as it is: others than ours are left out. */
static bool is_plain(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
	       strlen(name);
}

static int tell_file(const struct before *before, struct batch *batch, struct error *err)
{
	char data[NAME_MAX + 400], hash[CHAIN_HEX + 1];
	chain_hex(before->chain.head, hash);
	snprintf(data, sizeof(data),
		 "{\"chain\":\"%s\",\"file\":\"%s\",\"first\":%" PRId64 ",\"last\":%" PRIu64
		 ",\"bytes\":%" PRId64 ",\"hash\":\"%s\"}",
		 before->chain_id, is_plain(before->file) ? before->file : "", before->first, before->chain.seq, before->bytes,
		 hash);
	return batch_add_own(batch, "audit.rotated", str_of(data), err);
}

static int tell_missing(const struct before *before, const char *note, struct batch *batch,
			struct error *err)
{
	char data[NAME_MAX + 400];
	snprintf(data, sizeof(data),
		 "{\"chain\":\"%s\",\"missing_from\":%" PRId64 ",\"missing_to\":%" PRId64
		 "%s%s}",
		 before->chain_id, before->missing_from, before->missing_to, note ? "," : "",
		 note ? note : "");
	return batch_add_own(batch, "audit.recovered", str_of(data), err);
}

static int tell_beginning(struct batch *batch, struct error *err)
{
	char id[LINE_ID_MAX], data[80];
	line_id(id);
	chain_begin(&batch->chain, str_of(id));
	snprintf(data, sizeof(data), "{\"chain\":\"%s\"}", id);
	return batch_add_own(batch, "audit.opened", str_of(data), err);
}

int rotate_tell(const struct before *before, const struct tail *tail, const char *note,
		struct batch *batch, struct error *err)
{
	batch->chain = before->chain;
	if (before->chain.seq == 0)
		return tell_beginning(batch, err);
	if (before->missing_to > 0)
		return tell_missing(before, note, batch, err);
	if (tail->good == 0)
		return tell_file(before, batch, err);
	return 0;
}

/* ---- removing ------------------------------------------------------------------------------ */

/* Its last record was written before the file was closed: mtime says when that was, the
 * first record that nobody moved it. */
static bool is_old(const struct store *store, int fd)
{
	char start[START_MAX];
	struct stat st;
	if (store->keep_ms <= 0 || fstat(fd, &st) != 0)
		return false;
	int64_t began = time_of((struct str){start, read_start(fd, start)});
	int64_t limit = io_wall_ns() / 1000000 - store->keep_ms;
	return began != INT64_MIN && began < limit && (int64_t)st.st_mtime * 1000 < limit;
}

static int consider(const struct store *store, const struct segment *segment, int64_t *total,
		    struct prune *ret, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct tail tail;
	int r = segment_open(store, segment->name, &fd, err);
	if (r == 0)
		r = tail_read(fd, &tail, err);
	if (r < 0)
		return r;
	bool large = store->keep_bytes > 0 && *total > store->keep_bytes;
	if (tail.good == 0 || !is_plain(segment->name) || (!large && !is_old(store, fd)))
		return 0;
	ret->why = large ? "bytes" : "age";
	strcpy(ret->names[ret->n], segment->name);
	ret->first[ret->n] = segment->first;
	ret->last[ret->n] = (int64_t)tail.chain.seq;
	ret->bytes[ret->n] = segment->size;
	chain_hex(tail.chain.head, ret->hash[ret->n++]);
	*total -= segment->size;
	return 1;
}

int prune_choose(const struct store *store, struct prune *ret, struct error *err)
{
	struct segments list;
	int64_t total = 0;
	ret->n = 0;
	if (store->keep_bytes <= 0 && store->keep_ms <= 0)
		return 0;
	int r = segments_list(store, &list, err);
	for (size_t i = 0; r == 0 && i < list.n; i++)
		total += list.items[i].size;
	bool more = true;
	for (size_t i = 0; r == 0 && more && i < list.n && ret->n < PRUNE_MAX; i++) {
		int taken = list.items[i].current
				? 0
				: consider(store, &list.items[i], &total, ret, err);
		r = taken < 0 ? taken : 0;
		more = taken == 1; /* oldest first, and no holes */
	}
	segments_free(&list);
	return r;
}

int prune_tell(const struct prune *prune, struct batch *batch, struct error *err)
{
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);
	if (!out)
		return error_set(err, ENOMEM, "out of memory");
	fprintf(out, "{\"why\":\"%s\",\"files\":[", prune->why);
	for (size_t i = 0; i < prune->n; i++)
		fprintf(out,
			"%s{\"file\":\"%s\",\"first\":%" PRId64 ",\"last\":%" PRId64
			",\"bytes\":%" PRId64 ",\"hash\":\"%s\"}",
			i ? "," : "", prune->names[i], prune->first[i], prune->last[i],
			prune->bytes[i], prune->hash[i]);
	fputs("]}", out);
	int r = fclose(out) == 0 ? batch_add_own(batch, "audit.pruned", (struct str){data, len}, err)
				 : error_set(err, ENOMEM, "out of memory");
	free(data);
	return r;
}

void prune_remove(const struct store *store, const struct prune *prune)
{
	char bodies[BODIES_NAME_MAX];
	for (size_t i = 0; i < prune->n; i++) { /* or with the next rotation */
		bodies_name(prune->first[i], bodies);
		(void)unlinkat(store->dirfd, bodies, 0);
		(void)unlinkat(store->dirfd, prune->names[i], 0);
	}
	(void)store_sync_dir(store, NULL);
}
