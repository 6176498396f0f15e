/* test-plugins.c - runs the case files of the plugins that come along.
 *
 * Each plugins/NAME/NAME.cases is asked of lib/pawl/plugins/NAME.so through a host
 * table on host/json; one TAP line a case.  A file is blocks with blank lines between
 * them, a line is "key: value", # begins a comment line:
 *
 *	options: JSON		stays for the following blocks, until the next one
 *	case: TEXT		begins a case: what it shows
 *	args: JSON		default {}
 *	context: JSON  meta: JSON	default: the call has none
 *	session: TEXT  run: TEXT	default: absent
 *	now: 2026-11-29T03:00:00Z	default: absent
 *	round: N		default 0
 *	features: none		the host offers no approval and no substitute
 *	lock: NAME=TEXT		a file in @DIR@, a folder of the case's own; more than one
 *				may be given; NAME/ makes a folder, NAME@ a dangling link
 *	open: TEXT		open refuses these options, and its error holds TEXT
 *	expect: allow|deny|require_approval|substitute
 *	reason: TEXT		the reason holds TEXT; more than one may be given
 *	reason-is: TEXT		the reason is TEXT
 *	result: JSON		byte for byte
 *	args-after: JSON	byte for byte; default: as they were
 *	edits: N		how many were made, applied or not
 *
 * Where edits were made in round 0, the final arguments are asked about in round 1,
 * and must be allowed without an edit: a rewrite has to agree with itself.
 *
 * At the end, the window's own reading of time zones is compared with libc's.
 */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pawl/plugin.h>

#include "../../plugins/window/zone.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "json/json.h"

#define CASE_FILE_MAX ((size_t)1 << 20)
#define REASONS_MAX 8
#define LOCKS_MAX 8

static const char *const plugin_names[] = {
	"annotations",	 "hosts",	    "limit",   "lockdown",
	"match-context", "require-context", "rewrite", "window",
};

/* ---- the host the plugins see -------------------------------------------------- */

struct pawl_call {
	const struct json_value *roots[PAWL_R_SESSION + 1];
	struct str session, run;
	int64_t now_ns, round;
};

struct pawl_reply {
	struct json_arena *arena;
	const struct json_value *args; /* as edited */
	char rule[64], reason[8192], result[4096];
	int edits;
	bool failed;
};

static char error_text[4096];

static struct str in(pawl_str text)
{
	return (struct str){text.ptr, text.len};
}

static pawl_str out(struct str text)
{
	return (pawl_str){text.ptr, text.len};
}

static const struct json_value *json(const pawl_value *value)
{
	return (const struct json_value *)value;
}

static const pawl_value *plugin_value(const struct json_value *value)
{
	return (const pawl_value *)value;
}

static void keep(char *to, size_t size, pawl_str text)
{
	size_t len = text.len < size ? text.len : size - 1;
	if (len > 0)
		memcpy(to, text.ptr, len);
	to[len] = '\0';
}

static void host_log(const pawl_host *host, int32_t level, pawl_str message)
{
	(void)host, (void)level, (void)message;
}

static void host_set_error(const pawl_host *host, pawl_str message)
{
	(void)host;
	keep(error_text, sizeof(error_text), message);
}

static pawl_str host_text(const pawl_call *call, int32_t field)
{
	if (field == PAWL_T_SESSION)
		return out(call->session);
	if (field == PAWL_T_RUN)
		return out(call->run);
	return (pawl_str){NULL, 0};
}

static int64_t host_number(const pawl_call *call, int32_t field)
{
	if (field == PAWL_N_NOW_NS)
		return call->now_ns;
	return field == PAWL_N_ROUND ? call->round : INT64_MIN;
}

static const pawl_value *host_root(const pawl_call *call, int32_t which)
{
	return which >= 0 && which <= PAWL_R_SESSION ? plugin_value(call->roots[which]) : NULL;
}

static int32_t host_type(const pawl_value *value)
{
	return (int32_t)json_type(json(value));
}

