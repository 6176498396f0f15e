/* log.h - what plugins say through host->log during one call: kept, bounded, for
 * explain and the records. Prints nothing.
 *
 * Layer: core.
 */
#ifndef PAWL_CORE_LOG_H
#define PAWL_CORE_LOG_H

#include <stdint.h>

#include "base/str.h"

#define LOG_LINES_MAX 32
#define LOG_LINE_MAX 512

struct log_line {
	int32_t level; /* PAWL_LOG_* */
	char plugin[64];
	char text[LOG_LINE_MAX];
};

/* More than LOG_LINES_MAX lines a call are dropped, the first are kept. */
void log_add(const char *plugin, int32_t level, struct str text);
const struct log_line *log_lines(unsigned *n);
void log_clear(void);

#endif
