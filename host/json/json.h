/* json.h - the strict reader: foreign text in, a frozen tree out.
 *
 * Layer: json; knows base and libc, nothing of policy.
 *
 * Everything that comes from outside is read here, once.  RFC 8259, and stricter
 * where two readers could differ: valid UTF-8, no duplicate member (after
 * unescaping), no NUL in a member name, no lone surrogate, bounded depth, size and
 * count, nothing after the value but white space; any run of leading BOMs is
 * skipped.  Each value keeps its original bytes.
 *
 * Memory: one arena a call.  It is mapped twice: the host writes through one
 * mapping, and every pointer that this header hands out (values, strings, texts)
 * lies in the other, read-only one, so that a plugin which writes there faults.
 *
 *	struct json_arena *arena;
 *	const struct json_value *root;
 *	struct json_fault fault;
 *	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, err) < 0) ...
 *	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &root, &fault, err) < 0)
 *		... err says what, fault where
 *	const struct json_value *tool = json_member(root, STR("tool_name"));
 */
#ifndef PAWL_JSON_JSON_H
#define PAWL_JSON_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* ---- the arena ----------------------------------------------------------- */

struct json_arena;

/* Address space, not memory: pages are taken as they are touched. */
#define JSON_ARENA_DEFAULT ((size_t)1 << 30)

/* *ret is the caller's, free with json_arena_free.  -ENOMEM, or the errno of
 * memfd_create/mmap. */
int json_arena_new(size_t reserve, struct json_arena **ret, struct error *err);
void json_arena_free(struct json_arena *arena); /* takes NULL */

/* Where the arena stands; rewinding gives everything after the mark back (and the
 * pages above a few MiB too, unless the rewind before also had that much in use).  All
 * pointers taken since die.  The memory is shared with a forked child: do not write on
 * both sides. */
size_t json_arena_mark(const struct json_arena *arena);
void json_arena_rewind(struct json_arena *arena, size_t mark);

/* size bytes, 16-aligned, for the host to write; NULL when the arena is full.
 * json_arena_frozen gives the same place in the read-only mapping. */
void *json_arena_alloc(struct json_arena *arena, size_t size);
const void *json_arena_frozen(const struct json_arena *arena, const void *writable);

/* A NUL-terminated copy in the read-only mapping; ptr NULL when the arena is full. */
struct str json_arena_text(struct json_arena *arena, struct str text);

/* ---- reading -------------------------------------------------------------- */

struct json_limits {
	size_t bytes;  /* of the whole text; also an edit's result */
	size_t values; /* of the whole tree, members' names not counted */
	unsigned depth; /* of arrays and objects; 1 = one object without any in it */
}; /* what is more than the constants below counts as they do */

#define JSON_BYTES_MAX ((size_t)64 << 20)
#define JSON_VALUES_MAX ((size_t)8 << 20)
#define JSON_DEPTH_MAX 512
#define JSON_DEFAULT_LIMITS ((struct json_limits){JSON_BYTES_MAX, JSON_VALUES_MAX, JSON_DEPTH_MAX})

#define JSON_COMMENTS 1u /* // and / * * / comments and trailing commas, for config */
#define JSON_BORROW 2u   /* text outlives the arena's mark and is not writable: don't copy it */

/* Where reading stopped; line and column count from 1, columns in bytes. */
struct json_fault {
	size_t offset;
	unsigned line, column;
};

struct json_value; /* opaque, frozen; lives until its arena is rewound */

/* Reads the one value in text.  *ret is borrowed from the arena.  -EBADMSG not
 * JSON (err: "duplicate member \"command\"", ...), -E2BIG a limit (err names it),
 * -ENOMEM the arena is full.  fault and err may be NULL.  On failure the arena is
 * as before. */
int json_parse(struct json_arena *arena, struct str text, struct json_limits limits, unsigned flags,
	       const struct json_value **ret, struct json_fault *fault, struct error *err);

