/* test-frame.c - a call and a reply as bytes: what went in comes out, and what was not put
 * in by us is refused. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/frame.h"
#include "core/log.h"
#include "core/open.h"
#include "core/replytable.h"

static struct json_arena *arena;
static char memory[65536];

static const struct json_value *parsed(const char *text)
{
	const struct json_value *value;
	assert_int_equal(
		json_parse(arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &value, NULL, NULL), 0);
	return value;
}

static pawl_str text(const char *s)
{
	return (pawl_str){s, strlen(s)};
}

static struct pawl_call *make_call(void)
{
	struct pawl_call *call = call_new(arena, JSON_DEFAULT_LIMITS);
	const struct json_value *event =
		parsed("{\"tool_input\": {\"command\":\"ls\",\"n\":1e400}, \"meta\":[ 1 ]}");
	call->kind = EVENT_PRE_TOOL;
	call->text[PAWL_T_TOOL] = json_arena_text(arena, STR("a\0b"));
	call->text[PAWL_T_SERVER] = json_arena_text(arena, STR(""));
	call->number[PAWL_N_TURN] = -7;
	call->root[PAWL_R_EVENT] = event;
	call->root[PAWL_R_ARGS_GIVEN] = json_member(event, STR("tool_input"));
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN];
	call->root[PAWL_R_META] = json_member(event, STR("meta"));
	call->root[PAWL_R_CONTEXT] = parsed("{\"tenant\":\"acme\"}");
	return call;
}

static struct frame_out fresh(void)
{
	return (struct frame_out){.data = memory, .room = sizeof(memory)};
}

/* ---- calls ------------------------------------------------------------------------------ */

static void assert_same_root(const struct pawl_call *call, const struct frame_call *got, int which)
{
	struct str raw = call->root[which] ? json_raw(call->root[which]) : (struct str){NULL, 0};
	assert_true(str_equal(got->root[which], raw) && !got->root[which].ptr == !raw.ptr);
}

static void test_call_comes_back(void **state)
{
	(void)state;
	struct frame_out out = fresh();
	struct pawl_call *call = make_call();
	struct frame_call got;
	frame_put_call(&out, call);
	assert_false(out.full);
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_call(&in, arena, &got), 0);
	assert_true(frame_ends(&in));
	assert_int_equal(got.call->kind, EVENT_PRE_TOOL);
	for (int i = 1; i < CALL_TEXTS; i++) {
		assert_true(str_equal(got.call->text[i], call->text[i]));
		assert_int_equal(!got.call->text[i].ptr, !call->text[i].ptr);
	}
	assert_int_equal(got.call->text[PAWL_T_TOOL].len, 3);
	for (int i = 1; i < CALL_NUMBERS; i++)
		assert_true(got.call->number[i] == call->number[i]);
	for (int i = 1; i < CALL_ROOTS; i++)
		assert_same_root(call, &got, i);
}

static void test_roots_inside_of_others_are_sent_once(void **state)
{
	(void)state;
	struct frame_out with = fresh(), without = fresh();
	struct pawl_call *call = make_call();
	frame_put_call(&with, call);
	call->root[PAWL_R_ARGS] = call->root[PAWL_R_ARGS_GIVEN] = call->root[PAWL_R_META] = NULL;
	frame_put_call(&without, call);
	assert_int_equal(with.len, without.len);
}

static void test_call_that_does_not_fit_is_full(void **state)
{
	(void)state;
	struct pawl_call *call = make_call();
	struct frame_out out = fresh();
	frame_put_call(&out, call);
	for (size_t room = 0; room < out.len; room++) {
		struct frame_out less = {.data = memory, .room = room};
		frame_put_call(&less, call);
		assert_true(less.full && less.len <= room);
	}
}

/* In a block of its own size, so that a sanitizer sees a read past it. */
static void test_call_that_is_cut_is_refused(void **state)
{
	(void)state;
	struct frame_out out = fresh();
	frame_put_call(&out, make_call());
	for (size_t len = 0; len < out.len; len++) {
		struct frame_call got;
		char *cut = malloc(len + 1);
		memcpy(cut, memory, len);
		struct frame_in in = {.data = cut, .left = len};
		assert_int_equal(frame_get_call(&in, arena, &got), -EPROTO);
		free(cut);
	}
}

