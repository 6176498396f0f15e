/* verify-seal.c - what the store's checkpoints and an anchor say the log must have. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "seal.h"
#include "verify.h"

struct taking {
	struct verify *verify;
	struct seal_public key;
};

static int mark(struct taking *taking, const struct seal *seal, enum verify_kind other,
		const char *who, struct error *err)
{
	struct verify *v = taking->verify;
	if ((int64_t)seal->chain.seq > v->last_seal)
		v->last_seal = (int64_t)seal->chain.seq;
	return verify_mark(v, (int64_t)seal->chain.seq, seal->chain.head, VERIFY_SHORTER, other,
			   who, err);
}

/* One of the store's own: whoever may write the store may have put it there, so that only
 * a good signature counts. */
static int take_note(void *data, const char *name, struct str text, struct error *err)
{
	struct taking *taking = data;
	struct seal seal;
	struct error why;
	char who[80];
	taking->verify->seals++;
	if (seal_read(text, &taking->key, &seal, &why) < 0) {
		verify_found(taking->verify, VERIFY_CHANGED, 0, SEAL_FOLDER "/%s: %s", name,
			     why.text);
		return 0;
	}
	if (seal.state == SEAL_BAD || seal.state == SEAL_OTHER_KEY) {
		verify_found(taking->verify, VERIFY_CHANGED, 0, SEAL_FOLDER "/%s: %s", name,
			     seal.state == SEAL_BAD ? "the signature is wrong"
						    : "signed with another key");
		return 0;
	}
	taking->verify->unsigned_seals += seal.state == SEAL_NO_KEY;
	snprintf(who, sizeof(who), "the checkpoint %.50s", name);
	return mark(taking, &seal, VERIFY_CHANGED, who, err);
}

/* An anchor was kept elsewhere: what it says counts, whatever became of the key. */
static int take_anchor(struct taking *taking, const char *path, struct error *err)
{
	_cleanup_close_ int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct seal seal;
	size_t len;
	char who[80];
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	int r = io_read_all(fd, SEAL_NOTE_MAX, &text, &len, err);
	if (r == 0)
		r = seal_read((struct str){text, len}, &taking->key, &seal, err);
	if (r == 0 && seal.state == SEAL_BAD)
		r = error_set(err, EBADMSG, "the signature is wrong: the anchor was changed");
	if (r < 0) {
		error_prefix(err, "%s", path);
		return r;
	}
	if (seal.state != SEAL_GOOD)
		taking->verify->unsigned_seals++;
	snprintf(who, sizeof(who), "the anchor %.60s", path);
	return mark(taking, &seal, VERIFY_REPLACED, who, err);
}

int verify_seals(const struct store *store, struct verify *verify, const char *key,
		 const char *anchor, struct error *err)
{
	struct taking taking = {.verify = verify};
	verify->seals = 0;
	int r = seal_public(store, key, &taking.key, err);
	if (r == -EBADMSG && !key) {
		verify_found(verify, VERIFY_CHANGED, 0, "%s", err->text);
		r = 0;
	}
	if (r == 0)
		r = seal_each(store, take_note, &taking, err);
	if (r == 0 && anchor)
		r = take_anchor(&taking, anchor, err);
	if (r < 0)
		verify_found(verify, VERIFY_UNREADABLE, 0, "%s", err->text);
	return r;
}
