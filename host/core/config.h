/* config.h - pawl.json and its conf.d, read, checked and frozen.
 *
 * Layer: core; knows json and base.  Opens and reads files, loads no plugin.
 *
 * Everything here is borrowed from the config's own arena and lives until
 * config_free.  Strings are NUL-terminated beyond their length.
 *
 *	struct config *config;
 *	if (config_load(path_or_null, &config, err) < 0)
 *		... every pre event is denied with err's text
 */
#ifndef PAWL_CORE_CONFIG_H
#define PAWL_CORE_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/match.h"
#include "json/json.h"

#define CONFIG_BYTES_MAX ((size_t)4 << 20) /* a file */
#define CONFIG_FILES_MAX 256		   /* pawl.json and conf.d together */
#define CONFIG_ENTRIES_MAX 1024		   /* chain and observe, each */
#define CONFIG_PATTERNS_MAX 4096	   /* deny, require_approval, one match key */
#define CONFIG_FACTS_MAX 1024		   /* members of context */
#define CONFIG_NAME_MAX 64		   /* plugin and name: [A-Za-z0-9._-] */
#define CONFIG_DEADLINE_DEFAULT_NS INT64_C(2000000000)

enum on_error { ON_ERROR_DENY, ON_ERROR_HALT };
enum resolve { RESOLVE_FIRST, RESOLVE_STRICTEST };
enum ask { ASK_CLIENT, ASK_QUEUE, ASK_DENY };
enum audit_error { AUDIT_DROP, AUDIT_WARN, AUDIT_FAIL };

/* One element of chain or observe. */
struct config_entry {
	struct str plugin; /* the file's stem below plugin_dir */
	bool pinned;	   /* the file has to have this SHA-256 */
	unsigned char sha256[32];
	struct str name;   /* what answers and records call it; plugin when not given */
	struct match match;
	const struct json_value *options; /* an object, or NULL when absent; json_raw is JSON */
	bool shadow;			  /* chain only */
	bool may_grant;			  /* "may": ["grant"] */
	bool isolated;			  /* "isolation": "process" */
	bool sandbox_best_effort;	  /* "sandbox": what the kernel cannot do is left out */
	bool needs_net;			  /* "needs": ["net"]: granted inside the sandbox */
	enum on_error on_error;
	int64_t deadline_ns; /* 0 = only the chain's */
	struct str file;     /* where it stands, for messages */
	unsigned line, column;
};

/* One member of "context". */
struct config_fact {
	enum { FACT_CONSTANT, FACT_OS, FACT_FILE, FACT_ENV } kind;
	struct str name;
	const struct json_value *constant; /* FACT_CONSTANT: any JSON; json_raw is JSON */
	/* FACT_OS: "user" (name, text) "uid" "gid" (numbers) "home" (text), of the
	 * effective user as the user database has it, or "hostname" (text);
	 * FACT_FILE: absolute path; FACT_ENV: the variable's name, user installs only */
	struct str argument;
	struct str file;
	unsigned line, column;
};

/* A file the config was read from: what it said, comments aside. */
struct config_source {
	struct str path, text;
};

struct config {
	struct json_arena *arena;
	bool own_arena;
	struct str path;	/* the main file, absolute */
	struct str dir;		/* its folder: what relative paths are taken from */
	struct str *files;	/* the main file and what was read of conf.d, in that order */
	size_t n_files;
	struct str plugin_dir;	/* absolute */
	struct patterns libraries; /* that plugins may bring in, beyond the usual ones */
	struct str state_dir;	/* absolute; absent until asked for with config_state_dir */
	struct patterns deny, require_approval;
	struct config_fact *facts;
	size_t n_facts;
	struct json_limits limits;
	int64_t deadline_ns;
	enum on_error on_error;
	enum resolve resolve;
	struct str refusal; /* template: {tool} {reason} {rule} {plugin} */
	struct {
		int64_t timeout_ns; /* 0 = none */
		enum ask ask;
		int need;
		bool allow_self;
		int64_t redeem_ns;
		bool on_change_deny;
		const struct json_value *notify; /* who is told of a call that waits: an array */
		int64_t wait_ns; /* how long a hook waits for a decision; past its deadline: till then */
	} approval;
	enum audit_error audit_on_error;
	struct config_entry *chain;
	size_t n_chain;
	struct config_entry *observe;
	size_t n_observe;
	struct config_source *sources;
	size_t n_sources;
	bool system; /* every file is root's: it enforces, else it advises */
};

/* Reads path, or the first of SYSCONFDIR/pawl/pawl.json and the home's
 * .config/pawl/pawl.json (home from the user database) when path is NULL.
 * *ret is the caller's.  Errors, one line: "FILE:LINE:COLUMN: what, and the mend"
 * (1:1 where it is about the whole file); -ENOENT none found. */
int config_load(const char *path, struct config **ret, struct error *err);
/* The same into an arena of the caller's, which has to stand as long as the config:
 * a one-shot worker maps one arena for its config and its call.  What a failed load
 * left there is given back by rewinding. */
int config_load_in(struct json_arena *arena, const char *path, struct config **ret,
		   struct error *err);
/* The same from memory: no file is opened, no conf.d read, nothing trusted as the
 * system's.  path (absolute) is for messages and relative paths. */
int config_parse(struct str text, const char *path, struct config **ret, struct error *err);
void config_free(struct config *config); /* takes NULL */

/* Where latches and approvals lie: what the config says, else .local/state/pawl in the
 * effective user's home as the user database has it (asked at the first call only:
 * that loads libraries).  -ENOENT no such user. */
int config_state_dir(struct config *config, struct str *ret, struct error *err);

/* The file that an entry's plugin is loaded from. -ENAMETOOLONG. */
int config_plugin_path(const struct config *config, const struct config_entry *entry,
		       char path[PATH_MAX]);

/* "250ms" "2s" "5m" "1h" "0" -> nanoseconds; -EINVAL otherwise or past 2^63. */
int config_duration(struct str text, int64_t *ret_ns);

/* Every key there is, as "deadline", "approval.timeout", "chain[].match.tool"; NULL
 * past the last.  For whoever documents them. */
const char *config_key_path(size_t index, char *buf, size_t size);

#endif
