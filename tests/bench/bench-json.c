/* bench-json.c - the strict reader against json-c, side by side in one run.
 *
 * Ratios of medians of interleaved runs, in CPU time, so that other programs on the
 * machine disturb little; nothing here passes or fails. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "json/json.h"
#include "json/scan.h"

/* both have a type of this name */
#define json_type json_c_type
#include <json-c/json.h>
#undef json_type

enum { ROUNDS = 21, LOOKUPS = 2000000 };

static const char event[] =
	"{\"session_id\":\"6f1c2d3e-8a4b-4c5d-9e6f-0123456789ab\",\"transcript_path\":"
	"\"/home/u/.claude/projects/demo/6f1c2d3e.jsonl\",\"cwd\":\"/home/u/demo\","
	"\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":"
	"\"make -j2 check\",\"description\":\"Run the tests\"},\"tool_use_id\":\"toolu_01ABC\"}";

static const char source[] =
	"\\tint r = json_parse(arena, text, limits, 0, &value, NULL, err);\\n"
	"\\tif (r < 0)\\n\\t\\treturn error_set(err, -r, \\\"cannot read\\\");\\n";
static const char cyrillic[] = /* "a long line of text, of words.\n" */
	"\xd0\xb4\xd0\xbb\xd0\xb8\xd0\xbd\xd0\xbd\xd0\xb0\xd1\x8f "
	"\xd1\x81\xd1\x82\xd1\x80\xd0\xbe\xd0\xba\xd0\xb0 "
	"\xd1\x82\xd0\xb5\xd0\xba\xd1\x81\xd1\x82\xd0\xb0, "
	"\xd0\xb8\xd0\xb7 \xd1\x81\xd0\xbb\xd0\xbe\xd0\xb2.\\n";
static const char codes[] = "\\u0434\\u043b\\u0438\\u043d\\u043d\\u0430\\u044f \\ud834\\udd1e\\n";

/* An event that writes size bytes of lines: one long string. */
static char *writing(size_t size, const char *line)
{
	char *text = malloc(size + 1024);
	size_t len = 0;
	if (!text)
		abort();
	len += (size_t)sprintf(text, "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Write\","
				     "\"tool_input\":{\"file_path\":\"/home/u/demo/a.c\",\"content\":\"");
	for (; len < size; len += strlen(line))
		strcpy(text + len, line);
	strcpy(text + len, "\"}}");
	return text;
}

/* An object of small records, at least size bytes long. */
static char *records(size_t size)
{
	char *text = malloc(size + 1024);
	size_t len = 0;
	if (!text)
		abort();
	len += (size_t)sprintf(text, "{\"items\":[");
	for (unsigned i = 0; len < size; i++)
		len += (size_t)sprintf(text + len,
				       "%s{\"id\":%u,\"name\":\"item %u\",\"ok\":%s,\"v\":[%u,%u.5,null],"
				       "\"text\":\"a line\\nand \xe2\x82\xac more\"}",
				       i ? "," : "", i * 7919, i, i & 1 ? "true" : "false", i, i);
	strcpy(text + len, "]}");
	return text;
}

static void read_ours(struct json_arena *arena, struct str text)
{
	const struct json_value *value;
	size_t mark = json_arena_mark(arena);
	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL) < 0)
		abort();
	json_arena_rewind(arena, mark);
}

static void read_fresh(struct str text)
{
	struct json_arena *arena;
	if (json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		abort();
	read_ours(arena, text);
	json_arena_free(arena);
}

static char copies[2][6000000];

/* The least that can be done: the two copies that are kept, and one bare look. */
static void read_nothing(struct str text)
{
	uint64_t seen = 0;
	for (int i = 0; i < 2; i++)
		memcpy(copies[i], text.ptr, text.len);
	for (size_t at = 0; at < text.len; at += SCAN_BLOCK)
		seen |= scan_block((const unsigned char *)copies[1] + at).slashes;
	__asm__ volatile("" : : "r"(seen) : "memory");
}

static void read_theirs(struct json_tokener *tokener, struct str text)
{
	json_tokener_reset(tokener);
	struct json_object *object = json_tokener_parse_ex(tokener, text.ptr, (int)text.len);
	if (!object)
		abort();
	json_object_put(object);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), by_value);
	return times[ROUNDS / 2];
}

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define TIMED(place, runs, statement)                                                              \
	do {                                                                                       \
		double start_ = cpu_ns();                                                         \
		for (int run_ = 0; run_ < (runs); run_++)                                          \
			statement;                                                                 \
		(place) = (cpu_ns() - start_) / (runs);                                            \
	} while (0)

