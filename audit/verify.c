/* verify.c - the log, line by line. */
#include <config.h>

#include "verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "bodies.h"
#include "drops.h"
#include "event.h"
#include "head.h"
#include "numbers.h"
#include "repair.h"
#include "segment.h"
#include "shallow.h"

#define LOCK_WAIT_NS ((int64_t)2000000000)
/* A record takes its number before it waits for the log. */
#define SETTLED_MS (STORE_LOG_WAIT_NS / 1000000)

struct pass {
	const struct store *store;
	struct verify *verify;
	struct numbers *numbers;
	struct json_arena *arena;
	struct segments segments;
	int current;            /* the current file, opened with the list */
	int64_t segment;        /* being read */
	int64_t erased, erased_told; /* bodies */
	size_t mark;            /* the next one to be met */
	uint64_t strangers;     /* lines since the last record that are none */
	struct chain front;     /* before the first line; seq 0: the log begins there */
	bool front_told;        /* audit.pruned says what was before */
	bool from_start;
};

void verify_begin(struct verify *verify)
{
	memset(verify, 0, sizeof(*verify));
	verify->seals = -1; /* not looked at */
}

void verify_found(struct verify *verify, enum verify_kind kind, int64_t seq, const char *format,
		  ...)
{
	verify->found[kind]++;
	if ((kind == VERIFY_CHANGED || kind == VERIFY_REPLACED) && seq > 0 &&
	    (verify->first_bad == 0 || seq < verify->first_bad))
		verify->first_bad = seq;
	if (verify->n_findings == VERIFY_FINDINGS_MAX)
		return;
	struct verify_finding *finding = &verify->findings[verify->n_findings++];
	va_list ap;
	va_start(ap, format);
	vsnprintf(finding->text, sizeof(finding->text), format, ap);
	va_end(ap);
	finding->kind = kind;
	finding->seq = seq;
}

void verify_done(struct verify *verify)
{
	free(verify->marks);
	verify->marks = NULL;
	verify->n_marks = 0;
}

int verify_mark(struct verify *verify, int64_t seq, const uint8_t hash[CHAIN_HASH],
		enum verify_kind absent, enum verify_kind other, const char *who, struct error *err)
{
	struct verify_mark *marks = verify->marks;
	if (verify->n_marks == VERIFY_MARKS_MAX)
		return error_set(err, E2BIG, "more than %d checkpoints", VERIFY_MARKS_MAX);
	if ((verify->n_marks & (verify->n_marks - 1)) == 0) /* at each power of two */
		marks = realloc(marks, (verify->n_marks ? 2 * verify->n_marks : 1) * sizeof(*marks));
	if (!marks)
		return error_set(err, ENOMEM, "out of memory");
	verify->marks = marks;
	struct verify_mark *mark = &marks[verify->n_marks++];
	*mark = (struct verify_mark){.seq = seq, .absent = absent, .other = other};
	memcpy(mark->hash, hash, CHAIN_HASH);
	snprintf(mark->who, sizeof(mark->who), "%s", who);
	return 0;
}

enum verify_kind verify_code(const struct verify *verify)
{
	static const enum verify_kind worst_first[] = {VERIFY_REPLACED, VERIFY_CHANGED,
						       VERIFY_SHORTER, VERIFY_UNREADABLE,
						       VERIFY_GAPS};
	for (size_t i = 0; i < sizeof(worst_first) / sizeof(worst_first[0]); i++)
		if (verify->found[worst_first[i]] > 0)
			return worst_first[i];
	return VERIFY_INTACT;
}

/* A log that ends too early and one that is another have been rolled back alike. */
int verify_exit(const struct verify *verify)
{
	enum verify_kind kind = verify_code(verify);
	return kind == VERIFY_REPLACED ? VERIFY_SHORTER : (int)kind;
}

/* ---- what a record says of itself -------------------------------------------------- */

struct facts {
	struct str type, session, sseq, ts;
};

