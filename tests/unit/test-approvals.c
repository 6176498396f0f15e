/* test-approvals.c - the queue: what a yes is bound to, who may say it, how often it counts,
 * and how long. Time and people are made up; the database is a real one. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decide.h"
#include "digest.h"
#include "hold.h"
#include "lineage.h"
#include "sign.h"

#define SECOND INT64_C(1000000000)
#define DAY_MS (INT64_C(86400) * 1000)
#define CONSUMERS 40

static struct moment pretended;

static void pretend(struct moment *ret)
{
	*ret = pretended;
}

/* Time goes by on both clocks. */
static void pass(int64_t seconds)
{
	pretended.wall_ms += seconds * 1000;
	pretended.boot_ns += seconds * SECOND;
}

struct fixture {
	char dir[64];
	struct approvals *queue;
	struct json_arena *arena;
	struct approval_request request;
	struct approval_part parts[2];
	struct approval_state state;
	struct error err;
};

static const struct json_value *json(struct fixture *f, const char *text)
{
	const struct json_value *value;
	assert_int_equal(json_parse(f->arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &value, NULL,
				    NULL),
			 0);
	return value;
}

static struct approval_request plain(struct fixture *f)
{
	return (struct approval_request){
		.session = STR("s1"), .tool = STR("refund"), .source = STR("local"),
		.args = json(f, "{\"amount\":100,\"to\":\"ada\"}"), .call_id = STR("t1"),
		.call_id_json = STR("\"t1\""), .reason = STR("ask"), .client = STR("pawl"),
		.timeout_ns = 300 * SECOND, .redeem_ns = 600 * SECOND, .need = 1,
		.requester = getpid(), .parts = f->parts, .n_parts = 1,
	};
}

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	pretended = (struct moment){1800000000000, 5000 * SECOND, "boot-1"};
	snprintf(f->dir, sizeof(f->dir), "test-approvals.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(json_arena_new(JSON_ARENA_DEFAULT, &f->arena, NULL), 0);
	if (queue_open(f->dir, true, &f->queue, &f->err) < 0)
		fail_msg("%s", f->err.text);
	f->queue->clock = pretend;
	f->parts[0] = (struct approval_part){.path = STR("/etc/pawl.json"), .text = STR("{}"),
					     .fd = -1};
	f->request = plain(f);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	char command[128];
	queue_close(f->queue);
	json_arena_free(f->arena);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	int r = system(command);
	free(f);
	return r;
}

/* ---- short words ---------------------------------------------------------------------------- */

