/* sibling.h - commands that are programs of their own beside the worker, so that what they
 * link is loaded by nobody else.
 *
 * Layer: cli.
 */
#ifndef PAWL_CLI_SIBLING_H
#define PAWL_CLI_SIBLING_H

/* Becomes the program of that name; comes back, with a text on stderr, only when it cannot. */
void sibling_exec(const char *program, char *const argv[]);

#endif