static size_t host_length(const pawl_value *value)
{
	return json_length(json(value));
}

static const pawl_value *host_member(const pawl_value *value, pawl_str key)
{
	return plugin_value(json_member(json(value), in(key)));
}

static const pawl_value *host_item(const pawl_value *value, size_t index)
{
	return plugin_value(json_item(json(value), index));
}

static const pawl_value *host_at(const pawl_value *value, pawl_str pointer)
{
	return plugin_value(json_at(json(value), in(pointer)));
}

static pawl_str host_key(const pawl_value *value, size_t index, const pawl_value **ret)
{
	const struct json_value *member = NULL;
	struct str key = json_key(json(value), index, &member);
	*ret = plugin_value(member);
	return out(key);
}

static int32_t host_string(const pawl_value *value, pawl_str *ret)
{
	struct str text;
	if (json_string(json(value), &text) < 0)
		return PAWL_E_TYPE;
	*ret = out(text);
	return 0;
}

static int32_t host_integer(const pawl_value *value, int64_t *ret)
{
	return json_integer(json(value), ret) < 0 ? PAWL_E_TYPE : 0;
}

static int32_t host_real(const pawl_value *value, double *ret)
{
	return json_real(json(value), ret) < 0 ? PAWL_E_TYPE : 0;
}

static int32_t host_boolean(const pawl_value *value, int32_t *ret)
{
	int yes;
	if (json_boolean(json(value), &yes) < 0)
		return PAWL_E_TYPE;
	*ret = yes;
	return 0;
}

static pawl_str host_json(const pawl_value *value)
{
	return out(json_raw(json(value)));
}

static void host_reason(pawl_reply *reply, pawl_str rule, pawl_str why)
{
	keep(reply->rule, sizeof(reply->rule), rule);
	keep(reply->reason, sizeof(reply->reason), why);
}

static int32_t host_result(pawl_reply *reply, pawl_str text, int32_t is_error)
{
	(void)is_error;
	keep(reply->result, sizeof(reply->result), text);
	return 0;
}

static void host_approval(pawl_reply *reply, pawl_str instructions, int64_t timeout_ns)
{
	(void)reply, (void)instructions, (void)timeout_ns;
}

static int32_t edited(pawl_reply *reply, int r, const struct json_value *args)
{
	reply->edits++;
	if (r < 0) {
		reply->failed = true;
		return PAWL_E_FAIL;
	}
	reply->args = args;
	return 0;
}

static int32_t host_set_at(pawl_reply *reply, pawl_str pointer, pawl_str text)
{
	const struct json_value *args = NULL;
	int r = json_set_at(reply->arena, reply->args, in(pointer), in(text), JSON_DEFAULT_LIMITS,
			    &args, NULL);
	return edited(reply, r, args);
}

static int32_t host_remove_at(pawl_reply *reply, pawl_str pointer)
{
	const struct json_value *args = NULL;
	int r = json_remove_at(reply->arena, reply->args, in(pointer), JSON_DEFAULT_LIMITS, &args,
			       NULL);
	return edited(reply, r, args);
}

static int32_t host_set_args(pawl_reply *reply, pawl_str text)
{
	return host_set_at(reply, (pawl_str){"", 0}, text);
}

static void host_grant(pawl_reply *reply)
{
	(void)reply;
}

static void host_tell(pawl_reply *reply, pawl_str text)
{
	(void)reply, (void)text;
}

static void host_note(pawl_reply *reply, pawl_str key, pawl_str value)
{
	(void)reply, (void)key, (void)value;
}

static const void *host_interface(const pawl_host *host, const char *id)
{
	(void)host, (void)id;
	return NULL;
}

