/* index.c - finds a member, and a name that comes twice, in a large object.
 *
 * Layer: json.  A table of twice the members at least, probed in a line.  The hash
 * is keyed with a random number, so that a text cannot be written whose names
 * collide; the sign of a name, which anyone can compute, has no part in it.
 */
#include <config.h>

#include "json/tree.h"

/* High and low half of the product: each bit of the result hangs on all of the input
 * and on the key. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t name_hash(const uint64_t key[2], const char *name, size_t len)
{
	uint64_t hash = key[0] ^ len;
	size_t left = len;
	for (; left > 8; left -= 8, name += 8)
		hash = fold(hash ^ load_8(name), key[1]) + key[0];
	hash = fold(hash ^ load_short(name, left), key[1]) + key[0];
	return fold(hash, key[1] ^ key[0] >> 1);
}

/* The smallest power of two that is at least twice count. */
static size_t table_size(size_t count)
{
	return (size_t)1 << (64 - __builtin_clzll(2 * (unsigned long long)count - 1));
}

size_t index_slots(size_t members)
{
	if (members <= INDEX_OVER)
		return 0;
	return table_size(members) * sizeof(uint32_t) / sizeof(struct json_value);
}

static int is_named(const struct json_value *member, const struct json_doc *doc, struct str name,
		    uint32_t sign)
{
	return member->name_sig == sign && str_equal(tree_name(doc, member), name);
}

/* Where name is in the table, or the free place where it belongs. */
static size_t probe(const uint32_t *table, const struct json_value *members, size_t count,
		    const struct json_doc *doc, struct str name, uint32_t sign)
{
	size_t mask = table_size(count) - 1;
	size_t at = (size_t)name_hash(doc->key, name.ptr, name.len) & mask;
	while (table[at] != 0 && !is_named(&members[table[at] - 1], doc, name, sign))
		at = (at + 1) & mask;
	return at;
}

const struct json_value *index_fill(uint32_t *table, const struct json_value *members, size_t count,
				    const struct json_doc *doc)
{
	memset(table, 0, table_size(count) * sizeof(*table));
	for (size_t i = 0; i < count; i++) {
		size_t at = probe(table, members, count, doc, tree_name(doc, &members[i]),
				  members[i].name_sig);
		if (table[at] != 0)
			return &members[i];
		table[at] = (uint32_t)i + 1;
	}
	return NULL;
}

const struct json_value *index_find(const struct json_value *members, size_t count,
				    const struct json_doc *doc, struct str name)
{
	const uint32_t *table = (const uint32_t *)(const void *)(members + count);
	size_t at = probe(table, members, count, doc, name, name_sign(name.ptr, name.len));
	return table[at] != 0 ? &members[table[at] - 1] : NULL;
}
