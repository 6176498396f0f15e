/* codex.h - what Codex keeps in config.toml beside its hooks.json: more hooks, which of them
 * a person has trusted, and whether they run at all.
 *
 * Layer: cli; knows json and base.
 *
 * A hook is trusted as long as [hooks.state."FILE:EVENT:GROUP:HOOK"] has the hash of what it
 * is now. The rule of the hash was measured with 0.171.0: SHA-256 over one JSON object, its
 * members in order of their names, with what a hook does and no more.
 */
#ifndef PAWL_CLI_CODEX_H
#define PAWL_CLI_CODEX_H

#include "json/json.h"

#define CODEX_TOML_BYTES_MAX ((size_t)4 << 20)
#define CODEX_TRUST_MAX 512

struct codex_trust {
	struct str key, hash; /* hash absent: never trusted */
	bool off;	      /* enabled = false */
};

struct codex {
	struct json_arena *arena;
	bool exists, off;    /* off: [features] hooks = false */
	bool inline_hooks;   /* hooks that are not written as tables, and are not read */
	struct str hooks;    /* those of the file as hooks.json has them; absent: none */
	struct codex_trust trust[CODEX_TRUST_MAX];
	size_t n_trust;
};

/* A file that is not there is an empty one; texts live in the arena. */
int codex_read(struct json_arena *arena, const char *path, struct codex *ret, struct error *err);

enum codex_state {
	CODEX_UNKNOWN,	/* nobody has reviewed it */
	CODEX_CHANGED,	/* since it was */
	CODEX_OFF,	/* reviewed, and turned off */
	CODEX_TRUSTED,
};

/* Of the hook at group and index of the event in file, whose matcher and handler these are. */
enum codex_state codex_state(const struct codex *codex, const char *file, const char *event,
			     size_t group, size_t index, const struct json_value *matcher,
			     const struct json_value *handler);

/* "sha256:..." of it. -EINVAL: it is none that Codex would run. */
int codex_hash(struct json_arena *arena, const char *event, const struct json_value *matcher,
	       const struct json_value *handler, struct str *ret);

#endif
