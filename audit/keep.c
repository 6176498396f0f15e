/* keep.c - `pawl audit rotate`, `checkpoint`, `anchor`, `hash`, `rebuild`, `repair`: what
 * changes a store's files, not its records. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"

#include "command.h"
#include "ingest.h"
#include "log.h"
#include "redact.h"
#include "repair.h"
#include "seal.h"

int command_rotate(const struct query *query)
{
	struct error err;
	return log_rotate(&query->store, &err) < 0 ? command_failed(&err) : 0;
}

int command_checkpoint(const struct query *query)
{
	char note[SEAL_NOTE_MAX];
	struct error err;
	if (seal_make(&query->store, query->key, note, &err) < 0)
		return command_failed(&err);
	if (query->print_note)
		fputs(note, stdout);
	return 0;
}

int command_anchor(const struct query *query)
{
	struct query printing = *query;
	printing.print_note = true;
	return command_checkpoint(&printing);
}

/* The value comes by stdin: an argument would be seen by everybody. */
int command_hash(const struct query *query)
{
	static const char options[] = "{\"with\":\"hmac\"}";
	_cleanup_free_ char *value = NULL;
	struct json_arena *arena = NULL;
	const struct json_value *root = NULL;
	struct redact *redact = NULL;
	char hash[REDACT_HASH_MAX];
	struct error err;
	size_t len;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, &err);
	if (r == 0)
		r = json_parse(arena, STR(options), JSON_DEFAULT_LIMITS, 0, &root, NULL, &err);
	if (r == 0)
		r = redact_new(root, &redact, &err);
	if (r == 0)
		r = redact_key(redact, &query->store, &err);
	if (r == 0)
		r = io_read_all(0, JSON_BYTES_MAX, &value, &len, &err);
	if (r == 0) {
		redact_hash(redact, (struct str){value, len}, hash);
		puts(hash);
	}
	redact_free(redact);
	json_arena_free(arena);
	return r < 0 ? command_failed(&err) : 0;
}

int command_rebuild(const struct query *query)
{
	char old[PATH_MAX];
	struct error err;
	if (ingest_rebuild(&query->store, old, &err) < 0)
		return command_failed(&err);
	if (!query->quiet && old[0])
		printf("the database before is now %s\n", old);
	return 0;
}

int command_repair(const struct query *query)
{
	struct repair repair = {.torn = 0};
	struct error err;
	int r = repair_log(&query->store, &repair, &err);
	if (repair.torn > 0)
		printf("a torn end of %lld bytes was cut off into torn/\n",
		       (long long)repair.torn);
	if (repair.log[0])
		printf("the log did not end in a record: it is now %s\n", repair.log);
	if (r == 0)
		r = repair_index(&query->store, &repair, &err);
	if (repair.database[0])
		printf("the database was made anew; the one before is now %s\n",
		       repair.database);
	if (r < 0)
		return command_failed(&err);
	if (!query->quiet && repair.torn == 0 && !repair.log[0] && !repair.database[0])
		puts("there was nothing to repair");
	return 0;
}
