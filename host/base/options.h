/* options.h - the words of a program that has commands: read, checked and explained by tables.
 *
 * Layer: base; libc only. For the edge: it prints help, and usage errors on stderr.
 */
#ifndef PAWL_BASE_OPTIONS_H
#define PAWL_BASE_OPTIONS_H

#include <stddef.h>

#define OPTIONS_MAX 32 /* options in a table: a bit each */

struct command_spec {
	const char *name, *target; /* target: its other words in the help, or "" */
	unsigned bit;
	const char *help;
};

struct option_spec {
	const char *name, *argument; /* argument NULL: it takes none */
	unsigned commands;	     /* bits of those that it means something to */
	size_t at;		     /* where its text goes in the target, or OPTION_OWN */
	const char *help;	     /* NULL: it is not told of */
};

#define OPTION_OWN ((size_t)-1) /* take() knows it by name */
#define OPTION_TEXT(type, member) offsetof(type, member) /* a const char * */

struct options {
	const char *program, *usage, *end; /* "pawl audit"; "COMMAND [OPTION...]"; below the help */
	int width;			   /* of the help's first column */
	const struct command_spec *(*command)(size_t i); /* NULL behind the last */
	const struct option_spec *option;
	size_t n_options;
	const char *letters; /* the options that begin with one of these have it as a short form */
	int (*take)(const char *name, const char *text, void *target);
};

/* Reads options wherever they stand, leaving the other words from optind on; *ret_used gets a
 * bit for each. 0; 2 a usage error, which was said; -1 done (help), and so for take's. */
int options_parse(const struct options *o, int argc, char **argv, void *target,
		  unsigned *ret_used);
/* 0, or 2 where one was given that means nothing to that command. */
int options_check(const struct options *o, unsigned used, unsigned bit);
/* Says it, and where to look; 2. */
int options_error(const struct options *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
