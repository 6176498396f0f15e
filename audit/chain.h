/* chain.h - the frame of a log line: number, previous hash, own hash.
 *
 * Layer: audit; knows base and libsodium's SHA-256, nothing of files.
 *
 * A line is  {"v":1,"seq":N,BODY,"prev":"HEX","h":"HEX"}  and a newline, and
 *
 *	h = SHA-256( "pawl/audit/v1" || prev, as 32 bytes || the line up to ,"h" )
 *
 * so that checking it needs no JSON reader.  The first line's prev is
 * SHA-256(chain id); that line is an audit.opened and carries the id.
 */
#ifndef PAWL_AUDIT_CHAIN_H
#define PAWL_AUDIT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define CHAIN_VERSION 1
#define CHAIN_HASH 32
#define CHAIN_HEX (2 * CHAIN_HASH)
/* Longest line, its newline included: what a reader has to be ready for. */
#define CHAIN_LINE_MAX ((size_t)16 << 20)

struct chain {
	uint64_t seq; /* of the last line; 0 before the first */
	uint8_t head[CHAIN_HASH];
};

void chain_begin(struct chain *chain, struct str chain_id);

/* Appends the framed body to *text (from malloc, grown; *len its length) and moves
 * the chain on.  -E2BIG when the line is longer than CHAIN_LINE_MAX. */
int chain_add(struct chain *chain, struct str body, char **text, size_t *len, struct error *err);

/* Reads the frame of one line (no newline): *ret is the chain as it stands after it.
 * false when it is none of ours. */
bool chain_read(struct str line, struct chain *ret);

/* The same with the chain as it stood before the line; true when the line's h is the
 * hash of its own bytes.  *ret is set where it is framed at all, else its seq is 0. */
bool chain_check(struct str line, struct chain *before, struct chain *ret);

/* Whether the line's h is right given its own prev, and prev is before. */
bool chain_follows(struct str line, const struct chain *before);

void chain_hex(const uint8_t *hash, char buf[CHAIN_HEX + 1]);
/* "sha256:HEX" of any bytes */
#define CHAIN_DIGEST_MAX (7 + CHAIN_HEX + 1)
void chain_digest(struct str bytes, char buf[CHAIN_DIGEST_MAX]);

#endif
