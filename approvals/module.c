/* module.c - lib/pawl/approvals.so: the queue as the core asks for it. */
#include <config.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "batch.h"
#include "chain.h"
#include "hold.h"

#include <string.h>

/* "{"config":[...]": the beginning of what is kept with each call. */
static int describe(const struct approval_part *parts, size_t n, char **ret, struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = CHAIN_TEXT_MAX};
	int r = chain_text(parts, n, &text, err);
	buffer_add(&text, (struct str){"", 1});
	if (r < 0 || text.error < 0)
		return r < 0 ? r : error_set(err, -text.error, "out of memory");
	char *end = strstr(text.data, "],\"plugins\":[");
	if (end)
		end[1] = '\0';
	*ret = TAKE_PTR(text.data);
	return 0;
}

__attribute__((visibility("default"))) const struct approval_store pawl_approval_store = {
	.open = queue_open,
	.close = queue_close,
	.hold = hold_request,
	.look = hold_look,
	.consume = hold_consume,
	.batch_id = batch_make_id,
	.batch_keep = batch_keep,
	.describe = describe,
};
