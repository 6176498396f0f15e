/* line.c - a record's members, built with json-c; foreign values embedded raw. */
#include <config.h>

#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "chain.h"
#include "shallow.h"

static void cleanup_put(struct json_object **object)
{
	json_object_put(*object);
}

#define _cleanup_put_ _cleanup_(cleanup_put)

/* ---- ids and times ------------------------------------------------------------- */

void line_id(char buf[LINE_ID_MAX])
{
	uint8_t b[16] = {0};
	uint64_t ms = (uint64_t)(io_wall_ns() / 1000000);
	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		memcpy(b + 8, &(int64_t){io_monotonic_ns()}, 8);
	for (int i = 0; i < 6; i++)
		b[i] = (uint8_t)(ms >> (40 - 8 * i));
	b[6] = (uint8_t)(0x70 | (b[6] & 0x0f));
	b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
	snprintf(buf, LINE_ID_MAX,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		 b[15]);
}

void line_time(int64_t ms, char buf[LINE_TIME_MAX])
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	size_t n = 0;
	if (gmtime_r(&s, &tm))
		n = strftime(buf, LINE_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, LINE_TIME_MAX - n, ".%03dZ", (int)(ms % 1000));
}

/* It cannot be read in a sandbox without /proc. */
const char *line_boot(void)
{
	static char id[LINE_ID_MAX];
	static bool asked;
	if (asked)
		return id;
	asked = true;
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, id, sizeof(id) - 1);
	id[n < 0 ? 0 : n] = '\0';
	return id;
}

static int64_t boot_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- text ---------------------------------------------------------------------- */

/* Length of the UTF-8 character at s, 0 when it is none (RFC 3629). */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	static const unsigned char first_min[] = {0xc2, 0xe0, 0xf0, 0xf5};
	if (s[0] < 0x80)
		return 1;
	size_t n = s[0] < first_min[0]   ? 0
		   : s[0] < first_min[1] ? 2
		   : s[0] < first_min[2] ? 3
		   : s[0] < first_min[3] ? 4
					 : 0;
	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* At most max bytes of text, cut between characters, wrong bytes as U+FFFD. */
static struct json_object *text_new(struct str text, size_t max)
{
	_cleanup_free_ char *buf = malloc((text.len < max ? text.len : max) * 3 + 1);
	if (!buf)
		return NULL;
	size_t at = 0;
	for (size_t i = 0; i < text.len;) {
		size_t n = utf8_length((const unsigned char *)text.ptr + i, text.len - i);
		if (i + (n ? n : 1) > max)
			break;
		memcpy(buf + at, n ? text.ptr + i : "\xef\xbf\xbd", n ? n : 3);
		at += n ? n : 3;
		i += n ? n : 1;
	}
	return json_object_new_string_len(buf, (int)at);
}

static int raw_print(struct json_object *object, struct printbuf *out, int level, int flags)
{
	(void)level;
	(void)flags;
	const char *text = json_object_get_userdata(object);
	return printbuf_memappend(out, text, (int)strlen(text));
}

static void raw_free(struct json_object *object, void *text)
{
	(void)object;
	free(text);
}

/* A line break can only stand between tokens: a space then. */
struct json_object *line_raw(struct str json)
{
	char *text = strndup(json.ptr, json.len);
	struct json_object *object = text ? json_object_new_boolean(0) : NULL;
	if (!object) {
		free(text);
		return NULL;
	}
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	json_object_set_serializer(object, raw_print, text, raw_free);
	return object;
}

/* ---- members ------------------------------------------------------------------- */

static bool add(struct json_object *to, const char *key, struct json_object *value)
{
	if (value && json_object_object_add_ex(to, key, value, JSON_C_OBJECT_ADD_CONSTANT_KEY) == 0)
		return true;
	json_object_put(value);
	return false;
}

static bool add_text(struct json_object *to, const char *key, struct str text)
{
	return !text.ptr || add(to, key, text_new(text, LINE_TEXT_MAX));
}

static bool add_number(struct json_object *to, const char *key, int64_t number)
{
	return number == INT64_MIN || add(to, key, json_object_new_int64(number));
}

static bool add_flag(struct json_object *to, const char *key, int flag)
{
	return flag < 0 || add(to, key, json_object_new_boolean(flag));
}

static struct json_object *marker_new(struct str json)
{
	char digest[CHAIN_DIGEST_MAX];
	chain_digest(json, digest);
	struct json_object *marker = json_object_new_object();
	if (marker && add_flag(marker, "truncated", 1) &&
	    add_number(marker, "size", (int64_t)json.len) &&
	    add_text(marker, "sha256", str_of(digest + 7)) &&
	    add(marker, "head", text_new(json, LINE_HEAD_MAX)))
		return marker;
	json_object_put(marker);
	return NULL;
}

static bool add_json(struct json_object *to, const char *key, struct str json, size_t max)
{
	if (!json.ptr)
		return true;
	bool whole = json.len <= max && shallow_depth(json) <= LINE_DEPTH_MAX;
	return add(to, key, whole ? line_raw(json) : marker_new(json));
}

static bool add_digest(struct json_object *to, const char *key, struct str json)
{
	char digest[CHAIN_DIGEST_MAX];
	if (!json.ptr)
		return true;
	chain_digest(json, digest);
	return add_text(to, key, str_of(digest));
}

