/* write.h - JSON out, built with json-c behind a table.
 *
 * Layer: json.  json-c is loaded (RTLD_LOCAL, so that it can never capture a
 * plugin's symbols) when the first text has to be written, and not before: a call
 * that is simply allowed writes nothing.
 *
 *	const struct json_writer *w = json_writer_get(err);
 *	struct json_object *o = w->object();
 *	w->add_text(o, "decision", STR("deny"));
 *	struct str text = w->text(o);	(dies with o)
 *	w->free(o);
 */
#ifndef PAWL_JSON_WRITE_H
#define PAWL_JSON_WRITE_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct json_object; /* json-c's */

struct json_writer {
	struct json_object *(*object)(void);
	struct json_object *(*array)(void);
	/* Into an object under key (borrowed only during the call); into an array
	 * when key is NULL.  Text is made valid UTF-8 first. */
	void (*add_text)(struct json_object *to, const char *key, struct str text);
	void (*add_raw)(struct json_object *to, const char *key, struct str json); /* copied */
	void (*add_integer)(struct json_object *to, const char *key, int64_t number);
	void (*add_bool)(struct json_object *to, const char *key, int yes);
	void (*add_null)(struct json_object *to, const char *key);
	/* takes child over */
	void (*add)(struct json_object *to, const char *key, struct json_object *child);
	/* One line; dies with the object or at the next call of text on it. */
	struct str (*text)(struct json_object *root);
	void (*free)(struct json_object *root);
};

/* The process's writer, loaded at the first call; NULL with err when it cannot
 * be.  [any thread after the first call has returned] */
const struct json_writer *json_writer_get(struct error *err);

/* What the module (write.so, beside the worker's plugins) exports. */
extern const struct json_writer pawl_json_writer;

#endif
