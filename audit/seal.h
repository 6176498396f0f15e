/* seal.h - checkpoints: what the chain was at a record, signed (Ed25519).
 *
 * Layer: audit; knows store, segment, chain and libsodium.
 *
 * A chain alone cannot show that its end was cut off or that all of it was written anew.
 * A checkpoint can, if it is kept where whoever may write the log may not, or if the key
 * is.  It is a signed note, a short text that can be printed, mailed or committed:
 *
 *	pawl/audit/CHAIN ID
 *	NUMBER OF THE RECORD
 *	ITS HASH, base64
 *	TIME
 *
 *	— pawl/audit/CHAIN ID  base64(4 bytes of key id || signature)
 *
 * The key id is the beginning of SHA-256(name || "\n" || 0x01 || public key).  The name in
 * it is "pawl/audit", the same for all chains.
 */
#ifndef PAWL_AUDIT_SEAL_H
#define PAWL_AUDIT_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "chain.h"
#include "store.h"

#define SEAL_FOLDER "checkpoints"
#define SEAL_KEY "audit_seal.key" /* the secret one, in the store unless told otherwise */
#define SEAL_PUBLIC "audit_seal.pub"
#define SEAL_NOTE_MAX 1024
#define SEAL_KEY_BYTES 32

struct seal_public {
	bool there;
	uint8_t key[SEAL_KEY_BYTES];
	uint8_t id[4];
};

enum seal_state { SEAL_GOOD, SEAL_BAD, SEAL_OTHER_KEY, SEAL_NO_KEY };

struct seal {
	char chain_id[40];
	struct chain chain;
	enum seal_state state;
	uint8_t key_id[4];
};

/* Reads "pawl/audit+KEY ID+BASE64" from path, or the store's own with NULL; there is false
 * when the store has none. */
int seal_public(const struct store *store, const char *path, struct seal_public *ret,
		struct error *err);

/* -EBADMSG when text is no checkpoint. */
int seal_read(struct str text, const struct seal_public *key, struct seal *ret,
	      struct error *err);

/* Signs what the log's end is, keeps the note in checkpoints/NUMBER.note and tells of it
 * in the log (audit.checkpoint).  key_path NULL: the store's own key; a key that is not
 * there yet is made, and its public half put into the store.  note holds SEAL_NOTE_MAX
 * bytes.  -ENOENT when there is nothing to sign. */
int seal_make(const struct store *store, const char *key_path, char *note, struct error *err);

/* Calls take for each checkpoint in the store, with its name. */
int seal_each(const struct store *store,
	      int (*take)(void *data, const char *name, struct str text, struct error *err),
	      void *data, struct error *err);

#endif
