/* batch.c - collecting lines. */
#include <config.h>

#include "batch.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "line.h"

/* Of the store's own data: a list of removed files may be long. */
#define OWN_MAX ((size_t)256 << 10)

void batch_done(struct batch *batch)
{
	free(batch->text);
}

int batch_add(struct batch *batch, struct str body, struct error *err)
{
	return chain_add(&batch->chain, body, &batch->text, &batch->len, err);
}

int batch_add_own(struct batch *batch, const char *type, struct str data, struct error *err)
{
	struct record record = RECORD_EMPTY;
	_cleanup_free_ char *body = NULL;
	size_t len;
	record.type = type;
	record.data = data;
	record.max_value = OWN_MAX;
	int r = line_body(&record, &body, &len, err);
	return r < 0 ? r : batch_add(batch, (struct str){body, len}, err);
}
