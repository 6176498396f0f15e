/* event.h - a log line, read.
 *
 * Layer: audit; knows json and chain.
 */
#ifndef PAWL_AUDIT_EVENT_H
#define PAWL_AUDIT_EVENT_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "chain.h"
#include "json/json.h"

/* Absent: text with ptr NULL, numbers INT64_MIN.  Borrowed from the line and the
 * arena it was read into. */
struct event {
	struct str line; /* all of it */
	struct chain chain;
	const struct json_value *root;
	struct str id, boot, type, session, call, tool, source, server, outcome, event;
	struct str client, agent, agent_type, trust, cwd, config;
	struct str verdict, reason, rule, plugin, refused_by; /* of decision */
	struct str input, input_given, result, trace, data;   /* JSON */
	struct str input_digest, result_digest;
	int64_t ts_ms, mono_ns, sseq, duration_ns;
	int64_t aside_at, aside_len; /* of its bodies; 0: they are not aside */
	int call_made, is_error, substituted;
};

/* -EBADMSG when the line is none of ours (err says why), -ENOMEM. */
int event_read(struct json_arena *arena, struct str line, struct event *ret, struct error *err);

/* "2026-08-22", "2026-08-22T10:11:12Z", "...12.345Z" in ms; INT64_MIN for anything else */
int64_t event_time(struct str text);

#endif
