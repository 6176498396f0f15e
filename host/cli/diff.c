/* diff.c - see diff.h. */
#include <config.h>

#include "cli/diff.h"

#include <stdbool.h>

#include "base/text.h"

#define DEPTH_MAX 16 /* deeper differences are shown as whole values */

struct diff {
	FILE *out;
	const char *indent;
	unsigned lines;
	char path[512];
};

void diff_value(FILE *out, const struct json_value *value)
{
	char text[DIFF_VALUE_MAX];
	text_clean(json_raw(value), text, sizeof(text));
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	fputs(text, out);
}

static void line(struct diff *diff, char sign, const struct json_value *value)
{
	if (diff->lines++ >= DIFF_LINES_MAX)
		return;
	fprintf(diff->out, "%s%c %s  ", diff->indent, sign, diff->path[0] ? diff->path : "(all)");
	diff_value(diff->out, value);
	fputc('\n', diff->out);
}

static void compare(struct diff *diff, const struct json_value *before,
		    const struct json_value *after, unsigned depth);

/* Goes one name down the path and back. */
static void compare_at(struct diff *diff, struct str name, const struct json_value *before,
		       const struct json_value *after, unsigned depth)
{
	size_t len = strlen(diff->path);
	char clean[128];
	text_clean(name, clean, sizeof(clean));
	snprintf(diff->path + len, sizeof(diff->path) - len, "/%s", clean);
	compare(diff, before, after, depth);
	diff->path[len] = '\0';
}

static void compare_objects(struct diff *diff, const struct json_value *before,
			    const struct json_value *after, unsigned depth)
{
	const struct json_value *value;
	for (size_t i = 0; i < json_length(before); i++) {
		struct str name = json_key(before, i, &value);
		compare_at(diff, name, value, json_member(after, name), depth + 1);
	}
	for (size_t i = 0; i < json_length(after); i++) {
		struct str name = json_key(after, i, &value);
		if (!json_member(before, name))
			compare_at(diff, name, NULL, value, depth + 1);
	}
}

static void compare(struct diff *diff, const struct json_value *before,
		    const struct json_value *after, unsigned depth)
{
	if (before && after && str_equal(json_raw(before), json_raw(after)))
		return;
	if (before && after && json_type(before) == JSON_OBJECT &&
	    json_type(after) == JSON_OBJECT && depth < DEPTH_MAX) {
		compare_objects(diff, before, after, depth);
		return;
	}
	if (before)
		line(diff, '-', before);
	if (after)
		line(diff, '+', after);
}

void diff_print(FILE *out, const char *indent, const struct json_value *before,
		const struct json_value *after)
{
	struct diff diff = {.out = out, .indent = indent};
	compare(&diff, before, after, 0);
	if (diff.lines > DIFF_LINES_MAX)
		fprintf(out, "%s... and %u more lines\n", indent, diff.lines - DIFF_LINES_MAX);
}
