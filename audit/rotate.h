/* rotate.h - closing the current file, going on in a new one, removing the oldest.
 *
 * Layer: audit; knows segment, tail, head and batch.
 *
 * A closed file is renamed to audit_log-FIRST-LAST.jsonl and made read-only; nothing is
 * written into it for that.  The first record of the new file tells of the one before
 * (audit.rotated) and goes on in its chain.  Whole files are removed only where the
 * store's keep_bytes or keep_ms says so; what is removed is told (audit.pruned), and on
 * the disk, before it is.
 *
 * [under the log's lock]
 */
#ifndef PAWL_AUDIT_ROTATE_H
#define PAWL_AUDIT_ROTATE_H

#include <limits.h>

#include "batch.h"
#include "segment.h"
#include "store.h"
#include "tail.h"

/* Of one append; the rest goes with the next rotation. */
#define PRUNE_MAX 64

/* Whether the file that ends so has grown too large or too old. */
bool rotate_is_due(const struct store *store, int fd, const struct tail *tail);

/* Renames the current file.  -EEXIST when a file of that name is there. */
int rotate_close(const struct store *store, int fd, const struct tail *tail, struct error *err);

/* What was there before the current file's end. */
struct before {
	struct chain chain;   /* to go on from; seq 0: nothing, a chain begins */
	char chain_id[40];
	char file[NAME_MAX + 1]; /* the file before; "" when the current one has records */
	int64_t first, bytes;    /* of it */
	int64_t missing_from, missing_to; /* records that are nowhere; 0: none */
};
int rotate_before(const struct store *store, int fd, const struct tail *tail, struct before *ret,
		  struct error *err);

/* Tells it, as the first record of a file or before the next one.  note: more members of
 * what tells of missing records; NULL: none. */
int rotate_tell(const struct before *before, const struct tail *tail, const char *note,
		struct batch *batch, struct error *err);

/* Files to be removed. */
struct prune {
	char names[PRUNE_MAX][NAME_MAX + 1];
	int64_t first[PRUNE_MAX], last[PRUNE_MAX], bytes[PRUNE_MAX];
	char hash[PRUNE_MAX][CHAIN_HEX + 1];
	const char *why;
	size_t n;
};
int prune_choose(const struct store *store, struct prune *ret, struct error *err);
int prune_tell(const struct prune *prune, struct batch *batch, struct error *err);
/* Once the telling is safe. */
void prune_remove(const struct store *store, const struct prune *prune);

#endif
