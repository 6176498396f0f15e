/* plugin.h - one .so, checked, loaded and opened.
 *
 * Layer: core; knows plugin-api, json and base.  Runs foreign code: only in a
 * worker, never in the process the client waits for.
 */
#ifndef PAWL_CORE_PLUGIN_H
#define PAWL_CORE_PLUGIN_H

#include <stdbool.h>

#include <pawl/plugin.h>

#include "base/error.h"
#include "json/json.h"

#define PLUGIN_FILE_MAX ((off_t)64 << 20)
#define PLUGIN_ID_MAX 128

/* What the ELF note says, read without running anything. */
struct plugin_note {
	unsigned abi_major, abi_minor;
	char id[PLUGIN_ID_MAX];
	char version[64];
};

/* Reads the note of an opened file: bounded, ELF64 of this machine, ET_DYN, exactly
 * one well-formed note, entry symbol defined here and nothing else exported.
 * path is for messages. */
int plugin_note_read(int fd, const char *path, struct plugin_note *ret, struct error *err);

/* A loaded file.  Never unloaded: RTLD_NODELETE, and its descriptor stays open. */
struct plugin_file {
	char *path;
	int fd;
	bool system; /* file and folders are root's */
	struct plugin_note note;
	pawl_plugin desc; /* copied; what the plugin's own header did not have is zero */
	struct plugin_file *next;
};

/* Loads DIR/STEM.so, or gives the one already loaded from there.  -ENOENT no such
 * file (err lists what is there), -EPERM not trusted, -ENOEXEC not a plugin of this
 * ABI.  The id in the note and in the descriptor must both be the file's stem. */
int plugin_file_load(const char *dir, const char *stem, struct plugin_file **ret,
		     struct error *err);

/* Checks options (an object or NULL) against the plugin's table and gives the frozen
 * object the plugin's open gets: every option there, defaults filled in, durations in
 * ns, paths absolute (from base_dir).  err names the option, with what it takes. */
int plugin_options(const struct plugin_file *file, const struct json_value *options,
		   const char *base_dir, struct json_arena *arena, const struct json_value **ret,
		   struct error *err);

/* One registration: the plugin's self and the host table it was given. */
struct plugin {
	const struct plugin_file *file;
	pawl_host host; /* host_data is this struct */
	void *self;
	char error_text[256]; /* what set_error said last */
};

/* Calls open.  *ret is the caller's and lives to the end of the process.
 * base is the table to copy; err carries what the plugin said. */
int plugin_open(const struct plugin_file *file, const pawl_host *base,
		const struct json_value *options, struct plugin **ret, struct error *err);

/* PAWL_E_* to the class records use: "fail" "nomem" "option" "unsupported" "type"
 * "missing" "limit" "cancelled"; anything else is "bad-status". */
const char *plugin_error_class(int32_t status);

#endif
