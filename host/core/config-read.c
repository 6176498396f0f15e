/* config-read.c - places, errors, and the keys that hold a single value.
 *
 * Layer: core.
 */
#include <config.h>

#include "core/config-impl.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- places and errors ---------------------------------------------------------- */

/* Goes on from where it stopped last: entries are asked about in order. */
void place_of(struct config_file *file, const char *at, unsigned *line, unsigned *column)
{
	if (!file->mark || at < file->mark) {
		file->mark = file->line_start = file->text.ptr;
		file->line = 1;
	}
	const char *newline;
	while (file->mark < at &&
	       (newline = memchr(file->mark, '\n', (size_t)(at - file->mark))) != NULL) {
		file->line++;
		file->mark = file->line_start = newline + 1;
	}
	file->mark = at;
	*line = file->line;
	*column = (unsigned)(at - file->line_start) + 1;
}

__attribute__((format(printf, 3, 0))) static int fail_at(struct reader *reader, const char *at,
							 const char *format, va_list ap)
{
	unsigned line, column;
	struct error what = {""};
	place_of(reader->file, at, &line, &column);
	vsnprintf(what.text, sizeof(what.text), format, ap);
	return error_set(reader->err, EINVAL, "%.*s:%u:%u: %s", STR_FMT(reader->file->path), line,
			 column, what.text);
}

int fail(struct reader *reader, const struct json_value *at, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int r = fail_at(reader, json_raw(at).ptr, format, ap);
	va_end(ap);
	return r;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Where the name of a member begins; where a comment stands between name and value,
 * the value. */
static const char *key_start(const struct config_file *file, const struct json_value *value)
{
	const char *at = json_raw(value).ptr, *p = at - 1, *first = file->text.ptr;
	while (p > first && is_space(*p))
		p--;
	if (p <= first || *p != ':')
		return at;
	p--;
	while (p > first && is_space(*p))
		p--;
	if (p <= first || *p != '"')
		return at;
	for (p--; p > first; p--) {
		size_t slashes = 0;
		while (*p == '"' && p - slashes > first && p[-1 - (ptrdiff_t)slashes] == '\\')
			slashes++;
		if (*p == '"' && slashes % 2 == 0)
			return p;
	}
	return at;
}

int fail_key(struct reader *reader, const struct json_value *value, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int r = fail_at(reader, key_start(reader->file, value), format, ap);
	va_end(ap);
	return r;
}

int fail_memory(struct reader *reader)
{
	return error_set(reader->err, ENOMEM, "%.*s:1:1: no memory for the config; make it smaller",
			 STR_FMT(reader->file->path));
}

const char *type_name(const struct json_value *value)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
		[JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array",  [JSON_OBJECT] = "an object",
	};
	return names[json_type(value)];
}

int need_type(struct reader *reader, const struct config_key *key, const struct json_value *value,
	      enum json_type type, const char *example)
{
	if (json_type(value) == type)
		return 0;
	return fail(reader, value, "\"%s\" is %s; write %s", key->name, type_name(value), example);
}

const char *shown(struct str text, char buf[80])
{
	size_t n = text.len < 76 ? text.len : 76;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		buf[i] = c < 0x20 || c == 0x7f ? '?' : text.ptr[i];
	}
	while (n > 0 && text.len > n && ((unsigned char)text.ptr[n] & 0xC0) == 0x80)
		n--; /* no half character at the cut */
	memcpy(buf + n, "...", 4);
	if (text.len <= n)
		buf[n] = '\0';
	return buf;
}

void *reader_alloc(struct reader *reader, size_t count, size_t size)
{
	void *place = json_arena_alloc(reader->config->arena, count * size + (count == 0));
	if (place)
		memset(place, 0, count * size);
	return place;
}

/* ---- single values --------------------------------------------------------------- */

