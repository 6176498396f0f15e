/* window.c - the rule "window": inside (or outside) a time window.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Local times of the zone's own clocks;
 * a window that ends before it begins goes over midnight and belongs to the day it
 * began on.  zone.c knows the zones.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "zone.h"

#define DAY_MINUTES 1440
#define DAYS_ALL 0x7fu

static const char *const day_names[7] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

struct window {
	const pawl_host *host;
	int from, to;  /* minutes of the day; to is not in it, and may be 24:00 */
	unsigned days; /* bit 0 is Monday */
	struct zone *zone;
	pawl_str from_text, to_text, zone_name;
	bool inside; /* whether the verdict is given inside */
	int32_t verdict;
	pawl_str reason;
};

struct local {
	int weekday; /* 0 is Monday */
	int minute;
};

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static struct local local_time(const struct window *self, int64_t now_ns)
{
	int64_t t = floor_div(now_ns, 1000000000);
	t += zone_offset(self->zone, t);
	int64_t days = floor_div(t, 86400);
	return (struct local){
		.weekday = (int)(((days + 3) % 7 + 7) % 7), /* 1970-01-01 was a Thursday */
		.minute = (int)((t - days * 86400) / 60),
	};
}

static bool has_day(const struct window *self, int weekday)
{
	return self->days >> weekday & 1;
}

static bool is_inside(const struct window *self, struct local now)
{
	if (self->from < self->to)
		return now.minute >= self->from && now.minute < self->to &&
		       has_day(self, now.weekday);
	if (now.minute >= self->from)
		return has_day(self, now.weekday);
	return now.minute < self->to && has_day(self, (now.weekday + 6) % 7);
}

/* 02:00 to 04:00 (Europe/Berlin) on mon, tue */
static void say_window(struct say *why, const struct window *self)
{
	say_escaped(why, self->from_text, 5);
	say(why, " to ");
	say_escaped(why, self->to_text, 5);
	say(why, " (");
	say_escaped(why, self->zone_name, ZONE_NAME_MAX);
	say(why, ")");
	const char *between = " on ";
	for (int i = 0; i < 7 && self->days != DAYS_ALL; i++) {
		if (!has_day(self, i))
			continue;
		say(why, between);
		say(why, day_names[i]);
		between = ", ";
	}
}

static int32_t speak(const struct window *self, pawl_reply *reply, struct local now)
{
	char clock[32];
	struct say why = {0};
	if (self->reason.ptr)
		return rule_says(self->host, reply, "window", self->verdict, self->reason);
	snprintf(clock, sizeof(clock), "%s %02d:%02d", day_names[now.weekday], now.minute / 60,
		 now.minute % 60);
	say(&why, "it is ");
	say(&why, clock);
	say(&why, self->verdict == PAWL_DENY ? ", and this is allowed only "
					     : ", and this runs without approval only ");
	say(&why, self->inside ? "outside " : "from ");
	say_window(&why, self);
	return rule_says(self->host, reply, "window", self->verdict, say_str(&why));
}

static int32_t window_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct window *self = data;
	int64_t now_ns = self->host->number(call, PAWL_N_NOW_NS);
	if (now_ns == INT64_MIN)
		return rule_says(self->host, reply, "window", PAWL_DENY,
				 str_lit("the time of this call is not known, so no time window "
					 "can be checked"));
	struct local now = local_time(self, now_ns);
	if (is_inside(self, now) != self->inside)
		return PAWL_ALLOW;
	return speak(self, reply, now);
}

static int32_t option_refused(const pawl_host *host, const char *name, pawl_str value,
			      const char *wrong)
{
	struct say why = {0};
	say(&why, name);
	say(&why, ": ");
	say_value(&why, value);
	say(&why, wrong);
	host->set_error(host, say_str(&why));
	return PAWL_E_OPTION;
}

static bool two_digits(const char *at, int max, int *ret)
{
	if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
		return false;
	*ret = (at[0] - '0') * 10 + at[1] - '0';
	return *ret <= max;
}