/* One that is left out has a digest and a size. */
static bool add_body(struct json_object *to, const char *key, struct str json, bool omit,
		     size_t max)
{
	char size[32];
	if (!omit || !json.ptr)
		return add_json(to, key, json, max);
	snprintf(size, sizeof(size), "%s_size", key);
	return json_object_object_add(to, size, json_object_new_int64((int64_t)json.len)) == 0;
}

/* ---- the parts of a body -------------------------------------------------------- */

static bool add_identity(struct json_object *to, struct record *r)
{
	char ts[LINE_TIME_MAX];
	if (r->id[0] == '\0')
		line_id(r->id);
	line_time(io_wall_ns() / 1000000, ts);
	return add_text(to, "id", str_of(r->id)) && add_text(to, "ts", str_of(ts)) &&
	       (line_boot()[0] == '\0' || add_text(to, "boot", str_of(line_boot()))) &&
	       add_number(to, "mono_ns", boot_ns()) && add_text(to, "type", str_of(r->type)) &&
	       add_text(to, "session", r->session) &&
	       add_number(to, "sseq", r->sseq ? (int64_t)r->sseq : INT64_MIN) &&
	       add_text(to, "call", r->call) && add_flag(to, "call_made", r->call_made ? 1 : -1) &&
	       add_text(to, "event", r->event);
}

static bool add_execution(struct json_object *to, const struct record *r)
{
	return add_text(to, "tool", r->tool) && add_text(to, "source", r->source) &&
	       add_text(to, "server", r->server) && add_text(to, "tool_raw", r->tool_raw) &&
	       add_body(to, "input", r->input, r->omit_input || r->aside, r->max_value) &&
	       add_digest(to, "input_digest", r->input) &&
	       add_body(to, "input_given", r->input_given, r->omit_input || r->aside,
			r->max_value) &&
	       (!(r->omit_input || r->aside) ||
		add_digest(to, "input_given_digest", r->input_given)) &&
	       add_body(to, "result", r->result, r->omit_result || r->aside, r->max_value) &&
	       add_digest(to, "result_digest", r->result) &&
	       add_flag(to, "is_error", r->is_error) &&
	       add_flag(to, "substituted", r->substituted) && add_text(to, "outcome", r->outcome) &&
	       add_number(to, "duration_ns", r->duration_ns);
}

static bool add_decision(struct json_object *to, const struct record *r)
{
	_cleanup_put_ struct json_object *d = json_object_new_object();
	if (!d || !add_text(d, "verdict", r->verdict) || !add_text(d, "reason", r->reason) ||
	    !add_text(d, "rule", r->rule) || !add_text(d, "plugin", r->plugin) ||
	    !add_text(d, "refused_by", r->refused_by) ||
	    !add_text(d, "error_class", r->error_class) ||
	    !add_text(d, "instructions", r->instructions) ||
	    !add_number(d, "timeout_s", r->timeout_s))
		return false;
	return json_object_object_length(d) == 0 || add(to, "decision", TAKE_PTR(d));
}

static bool add_origin(struct json_object *to, const struct record *r)
{
	return add_json(to, "trace", r->trace, LINE_TEXT_MAX) && add_text(to, "trust", r->trust) &&
	       add_text(to, "client", r->client) && add_text(to, "agent", r->agent) &&
	       add_text(to, "agent_type", r->agent_type) && add_text(to, "cwd", r->cwd) &&
	       add_text(to, "run", r->run) && add_number(to, "turn", r->turn) &&
	       add_number(to, "position", r->position) && add_text(to, "config", r->config) &&
	       add_json(to, "data", r->data, r->max_value);
}

int line_body(struct record *record, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_put_ struct json_object *o = json_object_new_object();
	if (!o || !add_identity(o, record) || !add_execution(o, record) ||
	    !add_decision(o, record) || !add_origin(o, record))
		return error_set(err, ENOMEM, "out of memory");
	size_t len;
	const char *text = json_object_to_json_string_length(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	char *body = text && len > 2 ? malloc(len - 1) : NULL;
	if (!body)
		return error_set(err, ENOMEM, "out of memory");
	memcpy(body, text + 1, len - 2); /* without its braces */
	body[len - 2] = '\0';
	*ret = body;
	*ret_len = len - 2;
	return 0;
}

int line_aside(const struct record *r, char **ret, size_t *ret_len, struct error *err)
{
	struct str none = {NULL, 0};
	_cleanup_put_ struct json_object *o = json_object_new_object();
	size_t len;
	*ret = NULL;
	if (!r->aside || (!r->input.ptr && !r->input_given.ptr && (r->omit_result || !r->result.ptr)))
		return 0;
	if (!o || !add_text(o, "id", str_of(r->id)) ||
	    !add_json(o, "input", r->input, r->max_value) ||
	    !add_json(o, "input_given", r->input_given, r->max_value) ||
	    !add_json(o, "result", r->omit_result ? none : r->result, r->max_value))
		return error_set(err, ENOMEM, "out of memory");
	const char *text = json_object_to_json_string_length(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	char *line = text ? malloc(len + 2) : NULL;
	if (!line)
		return error_set(err, ENOMEM, "out of memory");
	memcpy(line, text, len);
	memcpy(line + len, "\n", 2);
	*ret = line;
	*ret_len = len + 1;
	return 0;
}
