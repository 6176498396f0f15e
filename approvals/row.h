/* row.h - one approval as the database has it.
 *
 * Layer: approvals; knows queue.
 *
 * A column is a line in ROW_COLUMNS, in the order of the schema.
 */
#ifndef PAWL_APPROVALS_ROW_H
#define PAWL_APPROVALS_ROW_H

#include "queue.h"

/* T a text (may be absent), N a number (0 when absent) */
#define ROW_COLUMNS(T, N)                                                                          \
	T(id) T(status) T(digest)                                                                  \
	T(session_id) T(tool_name) T(source) T(server)                                             \
	T(args) T(args_given) T(context)                                                           \
	T(event) T(client) T(agent) T(agent_type) T(cwd) T(run_id) T(call_id) T(call_id_json)      \
	T(rule) T(plugin) T(reason) T(instructions)                                                \
	T(chain) T(batch_id)                                                                       \
	N(system) N(uid) N(agent_pid) N(agent_started)                                             \
	N(need) N(allow_self) N(on_change_deny) N(timeout_ns) N(redeem_ns)                         \
	N(created_ms) N(created_boot_ns) T(created_boot)                                           \
	N(decided_ms) N(decided_boot_ns) T(decided_boot) T(decided_by) T(decided_why)              \
	N(consumed_ms) T(consumed_by) N(changed)

struct row {
#define ROW_TEXT(name) struct str name;
#define ROW_NUMBER(name) int64_t name;
	ROW_COLUMNS(ROW_TEXT, ROW_NUMBER)
#undef ROW_TEXT
#undef ROW_NUMBER
	sqlite3_stmt *stmt; /* texts are this statement's */
};

/* Texts live until row_done. where: "id = ?" and the like, with its parameters as in
 * queue_query; the first row. -ENOENT there is none (err untouched). */
int row_find(struct approvals *queue, struct row *ret, struct error *err, const char *where,
	     const char *kinds, ...);
void row_done(struct row *row);

/* "SELECT all FROM approvals": the beginning of a statement whose rows row_read reads. */
extern const char row_select[];
/* From a statement that stands on a row; texts are good until it is stepped. */
void row_read(sqlite3_stmt *stmt, struct row *ret);

/* As pending. */
int row_insert(struct approvals *queue, const struct row *row, struct error *err);

enum approval_status row_status(const struct row *row);
const char *status_name(enum approval_status status);

/* Whether its time is over, by the step's clocks: pending of timeout, approved of redeem,
 * anything else never. */
bool row_over(const struct approvals *queue, const struct row *row, int64_t *left_ns);
/* The same for what a denial answers with. */
bool row_denial_over(const struct approvals *queue, const struct row *row);

/* pending or approved -> expired, if it still is that. [in a writing step] */
int row_expire(struct approvals *queue, const struct row *row, struct error *err);
/* What is said of an expired one. */
void row_expired_why(const struct row *row, char *buf, size_t size);

static inline void cleanup_row_(struct row *row)
{
	row_done(row);
}

#define _cleanup_row_ __attribute__((cleanup(cleanup_row_)))

#endif
