/* text.h - foreign text made fit to show: valid UTF-8, no control characters, bounded.
 *
 * Layer: base; libc only.
 */
#ifndef PAWL_BASE_TEXT_H
#define PAWL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Length in bytes of the valid UTF-8 sequence at text (no surrogates, no overlong
 * forms, at most U+10FFFF), or 0. */
size_t text_utf8_step(struct str text);

/* Copies text into buf (room bytes, NUL-terminated, cut at a character with "..."
 * when longer). Invalid bytes become U+FFFD, control characters but \n and \t a
 * space. Returns the length. room >= 4. */
size_t text_clean(struct str text, char *buf, size_t room);

/* Copies text as the inside of a JSON string (no quotes around), cut like
 * text_clean; what text_clean would mend is mended. */
size_t text_json(struct str text, char *buf, size_t room);

/* Fills in a template: every {name} that is in names is replaced by its value,
 * anything else stays. Cut at room. Returns the length. */
struct text_hole {
	const char *name;
	struct str value;
};
size_t text_fill(struct str pattern, const struct text_hole *holes, size_t n, char *buf,
		 size_t room);

#endif
