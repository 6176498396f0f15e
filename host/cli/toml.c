/* toml.c - see toml.h. */
#include <config.h>

#include "cli/toml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct json_arena *arena;
	const char *at, *end;
	unsigned line;
	struct toml_item item; /* of the table that is open */
	bool deep;	       /* it lies too deep to be told of */
};

static int wrong(const struct reader *r, struct error *err, const char *what)
{
	return error_set(err, EBADMSG, "line %u: %s", r->line, what);
}

static bool is(const struct reader *r, char c)
{
	return r->at < r->end && *r->at == c;
}

static bool is_three(const struct reader *r, char quote)
{
	return r->end - r->at >= 3 && r->at[0] == quote && r->at[1] == quote && r->at[2] == quote;
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
	if (is(r, '#'))
		while (r->at < r->end && *r->at != '\n')
			r->at++;
}

static void skip_lines(struct reader *r)
{
	for (skip_blanks(r); is(r, '\n'); skip_blanks(r)) {
		r->at++;
		r->line++;
	}
}

/* ---- strings -------------------------------------------------------------------------- */

static char *put_character(char *out, unsigned long c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xC0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3F));
	} else if (c < 0x10000) {
		*out++ = (char)(0xE0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3F));
		*out++ = (char)(0x80 | (c & 0x3F));
	} else {
		*out++ = (char)(0xF0 | (c >> 18 & 0x07));
		*out++ = (char)(0x80 | (c >> 12 & 0x3F));
		*out++ = (char)(0x80 | (c >> 6 & 0x3F));
		*out++ = (char)(0x80 | (c & 0x3F));
	}
	return out;
}

/* What follows a backslash; never more bytes than it took. NULL: no escape. */
static char *take_escape(struct reader *r, char *out)
{
	static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	char digits[9] = "", *rest;
	char c = *r->at++;
	const char *name = strchr(names, c);
	if (c && name) {
		*out++ = values[name - names];
		return out;
	}
	if (c == '\n' || c == ' ' || c == '\t' || c == '\r') { /* the line goes on below */
		for (r->at--; r->at < r->end && strchr(" \t\r\n", *r->at); r->at++)
			r->line += *r->at == '\n';
		return out;
	}
	size_t n = c == 'u' ? 4 : c == 'U' ? 8 : 0;
	if (n == 0 || (size_t)(r->end - r->at) < n)
		return NULL;
	memcpy(digits, r->at, n);
	unsigned long code = strtoul(digits, &rest, 16);
	r->at += n;
	return *rest || code > 0x10FFFF ? NULL : put_character(out, code);
}

static int take_string(struct reader *r, struct str *ret, struct error *err)
{
	char quote = *r->at;
	bool three = is_three(r, quote);
	r->at += three ? 3 : 1;
	if (three && is(r, '\n')) {
		r->at++;
		r->line++;
	}
	char *text = json_arena_alloc(r->arena, (size_t)(r->end - r->at) + 1), *out = text;
	if (!text)
		return error_set(err, ENOMEM, "out of memory");
	while (r->at < r->end && !(three ? is_three(r, quote) : *r->at == quote)) {
		if (*r->at == '\n' && !three)
			return wrong(r, err, "a string has no end");
		r->line += *r->at == '\n';
		if (*r->at != '\\' || quote == '\'') {
			*out++ = *r->at++;
			continue;
		}
		r->at++;
		out = r->at < r->end ? take_escape(r, out) : NULL;
		if (!out)
			return wrong(r, err, "an escape that is none");
	}
	if (r->at == r->end)
		return wrong(r, err, "a string has no end");
	r->at += three ? 3 : 1;
	*out = '\0';
	*ret = (struct str){text, (size_t)(out - text)};
	return 0;
}

/* ---- keys ------------------------------------------------------------------------------- */

static bool is_bare(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       c == '-';
}

