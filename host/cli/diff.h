/* diff.h - what a rewrite changed, for people: a line for each value that is not the same.
 *
 * Layer: cli.
 */
#ifndef PAWL_CLI_DIFF_H
#define PAWL_CLI_DIFF_H

#include <stdio.h>

#include "json/json.h"

/* Values longer than this are cut, and no more than so many lines are shown. */
#define DIFF_VALUE_MAX 160
#define DIFF_LINES_MAX 40

void diff_print(FILE *out, const char *indent, const struct json_value *before,
		const struct json_value *after);

/* One value on one line, printable and cut. */
void diff_value(FILE *out, const struct json_value *value);

#endif
