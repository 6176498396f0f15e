/* module.h - our own shared objects, loaded on first need: each keeps a library out of the
 * global scope, where it could capture a plugin's symbols, and out of every run without it.
 *
 * Layer: base; libc only.
 *
 *	const struct json_writer *writer = module_symbol("write.so", "pawl_json_writer", err);
 */
#ifndef PAWL_BASE_MODULE_H
#define PAWL_BASE_MODULE_H

#include "base/error.h"

/* The build tree's own comes before an installed one; no path is taken from the
 * environment.  NULL: err says why. */
void *module_symbol(const char *file, const char *symbol, struct error *err);

#endif