/* ---- replies ----------------------------------------------------------------------------- */

static void fill(struct pawl_reply *reply)
{
	reply_reason(reply, text("rule"), text("no \x1b\xff"));
	assert_int_equal(reply_result(reply, text("{\"a\": 1.50}"), 1), 0);
	reply_approval(reply, text("look"), 5);
	assert_int_equal(reply_set_at(reply, text("/command"), text("\"rm\"")), 0);
	reply_grant(reply);
	reply_tell(reply, text("told"));
	reply_note(reply, text("sandbox"), text("whole"));
	reply_note(reply, text("key"), text("said anew below"));
	reply_note(reply, text("key"), text("value"));
}

static void assert_text(struct str a, struct str b)
{
	assert_true(str_equal(a, b) && !a.ptr == !b.ptr);
}

static void test_reply_comes_back(void **state)
{
	(void)state;
	static struct pawl_reply given, got;
	struct frame_out out = fresh();
	struct pawl_call *call = make_call();
	int32_t status;
	const char *said;
	unsigned n;
	reply_init(&given, call);
	reply_init(&got, call);
	fill(&given);
	log_clear();
	log_add("x", PAWL_LOG_WARN, STR("one line"));
	frame_put_reply(&out, -77, "it said", &given);
	log_clear();
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_reply(&in, "x", "sandbox", &got, &status, &said), 0);
	assert_int_equal(status, -77);
	assert_string_equal(said, "it said");
	assert_text(got.rule, given.rule);
	assert_text(got.reason, given.reason);
	assert_text(got.instructions, given.instructions);
	assert_text(got.told, given.told);
	assert_true(got.edited && got.grant && got.approval_given && got.result_is_error);
	assert_true(got.timeout_ns == 5 && !got.fault);
	assert_text(json_raw(got.args), json_raw(given.args));
	assert_text(json_raw(got.result), STR("{\"a\": 1.50}"));
	assert_int_equal(got.n_notes, 1); /* the host's own key is not the plugin's to set */
	assert_string_equal(got.notes[0].key.ptr, "key");
	assert_string_equal(log_lines(&n)->text, "one line");
	assert_int_equal(n, 1);
}

static void test_fault_comes_back(void **state)
{
	(void)state;
	static struct pawl_reply given, got;
	struct frame_out out = fresh();
	struct pawl_call *call = make_call();
	int32_t status;
	const char *said;
	reply_init(&given, call);
	reply_init(&got, call);
	reply_set_args(&given, text("nonsense"));
	frame_put_reply(&out, PAWL_ALLOW, "", &given);
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_reply(&in, "x", NULL, &got, &status, &said), 0);
	assert_string_equal(got.fault, given.fault);
	assert_null(said);
	assert_false(got.edited);
}

static void test_reply_that_is_cut_or_goes_on_is_refused(void **state)
{
	(void)state;
	static struct pawl_reply given, got;
	struct frame_out out = fresh();
	struct pawl_call *call = make_call();
	int32_t status;
	const char *said;
	reply_init(&given, call);
	fill(&given);
	frame_put_reply(&out, PAWL_ALLOW, "", &given);
	for (size_t len = 0; len <= out.len + 1; len++) {
		char *cut = malloc(len + 1);
		memcpy(cut, memory, len);
		struct frame_in in = {.data = cut, .left = len};
		reply_init(&got, call);
		assert_int_equal(frame_get_reply(&in, "x", NULL, &got, &status, &said),
				 len == out.len ? 0 : -EPROTO);
		free(cut);
	}
}

