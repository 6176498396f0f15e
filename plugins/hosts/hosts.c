/* hosts.c - the rule "hosts": a URL argument's host is on a list.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  url.c reads the URL; here are the lists.
 */
#include <pawl/plugin.h>

#include "../common/rule.h"
#include "url.h"

#define PATTERNS_MAX 4096
#define SCHEMES_MAX 32
#define URLS_MAX 10000 /* in one array argument */

struct pattern {
	int port; /* PORT_NONE: any */
	char host[HOST_LEN_MAX + 1];
};

struct patterns {
	const pawl_value *given; /* as configured, for reasons; NULL: not given */
	struct pattern *list;
	size_t n;
};

struct hosts {
	const pawl_host *host;
	pawl_str pointer;
	struct patterns allow, deny;
	const pawl_value *schemes;
};

/* unknown: what to take where neither URL nor scheme tells the port. */
static bool patterns_hold(const struct patterns *patterns, const struct url *url, bool unknown)
{
	int port = url->port != PORT_NONE ? url->port : url_default_port(url->scheme);
	for (size_t i = 0; i < patterns->n; i++) {
		const struct pattern *p = &patterns->list[i];
		bool port_holds = p->port == PORT_NONE || p->port == port ||
				  (port == PORT_NONE && unknown);
		if (port_holds && host_glob(p->host, url->host))
			return true;
	}
	return false;
}

static int32_t refuse_host(const struct hosts *self, pawl_reply *reply, const struct url *url,
			   bool denied)
{
	struct say why = {0};
	say(&why, "'");
	say(&why, url->host);
	if (url->port != PORT_NONE && url->port != url_default_port(url->scheme)) {
		say(&why, ":");
		say_count(&why, (uint64_t)url->port);
	}
	say(&why, denied ? "' is on the list of denied hosts" : "' is not allowed");
	if (self->allow.given) {
		say(&why, "; allowed: ");
		say_list(&why, self->host, self->allow.given);
	} else {
		say(&why, "; allowed: all but ");
		say_list(&why, self->host, self->deny.given);
	}
	if (denied && self->allow.given) {
		say(&why, ", and of these none that is ");
		say_list(&why, self->host, self->deny.given);
	}
	return rule_says(self->host, reply, "hosts", PAWL_DENY, say_str(&why));
}

static int32_t refuse_text(const struct hosts *self, pawl_reply *reply, pawl_str text,
			   const char *wrong)
{
	struct say why = {0};
	say_value(&why, text);
	say(&why, wrong);
	return rule_says(self->host, reply, "hosts", PAWL_DENY, say_str(&why));
}

static int32_t refuse_scheme(const struct hosts *self, pawl_reply *reply, pawl_str text)
{
	struct say why = {0};
	say_value(&why, text);
	say(&why, " has no scheme that is allowed; write one of ");
	say_list(&why, self->host, self->schemes);
	say(&why, " and :// before the host");
	return rule_says(self->host, reply, "hosts", PAWL_DENY, say_str(&why));
}

static bool scheme_is_listed(const struct hosts *self, const char *scheme)
{
	pawl_str one;
	for (size_t i = 0; i < self->host->length(self->schemes); i++)
		if (self->host->string(self->host->item(self->schemes, i), &one) == 0 &&
		    text_is(one, scheme))
			return true;
	return false;
}

static int32_t check_url(const struct hosts *self, pawl_reply *reply, pawl_str text)
{
	struct url url;
	const char *wrong = url_read_scheme(text, &url);
	if (wrong)
		return refuse_text(self, reply, text, wrong);
	if (!scheme_is_listed(self, url.scheme))
		return refuse_scheme(self, reply, text);
	wrong = url_read_host(&url);
	if (wrong)
		return refuse_text(self, reply, text, wrong);
	if (patterns_hold(&self->deny, &url, true))
		return refuse_host(self, reply, &url, true);
	if (self->allow.given && !patterns_hold(&self->allow, &url, false))
		return refuse_host(self, reply, &url, false);
	return PAWL_ALLOW;
}

static int32_t refuse_argument(const struct hosts *self, pawl_reply *reply, const char *wrong)
{
	struct say why = {0};
	say_pointer(&why, self->pointer);
	say(&why, wrong);
	return rule_says(self->host, reply, "hosts", PAWL_DENY, say_str(&why));
}

static int32_t check_array(const struct hosts *self, pawl_reply *reply, const pawl_value *array)
{
	size_t n = self->host->length(array);
	pawl_str text;
	if (n == 0)
		return refuse_argument(self, reply, " has no URL in it; give at least one");
	if (n > URLS_MAX)
		return refuse_argument(self, reply, " has more than 10000 URLs; give fewer");
	for (size_t i = 0; i < n; i++) {
		if (self->host->string(self->host->item(array, i), &text) != 0)
			return refuse_argument(self, reply, " holds something that is not a URL; "
							    "give strings only");
		int32_t verdict = check_url(self, reply, text);
		if (verdict != PAWL_ALLOW)
			return verdict;
	}
	return PAWL_ALLOW;
}

