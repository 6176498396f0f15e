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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/options.h"
#include "command.h"
#include "tell.h"

enum {
	LIST = 1, SHOW = 2, APPROVE = 4, DENY = 8, CANCEL = 16, WAIT = 32, EXPORT = 64,
	RESUME = 128, DELIVER = 256, ALL = 511,
};

static const struct command {
	struct command_spec is;
	size_t min, max; /* ids; with --batch none */
	int (*run)(const struct line *);
} commands[] = {
	{{"list", "", LIST, "what waits, and what became of the others"},
	 0, 0, command_list},
	{{"show", "ID...", SHOW, "all of a call: the exact arguments, rule, time left, digest"},
	 1, DECIDE_BALLOT_MAX, command_show},
	{{"approve", "ID...", APPROVE, "let it run, once; the digest's first characters have to be given"},
	 1, DECIDE_BALLOT_MAX, command_approve},
	{{"deny", "ID...", DENY, "it may not run; the model is told the reason"},
	 1, DECIDE_BALLOT_MAX, command_deny},
	{{"cancel", "ID...", CANCEL, "take the question, or an unused yes, back"},
	 1, DECIDE_BALLOT_MAX, command_cancel},
	{{"wait", "ID", WAIT, "until it is decided; 0 when it was approved"},
	 1, 1, command_wait},
	{{"resume", "BATCH", RESUME, "the answers of a batch that is decided, a line a call; once"},
	 1, 1, command_resume},
	{{"deliver", "", DELIVER, "send the notices that are due, until none waits"},
	 0, 0, command_deliver},
	{{"export", "", EXPORT, "everything, a JSON object a line"},
	 0, 0, command_export},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(member) OPTION_TEXT(struct line, member)
#define OWN OPTION_OWN
#define AUDIT_OPTIONS_MAX ((size_t)16 << 20) /* a config is no larger */

static const struct option_spec specs[] = {
	{"digest", "PREFIX", APPROVE | DENY, OWN, "the digest's first characters, one for each ID"},
	{"reason", "TEXT", APPROVE | DENY | CANCEL, TEXT(reason), "why; the model reads a denial's"},
	{"batch", "ID", LIST | APPROVE | DENY | CANCEL | EXPORT, TEXT(batch),
	 "every call of that batch"},
	{"pending", NULL, LIST | EXPORT, OWN, "only what waits"},
	{"timeout", "TIME", WAIT, TEXT(timeout), "give up after 30s, 5m ..."},
	{"policy", "JSON", RESUME, TEXT(policy), NULL},
	{"store", "DIR", ALL, TEXT(store), "the folder of the queue (state_dir)"},
	{"audit", "PATH", ALL, TEXT(audit), "the audit's database: decisions are recorded there"},
	{"audit-options", "DESCRIPTOR", ALL, TEXT(audit_options), NULL},
	{"config", "FILE", ALL, OWN, NULL},
	{"json", NULL, ALL, OWN, "a JSON object a line"},
	{"quiet", NULL, ALL, OWN, "no headings, no remarks"},
	{"help", NULL, ALL, OWN, "this text"},
};

static const struct command_spec *command_at(size_t i)
{
	return i < COUNT(commands) ? &commands[i].is : NULL;
}

static int take(const char *name, const char *text, void *target);

static const struct options words = {
	.program = "pawl approvals", .usage = "COMMAND [ID...] [OPTION...]", .width = 16,
	.end = "Exit status: 0 done; 1 refused, or it could not be; 2 usage; 3 no such id.",
	.command = command_at, .option = specs, .n_options = COUNT(specs), .letters = "",
	.take = take,
};
#define usage_error(...) options_error(&words, __VA_ARGS__)

static int take(const char *name, const char *text, void *target)
{
	struct line *line = target;
	if (strcmp(name, "json") == 0)
		line->json = true;
	else if (strcmp(name, "quiet") == 0)
		line->quiet = true;
	else if (strcmp(name, "pending") == 0)
		line->pending = true;
	else if (strcmp(name, "digest") == 0 && line->n_digests == COMMAND_DIGESTS_MAX)
		return usage_error("--digest: given more than %d times", COMMAND_DIGESTS_MAX);
	else if (strcmp(name, "digest") == 0)
		line->digests[line->n_digests++] = str_of(text);
	return 0;
}

static int check(const struct command *command, unsigned used, const struct line *line)
{
	int r = options_check(&words, used, command->is.bit);
	if (r != 0)
		return r;
	if (!line->store)
		return usage_error("where is the queue? (--store DIR)");
	if (line->batch && line->n_ids > 0)
		return usage_error("either --batch or ids");
	if (line->batch && !*line->batch)
		return usage_error("--batch needs an ID");
	if (!line->batch && line->n_ids < command->min)
		return usage_error("%s needs an id", command->is.name);
	if (line->n_ids > command->max)
		return usage_error("%s takes no \"%s\"", command->is.name, line->ids[command->max]);
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
	int r = io_read_all((int)fd, AUDIT_OPTIONS_MAX, &options, &len, &err);
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
	int r = options_parse(&words, argc, argv, &line, &used);
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
		if (strcmp(argv[optind], commands[i].is.name) != 0)
			continue;
		r = check(&commands[i], used, &line);
		return r != 0 ? r : commands[i].run(&line);
	}
	return usage_error("\"%s\" is not a command", argv[optind]);
}