static const pawl_host host_table = {
	.struct_size = sizeof(pawl_host),
	.abi_minor = PAWL_ABI_MINOR,
	.features = PAWL_FEAT_REWRITE | PAWL_FEAT_APPROVAL | PAWL_FEAT_SUBSTITUTE,
	.log = host_log,
	.set_error = host_set_error,
	.text = host_text,
	.number = host_number,
	.root = host_root,
	.type = host_type,
	.length = host_length,
	.member = host_member,
	.item = host_item,
	.at = host_at,
	.key = host_key,
	.string = host_string,
	.integer = host_integer,
	.real = host_real,
	.boolean = host_boolean,
	.json = host_json,
	.reason = host_reason,
	.result = host_result,
	.approval = host_approval,
	.set_args = host_set_args,
	.set_at = host_set_at,
	.remove_at = host_remove_at,
	.grant = host_grant,
	.tell = host_tell,
	.note = host_note,
	.interface = host_interface,
};

/* ---- options, checked and defaulted as the host does it --------------------------- */

static bool type_fits(const pawl_option *option, const struct json_value *value)
{
	int64_t integer;
	switch (option->type) {
	case PAWL_OPT_STRING:
	case PAWL_OPT_PATH:
		return json_type(value) == JSON_STRING;
	case PAWL_OPT_INTEGER:
		return json_integer(value, &integer) == 0;
	case PAWL_OPT_BOOLEAN:
		return json_type(value) == JSON_BOOL;
	case PAWL_OPT_NUMBER:
		return json_type(value) == JSON_NUMBER;
	case PAWL_OPT_STRINGS:
		for (size_t i = 0; i < json_length(value); i++)
			if (json_type(json_item(value, i)) != JSON_STRING)
				return false;
		return json_type(value) == JSON_ARRAY;
	default:
		return option->type == PAWL_OPT_JSON;
	}
}

static bool is_choice(const char *choices, struct str value)
{
	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (str_equal((struct str){at, strcspn(at, "|")}, value))
			return true;
	return false;
}

static const pawl_option *find_option(const pawl_plugin *plugin, struct str name)
{
	for (const pawl_option *o = plugin->options; o && o->name; o++)
		if (str_is(name, o->name))
			return o;
	return NULL;
}

static bool option_refused(const char *what, const char *name)
{
	snprintf(error_text, sizeof(error_text), "option %s: %s", name, what);
	return false;
}

static bool check_option(const pawl_option *option, const struct json_value *value)
{
	struct str text;
	if (!type_fits(option, value))
		return option_refused("another type", option->name);
	if (option->choices && option->type == PAWL_OPT_STRING &&
	    json_string(value, &text) == 0 && !is_choice(option->choices, text))
		return option_refused("no such choice", option->name);
	return true;
}

/* The object open gets; false with error_text. */
static bool complete_options(struct json_arena *arena, const pawl_plugin *plugin,
			     const struct json_value *given, const struct json_value **ret)
{
	struct str name;
	const struct json_value *value = NULL, *whole = given;
	for (size_t i = 0; i < json_length(given); i++) {
		name = json_key(given, i, &value);
		const pawl_option *option = find_option(plugin, name);
		if (!option)
			return option_refused("unknown", name.ptr);
		if (!check_option(option, value))
			return false;
	}
	for (const pawl_option *o = plugin->options; o && o->name; o++) {
		char pointer[80];
		if (json_member(given, str_of(o->name)))
			continue;
		if (o->flags & PAWL_OPTF_REQUIRED)
			return option_refused("required", o->name);
		snprintf(pointer, sizeof(pointer), "/%s", o->name);
		if (o->fallback &&
		    json_set_at(arena, whole, str_of(pointer), str_of(o->fallback),
				JSON_DEFAULT_LIMITS, &whole, NULL) < 0)
			return option_refused("its default is not JSON", o->name);
	}
	*ret = whole;
	return true;
}

/* ---- one case ---------------------------------------------------------------------- */

struct one {
	const char *title, *options, *args, *context, *meta, *session, *run, *now, *round;
	const char *features, *open, *expect, *reason_is, *result, *args_after, *edits;
	const char *reasons[REASONS_MAX], *locks[LOCKS_MAX];
	size_t n_reasons, n_locks;
	int line;
};

