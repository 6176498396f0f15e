/* follow.c - `pawl audit tail`: the log's end, and what comes; needs no database. */
#include <config.h>

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "command.h"
#include "event.h"
#include "line.h"
#include "segment.h"
#include "tail.h"
#include "text.h"

#define LAST 10
#define LOOK_MS 1000 /* where the folder cannot be watched */

struct follow {
	const struct query *query;
	struct json_arena *arena;
	int64_t segment, offset; /* read so far; segment 0: nothing */
	int64_t from_seq;
};

static bool like(const char *glob, struct str text)
{
	if (!glob)
		return true;
	_cleanup_free_ char *copy = strndup(text.ptr ? text.ptr : "", text.len);
	return copy && fnmatch(glob, copy, 0) == 0;
}

static void print(const struct event *e)
{
	char time[LINE_TIME_MAX];
	line_time(e->ts_ms, time);
	printf("%6" PRIu64 " %.23s ", e->chain.seq, time);
	text_column(stdout, e->type, 20);
	text_column(stdout, e->tool, 24);
	text_column(stdout, e->session, 12);
	text_column(stdout, e->call, 16);
	text_print(stdout, e->outcome.ptr ? e->outcome : e->plugin, 24);
	if (e->reason.ptr) {
		fputs(": ", stdout);
		text_print(stdout, e->reason, 80);
	}
	fputc('\n', stdout);
}

static void take_line(struct follow *f, struct str line)
{
	const struct query *q = f->query;
	struct event e;
	size_t mark = json_arena_mark(f->arena);
	if (event_read(f->arena, line, &e, NULL) == 0 && (int64_t)e.chain.seq >= f->from_seq &&
	    (!q->session || str_is(e.session, q->session)) && like(q->tool, e.tool) &&
	    like(q->type, e.type)) {
		if (q->json)
			printf("%.*s\n", STR_FMT(line));
		else
			print(&e);
	}
	json_arena_rewind(f->arena, mark);
}

static int read_segment(struct follow *f, const struct segment *segment, struct error *err)
{
	struct lines lines;
	struct str line;
	int fd, r = segment_open_listed(&f->query->store, segment, &fd, err);
	if (r < 0)
		return r == -ENOENT || r == -ESTALE ? 0 : r; /* renamed: the next look finds it */
	if (f->segment != segment->first)
		f->offset = 0;
	f->segment = segment->first;
	lines_begin(&lines, fd, INT64_MAX);
	lines.offset = f->offset;
	while ((r = lines_next(&lines, &line, err)) == 1)
		take_line(f, line);
	f->offset = lines.offset;
	lines_done(&lines);
	return r;
}

/* What is there from the place reached on. */
static int read_on(struct follow *f, struct error *err)
{
	struct segments list;
	int r = segments_list(&f->query->store, &list, err);
	for (size_t i = 0; r == 0 && i < list.n; i++)
		if (list.items[i].first >= f->segment)
			r = read_segment(f, &list.items[i], err);
	segments_free(&list);
	if (r == 0 && fflush(stdout) != 0)
		r = error_set(err, errno, "standard output: %s", strerror(errno));
	return r;
}

/* Where the last records begin. */
static int find_start(struct follow *f, struct error *err)
{
	struct segments list;
	int64_t limit = f->query->limit < 0 ? LAST : f->query->limit, last = 0;
	int r = segments_list(&f->query->store, &list, err);
	for (size_t i = 0; r == 0 && i < list.n; i++) {
		_cleanup_close_ int fd = -1;
		struct tail tail;
		if (i + 1 < list.n)
			continue;
		r = segment_open(&f->query->store, list.items[i].name, &fd, err);
		if (r == 0 && tail_read(fd, &tail, NULL) == 0)
			last = (int64_t)tail.chain.seq;
	}
	f->from_seq = limit == 0 ? 0 : last - limit + 1;
	for (size_t i = 0; r == 0 && i < list.n; i++)
		if (list.items[i].first <= f->from_seq)
			f->segment = list.items[i].first;
	segments_free(&list);
	return r;
}

static int watch(struct follow *f, struct error *err)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char events[4096];
	int r = 0;
	if (fd >= 0 && inotify_add_watch(fd, f->query->store.dir,
					 IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
		close(fd);
		fd = -1;
	}
	/* The watch begins before the reading, so nothing falls between them. */
	while (r == 0) {
		struct pollfd wait[] = {{.fd = fd, .events = POLLIN}, {.fd = 1, .events = 0}};
		r = read_on(f, err);
		if (r == 0)
			(void)poll(wait, 2, LOOK_MS);
		if (wait[1].revents & (POLLERR | POLLHUP))
			return 0; /* nobody reads any more */
		while (fd >= 0 && read(fd, events, sizeof(events)) > 0)
			;
	}
	return r;
}

int command_tail(const struct query *query)
{
	struct follow f = {.query = query};
	struct error err;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &f.arena, &err);
	if (r == 0)
		r = find_start(&f, &err);
	if (r == 0)
		r = query->follow ? watch(&f, &err) : read_on(&f, &err);
	json_arena_free(f.arena);
	return r < 0 ? command_failed(&err) : 0;
}
