/* audit.c - the plugin "audit": an observer that writes the audit store.
 *
 * Layer: audit.  What it cannot do it counts (drops.bin) and returns as an error;
 * it never changes an answer.
 *
 * A record is in the log when a callback has returned 0.  The database follows once
 * enough has gathered (lag.h), at a session's end, and whenever somebody reads it.
 */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/plugin.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "capture.h"
#include "counters.h"
#include "drops.h"
#include "ingest.h"
#include "json/json.h"
#include "line.h"
#include "log.h"
#include "name.h"
#include "seal.h"
#include "shallow.h"
#include "stale.h"
#include "store.h"
#include "summary.h"

#define MAX_VALUE_DEFAULT 65536
#define MAX_VALUE_MIN 1024
#define MAX_VALUE_MAX (2 << 20) /* three of them and the rest fit a line */

/* A host that has told of so many fills the index before it goes. */
#define DRAIN_MANY 64

struct audit {
	const pawl_host *host;
	char *path, *key;
	uint64_t checkpoint; /* records; 0: none */
	int64_t unknown_ns;
	int sync;
	int64_t rotate_bytes, rotate_ns, keep_bytes, keep_ns;
	size_t max_value;
	struct json_arena *arena;
	struct capture *capture;
	struct redact *redact;
	char made[NAME_MAX_LEN]; /* the call's id where its client gave none */
	unsigned records;
};

static struct str str_from(pawl_str text)
{
	return (struct str){text.ptr, text.len};
}

/* Empty text is absent in a record. */
static struct str text_of(const struct audit *a, const pawl_call *call, int32_t field)
{
	struct str text = str_from(a->host->text(call, field));
	return text.len > 0 ? text : (struct str){NULL, 0};
}

static struct str root_of(const struct audit *a, const pawl_call *call, int32_t which)
{
	const pawl_value *value = a->host->root(call, which);
	return value ? str_from(a->host->json(value)) : (struct str){NULL, 0};
}

/* ---- failing -------------------------------------------------------------------------- */

static int32_t say(const struct audit *a, const struct error *err)
{
	pawl_str text = {err->text, strlen(err->text)};
	a->host->log(a->host, PAWL_LOG_ERROR, text);
	a->host->set_error(a->host, text);
	return PAWL_E_FAIL;
}

static int32_t dropped(const struct audit *a, const struct store *store, int code,
		       const struct error *err)
{
	struct error why = *err, more;
	if (store->dirfd < 0 || drops_count(store, reason_of(code), &more) < 0)
		error_prefix(&why, "record lost and not counted");
	else
		error_prefix(&why, "record lost (%s)", reason_name(reason_of(code)));
	return say(a, &why);
}

/* A write past RLIMIT_FSIZE should be an error, not the end of the host's worker. */
struct quiet {
	struct sigaction xfsz, pipe;
};

static void quiet_begin(struct quiet *quiet)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigaction(SIGXFSZ, &ignore, &quiet->xfsz);
	sigaction(SIGPIPE, &ignore, &quiet->pipe);
}

static void quiet_end(struct quiet *quiet)
{
	sigaction(SIGXFSZ, &quiet->xfsz, NULL);
	sigaction(SIGPIPE, &quiet->pipe, NULL);
}

/* ---- writing -------------------------------------------------------------------------- */

static void drain(const struct audit *a, const struct store *store, bool must)
{
	struct error err = {""};
	int r = must ? ingest_drain(store, INGEST_BUDGET_NS, &err)
		     : ingest_drain_due(store, INGEST_BUDGET_NS, &err);
	if (r >= 0)
		return;
	/* Nothing is lost: the log has it, and the next drain tries again. */
	(void)drops_count_ingest(store, reason_of(r), NULL);
	error_prefix(&err, "index not written");
	a->host->log(a->host, PAWL_LOG_WARN, (pawl_str){err.text, strlen(err.text)});
}

/* The record is there; a checkpoint that cannot be made is said, and no loss. */
static void seal(const struct audit *a, const struct store *store)
{
	char note[SEAL_NOTE_MAX];
	struct error err = {""};
	if (seal_make(store, a->key, note, &err) == 0)
		return;
	error_prefix(&err, "no checkpoint made");
	a->host->log(a->host, PAWL_LOG_WARN, (pawl_str){err.text, strlen(err.text)});
}

