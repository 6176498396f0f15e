/* line.h - one record as the body of a log line.
 *
 * Layer: audit; knows base, chain (for digests) and json-c.
 *
 * Values that came from a client are kept as their own bytes, so that
 * 1915883588174806058 and 1e400 stay what they were.  A value over the cap, or nested
 * so deeply that a reader could refuse the whole line, is replaced as a whole by
 *	{"truncated":true,"size":N,"sha256":"HEX","head":"its first bytes"}
 * never cut inside.
 */
#ifndef PAWL_AUDIT_LINE_H
#define PAWL_AUDIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* Cap of one text (a reason, a name) and of the trace. */
#define LINE_TEXT_MAX ((size_t)64 << 10)
#define LINE_HEAD_MAX ((size_t)1024) /* of a replaced value */
#define LINE_DEPTH_MAX 500           /* of a value; a line adds one or two */
#define LINE_ID_MAX 37               /* a UUID and its NUL */

/* Absent: text with ptr NULL, numbers INT64_MIN, flags -1.  All borrowed. */
struct record {
	const char *type;
	char id[LINE_ID_MAX]; /* filled by line_body when empty */
	struct str session, call, tool, source, server, tool_raw, event;
	uint32_t sseq; /* 0 = not counted */
	int call_made; /* 1: the client gave no call id, this one was made up */
	struct str input, input_given, result; /* JSON */
	int is_error, substituted;
	struct str outcome;
	struct str verdict, reason, rule, plugin, refused_by, error_class, instructions;
	int64_t timeout_s, turn, position, duration_ns;
	struct str trace; /* JSON */
	struct str trust, client, agent, agent_type, cwd, run, config;
	struct str data;  /* JSON: whatever else belongs to this type */
	bool omit_input, omit_result; /* their digests only */
	bool aside; /* input and result go into the file beside the log, by line_aside */
	size_t max_value; /* cap of input, input_given, result, data; in bytes */
};

#define RECORD_EMPTY                                                                               \
	((struct record){.is_error = -1,                                                           \
			 .substituted = -1,                                                        \
			 .timeout_s = INT64_MIN,                                                   \
			 .turn = INT64_MIN,                                                        \
			 .position = INT64_MIN,                                                    \
			 .duration_ns = INT64_MIN,                                                 \
			 .max_value = LINE_TEXT_MAX})

/* The members between "seq" and "prev": `"id":...,"ts":...,...`, without braces or
 * newline.  *ret is the caller's, free with free(). */
int line_body(struct record *record, char **ret, size_t *ret_len, struct error *err);

/* {"id":...,"input":...,"input_given":...,"result":...} and a newline, of a record that
 * line_body was called for; *ret NULL when there is nothing. */
int line_aside(const struct record *record, char **ret, size_t *ret_len, struct error *err);

/* A json-c value that prints as json's own bytes, on one line; NULL without memory. */
struct json_object;
struct json_object *line_raw(struct str json);

/* A new UUIDv7: sorts by time. */
void line_id(char buf[LINE_ID_MAX]);

/* The id of this boot; "" where it cannot be read. */
const char *line_boot(void);

/* "2026-08-22T10:11:12.345Z" of a time in ms since 1970 */
#define LINE_TIME_MAX 32
void line_time(int64_t ms, char buf[LINE_TIME_MAX]);

#endif
