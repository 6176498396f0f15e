/* export.c - `pawl audit export`: the log's lines, byte for byte, or a table of them; the
 * log tells of it. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bodies.h"
#include "command.h"
#include "event.h"
#include "line.h"
#include "log.h"
#include "segment.h"

/* Without a filter every line counts, readable or not; with one, those that can be
 * read and match. */
static bool wanted(const struct query *query, struct json_arena *arena, struct str line)
{
	struct event event;
	if (!query->session && query->since_ms == INT64_MIN && query->before_ms == INT64_MIN)
		return true;
	size_t mark = json_arena_mark(arena);
	bool yes = event_read(arena, line, &event, NULL) == 0 &&
		   (!query->session || str_is(event.session, query->session)) &&
		   event.ts_ms >= query->since_ms &&
		   (query->before_ms == INT64_MIN || event.ts_ms < query->before_ms);
	json_arena_rewind(arena, mark);
	return yes;
}

/* ---- CSV (RFC 4180) ------------------------------------------------------------------- */

static const char heading[] = "seq,time,type,session,call,tool,source,server,decision,outcome,"
			      "plugin,rule,reason,client,agent,duration_ns,input,result\r\n";

static void put_cell(struct str text, char end)
{
	bool quote = text.len > 0 && (memchr(text.ptr, ',', text.len) || memchr(text.ptr, '"', text.len) ||
				      memchr(text.ptr, '\n', text.len) || memchr(text.ptr, '\r', text.len));
	if (quote)
		putchar('"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '"')
			putchar('"');
		putchar(text.ptr[i]);
	}
	if (quote)
		putchar('"');
	if (end == '\n')
		putchar('\r');
	putchar(end);
}

static void put_row(const struct event *e)
{
	char seq[24], time[LINE_TIME_MAX], ns[24] = "";
	snprintf(seq, sizeof(seq), "%" PRIu64, e->chain.seq);
	line_time(e->ts_ms, time);
	if (e->duration_ns != INT64_MIN)
		snprintf(ns, sizeof(ns), "%" PRId64, e->duration_ns);
	const struct str cells[] = {str_of(seq), str_of(time), e->type,	   e->session, e->call,
				    e->tool,	 e->source,    e->server,  e->verdict, e->outcome,
				    e->plugin,	 e->rule,      e->reason,  e->client,  e->agent,
				    str_of(ns),	 e->input,     e->result};
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		put_cell(cells[i], i + 1 == sizeof(cells) / sizeof(cells[0]) ? '\n' : ',');
}

/* A line that cannot be read has no cells; verify tells of it. */
static int put_line(const struct query *query, struct json_arena *arena, int64_t segment,
		    struct str line, struct error *err)
{
	struct event event;
	enum bodies_state state;
	size_t mark = json_arena_mark(arena);
	int r = 0;
	if (!query->format || strcmp(query->format, "csv") != 0) {
		fwrite(line.ptr, 1, line.len, stdout);
		putchar('\n');
	} else if (event_read(arena, line, &event, NULL) == 0) {
		r = bodies_fill(&query->store, segment, arena, &event, &state, err);
		put_row(&event);
	}
	json_arena_rewind(arena, mark);
	return r == 0 && ferror(stdout)
		       ? error_set(err, errno, "standard output: %s", strerror(errno))
		       : r;
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
		    (r = put_line(query, arena, segment->first, line, err)) < 0)
			break;
	lines_done(&lines);
	return r;
}

static int copy_all(const struct query *query, const struct segments *list,
		    struct json_arena *arena, struct error *err)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		int fd = -1;
		r = segment_open_listed(&query->store, &list->items[i], &fd, err);
		if (r == 0)
			r = copy(query, &list->items[i], fd, arena, err);
	}
	return r;
}

/* ---- the log tells of it ----------------------------------------------------------------- */

static void add_time(char *data, size_t room, const char *name, int64_t ms)
{
	char time[LINE_TIME_MAX];
	size_t len = strlen(data);
	if (ms == INT64_MIN)
		return;
	line_time(ms, time);
	snprintf(data + len, room - len, ",\"%s\":\"%s\"", name, time);
}

/* What was asked for and by whom; the session as somebody typed it. */
static int append_exported(const struct query *query, struct json_arena *arena, struct error *err)
{
	struct record record = RECORD_EMPTY;
	_cleanup_free_ char *body = NULL, *data = NULL;
	struct str session = query->session ? json_quote(arena, str_of(query->session))
					    : STR("null");
	char times[2 * LINE_TIME_MAX + 40] = "";
	size_t len;
	add_time(times, sizeof(times), "since", query->since_ms);
	add_time(times, sizeof(times), "before", query->before_ms);
	if (!session.ptr ||
	    asprintf(&data, "{\"format\":\"%s\",\"uid\":%u,\"session\":%.*s%s}",
		     query->format ? query->format : "jsonl", (unsigned)getuid(),
		     STR_FMT(session), times) < 0)
		return error_set(err, ENOMEM, "out of memory");
	record.type = "audit.exported";
	record.data = str_of(data);
	int r = line_body(&record, &body, &len, err);
	return r < 0 ? r : log_append(&query->store, (struct str){body, len}, err);
}

/* Before the first line goes out: a reader who goes away in the middle has had some.
 * Who may read and not write the store exports all the same. */
static void tell(const struct query *query, struct json_arena *arena)
{
	struct error err;
	if (append_exported(query, arena, &err) < 0 && !query->quiet)
		fprintf(stderr, "pawl audit: the log does not tell of this export: %s\n", err.text);
}

int command_export(const struct query *query)
{
	struct json_arena *arena = NULL;
	struct segments list = {NULL, 0};
	struct error err;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, &err);
	if (r == 0)
		r = segments_list(&query->store, &list, &err);
	if (r == 0 && list.n > 0)
		tell(query, arena);
	if (r == 0 && query->format && strcmp(query->format, "csv") == 0 && !query->quiet)
		fputs(heading, stdout);
	if (r == 0)
		r = copy_all(query, &list, arena, &err);
	segments_free(&list);
	json_arena_free(arena);
	if (r == 0 && fflush(stdout) != 0)
		r = error_set(&err, errno, "standard output: %s", strerror(errno));
	return r < 0 ? command_failed(&err) : 0;
}
