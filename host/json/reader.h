/* reader.h - what the reader's files share while a text is read.
 *
 * Layer: json.  read.c prepares and ends, parse.c knows the grammar, lex.h white
 * space, strings and numbers, refuse.c the messages.
 */
#ifndef PAWL_JSON_READER_H
#define PAWL_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "json/tree.h"

#define always_inline inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

typedef unsigned char byte;

/* One text on its way. */
struct reader {
	byte *text, *end;          /* scratch; zeros from end on */
	const byte *source;        /* the text as it was; */
	const byte *source_end;    /* up to here it can be read: a borrowed one has no zeros */
	struct json_value *stack;  /* its first slot: at first the arena's small place, */
	struct json_value *far;    /* then here, with room for all values */
	struct json_value *top;    /* the first free one */
	size_t stack_slots;        /* that can be used now */
	struct json_value *open;   /* the innermost container not yet closed, or NULL */
	struct json_value *slots;  /* final places */
	const struct json_value *ready; /* up to where their pages are there */
	uint32_t used;             /* of them */
	uint32_t left;             /* values that may come before more_values is asked, */
	size_t values, total;      /* after that, and from the start on */
	int bound;                 /* what it means when none is left at all */
	unsigned depth_left;
	struct json_arena *arena;
	const struct json_doc *doc;
	struct json_limits limits;
	int code;
	const byte *fault;
	struct error *err;
};

/* Each notes what is wrong and where, and returns NULL: the place to go on from. */
byte *refuse(struct reader *r, const byte *at, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));
byte *refuse_byte(struct reader *r, const byte *at, const char *wanted) __attribute__((cold));
byte *refuse_values(struct reader *r, const byte *at) __attribute__((cold));
byte *refuse_twice(struct reader *r, const struct json_value *member) __attribute__((cold));

/* The stack holds as many slots as there may be values before this is asked again, and
 * one more, in which the name of the value to come may already be. */
bool more_values(struct reader *r) __attribute__((cold));

/* Reads one value and the white space around; returns the text's end or NULL. */
byte *parse_text(struct reader *r, byte *at, bool comments);

#endif
