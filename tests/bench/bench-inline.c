/* bench-inline.c - what a hook must not be: the same chain in the process that the client
 * waits for, with nothing between a plugin and the answer. For comparison only.
 *
 * usage: bench-inline CONFIG; the event of claude-code on stdin. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "core/host.h"
#include "dialects/dialect.h"

int main(int argc, char **argv)
{
	const struct dialect *dialect = dialect_find("claude-code");
	struct json_arena *arena;
	struct config *config;
	struct host *host;
	const struct json_value *event;
	static struct decision decision;
	struct answer answer;
	struct error err;
	char *text;
	size_t len;
	if (argc != 2 || json_arena_new(JSON_ARENA_DEFAULT, &arena, &err) < 0 ||
	    io_read_all(STDIN_FILENO, JSON_BYTES_MAX, &text, &len, &err) < 0 ||
	    config_load_in(arena, argv[1], &config, &err) < 0 ||
	    host_new(config, arena, &host, &err) < 0)
		return 1;
	struct pawl_call *call = call_new(arena, config->limits);
	struct str given = {text, len};
	if (!call || json_parse(arena, given, call->limits, 0, &event, NULL, &err) < 0 ||
	    dialect_decode(dialect, call, event, (struct str){NULL, 0}, &err) < 0 ||
	    host_set_context(host, call, NULL, &err) < 0)
		return 1;
	host_judge(host, call, &decision);
	if (dialect_encode(dialect, host, call, &decision, &answer, &err) < 0)
		return 1;
	io_write_all(STDOUT_FILENO, answer.out.ptr, answer.out.len);
	io_write_all(STDERR_FILENO, answer.err.ptr, answer.err.len);
	_exit(answer.exit);
}
