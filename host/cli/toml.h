/* toml.h - a TOML file as one item a key, in the file's order: what is needed to find hooks
 * in somebody's settings, and no more. Arrays and inline tables are handed over as they
 * stand; nothing is checked that does not have to be understood.
 *
 * Layer: cli; knows json's arena and base.
 */
#ifndef PAWL_CLI_TOML_H
#define PAWL_CLI_TOML_H

#include <stdbool.h>

#include "json/json.h"

#define TOML_PATH_MAX 8 /* parts of a key; what lies deeper is passed over */

struct toml_item {
	struct str path[TOML_PATH_MAX]; /* of the table, then of the key */
	size_t n;
	bool begins;	  /* [[path]]: one more of an array of tables, and no value */
	bool is_text;	  /* value is a string's text */
	struct str value; /* else as it stands: true, 10, ["a"] */
};

/* Texts live in the arena. -EBADMSG "line N: ..." where it cannot be followed; what stands
 * before has been seen by then. */
int toml_read(struct json_arena *arena, struct str text,
	      void (*seen)(void *context, const struct toml_item *item), void *context,
	      struct error *err);

#endif
