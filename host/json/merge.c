/* merge.c - one object's members set over another's, by edits. */
#include <config.h>

#include <errno.h>

#include "json/json.h"

#define POINTER_MAX 1024

/* "/" and name, escaped as RFC 6901 wants it; 0 when it does not fit. */
static size_t pointer_to(struct str name, char pointer[POINTER_MAX])
{
	size_t at = 0;
	pointer[at++] = '/';
	for (size_t i = 0; i < name.len; i++) {
		if (at + 2 > POINTER_MAX)
			return 0;
		char c = name.ptr[i];
		if (c == '~' || c == '/') {
			pointer[at++] = '~';
			c = c == '~' ? '0' : '1';
		}
		pointer[at++] = c;
	}
	return at;
}

int json_merge(struct json_arena *arena, const struct json_value *root,
	       const struct json_value *over, struct json_limits limits,
	       const struct json_value **ret, struct error *err)
{
	const struct json_value *value;
	for (size_t i = 0; i < json_length(over); i++) {
		char pointer[POINTER_MAX];
		size_t len = pointer_to(json_key(over, i, &value), pointer);
		if (len == 0)
			return error_set(err, E2BIG, "a member's name is longer than %d bytes",
					 POINTER_MAX - 2);
		int r = json_set_at(arena, root, (struct str){pointer, len}, json_raw(value),
				    limits, &root, err);
		if (r < 0)
			return r;
	}
	*ret = root;
	return 0;
}
