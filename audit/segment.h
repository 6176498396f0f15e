/* segment.h - the files that a log consists of, oldest first.
 *
 * Layer: audit; knows store and chain.
 *
 * The newest is audit_log.jsonl; a closed one is called audit_log-FIRST-LAST.jsonl by
 * the numbers of its records.  Whatever else begins with "audit_log" and holds records
 * counts as well, so that the files of somebody's logrotate(8) stay part of the log.
 */
#ifndef PAWL_AUDIT_SEGMENT_H
#define PAWL_AUDIT_SEGMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "store.h"

#define SEGMENTS_MAX 65536

struct segment {
	char name[NAME_MAX + 1];
	int64_t first; /* number of its first record: what the index calls the segment */
	int64_t last;  /* as its name says; 0 where it does not */
	int64_t size;
	bool current; /* audit_log.jsonl */
};

struct segments {
	struct segment *items;
	size_t n;
};

/* Those that have a whole line.  *ret is to be freed with segments_free, also after a
 * failure. */
int segments_list(const struct store *store, struct segments *ret, struct error *err);
void segments_free(struct segments *segments);

/* NULL when there is none whose first record is that one. */
const struct segment *segments_find(const struct segments *segments, int64_t first);

/* The number at a file's very beginning; 0 when no record stands there. */
int64_t segment_first(int fd);

/* For reading; -ENOENT when it has been renamed since. */
int segment_open(const struct store *store, const char *name, int *ret_fd, struct error *err);

/* The same for one of a list; -ESTALE when its name is another file's by now. */
int segment_open_listed(const struct store *store, const struct segment *segment, int *ret_fd,
			struct error *err);

/* ---- reading lines --------------------------------------------------------------- */

struct lines {
	int fd; /* closed by lines_done */
	char *block;
	size_t room, len, at;
	int64_t offset; /* in the file, behind the line given last */
	int64_t limit;  /* read no further */
};

/* Takes fd over. */
void lines_begin(struct lines *lines, int fd, int64_t limit);
void lines_done(struct lines *lines);

/* 1: *ret is the next line, without its newline, borrowed until the next call; 0: no
 * more whole lines; -E2BIG one is longer than a record may be, or another errno. */
int lines_next(struct lines *lines, struct str *ret, struct error *err);

/* Bytes after the last whole line, once lines_next has given 0. */
int64_t lines_rest(const struct lines *lines);

#endif
