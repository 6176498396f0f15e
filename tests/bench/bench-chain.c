/* bench-chain.c - the chain with ten plugins that allow, against a bare loop over the same
 * ten function pointers; and a lookup through the host table.
 *
 * usage: bench-chain PLUGIN_DIR. Nothing here passes or fails. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "core/host.h"
#include "core/hosttable.h"

enum { PLUGINS = 10, ROUNDS = 41, CALLS = 20000 };

static const char event[] =
	"{\"session_id\":\"s-1\",\"cwd\":\"/home/dev/app\",\"hook_event_name\":\"PreToolUse\","
	"\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make test\",\"description\":\"Run\","
	"\"timeout\":120000},\"tool_use_id\":\"toolu_1\"}";

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void fail(const struct error *err)
{
	fprintf(stderr, "bench-chain: %s\n", err->text);
	exit(1);
}

static struct host *make_host(const char *plugin_dir)
{
	char text[8192];
	struct config *config;
	struct host *host;
	struct error err;
	int n = snprintf(text, sizeof(text),
			 "{\"plugin_dir\": \"%s\", \"state_dir\": \"/nonexistent\", \"chain\": [",
			 plugin_dir);
	for (int i = 0; i < PLUGINS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s{\"plugin\": \"allow%d\"}",
			      i ? "," : "", i);
	snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	if (config_parse(str_of(text), "/pawl.json", &config, &err) < 0 ||
	    host_new(config, NULL, &host, &err) < 0)
		fail(&err);
	return host;
}

static struct pawl_call *make_call(struct json_arena *arena)
{
	struct error err;
	const struct json_value *root;
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	if (!call || json_parse(arena, str_of(event), call->limits, 0, &root, NULL, &err) < 0 ||
	    call_set_tool(call, STR("Bash"), (struct str){NULL, 0}, (struct str){NULL, 0}, &err) < 0)
		fail(&err);
	call->kind = EVENT_PRE_TOOL;
	call->root[PAWL_R_EVENT] = root;
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] =
		json_member(root, STR("tool_input"));
	return call;
}

static double time_chain(struct host *host, struct pawl_call *call, struct json_arena *arena)
{
	struct decision decision;
	size_t mark = json_arena_mark(arena);
	int64_t start = io_monotonic_ns();
	for (int i = 0; i < CALLS; i++) {
		json_arena_rewind(arena, mark);
		host_judge(host, call, &decision);
		if (decision.verdict != VERDICT_ALLOW)
			exit(1);
	}
	return (double)(io_monotonic_ns() - start) / CALLS;
}

static double time_loop(struct host *host, struct pawl_call *call)
{
	int32_t (*volatile hooks[PLUGINS])(void *, const pawl_call *, pawl_reply *);
	struct pawl_reply reply;
	for (int i = 0; i < PLUGINS; i++)
		hooks[i] = host->chain[i].plugin->file->desc.pre_tool_use;
	int64_t start = io_monotonic_ns();
	for (int i = 0; i < CALLS; i++)
		for (int k = 0; k < PLUGINS; k++)
			if (hooks[k](NULL, call->frozen, &reply) != PAWL_ALLOW)
				exit(1);
	return (double)(io_monotonic_ns() - start) / CALLS;
}

static double time_lookup(const struct pawl_call *call)
{
	const pawl_host *volatile table = &host_table;
	const pawl_value *root = (const pawl_value *)call->root[PAWL_R_EVENT];
	static const pawl_str name = {"tool_input", 10};
	size_t found = 0;
	int64_t start = io_monotonic_ns();
	for (int i = 0; i < CALLS * PLUGINS; i++)
		found += table->member(root, name) != NULL;
	if (found != (size_t)CALLS * PLUGINS)
		exit(1);
	return (double)(io_monotonic_ns() - start) / (CALLS * PLUGINS);
}

int main(int argc, char **argv)
{
	double chain[ROUNDS], loop[ROUNDS], lookup[ROUNDS];
	struct json_arena *arena;
	struct error err;
	struct decision warm;
	if (argc != 2)
		return 2;
	struct host *host = make_host(argv[1]);
	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, &err) < 0)
		fail(&err);
	struct pawl_call *call = make_call(arena);
	host_judge(host, call, &warm);
	for (int i = 0; i < PLUGINS; i++)
		if (!host->chain[i].plugin)
			return 1;
	for (int i = 0; i < ROUNDS; i++) {
		loop[i] = time_loop(host, call);
		chain[i] = time_chain(host, call, arena);
		lookup[i] = time_lookup(call);
	}
	double l = median(loop, ROUNDS), c = median(chain, ROUNDS);
	printf("chain of 10, ns a call       bare loop %6.0f   chain %6.0f   (2x loop + 0.1 us a plugin"
	       " = %.0f)\n", l, c, 2 * l + 100 * PLUGINS);
	printf("member() through the table   %6.1f ns\n", median(lookup, ROUNDS));
	return 0;
}
