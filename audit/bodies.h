/* bodies.h - inputs and results that lie beside the chain, so that they can be erased.
 *
 * Layer: audit; knows store, event and json.
 *
 * Each file of the log has at most one such file, audit_bodies-FIRST.jsonl after its first
 * record's number, which renaming does not change.  The log's line has the digests and the
 * place: "aside":{"at":N,"len":N}.  To erase is to write spaces over it; the chain, which
 * covers the digests, stays whole.
 */
#ifndef PAWL_AUDIT_BODIES_H
#define PAWL_AUDIT_BODIES_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "event.h"
#include "store.h"

#define BODIES_NAME_MAX 64
void bodies_name(int64_t first, char buf[BODIES_NAME_MAX]);

/* text ends in a newline.  [under the log's lock] */
int bodies_append(const struct store *store, int64_t first, struct str text, int64_t *ret_at,
		  struct error *err);

/* Takes off again what was appended at a place. */
int bodies_cut(const struct store *store, int64_t first, int64_t at);

enum bodies_state { BODIES_NONE, BODIES_THERE, BODIES_ERASED, BODIES_WRONG };

/* Where the event has its bodies aside: puts them into it, from the arena, when they are
 * there and what the digests say; *ret_state says which. */
int bodies_fill(const struct store *store, int64_t first, struct json_arena *arena,
		struct event *event, enum bodies_state *ret_state, struct error *err);

/* Writes over those of one event; 1 when it had any. */
int bodies_erase(const struct store *store, int64_t first, const struct event *event,
		 struct error *err);

#endif
