/* text.h - foreign text on a terminal.
 *
 * Layer: audit; libc and base only.
 *
 * Arguments, results and reasons are written by models and strangers: control
 * characters could move the cursor, bidirectional and invisible ones make a text
 * look like another.  They are shown as \x1b or \u202e.
 */
#ifndef PAWL_AUDIT_TEXT_H
#define PAWL_AUDIT_TEXT_H

#include <stdio.h>

#include "base/str.h"

/* Prints text, at most max characters of it (then "…"); returns how many columns, one
 * a character, it took. */
size_t text_print(FILE *out, struct str text, size_t max);

/* The same, filled with spaces to width. */
void text_column(FILE *out, struct str text, size_t width);

#endif