/* A string that is not empty and has no control character. */
int read_plain_text(struct reader *reader, const struct config_key *key,
		    const struct json_value *value, struct str *ret)
{
	struct str text;
	int r = need_type(reader, key, value, JSON_STRING, "a string");
	if (r < 0)
		return r;
	json_string(value, &text);
	if (text.len == 0)
		return fail(reader, value, "\"%s\" is empty; fill it in or leave the key out",
			    key->name);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
			return fail(reader, value, "\"%s\" has a control character; take it out",
				    key->name);
	*ret = text;
	return 0;
}

int resolve_path(struct reader *reader, const struct json_value *value, struct str text,
		 struct str *ret)
{
	char path[PATH_MAX];
	struct str dir = reader->config->dir;
	int n = text.ptr[0] == '/'
			? snprintf(path, sizeof(path), "%.*s", STR_FMT(text))
			: snprintf(path, sizeof(path), "%.*s/%.*s", STR_FMT(dir), STR_FMT(text));
	if (n < 0 || (size_t)n >= sizeof(path))
		return fail(reader, value, "the path is too long; a path has at most %d bytes",
			    PATH_MAX - 1);
	*ret = json_arena_text(reader->config->arena, (struct str){path, (size_t)n});
	return ret->ptr ? 0 : fail_memory(reader);
}

int read_path(struct reader *reader, const struct config_key *key, const struct json_value *value,
	      void *base)
{
	struct str text;
	int r = read_plain_text(reader, key, value, &text);
	return r < 0 ? r
		     : resolve_path(reader, value, text, (struct str *)((char *)base + key->place));
}

/* nanoseconds as people write them, in the largest unit that divides them */
static const char *duration_text(int64_t ns, char buf[32])
{
	static const struct {
		int64_t ns;
		const char *unit;
	} units[] = {{3600000000000, "h"}, {60000000000, "m"}, {1000000000, "s"}, {1000000, "ms"}};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ns >= units[i].ns && ns % units[i].ns == 0) {
			snprintf(buf, 32, "%lld%s", (long long)(ns / units[i].ns), units[i].unit);
			return buf;
		}
	snprintf(buf, 32, "0");
	return buf;
}

int read_duration(struct reader *reader, const struct config_key *key,
		  const struct json_value *value, void *base)
{
	char low[32], high[32], text_shown[80];
	struct str text;
	int64_t ns;
	if (json_string(value, &text) < 0 || config_duration(text, &ns) < 0)
		return fail(reader, value,
			    "\"%s\" is %s; write a duration such as \"250ms\", \"2s\", \"5m\" or "
			    "\"1h\"",
			    key->name,
			    json_type(value) == JSON_STRING ? shown(json_raw(value), text_shown)
							    : type_name(value));
	if (ns < key->min || ns > key->max)
		return fail(reader, value, "\"%s\" is %s; write %s to %s", key->name,
			    shown(json_raw(value), text_shown), duration_text(key->min, low),
			    duration_text(key->max, high));
	*(int64_t *)((char *)base + key->place) = ns;
	return 0;
}

/* Fields differ in width, and none is ever negative. */
static void store(void *place, size_t size, int64_t number)
{
	if (size == sizeof(bool)) {
		bool yes = number != 0;
		memcpy(place, &yes, sizeof(yes));
	} else if (size == sizeof(uint32_t)) {
		uint32_t small = (uint32_t)number;
		memcpy(place, &small, sizeof(small));
	} else {
		memcpy(place, &number, sizeof(number));
	}
}

int read_integer(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	int64_t number;
	if (json_integer(value, &number) < 0 || number < key->min || number > key->max)
		return fail(reader, value, "\"%s\" must be a whole number from %lld to %lld",
			    key->name, (long long)key->min, (long long)key->max);
	store((char *)base + key->place, key->size, number);
	return 0;
}

int read_boolean(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	int yes;
	if (json_boolean(value, &yes) < 0)
		return fail(reader, value, "\"%s\" is %s; write true or false", key->name,
			    type_name(value));
	store((char *)base + key->place, key->size, yes);
	return 0;
}

