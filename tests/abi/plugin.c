/* plugin.c - a plugin in what C99, C11 and C++11 have in common. */
#include <pawl/plugin.h>

static int32_t open_plugin(const pawl_host *host, const pawl_value *options, void **self)
{
	(void)options;
	*self = NULL;
	if (PAWL_HAS(host, interface) && host->interface(host, "org.example.none"))
		return PAWL_E_UNSUPPORTED;
	host->log(host, PAWL_LOG_DEBUG, pawl_text("opened"));
	return 0;
}

static int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self;
	(void)call;
	(void)reply;
	return PAWL_ALLOW;
}

static const pawl_option options_table[] = {
	{"on", PAWL_OPT_BOOLEAN, 0, "true", "whether it is on", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin descriptor = {
	sizeof(pawl_plugin), PAWL_ABI_MINOR, PAWL_FEAT_REWRITE, PAWL_THREADS_PARALLEL,
	sizeof(pawl_option), "org.example.any", "1.0", NULL, NULL, options_table, open_plugin, NULL,
	pre_tool_use, NULL, NULL, NULL, NULL, NULL,
};

PAWL_PLUGIN("org.example.any", "1.0", descriptor)
