/* tree.h - how a read text lies in the arena; for the files of this folder only.
 *
 * Layer: json.
 *
 *	[original][scratch][json_doc][slot 0][slot 1] ...
 *
 * original is the text as it came; scratch is a second copy of it, in which strings
 * are unescaped in place and end in NUL where their closing quote was.  A slot is
 * one value; the children of a container lie side by side, and behind those of an
 * object of more than INDEX_OVER members lies its index.  Offsets are 32 bits wide,
 * which JSON_BYTES_MAX keeps true.
 */
#ifndef PAWL_JSON_TREE_H
#define PAWL_JSON_TREE_H

#include <endian.h>
#include <stdint.h>

#include "json/json.h"

struct json_value {
	uint32_t name;      /* offset in scratch; only a member has these three */
	uint32_t name_len;
	uint32_t name_sig;  /* name_sign of it */
	uint32_t self;      /* slot number << TYPE_BITS | type */
	uint32_t start;     /* offset in the original; a string's text is at start + 1 in scratch */
	uint32_t size;      /* of the original bytes */
	uint32_t len;       /* children, bytes of a string, or 0 and 1 */
	uint32_t child;     /* slot of the first child */
};

#define TYPE_BITS 3
#define TYPE_MASK ((1u << TYPE_BITS) - 1)

/* Right before slot 0, so that every value finds it.  All pointers are read-only
 * ones, also those of a borrowed text. */
struct json_doc {
	const char *original;
	const char *scratch;
	uint64_t key[2]; /* of the index's hash */
	size_t len;
	uint64_t flags;
};

_Static_assert(sizeof(struct json_value) == 32, "two 16-byte moves a slot");
_Static_assert(sizeof(struct json_doc) % 16 == 0, "slots stay aligned");
_Static_assert(JSON_VALUES_MAX * 3 / 2 < ((size_t)1 << (32 - TYPE_BITS)), "self holds any slot");
_Static_assert(JSON_BYTES_MAX < UINT32_MAX, "offsets are 32 bits wide");

static inline enum json_type tree_type(const struct json_value *value)
{
	return (enum json_type)(value->self & TYPE_MASK);
}

static inline const struct json_value *tree_slots(const struct json_value *value)
{
	return value - (value->self >> TYPE_BITS);
}

static inline const struct json_doc *tree_doc(const struct json_value *value)
{
	return (const struct json_doc *)(const void *)tree_slots(value) - 1;
}

static inline const struct json_value *tree_children(const struct json_value *value)
{
	return tree_slots(value) + value->child;
}

static inline struct str tree_name(const struct json_doc *doc, const struct json_value *member)
{
	return (struct str){doc->scratch + member->name, member->name_len};
}

/* ---- names --------------------------------------------------------------------- */

/* Objects of up to this many members are searched one by one. */
#define INDEX_OVER 16

static inline uint64_t load_8(const char *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static inline uint64_t load_4(const char *at)
{
	uint32_t word;
	memcpy(&word, at, sizeof(word));
	return le32toh(word);
}

/* Up to 8 bytes as a number, zeros behind them; reads nothing else.  Loads that
 * overlap agree where they do. */
static inline uint64_t load_short(const char *at, size_t len)
{
	if (len >= 8)
		return load_8(at);
	if (len >= 4)
		return load_4(at) | load_4(at + len - 4) << (8 * (len - 4));
	if (len == 0)
		return 0;
	const unsigned char *byte = (const unsigned char *)at;
	return (uint64_t)byte[0] | (uint64_t)byte[len / 2] << (8 * (len / 2)) |
	       (uint64_t)byte[len - 1] << (8 * (len - 1));
}

/* Tells names apart quickly.  Anyone can make two names that share it, so it only
 * ever spares comparisons among INDEX_OVER members. */
static inline uint32_t name_sign_words(uint64_t first, uint64_t last, size_t len)
{
	uint64_t mixed = (first ^ (last << 17 | last >> 47) ^ (uint64_t)len << 56) *
			 UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(mixed >> 32);
}

static inline uint32_t name_sign(const char *name, size_t len)
{
	uint64_t first = load_short(name, len);
	return name_sign_words(first, len > 8 ? load_8(name + len - 8) : 0, len);
}

/* ---- index.c -------------------------------------------------------------------- */

/* Slots that the index of an object takes; 0 for a small one. */
size_t index_slots(size_t members);
/* Fills the index at table (zeroed here).  Returns the second member of two with
 * the same name, or NULL. */
const struct json_value *index_fill(uint32_t *table, const struct json_value *members,
				    size_t count, const struct json_doc *doc);
const struct json_value *index_find(const struct json_value *members, size_t count,
				    const struct json_doc *doc, struct str name);

/* ---- arena.c, number.c, read.c ------------------------------------------------------ */

/* Two random numbers drawn when the arena was made. */
const uint64_t *arena_key(const struct json_arena *arena);
/* Bytes that are still free. */
size_t arena_room(const struct json_arena *arena);
/* json_arena_alloc without the pages: they come as they are touched. */
void *arena_reserve(struct json_arena *arena, size_t size);
/* Has the pages up to end (writable) at least; returns up to where they are. */
const void *arena_ready(struct json_arena *arena, const void *end);
/* Has those from at to end, wherever. */
void arena_populate(const struct json_arena *arena, const void *at, const void *end);
/* A place that is always there, for whoever reads at the moment. */
void *arena_stack(const struct json_arena *arena, size_t *ret_size);
/* Ends what is used at end; up to touched there were writes. Both writable. */
void arena_cut(struct json_arena *arena, const void *end, const void *touched);

/* Both are numbers by RFC 8259's grammar. */
int number_integer(struct str lexeme, int64_t *ret);
int number_real(struct str lexeme, double *ret);
int number_same(struct str a, struct str b);

/* The value of a text without the BOMs and white space around it. */
struct str text_trim(struct str text);
void text_place(struct str text, size_t offset, unsigned *line, unsigned *column);

/* ---- value.c: steps of a JSON pointer -------------------------------------------------- */

/* Takes the next token off pointer; -ENOENT when it is malformed. */
int token_next(struct str *pointer, struct str *ret);
/* An array index: digits only, no leading zero; -ENOENT. */
int token_index(struct str token, size_t *ret);
const struct json_value *token_value(const struct json_value *container, struct str token);

#endif