static void hold(struct fixture *f)
{
	if (hold_request(f->queue, &f->request, &f->state, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

static enum approval_status look(struct fixture *f, const char *id)
{
	struct approval_state state;
	if (hold_look(f->queue, id, &state, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return state.status;
}

static enum approval_status consume(struct fixture *f, const char *id)
{
	if (hold_consume(f->queue, id, &f->request, &f->state, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return f->state.status;
}

static const struct voter ada = {1001, 0, "ada", "process", "cli"};
static const struct voter bob = {1002, 0, "bob", "process", "cli"};

static int cast(struct fixture *f, enum ballot_kind kind, const char *id, const char *digest,
		const char *reason, const struct voter *voter)
{
	size_t done = 0;
	struct str d = str_of(digest);
	struct ballot ballot = {.kind = kind, .ids = &id, .n_ids = 1, .digests = &d,
				.n_digests = digest ? 1 : 0, .reason = str_of(reason)};
	return decide_cast(f->queue, &ballot, voter, NULL, &done, &f->err);
}

static int approve(struct fixture *f, const struct approval_state *state, const struct voter *voter)
{
	char digest[9];
	snprintf(digest, sizeof(digest), "%.8s", state->digest);
	return cast(f, BALLOT_APPROVE, state->id, digest, NULL, voter);
}

static int sql(struct fixture *f, const char *text)
{
	return sqlite3_exec(f->queue->db, text, NULL, NULL, NULL);
}

/* ---- what it is bound to ------------------------------------------------------------------------ */

static void digest_of(struct fixture *f, const char *args, char ret[DIGEST_HEX + 1])
{
	struct approval_request q = f->request;
	q.args = json(f, args);
	assert_int_equal(digest_request(&q, ret), 0);
}

static void test_digest_is_the_documented_one(void **state)
{
	struct fixture *f = *state;
	char digest[DIGEST_HEX + 1], wanted[DIGEST_HEX + 1];
	static const char text[] =
		"pawl/approval/v1\0{\"args\":{\"a\":[1,5.0],\"b\":\"\\n\\u0001\\\"\xc3\xa9/\"},"
		"\"context\":null,\"server\":null,\"session\":\"s1\",\"source\":\"local\","
		"\"tool\":\"refund\"}";
	digest_of(f, "{ \"b\": \"\\n\\u0001\\\"\\u00e9\\/\" , \"a\":[1, 5.0]}", digest);
	digest_bytes((struct str){text, sizeof(text) - 1}, wanted);
	assert_string_equal(digest, wanted);
}

static void test_digest_tells_values_apart(void **state)
{
	static const char *const args[] = {
		"{\"a\":5}", "{\"a\":\"5\"}", "{\"a\":5.0}", "{\"a\":50}", "{\"a\":null}", "{}",
		"{\"a\":1915883588174806058}", "{\"a\":1915883588174806059}", "{\"b\":5}",
		"{\"a\":[5]}", "{\"a\":{\"a\":5}}", "{\"a\":\"\\u0005\"}", "{\"a\":true}",
	};
	struct fixture *f = *state;
	char digest[sizeof(args) / sizeof(args[0])][DIGEST_HEX + 1];
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		digest_of(f, args[i], digest[i]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(digest[i], digest[j]);
	}
}

static void test_digest_ignores_order_and_space(void **state)
{
	struct fixture *f = *state;
	char one[DIGEST_HEX + 1], two[DIGEST_HEX + 1];
	digest_of(f, "{\"a\":1,\"b\":\"\\u0041\"}", one);
	digest_of(f, " { \"b\" : \"A\" , \"a\" : 1 } ", two);
	assert_string_equal(one, two);
}

static void test_digest_covers_whom_and_where(void **state)
{
	struct fixture *f = *state;
	char one[DIGEST_HEX + 1], two[DIGEST_HEX + 1];
	struct approval_request q[5];
	for (size_t i = 0; i < 5; i++)
		q[i] = f->request;
	q[0].session = STR("s2");
	q[1].tool = STR("refunds");
	q[2].server = STR("shop");
	q[3].source = STR("mcp");
	q[4].context = json(f, "{\"tenant\":\"acme\"}");
	digest_request(&f->request, one);
	for (size_t i = 0; i < 5; i++) {
		digest_request(&q[i], two);
		assert_string_not_equal(one, two);
	}
	q[0] = f->request;
	q[0].call_id = STR("t2"); /* a retry has another id */
	digest_request(&q[0], two);
	assert_string_equal(one, two);
}

static void test_a_prefix_names_a_digest(void **state)
{
	static const char digest[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	(void)state;
	assert_true(digest_named(digest, STR("012345")));
	assert_true(digest_named(digest, STR("sha256:0123456789AB")));
	assert_true(digest_named(digest, str_of(digest)));
	assert_false(digest_named(digest, STR("01234")));
	assert_false(digest_named(digest, STR("sha256:01234")));
	assert_false(digest_named(digest, STR("012346")));
	assert_false(digest_named(digest, STR("")));
}

/* ---- the object ------------------------------------------------------------------------------------ */

static void test_the_same_call_waits_once(void **state)
{
	struct fixture *f = *state;
	hold(f);
	assert_true(f->state.fresh);
	assert_int_equal(f->state.status, APPROVAL_PENDING);
	char id[APPROVAL_ID_MAX];
	strcpy(id, f->state.id);
	f->request.call_id = STR("t2");
	hold(f);
	assert_false(f->state.fresh);
	assert_string_equal(f->state.id, id);
	f->request.session = STR("s2");
	hold(f);
	assert_true(f->state.fresh);
	assert_string_not_equal(f->state.id, id);
}

static void test_states_follow_each_other_in_the_database(void **state)
{
	static const char *const all[] = {"pending", "approved", "consumed",
					  "denied",  "expired",	 "canceled"};
	static const char *const allowed[] = {"pending>approved",  "pending>denied",
					      "pending>expired",   "pending>canceled",
					      "approved>consumed", "approved>expired",
					      "approved>canceled"};
	struct fixture *f = *state;
	for (size_t from = 0; from < 6; from++) {
		for (size_t to = 0; to < 6; to++) {
			char text[512], step[64], session[32];
			bool may = false;
			snprintf(session, sizeof(session), "f%zu%zu", from, to);
			f->request.session = str_of(session);
			hold(f);
			if (from > 1 && from == 2)
				snprintf(text, sizeof(text),
					 "UPDATE approvals SET status='approved' WHERE id='%s';"
					 "UPDATE approvals SET status='consumed' WHERE id='%s'",
					 f->state.id, f->state.id);
			else
				snprintf(text, sizeof(text),
					 "UPDATE approvals SET status='%s' WHERE id='%s'",
					 all[from], f->state.id);
			if (from > 0)
				assert_int_equal(sql(f, text), SQLITE_OK);
			snprintf(step, sizeof(step), "%s>%s", all[from], all[to]);
			for (size_t i = 0; i < 7; i++)
				may |= strcmp(step, allowed[i]) == 0;
			snprintf(text, sizeof(text),
				 "UPDATE approvals SET status='%s' WHERE id='%s'", all[to],
				 f->state.id);
			assert_int_equal(sql(f, text) == SQLITE_OK, may);
		}
	}
}

static void test_nothing_rewrites_what_was_asked(void **state)
{
	struct fixture *f = *state;
	hold(f);
	assert_int_not_equal(sql(f, "UPDATE approvals SET args = '{}'"), SQLITE_OK);
	assert_int_not_equal(sql(f, "UPDATE approvals SET digest = session_id"), SQLITE_OK);
	assert_int_not_equal(sql(f, "UPDATE approvals SET timeout_ns = 0"), SQLITE_OK);
	assert_int_not_equal(sql(f, "DELETE FROM approvals"), SQLITE_OK);
	assert_int_equal(approve(f, &f->state, &ada), 0);
	assert_int_not_equal(sql(f, "UPDATE votes SET approver = 'uid:0'"), SQLITE_OK);
	assert_int_not_equal(sql(f, "DELETE FROM votes"), SQLITE_OK);
	assert_int_not_equal(
		sql(f, "INSERT INTO approvals SELECT * FROM approvals"), SQLITE_OK);
}

static void test_arguments_too_large_for_a_person_are_refused(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(QUEUE_ARGS_MAX + 32);
	memset(text, 'a', QUEUE_ARGS_MAX + 16);
	memcpy(text, "{\"a\":\"", 6);
	strcpy(text + QUEUE_ARGS_MAX + 8, "\"}");
	f->request.args = json(f, text);
	assert_int_equal(hold_request(f->queue, &f->request, &f->state, &f->err), -E2BIG);
	free(text);
}

/* ---- deciding ---------------------------------------------------------------------------------------- */

static void test_a_yes_is_used_once(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(consume(f, asked.id), APPROVAL_PENDING);
	assert_int_equal(approve(f, &asked, &ada), 0);
	hold(f);
	assert_int_equal(f->state.status, APPROVAL_APPROVED);
	assert_string_equal(f->state.id, asked.id);
	assert_string_equal(f->state.who, "uid 1001 (ada)");
	assert_int_equal(consume(f, asked.id), APPROVAL_CONSUMED);
	assert_false(f->state.changed);
	assert_int_equal(hold_consume(f->queue, asked.id, &f->request, &f->state, &f->err), 0);
	/* it says that it is used, and so does not say so to a second one */
	hold(f);
	assert_true(f->state.fresh);
}

static void test_a_yes_is_for_that_call_alone(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	f->request.args = json(f, "{\"amount\":1000,\"to\":\"ada\"}");
	assert_int_equal(hold_consume(f->queue, asked.id, &f->request, &f->state, &f->err),
			 -ESTALE);
	hold(f);
	assert_true(f->state.fresh);
	assert_int_equal(look(f, asked.id), APPROVAL_APPROVED);
}

static void test_a_no_ends_it_and_answers_for_a_while(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(cast(f, BALLOT_DENY, asked.id, NULL, NULL, &ada), -EINVAL);
	assert_int_equal(cast(f, BALLOT_DENY, asked.id, NULL, "not today", &ada), 0);
	assert_int_equal(approve(f, &asked, &bob), -ESTALE);
	assert_non_null(strstr(f->err.text, "already denied"));
	assert_non_null(strstr(f->err.text, "uid 1001 (ada)"));
	hold(f);
	assert_int_equal(f->state.status, APPROVAL_DENIED);
	assert_string_equal(f->state.reason, "not today");
	pass(601);
	hold(f);
	assert_true(f->state.fresh);
}

static void test_decisions_that_decide_nothing(void **state)
{
	struct fixture *f = *state;
	char digest[DIGEST_HEX + 1];
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(cast(f, BALLOT_APPROVE, asked.id, NULL, NULL, &ada), -EINVAL);
	snprintf(digest, sizeof(digest), "%.5s", asked.digest);
	assert_int_equal(cast(f, BALLOT_APPROVE, asked.id, digest, NULL, &ada), -EINVAL);
	assert_int_equal(cast(f, BALLOT_APPROVE, asked.id, "", NULL, &ada), -EINVAL);
	strcpy(digest, asked.digest);
	digest[0] = digest[0] == '0' ? '1' : '0';
	assert_int_equal(cast(f, BALLOT_APPROVE, asked.id, digest, NULL, &ada), -EBADMSG);
	assert_int_equal(cast(f, BALLOT_APPROVE, "ap-nothing", asked.digest, NULL, &ada), -ENOENT);
	assert_int_equal(cast(f, BALLOT_APPROVE, "' OR 1 --", asked.digest, NULL, &ada), -ENOENT);
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(approve(f, &asked, &ada), -ESTALE);
	assert_int_equal(cast(f, BALLOT_DENY, asked.id, NULL, "late", &bob), -ESTALE);
	assert_int_equal(look(f, asked.id), APPROVAL_APPROVED);
	assert_int_equal(cast(f, BALLOT_CANCEL, asked.id, NULL, NULL, &bob), 0);
	assert_int_equal(look(f, asked.id), APPROVAL_CANCELED);
	assert_int_equal(consume(f, asked.id), APPROVAL_CANCELED);
}

static void test_several_people(void **state)
{
	struct fixture *f = *state;
	f->request.need = 2;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	assert_int_equal(approve(f, &asked, &ada), -EALREADY);
	struct voter alias = ada;
	alias.name = "somebody else"; /* a name proves nothing */
	assert_int_equal(approve(f, &asked, &alias), -EALREADY);
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	assert_int_equal(approve(f, &asked, &bob), 0);
	assert_int_equal(look(f, asked.id), APPROVAL_APPROVED);
}

static void test_a_vote_stands(void **state)
{
	struct fixture *f = *state;
	f->request.need = 2;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(cast(f, BALLOT_DENY, asked.id, NULL, "no, wait", &ada), -EALREADY);
	assert_non_null(strstr(f->err.text, "a vote stands"));
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	assert_int_not_equal(sql(f, "INSERT INTO votes SELECT approval_id, approver, name,"
				    " assurance, channel, 'deny', reason, seen_digest, at_ms"
				    " FROM votes"),
			     SQLITE_OK);
	assert_int_equal(cast(f, BALLOT_CANCEL, asked.id, NULL, NULL, &ada), 0);
	assert_int_equal(look(f, asked.id), APPROVAL_CANCELED);
}

static void test_one_no_beats_a_yes(void **state)
{
	struct fixture *f = *state;
	f->request.need = 2;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(cast(f, BALLOT_DENY, asked.id, NULL, "no", &bob), 0);
	assert_int_equal(approve(f, &asked, &(struct voter){1003, 0, NULL, "process", "cli"}),
			 -ESTALE);
	assert_int_equal(look(f, asked.id), APPROVAL_DENIED);
}

static void test_who_asks_does_not_approve(void **state)
{
	struct fixture *f = *state;
	struct voter self = {geteuid(), 0, NULL, "process", "cli"};
	f->request.system = true;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &self), -EPERM);
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	struct voter other = {geteuid() + 1, 0, NULL, "process", "cli"};
	assert_int_equal(approve(f, &asked, &other), 0);
	f->request.session = STR("s2");
	f->request.allow_self = true;
	hold(f);
	assert_int_equal(approve(f, &f->state, &self), 0);
}

static void test_what_the_agent_started_does_not_approve(void **state)
{
	struct fixture *f = *state;
	pid_t hook = fork(); /* the agent is this process: it starts a hook */
	if (hook == 0) {
		pause();
		_exit(0);
	}
	f->request.requester = hook;
	hold(f);
	struct approval_state asked = f->state;
	struct voter child = {geteuid(), hook, NULL, "process", "cli"};
	assert_int_equal(approve(f, &asked, &child), -EPERM);
	assert_non_null(strstr(f->err.text, "agent"));
	child.pid = getppid(); /* beside it */
	assert_int_equal(approve(f, &asked, &child), 0);
	kill(hook, SIGKILL);
	waitpid(hook, NULL, 0);
}

static void test_a_ballot_is_all_or_nothing(void **state)
{
	struct fixture *f = *state;
	struct approval_state asked[3];
	const char *ids[3];
	struct str digests[3];
	size_t done = 0;
	f->request.batch = STR("b1");
	for (int i = 0; i < 3; i++) {
		char args[32];
		snprintf(args, sizeof(args), "{\"n\":%d}", i);
		f->request.args = json(f, args);
		hold(f);
		asked[i] = f->state;
		ids[i] = asked[i].id;
		digests[i] = str_of(asked[i].digest);
	}
	struct ballot ballot = {.kind = BALLOT_APPROVE, .ids = ids, .n_ids = 3,
				.digests = digests, .n_digests = 2};
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, NULL, &done, &f->err), -EBADMSG);
	for (int i = 0; i < 3; i++)
		assert_int_equal(look(f, asked[i].id), APPROVAL_PENDING);
	ballot = (struct ballot){.kind = BALLOT_APPROVE, .batch = "b1", .digests = digests,
				 .n_digests = 1};
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, NULL, &done, &f->err), -EBADMSG);
	char whole[DIGEST_HEX + 1];
	assert_int_equal(decide_batch_digest(f->queue, "b1", whole, &f->err), 0);
	digests[0] = (struct str){whole, 12};
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, NULL, &done, &f->err), 0);
	assert_int_equal(done, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(look(f, asked[i].id), APPROVAL_APPROVED);
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, NULL, &done, &f->err), -ESTALE);
	ballot.batch = "b2";
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, NULL, &done, &f->err), -ENOENT);
}