static int32_t read_clock(const pawl_host *host, const char *name, pawl_str text, int last,
			  int *ret)
{
	int hour = 0, minute = 0;
	bool well_formed = text.len == 5 && text.ptr[2] == ':' && two_digits(text.ptr, 24, &hour) &&
			   two_digits(text.ptr + 3, 59, &minute);
	*ret = hour * 60 + minute;
	if (well_formed && *ret <= last)
		return 0;
	return option_refused(host, name, text,
			      last == DAY_MINUTES ? " is not a time from 00:00 to 24:00"
						  : " is not a time from 00:00 to 23:59");
}

static int32_t read_days(struct window *self, const pawl_value *days)
{
	const pawl_host *host = self->host;
	self->days = days ? 0 : DAYS_ALL;
	if (days && host->length(days) == 0)
		return option_error(host, "days: takes at least one, such as mon");
	for (size_t i = 0; i < host->length(days); i++) {
		pawl_str day = {"", 0};
		int k = 0;
		host->string(host->item(days, i), &day);
		while (k < 7 && !text_is(day, day_names[k]))
			k++;
		if (k == 7)
			return option_refused(host, "days", day,
					      " is none of mon tue wed thu fri sat sun");
		self->days |= 1u << k;
	}
	return 0;
}

static int32_t read_times(struct window *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	self->from_text = option_text(host, options, "from");
	self->to_text = option_text(host, options, "to");
	int32_t e = read_clock(host, "from", self->from_text, DAY_MINUTES - 1, &self->from);
	if (e == 0)
		e = read_clock(host, "to", self->to_text, DAY_MINUTES, &self->to);
	if (e == 0 && self->from == self->to)
		e = option_error(host, "from and to are the same: a whole day is 00:00 to 24:00");
	if (e == 0)
		e = read_days(self, option(host, options, "days"));
	return e;
}

static int32_t read_options(struct window *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	int32_t e = read_times(self, options);
	if (e != 0)
		return e;
	self->inside = text_is(option_text(host, options, "when"), "inside");
	self->reason = option_text(host, options, "reason");
	self->verdict = verdict_of(host, option_text(host, options, "verdict"));
	if (self->verdict != PAWL_DENY && self->verdict != PAWL_REQUIRE_APPROVAL)
		return option_error(host, "verdict: takes deny or require_approval, as far as this "
					  "host offers them");
	self->zone_name = option_text(host, options, "timezone");
	if (!self->zone_name.ptr || strlen(self->zone_name.ptr) != self->zone_name.len)
		return option_error(host, "timezone: takes a zone name, such as Europe/Berlin");
	const char *wrong = zone_open(self->zone_name.ptr, &self->zone);
	return wrong ? option_refused(host, "timezone", self->zone_name, wrong) : 0;
}

static void window_close(void *data)
{
	struct window *self = data;
	if (!self)
		return;
	zone_close(self->zone);
	free(self);
}

static int32_t window_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct window *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = read_options(self, options);
	if (e != 0) {
		window_close(self);
		return e;
	}
	*ret = self;
	return 0;
}

static const pawl_option window_options[] = {
	{"from", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL, "when the window begins, HH:MM", NULL},
	{"to", PAWL_OPT_STRING, PAWL_OPTF_REQUIRED, NULL,
	 "when it has ended, HH:MM up to 24:00; before from: the next day", NULL},
	{"days", PAWL_OPT_STRINGS, 0, NULL, "days it begins on; all",
	 "mon|tue|wed|thu|fri|sat|sun"},
	{"timezone", PAWL_OPT_STRING, 0, "\"UTC\"", "zone of these times, such as Europe/Berlin",
	 NULL},
	{"when", PAWL_OPT_STRING, 0, "\"inside\"", "where the verdict is given", "inside|outside"},
	{"verdict", PAWL_OPT_STRING, 0, "\"deny\"", "what is said there", "deny|require_approval"},
	{"reason", PAWL_OPT_STRING, 0, NULL, "told to the model instead of the rule's own text",
	 NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin window_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "window",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "inside or outside a time window",
	.options = window_options,
	.open = window_open,
	.close = window_close,
	.pre_tool_use = window_pre_tool_use,
};

PAWL_PLUGIN("window", "0.1.0", window_plugin)
