/* decide.h - what people do to the queue: approve, deny, cancel; and what time does.
 *
 * Layer: approvals; knows queue and row, nothing of the command line: a page in a browser
 * decides by the same functions.
 *
 * A ballot is one step: every call it names is decided, or none is. Who decides is what the
 * kernel says of the process (struct voter), never a name in a text.
 */
#ifndef PAWL_APPROVALS_DECIDE_H
#define PAWL_APPROVALS_DECIDE_H

#include "digest.h"
#include "row.h"

#define DECIDE_BALLOT_MAX 256	 /* calls in one ballot */
#define DECIDE_REASON_MAX 1000	 /* bytes */

struct voter {
	uid_t uid;
	pid_t pid;	       /* whose ancestors are looked at; 0: it has no process */
	const char *name;      /* for people; proves nothing */
	const char *assurance; /* how the uid is known: "process", "peercred" */
	const char *channel;   /* "cli", "web" */
};

enum ballot_kind { BALLOT_APPROVE, BALLOT_DENY, BALLOT_CANCEL };

struct ballot {
	enum ballot_kind kind;
	const char *const *ids; /* these, or */
	size_t n_ids;
	const char *batch; /* every call of it that is pending */
	/* Approving: each call's digest begins with one of these, or the batch's with the only
	 * one. */
	const struct str *digests;
	size_t n_digests;
	struct str reason; /* denying needs one: the model reads it */
};

/* Is told of each thing that happens, inside the step: what it refuses does not happen. data
 * is a JSON object. NULL: nobody is. */
struct teller {
	int (*tell)(void *context, const char *type, const struct row *row, struct str data,
		    struct error *err);
	void *context;
};

/* *ret_done: calls that are decided now (an approval that needs more voters is not). Errors
 * decide nothing: -ENOENT no such id or batch; -EINVAL the ballot is malformed; -EBADMSG the
 * digest is another; -EPERM whoever asked may not approve; -EALREADY this voter has voted;
 * -ESTALE it is not pending any more. */
int decide_cast(struct approvals *queue, const struct ballot *ballot, const struct voter *voter,
		const struct teller *teller, size_t *ret_done, struct error *err);

/* Expires whatever is over. */
int decide_sweep(struct approvals *queue, const struct teller *teller, struct error *err);

/* The digest of a batch: SHA-256 over its calls' digests (hex), in the order of their ids. */
int decide_batch_digest(struct approvals *queue, const char *batch, char ret[DIGEST_HEX + 1],
			struct error *err);

#endif
