/* check.c - `pawl audit verify`: says whether the store is what was written. */
#include <config.h>

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "base/io.h"
#include "command.h"
#include "lag.h"
#include "verify.h"

static const char *const words[] = {
	[VERIFY_INTACT] = "intact", [VERIFY_CHANGED] = "changed",
	[VERIFY_SHORTER] = "shorter", [VERIFY_GAPS] = "gaps", [VERIFY_UNREADABLE] = "unreadable",
	[VERIFY_REPLACED] = "replaced",
};

static const char *const sentences[] = {
	[VERIFY_INTACT] = "INTACT",
	[VERIFY_CHANGED] = "CHANGED",
	[VERIFY_SHORTER] = "SHORTER than its anchor",
	[VERIFY_GAPS] = "INTACT, BUT WITH GAPS",
	[VERIFY_UNREADABLE] = "COULD NOT BE READ",
	[VERIFY_REPLACED] = "REPLACED: not the log that the anchor knows",
};

static struct json_object *findings(const struct verify *v)
{
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < v->n_findings; i++) {
		struct json_object *o = json_object_new_object();
		json_object_object_add(o, "kind",
				       json_object_new_string(words[v->findings[i].kind]));
		if (v->findings[i].seq > 0)
			json_object_object_add(o, "seq",
					       json_object_new_int64(v->findings[i].seq));
		json_object_object_add(o, "text", json_object_new_string(v->findings[i].text));
		json_object_array_add(list, o);
	}
	return list;
}

static void print_json(const struct verify *v)
{
	struct json_object *o = json_object_new_object();
	char hash[CHAIN_HEX + 1];
	chain_hex(v->chain.head, hash);
#define ADD(key, value) json_object_object_add(o, key, value)
	ADD("result", json_object_new_string(words[verify_code(v)]));
	if (v->first_bad > 0)
		ADD("first_bad", json_object_new_int64(v->first_bad));
	ADD("first_seq", json_object_new_int64(v->first_seq));
	ADD("last_seq", json_object_new_uint64(v->chain.seq));
	ADD("hash", json_object_new_string(hash));
	ADD("files", json_object_new_int64(v->segments));
	ADD("records", json_object_new_int64(v->records));
	ADD("bytes", json_object_new_int64(v->bytes));
	ADD("rows", json_object_new_int64(v->rows));
	ADD("index_lag_bytes", json_object_new_int64(v->behind));
	ADD("checkpoints", json_object_new_int64(v->seals));
	ADD("checkpoint_seq", json_object_new_int64(v->last_seal));
	ADD("lost_told", json_object_new_int64(v->told));
	ADD("lost_not_told_yet", json_object_new_int64(v->pending));
	ADD("missing_numbers", json_object_new_int64(v->missing));
	ADD("findings", findings(v));
#undef ADD
	command_print(o);
}

/* due: it is behind for longer than records are left lying. */
static void print_text(const struct verify *v, bool due, int64_t ns)
{
	int64_t sum = 0;
	for (int i = 0; i < VERIFY_KINDS; i++)
		sum += v->found[i];
	for (size_t i = 0; i < v->n_findings; i++)
		printf("%s\n", v->findings[i].text);
	if (sum > (int64_t)v->n_findings)
		printf("... and %" PRId64 " more\n", sum - (int64_t)v->n_findings);
	printf("%" PRId64 " records (%" PRId64 " to %" PRIu64 ") in %" PRId64 " files, %" PRId64
	       " bytes; %" PRId64 " rows of the database; %.2f s\n",
	       v->records, v->first_seq, v->chain.seq, v->segments, v->bytes, v->rows,
	       (double)ns / 1e9);
	if (v->seals > 0 || v->last_seal > 0)
		printf("checkpoints: %" PRId64 ", the last one of record %" PRId64 "%s\n", v->seals,
		       v->last_seal,
		       v->unsigned_seals ? "; without their public key, not all signatures could "
					   "be checked"
					 : "");
	if (v->no_index)
		puts("there is no database; it is made anew with the next record");
	else if (v->behind > 0 && due)
		printf("the database is %" PRId64 " bytes behind the log\n", v->behind);
	printf("%s", sentences[verify_code(v)]);
	if (v->first_bad > 0)
		printf(": first bad sequence number %" PRId64, v->first_bad);
	fputc('\n', stdout);
}

int command_verify(const struct query *query)
{
	struct verify verify;
	struct error err = {""};
	int64_t start = io_monotonic_ns();
	verify_begin(&verify);
	if (verify_seals(&query->store, &verify, query->key, query->anchor, &err) == 0 &&
	    verify_log(&query->store, &verify, &err) == 0 && !query->log_only)
		(void)verify_index(&query->store, &verify, &err);
	if (query->json)
		print_json(&verify);
	else if (!query->quiet)
		print_text(&verify, lag_is_due(&query->store), io_monotonic_ns() - start);
	else if (verify.first_bad > 0)
		printf("%" PRId64 "\n", verify.first_bad);
	int code = verify_exit(&verify);
	verify_done(&verify);
	return code;
}