static int no(void *context, const char *type, const struct row *row, struct str data,
	      struct error *err)
{
	(void)type;
	(void)row;
	(void)data;
	return ++*(int *)context < 2 ? 0 : error_set(err, EIO, "no room for the record");
}

static void test_what_cannot_be_recorded_is_not_decided(void **state)
{
	struct fixture *f = *state;
	int calls = 0;
	size_t done;
	struct teller teller = {no, &calls};
	hold(f);
	struct approval_state asked = f->state;
	const char *id = asked.id;
	struct str digest = str_of(asked.digest);
	struct ballot ballot = {.kind = BALLOT_APPROVE, .ids = &id, .n_ids = 1,
				.digests = &digest, .n_digests = 1};
	assert_int_equal(decide_cast(f->queue, &ballot, &ada, &teller, &done, &f->err), -EIO);
	assert_int_equal(calls, 2); /* the vote, and then the decision */
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	assert_int_equal(approve(f, &asked, &ada), 0); /* nor was the vote kept */
}

static void test_policy_that_changed_meanwhile(void **state)
{
	struct fixture *f = *state;
	for (int deny = 0; deny < 2; deny++) {
		f->parts[0].text = STR("{}");
		f->request.session = deny ? STR("d") : STR("r");
		f->request.on_change_deny = deny;
		hold(f);
		struct approval_state asked = f->state;
		assert_int_equal(approve(f, &asked, &ada), 0);
		f->parts[0].text = STR("{\"deny\":[]}");
		assert_int_equal(consume(f, asked.id),
				 deny ? APPROVAL_CANCELED : APPROVAL_CONSUMED);
		assert_true(f->state.changed);
	}
}

