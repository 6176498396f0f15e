/* capture.h - how much of a call is recorded.
 *
 * Layer: audit; knows line, redact and json.
 *
 * Rules are looked at in order, the first that matches says it:
 *
 *	[{"tool": "mcp__bank__*", "level": "metadata"}, {"source": "builtin", "level": "full"}]
 *
 * none: what was called and what came of it; metadata: also why and by whom, and digests
 * of input and result; request: also the input; full: also the result, as where no rule
 * matches.  "bodies": "aside" keeps input and result out of the chain, in a file beside
 * the log from which they can be erased.  Secrets are taken out first.
 */
#ifndef PAWL_AUDIT_CAPTURE_H
#define PAWL_AUDIT_CAPTURE_H

#include "base/error.h"
#include "json/json.h"
#include "line.h"
#include "redact.h"

#define CAPTURE_RULES_MAX 256

struct capture;

/* options: NULL, or the list.  *ret is the caller's, free with capture_free. */
int capture_new(const struct json_value *options, struct capture **ret, struct error *err);
void capture_free(struct capture *capture); /* takes NULL */

/* Takes out of the record what is not to be written.  New texts lie in the arena. */
int capture_apply(const struct capture *capture, const struct redact *redact,
		  struct json_arena *arena, struct record *record, struct error *err);

#endif