static int32_t hosts_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct hosts *self = data;
	const pawl_host *host = self->host;
	const pawl_value *value = host->at(host->root(call, PAWL_R_ARGS), self->pointer);
	pawl_str text;
	if (!value)
		return refuse_argument(self, reply, " is missing; it must be a URL");
	if (host->type(value) == PAWL_ARRAY)
		return check_array(self, reply, value);
	if (host->string(value, &text) != 0)
		return refuse_argument(self, reply, " is not a URL; give a string");
	return check_url(self, reply, text);
}

static int32_t bad_entry(const pawl_host *host, const char *name, pawl_str entry, const char *wrong)
{
	struct say why = {0};
	say(&why, name);
	say(&why, ": ");
	say_value(&why, entry);
	say(&why, wrong);
	host->set_error(host, say_str(&why));
	return PAWL_E_OPTION;
}

static int32_t read_patterns(const pawl_host *host, const pawl_value *options, const char *name,
			     struct patterns *ret)
{
	ret->given = option(host, options, name);
	if (!ret->given)
		return 0;
	ret->n = host->length(ret->given);
	if (ret->n == 0 || ret->n > PATTERNS_MAX)
		return bad_entry(host, name, (pawl_str){"", 0},
				 ": takes 1 to 4096 hosts, such as a.example or *.example.com");
	ret->list = calloc(ret->n, sizeof(*ret->list));
	if (!ret->list)
		return PAWL_E_NOMEM;
	for (size_t i = 0; i < ret->n; i++) {
		struct pattern *pattern = &ret->list[i];
		pawl_str entry = {"", 0};
		host->string(host->item(ret->given, i), &entry);
		const char *wrong = memchr(entry.ptr, '/', entry.len)
					    ? " is not a host: leave out scheme and path"
					    : host_read(entry, true, pattern->host, &pattern->port);
		if (wrong)
			return bad_entry(host, name, entry, wrong);
	}
	return 0;
}

static int32_t read_schemes(struct hosts *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	self->schemes = option(host, options, "schemes");
	size_t n = host->length(self->schemes);
	if (n == 0 || n > SCHEMES_MAX)
		return option_error(host, "schemes: takes 1 to 32 of them, such as https");
	for (size_t i = 0; i < n; i++) {
		pawl_str scheme = {"", 0};
		host->string(host->item(self->schemes, i), &scheme);
		bool plain = scheme.len > 0 && scheme.len <= SCHEME_LEN_MAX &&
			     scheme.ptr[0] >= 'a' && scheme.ptr[0] <= 'z';
		for (size_t k = 0; plain && k < scheme.len; k++)
			plain = scheme.ptr[k] && strchr("abcdefghijklmnopqrstuvwxyz0123456789+-.",
							scheme.ptr[k]);
		if (!plain)
			return bad_entry(host, "schemes", scheme,
					 " is no scheme: lower case, without :, such as https");
	}
	return 0;
}

static void hosts_close(void *data)
{
	struct hosts *self = data;
	if (!self)
		return;
	free(self->allow.list);
	free(self->deny.list);
	free(self);
}

static int32_t hosts_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct hosts *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	int32_t e = option_pointer(host, options, "pointer", &self->pointer);
	if (e == 0)
		e = read_patterns(host, options, "allow", &self->allow);
	if (e == 0)
		e = read_patterns(host, options, "deny", &self->deny);
	if (e == 0)
		e = read_schemes(self, options);
	if (e == 0 && !self->allow.given && !self->deny.given)
		e = option_error(host, "no hosts: give allow, deny or both");
	if (e != 0) {
		hosts_close(self);
		return e;
	}
	*ret = self;
	return 0;
}

static const pawl_option hosts_options[] = {
	{"pointer", PAWL_OPT_STRING, 0, "\"/url\"", "JSON pointer to the URL, or an array of them",
	 NULL},
	{"allow", PAWL_OPT_STRINGS, 0, NULL,
	 "hosts that may be reached: api.example.com, *.example.com, host:8443", NULL},
	{"deny", PAWL_OPT_STRINGS, 0, NULL, "hosts that may not, whatever allow says", NULL},
	{"schemes", PAWL_OPT_STRINGS, 0, "[\"http\",\"https\"]", "schemes a URL may have", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin hosts_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "hosts",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "a URL argument's host is on a list",
	.options = hosts_options,
	.open = hosts_open,
	.close = hosts_close,
	.pre_tool_use = hosts_pre_tool_use,
};

PAWL_PLUGIN("hosts", "0.1.0", hosts_plugin)
