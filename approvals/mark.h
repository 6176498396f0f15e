/* mark.h - how far the queue has come, kept outside its database.
 *
 * Layer: approvals; knows queue.
 *
 * A copy of approvals.db that is put back has every yes that was used since as one that was
 * not. So each step that changes something is counted, in the database and, once it is there,
 * in approvals.lock. A database that is behind the lock, or that belongs to another lock (the
 * folder was copied back), is an old one: what is open in it is void before anything else is
 * done with it, and people are asked anew.
 *
 * Not seen: a lock that was overwritten in place with its own older text along with the
 * database, or a whole machine set back.
 */
#ifndef PAWL_APPROVALS_MARK_H
#define PAWL_APPROVALS_MARK_H

#include "queue.h"

/* The tables of an older pawl get what is counted in. [guarded] */
int mark_make(struct approvals *queue, struct error *err);
/* In a writing step, first: sets queue->put_back, and makes void what has to be. */
int mark_begin(struct approvals *queue, struct error *err);
/* Before the commit: counts the step, if it changed anything. */
int mark_count(struct approvals *queue, struct error *err);
/* After it: notes that in the lock. What fails here has been done, and must not count. */
int mark_note(struct approvals *queue, struct error *err);

#define MARK_PUT_BACK                                                                              \
	"approvals.db is older than what was done with it, or was moved; what was open in it is "  \
	"void, and has to be asked about anew"

#endif
