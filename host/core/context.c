/* context.c - the trusted facts about a session, built by the host and nobody else.
 *
 * Constants from the config, the user database, and files checked like the config. They
 * are read once a process; the bytes of a file are pinned at the session's first event,
 * and a session whose file changed is refused until it is reset, so that a fact cannot
 * move under a running session in either direction. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "core/host.h"
#include "core/state.h"
#include "core/trust.h"

#define FACT_FILE_MAX (64 * 1024)
#define CONTEXT_MAX ((size_t)1 << 20)
#define ENVIRONMENT_MAX ((size_t)4 << 20)

struct fact_pin {
	struct str name, content;
};

static int put_text(struct buffer *out, struct json_arena *arena, const char *text)
{
	buffer_add(out, json_quote(arena, str_of(text)));
	return 0;
}

static int put_number(struct buffer *out, unsigned long number)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lu", number);
	buffer_add(out, (struct str){text, (size_t)n});
	return 0;
}

static int os_fact(const struct config_fact *fact, struct buffer *out, struct json_arena *arena,
		   struct error *err)
{
	if (str_is(fact->argument, "uid"))
		return put_number(out, geteuid());
	if (str_is(fact->argument, "gid"))
		return put_number(out, getegid());
	if (str_is(fact->argument, "hostname")) {
		char name[HOST_NAME_MAX + 1] = "";
		if (gethostname(name, sizeof(name) - 1) != 0)
			return error_set(err, errno, "the host's name: %s", strerror(errno));
		return put_text(out, arena, name);
	}
	const struct passwd *user = getpwuid(geteuid());
	if (!user)
		return error_set(err, ENOENT, "user %lu is not in the user database",
				 (unsigned long)geteuid());
	return put_text(out, arena, str_is(fact->argument, "home") ? user->pw_dir : user->pw_name);
}

/* NAME.json holds any JSON; another file is a text, without the newline at its end. */
static int file_fact(struct host *host, const struct config_fact *fact, struct buffer *out,
		     struct error *err)
{
	struct json_arena *arena = host->options_arena;
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r = trust_open(fact->argument.ptr, FACT_FILE_MAX, &fd, NULL, err);
	if (r == 0)
		r = io_read_all(fd, FACT_FILE_MAX, &bytes, &len, err);
	if (r < 0)
		return r;
	struct str content = json_arena_text(arena, (struct str){bytes, len});
	host->pins[host->n_pins++] = (struct fact_pin){fact->name, content};
	struct str name = fact->argument;
	if (name.len > 5 && memcmp(name.ptr + name.len - 5, ".json", 5) == 0) {
		const struct json_value *value;
		struct json_fault at;
		r = json_parse(arena, content, JSON_DEFAULT_LIMITS, 0, &value, &at, err);
		if (r < 0) {
			error_prefix(err, "%s:%u:%u", name.ptr, at.line, at.column);
			return r;
		}
		content = json_raw(value);
	} else {
		if (content.len > 0 && content.ptr[content.len - 1] == '\n')
			content.len--;
		content = json_quote(arena, content);
	}
	buffer_add(out, content);
	return 0;
}

/* A worker's own environment holds nothing of the client's, so the variable is looked up
 * in the process that was started with it. */
static int env_fact(struct host *host, const struct config_fact *fact, struct buffer *out,
		    struct error *err)
{
	char path[64];
	_cleanup_free_ char *bytes = NULL;
	size_t len, name = fact->argument.len;
	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)host->environment_of);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	int r = io_read_all(fd, ENVIRONMENT_MAX, &bytes, &len, err);
	if (r < 0)
		return r;
	for (const char *at = bytes; at < bytes + len; at += strlen(at) + 1) {
		if (strncmp(at, fact->argument.ptr, name) != 0 || at[name] != '=')
			continue;
		return put_text(out, host->options_arena, at + name + 1);
	}
	return error_set(err, ENOENT, "environment variable %s is not set", fact->argument.ptr);
}

static int add_fact(struct host *host, const struct config_fact *fact, struct buffer *out,
		    struct error *err)
{
	buffer_add(out, json_quote(host->options_arena, fact->name));
	buffer_add(out, STR(":"));
	int r = 0;
	switch (fact->kind) {
	case FACT_CONSTANT:
		buffer_add(out, json_raw(fact->constant));
		break;
	case FACT_OS:
		r = os_fact(fact, out, host->options_arena, err);
		break;
	case FACT_FILE:
		r = file_fact(host, fact, out, err);
		break;
	case FACT_ENV:
		r = env_fact(host, fact, out, err);
		break;
	}
	if (r < 0)
		error_prefix(err, "%.*s:%u:%u: context \"%.*s\"", STR_FMT(fact->file), fact->line,
			     fact->column, STR_FMT(fact->name));
	return r;
}

/* The config's facts as one object. */
static int build(struct host *host, const struct json_value **ret, struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = CONTEXT_MAX};
	int r = 0;
	buffer_add(&text, STR("{"));
	for (size_t i = 0; r == 0 && i < host->config->n_facts; i++) {
		if (i > 0)
			buffer_add(&text, STR(","));
		r = add_fact(host, &host->config->facts[i], &text, err);
	}
	buffer_add(&text, STR("}"));
	if (r == 0 && text.error < 0)
		r = error_set(err, -text.error, "the facts are larger than %zu bytes", CONTEXT_MAX);
	if (r == 0)
		r = json_parse(host->options_arena, buffer_str(&text), JSON_DEFAULT_LIMITS, 0, ret,
			       NULL, err);
	return r;
}

/* Once a process. What goes wrong is kept: it refuses every call, not only the first. */
static void read_facts(struct host *host)
{
	host->context_read = true;
	host->pins = calloc(host->config->n_facts + 1, sizeof(*host->pins));
	if (!host->pins)
		error_set(&host->context_why, ENOMEM, "out of memory");
	else if (build(host, &host->context, &host->context_why) == 0)
		host->context_why.text[0] = '\0';
}

int host_read_context(struct host *host, struct error *err)
{
	if (!host->context_read)
		read_facts(host);
	if (host->context_why.text[0])
		return error_set(err, EINVAL, "%s", host->context_why.text);
	return 0;
}

int host_set_context(struct host *host, struct pawl_call *call, const struct json_value *given,
		     struct error *err)
{
	int r = host_read_context(host, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < host->n_pins; i++) {
		struct str dir;
		r = host_state_dir(host, &dir, err);
		if (r == 0)
			r = state_pin(dir, call->text[PAWL_T_SESSION], host->pins[i].name,
				      host->pins[i].content, err);
		if (r < 0) {
			error_prefix(err, "context \"%.*s\"", STR_FMT(host->pins[i].name));
			return r;
		}
	}
	call->root[PAWL_R_CONTEXT] = host->context;
	if (json_type(given) != JSON_OBJECT)
		return 0;
	return json_merge(call->arena, host->context, given, call->limits,
			  &call->root[PAWL_R_CONTEXT], err);
}
