/* shallow.c - skips over JSON values by their brackets and quotes. */
#include <config.h>

#include "shallow.h"

static size_t space(struct str text, size_t at)
{
	while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t' ||
				 text.ptr[at] == '\n' || text.ptr[at] == '\r'))
		at++;
	return at;
}

/* Behind the closing quote of the string that begins at at; len when it has none. */
static size_t string_end(struct str text, size_t at)
{
	for (at++; at < text.len && text.ptr[at] != '"'; at++)
		if (text.ptr[at] == '\\')
			at++;
	return at < text.len ? at + 1 : text.len;
}

static size_t value_end(struct str text, size_t at)
{
	size_t depth = 0;
	while (at < text.len) {
		char c = text.ptr[at];
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		if (c == '"') {
			at = string_end(text, at);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		if (c == '}' || c == ']')
			depth--;
		at++;
	}
	return at;
}

static struct str trimmed(struct str text, size_t from, size_t to)
{
	while (to > from && strchr(" \t\r\n", text.ptr[to - 1]))
		to--;
	return (struct str){text.ptr + from, to - from};
}

int shallow_next(struct str object, size_t *at, struct str *name, struct str *value)
{
	size_t i = space(object, *at);
	if (i >= object.len || object.ptr[i] != (*at == 0 ? '{' : ','))
		return i < object.len && object.ptr[i] == '}' && *at != 0 ? 0 : -1;
	i = space(object, i + 1);
	if (i < object.len && object.ptr[i] == '}')
		return *at == 0 ? 0 : -1;
	if (i >= object.len || object.ptr[i] != '"')
		return -1;
	size_t end = string_end(object, i);
	*name = (struct str){object.ptr + i + 1, end - i - 2};
	i = space(object, end);
	if (i >= object.len || object.ptr[i] != ':')
		return -1;
	i = space(object, i + 1);
	end = value_end(object, i);
	if (end == i || end >= object.len)
		return -1;
	*value = trimmed(object, i, end);
	*at = end;
	return 1;
}

size_t shallow_depth(struct str json)
{
	size_t depth = 0, deepest = 0;
	for (size_t at = 0; at < json.len;) {
		char c = json.ptr[at];
		if (c == '"') {
			at = string_end(json, at);
			continue;
		}
		if ((c == '{' || c == '[') && ++depth > deepest)
			deepest = depth;
		if (c == '}' || c == ']')
			depth--;
		at++;
	}
	return deepest;
}