/* ---- time ----------------------------------------------------------------------------------------------- */

static void test_an_unanswered_call_expires(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	pass(299);
	assert_int_equal(look(f, asked.id), APPROVAL_PENDING);
	pass(1);
	assert_int_equal(approve(f, &asked, &ada), -ESTALE);
	assert_non_null(strstr(f->err.text, "nobody decided within 300 s"));
	assert_int_equal(look(f, asked.id), APPROVAL_EXPIRED);
	hold(f);
	assert_true(f->state.fresh);
}

static void test_hold_finds_the_old_one_over(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	pass(301);
	hold(f);
	assert_true(f->state.fresh);
	assert_string_equal(f->state.expired, asked.id);
	assert_int_equal(look(f, asked.id), APPROVAL_EXPIRED);
}

static void test_a_yes_that_nobody_uses_expires(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	pass(200);
	assert_int_equal(approve(f, &asked, &ada), 0);
	pass(599); /* its own time counts from the decision */
	assert_int_equal(look(f, asked.id), APPROVAL_APPROVED);
	pass(1);
	assert_int_equal(consume(f, asked.id), APPROVAL_EXPIRED);
	assert_non_null(strstr(f->state.reason, "not used within 600 s"));
}

static void test_without_a_timeout_it_waits(void **state)
{
	struct fixture *f = *state;
	f->request.timeout_ns = 0;
	hold(f);
	assert_true(f->state.left_ns == INT64_MAX);
	struct approval_state asked = f->state;
	pass(400 * 86400);
	assert_int_equal(approve(f, &asked, &ada), 0);
}

