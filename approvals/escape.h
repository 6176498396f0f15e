/* escape.h - foreign text for a person to judge: whatever a screen would hide, reorder or
 * obey is shown as its number.
 *
 * Layer: approvals; base alone.
 *
 * Control characters (C0, DEL, C1), bidirectional and zero-width ones, line separators, tags,
 * variation selectors and fillers become \uXXXX, as JSON writes them; bytes that are no UTF-8
 * become \xXX. So JSON stays the same JSON.
 */
#ifndef PAWL_APPROVALS_ESCAPE_H
#define PAWL_APPROVALS_ESCAPE_H

#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

bool escape_needed(uint32_t character);
/* lines: a newline is one. */
void escape_print(FILE *out, struct str text, bool lines);

#endif
