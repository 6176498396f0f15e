/* segment.c - finding a log's files by name and first line, and reading their lines. */
#include <config.h>

#include "segment.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "chain.h"

#define BLOCK ((size_t)1 << 20)
#define PREFIX "audit_log"
#define START "{\"v\":1,\"seq\":"

int64_t segment_first(int fd)
{
	char text[sizeof(START) + 24] = {0};
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < (ssize_t)sizeof(START) || memcmp(text, START, sizeof(START) - 1) != 0)
		return 0;
	int64_t first = strtoll(text + sizeof(START) - 1, NULL, 10);
	return first > 0 && first < INT64_MAX ? first : 0;
}

int segment_open(const struct store *store, const char *name, int *ret_fd, struct error *err)
{
	struct stat st;
	_cleanup_close_ int fd =
	    openat(store->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		return error_set(err, errno, "%s/%s: %s", store->dir, name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s/%s: not a plain file", store->dir, name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int segment_open_listed(const struct store *store, const struct segment *segment, int *ret_fd,
			struct error *err)
{
	_cleanup_close_ int fd = -1;
	int r = segment_open(store, segment->name, &fd, err);
	if (r < 0)
		return r;
	int64_t first = segment_first(fd);
	if (first != segment->first && first > 0 && segment->current)
		return error_set(err, ESTALE, "%s/%s: closed meanwhile", store->dir, segment->name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* ---- what belongs to the log ------------------------------------------------------ */

/* "audit_log-FIRST-LAST.jsonl" */
static bool closed_name(const char *name, struct segment *segment)
{
	int end = 0;
	return sscanf(name, PREFIX "-%" SCNd64 "-%" SCNd64 ".jsonl%n", &segment->first,
		      &segment->last, &end) == 2 &&
	       end > 0 && name[end] == '\0' && segment->first > 0 &&
	       segment->last >= segment->first;
}

static bool has_line(int fd)
{
	char block[4096];
	ssize_t n;
	for (off_t at = 0; (n = pread(fd, block, sizeof(block), at)) > 0; at += n)
		if (memchr(block, '\n', (size_t)n))
			return true;
	return n < 0; /* whoever reads it will say why not */
}

/* 1 it is a segment, 0 not, -errno. */
static int look_inside(const struct store *store, const char *name, struct segment *ret,
		       struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r = segment_open(store, name, &fd, err);
	if (r < 0)
		return r == -ENOENT || !ret->current ? 0 : r;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "%s/%s: %s", store->dir, name, strerror(errno));
	ret->size = st.st_size;
	ret->first = segment_first(fd);
	return (ret->current || ret->first > 0) && has_line(fd);
}

static int look_at(const struct store *store, const char *name, struct segment *ret,
		   struct error *err)
{
	struct stat st;
	if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 || strlen(name) > NAME_MAX)
		return 0;
	*ret = (struct segment){.current = strcmp(name, STORE_LOG) == 0};
	strcpy(ret->name, name);
	if (!closed_name(name, ret))
		return look_inside(store, name, ret, err);
	if (fstatat(store->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0
				       : error_set(err, errno, "%s/%s: %s", store->dir, name,
						   strerror(errno));
	ret->size = st.st_size;
	return S_ISREG(st.st_mode);
}

static int by_first(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;
	if (x->current != y->current && (x->first == 0 || y->first == 0))
		return x->current ? 1 : -1; /* where its start cannot be read, it is the last */
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->size < y->size ? 1 : x->size > y->size ? -1 : strcmp(x->name, y->name);
}

/* A copy that is as far as it goes the same as another one tells nothing more. */
static void drop_copies(struct segments *list)
{
	size_t n = 0;
	for (size_t i = 0; i < list->n; i++)
		if (n == 0 || list->items[n - 1].first != list->items[i].first)
			list->items[n++] = list->items[i];
	list->n = n;
}

static int add(struct segments *list, const struct segment *segment, struct error *err)
{
	if (list->n == SEGMENTS_MAX)
		return error_set(err, E2BIG, "more than %d log files", SEGMENTS_MAX);
	struct segment *grown = list->items;
	if ((list->n & (list->n - 1)) == 0) /* at each power of two */
		grown = realloc(grown, (list->n ? 2 * list->n : 1) * sizeof(*grown));
	if (!grown)
		return error_set(err, ENOMEM, "out of memory");
	list->items = grown;
	list->items[list->n++] = *segment;
	return 0;
}

static int list_once(const struct store *store, struct segments *ret, struct error *err)
{
	*ret = (struct segments){NULL, 0};
	int fd = openat(store->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return error_set(err, errno, "%s: %s", store->dir, strerror(errno));
	struct dirent *entry;
	struct segment segment;
	int r = 0;
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		r = look_at(store, entry->d_name, &segment, err);
		if (r == 1)
			r = add(ret, &segment, err);
	}
	if (r == 0 && errno != 0)
		r = error_set(err, errno, "%s: %s", store->dir, strerror(errno));
	if (r < 0 || ret->n == 0)
		return r;
	qsort(ret->items, ret->n, sizeof(segment), by_first);
	struct segment *end = &ret->items[ret->n - 1];
	if (end->first == 0)
		end->first = ret->n > 1 ? (end[-1].last ? end[-1].last : end[-1].first) + 1 : 1;
	drop_copies(ret);
	return 0;
}

/* Whether a file is missing between two others, or at the beginning. */
static bool has_hole(const struct segments *list)
{
	int64_t next = 1;
	for (size_t i = 0; i < list->n; i++) {
		if (next > 0 && list->items[i].first > next)
			return true;
		next = list->items[i].last ? list->items[i].last + 1 : 0;
	}
	return false;
}

static bool same_list(const struct segments *a, const struct segments *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
		    a->items[i].first != b->items[i].first)
			return false;
	return true;
}

/* A file that is closed while the folder is read has neither its old name nor yet its
 * new one there: a hole counts when it is still there when looked at again. */
int segments_list(const struct store *store, struct segments *ret, struct error *err)
{
	struct segments before = {NULL, 0};
	int r = list_once(store, ret, err);
	for (int turns = 0; r == 0 && turns < 16 && has_hole(ret); turns++) {
		segments_free(&before);
		before = *ret;
		r = list_once(store, ret, err);
		if (r == 0 && same_list(&before, ret))
			break;
	}
	segments_free(&before);
	return r;
}

void segments_free(struct segments *segments)
{
	free(segments->items);
	*segments = (struct segments){NULL, 0};
}

const struct segment *segments_find(const struct segments *segments, int64_t first)
{
	for (size_t i = 0; i < segments->n; i++)
		if (segments->items[i].first == first)
			return &segments->items[i];
	return NULL;
}

/* ---- lines ------------------------------------------------------------------------ */

void lines_begin(struct lines *lines, int fd, int64_t limit)
{
	*lines = (struct lines){.fd = fd, .limit = limit};
	(void)posix_fadvise(fd, 0, limit, POSIX_FADV_SEQUENTIAL);
}

void lines_done(struct lines *lines)
{
	free(lines->block);
	if (lines->fd >= 0)
		close(lines->fd);
	*lines = (struct lines){.fd = -1};
}

/* Where the block's first byte lies in the file. */
static int64_t base_of(const struct lines *lines)
{
	return lines->offset - (int64_t)lines->at;
}

static int make_room(struct lines *lines, struct error *err)
{
	size_t rest = lines->len - lines->at;
	if (lines->at > 0)
		memmove(lines->block, lines->block + lines->at, rest);
	lines->len = rest;
	lines->at = 0;
	if (lines->len < lines->room)
		return 0;
	size_t room = lines->room ? lines->room * 2 : BLOCK;
	if (room > 2 * CHAIN_LINE_MAX)
		return error_set(err, E2BIG, "a line is longer than a record may be");
	char *block = realloc(lines->block, room);
	if (!block)
		return error_set(err, ENOMEM, "out of memory");
	lines->block = block;
	lines->room = room;
	return 0;
}

/* 1 when there is more in the block. */
static int read_more(struct lines *lines, struct error *err)
{
	int r = make_room(lines, err);
	if (r < 0)
		return r;
	int64_t at = base_of(lines) + (int64_t)lines->len;
	size_t want = lines->room - lines->len;
	if (lines->limit - at < (int64_t)want)
		want = lines->limit > at ? (size_t)(lines->limit - at) : 0;
	ssize_t n;
	do
		n = pread(lines->fd, lines->block + lines->len, want, at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(err, errno, "cannot read: %s", strerror(errno));
	lines->len += (size_t)n;
	return n > 0;
}

int lines_next(struct lines *lines, struct str *ret, struct error *err)
{
	size_t seen = 0;
	for (;;) {
		size_t have = lines->len - lines->at;
		const char *from = lines->block ? lines->block + lines->at : "";
		const char *newline = have > seen ? memchr(from + seen, '\n', have - seen) : NULL;
		if (newline) {
			*ret = (struct str){from, (size_t)(newline - from)};
			lines->at += ret->len + 1;
			lines->offset += (int64_t)ret->len + 1;
			return 1;
		}
		seen = have;
		int r = read_more(lines, err);
		if (r <= 0)
			return r;
	}
}

int64_t lines_rest(const struct lines *lines)
{
	return (int64_t)(lines->len - lines->at);
}
