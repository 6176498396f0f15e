/* hello.c - a whole plugin: refuses calls that have an argument "force". */
#include <pawl/plugin.h>

static int32_t hello_open(const pawl_host *host, const pawl_value *options, void **self)
{
	(void)options;
	*self = (void *)(uintptr_t)host; /* all this plugin has to remember */
	return 0;
}

static int32_t hello_pre(void *self, const pawl_call *call, pawl_reply *reply)
{
	const pawl_host *host = self;
	const pawl_value *args = host->root(call, PAWL_R_ARGS);
	if (!host->member(args, pawl_text("force")))
		return PAWL_ALLOW;
	host->reason(reply, pawl_text("force"), pawl_text("not with \"force\"; leave it out"));
	return PAWL_DENY;
}

static const pawl_plugin hello = {
	.struct_size = sizeof(pawl_plugin), .abi_minor = PAWL_ABI_MINOR,
	.id = "hello", .version = "1.0", .open = hello_open, .pre_tool_use = hello_pre,
};
PAWL_PLUGIN("hello", "1.0", hello)
