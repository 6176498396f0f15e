/* state.h - what must outlive one run: the halt latch and the pinned facts of a session.
 *
 * Layer: core. Small files below state_dir; a folder that is not there means nothing is
 * latched.
 */
#ifndef PAWL_CORE_STATE_H
#define PAWL_CORE_STATE_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* STATE_DIR/KIND/OF, with whatever text of is made a file name: for what else is kept here.
 * -ENAMETOOLONG. */
int state_place(struct str state_dir, const char *kind, struct str of, char path[PATH_MAX]);

/* Makes STATE_DIR/KIND and what is above it. */
int state_make_kind(struct str state_dir, const char *kind, struct error *err);

/* The latch file of a session, for whoever sets it when we are gone. -ENAMETOOLONG. */
int state_latch_path(struct str state_dir, struct str session, char path[PATH_MAX]);

/* Whether the session is halted; who (256 bytes) gets what the latch says. An unreadable
 * latch halts. */
bool state_halted(struct str state_dir, struct str session, char who[256]);

/* Tells of every halted session: what it is called, "" where the name is too long to be
 * kept, its latch file, and what that says. */
typedef void state_halt_fn(void *data, const char *session, const char *path, const char *who);
int state_each_halt(struct str state_dir, state_halt_fn *fn, void *data, struct error *err);

/* Halts the session. Makes the folder. */
int state_halt(struct str state_dir, struct str session, struct str who, struct error *err);

/* Makes the latch folder, so that a latch can be set with one open(). */
int state_prepare(struct str state_dir, struct error *err);

/* Lifts a halt and forgets the pinned facts; *ret_was tells whether there was a halt. */
int state_reset(struct str state_dir, struct str session, bool *ret_was, struct error *err);

/* Compares content with what was pinned under name at the session's first event, or pins
 * it. -ESTALE when it differs. */
int state_pin(struct str state_dir, struct str session, struct str name, struct str content,
	      struct error *err);

#endif
