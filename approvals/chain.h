/* chain.h - what judged a call, as text: to be shown, and compared when the call comes again.
 *
 * Layer: approvals; knows core/approval.h and digest.
 *
 * {"config":[{"path":...,"sha256":...}],
 *  "plugins":[{"entry":...,"plugin":...,"version":...,"path":...,"sha256":...}]}
 */
#ifndef PAWL_APPROVALS_CHAIN_H
#define PAWL_APPROVALS_CHAIN_H

#include "base/buffer.h"
#include "core/approval.h"

#define CHAIN_TEXT_MAX ((size_t)4 << 20)

/* Into text (its max is CHAIN_TEXT_MAX). */
int chain_text(const struct approval_part *parts, size_t n, struct buffer *text,
	       struct error *err);

#endif
