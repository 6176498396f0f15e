/* json.c - a plugin that calls a json_object_get of its own, which is not json-c's.
 *
 * It lies in a static library (-DLIBRARY), as a vendor's own JSON code would. The plugin is
 * linked with it hidden, with it exported, and without it. */
#ifdef LIBRARY

int json_object_get(int number);
int json_object_get(int number)
{
	return number + 41;
}

#else

#include <pawl/plugin.h>

extern int json_object_get(int number);

static const pawl_host *host;

static int32_t open_plugin(const pawl_host *given, const pawl_value *options, void **self)
{
	(void)options;
	host = given;
	*self = NULL;
	return 0;
}

static int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self, (void)call;
	host->reason(reply, pawl_text("own"),
		     pawl_text(json_object_get(1) == 42 ? "it was mine" : "it was another's"));
	return PAWL_DENY;
}

static const pawl_plugin plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.id = JSON_ID,
	.version = "1.0",
	.open = open_plugin,
	.pre_tool_use = pre_tool_use,
};

PAWL_PLUGIN(JSON_ID, "1.0", plugin)

#endif
