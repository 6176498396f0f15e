/* bad.c - plugins for the loader's tests: one source, built once a fault.
 *
 * PLUGIN_ID is the file's stem; BAD_x (x: the stem, '-' as '_') picks the fault.
 */
#include <stdlib.h>

#include <pawl/plugin.h>

__attribute__((unused))
static int32_t open_plugin(const pawl_host *host, const pawl_value *options, void **self)
{
	(void)options, (void)self;
#ifdef BAD_open_fails
	static const char why[] = "the list\nis empty";
	host->set_error(host, (pawl_str){why, sizeof(why) - 1});
	return PAWL_E_OPTION;
#elif defined(BAD_open_positive)
	(void)host;
	return 1;
#else
	(void)host;
	*self = NULL;
	return 0;
#endif
}

static int32_t pre_tool_use(void *self, const pawl_call *call, pawl_reply *reply)
{
	(void)self, (void)call, (void)reply;
#ifdef BAD_undefined
	extern int pawl_test_nowhere(void);
	return pawl_test_nowhere();
#else
	return PAWL_ALLOW;
#endif
}

/* A pawl_plugin of a later header: two more fields. */
struct later {
	pawl_plugin now;
	const void *more[2];
};

static const struct later desc = {
	.now = {
#ifdef BAD_size_8
		.struct_size = 8,
#elif defined(BAD_size_past)
		.struct_size = 65528,
#elif defined(BAD_tail) || defined(BAD_later)
		.struct_size = sizeof(struct later),
#else
		.struct_size = sizeof(pawl_plugin),
#endif
		.abi_minor = PAWL_ABI_MINOR,
		.id = PLUGIN_ID,
		.version = "1.0",
#ifndef BAD_no_open
		.open = open_plugin,
#endif
		.pre_tool_use = pre_tool_use,
	},
#ifdef BAD_tail
	.more = {NULL, "set"},
#endif
};

#ifdef BAD_extra_export
PAWL_EXPORT int helper_of_mine(void);
PAWL_EXPORT int helper_of_mine(void)
{
	return 7;
}
#endif

#ifdef BAD_toolchain
PAWL_EXPORT void bss_start(void) __asm__("__bss_start");
PAWL_EXPORT void end(void) __asm__("_end");
void bss_start(void)
{
}
void end(void)
{
}
#endif

#define NOTE(name, text)                                                                           \
	__attribute__((section(".note.pawl.plugin"), used, aligned(4)))                            \
	static const struct pawl_note name = {5, PAWL_NOTE_SIZE, PAWL_NOTE_TYPE, PAWL_NOTE_NAME,   \
					      text}

#ifdef BAD_two_notes
NOTE(second, "abi=0.1\0id=" PLUGIN_ID "\0version=1.0\0");
#endif

#if defined(BAD_other_id)
PAWL_PLUGIN("window", "1.0", desc.now)
#elif defined(BAD_wrong_major)
NOTE(note, "abi=1.0\0id=" PLUGIN_ID "\0version=1.0\0");
const pawl_plugin *pawl_plugin_entry_0(const pawl_host *probe)
{
	return probe ? &desc.now : NULL;
}
#elif defined(BAD_no_note)
const pawl_plugin *pawl_plugin_entry_0(const pawl_host *probe)
{
	return probe ? &desc.now : NULL;
}
#elif defined(BAD_no_entry) || defined(BAD_library_entry)
NOTE(note, "abi=0.1\0id=" PLUGIN_ID "\0version=1.0\0");
const void *const use = &desc;
#ifdef BAD_library_entry
const pawl_plugin *(*volatile const call)(const pawl_host *) = pawl_plugin_entry_0;
#endif
#elif defined(BAD_null_entry) || defined(BAD_host_pointer) || defined(BAD_heap)
NOTE(note, "abi=0.1\0id=" PLUGIN_ID "\0version=1.0\0");
const pawl_plugin *pawl_plugin_entry_0(const pawl_host *probe)
{
	(void)desc;
#ifdef BAD_null_entry
	(void)probe;
	return NULL;
#elif defined(BAD_host_pointer)
	return (const pawl_plugin *)(const void *)probe;
#else
	static pawl_plugin *made;
	(void)probe;
	if (!made)
		made = malloc(sizeof(*made));
	if (made)
		*made = desc.now;
	return made;
#endif
}
#else
PAWL_PLUGIN(PLUGIN_ID, "1.0", desc.now)
#endif
