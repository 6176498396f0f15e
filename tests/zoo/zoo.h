/* zoo.h - what every plugin of the zoo has in common: one hook, which does something that
 * no plugin should, and the descriptor around it.
 *
 * A source file holds misdeeds of one kind; each is built into a plugin of its own:
 * -DZOO=NAME picks the function that is the hook, -DZOO_ID="name" is the plugin's id. The
 * tests that run them keep a table of what has to come of each: tests/integration/zoo-*.sh.
 */
#ifndef PAWL_TESTS_ZOO_H
#define PAWL_TESTS_ZOO_H

#include <stdint.h>
#include <string.h>

#include <pawl/plugin.h>

#define MISDEED(name)                                                                              \
	__attribute__((unused)) static int32_t name(const pawl_call *call, pawl_reply *reply)
#define TEXT(literal) ((pawl_str){literal, sizeof(literal) - 1})

static int32_t ZOO(const pawl_call *call, pawl_reply *reply);

static const pawl_host *host; /* as given to open */
static int64_t zoo_value;     /* option "value" */

__attribute__((unused)) static int32_t zoo_open(const pawl_host *given, const pawl_value *options,
						void **self)
{
	host = given;
	*self = NULL;
	given->integer(given->member(options, TEXT("value")), &zoo_value);
	return 0;
}

#ifndef ZOO_OPEN
#define ZOO_OPEN zoo_open
#else
static int32_t ZOO_OPEN(const pawl_host *given, const pawl_value *options, void **self);
#endif

static int32_t zoo_hook(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self;
	return ZOO(call, reply);
}

static const pawl_option zoo_options[] = {
	{"value", PAWL_OPT_INTEGER, 0, "0", "a number, for those who want one", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin zoo_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.option_size = sizeof(pawl_option),
	.id = ZOO_ID,
	.version = "1.0",
	.summary = "does what no plugin should",
	.options = zoo_options,
	.open = ZOO_OPEN,
	.pre_tool_use = zoo_hook,
};

#ifndef ZOO_NO_ENTRY
PAWL_PLUGIN(ZOO_ID, "1.0", zoo_plugin)
#endif

#endif