static void test_no_clock_extends_a_wait(void **state)
{
	/* how the clocks stand after 301 s; the last word: another boot */
	static const struct {
		int64_t wall_ms, boot_s;
		const char *boot;
	} cases[] = {
		{301000 - 400 * DAY_MS, 301, "boot-1"}, /* wall set back */
		{301000 + 400 * DAY_MS, 301, "boot-1"}, /* wall set forward */
		{301000, -400, "boot-1"},		/* boot clock shifted back */
		{301000, 0, "boot-2"},			/* rebooted */
		{-1000, 10, "boot-2"},			/* rebooted, wall set back */
		{301000, 0, ""},			/* no boot id can be had */
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char session[16];
		struct moment before = pretended;
		snprintf(session, sizeof(session), "c%zu", i);
		f->request.session = str_of(session);
		hold(f);
		struct approval_state asked = f->state;
		pretended.wall_ms += cases[i].wall_ms;
		pretended.boot_ns += cases[i].boot_s * SECOND;
		strcpy(pretended.boot, cases[i].boot);
		assert_int_equal(approve(f, &asked, &ada), -ESTALE);
		assert_int_equal(look(f, asked.id), APPROVAL_EXPIRED);
		pretended = before;
	}
	/* and a small step back of the wall clock ends nothing */
	f->request.session = STR("small");
	hold(f);
	pass(100);
	pretended.wall_ms -= 200000;
	assert_int_equal(approve(f, &f->state, &ada), 0);
}

