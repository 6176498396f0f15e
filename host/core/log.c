/* log.c - see log.h; one list a thread, like the call it belongs to. */
#include <config.h>

#include "core/log.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

/* Made when the first plugin says something: most never do. */
static _Thread_local struct log_line *lines;
static _Thread_local unsigned n_lines;

void log_add(const char *plugin, int32_t level, struct str text)
{
	if (!lines)
		lines = calloc(LOG_LINES_MAX, sizeof(*lines));
	if (!lines || n_lines == LOG_LINES_MAX)
		return;
	struct log_line *line = &lines[n_lines++];
	line->level = level;
	snprintf(line->plugin, sizeof(line->plugin), "%s", plugin);
	text_clean(text, line->text, sizeof(line->text));
}

const struct log_line *log_lines(unsigned *n)
{
	*n = n_lines;
	return lines;
}

void log_clear(void)
{
	n_lines = 0;
}
