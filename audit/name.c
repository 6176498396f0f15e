/* name.c - ids that come out the same twice: see name.h. */
#include <config.h>

#include "name.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct member {
	struct str name;
	const struct json_value *value;
};

/* A length goes first, so that no two lists of texts are the same bytes. */
static void add(crypto_hash_sha256_state *state, char tag, const void *bytes, uint64_t len)
{
	crypto_hash_sha256_update(state, (const unsigned char *)&tag, 1);
	crypto_hash_sha256_update(state, (const unsigned char *)&len, sizeof(len));
	if (len > 0)
		crypto_hash_sha256_update(state, bytes, len);
}

static void add_number(crypto_hash_sha256_state *state, const struct json_value *value)
{
	double number;
	if (json_real(value, &number) < 0) {
		add(state, 'n', NULL, 0);
		return;
	}
	if (number == 0)
		number = 0; /* -0 is written "0" */
	add(state, 'd', &number, sizeof(number));
}

static int by_name(const void *a, const void *b)
{
	struct str x = ((const struct member *)a)->name, y = ((const struct member *)b)->name;
	int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);
	return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

/* As deep as the reader lets a value be.  false: out of memory */
static bool add_value(crypto_hash_sha256_state *state, struct json_arena *arena,
		      const struct json_value *value);

static bool add_object(crypto_hash_sha256_state *state, struct json_arena *arena,
		       const struct json_value *object)
{
	size_t n = json_length(object), mark = json_arena_mark(arena);
	struct member *members = json_arena_alloc(arena, (n + 1) * sizeof(*members));
	bool ok = members;
	for (size_t i = 0; ok && i < n; i++)
		members[i].name = json_key(object, i, &members[i].value);
	if (ok && n > 1)
		qsort(members, n, sizeof(*members), by_name);
	for (size_t i = 0; ok && i < n; i++) {
		add(state, 'k', members[i].name.ptr, members[i].name.len);
		ok = add_value(state, arena, members[i].value);
	}
	json_arena_rewind(arena, mark);
	return ok;
}

static bool add_value(crypto_hash_sha256_state *state, struct json_arena *arena,
		      const struct json_value *value)
{
	struct str text = {NULL, 0};
	bool ok = true;
	int yes = 0;
	switch (json_type(value)) {
	case JSON_NUMBER:
		add_number(state, value);
		break;
	case JSON_BOOL:
		(void)json_boolean(value, &yes);
		add(state, yes ? 't' : 'f', NULL, 0);
		break;
	case JSON_STRING:
		(void)json_string(value, &text);
		add(state, 's', text.ptr, text.len);
		break;
	case JSON_ARRAY:
		add(state, 'a', NULL, 0);
		for (size_t i = 0; ok && i < json_length(value); i++)
			ok = add_value(state, arena, json_item(value, i));
		add(state, 'e', NULL, 0);
		break;
	case JSON_OBJECT:
		add(state, 'o', NULL, 0);
		ok = add_object(state, arena, value);
		add(state, 'e', NULL, 0);
		break;
	default:
		add(state, 'n', NULL, 0);
	}
	return ok;
}

void name_call(struct json_arena *arena, struct str session, struct str tool, struct str server,
	       struct str args, char buf[NAME_MAX_LEN])
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	const struct json_value *value = NULL;
	size_t mark = json_arena_mark(arena);
	crypto_hash_sha256_init(&state);
	add(&state, 'S', session.ptr, session.len);
	add(&state, 'T', tool.ptr, tool.len);
	add(&state, 'M', server.ptr, server.len);
	bool ok = !args.ptr || json_parse(arena, args, JSON_DEFAULT_LIMITS, 0, &value, NULL,
					  NULL) == 0;
	/* what cannot be read is the same only byte for byte */
	if (!ok || !add_value(&state, arena, value))
		add(&state, 'B', args.ptr, args.len);
	json_arena_rewind(arena, mark);
	crypto_hash_sha256_final(&state, hash);
	memcpy(buf, "pawl-", 5);
	sodium_bin2hex(buf + 5, NAME_MAX_LEN - 5, hash, (NAME_MAX_LEN - 6) / 2);
}
