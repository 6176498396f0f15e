/* open.h - from an entry of the config to its opened plugin: the way both kinds of worker
 * go, the one that runs the chain and the one that a plugin has for itself.
 *
 * Layer: core. Runs plugin code.
 */
#ifndef PAWL_CORE_OPEN_H
#define PAWL_CORE_OPEN_H

#include <stdbool.h>

#include "core/config.h"
#include "core/event.h"
#include "core/plugin.h"

/* The hooks, as bits. */
enum hook {
	HOOK_PRE_TOOL_USE = 1,
	HOOK_PRE_MODEL_CALL = 2,
	HOOK_POST_MODEL_CALL = 4,
	HOOK_POST_TOOL_USE = 8,
	HOOK_DECIDED = 16,
	HOOK_STOP = 32,
	HOOK_ALL = 63,
};
#define HOOK_POLICY (HOOK_PRE_TOOL_USE | HOOK_PRE_MODEL_CALL | HOOK_POST_MODEL_CALL)

/* Which of them the plugin has. */
unsigned hooks_of(const pawl_plugin *desc);

/* The one that is asked about such a call. */
enum hook hook_of_kind(enum event_kind kind);
typedef int32_t (*hook_fn)(void *self, const pawl_call *call, pawl_reply *reply);
static inline hook_fn hook_for(const pawl_plugin *desc, enum event_kind kind)
{
	switch (kind) {
	case EVENT_PRE_MODEL:
		return desc->pre_model_call;
	case EVENT_POST_MODEL:
		return desc->post_model_call;
	default:
		return desc->pre_tool_use;
	}
}

/* Where an entry's plugin comes from. */
struct opening {
	const struct config_entry *entry;
	bool in_chain; /* else in observe */
	const char *plugin_dir, *base_dir;
	const struct patterns *libraries; /* it may need beside the usual ones */
	const pawl_host *table;
	struct json_arena *arena; /* of options; stays as long as the plugin */
};

/* The file alone: checked and loaded, nothing opened. */
int entry_load(const struct opening *opening, struct plugin_file **ret, struct error *err);

/* Loads the file, checks that the entry may name it where it stands, reads the options and
 * opens. -errno; err says what is wrong, options with FILE:LINE:COLUMN. */
int entry_open(const struct opening *opening, struct plugin **ret, struct error *err);

#endif
