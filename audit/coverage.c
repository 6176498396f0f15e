/* coverage.c - `pawl audit coverage FILE`: the tool calls in a client's own transcript
 * against the audit. One that is not there was made without anybody being asked: hooks
 * that were off, not trusted, or a tool that the client has no hook for. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "command.h"
#include "db.h"
#include "json/json.h"
#include "text.h"

#define COVERAGE_BYTES_MAX ((size_t)256 << 20) /* of a transcript */

static const char decided[] =
	"SELECT 1 FROM decisions WHERE call_id = ?1 AND (?2 IS NULL OR session_id = ?2) LIMIT 1";

/* A transcript may have a call more than once: as it came in, and as it was resumed. */
static const char seen_table[] =
	"CREATE TABLE seen(call TEXT, session TEXT, UNIQUE(call, session))";
static const char seen[] = "INSERT OR IGNORE INTO seen VALUES(?1, ifnull(?2, ''))";

struct coverage {
	const struct query *query;
	sqlite3 *memory;
	sqlite3_stmt *decided, *seen;
	struct json_arena *arena;
	char session[256];	       /* of the lines that do not say; "" not known */
	int64_t line, known, unreadable; /* known: lines of a transcript's shape */
	int64_t calls, missing;
};

static struct str text_at(const struct json_value *value, const char *name)
{
	struct str text = {NULL, 0};
	(void)json_string(json_member(value, str_of(name)), &text);
	return text;
}

static void report(const struct coverage *c, struct str tool, struct str call)
{
	if (!c->query->json) {
		printf("%s:%" PRId64 ": ", c->query->target, c->line);
		text_print(stdout, tool, 80);
		fputs(" (", stdout);
		text_print(stdout, call, 80);
		puts("): nobody was asked");
		return;
	}
	struct str quoted_tool = json_quote(c->arena, tool), id = json_quote(c->arena, call);
	printf("{\"line\":%" PRId64 ",\"tool\":%.*s,\"call\":%.*s}\n", c->line,
	       STR_FMT(quoted_tool), STR_FMT(id));
}

static int step(sqlite3_stmt *stmt, struct str call, struct str session)
{
	sqlite3_reset(stmt);
	sqlite3_bind_text(stmt, 1, call.ptr, (int)call.len, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, session.ptr, (int)session.len, SQLITE_STATIC);
	int rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return rc;
}

static int look_up(struct coverage *c, struct str session, struct str tool, struct str call)
{
	if (!call.ptr || !tool.ptr)
		return 0;
	if (!session.ptr && c->session[0])
		session = str_of(c->session);
	if (step(c->seen, call, session) != SQLITE_DONE)
		return -ENOMEM;
	if (sqlite3_changes(c->memory) == 0)
		return 0;
	c->calls++;
	int rc = step(c->decided, call, session);
	if (rc == SQLITE_DONE) {
		c->missing++;
		report(c, tool, call);
	}
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -EIO;
}

/* Claude Code: a message whose content has blocks of type tool_use. */
static int look_at_message(struct coverage *c, const struct json_value *line)
{
	const struct json_value *content = json_at(line, STR("/message/content"));
	int r = 0;
	c->known++;
	for (size_t i = 0; r == 0 && i < json_length(content); i++) {
		const struct json_value *block = json_item(content, i);
		if (str_is(text_at(block, "type"), "tool_use"))
			r = look_up(c, text_at(line, "sessionId"), text_at(block, "name"),
				    text_at(block, "id"));
	}
	return r;
}

/* Codex: the session in front, then items, among them calls. */
static int look_at_item(struct coverage *c, const struct json_value *line)
{
	const struct json_value *item = json_member(line, STR("payload"));
	struct str id = text_at(item, "id"), type = text_at(item, "type");
	c->known++;
	if (str_is(text_at(line, "type"), "session_meta") && id.len < sizeof(c->session))
		snprintf(c->session, sizeof(c->session), "%.*s", STR_FMT(id));
	if (!str_is(text_at(line, "type"), "response_item"))
		return 0;
	if (str_is(type, "function_call") || str_is(type, "custom_tool_call"))
		return look_up(c, (struct str){NULL, 0}, text_at(item, "name"),
			       text_at(item, "call_id"));
	if (str_is(type, "local_shell_call"))
		return look_up(c, (struct str){NULL, 0}, type, text_at(item, "call_id"));
	return 0;
}

static int look_at(struct coverage *c, struct str text)
{
	const struct json_value *line;
	size_t mark = json_arena_mark(c->arena);
	int r = 0;
	c->line++;
	if (text.len == 0)
		return 0;
	if (json_parse(c->arena, text, JSON_DEFAULT_LIMITS, 0, &line, NULL, NULL) < 0)
		c->unreadable++;
	else if (json_type(json_member(line, STR("message"))) == JSON_OBJECT)
		r = look_at_message(c, line);
	else if (json_type(json_member(line, STR("payload"))) == JSON_OBJECT)
		r = look_at_item(c, line);
	json_arena_rewind(c->arena, mark);
	return r;
}

static int read_file(const char *path, char **ret, size_t *ret_len, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	int r = io_read_all(fd, COVERAGE_BYTES_MAX, ret, ret_len, err);
	close(fd);
	if (r < 0)
		error_prefix(err, "%s", path);
	return r;
}

static int walk(struct coverage *c, struct str text, sqlite3 *db, struct error *err)
{
	for (size_t at = 0; at < text.len;) {
		const char *end = memchr(text.ptr + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
		if (look_at(c, (struct str){text.ptr + at, len}) < 0)
			return db_failed(db, "database", err);
		at += len + 1;
	}
	if (c->known == 0)
		return error_set(err, EBADMSG,
				 "%s is no transcript of Claude Code's or Codex's",
				 c->query->target);
	return 0;
}

/* What cannot be read may be a call that nobody was asked about, too. */
static int conclude(const struct coverage *c)
{
	if (!c->query->quiet && !c->query->json)
		printf("%" PRId64 " calls, %" PRId64 " of them without a decision in the audit\n",
		       c->calls, c->missing);
	if (c->unreadable > 0)
		fprintf(stderr, "pawl audit: %s: %" PRId64 " lines cannot be read\n",
			c->query->target, c->unreadable);
	return c->missing > 0 || c->unreadable > 0;
}

static int prepare(struct coverage *c, sqlite3 *db, struct error *err)
{
	if (sqlite3_open(":memory:", &c->memory) != SQLITE_OK ||
	    sqlite3_exec(c->memory, seen_table, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(c->memory, seen, -1, &c->seen, NULL) != SQLITE_OK)
		return error_set(err, ENOMEM, "out of memory");
	if (sqlite3_prepare_v2(db, decided, -1, &c->decided, NULL) != SQLITE_OK)
		return db_failed(db, "database", err);
	return 0;
}

int command_coverage(const struct query *query)
{
	struct coverage c = {.query = query};
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	sqlite3 *db = NULL;
	struct error err;
	int r = read_file(query->target, &text, &len, &err);
	if (r == 0)
		r = json_arena_new(JSON_ARENA_DEFAULT, &c.arena, &err);
	if (r == 0)
		r = command_index(query, &db, &err);
	if (r == 0)
		r = prepare(&c, db, &err);
	if (r == 0)
		r = walk(&c, (struct str){text, len}, db, &err);
	sqlite3_finalize(c.seen);
	sqlite3_finalize(c.decided);
	sqlite3_close(c.memory);
	sqlite3_close(db);
	json_arena_free(c.arena);
	return r < 0 ? command_failed(&err) : conclude(&c);
}
