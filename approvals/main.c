/* main.c - pawl-approvals, the command behind `pawl approvals`: a table and a loop.
 *
 * Layer: approvals; the edge. `pawl` reads the config and hands over where the queue and the
 * audit lie; options may stand before or after the command.
 */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "command.h"
#include "tell.h"

enum {
	LIST = 1, SHOW = 2, APPROVE = 4, DENY = 8, CANCEL = 16, WAIT = 32, EXPORT = 64,
	RESUME = 128, DELIVER = 256, ALL = 511,
};

static const struct command {
	const char *name, *target;
	int bit;
	size_t min, max; /* ids; with --batch none */
	int (*run)(const struct line *);
	const char *help;
} commands[] = {
	{"list", "", LIST, 0, 0, command_list, "what waits, and what became of the others"},
	{"show", "ID...", SHOW, 1, DECIDE_BALLOT_MAX, command_show,
	 "all of a call: the exact arguments, rule, time left, digest"},
	{"approve", "ID...", APPROVE, 1, DECIDE_BALLOT_MAX, command_approve,
	 "let it run, once; the digest's first characters have to be given"},
	{"deny", "ID...", DENY, 1, DECIDE_BALLOT_MAX, command_deny,
	 "it may not run; the model is told the reason"},
	{"cancel", "ID...", CANCEL, 1, DECIDE_BALLOT_MAX, command_cancel,
	 "take the question, or an unused yes, back"},
	{"wait", "ID", WAIT, 1, 1, command_wait, "until it is decided; 0 when it was approved"},
	{"resume", "BATCH", RESUME, 1, 1, command_resume,
	 "the answers of a batch that is decided, a line a call; once"},
	{"deliver", "", DELIVER, 0, 0, command_deliver,
	 "send the notices that are due, until none waits"},
	{"export", "", EXPORT, 0, 0, command_export, "everything, a JSON object a line"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(member) offsetof(struct line, member)
#define FLAG SIZE_MAX
#define OPTIONS_MAX ((size_t)16 << 20) /* a config is no larger */

static const struct {
	const char *name, *argument;
	int commands;
	size_t at;
	const char *help;
} specs[] = {
	{"digest", "PREFIX", APPROVE | DENY, FLAG, "the digest's first characters, one for each ID"},
	{"reason", "TEXT", APPROVE | DENY | CANCEL, TEXT(reason), "why; the model reads a denial's"},
	{"batch", "ID", LIST | APPROVE | DENY | CANCEL | EXPORT, TEXT(batch),
	 "every call of that batch"},
	{"pending", NULL, LIST | EXPORT, FLAG, "only what waits"},
	{"timeout", "TIME", WAIT, TEXT(timeout), "give up after 30s, 5m ..."},
	{"policy", "JSON", RESUME, TEXT(policy), NULL},
	{"store", "DIR", ALL, TEXT(store), "the folder of the queue (state_dir)"},
	{"audit", "PATH", ALL, TEXT(audit), "the audit's database: decisions are recorded there"},
	{"audit-options", "DESCRIPTOR", ALL, TEXT(audit_options), NULL},
	{"config", "FILE", ALL, FLAG, NULL},
	{"json", NULL, ALL, FLAG, "a JSON object a line"},
	{"quiet", NULL, ALL, FLAG, "no headings, no remarks"},
	{"help", NULL, ALL, FLAG, "this text"},
};

__attribute__((format(printf, 1, 2))) static int usage_error(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fputs("pawl approvals: ", stderr);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputs("\nTry 'pawl approvals --help'.\n", stderr);
	return 2;
}

static void print_help(void)
{
	puts("Usage: pawl approvals COMMAND [ID...] [OPTION...]\n\nCommands:");
	for (size_t i = 0; i < COUNT(commands); i++) {
		char name[40];
		snprintf(name, sizeof(name), "%s %s", commands[i].name, commands[i].target);
		printf("  %-16s %s\n", name, commands[i].help);
	}
	puts("\nOptions:");
	for (size_t i = 0; i < COUNT(specs); i++) {
		char name[40];
		snprintf(name, sizeof(name), "--%s %s", specs[i].name,
			 specs[i].argument ? specs[i].argument : "");
		if (specs[i].help)
			printf("  %-16s %s\n", name, specs[i].help);
	}
	puts("\nExit status: 0 done; 1 refused, or it could not be; 2 usage; 3 no such id.");
}

/* Sets what option i says. 0, 2 a usage error, -1 done (help). */
static int take(size_t i, char *text, struct line *line)
{
	const char *name = specs[i].name;
	if (specs[i].at != FLAG)
		*(const char **)(void *)((char *)line + specs[i].at) = text;
	else if (strcmp(name, "json") == 0)
		line->json = true;
	else if (strcmp(name, "quiet") == 0)
		line->quiet = true;
	else if (strcmp(name, "pending") == 0)
		line->pending = true;
	else if (strcmp(name, "help") == 0)
		return print_help(), -1;
	else if (strcmp(name, "digest") == 0 && line->n_digests == COMMAND_DIGESTS_MAX)
		return usage_error("--digest: given more than %d times", COMMAND_DIGESTS_MAX);
	else if (strcmp(name, "digest") == 0)
		line->digests[line->n_digests++] = str_of(text);
	return 0;
}

static int parse(int argc, char **argv, struct line *line, unsigned *ret_used)
{
	struct option options[COUNT(specs) + 1] = {0};
	int c;
	for (size_t i = 0; i < COUNT(specs); i++)
		options[i] = (struct option){specs[i].name,
					     specs[i].argument ? required_argument : no_argument,
					     NULL, 256 + (int)i};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c < 256) /* getopt has said why */
			return fputs("Try 'pawl approvals --help'.\n", stderr), 2;
		*ret_used |= 1u << (c - 256);
		int r = take((size_t)(c - 256), optarg, line);
		if (r != 0)
			return r;
	}
	return 0;
}

