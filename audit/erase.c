/* erase.c - `pawl audit erase`: takes inputs and results out of the store, where the capture
 * rules have put them aside. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bodies.h"
#include "command.h"
#include "event.h"
#include "ingest.h"
#include "line.h"
#include "log.h"
#include "segment.h"

struct erasing {
	const struct query *query;
	struct json_arena *arena;
	int64_t erased, in_chain; /* records; those with their bodies inline */
};

static bool wanted(const struct query *query, const struct event *event)
{
	return (!query->session || str_is(event->session, query->session)) &&
	       (!query->call || str_is(event->call, query->call)) &&
	       (query->before_ms == INT64_MIN || event->ts_ms < query->before_ms);
}

static int erase_line(struct erasing *e, int64_t first, struct str line, struct error *err)
{
	struct event event;
	enum bodies_state state = BODIES_NONE;
	size_t mark = json_arena_mark(e->arena);
	int r = 0;
	if (event_read(e->arena, line, &event, NULL) == 0 && wanted(e->query, &event)) {
		e->in_chain += event.input.ptr || event.result.ptr;
		r = bodies_fill(&e->query->store, first, e->arena, &event, &state, err);
		if (r == 0 && (state == BODIES_THERE || state == BODIES_WRONG))
			r = bodies_erase(&e->query->store, first, &event, err);
		e->erased += r == 1;
	}
	json_arena_rewind(e->arena, mark);
	return r < 0 ? r : 0;
}

static int erase_segment(struct erasing *e, const struct segment *segment, struct error *err)
{
	struct lines lines;
	struct str line;
	int fd, r = segment_open_listed(&e->query->store, segment, &fd, err);
	if (r < 0)
		return r;
	lines_begin(&lines, fd, segment->size);
	while ((r = lines_next(&lines, &line, err)) == 1)
		if ((r = erase_line(e, segment->first, line, err)) < 0)
			break;
	lines_done(&lines);
	return r;
}

/* What was erased is told with the number only: an id may be what had to go. */
static int tell(const struct erasing *e, struct error *err)
{
	struct record record = RECORD_EMPTY;
	_cleanup_free_ char *body = NULL;
	char data[64];
	size_t len;
	snprintf(data, sizeof(data), "{\"count\":%" PRId64 "}", e->erased);
	record.type = "audit.erased";
	record.data = str_of(data);
	int r = line_body(&record, &body, &len, err);
	return r < 0 ? r : log_append(&e->query->store, (struct str){body, len}, err);
}

static int erase_all(struct erasing *e, struct error *err)
{
	struct segments list;
	int r = segments_list(&e->query->store, &list, err);
	for (size_t i = 0; r == 0 && i < list.n; i++)
		r = erase_segment(e, &list.items[i], err);
	segments_free(&list);
	int told = e->erased > 0 ? tell(e, r < 0 ? NULL : err) : 0;
	if (e->erased > 0 && told == 0 && r == 0)
		r = ingest_refill(&e->query->store, err);
	return r < 0 ? r : told;
}

int command_erase(const struct query *query)
{
	struct erasing e = {.query = query};
	struct error err;
	if (!query->session && !query->call && query->before_ms == INT64_MIN) {
		error_set(&err, EINVAL, "erase: which? --session, --call or --before says it");
		return command_failed(&err), 2;
	}
	int r = json_arena_new(JSON_ARENA_DEFAULT, &e.arena, &err);
	if (r == 0)
		r = erase_all(&e, &err);
	json_arena_free(e.arena);
	if (!query->quiet)
		printf("the bodies of %" PRId64 " records were erased\n", e.erased);
	if (!query->quiet && e.in_chain > 0)
		printf("%" PRId64 " records have theirs in the log itself: they stay, or the "
		       "chain would break\n",
		       e.in_chain);
	return r < 0 ? command_failed(&err) : 0;
}
