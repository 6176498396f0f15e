/* command.c - opening an index to read, printing rows. */
#include <config.h>

#include "command.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "db.h"
#include "ingest.h"
#include "line.h"

#define WAIT_NS ((int64_t)2000000000)

int command_failed(const struct error *err)
{
	fprintf(stderr, "pawl audit: %s\n", err->text);
	return 1;
}

/* Others may be filling it just now. */
static int drain(const struct query *query, struct error *err)
{
	int64_t start = io_monotonic_ns();
	int r;
	while ((r = ingest_drain(&query->store, INGEST_NO_LIMIT, err)) == 1 &&
	       io_monotonic_ns() - start < WAIT_NS)
		usleep(10000);
	return r;
}

/* A database that this process could not fill is as good, if it is level. */
static int open_database(const struct query *query, int drained, sqlite3 **ret, struct error *err)
{
	struct ingest_place place;
	int r = db_open(&query->store, DB_READ, ret, err);
	if (r == 0 && drained != 0)
		r = ingest_place(&query->store, *ret, &place, err);
	if (r == 0 && drained != 0 && place.offset != place.size)
		r = error_set(err, EAGAIN, "%s: %lld bytes behind the log", query->store.db,
			      (long long)(place.size - place.offset));
	return r;
}

int command_index(const struct query *query, sqlite3 **ret, struct error *err)
{
	struct error why = {""};
	int drained = drain(query, &why);
	/* why it could not be filled says more than that it is behind */
	if (open_database(query, drained, ret, drained < 0 ? NULL : &why) == 0)
		return 0;
	sqlite3_close(*ret);
	*ret = NULL;
	if (!query->quiet)
		fprintf(stderr, "pawl audit: %s; reading the log instead\n", why.text);
	int r = db_open(&query->store, DB_MEMORY, ret, err);
	return r < 0 ? r : ingest_fill(&query->store, *ret, INGEST_NO_LIMIT, err);
}

static void add_time(struct json_object *to, const char *name, size_t len, int64_t ms)
{
	char key[64], text[LINE_TIME_MAX];
	snprintf(key, sizeof(key), "%.*s", (int)len, name);
	line_time(ms, text);
	json_object_object_add(to, key, json_object_new_string(text));
}

static void add_column(struct json_object *to, sqlite3_stmt *stmt, int i)
{
	const char *name = sqlite3_column_name(stmt, i);
	const char *text = (const char *)sqlite3_column_text(stmt, i);
	size_t len = strlen(name);
	if (!text)
		return;
	if (len > 3 && strcmp(name + len - 3, "_ms") == 0)
		add_time(to, name, len - 3, sqlite3_column_int64(stmt, i));
	else if (strncmp(name, "raw_", 4) == 0)
		json_object_object_add(to, name + 4, line_raw(str_of(text)));
	else if (strncmp(name, "flag_", 5) == 0)
		json_object_object_add(to, name + 5,
				       json_object_new_boolean(sqlite3_column_int(stmt, i)));
	else if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER)
		json_object_object_add(to, name,
				       json_object_new_int64(sqlite3_column_int64(stmt, i)));
	else
		json_object_object_add(
		    to, name, json_object_new_string_len(text, sqlite3_column_bytes(stmt, i)));
}

struct json_object *command_row(sqlite3_stmt *stmt)
{
	struct json_object *row = json_object_new_object();
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		add_column(row, stmt, i);
	return row;
}

struct json_object *command_rows(sqlite3_stmt *stmt, int64_t *ret_count)
{
	struct json_object *rows = json_object_new_array();
	for (*ret_count = 0; sqlite3_step(stmt) == SQLITE_ROW; ++*ret_count)
		json_object_array_add(rows, command_row(stmt));
	return rows;
}

struct json_object *command_pair(const char *a, struct json_object *first, const char *b,
				 struct json_object *second)
{
	struct json_object *object = json_object_new_object();
	json_object_object_add(object, a, first);
	json_object_object_add(object, b, second);
	return object;
}

struct json_object *command_text(const char *text)
{
	return json_object_new_string(text);
}

void command_print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}