static void compare(struct json_arena *arena, struct json_tokener *tokener, const char *what,
		    const char *text)
{
	struct str whole = str_of(text);
	double ours[ROUNDS], fresh[ROUNDS], theirs[ROUNDS], floor[ROUNDS];
	int runs = (int)(2000000 / whole.len) + 1;
	int fresh_runs = runs > 20 ? 20 : runs;
	for (int i = 0; i < ROUNDS; i++) {
		TIMED(ours[i], runs, read_ours(arena, whole));
		TIMED(theirs[i], runs, read_theirs(tokener, whole));
		TIMED(floor[i], runs, read_nothing(whole));
		TIMED(fresh[i], fresh_runs, read_fresh(whole));
	}
	double a = median(ours), b = median(theirs), c = median(fresh);
	printf("%-16s  %10zu  %10.2f  %10.2f  %6.1fx  %10.2f  %15.2f\n", what, whole.len, a / 1000,
	       b / 1000, b / a, median(floor) / 1000, c / 1000);
}

static void compare_made(struct json_arena *arena, struct json_tokener *tokener,
			 const char *what, char *text)
{
	compare(arena, tokener, what, text);
	free(text);
}

static void lookup(struct json_arena *arena, const char *what, const char *text, struct str name)
{
	const struct json_value *(*volatile member)(const struct json_value *, struct str) =
		json_member;
	const struct json_value *value;
	double times[ROUNDS];
	if (json_parse(arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL) < 0 ||
	    !member(value, name))
		abort();
	for (int i = 0; i < ROUNDS; i++)
		TIMED(times[i], LOOKUPS / ROUNDS, (void)member(value, name));
	printf("%-36s %6.1f ns\n", what, median(times));
}

static char *many_members(unsigned count)
{
	char *text = malloc(32 * (size_t)count + 32), *at = text;
	if (!text)
		abort();
	for (unsigned i = 0; i < count; i++)
		at += sprintf(at, "%c\"member_%u\":%u", i ? ',' : '{', i, i);
	strcpy(at, "}");
	return text;
}

int main(void)
{
	static const size_t sizes[] = {2000, 100000, 5000000};
	struct json_tokener *tokener = json_tokener_new();
	struct json_arena *arena;
	if (!tokener || json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		return 1;
	puts("reading: bytes, CPU us a text; json-c with a kept tokener, its tree freed");
	puts("floor: two copies of the text and one look at it for backslashes");
	puts("                       bytes        pawl      json-c    ratio       floor  "
	     "pawl, new arena");
	compare(arena, tokener, "event", event);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		compare_made(arena, tokener, "long strings", writing(sizes[i], source));
		compare_made(arena, tokener, "... in Cyrillic", writing(sizes[i], cyrillic));
		compare_made(arena, tokener, "... of \\uXXXX", writing(sizes[i], codes));
		compare_made(arena, tokener, "small values", records(sizes[i]));
	}
	puts("json_member through a function pointer");
	lookup(arena, "an event's tool_name, of 7", event, STR("tool_name"));
	char *text = many_members(16);
	lookup(arena, "the last of 16", text, STR("member_15"));
	free(text);
	text = many_members(5000);
	lookup(arena, "one of 5000", text, STR("member_4321"));
	free(text);
	json_arena_free(arena);
	json_tokener_free(tokener);
	return 0;
}
