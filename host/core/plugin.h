/* plugin.h - one .so, checked, loaded and opened.
 *
 * Layer: core; knows plugin-api, json and base.  Runs foreign code: only in a
 * worker, never in the process the client waits for.
 */
#ifndef PAWL_CORE_PLUGIN_H
#define PAWL_CORE_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>

#include <pawl/plugin.h>

#include "base/error.h"
#include "base/str.h"
#include "core/match.h"
#include "json/json.h"

#define PLUGIN_ENTRY_NAME "pawl_plugin_entry_0"
#define PLUGIN_FILE_MAX ((off_t)64 << 20)
#define PLUGIN_SUM 32		   /* bytes of a SHA-256 */
#define PLUGIN_ID_MAX 128	   /* with its NUL */
#define PLUGIN_TEXT_MAX 4096	   /* vendor, summary, help, choices, a default */
#define PLUGIN_DESCRIPTOR_MAX 65536 /* bytes of a pawl_plugin of any future minor */
#define PLUGIN_OPTIONS_MAX 256
#define PLUGIN_ERROR_MAX 256 /* of what set_error says */
#define PLUGIN_OPTION_NAME_MAX 64
#define PLUGIN_OPTION_SIZE_MAX 4096 /* bytes of a pawl_option of any future minor */

/* What the ELF note says, read without running anything. */
struct plugin_note {
	unsigned abi_major, abi_minor;
	char id[PLUGIN_ID_MAX];
	char version[64];
};

/* a-z 0-9 . - ; begins with a letter or digit; shorter than PLUGIN_ID_MAX. */
bool plugin_id_valid(struct str id);

/* Reads the note of an opened file, bounded, and checks that nothing but mapping it is
 * asked for: ELF64 of this machine, ET_DYN, exactly one well-formed note, no RPATH, TEXTREL
 * or executable stack, needs only the usual libraries and the given ones (NULL: none; names
 * as "libssl.so" or "libssl.so.3"), entry symbol defined here and nothing else exported.
 * path is for messages: "PATH: what; mend". */
int plugin_note_read(int fd, const char *path, const struct patterns *libraries,
		     struct plugin_note *ret, struct error *err);

/* Checks what the entry returned and copies it; what the plugin's own header did
 * not have is zero in *ret.  room is how many bytes can be read at raw, 0 when it
 * lies outside of the plugin's own object.  Texts and the option table stay the
 * plugin's.  -ENOEXEC, err names path, rule and mend. */
int plugin_descriptor_copy(const char *path, const struct plugin_note *note, const void *raw,
			   size_t room, pawl_plugin *ret, struct error *err);

/* Element index of the descriptor's table, over the plugin's own option_size; false
 * past its end. */
bool plugin_option_get(const pawl_plugin *desc, size_t index, pawl_option *ret);

/* What the config says of a plugin's file. */
struct plugin_terms {
	const unsigned char *sha256;	  /* PLUGIN_SUM bytes that it must have, or NULL */
	const struct patterns *libraries; /* that it may need beside the usual ones, or NULL */
};

/* A loaded file.  Never unloaded: RTLD_NODELETE, and its descriptor stays open. */
struct plugin_file {
	char *path;
	int fd;	     /* what was checked and is loaded: the file, or a sealed copy of it */
	bool pinned; /* a copy, with this sum */
	unsigned char sha256[PLUGIN_SUM];
	bool system; /* file and folders are root's */
	bool mapped;
	const void *map; /* the loader's own record of it */
	struct plugin_note note;
	pawl_plugin desc; /* copied; what the plugin's own header did not have is zero */
	pthread_mutex_t *turn; /* of PAWL_THREADS_SERIAL: one call at a time */
	struct plugin_file *next;
};

/* Loads DIR/STEM.so, or gives the one already loaded from there.  -ENOENT no such
 * file (err lists what is there), -EPERM not trusted, or not the file that is pinned,
 * -ENOEXEC not a plugin of this ABI.  The id in the note and in the descriptor must both
 * be the file's stem.  Each refusal is "FILE: what; mend". */
int plugin_file_load(const char *dir, const char *stem, const struct plugin_terms *terms,
		     struct plugin_file **ret, struct error *err);

/* All that is checked before the loader is called; runs nothing, keeps nothing. */
int plugin_file_examine(const char *dir, const char *stem, const struct plugin_terms *terms,
			struct plugin_note *ret, bool *ret_system, struct error *err);

/* Whether DIR/STEM.so and its folders are root's; a file that is not there is nobody's, and
 * true. */
bool plugin_file_is_system(const char *dir, const char *stem);

/* A copy of the file at fd that nobody can change any more, *ret_fd, the caller's.  -EPERM
 * when its sum is another.  path is for messages. */
int plugin_pin(int fd, const char *path, const unsigned char sha256[PLUGIN_SUM], int *ret_fd,
	       struct error *err);

/* Called with a file's path when all is checked and before any of its code runs, NULL for
 * nobody; -errno refuses the file. */
extern int (*plugin_before_code)(const char *path, struct error *err);

/* Checks options (an object or NULL) against the plugin's table and gives the frozen
 * object the plugin's open gets: every option that was given or has a default, in the
 * table's order, durations in ns, paths absolute (from base_dir), a single string
 * where a list is wanted as a list of one.  base_dir is absolute.  err begins with
 * "LINE:COLUMN: " where there is a place for it, then names the option and what it
 * takes; never the value of a secret one.  -EINVAL the options are wrong, -ENOEXEC
 * the plugin's own defaults are. */
int plugin_options(const struct plugin_file *file, const struct json_value *options,
		   const char *base_dir, struct json_arena *arena, const struct json_value **ret,
		   struct error *err);

/* One registration: the plugin's self and the host table it was given. */
struct plugin {
	const struct plugin_file *file;
	pawl_host host; /* host_data is this struct */
	void *self;
	char error_text[PLUGIN_ERROR_MAX]; /* what set_error said last */
	pthread_mutex_t turn; /* of PAWL_THREADS_INSTANCE */
};

/* Calls open.  *ret is the caller's and lives to the end of the process.
 * base is the table to copy; err carries what the plugin said.  -EINVAL the plugin
 * refused its options, -ENOMEM, -EPROTO any other failure. */
int plugin_open(const struct plugin_file *file, const pawl_host *base,
		const struct json_value *options, struct plugin **ret, struct error *err);

/* PAWL_E_* to the class records use: "fail" "nomem" "option" "unsupported" "type"
 * "missing" "limit" "cancelled"; anything else is "bad-status". */
const char *plugin_error_class(int32_t status);

#endif