/* Only what is asked for is looked at: these members come first in a line of ours. */
static struct facts facts_of(struct str line)
{
	struct facts facts = {0};
	struct str name, value;
	size_t at = 0;
	while ((!facts.sseq.ptr || !facts.type.ptr || !facts.session.ptr) &&
	       shallow_next(line, &at, &name, &value) == 1) {
		struct str *to = str_is(name, "type")	   ? &facts.type
				 : str_is(name, "session") ? &facts.session
				 : str_is(name, "sseq")	   ? &facts.sseq
				 : str_is(name, "ts")	   ? &facts.ts
							   : NULL;
		if (to)
			*to = value;
	}
	return facts;
}

static int64_t number_at(const struct event *event, const char *pointer)
{
	int64_t n = 0;
	return json_integer(json_at(event->root, str_of(pointer)), &n) == 0 ? n : 0;
}

/* Whether the files that were removed end where the log now begins. */
static void take_pruned(struct pass *pass, const struct event *event)
{
	const struct json_value *files = json_at(event->root, STR("/data/files"));
	char front[CHAIN_HEX + 1];
	chain_hex(pass->front.head, front);
	for (size_t i = 0; i < json_length(files); i++) {
		struct str hash = {0};
		int64_t last = 0;
		(void)json_integer(json_member(json_item(files, i), STR("last")), &last);
		(void)json_string(json_member(json_item(files, i), STR("hash")), &hash);
		if (last > 0 && (uint64_t)last == pass->front.seq && str_is(hash, front))
			pass->front_told = true;
	}
}