static int check(const struct command *command, unsigned used, const struct line *line)
{
	for (size_t i = 0; i < COUNT(specs); i++)
		if (used & 1u << i && !(specs[i].commands & command->bit))
			return usage_error("--%s has no meaning here", specs[i].name);
	if (!line->store)
		return usage_error("where is the queue? (--store DIR)");
	if (line->batch && line->n_ids > 0)
		return usage_error("either --batch or ids");
	if (line->batch && !*line->batch)
		return usage_error("--batch needs an ID");
	if (!line->batch && line->n_ids < command->min)
		return usage_error("%s needs an id", command->name);
	if (line->n_ids > command->max)
		return usage_error("%s takes no \"%s\"", command->name, line->ids[command->max]);
	return 0;
}

/* They come through a descriptor, which nothing that is started later has. */
static int read_options(struct line *line)
{
	static char *options; /* until the end */
	struct error err;
	size_t len;
	char *end;
	long fd = strtol(line->audit_options, &end, 10);
	if (*end || end == line->audit_options || fd < 3 || fd > INT_MAX)
		return usage_error("--audit-options: \"%s\" is no descriptor", line->audit_options);
	int r = io_read_all((int)fd, OPTIONS_MAX, &options, &len, &err);
	close((int)fd);
	line->audit_options = options;
	if (r == 0 && !memchr(options, '\0', len))
		return 0;
	return r < 0 ? command_failed(r, &err) : usage_error("--audit-options: no text");
}

int main(int argc, char **argv)
{
	static struct line line;
	static struct tell_place place;
	static char name[] = "pawl approvals";
	unsigned used = 0;
	if (argc > 0)
		argv[0] = name;
	signal(SIGXFSZ, SIG_IGN);
	umask(077);
	int r = parse(argc, argv, &line, &used);
	if (r != 0)
		return r < 0 ? 0 : r;
	if (optind >= argc)
		return usage_error("a command is missing");
	if (line.audit_options && (r = read_options(&line)) != 0)
		return r;
	place = (struct tell_place){line.audit, line.audit_options};
	if (line.audit)
		line.teller = (struct teller){tell_audit, &place};
	line.ids = (const char *const *)argv + optind + 1;
	line.n_ids = (size_t)(argc - optind - 1);
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (strcmp(argv[optind], commands[i].name) != 0)
			continue;
		r = check(&commands[i], used, &line);
		return r != 0 ? r : commands[i].run(&line);
	}
	return usage_error("\"%s\" is not a command", argv[optind]);
}
