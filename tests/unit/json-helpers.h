/* json-helpers.h - what the tests of host/json share: one arena, texts read in it. */
#ifndef PAWL_TESTS_JSON_HELPERS_H
#define PAWL_TESTS_JSON_HELPERS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"

static struct json_arena *arena;

static inline int arena_setup(void **state)
{
	(void)state;
	return json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL);
}

static inline int arena_teardown(void **state)
{
	(void)state;
	json_arena_free(arena);
	arena = NULL;
	return 0;
}

static inline const struct json_value *read_flags(struct str text, unsigned flags)
{
	const struct json_value *value = NULL;
	struct error err = {""};
	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, flags, &value, NULL, &err) < 0)
		fail_msg("%.*s: %s", STR_FMT(text), err.text);
	return value;
}

static inline const struct json_value *read_text(const char *text)
{
	return read_flags(str_of(text), 0);
}

static inline int try_text(struct str text)
{
	const struct json_value *value;
	return json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL);
}

#define assert_str(text, expected)                                                                 \
	do {                                                                                       \
		struct str str_ = (text);                                                          \
		if (!str_is(str_, (expected)))                                                     \
			fail_msg("\"%.*s\" is not \"%s\"", STR_FMT(str_), (expected));             \
	} while (0)

#endif