static int by_seq(const void *a, const void *b)
{
	const struct verify_mark *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* A checkpoint that the log tells of must be there still. */
static void take_checkpoint(struct pass *pass, const struct event *event)
{
	struct verify *v = pass->verify;
	int64_t seq = number_at(event, "/data/seq");
	const struct verify_mark wanted = {.seq = seq};
	bool there = v->n_marks > 0 &&
		     bsearch(&wanted, v->marks, v->n_marks, sizeof(v->marks[0]), by_seq);
	if (v->seals >= 0 && !there)
		verify_found(v, VERIFY_CHANGED, 0,
			     "record %" PRIu64 " tells of a checkpoint of record %" PRId64
			     ", and there is none",
			     event->chain.seq, seq);
}

static void take_own(struct pass *pass, struct str line)
{
	struct event event;
	size_t mark = json_arena_mark(pass->arena);
	if (event_read(pass->arena, line, &event, NULL) == 0) {
		if (str_is(event.type, "audit.gap"))
			pass->verify->told += number_at(&event, "/data/count");
		else if (str_is(event.type, "audit.pruned"))
			take_pruned(pass, &event);
		else if (str_is(event.type, "audit.erased"))
			pass->erased_told += number_at(&event, "/data/count");
		else if (str_is(event.type, "audit.checkpoint"))
			take_checkpoint(pass, &event);
	}
	json_arena_rewind(pass->arena, mark);
}

/* Bodies beside the chain: what the digests say, or erased, as the log tells. */
static int take_bodies(struct pass *pass, struct str line, struct error *err)
{
	static const char sign[] = "\"aside\":{\"at\":";
	size_t end = line.len < 320 ? line.len : 320; /* the last member before the hashes */
	enum bodies_state state = BODIES_NONE;
	struct event event;
	if (!memmem(line.ptr + line.len - end, end, sign, sizeof(sign) - 1))
		return 0;
	size_t mark = json_arena_mark(pass->arena);
	int r = 0;
	if (event_read(pass->arena, line, &event, NULL) == 0)
		r = bodies_fill(pass->store, pass->segment, pass->arena, &event, &state, err);
	pass->erased += state == BODIES_ERASED;
	if (state == BODIES_WRONG)
		verify_found(pass->verify, VERIFY_CHANGED, (int64_t)event.chain.seq,
			     "the bodies of record %" PRIu64 " are not what its digests say",
			     event.chain.seq);
	json_arena_rewind(pass->arena, mark);
	return r;
}

static int take_facts(struct pass *pass, struct str line)
{
	struct facts facts = facts_of(line);
	if (str_starts(facts.type, STR("\"audit."))) {
		take_own(pass, line);
		return 0;
	}
	struct str ts = facts.ts.len > 2 ? (struct str){facts.ts.ptr + 1, facts.ts.len - 2}
					 : facts.ts;
	uint32_t number = facts.sseq.ptr ? (uint32_t)strtoul(facts.sseq.ptr, NULL, 10) : 0;
	return numbers_add(pass->numbers, facts.session, number, event_time(ts));
}

/* ---- the chain --------------------------------------------------------------------- */

/* The first line of all: it begins a chain, or what was before it was removed. */
static void begin(struct pass *pass, struct str line, const struct chain *before)
{
	struct event event;
	struct str id = {0};
	struct chain first;
	size_t mark = json_arena_mark(pass->arena);
	pass->verify->first_seq = (int64_t)before->seq + 1;
	pass->verify->chain = pass->front = *before;
	pass->from_start = before->seq == 0;
	if (pass->from_start) {
		if (event_read(pass->arena, line, &event, NULL) == 0)
			(void)json_string(json_at(event.root, STR("/data/chain")), &id);
		chain_begin(&first, id.ptr ? id : STR(""));
		if (memcmp(first.head, before->head, CHAIN_HASH) != 0)
			verify_found(pass->verify, VERIFY_CHANGED, 1,
				     "record 1 does not begin a chain");
	}
	json_arena_rewind(pass->arena, mark);
}

/* Records that repair set aside are told by the record that goes on after them. */
static bool set_aside(struct pass *pass, struct str line)
{
	struct event event;
	struct str file = {"", 0}, sha256 = {"", 0};
	size_t mark = json_arena_mark(pass->arena);
	if (event_read(pass->arena, line, &event, NULL) == 0 &&
	    str_is(event.type, "audit.recovered")) {
		(void)json_string(json_at(event.root, STR("/data/file")), &file);
		(void)json_string(json_at(event.root, STR("/data/sha256")), &sha256);
	}
	bool is = sha256.len > 0 && repair_has(pass->store, file.ptr, sha256.ptr);
	if (is)
		verify_found(pass->verify, VERIFY_GAPS, 0,
			     "records %" PRIu64 " to %" PRIu64 " were set aside by repair: %s",
			     pass->verify->chain.seq + 1, event.chain.seq - 1, file.ptr);
	json_arena_rewind(pass->arena, mark);
	return is;
}

static void found_break(struct pass *pass, struct str line, const struct chain *before,
			const struct chain *after)
{
	struct verify *v = pass->verify;
	int64_t expected = (int64_t)v->chain.seq + 1, seq = (int64_t)after->seq;
	if (seq < expected)
		verify_found(v, VERIFY_CHANGED, seq,
			     "record %" PRId64 " stands after record %" PRId64
			     ": it was moved or put in",
			     seq, expected - 1);
	else if (seq > expected + (int64_t)pass->strangers && !set_aside(pass, line))
		verify_found(v, VERIFY_CHANGED, expected,
			     seq == expected + 1 ? "record %" PRId64 " is missing"
						 : "records %" PRId64 " to %" PRId64 " are missing",
			     expected, seq - 1);
	else if (seq == expected && pass->strangers == 0 && memcmp(before->head, v->chain.head, CHAIN_HASH) != 0)
		verify_found(v, VERIFY_CHANGED, seq,
			     "record %" PRId64 " does not follow record %" PRId64
			     ": one of them was changed and hashed anew",
			     seq, seq - 1);
}

static void meet_marks(struct pass *pass, const struct chain *after)
{
	struct verify *v = pass->verify;
	for (; pass->mark < v->n_marks && v->marks[pass->mark].seq <= (int64_t)after->seq;
	     pass->mark++) {
		const struct verify_mark *mark = &v->marks[pass->mark];
		if (mark->seq < (int64_t)after->seq)
			continue; /* removed, or missing: told as such */
		if (memcmp(mark->hash, after->head, CHAIN_HASH) == 0)
			v->marks_seen++;
		else
			verify_found(v, mark->other, mark->seq,
				     "record %" PRId64 " is not the one that %s knows", mark->seq,
				     mark->who);
	}
}

static void missed_marks(struct pass *pass)
{
	struct verify *v = pass->verify;
	for (; pass->mark < v->n_marks; pass->mark++) {
		const struct verify_mark *mark = &v->marks[pass->mark];
		verify_found(v, mark->absent, mark->seq,
			     "the log ends with record %" PRIu64 ", and %s knows record %" PRId64,
			     v->chain.seq, mark->who, mark->seq);
	}
}

static int check_line(struct pass *pass, struct str line)
{
	struct verify *v = pass->verify;
	struct chain before, after;
	bool own = chain_check(line, &before, &after);
	if (after.seq == 0) {
		verify_found(v, VERIFY_CHANGED, (int64_t)v->chain.seq + 1,
			     "the line after record %" PRIu64 " is no record", v->chain.seq);
		pass->strangers++;
		return 0;
	}
	if (v->records == 0 && pass->strangers == 0)
		begin(pass, line, &before);
	if (!own)
		verify_found(v, VERIFY_CHANGED, (int64_t)after.seq,
			     "record %" PRIu64 " was changed: its hash is not that of its text",
			     after.seq);
	if (after.seq != v->chain.seq + 1 ||
	    memcmp(before.head, v->chain.head, CHAIN_HASH) != 0)
		found_break(pass, line, &before, &after);
	v->records++;
	if (after.seq > v->chain.seq) {
		v->chain = after;
		meet_marks(pass, &after);
	}
	pass->strangers = 0;
	int r = take_facts(pass, line);
	return r < 0 ? r : take_bodies(pass, line, NULL);
}

/* ---- files ------------------------------------------------------------------------- */

static int check_segment(struct pass *pass, const struct segment *segment, int fd,
			 struct error *err)
{
	struct verify *v = pass->verify;
	struct lines lines;
	struct str line;
	int r;
	pass->segment = segment->first;
	lines_begin(&lines, fd, segment->size);
	while ((r = lines_next(&lines, &line, err)) == 1)
		if ((r = check_line(pass, line)) < 0)
			break;
	int64_t rest = r == 0 ? lines_rest(&lines) : 0;
	v->bytes += lines.offset;
	v->segments++;
	lines_done(&lines);
	if (r == -E2BIG) {
		verify_found(v, VERIFY_CHANGED, (int64_t)v->chain.seq + 1,
			     "%s: what follows record %" PRIu64 " is no line", segment->name,
			     v->chain.seq);
		return 0;
	}
	if (rest > 0 && !segment->current)
		verify_found(v, VERIFY_CHANGED, (int64_t)v->chain.seq + 1,
			     "%s: %" PRId64 " bytes after the last record of a closed file",
			     segment->name, rest);
	else if (rest > 0) {
		v->torn = rest;
		verify_found(v, VERIFY_GAPS, 0,
			     "%s: a record was torn while it was written (%" PRId64 " bytes)",
			     segment->name, rest);
	}
	return r == -ENOMEM ? error_set(err, ENOMEM, "out of memory") : r;
}

/* The list and the current file together, so that rotation cannot come between them; a
 * reader who may not lock does without. */
static int take_list(const struct store *store, struct pass *pass, struct error *err)
{
	_cleanup_close_ int lock = -1;
	(void)store_lock(store, STORE_LOG_LOCK, LOCK_WAIT_NS, &lock, NULL);
	int r = segments_list(store, &pass->segments, err);
	if (r < 0 || pass->segments.n == 0)
		return r;
	const struct segment *last = &pass->segments.items[pass->segments.n - 1];
	return last->current ? segment_open_listed(store, last, &pass->current, err) : 0;
}

/* Read before the list is made: the log can only have become longer since. */
static int mark_head(const struct store *store, struct verify *verify, struct error *err)
{
	struct head head;
	head_read(store, &head);
	if (head.chain.seq == 0)
		return 0;
	return verify_mark(verify, (int64_t)head.chain.seq, head.chain.head,
			   head_is_fresh(&head) ? VERIFY_SHORTER : VERIFY_GAPS, VERIFY_CHANGED,
			   head_is_fresh(&head) ? "the store's head (" STORE_HEAD ")"
						: "the store's head, written before a restart,",
			   err);
}

static int check_all(const struct store *store, struct pass *pass, struct error *err)
{
	struct verify *v = pass->verify;
	int r = mark_head(store, v, err);
	if (r == 0 && v->n_marks > 0)
		qsort(v->marks, v->n_marks, sizeof(v->marks[0]), by_seq);
	if (r == 0)
		r = take_list(store, pass, err);
	for (size_t i = 0; r == 0 && i < pass->segments.n; i++) {
		const struct segment *segment = &pass->segments.items[i];
		int fd = segment->current ? TAKE_FD(pass->current) : -1;
		if (fd < 0)
			r = segment_open(store, segment->name, &fd, err);
		if (r == 0)
			r = check_segment(pass, segment, fd, err);
	}
	return r;
}

static void conclude(const struct store *store, struct pass *pass)
{
	struct verify *v = pass->verify;
	struct drops drops;
	missed_marks(pass);
	v->sessions = numbers_sessions(pass->numbers);
	v->missing = numbers_missing(pass->numbers, pass->from_start, io_wall_ns() / 1000000,
				     SETTLED_MS);
	if (drops_read(store, &drops, NULL) == 0)
		v->pending = (int64_t)drops_sum(drops.pending);
	if (pass->erased > pass->erased_told)
		verify_found(v, VERIFY_CHANGED, 0,
			     "the bodies of %" PRId64 " records are erased, and audit.erased tells of "
			     "%" PRId64,
			     pass->erased, pass->erased_told);
	if (v->records > 0 && !pass->from_start && !pass->front_told)
		verify_found(v, VERIFY_CHANGED, 1,
			     "records 1 to %" PRIu64 " are missing, and no audit.pruned tells of it",
			     pass->front.seq);
	if (v->told + v->pending > 0)
		verify_found(v, VERIFY_GAPS, 0,
			     "%" PRId64 " records were lost, and counted: %" PRId64
			     " told by audit.gap, %" PRId64 " not told yet",
			     v->told + v->pending, v->told, v->pending);
	if (v->missing > 0)
		verify_found(v, VERIFY_GAPS, 0,
			     "%" PRId64 " numbers are missing in %" PRId64 " sessions%s", v->missing,
			     v->sessions,
			     v->missing > v->told + v->pending
				     ? ": more than what was counted as lost"
				     : "");
}

int verify_log(const struct store *store, struct verify *verify, struct error *err)
{
	struct pass pass = {.store = store, .verify = verify, .current = -1, .from_start = true};
	int r = numbers_new(&pass.numbers);
	if (r < 0)
		return error_set(err, -r, "out of memory");
	r = json_arena_new(JSON_ARENA_DEFAULT, &pass.arena, err);
	if (r == 0)
		r = check_all(store, &pass, err);
	if (r == 0)
		conclude(store, &pass);
	else
		verify_found(verify, VERIFY_UNREADABLE, 0, "%s", err ? err->text : "unreadable");
	numbers_free(pass.numbers);
	json_arena_free(pass.arena);
	segments_free(&pass.segments);
	if (pass.current >= 0)
		close(pass.current);
	return r;
}
