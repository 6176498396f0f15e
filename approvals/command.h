/* command.h - what the commands of pawl-approvals share.
 *
 * Layer: approvals; the edge: these print. What they decide with is decide.h.
 *
 * Exit status: 0 done; 1 refused or it could not be, stderr says why; 2 usage; 3 no such id.
 */
#ifndef PAWL_APPROVALS_COMMAND_H
#define PAWL_APPROVALS_COMMAND_H

#include "decide.h"
#include "json/write.h"

#define COMMAND_DIGESTS_MAX DECIDE_BALLOT_MAX

struct line {
	const char *store, *audit; /* where they lie; audit NULL: nothing is recorded */
	const char *audit_options; /* JSON, once it is read */
	const char *batch, *reason, *timeout, *policy;
	struct str digests[COMMAND_DIGESTS_MAX];
	size_t n_digests;
	bool json, quiet, pending, all;
	const char *const *ids;
	size_t n_ids;
	struct teller teller;
};

int command_list(const struct line *line);
int command_show(const struct line *line);
int command_approve(const struct line *line);
int command_deny(const struct line *line);
int command_cancel(const struct line *line);
int command_wait(const struct line *line);
int command_resume(const struct line *line);
int command_deliver(const struct line *line);
int command_export(const struct line *line);

/* The queue, with what is over expired. 1 with *ret NULL: nothing ever waited. */
int command_open(const struct line *line, struct approvals **ret, struct error *err);
/* "pawl approvals: TEXT" on stderr; the exit status for r. */
int command_failed(int r, const struct error *err);

/* A row as an object, as scripts read it. [in a step] */
struct json_object *command_object(struct approvals *queue, const struct json_writer *w,
				   const struct row *row);
void command_print_object(const struct json_writer *w, struct json_object *object);

/* A row for a person. */
void command_print_row(struct approvals *queue, const struct row *row);
/* "2026-08-22T10:11:12Z"; "" for 0 */
void command_time(int64_t ms, char buf[32]);
/* When it is over on the wall clock, in ms; 0 never, or it has ended. */
int64_t command_expires_ms(const struct row *row);

#endif
