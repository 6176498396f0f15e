/* tail.h - where a log ends, and what lies after its last whole record.
 *
 * Layer: audit; knows store and chain.
 *
 * [under the log's lock]
 */
#ifndef PAWL_AUDIT_TAIL_H
#define PAWL_AUDIT_TAIL_H

#include <sys/types.h>

#include "chain.h"
#include "store.h"

struct tail {
	off_t size;         /* of the file */
	off_t good;         /* where its last whole record ends; 0 when there is none */
	struct chain chain; /* after that record */
};

/* -EBADMSG when the file has lines but none of the last ones is a record: it is
 * somebody else's then, and left alone. */
int tail_read(int fd, struct tail *ret, struct error *err);

/* Moves the bytes from..to into a file of their own in torn/ and cuts the log back to
 * from.  name holds TAIL_NAME_MAX bytes: what the file is called. */
#define TAIL_NAME_MAX 80
int tail_cut(const struct store *store, int fd, off_t from, off_t to, char *name,
	     struct error *err);

/* The place after the last newline before size, for files that have no chain. */
int tail_last_newline(int fd, off_t size, off_t *ret, struct error *err);

#endif
