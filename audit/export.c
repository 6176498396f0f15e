/* export.c - `pawl audit export`: the log's lines, byte for byte. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command.h"
#include "event.h"

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

static int copy(const struct query *query, FILE *in, struct json_arena *arena, struct error *err)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t n;
	while ((n = getline(&line, &room, in)) > 0) {
		if (line[n - 1] != '\n')
			break; /* still being written, or torn */
		if (wanted(query, arena, (struct str){line, (size_t)n - 1}) &&
		    fwrite(line, 1, (size_t)n, stdout) != (size_t)n)
			return error_set(err, errno, "standard output: %s", strerror(errno));
	}
	if (ferror(in))
		return error_set(err, EIO, "%s: cannot read", STORE_LOG);
	if (fflush(stdout) != 0)
		return error_set(err, errno, "standard output: %s", strerror(errno));
	return 0;
}

int command_export(const struct query *query)
{
	_cleanup_close_ int fd =
	    openat(query->store.dirfd, STORE_LOG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct json_arena *arena = NULL;
	struct error err;
	if (fd < 0 && errno == ENOENT)
		return 0;
	_cleanup_fclose_ FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in) {
		error_set(&err, errno, "%s: %s", STORE_LOG, strerror(errno));
		return command_failed(&err);
	}
	fd = -1; /* in's now */
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, &err);
	if (r == 0)
		r = copy(query, in, arena, &err);
	json_arena_free(arena);
	return r < 0 ? command_failed(&err) : 0;
}
