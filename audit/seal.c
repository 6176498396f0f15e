/* seal.c - keys, notes and signatures. */
#include <config.h>

#include "seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "batch.h"
#include "head.h"
#include "line.h"
#include "log.h"
#include "rotate.h"
#include "tail.h"

#define NAME "pawl/audit"
#define SECRET "pawl-audit-ed25519 "
#define DASH "\xe2\x80\x94 " /* U+2014 and a space begin a signature */
#define BASE64 sodium_base64_VARIANT_ORIGINAL
#define SIGNATURE (4 + crypto_sign_BYTES)
#define LOCK_WAIT_NS STORE_LOG_WAIT_NS

_Static_assert(SEAL_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "a public key");

static int failed(const char *what, int code, struct error *err)
{
	return error_set(err, code, "%s: %s", what, strerror(code));
}

/* ---- keys ------------------------------------------------------------------------------- */

static void set_public(struct seal_public *ret, const uint8_t key[SEAL_KEY_BYTES])
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)NAME "\n\x01", sizeof(NAME "\n\x01") - 1);
	crypto_hash_sha256_update(&state, key, SEAL_KEY_BYTES);
	crypto_hash_sha256_final(&state, hash);
	ret->there = true;
	memcpy(ret->key, key, SEAL_KEY_BYTES);
	memcpy(ret->id, hash, sizeof(ret->id));
}

static int read_small(int dirfd, const char *path, char *buf, size_t room, struct error *err)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, room - 1);
	if (n < 0)
		return failed(path, errno, err);
	buf[n] = '\0';
	return 0;
}

int seal_public(const struct store *store, const char *path, struct seal_public *ret,
		struct error *err)
{
	char text[256];
	uint8_t bytes[1 + SEAL_KEY_BYTES];
	size_t len = 0;
	ret->there = false;
	int r = read_small(path ? AT_FDCWD : store->dirfd, path ? path : SEAL_PUBLIC, text,
			   sizeof(text), err);
	if (r < 0)
		return r == -ENOENT && !path ? 0 : r;
	const char *base64 = strrchr(text, '+');
	/* base64 has a '+' of its own: the third field begins after the key id's eight */
	if (strncmp(text, NAME "+", sizeof(NAME)) == 0 && strlen(text) > sizeof(NAME) + 9)
		base64 = text + sizeof(NAME) + 8;
	if (!base64 || *base64 != '+' ||
	    sodium_base642bin(bytes, sizeof(bytes), base64 + 1, strcspn(base64 + 1, "\n"), NULL,
			      &len, NULL, BASE64) != 0 ||
	    len != sizeof(bytes) || bytes[0] != 1)
		return error_set(err, EBADMSG, "%s: not a public key", path ? path : SEAL_PUBLIC);
	set_public(ret, bytes + 1);
	return 0;
}

static int write_new(int dirfd, const char *path, mode_t mode, const char *text, struct error *err)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return failed(path, errno, err);
	int r = io_write_all(fd, text, strlen(text));
	if (r == 0 && fsync(fd) != 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dirfd, path, 0); /* half of it would be in the way for ever */
	return r < 0 ? failed(path, -r, err) : 0;
}

static int write_public(const struct store *store, const struct seal_public *key,
			struct error *err)
{
	char text[256], base64[64];
	uint8_t bytes[1 + SEAL_KEY_BYTES] = {1};
	memcpy(bytes + 1, key->key, SEAL_KEY_BYTES);
	sodium_bin2base64(base64, sizeof(base64), bytes, sizeof(bytes), BASE64);
	snprintf(text, sizeof(text), NAME "+%02x%02x%02x%02x+%s\n", key->id[0], key->id[1],
		 key->id[2], key->id[3], base64);
	int r = write_new(store->dirfd, SEAL_PUBLIC, STORE_READ_MODE, text, err);
	return r == -EEXIST ? 0 : r;
}

static int make_key(int dirfd, const char *path, struct error *err)
{
	uint8_t seed[crypto_sign_SEEDBYTES];
	char text[128] = SECRET;
	randombytes_buf(seed, sizeof(seed));
	sodium_bin2base64(text + strlen(text), sizeof(text) - strlen(text) - 1, seed, sizeof(seed),
			  BASE64);
	strcat(text, "\n");
	int r = write_new(dirfd, path, STORE_OWN_MODE, text, err);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, sizeof(text));
	return r == -EEXIST ? 0 : r;
}

