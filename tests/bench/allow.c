/* allow.c - a plugin with nothing to say, ten times over: what a chain itself costs. */
#include <pawl/plugin.h>

static int32_t open_nothing(const pawl_host *host, const pawl_value *options, void **self)
{
	(void)host;
	(void)options;
	*self = NULL;
	return 0;
}

static int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self;
	(void)call;
	(void)reply;
	return PAWL_ALLOW;
}

static const pawl_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = BENCH_ID,
	.version = "1",
	.open = open_nothing,
	.pre_tool_use = pre_tool_use,
};

PAWL_PLUGIN(BENCH_ID, "1", plugin)