static int append_captured(const struct audit *a, const struct store *store,
			   struct record *record, struct error *err)
{
	_cleanup_free_ char *body = NULL, *aside = NULL;
	size_t len = 0, aside_len = 0;
	uint64_t from = 0, to = 0;
	int r = redact_hashes(a->redact) ? redact_key(a->redact, store, err) : 0;
	if (r == 0)
		r = capture_apply(a->capture, a->redact, a->arena, record, err);
	if (r == 0)
		r = line_body(record, &body, &len, err);
	if (r == 0)
		r = line_aside(record, &aside, &aside_len, err);
	if (r == 0)
		r = log_append_told(store, (struct str){body, len}, (struct str){aside, aside_len},
				    &from, &to, err);
	if (r == 0 && a->checkpoint > 0 && to / a->checkpoint > from / a->checkpoint)
		seal(a, store);
	return r;
}

static int append(const struct audit *a, const struct store *store, struct record *record,
		  struct error *err)
{
	size_t mark = json_arena_mark(a->arena);
	/* First of all, so that whatever fails from here on leaves a hole. */
	if (counters_next(store, record->session.ptr ? record->session : STR(""), &record->sseq,
			  NULL) < 0)
		record->sseq = 0;
	record->max_value = a->max_value;
	int r = append_captured(a, store, record, err);
	json_arena_rewind(a->arena, mark);
	return r;
}

static void set_limits(const struct audit *a, struct store *store)
{
	store->sync = a->sync;
	store->rotate_bytes = a->rotate_bytes;
	store->rotate_ms = a->rotate_ns / 1000000;
	store->keep_bytes = a->keep_bytes;
	store->keep_ms = a->keep_ns / 1000000;
}

/* Calls that nobody heard of for so long are closed, a session's end is the occasion. */
static void give_up(struct audit *a, const struct store *store)
{
	struct stale stale;
	struct error err = {""};
	int64_t limit = io_wall_ns() / 1000000 - a->unknown_ns / 1000000;
	int r = a->unknown_ns > 0 ? stale_find(store, limit, &stale, &err) : -ENOENT;
	for (size_t i = 0; r == 0 && i < stale.n; i++) {
		struct record record = RECORD_EMPTY;
		record.type = "call.unknown";
		record.session = str_of(stale.session[i]);
		record.call = str_of(stale.call[i]);
		record.tool = str_of(stale.tool[i]);
		record.outcome = STR("unknown");
		r = append(a, store, &record, &err);
		if (r < 0)
			(void)dropped(a, store, r, &err);
	}
	if (a->unknown_ns > 0)
		stale_free(&stale);
}

static int32_t write_record(struct audit *a, struct record *record, bool stop)
{
	_cleanup_(store_close) struct store store = {.dirfd = -1};
	struct error err = {""};
	struct quiet quiet;
	int32_t answer = 0;
	quiet_begin(&quiet);
	int r = store_open(a->path, STORE_MAKE, &store, &err);
	set_limits(a, &store);
	if (r == 0) {
		(void)drops_make(&store, NULL);
		r = append(a, &store, record, &err);
	}
	a->records++;
	if (r < 0)
		answer = dropped(a, &store, r, &err);
	else
		drain(a, &store, stop);
	if (r == 0 && stop)
		give_up(a, &store);
	if (r == 0 && stop &&
	    (r = summary_append(&store, record->session, record->event, &err)) < 0)
		answer = dropped(a, &store, r, &err);
	quiet_end(&quiet);
	return answer;
}

/* ---- what is told ----------------------------------------------------------------------- */

static void take_call(const struct audit *a, const pawl_call *call, struct record *r)
{
	r->session = text_of(a, call, PAWL_T_SESSION);
	r->call = text_of(a, call, PAWL_T_CALL_ID);
	r->tool = text_of(a, call, PAWL_T_TOOL);
	r->source = text_of(a, call, PAWL_T_SOURCE);
	r->server = text_of(a, call, PAWL_T_SERVER);
	r->event = text_of(a, call, PAWL_T_EVENT);
	r->client = text_of(a, call, PAWL_T_CLIENT);
	r->agent = text_of(a, call, PAWL_T_AGENT);
	r->agent_type = text_of(a, call, PAWL_T_AGENT_TYPE);
	r->cwd = text_of(a, call, PAWL_T_CWD);
	r->run = text_of(a, call, PAWL_T_RUN);
	r->turn = a->host->number(call, PAWL_N_TURN);
	r->position = a->host->number(call, PAWL_N_POSITION);
}

