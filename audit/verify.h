/* verify.h - whether a store is what was written into it.
 *
 * Layer: audit; knows segment, chain, ingest and db; prints nothing.
 *
 * The log is read once, line by line: each must follow the one before.  What a session
 * numbered itself and is not there was lost; whether audit.gap tells of it is compared.
 * Then an index is made of the log in memory and compared with the database, table by
 * table: what the database says more, less or otherwise is a finding.
 *
 *	struct verify verify;
 *	verify_begin(&verify);
 *	verify_mark(&verify, ...);
 *	if (verify_log(&store, &verify, err) < 0 || verify_index(&store, &verify, err) < 0) ...
 *	return verify_code(&verify);
 *	verify_done(&verify);
 */
#ifndef PAWL_AUDIT_VERIFY_H
#define PAWL_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "chain.h"
#include "store.h"

/* What a finding means; also the exit codes, but for the last one's. */
enum verify_kind {
	VERIFY_INTACT = 0,
	VERIFY_CHANGED = 1, /* edited, removed, put in, moved; or the index says otherwise */
	VERIFY_SHORTER = 2, /* the end is missing, as an anchor shows */
	VERIFY_GAPS = 3,    /* records were lost while they were written */
	VERIFY_UNREADABLE = 4,
	VERIFY_REPLACED = 5, /* another log than an anchor knows; exits as VERIFY_SHORTER */
	VERIFY_KINDS
};

#define VERIFY_FINDINGS_MAX 64
#define VERIFY_TEXT_MAX 320

struct verify_finding {
	enum verify_kind kind;
	int64_t seq; /* 0: of no record */
	char text[VERIFY_TEXT_MAX];
};

/* A record that somebody remembers: an anchor, a checkpoint, the store's own head. */
struct verify_mark {
	int64_t seq;
	uint8_t hash[CHAIN_HASH];
	char who[80];
	enum verify_kind absent; /* what it means when the log ends before it */
	enum verify_kind other;  /* when the log has another record in its place */
};

#define VERIFY_MARKS_MAX 65536

struct verify {
	int64_t segments, records, bytes, first_seq;
	struct chain chain;  /* at the end */
	int64_t sessions;
	int64_t missing;     /* numbers that sessions gave and the log does not have */
	int64_t told;        /* losses told by audit.gap */
	int64_t pending;     /* counted, and not told yet */
	int64_t torn;        /* bytes after the last whole line */
	int64_t rows;        /* of the database, compared */
	int64_t behind;      /* bytes that the database has not read yet */
	bool no_index;       /* there is no database */
	int64_t first_bad;   /* the first record that is changed; 0: none */
	int64_t found[VERIFY_KINDS];
	int64_t seals, unsigned_seals; /* checkpoints; those whose signature nobody could check */
	int64_t last_seal;   /* the last record that one of them covers */
	int64_t marks_seen;  /* marks whose record is in the log, and right */
	struct verify_mark *marks;
	size_t n_marks;
	size_t n_findings;
	struct verify_finding findings[VERIFY_FINDINGS_MAX];
};

void verify_begin(struct verify *verify);
void verify_done(struct verify *verify);

/* To be given before verify_log.  who: "the anchor FILE". */
int verify_mark(struct verify *verify, int64_t seq, const uint8_t hash[CHAIN_HASH],
		enum verify_kind absent, enum verify_kind other, const char *who,
		struct error *err);

/* 0, or -errno when it could not be read (kind VERIFY_UNREADABLE). */
/* Gives verify_log the marks of the store's checkpoints, and of the file anchor (NULL:
 * none).  key: the public key's file; NULL: the store's own, if it has one. */
int verify_seals(const struct store *store, struct verify *verify, const char *key,
		 const char *anchor, struct error *err);

int verify_log(const struct store *store, struct verify *verify, struct error *err);
int verify_index(const struct store *store, struct verify *verify, struct error *err);

/* Counts a finding, and keeps the first ones. */
__attribute__((format(printf, 4, 5))) void verify_found(struct verify *verify,
							enum verify_kind kind, int64_t seq,
							const char *format, ...);

/* The worst of what was found. */
enum verify_kind verify_code(const struct verify *verify);

/* Of a command: 0 to 4. */
int verify_exit(const struct verify *verify);

#endif