static int read_key(int dirfd, const char *path, uint8_t secret[crypto_sign_SECRETKEYBYTES],
		    struct seal_public *ret, struct error *err)
{
	uint8_t seed[crypto_sign_SEEDBYTES], public[SEAL_KEY_BYTES];
	char text[256];
	size_t len = 0;
	int r = read_small(dirfd, path, text, sizeof(text), err);
	if (r < 0)
		return r;
	if (strncmp(text, SECRET, sizeof(SECRET) - 1) != 0 ||
	    sodium_base642bin(seed, sizeof(seed), text + sizeof(SECRET) - 1,
			      strcspn(text + sizeof(SECRET) - 1, "\n"), NULL, &len, NULL,
			      BASE64) != 0 ||
	    len != sizeof(seed))
		r = error_set(err, EBADMSG, "%s: not a key of pawl", path);
	else
		crypto_sign_seed_keypair(public, secret, seed);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, sizeof(text));
	if (r == 0)
		set_public(ret, public);
	return r;
}

/* ---- notes -------------------------------------------------------------------------------- */

/* The text that is signed: up to the empty line. */
static size_t note_body(const char *chain_id, const struct chain *chain, char note[SEAL_NOTE_MAX])
{
	char hash[64], time[LINE_TIME_MAX];
	sodium_bin2base64(hash, sizeof(hash), chain->head, CHAIN_HASH, BASE64);
	line_time(io_wall_ns() / 1000000, time);
	return (size_t)snprintf(note, SEAL_NOTE_MAX, NAME "/%s\n%" PRIu64 "\n%s\n%s\n", chain_id,
				chain->seq, hash, time);
}

static void note_sign(const char *chain_id, const uint8_t *secret, const struct seal_public *key,
		      char note[SEAL_NOTE_MAX], size_t len)
{
	uint8_t signature[SIGNATURE];
	char base64[128];
	memcpy(signature, key->id, 4);
	crypto_sign_detached(signature + 4, NULL, (const uint8_t *)note, len, secret);
	sodium_bin2base64(base64, sizeof(base64), signature, sizeof(signature), BASE64);
	snprintf(note + len, SEAL_NOTE_MAX - len, "\n" DASH NAME "/%s %s\n", chain_id, base64);
}

static struct str next_line(struct str *text)
{
	const char *end = memchr(text->ptr, '\n', text->len);
	struct str line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
	*text = str_after(*text, end ? line.len + 1 : line.len);
	return line;
}

static bool read_body(struct str *text, struct seal *ret)
{
	char number[24], *end;
	size_t len = 0;
	struct str origin = next_line(text), seq = next_line(text), hash = next_line(text);
	if (!str_starts(origin, STR(NAME "/")) ||
	    origin.len - sizeof(NAME) >= sizeof(ret->chain_id) || seq.len == 0 ||
	    seq.len >= sizeof(number))
		return false;
	memcpy(ret->chain_id, origin.ptr + sizeof(NAME), origin.len - sizeof(NAME));
	memcpy(number, seq.ptr, seq.len);
	number[seq.len] = '\0';
	ret->chain.seq = strtoull(number, &end, 10);
	while (text->len > 0 && next_line(text).len > 0)
		;
	return *end == '\0' && ret->chain.seq > 0 &&
	       sodium_base642bin(ret->chain.head, CHAIN_HASH, hash.ptr, hash.len, NULL, &len, NULL,
				 BASE64) == 0 &&
	       len == CHAIN_HASH;
}

static enum seal_state check(struct str body, const uint8_t signature[SIGNATURE],
			     const struct seal_public *key)
{
	if (!key->there)
		return SEAL_NO_KEY;
	if (memcmp(signature, key->id, 4) != 0)
		return SEAL_OTHER_KEY;
	return crypto_sign_verify_detached(signature + 4, (const uint8_t *)body.ptr, body.len,
					   key->key) == 0
		       ? SEAL_GOOD
		       : SEAL_BAD;
}

int seal_read(struct str text, const struct seal_public *key, struct seal *ret, struct error *err)
{
	uint8_t signature[SIGNATURE];
	struct str rest = text;
	size_t len = 0;
	*ret = (struct seal){.state = SEAL_BAD};
	if (!read_body(&rest, ret))
		return error_set(err, EBADMSG, "not a checkpoint of an audit log");
	/* read_body has gone past the empty line */
	struct str body = {text.ptr, (size_t)(rest.ptr - text.ptr) - 1};
	struct str line = next_line(&rest);
	const char *space = line.len > 0 ? memrchr(line.ptr, ' ', line.len) : NULL;
	if (!str_starts(line, STR(DASH)) || !space ||
	    sodium_base642bin(signature, sizeof(signature), space + 1,
			      line.len - (size_t)(space + 1 - line.ptr), NULL, &len, NULL,
			      BASE64) != 0 ||
	    len != SIGNATURE)
		return error_set(err, EBADMSG, "a checkpoint without a signature");
	memcpy(ret->key_id, signature, 4);
	ret->state = check(body, signature, key);
	return 0;
}

