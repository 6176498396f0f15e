/* frame.h - a call and a reply as bytes: what passes between the worker that asks and the
 * process a plugin has for itself.
 *
 * Layer: core. Both sides are of one build, so the layout is the machine's own and no
 * promise to anybody. One side of it is a plugin's process and believed in nothing: a
 * reader has a bound for everything, and once something did not fit gives only zeros and
 * is `bad`; what it gave until then counts only when it is not bad at the end.
 *
 *	struct frame_out out = {memory, size};
 *	frame_put_reply(&out, status, text, &reply);
 *	if (out.full) ...
 */
#ifndef PAWL_CORE_FRAME_H
#define PAWL_CORE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/plugin.h"
#include "core/reply.h"

#define FRAME_ERROR_MAX 256   /* what set_error said, why a service failed */
#define FRAME_WHY_MAX 1024    /* why it could not be loaded, as struct error has it */
#define FRAME_VERSION_MAX 63
#define FRAME_WEAK_MAX 160

struct frame_out {
	char *data;
	size_t room, len;
	bool full; /* something did not fit: nothing after it is there either */
};

struct frame_in {
	const char *data;
	size_t left;
	bool bad;
};

void frame_put_u32(struct frame_out *out, uint32_t number);
void frame_put_i64(struct frame_out *out, int64_t number);
/* Absent stays absent; a NUL follows the bytes. */
void frame_put_text(struct frame_out *out, struct str text);

uint32_t frame_get_u32(struct frame_in *in);
/* One that is at most max. */
uint32_t frame_get_below(struct frame_in *in, uint32_t max);
int64_t frame_get_i64(struct frame_in *in);
/* Borrowed from the frame, NUL-terminated, of at most max bytes. */
struct str frame_get_text(struct frame_in *in, size_t max);
/* Whether all of it was read and all of it fitted. */
bool frame_ends(const struct frame_in *in);

/* ---- opening ------------------------------------------------------------------------- */

/* What is to be loaded; entry's plugin, sum, name, file, line, column and options are sent,
 * the options with the place they have in their file. */
struct frame_open {
	const struct config_entry *entry;
	struct str plugin_dir, base_dir;
	const struct patterns *libraries;
	bool in_chain;
};
void frame_put_open(struct frame_out *out, const struct frame_open *open);
/* The same; *entry and *libraries are filled in, texts lie in the frame. */
int frame_get_open(struct frame_in *in, struct json_arena *arena, struct config_entry *entry,
		   struct patterns *libraries, struct frame_open *ret, struct error *err);

enum frame_stage { FRAME_OPENED, FRAME_NOT_LOADED, FRAME_NOT_FENCED };

struct frame_opened {
	enum frame_stage stage;
	struct str why; /* not FRAME_OPENED */
	struct str version;
	unsigned hooks;	 /* enum hook */
	struct str weak; /* what its sandbox lacks; absent when nothing */
};
void frame_put_opened(struct frame_out *out, const struct frame_opened *opened);
int frame_get_opened(struct frame_in *in, struct frame_opened *ret);

/* What a plugin is, as its descriptor says: for listings. */
struct frame_description {
	pawl_plugin desc; /* id, version, vendor, summary, abi_minor, options; no hook is set */
	unsigned hooks;	  /* enum hook: those it has */
	struct str path;
	bool system;
};
void frame_put_description(struct frame_out *out, const struct plugin_file *file);
/* Texts are made fit to be shown, and lie in the arena. */
int frame_get_description(struct frame_in *in, struct json_arena *arena,
			  struct frame_description *ret);

/* ---- asking ---------------------------------------------------------------------------- */

/* What plugins can see of a call. */
void frame_put_call(struct frame_out *out, const struct pawl_call *call);

/* A call read back: texts lie in the frame, and so does the JSON of the roots, which is
 * read when somebody asks for it. */
struct frame_call {
	struct pawl_call *call; /* in the arena, roots NULL */
	struct str root[CALL_ROOTS];
};
int frame_get_call(struct frame_in *in, struct json_arena *arena, struct frame_call *ret);

/* What a hook returned and wrote: its number, what set_error said (""), the reply as it
 * was left, and what was logged meanwhile. */
void frame_put_reply(struct frame_out *out, int32_t status, const char *error_text,
		     const struct pawl_reply *reply);

/* The same read back: reply (fresh from reply_init) gets what the services of the host table
 * would have left, through those services, so that their limits hold here too; a note
 * under reserved (NULL none) is left out. error_text is in reply's arena, NULL for none.
 * -EPROTO when the frame is none; then reply may be half filled in. */
int frame_get_reply(struct frame_in *in, const char *plugin, const char *reserved,
		    struct pawl_reply *reply, int32_t *ret_status, const char **ret_error_text);

#endif
