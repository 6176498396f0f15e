/* batch.h - the lines of one append, framed one after the other.
 *
 * Layer: audit; knows chain and line.
 */
#ifndef PAWL_AUDIT_BATCH_H
#define PAWL_AUDIT_BATCH_H

#include "base/error.h"
#include "base/str.h"
#include "chain.h"

struct batch {
	struct chain chain; /* as it goes on */
	char *text;
	size_t len;
};

void batch_done(struct batch *batch);

/* body is what line_body made. */
int batch_add(struct batch *batch, struct str body, struct error *err);

/* One of the store's own records; data is its JSON. */
int batch_add_own(struct batch *batch, const char *type, struct str data, struct error *err);

#endif
