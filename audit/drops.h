/* drops.h - how many records were lost, in a file that a full disk cannot stop.
 *
 * Layer: audit; knows store and base.
 *
 * drops.bin is 4 KiB, allocated when the store is made and only ever overwritten in
 * place.  What is pending was not told to the log yet: the next record that gets
 * through is preceded by an audit.gap line, and drops_told takes the told ones off.
 * Failed ingests lose nothing (the log has the records); they are counted so that
 * `status` can say why the index lags.
 */
#ifndef PAWL_AUDIT_DROPS_H
#define PAWL_AUDIT_DROPS_H

#include <stdint.h>

#include "reason.h"
#include "store.h"

#define DROPS_SIZE 4096
#define DROPS_REASONS 16 /* room for more reasons than there are */

/* The file's bytes, in the machine's own order: it never leaves the machine. */
struct drops {
	char magic[8];
	uint64_t pending[DROPS_REASONS];
	uint64_t total[DROPS_REASONS];
	uint64_t ingest[DROPS_REASONS];
	int64_t first_ms, last_ms; /* of the pending ones; 0 = none */
};

/* Makes the file when it is missing. */
int drops_make(const struct store *store, struct error *err);

/* All zero when there is no file. */
int drops_read(const struct store *store, struct drops *ret, struct error *err);
uint64_t drops_sum(const uint64_t counts[DROPS_REASONS]);

int drops_count(const struct store *store, enum reason reason, struct error *err);
int drops_count_ingest(const struct store *store, enum reason reason, struct error *err);

/* Takes what was told (as read before) off the pending ones. */
int drops_told(const struct store *store, const struct drops *told, struct error *err);

#endif