int read_choice(struct reader *reader, const struct config_key *key, const struct json_value *value,
		void *base)
{
	char text_shown[80];
	struct str text = {"", 0};
	bool is_text = json_string(value, &text) == 0;
	int number = 0;
	for (const char *at = key->choices; is_text; number++) {
		size_t n = strcspn(at, "|");
		if (str_equal(text, (struct str){at, n})) {
			store((char *)base + key->place, key->size, number);
			return 0;
		}
		if (at[n] == '\0')
			break;
		at += n + 1;
	}
	return fail(reader, value, "\"%s\" is %s; write one of %s", key->name,
		    is_text ? shown(json_raw(value), text_shown) : type_name(value), key->choices);
}

/* {word} must be one that is filled in, or the model would read it as it stands. */
int read_refusal(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	static const char *const known[] = {"tool", "reason", "rule", "plugin"};
	char word_shown[80];
	struct str text;
	int r = read_plain_text(reader, key, value, &text);
	if (r < 0)
		return r;
	if (text.len > 1024)
		return fail(reader, value, "\"%s\" has more than 1024 bytes; shorten it",
			    key->name);
	for (const char *at = text.ptr; (at = strchr(at, '{')) != NULL; at++) {
		size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
		struct str word = {at + 1, n};
		bool ok = n == 0 || at[n + 1] != '}';
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			ok = ok || str_is(word, known[i]);
		if (!ok)
			return fail(reader, value,
				    "\"%s\" has {%s}; known are {tool} {reason} {rule} {plugin}",
				    key->name, shown(word, word_shown));
	}
	*(struct str *)((char *)base + key->place) = text;
	return 0;
}

int read_section(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	int r = need_type(reader, key, value, JSON_OBJECT, "an object");
	return r < 0 ? r : read_object(reader, key->section, WALK_ONCE, value, base);
}

/* ---- text ------------------------------------------------------------------------ */

int config_duration(struct str text, int64_t *ret_ns)
{
	static const struct {
		struct str unit;
		int64_t ns;
	} units[] = {
		{{"ms", 2}, 1000000},
		{{"s", 1}, 1000000000},
		{{"m", 1}, 60000000000},
		{{"h", 1}, 3600000000000},
	};
	size_t i = 0;
	int64_t number = 0;
	for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, text.ptr[i] - '0', &number))
			return -EINVAL;
	if (i == 0)
		return -EINVAL;
	if (i == text.len && number == 0) {
		*ret_ns = 0;
		return 0;
	}
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		if (str_equal(str_after(text, i), units[u].unit)) {
			if (__builtin_mul_overflow(number, units[u].ns, &number))
				return -EINVAL;
			*ret_ns = number;
			return 0;
		}
	return -EINVAL;
}

/* Blanks the comment at text[i]; returns where it ends. */
static size_t blank_one(char *text, size_t i, size_t len)
{
	size_t end = i + 2;
	if (text[i + 1] == '*') {
		while (end + 2 < len && (text[end] != '*' || text[end + 1] != '/'))
			end++;
		end += 2;
	} else {
		while (end < len && text[end] != '\n')
			end++;
	}
	for (; i < end && i < len; i++)
		if (text[i] != '\n')
			text[i] = ' ';
	return i;
}

/* The reader has found the text sound; only what it skipped is touched, so the tree
 * and all places stay as they are. */
void blank_comments(const struct reader *reader, const struct json_value *value)
{
	struct str raw = json_raw(value);
	char *text = reader->file->writable + (raw.ptr - reader->file->text.ptr);
	size_t comma = raw.len;
	for (size_t i = 0; i < raw.len;) {
		char c = text[i];
		if (c == '/') {
			i = blank_one(text, i, raw.len);
			continue;
		}
		if ((c == '}' || c == ']') && comma < raw.len)
			text[comma] = ' ';
		if (!is_space(c))
			comma = c == ',' ? i : raw.len;
		if (c == '"')
			for (i++; text[i] != '"'; i++)
				i += text[i] == '\\';
		i++;
	}
}
