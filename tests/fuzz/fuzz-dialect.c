/* fuzz-dialect.c - whatever a client sends: each dialect reads it or says why not, and a
 * refusal of it is said. */
#include <config.h>

#include "fuzz.h"

#include <stdlib.h>

#include "dialects/dialect.h"

#define must(condition) ((condition) ? (void)0 : abort())

static struct json_arena *arena;
static struct host *host;

static void set_up(void)
{
	struct config *config;
	must(json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) == 0);
	must(config_parse(STR("{}"), "/pawl.json", &config, NULL) == 0);
	must(host_new(config, NULL, &host, NULL) == 0);
}

/* A gating event is never answered with "no objection" when it was decided otherwise. */
static void answer(const struct dialect *dialect, struct pawl_call *call)
{
	struct answer answer;
	struct error err;
	struct decision d = {.verdict = VERDICT_DENY, .refusal = STR("no"), .reason = STR("no")};
	/* as a worker does; a fuzzer's own build cannot load the writer */
	if (dialect_encode(dialect, host, call, &d, &answer, &err) < 0)
		must(dialect_refuse(dialect, call, &d, &answer, &err) == 0);
	must(!event_gates(call->kind) || answer.err.len > 0);
	if (event_gates(call->kind) && dialect_form(dialect, call)->refuse[0])
		must(answer.out.len > 0);
}

static void changed(const struct dialect *dialect, struct pawl_call *call)
{
	struct answer answer;
	struct error err;
	struct decision d = {.verdict = VERDICT_ALLOW, .modified = true};
	if (!event_gates(call->kind) ||
	    json_type(call->root[PAWL_R_ARGS_GIVEN]) != JSON_OBJECT ||
	    json_set_at(arena, call->root[PAWL_R_ARGS_GIVEN], STR("/file_path"), STR("\"fuzz\""),
			call->limits, &d.args, NULL) < 0 ||
	    json_same(d.args, call->root[PAWL_R_ARGS_GIVEN]))
		return;
	if (dialect_encode(dialect, host, call, &d, &answer, &err) < 0)
		return;
	must(answer.out.len > 0 || answer.err.len > 0);
	const struct json_value *value;
	must(answer.out.len == 0 ||
	     json_parse(arena, answer.out, JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_value *event;
	struct error err;
	if (!arena)
		set_up();
	size_t mark = json_arena_mark(arena);
	struct str text = {(const char *)data, size}, absent = {NULL, 0};
	if (json_parse(arena, text, JSON_DEFAULT_LIMITS, 0, &event, NULL, NULL) == 0)
		for (size_t i = 0; dialect_at(i); i++) {
			struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
			must(call != NULL);
			int r = dialect_decode(dialect_at(i), call, event, absent, &err);
			must(r == 0 || err.text[0]);
			answer(dialect_at(i), call);
			if (r == 0)
				changed(dialect_at(i), call);
		}
	json_arena_rewind(arena, mark);
	return 0;
}
