/* options.c - see options.h. */
#include <config.h>

#include "base/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST 256 /* what getopt gives for the first option; letters are below */

int options_error(const struct options *o, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "%s: ", o->program);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nTry '%s --help'.\n", o->program);
	return 2;
}

static void print_row(int width, const char *dashes, const char *name, const char *more,
		      const char *help)
{
	char left[64];
	snprintf(left, sizeof(left), "%s%s %s", dashes, name, more ? more : "");
	printf("  %-*s %s\n", width, left, help);
}

static void print_help(const struct options *o)
{
	const struct command_spec *command;
	printf("Usage: %s %s\n\nCommands:\n", o->program, o->usage);
	for (size_t i = 0; (command = o->command(i)); i++)
		print_row(o->width, "", command->name, command->target, command->help);
	puts("\nOptions:");
	for (size_t i = 0; i < o->n_options; i++)
		if (o->option[i].help)
			print_row(o->width, "--", o->option[i].name, o->option[i].argument,
				  o->option[i].help);
	printf("\n%s\n", o->end);
}

static int take(const struct options *o, const struct option_spec *option, const char *text,
		void *target)
{
	if (strcmp(option->name, "help") == 0)
		return print_help(o), -1;
	if (option->at == OPTION_OWN)
		return o->take(option->name, text, target);
	*(const char **)(void *)((char *)target + option->at) = text;
	return 0;
}

/* A letter stands for the option that begins with it. */
static int index_of(const struct options *o, int c)
{
	if (c >= FIRST)
		return c - FIRST;
	for (size_t i = 0; c != '?' && i < o->n_options; i++)
		if (o->option[i].name[0] == c)
			return (int)i;
	return -1;
}

int options_parse(const struct options *o, int argc, char **argv, void *target, unsigned *ret_used)
{
	struct option options[OPTIONS_MAX + 1] = {0};
	int c;
	*ret_used = 0;
	for (size_t i = 0; i < o->n_options && i < OPTIONS_MAX; i++)
		options[i] = (struct option){o->option[i].name,
					     o->option[i].argument ? required_argument : no_argument,
					     NULL, FIRST + (int)i};
	while ((c = getopt_long(argc, argv, o->letters, options, NULL)) != -1) {
		int i = index_of(o, c);
		if (i < 0) { /* getopt has said why */
			fprintf(stderr, "Try '%s --help'.\n", o->program);
			return 2;
		}
		*ret_used |= 1u << i;
		int r = take(o, &o->option[i], optarg, target);
		if (r != 0)
			return r;
	}
	return 0;
}

int options_check(const struct options *o, unsigned used, unsigned bit)
{
	for (size_t i = 0; i < o->n_options; i++)
		if (used & 1u << i && !(o->option[i].commands & bit))
			return options_error(o, "--%s has no meaning here", o->option[i].name);
	return 0;
}
