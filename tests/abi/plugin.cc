/* plugin.cc - a plugin that uses the C++ library, whose templates must stay inside. */
#include <pawl/plugin.h>

#include <map>
#include <new>
#include <string>
#include <vector>

namespace
{
struct instance {
	const pawl_host *host;
	std::map<std::string, std::vector<std::string>> seen;
};

int32_t open_plugin(const pawl_host *host, const pawl_value *, void **self)
{
	instance *made = new (std::nothrow) instance();
	if (!made)
		return PAWL_E_NOMEM;
	made->host = host;
	*self = made;
	return 0;
}

void close_plugin(void *self)
{
	delete static_cast<instance *>(self);
}

int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *)
{
	instance *me = static_cast<instance *>(self);
	try {
		pawl_str tool = me->host->text(call, PAWL_T_TOOL);
		me->seen[std::string(tool.ptr, tool.len)].push_back("x");
		return PAWL_ALLOW;
	} catch (...) {
		return PAWL_E_NOMEM;
	}
}

const pawl_plugin descriptor = {
	sizeof(pawl_plugin), PAWL_ABI_MINOR, 0, 0, 0, "org.example.cxx", "1.0", nullptr, nullptr,
	nullptr, open_plugin, close_plugin, pre_tool_use, nullptr, nullptr, nullptr, nullptr,
	nullptr,
};
}

PAWL_PLUGIN("org.example.cxx", "1.0", descriptor)
