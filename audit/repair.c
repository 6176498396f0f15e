/* repair.c - see repair.h */
#include <config.h>

#include "repair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "chain.h"
#include "db.h"
#include "head.h"
#include "ingest.h"
#include "log.h"
#include "segment.h"
#include "tail.h"

static int hash_file(int fd, char hex[CHAIN_HEX + 1])
{
	uint8_t hash[CHAIN_HASH], block[65536];
	crypto_hash_sha256_state state;
	ssize_t n;
	off_t at = 0;
	crypto_hash_sha256_init(&state);
	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		crypto_hash_sha256_update(&state, block, (size_t)n);
		at += n;
	}
	crypto_hash_sha256_final(&state, hash);
	chain_hex(hash, hex);
	return n < 0 ? -errno : 0;
}

bool repair_has(const struct store *store, const char *name, const char *sha256)
{
	_cleanup_close_ int fd = -1;
	char hex[CHAIN_HEX + 1];
	return strncmp(name, REPAIR_FOLDER "/", sizeof(REPAIR_FOLDER)) == 0 &&
	       !strchr(name + sizeof(REPAIR_FOLDER), '/') &&
	       segment_open(store, name, &fd, NULL) == 0 && hash_file(fd, hex) == 0 &&
	       strcmp(hex, sha256) == 0;
}

/* A log that does not end in a record of ours takes no more records.  [under the lock] */
static int set_log_aside(const struct store *store, int fd, struct repair *ret, char *hex,
			 struct error *err)
{
	int r = hash_file(fd, hex);
	if (r < 0)
		return error_set(err, -r, "%s: %s", STORE_LOG, strerror(-r));
	if (mkdirat(store->dirfd, REPAIR_FOLDER, 0700) != 0 && errno != EEXIST)
		return error_set(err, errno, "%s: %s", REPAIR_FOLDER, strerror(errno));
	snprintf(ret->log, sizeof(ret->log), REPAIR_FOLDER "/audit_log-%" PRId64 ".jsonl",
		 io_wall_ns() / 1000000);
	if (renameat2(store->dirfd, STORE_LOG, store->dirfd, ret->log, RENAME_NOREPLACE) != 0) {
		r = error_set(err, errno, "%s: cannot set aside: %s", STORE_LOG, strerror(errno));
		ret->log[0] = '\0';
	}
	return r < 0 ? r : store_sync_dir(store, err);
}

static int look_at_log(const struct store *store, struct repair *ret, char *hex, struct error *err)
{
	_cleanup_close_ int lock = -1;
	_cleanup_close_ int fd = -1;
	struct tail tail;
	int r = store_lock(store, STORE_LOG_LOCK, STORE_LOG_WAIT_NS, &lock, err);
	if (r == 0)
		r = segment_open(store, STORE_LOG, &fd, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = tail_read(fd, &tail, err);
	if (r == -EBADMSG)
		return set_log_aside(store, fd, ret, hex, err);
	if (r == 0)
		ret->torn = tail.size - tail.good;
	return r;
}

int repair_log(const struct store *store, struct repair *ret, struct error *err)
{
	char hex[CHAIN_HEX + 1] = "", note[NAME_MAX + CHAIN_HEX + 40];
	ret->torn = 0;
	ret->log[0] = '\0';
	int r = look_at_log(store, ret, hex, err);
	if (r < 0 || (ret->torn == 0 && ret->log[0] == '\0'))
		return r;
	snprintf(note, sizeof(note), "\"file\":\"%s\",\"sha256\":\"%s\"", ret->log, hex);
	return log_mend(store, ret->log[0] ? note : NULL, err);
}

/* ---- the database ----------------------------------------------------------------------- */

static bool is_sound(const struct store *store, struct error *err)
{
	_cleanup_db_ sqlite3 *db = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct ingest_place place;
	int r = db_open(store, DB_READ, &db, err);
	if (r == 0)
		r = ingest_place(store, db, &place, err);
	if (r == -ENOENT)
		return true; /* made with the next record */
	if (r < 0 || place.foreign)
		return false;
	return sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
	       sqlite3_step(stmt) == SQLITE_ROW &&
	       strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
}

int repair_index(const struct store *store, struct repair *ret, struct error *err)
{
	ret->database[0] = '\0';
	if (access(store->db, F_OK) != 0 || is_sound(store, err))
		return ingest_drain(store, INGEST_NO_LIMIT, err) < 0 ? -EIO : 0;
	return ingest_rebuild(store, ret->database, err);
}
