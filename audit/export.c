/* export.c - `pawl audit export`: the log's lines, byte for byte. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command.h"
#include "event.h"
#include "segment.h"

/* Without a filter every line counts, readable or not; with one, those that can be
 * read and match. */
static bool wanted(const struct query *query, struct json_arena *arena, struct str line)
{
	struct event event;
	if (!query->session && query->since_ms == INT64_MIN)
		return true;
	size_t mark = json_arena_mark(arena);
	bool yes = event_read(arena, line, &event, NULL) == 0 &&
		   (!query->session || str_is(event.session, query->session)) &&
		   event.ts_ms >= query->since_ms;
	json_arena_rewind(arena, mark);
	return yes;
}

static int copy(const struct query *query, const struct segment *segment, int fd,
		struct json_arena *arena, struct error *err)
{
	struct lines lines;
	struct str line;
	int r;
	lines_begin(&lines, fd, segment->size);
	while ((r = lines_next(&lines, &line, err)) == 1)
		if (wanted(query, arena, line) &&
		    fwrite(line.ptr, 1, line.len + 1, stdout) != line.len + 1) {
			r = error_set(err, errno, "standard output: %s", strerror(errno));
			break;
		}
	lines_done(&lines);
	return r;
}

static int copy_all(const struct query *query, struct segments *list, struct json_arena *arena,
		    struct error *err)
{
	int r = segments_list(&query->store, list, err);
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		int fd = -1;
		r = segment_open_listed(&query->store, &list->items[i], &fd, err);
		if (r == 0)
			r = copy(query, &list->items[i], fd, arena, err);
	}
	return r;
}

int command_export(const struct query *query)
{
	struct json_arena *arena = NULL;
	struct segments list = {NULL, 0};
	struct error err;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, &err);
	if (r == 0)
		r = copy_all(query, &list, arena, &err);
	segments_free(&list);
	json_arena_free(arena);
	if (r == 0 && fflush(stdout) != 0)
		r = error_set(&err, errno, "standard output: %s", strerror(errno));
	return r < 0 ? command_failed(&err) : 0;
}