/* Line and column of a place inside the text a value was read from (its own
 * start); root is any value of that same text. */
void json_place(const struct json_value *value, unsigned *line, unsigned *column);

/* ---- looking at values ---------------------------------------------------
 * None allocates but json_text; all take NULL and then give JSON_NULL, 0, NULL or
 * -ENOENT.  Numbers of types as in <pawl/plugin.h>. */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

enum json_type json_type(const struct json_value *value);
/* items, members, or bytes of the unescaped string; else 0 */
size_t json_length(const struct json_value *value);
/* NULL when absent or not an object.  Names compare by bytes, unescaped. */
const struct json_value *json_member(const struct json_value *object, struct str name);
const struct json_value *json_item(const struct json_value *array, size_t index);
/* RFC 6901; "" is value itself; NULL when it leads nowhere or is malformed. */
const struct json_value *json_at(const struct json_value *value, struct str pointer);
/* Member index (document order): its name, and its value when value is not NULL.
 * Walking 0, 1, 2 ... costs constant time a step. */
struct str json_key(const struct json_value *object, size_t index, const struct json_value **value);
/* unescaped, NUL-terminated (a string may hold more NULs); -EPROTOTYPE when it is no string */
int json_string(const struct json_value *value, struct str *ret);
/* exact: 10, 10.0, 1e1 are 10; -ERANGE for 1.5 or 2^63; -EPROTOTYPE */
int json_integer(const struct json_value *value, int64_t *ret);
/* nearest double; -ERANGE when it is not finite; -EPROTOTYPE */
int json_real(const struct json_value *value, double *ret);
int json_boolean(const struct json_value *value, int *ret);
/* The value's original bytes, not NUL-terminated, without white space around. */
struct str json_raw(const struct json_value *value);
/* Same JSON value: numbers by exact value, objects by members whatever their
 * order, strings by bytes.  (Numbers whose exponent has more than 17 digits are the
 * same only if they are written the same.) */
int json_same(const struct json_value *a, const struct json_value *b);

/* ---- edits ------------------------------------------------------------------
 * Each makes the whole new text from the old root's bytes, so that what is not
 * touched stays byte for byte, reads it with the same limits, and gives the new
 * root.  The old root stays valid.  -EBADMSG json is not JSON, -ENOENT the
 * pointer leads nowhere, -E2BIG a limit. */

/* Replaces what pointer names, or adds a member (its parent must be an object) or
 * an item (index == length, or "-").  "" replaces everything. */
int json_set_at(struct json_arena *arena, const struct json_value *root, struct str pointer,
		struct str json, struct json_limits limits, const struct json_value **ret,
		struct error *err);
/* Removes a member or item; "" is -EINVAL. */
int json_remove_at(struct json_arena *arena, const struct json_value *root, struct str pointer,
		   struct json_limits limits, const struct json_value **ret, struct error *err);

/* root (an object) with each member of over (an object) set in it. */
int json_merge(struct json_arena *arena, const struct json_value *root,
	       const struct json_value *over, struct json_limits limits,
	       const struct json_value **ret, struct error *err);

/* ---- helpers for whoever splices or listens --------------------------------- */

/* Quotes text as a JSON string into the arena (invalid UTF-8 and lone surrogates
 * become U+FFFD); ptr NULL when full. */
struct str json_quote(struct json_arena *arena, struct str text);

/* Tells, byte by byte, when one complete top-level value has arrived. Zero it to
 * begin; libc only, no allocation, usable without the reader. */
struct json_end {
	uint32_t depth;
	uint8_t state, started, done;
};
/* Feeds len bytes; returns how many belong to the value (len while it goes on);
 * end->done is 1 once it is complete. A number or word at the top is complete only
 * at white space (or at the end of input, which the caller sees). */
size_t json_end_feed(struct json_end *end, const char *data, size_t len);

#endif