struct run {
	const char *name;   /* the plugin's */
	const pawl_plugin *plugin;
	struct json_arena *arena;
	char dir[256];
	char file[512];
	bool seen_allow, seen_other, seen_open;
};

static int tests, failures;

static bool result(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool result(bool ok, const char *format, ...)
{
	va_list ap;
	printf("%s %d - ", ok ? "ok" : "not ok", ++tests);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	failures += !ok;
	return ok;
}

static char failure[20000];

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool fail(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(failure, sizeof(failure), format, ap);
	va_end(ap);
	return false;
}

static const struct json_value *parse(const struct run *run, const char *text, const char *what)
{
	const struct json_value *value = NULL;
	struct error err;
	if (text && json_parse(run->arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &value, NULL,
			       &err) < 0)
		fail("%s is not JSON: %s", what, err.text);
	return value;
}

/* text with @DIR@ replaced; the caller's to free */
static char *with_dir(const struct run *run, const char *text)
{
	const char *mark = strstr(text, "@DIR@");
	char *whole = NULL;
	int n = mark ? asprintf(&whole, "%.*s%s%s", (int)(mark - text), text, run->dir, mark + 5)
		     : asprintf(&whole, "%s", text);
	return n < 0 ? NULL : whole;
}

static void lock_path(const struct run *run, const char *lock, char path[1024])
{
	snprintf(path, 1024, "%s/%.*s", run->dir, (int)strcspn(lock, "=/@"), lock);
}

static bool make_lock(const struct run *run, const char *lock)
{
	char path[1024], kind = lock[strcspn(lock, "=/@")];
	lock_path(run, lock, path);
	if (kind == '/')
		return mkdir(path, 0700) == 0;
	if (kind == '@')
		return symlink("nowhere", path) == 0;
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *text = kind == '=' ? strchr(lock, '=') + 1 : "";
	for (; fd >= 0 && *text; text++) { /* \n and \xNN as written in the case */
		unsigned byte = (unsigned char)*text;
		if (strncmp(text, "\\n", 2) == 0) {
			byte = '\n';
			text++;
		} else if (sscanf(text, "\\x%2x", &byte) == 1) {
			text += 3;
		}
		unsigned char c = (unsigned char)byte;
		if (write(fd, &c, 1) != 1)
			return false;
	}
	return fd >= 0;
}

static void remove_locks(const struct run *run, const struct one *one)
{
	char path[1024];
	for (size_t i = 0; i < one->n_locks; i++) {
		lock_path(run, one->locks[i], path);
		if (unlink(path) != 0)
			rmdir(path);
	}
}

static int64_t read_now(const char *text)
{
	struct tm tm = {.tm_isdst = 0};
	if (!text || sscanf(text, "%d-%d-%dT%d:%d:%dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
			    &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return INT64_MIN;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000000000;
}

static const char *verdict_name(int32_t verdict)
{
	static const char *const names[] = {"error", "allow", "deny", "require_approval",
					    "substitute"};
	return names[verdict > 0 && verdict <= PAWL_SUBSTITUTE ? verdict : 0];
}

static bool is_clean(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return false;
	return true;
}

static bool check_reply(const struct run *run, const struct one *one, int32_t verdict,
			const pawl_reply *reply)
{
	if (strcmp(verdict_name(verdict), one->expect) != 0)
		return fail("expected %s, got %s (%d): %s", one->expect, verdict_name(verdict),
			    (int)verdict, reply->reason);
	if (verdict != PAWL_ALLOW && (reply->reason[0] == '\0' || strcmp(reply->rule, run->name)))
		return fail("no reason, or rule \"%s\"", reply->rule);
	if (!is_clean(reply->reason))
		return fail("control characters in the reason: %s", reply->reason);
	for (size_t i = 0; i < one->n_reasons; i++)
		if (!strstr(reply->reason, one->reasons[i]))
			return fail("\"%s\" is not in the reason: %s", one->reasons[i],
				    reply->reason);
	if (one->reason_is && strcmp(one->reason_is, reply->reason) != 0)
		return fail("the reason is: %s", reply->reason);
	if (one->result && strcmp(one->result, reply->result) != 0)
		return fail("the result is: %s", reply->result);
	if (one->edits && atoi(one->edits) != reply->edits)
		return fail("%d edits", reply->edits);
	return reply->failed ? fail("an edit failed") : true;
}

static bool check_args(const struct one *one, const struct json_value *args)
{
	const char *want = one->args_after ? one->args_after : one->args ? one->args : "{}";
	struct str have = json_raw(args);
	return str_is(have, want) ? true : fail("the arguments are %.*s", STR_FMT(have));
}

/* Asked again about its own rewrite, it must be content. */
static bool check_second_round(const struct run *run, void *self, pawl_call *call,
			       const pawl_reply *first)
{
	pawl_reply *reply = calloc(1, sizeof(*reply));
	if (!reply)
		return fail("out of memory");
	reply->arena = run->arena;
	reply->args = first->args;
	call->roots[PAWL_R_ARGS] = first->args;
	call->round = 1;
	int32_t verdict = run->plugin->pre_tool_use(self, call, reply);
	bool ok = verdict == PAWL_ALLOW && reply->edits == 0;
	if (!ok)
		fail("in round 1 it says %s (%d edits): %s", verdict_name(verdict), reply->edits,
		     reply->reason);
	free(reply);
	return ok;
}

static bool ask(struct run *run, const struct one *one, void *self)
{
	failure[0] = '\0';
	pawl_call call = {
		.session = str_of(one->session),
		.run = str_of(one->run),
		.now_ns = read_now(one->now),
		.round = one->round ? atoi(one->round) : 0,
	};
	call.roots[PAWL_R_ARGS] = parse(run, one->args ? one->args : "{}", "args");
	call.roots[PAWL_R_ARGS_GIVEN] = call.roots[PAWL_R_ARGS];
	call.roots[PAWL_R_CONTEXT] = parse(run, one->context, "context");
	call.roots[PAWL_R_META] = parse(run, one->meta, "meta");
	if (failure[0] != '\0')
		return false;
	pawl_reply *reply = calloc(1, sizeof(*reply));
	if (!reply)
		return fail("out of memory");
	reply->arena = run->arena;
	reply->args = call.roots[PAWL_R_ARGS];
	int32_t verdict = run->plugin->pre_tool_use(self, &call, reply);
	run->seen_allow |= verdict == PAWL_ALLOW;
	run->seen_other |= verdict > PAWL_ALLOW;
	bool ok = check_reply(run, one, verdict, reply) &&
		  check_args(one, call.round == 0 ? reply->args : call.roots[PAWL_R_ARGS]);
	if (ok && call.round == 0 && reply->edits > 0)
		ok = check_second_round(run, self, &call, reply);
	free(reply);
	return ok;
}

/* Opens with the case's options; *ret_self NULL where they were refused. */
static bool open_self(struct run *run, const struct one *one, const pawl_host *host,
		      void **ret_self)
{
	_cleanup_free_ char *text = with_dir(run, one->options ? one->options : "{}");
	const struct json_value *options = parse(run, text, "options");
	error_text[0] = '\0';
	*ret_self = NULL;
	if (!options)
		return false;
	if (complete_options(run->arena, run->plugin, options, &options)) {
		int32_t e = run->plugin->open(host, plugin_value(options), ret_self);
		if ((e != 0) == (*ret_self != NULL))
			return fail("open gives %d, but %s", (int)e, *ret_self ? "a self" : "none");
		if (e != 0 && e != PAWL_E_OPTION)
			return fail("open gives %d", (int)e);
	}
	if (!one->open)
		return *ret_self ? true : fail("open refuses: %s", error_text);
	run->seen_open = true;
	if (*ret_self)
		return fail("open takes these options");
	return strstr(error_text, one->open) && is_clean(error_text)
		       ? true
		       : fail("open says: %s", error_text);
}

static bool run_case(struct run *run, const struct one *one)
{
	size_t mark = json_arena_mark(run->arena);
	pawl_host host = host_table;
	void *self = NULL;
	bool ok = true;
	if (one->features)
		host.features = 0;
	for (size_t i = 0; i < one->n_locks; i++)
		ok = ok && (make_lock(run, one->locks[i]) || fail("lock: %s", strerror(errno)));
	ok = ok && open_self(run, one, &host, &self);
	if (ok && !one->open)
		ok = one->expect ? ask(run, one, self) : fail("nothing is expected");
	if (self && run->plugin->close)
		run->plugin->close(self);
	remove_locks(run, one);
	json_arena_rewind(run->arena, mark);
	return ok;
}

/* ---- the case file -------------------------------------------------------------------- */

static bool add_to(const char *list[], size_t *n, size_t max, const char *value)
{
	if (*n == max)
		return fail("too many of one key");
	list[(*n)++] = value;
	return true;
}

static bool read_line(struct one *one, char *line)
{
	const struct {
		const char *key;
		const char **place;
	} keys[] = {
		{"options", &one->options}, {"case", &one->title},	 {"args", &one->args},
		{"context", &one->context}, {"meta", &one->meta},	 {"session", &one->session},
		{"run", &one->run},	    {"now", &one->now},		 {"round", &one->round},
		{"features", &one->features}, {"open", &one->open},	 {"expect", &one->expect},
		{"reason-is", &one->reason_is}, {"result", &one->result},
		{"args-after", &one->args_after}, {"edits", &one->edits},
	};
	char *value = strchr(line, ':');
	if (!value)
		return fail("no key: %s", line);
	*value++ = '\0';
	value += *value == ' ';
	if (strcmp(line, "reason") == 0)
		return add_to(one->reasons, &one->n_reasons, REASONS_MAX, value);
	if (strcmp(line, "lock") == 0)
		return add_to(one->locks, &one->n_locks, LOCKS_MAX, value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(line, keys[i].key) != 0)
			continue;
		*keys[i].place = value;
		return true;
	}
	return fail("no such key: %s", line);
}

static void end_block(struct run *run, struct one *one, bool readable)
{
	if (one->title || !readable) {
		bool ok = readable && run_case(run, one);
		result(ok, "%s: %s", run->name, one->title ? one->title : "block");
		if (!ok)
			printf("# %s:%d: %s\n", run->file, one->line, failure);
	}
	*one = (struct one){.options = one->options};
}

static void run_blocks(struct run *run, char *text)
{
	struct one one = {.line = 0};
	bool readable = true;
	int number = 0;
	for (char *line = text; line;) {
		char *next = strchr(line, '\n');
		number++;
		if (next)
			*next++ = '\0';
		if (line[0] == '\0') {
			end_block(run, &one, readable);
			readable = true;
		} else if (line[0] != '#') {
			if (one.line == 0)
				one.line = number;
			readable = read_line(&one, line) && readable;
		}
		line = next;
	}
	end_block(run, &one, readable);
}

static char *read_file(const char *path, size_t *ret_len)
{
	char *text = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_all(fd, CASE_FILE_MAX, &text, ret_len, NULL) < 0)
		return NULL;
	return text;
}

/* Every option stands in the cases and, as an item of its own, in the page. */
static void check_coverage(const struct run *run, const char *cases, const char *page)
{
	char item[96], quoted[96];
	bool ok = true;
	for (const pawl_option *o = run->plugin->options; o->name; o++) {
		snprintf(item, sizeof(item), ".It Cm %s", o->name);
		snprintf(quoted, sizeof(quoted), "\"%s\":", o->name);
		if (!strstr(cases, quoted) || !page || !strstr(page, item)) {
			printf("# option %s is not in %s\n", o->name,
			       strstr(cases, quoted) ? "the page" : "the cases");
			ok = false;
		}
	}
	result(ok, "%s: cases and page have every option", run->name);
	result(run->seen_allow && run->seen_other && run->seen_open,
	       "%s: cases of allow, of refusal and of a bad option", run->name);
}

static void run_plugin(struct run *run, const char *source, const char *build)
{
	char path[512];
	size_t len;
	snprintf(path, sizeof(path), "%s/lib/pawl/plugins/%s.so", build, run->name);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	pawl_plugin_entry entry = NULL;
	if (handle)
		*(void **)&entry = dlsym(handle, "pawl_plugin_entry_0");
	if (!result(entry != NULL, "%s: loads", run->name)) {
		printf("# %s\n", dlerror());
		return;
	}
	run->plugin = entry(&host_table);
	result(strcmp(run->plugin->id, run->name) == 0 && run->plugin->pre_tool_use,
	       "%s: is what its name says", run->name);
	snprintf(run->file, sizeof(run->file), "%s/plugins/%s/%s.cases", source, run->name,
		 run->name);
	snprintf(path, sizeof(path), "%s/plugins/%s/pawl-%s.8", source, run->name, run->name);
	_cleanup_free_ char *cases = read_file(run->file, &len);
	_cleanup_free_ char *page = read_file(path, &len);
	if (!result(cases != NULL, "%s: has a case file", run->name))
		return;
	_cleanup_free_ char *work = strdup(cases);
	if (work)
		run_blocks(run, work);
	check_coverage(run, cases, page);
}

/* ---- time zones ------------------------------------------------------------------------- */

static long zone_differences(const struct zone *zone, int64_t from, int64_t to, int64_t step)
{
	long differences = 0;
	for (int64_t at = from; at < to; at += step) {
		for (int64_t t = at - 1; t <= at; t++) {
			time_t now = (time_t)t;
			struct tm tm;
			if (localtime_r(&now, &tm))
				differences += tm.tm_gmtoff != zone_offset(zone, t);
		}
	}
	return differences;
}

static void check_zone(const char *name)
{
	struct zone *zone = NULL;
	const char *wrong = zone_open(name, &zone);
	if (wrong) {
		printf("ok %d - zone %s # SKIP it%s\n", ++tests, name, wrong);
		return;
	}
	setenv("TZ", name, 1);
	tzset();
	/* both sides of every half hour of 2034 to 2040, where listed switches end and
	 * the rule takes over; 1930 to 2065 in steps that hit any time of day */
	long differences = zone_differences(zone, 2019686400, 2240611200, 1800) +
			   zone_differences(zone, -1262304000, 3000000000, 80021);
	unsetenv("TZ");
	tzset();
	result(differences == 0, "zone %s is read as libc reads it", name);
	if (differences > 0)
		printf("# %ld times differ\n", differences);
	zone_close(zone);
}

int main(int argc, char **argv)
{
	/* what is odd about each: both halves of the world, half-hour and negative
	 * summer time, rules that ended, times of day below 0 and past 24 */
	static const char *const zones[] = {"UTC", "Europe/Dublin", "Australia/Lord_Howe",
					    "Africa/Casablanca", "America/Nuuk", "Asia/Gaza"};
	const char *source = getenv("abs_top_srcdir"), *build = getenv("abs_top_builddir");
	struct error err;
	struct run run = {.dir = "/tmp/pawl-test-plugins-XXXXXX"};
	if (!source || !build || !mkdtemp(run.dir)) {
		printf("1..0 # SKIP abs_top_srcdir and abs_top_builddir are not set\n");
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (json_arena_new(JSON_ARENA_DEFAULT, &run.arena, &err) < 0) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < sizeof(plugin_names) / sizeof(plugin_names[0]); i++) {
		run.name = plugin_names[i];
		run.seen_allow = run.seen_other = run.seen_open = false;
		if (argc < 2 || strcmp(argv[1], run.name) == 0)
			run_plugin(&run, source, build);
	}
	for (size_t i = 0; argc < 2 && i < sizeof(zones) / sizeof(zones[0]); i++)
		check_zone(zones[i]);
	json_arena_free(run.arena);
	rmdir(run.dir);
	printf("1..%d\n", tests);
	return failures > 0;
}