static void test_sweep_expires_and_tells(void **state)
{
	struct fixture *f = *state;
	int calls = -10;
	hold(f);
	f->request.session = STR("s2");
	f->request.timeout_ns = 1000 * SECOND;
	hold(f);
	pass(500);
	assert_int_equal(decide_sweep(f->queue, &(struct teller){no, &calls}, &f->err), 0);
	assert_int_equal(calls, -9);
	assert_int_equal(look(f, f->state.id), APPROVAL_PENDING);
}

/* ---- many at once ------------------------------------------------------------------------------------------ */

/* Runs work in N processes at once, each with the queue opened anew; how many said 1. */
static int at_once(struct fixture *f, int (*work)(struct fixture *, struct approvals *, void *),
		   void *what)
{
	pid_t pids[CONSUMERS];
	int go[2], sum = 0;
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < CONSUMERS; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		struct approvals *queue = NULL;
		char c;
		close(go[1]);
		int r;
		do /* forty at a time may take longer than one would wait */
			r = queue_open(f->dir, true, &queue, &f->err);
		while (r == -ETIMEDOUT);
		if (r < 0)
			_exit(9);
		queue->clock = pretend;
		(void)!read(go[0], &c, 1); /* until all are there */
		_exit(work(f, queue, what));
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < CONSUMERS; i++) {
		int status = 0;
		waitpid(pids[i], &status, 0);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

static int consume_it(struct fixture *f, struct approvals *queue, void *what)
{
	struct approval_state state;
	int r = hold_consume(queue, what, &f->request, &state, &f->err);
	/* who finds it used is told so, too: only the one that changed it has its call's id */
	return r == 0 && state.status == APPROVAL_CONSUMED && state.mine;
}

static void test_forty_consumers_one_execution(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(at_once(f, consume_it, asked.id), 1);
	assert_int_equal(look(f, asked.id), APPROVAL_CONSUMED);
}

static int decide_it(struct fixture *f, struct approvals *queue, void *what)
{
	struct voter voter = {2000 + (uid_t)getpid(), 0, NULL, "process", "cli"};
	struct approvals *before = f->queue;
	f->queue = queue;
	int r = getpid() % 2 ? approve(f, what, &voter) :
			       cast(f, BALLOT_DENY, ((struct approval_state *)what)->id, NULL, "no",
				    &voter);
	f->queue = before;
	return r == 0;
}

static void test_forty_deciders_one_winner(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(at_once(f, decide_it, &asked), 1);
}

static int hold_it(struct fixture *f, struct approvals *queue, void *what)
{
	struct approval_state state;
	(void)what;
	return hold_request(queue, &f->request, &state, &f->err) == 0 && state.fresh;
}

static void test_forty_requests_wait_as_one(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(at_once(f, hold_it, NULL), 1);
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static void test_the_file_is_the_owners(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	assert_int_equal(stat(f->queue->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_a_file_that_was_taken_away_keeps_no_promise(void **state)
{
	struct fixture *f = *state;
	char other[128];
	hold(f);
	struct approval_state asked = f->state;
	snprintf(other, sizeof(other), "%s/elsewhere.db", f->dir);
	assert_int_equal(rename(f->queue->path, other), 0);
	assert_int_equal(hold_request(f->queue, &f->request, &f->state, &f->err), -ESTALE);
	assert_int_equal(approve(f, &asked, &ada), -ESTALE);
	struct approvals *fresh = NULL;
	assert_int_equal(queue_open(f->dir, true, &fresh, &f->err), 0);
	fresh->clock = pretend;
	struct approval_state state2;
	assert_int_equal(hold_look(fresh, asked.id, &state2, &f->err), -ENOENT);
	queue_close(fresh);
}

/* ---- a copy that is put back ------------------------------------------------------------------ */

static void copy(struct fixture *f, const char *from, const char *to)
{
	char command[256];
	snprintf(command, sizeof(command), "cd %s && cp %s %s", f->dir, from, to);
	assert_int_equal(system(command), 0);
}

/* The folder's database and lock, read anew. */
static void reopen(struct fixture *f)
{
	queue_close(f->queue);
	f->queue = NULL;
	if (queue_open(f->dir, true, &f->queue, &f->err) < 0)
		fail_msg("%s", f->err.text);
	f->queue->clock = pretend;
}

static void test_an_old_database_brings_no_yes_back(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	copy(f, QUEUE_DB, "old.db");
	assert_int_equal(consume(f, asked.id), APPROVAL_CONSUMED);
	assert_true(f->state.mine);
	copy(f, "old.db", QUEUE_DB); /* in place, under whoever has it open */
	assert_int_equal(look(f, asked.id), APPROVAL_APPROVED);
	assert_int_equal(consume(f, asked.id), APPROVAL_CANCELED);
	assert_false(f->state.mine);
	assert_non_null(strstr(f->state.reason, "older"));
	copy(f, "old.db", QUEUE_DB);
	reopen(f);
	hold(f);
	assert_true(f->state.put_back);
	assert_true(f->state.fresh);
	assert_string_not_equal(f->state.id, asked.id);
	assert_int_equal(look(f, asked.id), APPROVAL_CANCELED);
	/* and from here on it is as good as any */
	struct approval_state anew = f->state;
	assert_int_equal(approve(f, &anew, &ada), 0);
	assert_int_equal(consume(f, anew.id), APPROVAL_CONSUMED);
	assert_true(f->state.mine);
}

static void test_an_old_database_brings_no_revoked_yes_back(void **state)
{
	struct fixture *f = *state;
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	copy(f, QUEUE_DB, "old.db");
	assert_int_equal(cast(f, BALLOT_CANCEL, asked.id, NULL, NULL, &ada), 0);
	copy(f, "old.db", QUEUE_DB);
	reopen(f);
	assert_int_equal(consume(f, asked.id), APPROVAL_CANCELED);
	assert_false(f->state.mine);
}

/* Copied back whole, the lock is as old as the database, and another file. */
static void test_a_folder_that_was_copied_brings_no_yes_back(void **state)
{
	struct fixture *f = *state;
	char lock[128], kept[128];
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	copy(f, QUEUE_DB, "old.db");
	copy(f, QUEUE_LOCK, "old.lock");
	assert_int_equal(consume(f, asked.id), APPROVAL_CONSUMED);
	queue_close(f->queue);
	f->queue = NULL;
	snprintf(lock, sizeof(lock), "%s/" QUEUE_LOCK, f->dir);
	snprintf(kept, sizeof(kept), "%s/kept.lock", f->dir);
	assert_int_equal(rename(lock, kept), 0);
	copy(f, "old.db", QUEUE_DB);
	copy(f, "old.lock", QUEUE_LOCK);
	reopen(f);
	assert_int_equal(consume(f, asked.id), APPROVAL_CANCELED);
	assert_false(f->state.mine);
}

static void test_without_its_lock_a_database_is_an_old_one(void **state)
{
	struct fixture *f = *state;
	char lock[128];
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	snprintf(lock, sizeof(lock), "%s/" QUEUE_LOCK, f->dir);
	assert_int_equal(truncate(lock, 3), 0);
	assert_int_equal(consume(f, asked.id), APPROVAL_CANCELED);
}

static void test_what_an_older_pawl_left_is_taken_over(void **state)
{
	struct fixture *f = *state;
	char lock[128];
	hold(f);
	struct approval_state asked = f->state;
	assert_int_equal(approve(f, &asked, &ada), 0);
	assert_int_equal(sql(f, "DROP TABLE steps"), SQLITE_OK);
	snprintf(lock, sizeof(lock), "%s/" QUEUE_LOCK, f->dir);
	assert_int_equal(truncate(lock, 0), 0);
	reopen(f);
	assert_int_equal(consume(f, asked.id), APPROVAL_CONSUMED);
	assert_true(f->state.mine);
}

static void test_what_is_no_database_is_refused(void **state)
{
	struct fixture *f = *state;
	struct approvals *queue = NULL;
	FILE *file = fopen(f->queue->path, "r+");
	assert_non_null(file);
	fputs("this is not SQLite's, and no queue can be made of it", file);
	fclose(file);
	assert_int_equal(queue_open(f->dir, true, &queue, &f->err), -EBADMSG);
	assert_null(queue);
	assert_non_null(strstr(f->err.text, QUEUE_DB));
}

/* A plugin in the same process that opens and closes the file takes SQLite's locks away. */
static int hold_while_closing(struct fixture *f, struct approvals *queue, void *what)
{
	int fresh = hold_it(f, queue, what);
	FILE *file = fopen(f->queue->path, "r");
	if (file)
		fclose(file);
	return fresh;
}

static void test_a_plugin_that_closes_the_file_breaks_no_lock(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(at_once(f, hold_while_closing, NULL), 1);
	struct approval_state asked;
	hold(f);
	asked = f->state;
	assert_int_equal(queue_begin(f->queue, QUEUE_WRITE, &f->err), 0);
	fclose(fopen(f->queue->path, "r")); /* in the middle of a step */
	pid_t pid = fork();
	if (pid == 0) {
		struct approvals *queue = NULL;
		if (queue_open(f->dir, false, &queue, &f->err) < 0)
			_exit(1);
		queue->clock = pretend;
		struct approvals *ours = f->queue;
		f->queue = queue;
		int r = approve(f, &asked, &ada);
		f->queue = ours;
		_exit(r == 0 ? 0 : 2);
	}
	int status;
	/* it waits for us: the lock that counts is not SQLite's */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(queue_run(f->queue, &f->err, "UPDATE approvals SET status = 'canceled'",
				   ""),
			 0);
	assert_int_equal(queue_end(f->queue, 0, &f->err), 0);
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 2); /* and finds it canceled */
	assert_int_equal(look(f, asked.id), APPROVAL_CANCELED);
}

/* ---- signing -------------------------------------------------------------------------------------------------- */

static void test_a_webhook_is_signed(void **state)
{
	/* the key is base64 of 32 bytes; the value was made with another implementation */
	char signature[SIGN_MAX];
	struct error err;
	(void)state;
	assert_int_equal(sign_webhook(STR("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"),
				      STR("msg_p5jXN8AQM9LWM0D4loKWxJek"), 1614265330,
				      STR("{\"test\": 2432232314}"), signature, &err),
			 0);
	assert_string_equal(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	assert_int_equal(sign_webhook(STR("secret"), STR("i"), 1, STR("b"), signature, &err),
			 -EINVAL);
	assert_int_equal(sign_webhook(STR("whsec_*"), STR("i"), 1, STR("b"), signature, &err),
			 -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(digest_is_the_documented_one),
		TEST(digest_tells_values_apart),
		TEST(digest_ignores_order_and_space),
		TEST(digest_covers_whom_and_where),
		TEST(a_prefix_names_a_digest),
		TEST(the_same_call_waits_once),
		TEST(states_follow_each_other_in_the_database),
		TEST(nothing_rewrites_what_was_asked),
		TEST(arguments_too_large_for_a_person_are_refused),
		TEST(a_yes_is_used_once),
		TEST(a_yes_is_for_that_call_alone),
		TEST(a_no_ends_it_and_answers_for_a_while),
		TEST(decisions_that_decide_nothing),
		TEST(several_people),
		TEST(a_vote_stands),
		TEST(one_no_beats_a_yes),
		TEST(who_asks_does_not_approve),
		TEST(what_the_agent_started_does_not_approve),
		TEST(a_ballot_is_all_or_nothing),
		TEST(what_cannot_be_recorded_is_not_decided),
		TEST(policy_that_changed_meanwhile),
		TEST(an_unanswered_call_expires),
		TEST(hold_finds_the_old_one_over),
		TEST(a_yes_that_nobody_uses_expires),
		TEST(without_a_timeout_it_waits),
		TEST(no_clock_extends_a_wait),
		TEST(sweep_expires_and_tells),
		TEST(forty_consumers_one_execution),
		TEST(forty_deciders_one_winner),
		TEST(forty_requests_wait_as_one),
		TEST(the_file_is_the_owners),
		TEST(a_file_that_was_taken_away_keeps_no_promise),
		TEST(an_old_database_brings_no_yes_back),
		TEST(an_old_database_brings_no_revoked_yes_back),
		TEST(a_folder_that_was_copied_brings_no_yes_back),
		TEST(without_its_lock_a_database_is_an_old_one),
		TEST(what_an_older_pawl_left_is_taken_over),
		TEST(what_is_no_database_is_refused),
		TEST(a_plugin_that_closes_the_file_breaks_no_lock),
		TEST(a_webhook_is_signed),
	};
	return cmocka_run_group_tests_name("approvals", tests, NULL, NULL);
}