/* a."b c".d, added to the item's path. */
static int take_path(struct reader *r, struct toml_item *item, bool *deep, struct error *err)
{
	for (;;) {
		struct str part = {r->at, 0};
		int status = 0;
		skip_blanks(r);
		part.ptr = r->at;
		if (is(r, '"') || is(r, '\''))
			status = take_string(r, &part, err);
		else
			while (r->at < r->end && is_bare(*r->at))
				r->at++, part.len++;
		if (status < 0)
			return status;
		if (part.len == 0)
			return wrong(r, err, "a key has no name");
		if (item->n < TOML_PATH_MAX)
			item->path[item->n++] = part;
		else
			*deep = true;
		skip_blanks(r);
		if (!is(r, '.'))
			return 0;
		r->at++;
	}
}

/* ---- values ----------------------------------------------------------------------------- */

/* [ ... ] and { ... }, up to the end that belongs to it. */
static int skip_nested(struct reader *r, struct error *err)
{
	struct str ignored;
	size_t depth = 0;
	do {
		int status = 0;
		skip_lines(r);
		if (r->at == r->end)
			return wrong(r, err, "an array or a table has no end");
		if (is(r, '"') || is(r, '\'')) {
			status = take_string(r, &ignored, err);
		} else {
			depth += is(r, '[') || is(r, '{');
			depth -= is(r, ']') || is(r, '}');
			r->at++;
		}
		if (status < 0)
			return status;
	} while (depth > 0);
	return 0;
}

static int take_value(struct reader *r, struct toml_item *item, struct error *err)
{
	skip_blanks(r);
	const char *begin = r->at;
	item->is_text = is(r, '"') || is(r, '\'');
	if (item->is_text)
		return take_string(r, &item->value, err);
	int status = 0;
	if (is(r, '[') || is(r, '{'))
		status = skip_nested(r, err);
	else
		while (r->at < r->end && !strchr(" \t\r\n#", *r->at))
			r->at++;
	item->value = (struct str){begin, (size_t)(r->at - begin)};
	return status < 0 ? status : item->value.len ? 0 : wrong(r, err, "a key has no value");
}

/* ---- the whole -------------------------------------------------------------------------- */

static int take_table(struct reader *r, void (*seen)(void *, const struct toml_item *),
		      void *context, struct error *err)
{
	bool many = r->end - r->at > 1 && r->at[1] == '[';
	r->at += many ? 2 : 1;
	memset(&r->item, 0, sizeof(r->item));
	r->deep = false;
	int status = take_path(r, &r->item, &r->deep, err);
	if (status < 0)
		return status;
	if (!is(r, ']') || (many && (r->end - r->at < 2 || r->at[1] != ']')))
		return wrong(r, err, "a table's name has no end");
	r->at += many ? 2 : 1;
	if (many && !r->deep) {
		struct toml_item item = r->item;
		item.begins = true;
		seen(context, &item);
	}
	return 0;
}

static int take_key(struct reader *r, void (*seen)(void *, const struct toml_item *),
		    void *context, struct error *err)
{
	struct toml_item item = r->item;
	bool deep = r->deep;
	int status = take_path(r, &item, &deep, err);
	if (status < 0)
		return status;
	if (!is(r, '='))
		return wrong(r, err, "a key has no value");
	r->at++;
	status = take_value(r, &item, err);
	if (status == 0 && !deep)
		seen(context, &item);
	return status;
}

int toml_read(struct json_arena *arena, struct str text,
	      void (*seen)(void *context, const struct toml_item *item), void *context,
	      struct error *err)
{
	struct reader r = {.arena = arena, .at = text.ptr, .end = text.ptr + text.len, .line = 1};
	int status = 0;
	if (str_starts(text, STR("\xEF\xBB\xBF")))
		r.at += 3;
	for (skip_lines(&r); status == 0 && r.at < r.end; skip_lines(&r)) {
		status = is(&r, '[') ? take_table(&r, seen, context, err) :
				       take_key(&r, seen, context, err);
		skip_blanks(&r);
		if (status == 0 && r.at < r.end && !is(&r, '\n'))
			status = wrong(&r, err, "more than a key and its value");
	}
	return status;
}
