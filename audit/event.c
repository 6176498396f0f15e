/* event.c - from a line to a struct event. */
#include <config.h>

#include "event.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#define LIMITS ((struct json_limits){CHAIN_LINE_MAX, JSON_VALUES_MAX, JSON_DEPTH_MAX})

/* Members of a line, and where they go. */
struct field {
	const char *name;
	size_t at;
};

static const struct field texts[] = {
	{"id", offsetof(struct event, id)},
	{"boot", offsetof(struct event, boot)},
	{"type", offsetof(struct event, type)},
	{"session", offsetof(struct event, session)},
	{"call", offsetof(struct event, call)},
	{"tool", offsetof(struct event, tool)},
	{"source", offsetof(struct event, source)},
	{"server", offsetof(struct event, server)},
	{"outcome", offsetof(struct event, outcome)},
	{"event", offsetof(struct event, event)},
	{"client", offsetof(struct event, client)},
	{"agent", offsetof(struct event, agent)},
	{"agent_type", offsetof(struct event, agent_type)},
	{"trust", offsetof(struct event, trust)},
	{"cwd", offsetof(struct event, cwd)},
	{"config", offsetof(struct event, config)},
	{"input_digest", offsetof(struct event, input_digest)},
	{"result_digest", offsetof(struct event, result_digest)},
};

static const struct field decision_texts[] = {
	{"verdict", offsetof(struct event, verdict)},
	{"reason", offsetof(struct event, reason)},
	{"rule", offsetof(struct event, rule)},
	{"plugin", offsetof(struct event, plugin)},
	{"refused_by", offsetof(struct event, refused_by)},
};

/* kept as bytes */
static const struct field raws[] = {
	{"input", offsetof(struct event, input)},
	{"input_given", offsetof(struct event, input_given)},
	{"result", offsetof(struct event, result)},
	{"trace", offsetof(struct event, trace)},
	{"data", offsetof(struct event, data)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct str *text_in(struct event *event, size_t at)
{
	return (struct str *)(void *)((char *)event + at);
}

static const struct json_value *get(const struct json_value *object, const char *name)
{
	return json_member(object, str_of(name));
}

static int64_t number_in(const struct json_value *root, const char *name)
{
	int64_t n;
	return json_integer(get(root, name), &n) == 0 ? n : INT64_MIN;
}

static int flag_in(const struct json_value *root, const char *name)
{
	int flag;
	return json_boolean(get(root, name), &flag) == 0 ? flag : 0;
}

static int digits_at(const char *text, size_t n)
{
	int number = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned)(text[i] - '0');
		if (digit > 9)
			return -1;
		number = number * 10 + (int)digit;
	}
	return number;
}

/* As a record of ours has it, "2026-11-30T07:26:29.764Z"; INT64_MIN for what is written
 * otherwise or is no day of the years that we write. */
static int64_t own_time(struct str text)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	const char *t = text.ptr;
	if (text.len != sizeof(form) - 1)
		return INT64_MIN;
	for (size_t i = 0; i < text.len; i++)
		if (form[i] != '0' && t[i] != form[i])
			return INT64_MIN;
	int year = digits_at(t, 4), month = digits_at(t + 5, 2), day = digits_at(t + 8, 2),
	    hour = digits_at(t + 11, 2), minute = digits_at(t + 14, 2),
	    second = digits_at(t + 17, 2), ms = digits_at(t + 20, 3);
	/* every fourth year is a leap year here */
	if (year < 1970 || year > 2099 || month < 1 || month > 12 || day < 1 || hour < 0 ||
	    minute < 0 || second < 0 || ms < 0)
		return INT64_MIN;
	int leap = year % 4 == 0;
	if (day > before[month] - before[month - 1] + (leap && month == 2))
		return INT64_MIN;
	int64_t days = (year - 1970) * 365 + (year - 1969) / 4 + before[month - 1] +
		       (leap && month > 2) + day - 1;
	return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms;
}

int64_t event_time(struct str text)
{
	struct tm tm = {0};
	char buf[32], zone = 'Z';
	int ms = 0, used = 0;
	int64_t own = own_time(text);
	if (own != INT64_MIN)
		return own;
	if (text.len == 0 || text.len >= sizeof(buf))
		return INT64_MIN;
	memcpy(buf, text.ptr, text.len);
	buf[text.len] = '\0';
	if (sscanf(buf, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &used) != 3)
		return INT64_MIN;
	const char *rest = buf + used;
	if (*rest != '\0') {
		used = -1;
		if (sscanf(rest, "T%2d:%2d:%2d.%3d%c%n", &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms,
			   &zone, &used) != 5 &&
		    (ms = 0, sscanf(rest, "T%2d:%2d:%2d%c%n", &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
				    &zone, &used) != 4))
			return INT64_MIN;
		if (zone != 'Z' || used < 0 || rest[used] != '\0')
			return INT64_MIN;
	}
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000 + ms;
}

int event_read(struct json_arena *arena, struct str line, struct event *ret, struct error *err)
{
	*ret = (struct event){.line = line};
	if (!chain_read(line, &ret->chain))
		return error_set(err, EBADMSG, "not framed as a record");
	int r = json_parse(arena, line, LIMITS, JSON_BORROW, &ret->root, NULL, err);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	for (size_t i = 0; i < COUNT(texts); i++)
		(void)json_string(get(ret->root, texts[i].name), text_in(ret, texts[i].at));
	const struct json_value *decision = get(ret->root, "decision");
	for (size_t i = 0; i < COUNT(decision_texts); i++)
		(void)json_string(get(decision, decision_texts[i].name),
				  text_in(ret, decision_texts[i].at));
	for (size_t i = 0; i < COUNT(raws); i++)
		*text_in(ret, raws[i].at) = json_raw(get(ret->root, raws[i].name));
	struct str ts = {0};
	(void)json_string(get(ret->root, "ts"), &ts);
	ret->ts_ms = event_time(ts);
	ret->mono_ns = number_in(ret->root, "mono_ns");
	const struct json_value *aside = get(ret->root, "aside");
	ret->aside_at = number_in(aside, "at");
	ret->aside_len = number_in(aside, "len");
	if (ret->aside_at < 0 || ret->aside_len < 0 || ret->aside_len > (int64_t)CHAIN_LINE_MAX)
		ret->aside_at = ret->aside_len = 0;
	ret->sseq = number_in(ret->root, "sseq");
	ret->duration_ns = number_in(ret->root, "duration_ns");
	ret->call_made = flag_in(ret->root, "call_made");
	ret->is_error = flag_in(ret->root, "is_error");
	ret->substituted = flag_in(ret->root, "substituted");
	if (!ret->type.ptr || !ret->id.ptr || ret->ts_ms == INT64_MIN)
		return error_set(err, EBADMSG, "no id, type or time");
	return 0;
}