/* ---- making one ------------------------------------------------------------------------------ */

/* The chain's end, and that it is on the disk. */
static int read_end(const struct store *store, struct chain *ret, char chain_id[40],
		    struct error *err)
{
	_cleanup_close_ int lock = -1;
	_cleanup_close_ int fd = -1;
	struct before before;
	struct tail tail;
	int r = store_lock(store, STORE_LOG_LOCK, LOCK_WAIT_NS, &lock, err);
	if (r == 0)
		r = store_file(store, STORE_LOG, STORE_READ_MODE, &fd, NULL, err);
	if (r == 0)
		r = tail_read(fd, &tail, err);
	if (r == 0)
		r = rotate_before(store, fd, &tail, &before, err);
	if (r == 0 && (before.chain.seq == 0 || before.missing_to > 0))
		r = error_set(err, ENOENT, "%s: there is no record to sign", store->dir);
	if (r < 0)
		return r;
	if (store->sync && fdatasync(fd) != 0)
		return failed(STORE_LOG, errno, err);
	*ret = before.chain;
	snprintf(chain_id, 40, "%s", before.chain_id);
	return 0;
}

static int keep(const struct store *store, const struct chain *chain, const char *note,
		struct error *err)
{
	char name[64];
	if (mkdirat(store->dirfd, SEAL_FOLDER, 0750) != 0 && errno != EEXIST)
		return failed(SEAL_FOLDER, errno, err);
	snprintf(name, sizeof(name), SEAL_FOLDER "/%" PRIu64 ".note", chain->seq);
	int r = write_new(store->dirfd, name, STORE_READ_MODE, note, err);
	return r == -EEXIST ? 0 : r;
}

static int tell(const struct store *store, const struct chain *chain,
		const struct seal_public *key, struct error *err)
{
	struct record record = RECORD_EMPTY;
	_cleanup_free_ char *body = NULL;
	char data[160], hash[CHAIN_HEX + 1];
	size_t len;
	chain_hex(chain->head, hash);
	snprintf(data, sizeof(data),
		 "{\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"key\":\"%02x%02x%02x%02x\"}", chain->seq,
		 hash, key->id[0], key->id[1], key->id[2], key->id[3]);
	record.type = "audit.checkpoint";
	record.data = str_of(data);
	int r = line_body(&record, &body, &len, err);
	return r < 0 ? r : log_append(store, (struct str){body, len}, err);
}

int seal_make(const struct store *store, const char *key_path, char *note, struct error *err)
{
	uint8_t secret[crypto_sign_SECRETKEYBYTES];
	struct seal_public key;
	struct chain chain;
	char chain_id[40];
	int dirfd = key_path ? AT_FDCWD : store->dirfd;
	const char *path = key_path ? key_path : SEAL_KEY;
	if (sodium_init() < 0)
		return error_set(err, EIO, "libsodium: cannot be used");
	int r = read_key(dirfd, path, secret, &key, err);
	if (r == -ENOENT && (r = make_key(dirfd, path, err)) == 0)
		r = read_key(dirfd, path, secret, &key, err);
	if (r == 0)
		r = write_public(store, &key, err);
	if (r == 0)
		r = read_end(store, &chain, chain_id, err);
	if (r == 0)
		note_sign(chain_id, secret, &key, note, note_body(chain_id, &chain, note));
	sodium_memzero(secret, sizeof(secret));
	if (r == 0)
		r = keep(store, &chain, note, err);
	return r < 0 ? r : tell(store, &chain, &key, err);
}

int seal_each(const struct store *store,
	      int (*take)(void *data, const char *name, struct str text, struct error *err),
	      void *data, struct error *err)
{
	int fd = openat(store->dirfd, SEAL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : failed(SEAL_FOLDER, errno, err);
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;
	while (r == 0 && dir && (entry = readdir(dir))) {
		char text[SEAL_NOTE_MAX];
		size_t len = strlen(entry->d_name);
		if (len < 6 || strcmp(entry->d_name + len - 5, ".note") != 0)
			continue;
		r = read_small(dirfd(dir), entry->d_name, text, sizeof(text), err);
		if (r == 0)
			r = take(data, entry->d_name, str_of(text), err);
	}
	return r;
}
