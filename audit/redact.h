/* redact.h - taking secrets out of JSON and text before anything is written.
 *
 * Layer: audit; knows json, store and libsodium.
 *
 * A value is replaced by "[redacted]", or by a keyed hash of it, so that equal secrets can
 * be told to be equal and nothing else; everything around it stays byte for byte.  What is
 * a secret is said by a member's name, by a JSON pointer or by a pattern in a string; a
 * string that holds JSON itself, as tools' results do, is looked through as well.
 *
 * What cannot be looked through is replaced as a whole.
 */
#ifndef PAWL_AUDIT_REDACT_H
#define PAWL_AUDIT_REDACT_H

#include "base/error.h"
#include "base/str.h"
#include "json/json.h"
#include "store.h"

#define REDACT_KEY "audit_hmac.key"
#define REDACT_LIST_MAX 256                   /* names, pointers, patterns each */
#define REDACT_SEARCH_MAX ((size_t)256 << 10) /* of one string, for patterns of the owner */

struct redact;

/* options: NULL, or the object {"keys":[...], "pointers":[...], "patterns":[...],
 * "with":"mask"|"hmac"|"drop", "defaults":true}.  err names what is wrong with it.  *ret is
 * the caller's, free with redact_free. */
int redact_new(const struct json_value *options, struct redact **ret, struct error *err);
void redact_free(struct redact *redact); /* takes NULL */

/* Whether values are hashed; then redact_key has to be called before the others. */
bool redact_hashes(const struct redact *redact);
/* Reads the store's key, or makes it. */
int redact_key(struct redact *redact, const struct store *store, struct error *err);

/* *json is replaced where something was taken out; the new text lies in the arena.
 * -ENOMEM only. */
int redact_json(const struct redact *redact, struct json_arena *arena, struct str *json,
		struct error *err);
int redact_text(const struct redact *redact, struct json_arena *arena, struct str *text,
		struct error *err);

/* "hmac-sha256:KEY ID:HEX" of a value, as it stands in a record. */
#define REDACT_HASH_MAX (12 + 9 + 64 + 1)
void redact_hash(const struct redact *redact, struct str value, char buf[REDACT_HASH_MAX]);

#endif
