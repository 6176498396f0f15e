/* main.c - pawl-audit, the command behind `pawl audit`: a table and a loop.
 *
 * Layer: audit; the edge.  `pawl` finds the database in its config and hands it over
 * as --db; options may stand before or after the command.
 */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "event.h"
#include "verify.h"

enum {
	LIST = 1 << 0,
	SHOW = 1 << 1,
	SESSIONS = 1 << 2,
	STATUS = 1 << 3,
	EXPORT = 1 << 4,
	VERIFY = 1 << 5,
	ROTATE = 1 << 6,
	SEAL = 1 << 7,
	MEND = 1 << 8,
	ERASE = 1 << 9,
	TAIL = 1 << 10,
	STATS = 1 << 11,
	COVERAGE = 1 << 12,
	ALL = (1 << 13) - 1
};

static const struct command {
	const char *name, *target;
	int bit;
	int (*run)(const struct query *);
	const char *help;
} commands[] = {
	{"list", NULL, LIST, command_list, "the records, newest last"},
	{"tail", NULL, TAIL, command_tail, "the last records, and with -f those that come"},
	{"stats", NULL, STATS, command_stats, "counts by tool, by who decided, by client"},
	{"show", "CALL_ID|SEQ", SHOW, command_show, "all that is known of one call"},
	{"sessions", NULL, SESSIONS, command_sessions, "a line a session, with its counts"},
	{"status", NULL, STATUS, command_status, "whether records were lost or the index lags"},
	{"export", NULL, EXPORT, command_export, "the log's lines as they are"},
	{"verify", NULL, VERIFY, command_verify, "whether the store is what was written"},
	{"rotate", NULL, ROTATE, command_rotate, "close the log's current file, begin a new one"},
	{"checkpoint", NULL, SEAL, command_checkpoint, "sign what the log is now, and keep that"},
	{"anchor", NULL, SEAL, command_anchor, "the same, and print it to be kept elsewhere"},
	{"rebuild", NULL, MEND, command_rebuild, "make the database anew from the log"},
	{"repair", NULL, MEND, command_repair, "set aside what keeps the store from working"},
	{"coverage", "FILE", COVERAGE, command_coverage,
	 "a client's transcript: the calls that nobody was asked about"},
	{"erase", NULL, ERASE, command_erase, "take bodies that lie aside out of the store"},
	{"hash", NULL, MEND, command_hash, "what stands for the value on stdin, where it is hashed"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where an option's text goes; NULL for those that parse() knows by name. */
#define TEXT(member) offsetof(struct query, member)
#define FLAG SIZE_MAX

static const struct {
	const char *name, *argument;
	int commands;
	size_t at;
	const char *help;
} specs[] = {
	{"session", "ID", LIST | SHOW | SESSIONS | EXPORT | ERASE | TAIL, TEXT(session), "only this session"},
	{"tool", "GLOB", LIST | TAIL, TEXT(tool), "only these tools"},
	{"type", "GLOB", LIST | TAIL, TEXT(type), "only these records, as in 'policy.*'"},
	{"decision", "WORD", LIST, TEXT(decision), "allow, deny, require_approval or substitute"},
	{"agent", "GLOB", LIST, TEXT(agent), "only these agents"},
	{"plugin", "GLOB", LIST, TEXT(plugin), "only what these plugins decided"},
	{"outcome", "WORD", LIST, TEXT(outcome), "ok, tool_error, unknown, ..."},
	{"text", "TEXT", LIST, TEXT(text), "only records with this text in them"},
	{"limit", "N", LIST | TAIL, FLAG, "the last N only; 0 for all (100 in a table)"},
	{"follow", NULL, TAIL, FLAG, "wait for more; also -f"},
	{"since", "TIME", LIST | EXPORT | STATS, FLAG, "from 2026-08-22 or 2026-08-22T10:11:12Z on"},
	{"before", "TIME", LIST | EXPORT | STATS | ERASE, FLAG, "until that time"},
	{"call", "ID", ERASE, TEXT(call), "only this call"},
	{"format", "FORMAT", EXPORT, TEXT(format), "jsonl, the log's lines, or csv"},
	{"log", NULL, VERIFY, FLAG, "the log only, not the database"},
	{"anchor", "FILE", VERIFY, TEXT(anchor), "what was printed by `anchor`; - is stdin"},
	{"key", "FILE", VERIFY | SEAL, TEXT(key), "the key to sign with; to verify, the public one"},
	{"db", "PATH", ALL, TEXT(db), "the database"},
	{"config", "FILE", ALL, FLAG, NULL},
	{"json", NULL, ALL, FLAG, "a JSON object a line"},
	{"quiet", NULL, ALL, FLAG, "no headings, no remarks"},
	{"help", NULL, ALL, FLAG, "this text"},
	{"version", NULL, ALL, FLAG, "the version"},
};

__attribute__((format(printf, 1, 2))) static int usage_error(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fputs("pawl audit: ", stderr);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputs("\nTry 'pawl audit --help'.\n", stderr);
	return 2;
}

static void print_help(void)
{
	puts("Usage: pawl audit COMMAND [OPTION...]\n\nCommands:");
	for (size_t i = 0; i < COUNT(commands); i++) {
		char name[40];
		snprintf(name, sizeof(name), "%s %s", commands[i].name,
			 commands[i].target ? commands[i].target : "");
		printf("  %-20s %s\n", name, commands[i].help);
	}
	puts("\nOptions:");
	for (size_t i = 0; i < COUNT(specs); i++) {
		char name[40];
		snprintf(name, sizeof(name), "--%s %s", specs[i].name,
			 specs[i].argument ? specs[i].argument : "");
		if (specs[i].help)
			printf("  %-20s %s\n", name, specs[i].help);
	}
	puts("\nExit status: 0; 1 could not, status is not well, or coverage found"
	     "\na gap; 2 usage; of verify: 0 intact,"
	     "\n1 changed, 2 shorter than its anchor, 3 intact but with gaps, 4 unreadable.");
}

static int parse_limit(const char *text, struct query *query)
{
	char *end;
	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 0)
		return usage_error("--limit: \"%s\" is not a number of records", text);
	query->limit = n;
	return 0;
}

/* Sets what option i says.  0, 2 a usage error, -1 done (help, version). */
static int take(size_t i, char *text, struct query *query)
{
	const char *name = specs[i].name;
	if (specs[i].at != FLAG)
		*(const char **)(void *)((char *)query + specs[i].at) = text;
	else if (strcmp(name, "json") == 0)
		query->json = true;
	else if (strcmp(name, "quiet") == 0)
		query->quiet = true;
	else if (strcmp(name, "follow") == 0)
		query->follow = true;
	else if (strcmp(name, "log") == 0)
		query->log_only = true;
	else if (strcmp(name, "limit") == 0)
		return parse_limit(text, query);
	else if (strcmp(name, "help") == 0)
		return print_help(), -1;
	else if (strcmp(name, "version") == 0)
		return puts("pawl audit " PACKAGE_VERSION), -1;
	else if (strcmp(name, "since") == 0 || strcmp(name, "before") == 0) {
		int64_t *to = *name == 's' ? &query->since_ms : &query->before_ms;
		*to = event_time(str_of(text));
		if (*to == INT64_MIN)
			return usage_error("--%s: \"%s\" is not a time", name, text);
	}
	return 0;
}

/* Options anywhere; *ret_used has the bit of each that was given. */
static int parse(int argc, char **argv, struct query *query, unsigned *ret_used)
{
	struct option options[COUNT(specs) + 1] = {0};
	for (size_t i = 0; i < COUNT(specs); i++)
		options[i] = (struct option){specs[i].name,
					     specs[i].argument ? required_argument : no_argument,
					     NULL, 256 + (int)i};
	int c;
	while ((c = getopt_long(argc, argv, "f", options, NULL)) != -1) {
		for (size_t i = 0; c == 'f' && i < COUNT(specs); i++)
			if (strcmp(specs[i].name, "follow") == 0)
				c = 256 + (int)i;
		if (c < 256) /* getopt has said why */
			return fputs("Try 'pawl audit --help'.\n", stderr), 2;
		*ret_used |= 1u << (c - 256);
		int r = take((size_t)(c - 256), optarg, query);
		if (r != 0)
			return r;
	}
	return 0;
}

static int check(const struct command *command, int argc, char **argv, unsigned used,
		 struct query *query)
{
	if (command->target && argc != 1)
		return usage_error("%s needs one %s", command->name,
				   command->bit == SHOW ? "call id or sequence number" : "file");
	if (!command->target && argc != 0)
		return usage_error("unexpected argument \"%s\"", argv[0]);
	for (size_t i = 0; i < COUNT(specs); i++)
		if (used & 1u << i && !(specs[i].commands & command->bit))
			return usage_error("--%s has no meaning here", specs[i].name);
	if (query->format && strcmp(query->format, "jsonl") != 0 &&
	    strcmp(query->format, "csv") != 0)
		return usage_error("--format: \"%s\" is not known; jsonl and csv are",
				   query->format);
	query->target = argv[0];
	return 0;
}

static int run(const struct command *command, struct query *query)
{
	struct error err = {"no audit configured"};
	int r = query->db ? store_open(query->db, STORE_EXISTING, &query->store, &err) : -EINVAL;
	if (r < 0 && command->bit == VERIFY)
		return command_failed(&err), VERIFY_UNREADABLE;
	if (r == -ENOENT && !query->target) {
		fprintf(stderr, "pawl audit: %s; nothing was recorded yet\n", err.text);
		return 0;
	}
	if (r < 0)
		return command_failed(&err);
	int code = command->run(query);
	if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
		error_set(&err, errno, "standard output: %s", strerror(errno));
		code = command_failed(&err);
	}
	return code;
}

/* For it a usage error's 2 would say that the log is shorter. */
static bool names_verify(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "verify") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct query query = {.since_ms = INT64_MIN, .before_ms = INT64_MIN, .limit = -1, .store = {.dirfd = -1}};
	unsigned used = 0;
	static char name[] = "pawl audit";
	if (argc > 0)
		argv[0] = name;
	signal(SIGXFSZ, SIG_IGN);
	int r = parse(argc, argv, &query, &used);
	if (r != 0)
		return r < 0 ? 0 : names_verify(argc, argv) ? VERIFY_UNREADABLE : r;
	argc -= optind;
	argv += optind;
	if (argc <= 0)
		return usage_error("a command is missing");
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (strcmp(argv[0], commands[i].name) != 0)
			continue;
		r = check(&commands[i], argc - 1, argv + 1, used, &query);
		if (r != 0 && commands[i].bit == VERIFY)
			r = VERIFY_UNREADABLE;
		if (r == 0)
			r = run(&commands[i], &query);
		store_close(&query.store);
		return r;
	}
	return usage_error("\"%s\" is not a command", argv[0]);
}