/* Members of the host's record, and where they go. */
struct field {
	const char *name;
	size_t at;
};

static const struct field record_texts[] = {
	{"trust", offsetof(struct record, trust)},
	{"client", offsetof(struct record, client)},
	{"agent", offsetof(struct record, agent)},
	{"agent_type", offsetof(struct record, agent_type)},
	{"cwd", offsetof(struct record, cwd)},
	{"run_id", offsetof(struct record, run)},
	{"decision", offsetof(struct record, verdict)},
	{"reason", offsetof(struct record, reason)},
	{"rule", offsetof(struct record, rule)},
	{"plugin", offsetof(struct record, plugin)},
	{"refused_by", offsetof(struct record, refused_by)},
	{"error_class", offsetof(struct record, error_class)},
	{"instructions", offsetof(struct record, instructions)},
	{"config", offsetof(struct record, config)},
};

/* kept as bytes */
static const struct field record_raws[] = {
	{"tool_input", offsetof(struct record, input)},
	{"tool_input_given", offsetof(struct record, input_given)},
	{"tool_result", offsetof(struct record, result)},
	{"trace", offsetof(struct record, trace)},
	{"data", offsetof(struct record, data)},
};

static const struct field tool_texts[] = {
	{"name", offsetof(struct record, tool)},
	{"source", offsetof(struct record, source)},
	{"server", offsetof(struct record, server)},
	{"raw", offsetof(struct record, tool_raw)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct str *place(struct record *record, size_t at)
{
	return (struct str *)(void *)((char *)record + at);
}

static void take_text(const struct json_value *from, const char *name, struct str *to)
{
	struct str text;
	if (json_string(json_member(from, str_of(name)), &text) == 0 && text.len > 0)
		*to = text;
}

static void take_number(const struct json_value *from, const char *name, int64_t *to)
{
	int64_t n;
	if (json_integer(json_member(from, str_of(name)), &n) == 0)
		*to = n;
}

/* Where a value that is kept as bytes goes; NULL for all others. */
static struct str *raw_place(struct record *r, struct str name)
{
	for (size_t i = 0; i < COUNT(record_raws); i++)
		if (str_is(name, record_raws[i].name))
			return place(r, record_raws[i].at);
	return NULL;
}

/* Takes the client's values out of the record and leaves, in the arena, an object of
 * the others: *ret. */
static int split_record(struct json_arena *arena, struct str text, struct record *r,
			struct str *ret, struct error *err)
{
	struct str name, value;
	size_t at = 0, len = 0;
	int more;
	char *rest = json_arena_alloc(arena, text.len + 2);
	if (!rest)
		return error_set(err, ENOMEM, "out of memory");
	while ((more = shallow_next(text, &at, &name, &value)) == 1) {
		struct str *raw = raw_place(r, name);
		if (raw) {
			*raw = value;
			continue;
		}
		rest[len] = len == 0 ? '{' : ',';
		len++;
		size_t whole = (size_t)(value.ptr + value.len - (name.ptr - 1));
		memcpy(rest + len, name.ptr - 1, whole);
		len += whole;
	}
	if (len == 0)
		rest[len++] = '{';
	rest[len++] = '}';
	*ret = (struct str){json_arena_frozen(arena, rest), len};
	return more < 0 ? error_set(err, EINVAL, "the record is not a JSON object") : 0;
}

static bool is_known(struct str name)
{
	static const char *const others[] = {"type",     "tool",      "turn",
					     "position", "timeout_s", "is_error"};
	for (size_t i = 0; i < COUNT(record_texts); i++)
		if (str_is(name, record_texts[i].name))
			return true;
	for (size_t i = 0; i < COUNT(others); i++)
		if (str_is(name, others[i]))
			return true;
	return false;
}

/* Whatever else a host says of a record goes into its data. */
static void take_others(struct json_arena *arena, const struct json_value *root, struct record *r)
{
	size_t len = 0;
	char *data = r->data.ptr ? NULL : json_arena_alloc(arena, json_raw(root).len + 2);
	const struct json_value *value;
	for (size_t i = 0; data && i < json_length(root); i++) {
		struct str name = json_key(root, i, &value), text = json_raw(value);
		struct str quoted =
		    is_known(name) ? (struct str){NULL, 0} : json_quote(arena, name);
		/* a name may be longer quoted than it was: leave it out then */
		if (!quoted.ptr || len + quoted.len + text.len + 3 > json_raw(root).len + 2)
			continue;
		data[len] = len == 0 ? '{' : ',';
		memcpy(data + len + 1, quoted.ptr, quoted.len);
		len += 1 + quoted.len;
		data[len++] = ':';
		memcpy(data + len, text.ptr, text.len);
		len += text.len;
	}
	if (len > 0) {
		data[len++] = '}';
		r->data = (struct str){json_arena_frozen(arena, data), len};
	}
}

static int take_record(struct json_arena *arena, struct str text, struct str *type,
		       struct record *r, struct error *err)
{
	const struct json_value *root;
	struct str rest;
	int flag, code = split_record(arena, text, r, &rest, err);
	if (code == 0)
		code = json_parse(arena, rest, JSON_DEFAULT_LIMITS, JSON_BORROW, &root, NULL, err);
	if (code < 0)
		return code;
	const struct json_value *tool = json_member(root, STR("tool"));
	take_text(root, "type", type);
	for (size_t i = 0; i < COUNT(record_texts); i++)
		take_text(root, record_texts[i].name, place(r, record_texts[i].at));
	for (size_t i = 0; i < COUNT(tool_texts); i++)
		take_text(tool, tool_texts[i].name, place(r, tool_texts[i].at));
	take_number(root, "turn", &r->turn);
	take_number(root, "position", &r->position);
	take_number(root, "timeout_s", &r->timeout_s);
	if (json_boolean(json_member(root, STR("is_error")), &flag) == 0)
		r->is_error = flag;
	take_others(arena, root, r);
	return 0;
}

/* A client that gives a call no id: all records of it get the same made-up one. */
static void give_name(struct audit *a, const pawl_call *call, struct record *r)
{
	if (r->call.ptr || !r->tool.ptr)
		return;
	name_call(a->arena, r->session, r->tool, r->server, root_of(a, call, PAWL_R_ARGS),
		  a->made);
	r->call = str_of(a->made);
	r->call_made = 1;
}

static int32_t audit_decided(void *self, const pawl_call *call, pawl_str record_json)
{
	struct audit *a = self;
	struct record record = RECORD_EMPTY;
	struct error err = {""};
	struct str type = STR("unknown");
	size_t mark = json_arena_mark(a->arena);
	take_call(a, call, &record);
	int r = take_record(a->arena, str_from(record_json), &type, &record, &err);
	if (r == 0) {
		record.type = type.ptr;
		if (str_is(type, "policy.substituted"))
			record.substituted = 1;
		give_name(a, call, &record);
	} else { /* what the host says cannot be read: the loss itself is a record */
		record.type = "audit.unreadable";
		record.reason = str_of(err.text);
	}
	int32_t answer = write_record(a, &record, false);
	json_arena_rewind(a->arena, mark);
	return r < 0 ? say(a, &err) : answer;
}

/* Hosts of MCP tell failure inside the result. */
static bool says_error(const struct audit *a, const pawl_call *call)
{
	int32_t yes = 0;
	const pawl_value *result = a->host->root(call, PAWL_R_RESULT);
	return a->host->number(call, PAWL_N_IS_ERROR) == 1 ||
	       str_is(text_of(a, call, PAWL_T_EVENT), "PostToolUseFailure") ||
	       (a->host->boolean(a->host->member(result, (pawl_str){"isError", 7}), &yes) == 0 &&
		yes);
}

static int32_t audit_post_tool_use(void *self, const pawl_call *call)
{
	struct audit *a = self;
	struct record record = RECORD_EMPTY;
	take_call(a, call, &record);
	give_name(a, call, &record);
	record.is_error = says_error(a, call);
	record.substituted = a->host->number(call, PAWL_N_SUBSTITUTED) == 1 ? 1 : -1;
	record.type = record.is_error ? "call.failed" : "call.completed";
	record.outcome = record.substituted == 1 ? STR("substituted")
			 : record.is_error       ? STR("tool_error")
						 : STR("ok");
	record.duration_ns = a->host->number(call, PAWL_N_DURATION_NS);
	record.input = root_of(a, call, PAWL_R_ARGS);
	record.input_given = root_of(a, call, PAWL_R_ARGS_GIVEN);
	if (record.input_given.ptr && str_equal(record.input, record.input_given))
		record.input_given = (struct str){NULL, 0};
	record.result = root_of(a, call, PAWL_R_RESULT);
	if (!record.result.ptr) { /* a failure may come as an error and no result */
		const pawl_value *error =
		    a->host->member(a->host->root(call, PAWL_R_EVENT), (pawl_str){"error", 5});
		record.result = error ? str_from(a->host->json(error)) : record.result;
	}
	return write_record(a, &record, false);
}

static int32_t audit_stop(void *self, const pawl_call *call)
{
	struct audit *a = self;
	struct record record = RECORD_EMPTY;
	take_call(a, call, &record);
	record.type = "session.stop";
	record.call = record.tool = record.source = record.server = (struct str){NULL, 0};
	const pawl_value *reason =
	    a->host->member(a->host->root(call, PAWL_R_EVENT), (pawl_str){"reason", 6});
	char *data = NULL;
	if (a->host->type(reason) == PAWL_STRING) {
		struct str text = str_from(a->host->json(reason));
		if (asprintf(&data, "{\"reason\":%.*s}", STR_FMT(text)) < 0)
			data = NULL;
	}
	if (data)
		record.data = str_of(data);
	int32_t answer = write_record(a, &record, true);
	free(data);
	return answer;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void audit_close(void *self)
{
	struct audit *a = self;
	struct error err;
	if (!a)
		return;
	if (a->records >= DRAIN_MANY) {
		_cleanup_(store_close) struct store store = {.dirfd = -1};
		struct quiet quiet;
		quiet_begin(&quiet);
		if (store_open(a->path, STORE_EXISTING, &store, &err) == 0)
			drain(a, &store, true);
		quiet_end(&quiet);
	}
	capture_free(a->capture);
	redact_free(a->redact);
	json_arena_free(a->arena);
	free(a->path);
	free(a->key);
	free(a);
}

static int32_t refuse(const pawl_host *host, struct audit *a, int32_t code, const char *why)
{
	host->set_error(host, (pawl_str){why, strlen(why)});
	audit_close(a);
	return code;
}

/* A number of bytes or of nanoseconds; 0 means never. */
static bool take_size(const pawl_host *host, const pawl_value *options, const char *name,
		      int64_t *ret)
{
	(void)host->integer(host->member(options, (pawl_str){name, strlen(name)}), ret);
	return *ret >= 0;
}

/* Whether to sign, and with which key. */
static int take_seal(const pawl_host *host, const pawl_value *options, struct audit *a)
{
	pawl_str key;
	int64_t every = 0;
	(void)host->integer(host->member(options, (pawl_str){"checkpoint", 10}), &every);
	a->checkpoint = every > 0 ? (uint64_t)every : 0;
	if (host->string(host->member(options, (pawl_str){"key", 3}), &key) != 0 || key.len == 0)
		return 0;
	a->key = strndup(key.ptr, key.len);
	return a->key ? 0 : -ENOMEM;
}

/* A value of the options, read once more by our own reader. */
static const struct json_value *own_value(struct audit *a, const pawl_value *options,
					  const char *name)
{
	const struct json_value *value = NULL;
	const pawl_value *given = a->host->member(options, (pawl_str){name, strlen(name)});
	if (given && a->host->type(given) != PAWL_NULL)
		(void)json_parse(a->arena, str_from(a->host->json(given)), JSON_DEFAULT_LIMITS, 0,
				 &value, NULL, NULL);
	return value;
}

static int take_capture(struct audit *a, const pawl_value *options, struct error *err)
{
	int r = redact_new(own_value(a, options, "redact"), &a->redact, err);
	return r < 0 ? r : capture_new(own_value(a, options, "capture"), &a->capture, err);
}

static int32_t audit_open(const pawl_host *host, const pawl_value *options, void **self)
{
	struct audit *a = calloc(1, sizeof(*a));
	pawl_str path, sync;
	int64_t max = MAX_VALUE_DEFAULT;
	struct error err;
	if (!a)
		return PAWL_E_NOMEM;
	a->host = host;
	a->sync = 1;
	if (host->string(host->member(options, (pawl_str){"path", 4}), &path) != 0 ||
	    path.len == 0 || memchr(path.ptr, '\0', path.len))
		return refuse(host, a, PAWL_E_OPTION,
			      "option \"path\": the database's path is missing");
	if (host->string(host->member(options, (pawl_str){"sync", 4}), &sync) == 0)
		a->sync = !str_is(str_from(sync), "off");
	(void)host->integer(host->member(options, (pawl_str){"max_value", 9}), &max);
	if (!take_size(host, options, "rotate_bytes", &a->rotate_bytes) ||
	    !take_size(host, options, "rotate_age", &a->rotate_ns) ||
	    !take_size(host, options, "keep_bytes", &a->keep_bytes) ||
	    !take_size(host, options, "keep_age", &a->keep_ns) ||
	    !take_size(host, options, "unknown_after", &a->unknown_ns))
		return refuse(host, a, PAWL_E_OPTION,
			      "rotate_bytes, rotate_age, keep_bytes, keep_age, unknown_after: not below 0");
	if (max < MAX_VALUE_MIN || max > MAX_VALUE_MAX)
		return refuse(host, a, PAWL_E_OPTION,
			      "option \"max_value\": must be from 1024 to 2097152 bytes");
	a->max_value = (size_t)max;
	a->path = strndup(path.ptr, path.len);
	if (!a->path || take_seal(host, options, a) < 0 ||
	    json_arena_new(JSON_ARENA_DEFAULT, &a->arena, &err) < 0)
		return refuse(host, a, PAWL_E_NOMEM, "out of memory");
	if (take_capture(a, options, &err) < 0)
		return refuse(host, a, PAWL_E_OPTION, err.text);
	*self = a;
	return 0;
}

static const pawl_option options[] = {
	{"path", PAWL_OPT_PATH, PAWL_OPTF_REQUIRED, NULL,
     "the database; log, summaries and locks lie beside it", NULL},
	{"sync", PAWL_OPT_STRING, 0, "\"always\"",
     "whether a record is on the disk before it counts as written", "always|off"},
	{"max_value", PAWL_OPT_INTEGER, 0, "65536",
     "bytes of an input or result kept whole; a larger one is replaced by its digest", NULL},
	{"rotate_bytes", PAWL_OPT_INTEGER, 0, "67108864",
     "the log's current file is closed once it is so large; 0: never", NULL},
	{"rotate_age", PAWL_OPT_DURATION, 0, "\"0s\"",
     "it is closed once its first record is so old; 0: never", NULL},
	{"keep_bytes", PAWL_OPT_INTEGER, 0, "0",
     "the oldest closed files are removed while all of them are larger; 0: never", NULL},
	{"keep_age", PAWL_OPT_DURATION, 0, "\"0s\"",
     "closed files are removed once they are so old; 0: never", NULL},
	{"unknown_after", PAWL_OPT_DURATION, 0, "\"24h\"",
     "an allowed call that was not heard of for so long is closed as unknown; 0: never", NULL},
	{"checkpoint", PAWL_OPT_INTEGER, 0, "0",
     "what the log is is signed each so many records; 0: never", NULL},
	{"key", PAWL_OPT_PATH, 0, NULL,
     "the key to sign with; one in the store's folder when not given", NULL},
	{"capture", PAWL_OPT_JSON, 0, "[]",
     "rules that say how much of a call is recorded; the first that matches counts", NULL},
	{"redact", PAWL_OPT_JSON, 0, "{}",
     "what is a secret and what is written in its place", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.option_size = sizeof(pawl_option),
	.id = "audit",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "writes every decision, execution and session's end to the audit store",
	.options = options,
	.open = audit_open,
	.close = audit_close,
	.post_tool_use = audit_post_tool_use,
	.decided = audit_decided,
	.stop = audit_stop,
};

PAWL_PLUGIN("audit", "0.1.0", plugin)
