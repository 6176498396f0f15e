/* main.c - pawl: a table of commands and a loop over the options.
 *
 * This program is the process the client waits for: libc only, nothing loaded. hook and
 * eval run here; every other command runs in the worker program. */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fronts/eval.h"
#include "fronts/front.h"
#include "fronts/hook.h"

#define WORDS_MAX 4096

/* What was on the command line, global options taken out. */
struct command_line {
	const char *config, *event, *jobs;
	bool json, quiet, help;
	int n;
	char *words[WORDS_MAX]; /* last: of a long array only the first page is touched */
};

struct command {
	const char *name, *arguments, *does;
	int (*run)(const struct command *command, struct command_line *line);
};

static int usage_error(const char *format, const char *what);

/* Commands that read their options themselves. */
static bool reads_options(const char *name)
{
	static const char *const names[] = {"audit", "approvals", "install", "uninstall", "doctor",
					    "reset"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* ---- commands --------------------------------------------------------------------------- */

static int run_hook(const struct command *command, struct command_line *line)
{
	(void)command;
	if (line->n != 2)
		return usage_error("hook takes one AGENT%s", "");
	if (!forms_of(line->words[1]))
		return usage_error("hook: no agent \"%s\" is known", line->words[1]);
	return hook_run(line->words[1], line->event, line->config);
}

static int run_eval(const struct command *command, struct command_line *line)
{
	char *end = NULL;
	long jobs = line->jobs ? strtol(line->jobs, &end, 10) : 1;
	(void)command;
	if (jobs < 1 || jobs > EVAL_JOBS_MAX || (end && *end))
		return usage_error("--jobs \"%s\": a number from 1 to 16 is needed", line->jobs);
	return eval_run(line->words + 1, line->n - 1, line->config, (unsigned)jobs);
}

/* Hands the line to the worker program: tool NAME CONFIG FLAGS WORDS... */
static int run_tool(const struct command *command, struct command_line *line)
{
	static char *argv[WORDS_MAX + 8];
	static char program[] = "pawl-worker", tool[] = "tool", flags[4] = "-", none[] = "";
	int n = 0;
	if (line->json)
		strcat(flags, "j");
	if (line->quiet)
		strcat(flags, "q");
	argv[n++] = program;
	argv[n++] = tool;
	argv[n++] = line->words[0];
	argv[n++] = line->config ? (char *)(uintptr_t)line->config : none;
	argv[n++] = flags;
	for (int i = 1; i < line->n; i++)
		argv[n++] = line->words[i];
	argv[n] = NULL;
	(void)command;
	return front_tool(argv);
}

static const struct command commands[] = {
	{"hook", "AGENT [--event NAME]", "judge one event of that agent client (stdin)", run_hook},
	{"eval", "[--jobs N] [FILE...]", "judge neutral events, one a line", run_eval},
	{"explain", "AGENT [FILE]", "show one event's way through the chain", run_tool},
	{"check", "", "read the config and open every plugin; say what is wrong", run_tool},
	{"agents", "[NAME]", "what each agent client can be told, or one in full", run_tool},
	{"plugins", "[NAME]", "list the plugins there are, or one with its options", run_tool},
	{"status", "", "what is halted, in quarantine or broken, and which fences are up", run_tool},
	{"reset", "SESSION | --plugin NAME", "lift a session's halt, or a plugin's quarantine",
	 run_tool},
	{"install", "AGENT [--project [DIR]] [--dry-run]", "write pawl's hooks into its settings",
	 run_tool},
	{"uninstall", "AGENT [--project [DIR]]", "take them out again", run_tool},
	{"doctor", "AGENT [--project [DIR]]", "show that its hooks block, or why not", run_tool},
	{"approvals", "list|show|approve|deny|...", "decide about calls that wait for a person",
	 run_tool},
	{"resume", "BATCH", "the answers of a paused batch, once people have decided", run_tool},
	{"audit", "list|show|sessions|status|export", "read the audit store", run_tool},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* ---- help --------------------------------------------------------------------------------- */

static void print_help(FILE *to)
{
	fprintf(to, "usage: pawl [--config FILE] COMMAND ...\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  pawl %-9s %-33s %s\n", commands[i].name, commands[i].arguments,
			commands[i].does);
	fprintf(to, "\noptions: --config FILE  --json  --quiet  --help  --version\nagents: ");
	for (size_t i = 0; forms_agent(i); i++)
		fprintf(to, " %s", forms_agent(i));
	fprintf(to, "\n");
}

static int usage_error(const char *format, const char *what)
{
	fprintf(stderr, "pawl: ");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(stderr, format, what);
#pragma GCC diagnostic pop
	fprintf(stderr, "\n\n");
	print_help(stderr);
	return 2;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* An option with a value, as --name VALUE or --name=VALUE. */
static bool valued(const char *name, int argc, char **argv, int *i, const char **value)
{
	size_t len = strlen(name);
	if (strncmp(argv[*i], name, len) != 0 || (argv[*i][len] != '\0' && argv[*i][len] != '='))
		return false;
	if (argv[*i][len] == '=')
		*value = argv[*i] + len + 1;
	else
		*value = *i + 1 < argc ? argv[++*i] : NULL;
	return true;
}

/* Takes the global options out, wherever they stand; the rest stays in order. -1: usage. */
static int parse(int argc, char **argv, struct command_line *line)
{
	bool rest = false;
	for (int i = 1; i < argc; i++) {
		if (line->n == WORDS_MAX)
			return usage_error("more than %s arguments", "4096"), -1;
		if (rest || strcmp(argv[i], "--") == 0) {
			if (rest)
				line->words[line->n++] = argv[i];
			rest = true;
		} else if (valued("--config", argc, argv, &i, &line->config)) {
			if (!line->config || !line->config[0])
				return usage_error("%s needs a FILE", "--config"), -1;
		} else if (line->n > 0 && strcmp(line->words[0], "hook") == 0 &&
			   valued("--event", argc, argv, &i, &line->event)) {
			if (!line->event || !line->event[0])
				return usage_error("%s needs a NAME", "--event"), -1;
		} else if (line->n > 0 && strcmp(line->words[0], "eval") == 0 &&
			   valued("--jobs", argc, argv, &i, &line->jobs)) {
			if (!line->jobs || !line->jobs[0])
				return usage_error("%s needs a number", "--jobs"), -1;
		} else if (strcmp(argv[i], "--json") == 0) {
			line->json = true;
		} else if (strcmp(argv[i], "--quiet") == 0) {
			line->quiet = true;
		} else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			line->help = true;
		} else if (line->n == 0 && strcmp(argv[i], "--version") == 0) {
			printf("pawl %s\n", PACKAGE_VERSION);
			return 1;
		} else if (argv[i][0] == '-' && argv[i][1] &&
			   (line->n == 0 || !reads_options(line->words[0]))) {
			return usage_error("no option \"%s\" is known", argv[i]), -1;
		} else {
			line->words[line->n++] = argv[i];
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct command_line line;
	static char help[] = "--help";
	int r = parse(argc, argv, &line);
	if (r != 0)
		return r < 0 ? 2 : 0;
	if (line.help && line.n > 0 &&
	    (strcmp(line.words[0], "audit") == 0 || strcmp(line.words[0], "approvals") == 0)) {
		line.words[1] = help;
		line.n = 2;
	} else if (line.help) {
		print_help(stdout);
		return 0;
	}
	if (line.n == 0)
		return usage_error("%s", "a command is needed");
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, line.words[0]) == 0)
			return commands[i].run(&commands[i], &line);
	return usage_error("no command \"%s\" is known", line.words[0]);
}
