/* tell.c - see tell.h. The record is written and on the disk before the step that it is
 * about is kept: a decision that could not be recorded is none. */
#include <config.h>

#include "tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/capture.h"
#include "audit/counters.h"
#include "audit/drops.h"
#include "audit/ingest.h"
#include "audit/line.h"
#include "audit/log.h"
#include "audit/store.h"
#include "base/cleanup.h"

static void fill(const struct row *row, const char *type, struct str data, struct record *record)
{
	record->type = type;
	record->session = row->session_id;
	record->call = row->call_id;
	record->tool = row->tool_name;
	record->source = row->source;
	record->server = row->server;
	record->client = row->client;
	record->agent = row->agent;
	record->agent_type = row->agent_type;
	record->run = row->run_id;
	record->rule = row->rule;
	record->plugin = row->plugin;
	record->trust = row->system ? STR("system") : STR("user");
	record->data = data;
	if (strcmp(type, "call.allowed") != 0 && strcmp(type, "policy.denied") != 0)
		return;
	/* what a resumed call came to; its arguments are in the record that it was held by, where
	 * the rules of the audit have said how much of them is kept */
	bool runs = strcmp(type, "call.allowed") == 0;
	record->verdict = runs ? STR("allow") : STR("deny");
	record->reason = row->reason;
	record->refused_by = runs ? (struct str){NULL, 0} : row->decided_why;
}

/* ---- what is not to be written ------------------------------------------------------------ */

struct rules {
	struct json_arena *arena;
	struct redact *redact;
	struct capture *capture;
};

static void rules_done(struct rules *rules)
{
	redact_free(rules->redact);
	capture_free(rules->capture);
	json_arena_free(rules->arena);
}

/* The audit's own rules hold for what people typed, too. */
static int rules_read(struct rules *rules, const char *options, struct error *err)
{
	const struct json_value *all = NULL;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &rules->arena, err);
	if (r == 0 && options)
		r = json_parse(rules->arena, str_of(options), JSON_DEFAULT_LIMITS, 0, &all, NULL,
			       err);
	if (r == 0)
		r = redact_new(json_member(all, STR("redact")), &rules->redact, err);
	return r < 0 ? r : capture_new(json_member(all, STR("capture")), &rules->capture, err);
}

static int rules_apply(const char *options, const struct store *store, struct rules *rules,
		       struct record *record, struct error *err)
{
	int r = rules_read(rules, options, err);
	if (r == 0 && redact_hashes(rules->redact))
		r = redact_key(rules->redact, store, err);
	if (r == 0)
		r = capture_apply(rules->capture, rules->redact, rules->arena, record, err);
	record->aside = false; /* there is no input and no result to put there */
	return r;
}

static int append(const char *options, const struct store *store, struct record *record,
		  struct error *err)
{
	_cleanup_(rules_done) struct rules rules = {.redact = NULL};
	_cleanup_free_ char *body = NULL;
	size_t len;
	if (counters_next(store, record->session, &record->sseq, NULL) < 0)
		record->sseq = 0;
	int r = rules_apply(options, store, &rules, record, err);
	if (r == 0)
		r = line_body(record, &body, &len, err);
	return r < 0 ? r : log_append(store, (struct str){body, len}, err);
}

int tell_audit(void *context, const char *type, const struct row *row, struct str data,
	       struct error *err)
{
	_cleanup_(store_close) struct store store = {.dirfd = -1};
	struct record record = RECORD_EMPTY;
	const struct tell_place *place = context;
	fill(row, type, data, &record);
	int r = store_open(place->path, STORE_MAKE, &store, err);
	if (r == 0) {
		(void)drops_make(&store, NULL);
		r = append(place->options, &store, &record, err);
	}
	if (r < 0) {
		error_prefix(err, "the audit could not record this, so nothing was decided");
		return r;
	}
	(void)ingest_drain(&store, INGEST_BUDGET_NS, NULL); /* the index may lag, the log has it */
	return 0;
}
