/* open.c - see open.h. */
#include <config.h>

#include "core/open.h"

#include <errno.h>

#include "core/hosttable.h"

unsigned hooks_of(const pawl_plugin *desc)
{
	return (desc->pre_tool_use ? HOOK_PRE_TOOL_USE : 0u) |
	       (desc->pre_model_call ? HOOK_PRE_MODEL_CALL : 0u) |
	       (desc->post_model_call ? HOOK_POST_MODEL_CALL : 0u) |
	       (desc->post_tool_use ? HOOK_POST_TOOL_USE : 0u) |
	       (desc->decided ? HOOK_DECIDED : 0u) | (desc->stop ? HOOK_STOP : 0u);
}

enum hook hook_of_kind(enum event_kind kind)
{
	switch (kind) {
	case EVENT_PRE_MODEL:
		return HOOK_PRE_MODEL_CALL;
	case EVENT_POST_MODEL:
		return HOOK_POST_MODEL_CALL;
	default:
		return HOOK_PRE_TOOL_USE;
	}
}

/* FILE:LINE:COLUMN: in front of what is wrong with options; they know the line where there is
 * something written to point at. */
static void name_place(const struct config_entry *entry, struct error *err)
{
	struct error what = *err;
	if (what.text[0] >= '0' && what.text[0] <= '9')
		error_set(err, EINVAL, "%s:%s", entry->file.ptr, what.text);
	else
		error_set(err, EINVAL, "%s:%u:%u: %s", entry->file.ptr, entry->line, entry->column,
			  what.text);
}

int entry_load(const struct opening *opening, struct plugin_file **ret, struct error *err)
{
	const struct config_entry *entry = opening->entry;
	const struct plugin_terms terms = {entry->pinned ? entry->sha256 : NULL,
					   opening->libraries};
	return plugin_file_load(opening->plugin_dir, entry->plugin.ptr, &terms, ret, err);
}

int entry_open(const struct opening *opening, struct plugin **ret, struct error *err)
{
	const struct config_entry *entry = opening->entry;
	struct plugin_file *file;
	const struct json_value *options;
	int r = entry_load(opening, &file, err);
	if (r < 0)
		return r;
	unsigned wanted = opening->in_chain ? HOOK_POLICY : HOOK_ALL & ~HOOK_POLICY;
	if (!(hooks_of(&file->desc) & wanted))
		return error_set(err, ENOEXEC, "plugin \"%s\" has no %s hook and cannot be in %s",
				 entry->plugin.ptr, opening->in_chain ? "policy" : "observing",
				 opening->in_chain ? "chain" : "observe");
	host_table_arena = opening->arena;
	r = plugin_options(file, entry->options, opening->base_dir, opening->arena, &options, err);
	if (r < 0)
		name_place(entry, err);
	else
		r = plugin_open(file, opening->table, options, ret, err);
	return r;
}
