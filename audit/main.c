/* main.c - pawl-audit, the command behind `pawl audit`: a table and a loop.
 *
 * Layer: audit; the edge.  `pawl` finds the database in its config and hands it over
 * as --db; options may stand before or after the command.
 */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
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
	struct command_spec is;
	int (*run)(const struct query *);
} commands[] = {
	{{"list", "", LIST, "the records, newest last"},
	 command_list},
	{{"tail", "", TAIL, "the last records, and with -f those that come"},
	 command_tail},
	{{"stats", "", STATS, "counts by tool, by who decided, by client"},
	 command_stats},
	{{"show", "CALL_ID|SEQ", SHOW, "all that is known of one call"},
	 command_show},
	{{"sessions", "", SESSIONS, "a line a session, with its counts"},
	 command_sessions},
	{{"status", "", STATUS, "whether records were lost or the index lags"},
	 command_status},
	{{"export", "", EXPORT, "the log's lines as they are"},
	 command_export},
	{{"verify", "", VERIFY, "whether the store is what was written"},
	 command_verify},
	{{"rotate", "", ROTATE, "close the log's current file, begin a new one"},
	 command_rotate},
	{{"checkpoint", "", SEAL, "sign what the log is now, and keep that"},
	 command_checkpoint},
	{{"anchor", "", SEAL, "the same, and print it to be kept elsewhere"},
	 command_anchor},
	{{"rebuild", "", MEND, "make the database anew from the log"},
	 command_rebuild},
	{{"repair", "", MEND, "set aside what keeps the store from working"},
	 command_repair},
	{{"coverage", "FILE", COVERAGE, "a client's transcript: the calls that nobody was asked about"},
	 command_coverage},
	{{"erase", "", ERASE, "take bodies that lie aside out of the store"},
	 command_erase},
	{{"hash", "", MEND, "what stands for the value on stdin, where it is hashed"},
	 command_hash},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(member) OPTION_TEXT(struct query, member)
#define OWN OPTION_OWN

static const struct option_spec specs[] = {
	{"session", "ID", LIST | SHOW | SESSIONS | EXPORT | ERASE | TAIL, TEXT(session), "only this session"},
	{"tool", "GLOB", LIST | TAIL, TEXT(tool), "only these tools"},
	{"type", "GLOB", LIST | TAIL, TEXT(type), "only these records, as in 'policy.*'"},
	{"decision", "WORD", LIST, TEXT(decision), "allow, deny, require_approval or substitute"},
	{"agent", "GLOB", LIST, TEXT(agent), "only these agents"},
	{"plugin", "GLOB", LIST, TEXT(plugin), "only what these plugins decided"},
	{"outcome", "WORD", LIST, TEXT(outcome), "ok, tool_error, unknown, ..."},
	{"text", "TEXT", LIST, TEXT(text), "only records with this text in them"},
	{"limit", "N", LIST | TAIL, OWN, "the last N only; 0 for all (100 in a table)"},
	{"follow", NULL, TAIL, OWN, "wait for more; also -f"},
	{"since", "TIME", LIST | EXPORT | STATS, OWN, "from 2026-08-22 or 2026-08-22T10:11:12Z on"},
	{"before", "TIME", LIST | EXPORT | STATS | ERASE, OWN, "until that time"},
	{"call", "ID", ERASE, TEXT(call), "only this call"},
	{"format", "FORMAT", EXPORT, TEXT(format), "jsonl, the log's lines, or csv"},
	{"log", NULL, VERIFY, OWN, "the log only, not the database"},
	{"anchor", "FILE", VERIFY, TEXT(anchor), "what was printed by `anchor`; - is stdin"},
	{"key", "FILE", VERIFY | SEAL, TEXT(key), "the key to sign with; to verify, the public one"},
	{"db", "PATH", ALL, TEXT(db), "the database"},
	{"config", "FILE", ALL, OWN, NULL},
	{"json", NULL, ALL, OWN, "a JSON object a line"},
	{"quiet", NULL, ALL, OWN, "no headings, no remarks"},
	{"help", NULL, ALL, OWN, "this text"},
	{"version", NULL, ALL, OWN, "the version"},
};

static const struct command_spec *command_at(size_t i)
{
	return i < COUNT(commands) ? &commands[i].is : NULL;
}

static int take(const char *name, const char *text, void *target);

static const struct options words = {
	.program = "pawl audit", .usage = "COMMAND [OPTION...]", .width = 20,
	.end = "Exit status: 0; 1 could not, status is not well, or coverage found"
	       "\na gap; 2 usage; of verify: 0 intact,"
	       "\n1 changed, 2 shorter than its anchor, 3 intact but with gaps, 4 unreadable.",
	.command = command_at, .option = specs, .n_options = COUNT(specs), .letters = "f",
	.take = take,
};
#define usage_error(...) options_error(&words, __VA_ARGS__)

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

static int take(const char *name, const char *text, void *target)
{
	struct query *query = target;
	if (strcmp(name, "json") == 0)
		query->json = true;
	else if (strcmp(name, "quiet") == 0)
		query->quiet = true;
	else if (strcmp(name, "follow") == 0)
		query->follow = true;
	else if (strcmp(name, "log") == 0)
		query->log_only = true;
	else if (strcmp(name, "limit") == 0)
		return parse_limit(text, query);
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

static int check(const struct command *command, int argc, char **argv, unsigned used,
		 struct query *query)
{
	if (*command->is.target && argc != 1)
		return usage_error("%s needs one %s", command->is.name,
				   command->is.bit == SHOW ? "call id or sequence number" : "file");
	if (!*command->is.target && argc != 0)
		return usage_error("unexpected argument \"%s\"", argv[0]);
	int r = options_check(&words, used, command->is.bit);
	if (r != 0)
		return r;
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
	if (r < 0 && command->is.bit == VERIFY)
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
	int r = options_parse(&words, argc, argv, &query, &used);
	if (r != 0)
		return r < 0 ? 0 : names_verify(argc, argv) ? VERIFY_UNREADABLE : r;
	argc -= optind;
	argv += optind;
	if (argc <= 0)
		return usage_error("a command is missing");
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (strcmp(argv[0], commands[i].is.name) != 0)
			continue;
		r = check(&commands[i], argc - 1, argv + 1, used, &query);
		if (r != 0 && commands[i].is.bit == VERIFY)
			r = VERIFY_UNREADABLE;
		if (r == 0)
			r = run(&commands[i], &query);
		store_close(&query.store);
		return r;
	}
	return usage_error("\"%s\" is not a command", argv[0]);
}
