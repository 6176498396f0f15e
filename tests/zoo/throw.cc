// throw.cc - a plugin whose C++ exception leaves the hook.
#include <stdexcept>

#include <pawl/plugin.h>

static int32_t open_plugin(const pawl_host *, const pawl_value *, void **self)
{
	*self = nullptr;
	return 0;
}

static int32_t pre_tool_use(void *, const pawl_call *, pawl_reply *)
{
	throw std::runtime_error("nobody catches this");
}

static pawl_plugin describe()
{
	pawl_plugin p = pawl_plugin();
	p.struct_size = sizeof(p);
	p.abi_minor = PAWL_ABI_MINOR;
	p.id = "throw";
	p.version = "1.0";
	p.open = open_plugin;
	p.pre_tool_use = pre_tool_use;
	return p;
}

static const pawl_plugin plugin = describe();

PAWL_PLUGIN("throw", "1.0", plugin)
