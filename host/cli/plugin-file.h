/* plugin-file.h - pawl's plugin for a client that has no command hooks: the file that came with
 * pawl, with the command in it that the plugin is to start.
 *
 * Layer: cli; knows settings, json and base.
 */
#ifndef PAWL_CLI_PLUGIN_FILE_H
#define PAWL_CLI_PLUGIN_FILE_H

#include "cli/settings.h"

#define PLUGIN_FILE_BYTES_MAX ((size_t)1 << 20)

/* What install writes. -ENOENT: it did not come along. */
int plugin_file_text(struct json_arena *arena, const struct settings_line *line, const char *pawl,
		     struct str *ret, struct error *err);

/* A file as it is; absent when it is not there. */
int plugin_file_read(struct json_arena *arena, const char *path, struct str *ret, struct error *err);

/* Whether a text is pawl's plugin, of this or another version. */
bool plugin_file_ours(struct str text);

/* The command in it, as an array; NULL when there is none. */
const struct json_value *plugin_file_command(struct json_arena *arena, struct str text);

/* Both texts but for the command. */
bool plugin_file_same(struct str a, struct str b);

#endif