/* What no service of ours would have left. */
static void test_forged_reply_goes_through_the_services(void **state)
{
	(void)state;
	static struct pawl_reply given, got;
	struct pawl_call *call = make_call();
	int32_t status;
	const char *said;
	const char *const args[] = {"[1]", "\"text\"", "1"};
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		struct frame_out out = fresh();
		reply_init(&given, call);
		reply_init(&got, call);
		given.args = parsed(args[i]);
		given.edited = true;
		frame_put_reply(&out, PAWL_ALLOW, "", &given);
		struct frame_in in = {.data = memory, .left = out.len};
		assert_int_equal(frame_get_reply(&in, "x", NULL, &got, &status, &said), 0);
		assert_string_equal(got.fault, "its arguments are not an object");
		assert_ptr_equal(got.args, call->root[PAWL_R_ARGS]);
	}
	struct frame_out out = fresh();
	reply_init(&given, call);
	reply_init(&got, call);
	given.approval_given = true;
	given.timeout_ns = -9;
	given.reason = STR("bell \a, half \xed\xa0\x80");
	frame_put_reply(&out, PAWL_REQUIRE_APPROVAL, "", &given);
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_reply(&in, "x", NULL, &got, &status, &said), 0);
	assert_string_equal(got.fault, "its approval timeout is negative");
	assert_null(strchr(got.reason.ptr, '\a'));
}

/* ---- opening ------------------------------------------------------------------------------- */

static void test_options_keep_their_place(void **state)
{
	(void)state;
	struct frame_out out = fresh();
	struct config *config;
	struct config_entry entry;
	struct patterns libraries;
	struct frame_open open;
	struct error err;
	unsigned line, column;
	assert_int_equal(config_parse(STR("{\"libraries\": [\"libssl.so\"],\n"
					  " \"chain\": [{\"plugin\": \"a\",\n"
					  "   \"isolation\": \"process\", \"needs\": [\"net\"],\n"
					  "   \"options\": {// why\n     \"value\": [1,],}}]}\n"),
				      "/w/pawl.json", &config, &err), 0);
	open = (struct frame_open){&config->chain[0], STR("/plugins"), config->dir,
				   &config->libraries, true};
	frame_put_open(&out, &open);
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_open(&in, arena, &entry, &libraries, &open, &err), 0);
	assert_string_equal(open.plugin_dir.ptr, "/plugins");
	assert_string_equal(open.base_dir.ptr, "/w");
	assert_string_equal(entry.file.ptr, "/w/pawl.json");
	assert_string_equal(entry.plugin.ptr, "a");
	assert_int_equal(libraries.n, 1);
	assert_string_equal(libraries.list[0].ptr, "libssl.so");
	assert_false(entry.pinned);
	assert_true(open.in_chain && entry.needs_net && !entry.sandbox_best_effort);
	json_place(json_member(entry.options, STR("value")), &line, &column);
	assert_int_equal(line, 5);
	assert_int_equal(column, 15);
	config_free(config);
}

static void test_opened_comes_back(void **state)
{
	(void)state;
	const struct frame_opened given = {FRAME_OPENED, {NULL, 0}, STR("1.0"), HOOK_DECIDED,
					   STR("weak")};
	struct frame_opened got;
	struct frame_out out = fresh();
	frame_put_opened(&out, &given);
	struct frame_in in = {.data = memory, .left = out.len};
	assert_int_equal(frame_get_opened(&in, &got), 0);
	assert_int_equal(got.stage, FRAME_OPENED);
	assert_int_equal(got.hooks, HOOK_DECIDED);
	assert_string_equal(got.version.ptr, "1.0");
	assert_string_equal(got.weak.ptr, "weak");
}

static int set_up(void **state)
{
	(void)state;
	return json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	json_arena_free(arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_comes_back),
		cmocka_unit_test(test_roots_inside_of_others_are_sent_once),
		cmocka_unit_test(test_call_that_does_not_fit_is_full),
		cmocka_unit_test(test_call_that_is_cut_is_refused),
		cmocka_unit_test(test_reply_comes_back),
		cmocka_unit_test(test_fault_comes_back),
		cmocka_unit_test(test_reply_that_is_cut_or_goes_on_is_refused),
		cmocka_unit_test(test_forged_reply_goes_through_the_services),
		cmocka_unit_test(test_options_keep_their_place),
		cmocka_unit_test(test_opened_comes_back),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
