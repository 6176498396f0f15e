/* approval.h - a call that a person has to say yes to, and the queue where it waits.
 *
 * Layer: core. The core knows the questions, not the store: whoever starts it hands over a
 * struct of functions (approvals/, a shared object that is loaded for the first call that has
 * to wait, so that no other pays for SQLite).
 *
 *	store->open(dir, true, &queue, err);
 *	store->hold(queue, &request, &state, err);	persisted, or joined to the same one
 *	... state.status is APPROVAL_APPROVED ...
 *	store->consume(queue, state.id, &request, &state, err);	once; only then may it run
 */
#ifndef PAWL_CORE_APPROVAL_H
#define PAWL_CORE_APPROVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "json/json.h"

enum approval_status {
	APPROVAL_PENDING,
	APPROVAL_APPROVED, /* decided, not used yet */
	APPROVAL_CONSUMED, /* used, once */
	APPROVAL_DENIED,
	APPROVAL_EXPIRED,
	APPROVAL_CANCELED,
};

/* A file whose code or text the verdict rests on. */
struct approval_part {
	struct str name;	/* the entry's; of a config file: absent */
	struct str id, version; /* the plugin's */
	struct str path;
	struct str text; /* of a config file, as it was read */
	int fd;		 /* of a plugin, as it was loaded; -1 with text */
};

#define APPROVAL_PARTS_MAX 2048

/* Absent texts have ptr NULL. All borrowed. */
struct approval_request {
	/* what a yes is bound to: the digest is over these */
	struct str session, tool, source, server;
	const struct json_value *args, *context;
	/* what a person is shown beside */
	const struct json_value *args_given; /* NULL: as args */
	struct str event, client, agent, agent_type, cwd, run, call_id, call_id_json;
	struct str rule, plugin, reason, instructions;
	/* whom it came from */
	bool system;	 /* a system install: who may decide is told by uid */
	pid_t requester; /* the process the client started */
	/* under which rules it waits */
	int64_t timeout_ns, redeem_ns; /* timeout 0: for ever */
	int need;
	bool allow_self, on_change_deny;
	/* what judged it, compared on use */
	const struct approval_part *parts;
	size_t n_parts;
	/* its batch, absent when it has none */
	struct str batch;
	/* who is told of a new one: JSON, {"url": ...} or {"exec": [...]} each; NULL nobody */
	const struct json_value *notify;
};

#define APPROVAL_ID_MAX 24
#define APPROVAL_TEXT_MAX 1024

struct approval_state {
	char id[APPROVAL_ID_MAX];
	char digest[65]; /* hex */
	enum approval_status status;
	bool fresh;   /* this hold made it */
	bool mine;    /* consumed by this very consume: the one thing that lets it run */
	bool changed; /* consumed although what judged it is not the same any more */
	char expired[APPROVAL_ID_MAX]; /* one of the same call that this hold found over, or "" */
	bool put_back; /* the queue's file was an old copy, and what was open in it is void now */
	int64_t left_ns; /* until it expires; INT64_MAX never */
	char who[128];	 /* who decided, as "uid 1000 (ada)" */
	char reason[APPROVAL_TEXT_MAX]; /* what the decider said; why it is over */
};

/* One call of a batch that is paused: what to answer once it is resumed. */
struct approval_held {
	struct str tool, source, server, call_id, call_id_json;
	struct str approval; /* the id it waits under; absent: it waits for its mates alone */
	int64_t position;
	struct str answer;  /* when it may run: a line */
	struct str refusal; /* when not: a line, with APPROVAL_REASON where the reason goes */
};

/* Stands for a reason that is not known yet; nobody but us writes a private-use character. */
#define APPROVAL_REASON "\xee\x80\x80reason\xee\x80\x81"

struct approval_batch {
	struct str id, session, run;
	int64_t turn;
	size_t size;
	const struct approval_held *held;
	size_t n_held;
};

struct approvals;

struct approval_store {
	/* The queue below state_dir; make: when it is missing. -ENOENT: there is none. */
	int (*open)(const char *state_dir, bool make, struct approvals **ret, struct error *err);
	void (*close)(struct approvals *queue); /* takes NULL */
	/* Finds what was decided about this very call, or what still waits, or lets it wait.
	 * Never consumes. */
	int (*hold)(struct approvals *queue, const struct approval_request *request,
		    struct approval_state *ret, struct error *err);
	/* -ENOENT no such id. */
	int (*look)(struct approvals *queue, const char *id, struct approval_state *ret,
		    struct error *err);
	/* Approved becomes consumed, for this very call and by one caller only: mine is set
	 * then. 0 without it: it may not run; status and reason say why. */
	int (*consume)(struct approvals *queue, const char *id,
		       const struct approval_request *request, struct approval_state *ret,
		       struct error *err);
	void (*batch_id)(char ret[APPROVAL_ID_MAX]);
	/* Persists what a paused batch will answer. */
	int (*batch_keep)(struct approvals *queue, const struct approval_batch *batch,
			  struct error *err);
	/* The config's files as they are compared on resume: JSON, to be freed. */
	int (*describe)(const struct approval_part *parts, size_t n, char **ret, struct error *err);
};

/* What lib/pawl/approvals.so exports. */
extern const struct approval_store pawl_approval_store;

#endif
