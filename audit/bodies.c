/* bodies.c - appending, reading and overwriting. */
#include <config.h>

#include "bodies.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "chain.h"

void bodies_name(int64_t first, char buf[BODIES_NAME_MAX])
{
	snprintf(buf, BODIES_NAME_MAX, "audit_bodies-%" PRId64 ".jsonl", first);
}

static int failed(const struct store *store, const char *name, int code, struct error *err)
{
	return error_set(err, code, "%s/%s: %s", store->dir, name, strerror(code));
}

int bodies_append(const struct store *store, int64_t first, struct str text, int64_t *ret_at,
		  struct error *err)
{
	char name[BODIES_NAME_MAX];
	_cleanup_close_ int fd = -1;
	struct stat st;
	bool made = false;
	bodies_name(first, name);
	int r = store_file(store, name, STORE_READ_MODE, &fd, &made, err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) != 0)
		return failed(store, name, errno, err);
	ssize_t n;
	do
		n = pwrite(fd, text.ptr, text.len, st.st_size);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)text.len) {
		r = n < 0 ? errno : ENOSPC;
		if (n > 0 && ftruncate(fd, st.st_size) != 0)
			r = errno;
		return failed(store, name, r, err);
	}
	if (store->sync && fdatasync(fd) != 0)
		return failed(store, name, errno, err);
	*ret_at = st.st_size;
	return made ? store_sync_dir(store, err) : 0;
}

int bodies_cut(const struct store *store, int64_t first, int64_t at)
{
	char name[BODIES_NAME_MAX];
	bodies_name(first, name);
	_cleanup_close_ int fd = openat(store->dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 && ftruncate(fd, at) == 0 ? 0 : -errno;
}

/* The bytes as they are now; *ret NULL when the file is not there or is shorter. */
static int read_place(const struct store *store, int64_t first, const struct event *event,
		      struct json_arena *arena, struct str *ret, struct error *err)
{
	char name[BODIES_NAME_MAX];
	*ret = (struct str){NULL, 0};
	bodies_name(first, name);
	_cleanup_close_ int fd =
	    openat(store->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : failed(store, name, errno, err);
	_cleanup_free_ char *text = malloc((size_t)event->aside_len + 1);
	if (!text)
		return error_set(err, ENOMEM, "out of memory");
	ssize_t n = pread(fd, text, (size_t)event->aside_len, event->aside_at);
	if (n < 0)
		return failed(store, name, errno, err);
	if (n < event->aside_len)
		return 0;
	*ret = json_arena_text(arena, (struct str){text, (size_t)n});
	return ret->ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

static bool is_blank(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] != ' ' && text.ptr[i] != '\n')
			return false;
	return true;
}

static bool right(struct str json, struct str digest)
{
	char is[CHAIN_DIGEST_MAX];
	if (!json.ptr)
		return true; /* left out: not captured, or too large */
	chain_digest(json, is);
	return str_is(digest, is);
}

/* A value over the cap is a marker with a digest of its own. */
static bool is_marker(const struct json_value *value, struct str digest)
{
	struct str sha256;
	return json_string(json_member(value, STR("sha256")), &sha256) == 0 &&
	       str_starts(digest, STR("sha256:")) && str_equal(str_after(digest, 7), sha256);
}

int bodies_fill(const struct store *store, int64_t first, struct json_arena *arena,
		struct event *event, enum bodies_state *ret_state, struct error *err)
{
	const struct json_value *root;
	struct str text, id = {NULL, 0}, given_digest = {NULL, 0};
	*ret_state = BODIES_NONE;
	if (event->aside_len <= 0)
		return 0;
	int r = read_place(store, first, event, arena, &text, err);
	if (r < 0)
		return r;
	*ret_state = text.ptr && is_blank(text) ? BODIES_ERASED : BODIES_WRONG;
	if (!text.ptr || json_parse(arena, text, JSON_DEFAULT_LIMITS, JSON_BORROW, &root, NULL,
				    NULL) < 0)
		return 0;
	const struct json_value *input = json_member(root, STR("input")),
				*given = json_member(root, STR("input_given")),
				*result = json_member(root, STR("result"));
	(void)json_string(json_member(root, STR("id")), &id);
	(void)json_string(json_member(event->root, STR("input_given_digest")), &given_digest);
	if (!str_equal(id, event->id) ||
	    !(right(json_raw(input), event->input_digest) ||
	      is_marker(input, event->input_digest)) ||
	    !(right(json_raw(given), given_digest) || is_marker(given, given_digest)) ||
	    !(right(json_raw(result), event->result_digest) ||
	      is_marker(result, event->result_digest)))
		return 0;
	*ret_state = BODIES_THERE;
	event->input = json_raw(input);
	event->input_given = json_raw(given);
	event->result = json_raw(result);
	return 0;
}

int bodies_erase(const struct store *store, int64_t first, const struct event *event,
		 struct error *err)
{
	char name[BODIES_NAME_MAX], spaces[4096];
	bodies_name(first, name);
	if (event->aside_len <= 0)
		return 0;
	_cleanup_close_ int fd = openat(store->dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : failed(store, name, errno, err);
	memset(spaces, ' ', sizeof(spaces));
	int64_t end = event->aside_at + event->aside_len - 1; /* the newline stays */
	for (int64_t at = event->aside_at; at < end;) {
		size_t len = end - at < (int64_t)sizeof(spaces) ? (size_t)(end - at)
								: sizeof(spaces);
		ssize_t n = pwrite(fd, spaces, len, at);
		if (n <= 0)
			return failed(store, name, n < 0 ? errno : EIO, err);
		at += n;
	}
	return fdatasync(fd) == 0 ? 1 : failed(store, name, errno, err);
}
