/* shallow.h - walks the members of one JSON object without reading their values.
 *
 * Layer: audit; libc only.
 *
 * For text that the host wrote: a record holds a client's values, which may be as
 * deep and as large as the host allows, and are wanted as bytes only.
 */
#ifndef PAWL_AUDIT_SHALLOW_H
#define PAWL_AUDIT_SHALLOW_H

#include "base/str.h"

/* Begin with *at = 0.  1: *name (between its quotes, not unescaped) and *value are the
 * next member; 0: there are no more; -1: not an object, or not JSON. */
int shallow_next(struct str object, size_t *at, struct str *name, struct str *value);

/* How deep arrays and objects are nested in one JSON value. */
size_t shallow_depth(struct str json);

#endif
