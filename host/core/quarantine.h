/* quarantine.h - a plugin that keeps failing is asked no more.
 *
 * Layer: core; base only.  Files below state_dir, as in state.h.
 *
 *	if (quarantined(dir, entry->name, file, why))
 *		refuse, with why
 *	...
 *	quarantine_fault(dir, entry->name, file, "crash", err);
 *
 * QUARANTINE_FAULTS faults of one file within QUARANTINE_WINDOW_S put its entry into
 * quarantine, and there it stays, over restarts too, until it is lifted or the file is
 * another one.
 */
#ifndef PAWL_CORE_QUARANTINE_H
#define PAWL_CORE_QUARANTINE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

#define QUARANTINE_FAULTS 5
#define QUARANTINE_WINDOW_S 600
#define QUARANTINE_WHY_MAX 512

/* Remembers one fault of the entry: class is a word of the records ("crash", "timeout").
 * plugin_path is the .so that ran.  Makes the folder.  Any number of processes at once. */
int quarantine_fault(struct str state_dir, struct str name, const char *plugin_path,
		     const char *class, struct error *err);

/* Whether the entry is in quarantine while plugin_path is what it is; why says how often it
 * failed, of what last, and how that is lifted.  What is kept about it and cannot be read
 * counts as a quarantine: whoever can make it unreadable must not be able to lift one. */
bool quarantined(struct str state_dir, struct str name, const char *plugin_path,
		 char why[QUARANTINE_WHY_MAX]);

/* Forgets all faults of the entry; *ret_was: there were some. */
int quarantine_lift(struct str state_dir, struct str name, bool *ret_was, struct error *err);

#endif
