/* digest.h - what a yes is bound to, as one number.
 *
 * Layer: approvals; knows core/approval.h, json and libsodium's SHA-256.
 *
 * SHA-256 over "pawl/approval/v1", a NUL and one JSON object in canonical form:
 *
 *	{"args":...,"context":...,"server":...,"session":...,"source":...,"tool":...}
 *
 * Canonical: no white space, members in the order of their names' bytes, strings escaped in
 * the one way of RFC 8785. Numbers stay as they were written: 5, 5.0 and 5e0 are three
 * things, and 1915883588174806058 is not rounded to a neighbour. What is absent is null.
 */
#ifndef PAWL_APPROVALS_DIGEST_H
#define PAWL_APPROVALS_DIGEST_H

#include "core/approval.h"

#define DIGEST_HEX 64
/* An approval names at least so many of them, so that nobody approves what they did not see. */
#define DIGEST_PREFIX_MIN 6

/* -ENOMEM */
int digest_request(const struct approval_request *request, char ret[DIGEST_HEX + 1]);
void digest_bytes(struct str bytes, char ret[DIGEST_HEX + 1]);
/* -errno when it cannot be read; reads from the file's start whatever its position. */
int digest_file(int fd, char ret[DIGEST_HEX + 1]);

/* Whether prefix (with "sha256:" before it, or not; any case) names digest. */
bool digest_named(const char *digest, struct str prefix);

#endif
