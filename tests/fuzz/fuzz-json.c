/* fuzz-json.c - whatever the strict reader takes keeps its promises. */
#include <config.h>

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "json/json.h"

#define must(condition) ((condition) ? (void)0 : abort())

static struct json_arena *arena;

static void look(const struct json_value *value)
{
	struct str text = {NULL, 0};
	int64_t integer;
	double real, again;
	if (json_string(value, &text) == 0)
		must(text.ptr[text.len] == '\0' && text.len == json_length(value));
	if (json_real(value, &real) == 0 && json_integer(value, &integer) == 0) {
		again = (double)integer;
		must(again == real);
	}
	must(json_raw(value).len > 0);
}

/* All values of a tree, without recursion. */
static void walk(const struct json_value *root)
{
	struct {
		const struct json_value *of;
		size_t next;
	} way[JSON_DEPTH_MAX + 1];
	size_t depth = 0;
	way[depth++].of = root;
	way[0].next = 0;
	look(root);
	while (depth > 0) {
		const struct json_value *of = way[depth - 1].of, *child;
		size_t next = way[depth - 1].next++;
		child = json_item(of, next);
		if (json_type(of) == JSON_OBJECT && next < json_length(of)) {
			struct str name = json_key(of, next, &child);
			must(name.ptr[name.len] == '\0' && strlen(name.ptr) == name.len);
			must(json_member(of, name) == child);
		}
		if (!child) {
			depth--;
			continue;
		}
		look(child);
		way[depth].of = child;
		way[depth++].next = 0;
	}
}

static void edit(const struct json_value *root)
{
	const struct json_value *first = NULL, *after;
	if (json_type(root) == JSON_OBJECT)
		json_key(root, 0, &first);
	if (json_set_at(arena, root, STR("/fuzz\"~0"), STR("[1,{}]"), JSON_DEFAULT_LIMITS, &after,
			NULL) == 0) {
		must(json_at(after, STR("/fuzz\"~0/1")) != NULL);
		must(json_remove_at(arena, after, STR("/fuzz\"~0"), JSON_DEFAULT_LIMITS, &after,
				    NULL) == 0);
	}
	if (json_remove_at(arena, root, STR("/0"), JSON_DEFAULT_LIMITS, &after, NULL) == 0)
		must(json_length(after) + 1 == json_length(root));
}

static void read_one(struct str text, unsigned flags)
{
	const struct json_value *root, *again;
	struct json_fault fault = {0};
	struct error err;
	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, flags, &root, &fault, &err) < 0) {
		must(fault.offset <= text.len && fault.line > 0 && fault.column > 0);
		return;
	}
	struct json_end end = {0};
	size_t n = json_end_feed(&end, text.ptr, text.len);
	must(flags != 0 || end.done || n == text.len);
	must(json_parse(arena, json_raw(root), JSON_DEFAULT_LIMITS, flags | JSON_BORROW, &again,
			NULL, NULL) == 0);
	must(json_same(root, again));
	walk(root);
	edit(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!arena && json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		abort();
	size_t mark = json_arena_mark(arena);
	struct str text = {(const char *)data, size};
	read_one(text, 0);
	json_arena_rewind(arena, mark);
	read_one(text, JSON_COMMENTS);
	json_arena_rewind(arena, mark);
	struct str quoted = json_quote(arena, text);
	const struct json_value *value;
	must(json_parse(arena, quoted, JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL) == 0);
	json_arena_rewind(arena, mark);
	return 0;
}
