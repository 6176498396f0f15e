/* redact.c - walks a value, and copies what lies between the secrets. */
#include <config.h>

#include "redact.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <regex.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define MASK "[redacted]"
#define NAME_LONGEST 128 /* a member's name, for comparing */
#define NESTED_MAX 4     /* JSON in a string in JSON in a string ... */
#define PATH_LONGEST 1024

enum with { WITH_MASK, WITH_HMAC, WITH_DROP };

struct redact {
	enum with with;
	bool defaults, has_key;
	uint8_t key[crypto_auth_hmacsha256_KEYBYTES];
	char kid[9];
	char *names[REDACT_LIST_MAX], *pointers[REDACT_LIST_MAX];
	regex_t patterns[REDACT_LIST_MAX];
	size_t n_names, n_pointers, n_patterns;
};

/* ---- what is a secret unless the owner says otherwise ----------------------------------- */

/* Names are compared in lower case and without "-", "_" and spaces. */
static const char *const default_names[] = {
	"*password*", "*passwd*",	"*passphrase*",	  "*secret*",	   "*apikey*",
	"*privatekey*", "*accesskey*", "*accesstoken*", "*refreshtoken*", "*authtoken*",
	"*authorization*", "*credential*", "token",	"idtoken",	 "sessiontoken",
	"cookie",	"setcookie",	"pwd",		  "bearer",
};

/* What follows a prefix and is at least so long is a secret. */
static const struct {
	const char *prefix;
	bool keep_prefix;
	size_t min;
	const char *more; /* than letters and digits */
} shapes[] = {
	{"AKIA", false, 16, ""},	    {"ASIA", false, 16, ""},
	{"ghp_", false, 20, "_"},	    {"gho_", false, 20, "_"},
	{"ghu_", false, 20, "_"},	    {"ghs_", false, 20, "_"},
	{"ghr_", false, 20, "_"},	    {"github_pat_", false, 20, "_"},
	{"glpat-", false, 16, "-_"},	    {"sk-", false, 20, "-_"},
	{"xoxb-", false, 10, "-"},	    {"xoxp-", false, 10, "-"},
	{"xoxa-", false, 10, "-"},	    {"eyJ", false, 40, "-_."},
	{"Bearer ", true, 8, "-._~+/="},    {"bearer ", true, 8, "-._~+/="},
	{"Basic ", true, 8, "+/="},
	{"-----BEGIN ", false, 40, "-+/= \n\r"},
};

/* ---- options ------------------------------------------------------------------------------ */

static void plain_name(struct str name, char buf[NAME_LONGEST])
{
	size_t n = 0;
	for (size_t i = 0; i < name.len && n < NAME_LONGEST - 1; i++)
		if (!strchr("-_ ", name.ptr[i]) || name.ptr[i] == '\0')
			buf[n++] = (char)tolower((unsigned char)name.ptr[i]);
	buf[n] = '\0';
}

static int add_name(struct redact *r, struct str text, struct error *err)
{
	char name[NAME_LONGEST];
	plain_name(text, name);
	r->names[r->n_names] = strdup(name);
	return r->names[r->n_names++] ? 0 : error_set(err, ENOMEM, "out of memory");
}

static int add_pointer(struct redact *r, struct str text, struct error *err)
{
	if (text.len > 0 && text.ptr[0] != '/')
		return error_set(err, EINVAL, "redact.pointers: \"%.*s\" does not begin with \"/\"",
				 STR_FMT(text));
	r->pointers[r->n_pointers] = strndup(text.ptr, text.len);
	return r->pointers[r->n_pointers++] ? 0 : error_set(err, ENOMEM, "out of memory");
}

static int add_pattern(struct redact *r, struct str text, struct error *err)
{
	char why[160];
	_cleanup_free_ char *pattern = strndup(text.ptr, text.len);
	if (!pattern)
		return error_set(err, ENOMEM, "out of memory");
	int code = regcomp(&r->patterns[r->n_patterns], pattern, REG_EXTENDED);
	if (code != 0) {
		regerror(code, &r->patterns[r->n_patterns], why, sizeof(why));
		return error_set(err, EINVAL, "redact.patterns: \"%s\": %s", pattern, why);
	}
	r->n_patterns++;
	return 0;
}

static int add_list(struct redact *r, const struct json_value *list, const char *name,
		    int (*add)(struct redact *, struct str, struct error *), struct error *err)
{
	struct str text;
	int code = 0;
	if (json_type(list) != JSON_ARRAY || json_length(list) > REDACT_LIST_MAX)
		return error_set(err, EINVAL, "redact.%s: takes a list of at most %d texts", name,
				 REDACT_LIST_MAX);
	for (size_t i = 0; code == 0 && i < json_length(list); i++)
		code = json_string(json_item(list, i), &text) == 0
			       ? add(r, text, err)
			       : error_set(err, EINVAL, "redact.%s: takes texts", name);
	return code;
}

static int take_with(struct redact *r, const struct json_value *value, struct error *err)
{
	static const char *const names[] = {"mask", "hmac", "drop"};
	struct str text = {"", 0};
	(void)json_string(value, &text);
	for (size_t i = 0; i < 3; i++)
		if (str_is(text, names[i])) {
			r->with = (enum with)i;
			return 0;
		}
	return error_set(err, EINVAL, "redact.with: takes \"mask\", \"hmac\" or \"drop\"");
}

static int take_option(struct redact *r, struct str name, const struct json_value *value,
		       struct error *err)
{
	int flag;
	if (str_is(name, "keys"))
		return add_list(r, value, "keys", add_name, err);
	if (str_is(name, "pointers"))
		return add_list(r, value, "pointers", add_pointer, err);
	if (str_is(name, "patterns"))
		return add_list(r, value, "patterns", add_pattern, err);
	if (str_is(name, "with"))
		return take_with(r, value, err);
	if (!str_is(name, "defaults"))
		return error_set(err, EINVAL,
				 "redact: unknown key \"%.*s\"; known are keys, pointers, "
				 "patterns, with, defaults",
				 STR_FMT(name));
	if (json_boolean(value, &flag) < 0)
		return error_set(err, EINVAL, "redact.defaults: takes true or false");
	r->defaults = flag;
	return 0;
}

int redact_new(const struct json_value *options, struct redact **ret, struct error *err)
{
	struct redact *r = calloc(1, sizeof(*r));
	int code = r ? 0 : error_set(err, ENOMEM, "out of memory");
	if (code == 0 && options && json_type(options) != JSON_OBJECT)
		code = error_set(err, EINVAL, "redact: takes an object");
	if (r)
		r->defaults = true;
	for (size_t i = 0; code == 0 && i < json_length(options); i++) {
		const struct json_value *value;
		struct str name = json_key(options, i, &value);
		code = take_option(r, name, value, err);
	}
	if (code < 0)
		redact_free(r);
	else
		*ret = r;
	return code;
}

void redact_free(struct redact *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	for (size_t i = 0; i < r->n_pointers; i++)
		free(r->pointers[i]);
	for (size_t i = 0; i < r->n_patterns; i++)
		regfree(&r->patterns[i]);
	sodium_memzero(r->key, sizeof(r->key));
	free(r);
}

/* ---- the key --------------------------------------------------------------------------------- */

bool redact_hashes(const struct redact *r)
{
	return r->with == WITH_HMAC;
}

static int make_key(const struct store *store, struct error *err)
{
	uint8_t key[crypto_auth_hmacsha256_KEYBYTES];
	char hex[2 * sizeof(key) + 1], name[64];
	randombytes_buf(key, sizeof(key));
	sodium_bin2hex(hex, sizeof(hex), key, sizeof(key));
	/* Whole or not at all: another process may read it at once. */
	snprintf(name, sizeof(name), REDACT_KEY ".%d", (int)getpid());
	_cleanup_close_ int fd = openat(store->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					STORE_OWN_MODE);
	if (fd >= 0)
		store_share(store, fd);
	int r = fd < 0 ? -errno : io_write_all(fd, hex, sizeof(hex) - 1);
	if (r == 0 && fsync(fd) != 0)
		r = -errno;
	if (r == 0 && linkat(store->dirfd, name, store->dirfd, REDACT_KEY, 0) != 0 &&
	    errno != EEXIST)
		r = -errno;
	if (fd >= 0)
		(void)unlinkat(store->dirfd, name, 0);
	return r < 0 ? error_set(err, -r, "%s/%s: %s", store->dir, REDACT_KEY, strerror(-r))
		     : store_sync_dir(store, err);
}

static int read_key(struct redact *r, const struct store *store, struct error *err)
{
	char hex[2 * sizeof(r->key)];
	uint8_t hash[crypto_hash_sha256_BYTES];
	size_t len = 0;
	_cleanup_close_ int fd =
	    openat(store->dirfd, REDACT_KEY, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT
				       : error_set(err, errno, "%s/%s: %s", store->dir, REDACT_KEY,
						   strerror(errno));
	if (read(fd, hex, sizeof(hex)) != sizeof(hex) ||
	    sodium_hex2bin(r->key, sizeof(r->key), hex, sizeof(hex), NULL, &len, NULL) != 0 ||
	    len != sizeof(r->key))
		return error_set(err, EBADMSG, "%s/%s: not a key", store->dir, REDACT_KEY);
	crypto_hash_sha256(hash, r->key, sizeof(r->key));
	sodium_bin2hex(r->kid, sizeof(r->kid), hash, 4);
	r->has_key = true;
	return 0;
}

int redact_key(struct redact *r, const struct store *store, struct error *err)
{
	if (r->has_key)
		return 0;
	int code = read_key(r, store, err);
	if (code == -ENOENT && (code = make_key(store, err)) == 0)
		code = read_key(r, store, err);
	return code;
}

void redact_hash(const struct redact *r, struct str value, char buf[REDACT_HASH_MAX])
{
	uint8_t mac[crypto_auth_hmacsha256_BYTES];
	crypto_auth_hmacsha256(mac, (const uint8_t *)value.ptr, value.len, r->key);
	int n = snprintf(buf, REDACT_HASH_MAX, "hmac-sha256:%s:", r->kid);
	sodium_bin2hex(buf + n, REDACT_HASH_MAX - (size_t)n, mac, sizeof(mac));
}

/* ---- output ------------------------------------------------------------------------------------ */

struct out {
	char *text;
	size_t len, room;
	bool failed, changed;
};

static void put(struct out *out, struct str text)
{
	if (out->len + text.len > out->room) {
		size_t room = 2 * (out->len + text.len) + 256;
		char *grown = out->failed ? NULL : realloc(out->text, room);
		if (!grown) {
			out->failed = true;
			return;
		}
		out->text = grown;
		out->room = room;
	}
	if (text.len > 0)
		memcpy(out->text + out->len, text.ptr, text.len);
	out->len += text.len;
}

/* What stands for a secret; value is its text, or its JSON where it is none. */
static void put_secret(const struct redact *r, struct out *out, struct str value)
{
	char hash[REDACT_HASH_MAX];
	if (r->with == WITH_HMAC) {
		redact_hash(r, value, hash);
		put(out, str_of(hash));
	} else if (r->with == WITH_MASK) {
		put(out, STR(MASK));
	}
	out->changed = true;
}

static int finish(struct out *out, struct json_arena *arena, struct str *ret, struct error *err)
{
	int r = out->failed ? error_set(err, ENOMEM, "out of memory") : 0;
	if (r == 0 && out->changed) {
		*ret = json_arena_text(arena, (struct str){out->text ? out->text : "", out->len});
		if (!ret->ptr)
			r = error_set(err, ENOMEM, "out of memory");
	}
	free(out->text);
	return r;
}

/* ---- text -------------------------------------------------------------------------------------- */

/* Where a secret of a known shape begins at or after from; *ret_end behind it. */
static size_t next_shape(struct str text, size_t from, size_t *ret_end)
{
	size_t best = text.len;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t len = strlen(shapes[i].prefix), at = from;
		const char *hit;
		while (at < best &&
		       (hit = memmem(text.ptr + at, text.len - at, shapes[i].prefix, len))) {
			size_t begin = (size_t)(hit - text.ptr), end = begin + len;
			while (end < text.len && text.ptr[end] != '\0' &&
			       (isalnum((unsigned char)text.ptr[end]) ||
				strchr(shapes[i].more, text.ptr[end])))
				end++;
			bool inside = begin > 0 && isalnum((unsigned char)text.ptr[begin - 1]);
			at = begin + 1;
			if (inside || end - begin - len < shapes[i].min)
				continue;
			begin += shapes[i].keep_prefix ? len : 0;
			if (begin < best) {
				best = begin;
				*ret_end = end;
			}
			break;
		}
	}
	return best;
}

/* The same for the owner's patterns. */
static size_t next_pattern(const struct redact *r, struct str text, size_t from, size_t *ret_end)
{
	size_t best = text.len;
	for (size_t i = 0; i < r->n_patterns; i++) {
		regmatch_t match = {(regoff_t)from, (regoff_t)text.len};
		if (regexec(&r->patterns[i], text.ptr, 1, &match,
			    REG_STARTEND | (from > 0 ? REG_NOTBOL : 0)) == 0 &&
		    match.rm_eo > match.rm_so && (size_t)match.rm_so < best) {
			best = (size_t)match.rm_so;
			*ret_end = (size_t)match.rm_eo;
		}
	}
	return best;
}

static void search(const struct redact *r, struct out *out, struct str text)
{
	size_t at = 0;
	if (r->n_patterns > 0 && text.len > REDACT_SEARCH_MAX) {
		put_secret(r, out, text); /* not looked through: not written */
		return;
	}
	while (at < text.len) {
		size_t end = text.len, other_end = text.len;
		size_t begin = r->defaults ? next_shape(text, at, &end) : text.len;
		size_t other = next_pattern(r, text, at, &other_end);
		if (other < begin) {
			begin = other;
			end = other_end;
		}
		put(out, (struct str){text.ptr + at, begin - at});
		if (begin == text.len)
			return;
		put_secret(r, out, (struct str){text.ptr + begin, end - begin});
		at = end;
	}
}

int redact_text(const struct redact *r, struct json_arena *arena, struct str *text,
		struct error *err)
{
	struct out out = {NULL, 0, 0, false, false};
	if (!text->ptr)
		return 0;
	search(r, &out, *text);
	return finish(&out, arena, text, err);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

struct walk {
	const struct redact *redact;
	struct json_arena *arena;
	struct out out;
	const char *copied; /* the original up to here is in out */
	char path[PATH_LONGEST];
	size_t path_len;
	int nested;
	struct error *err;
};

static bool is_secret_name(const struct redact *r, struct str name)
{
	char plain[NAME_LONGEST];
	plain_name(name, plain);
	for (size_t i = 0; r->defaults && i < sizeof(default_names) / sizeof(default_names[0]); i++)
		if (fnmatch(default_names[i], plain, 0) == 0)
			return true;
	for (size_t i = 0; i < r->n_names; i++)
		if (fnmatch(r->names[i], plain, 0) == 0)
			return true;
	return false;
}

/* A pointer's part "*" stands for any one member or item. */
static bool pointer_matches(const char *pointer, const char *path)
{
	while (*pointer == '/' && *path == '/') {
		size_t n = strcspn(++pointer, "/"), m = strcspn(++path, "/");
		if (!(n == 1 && *pointer == '*') && (n != m || memcmp(pointer, path, n) != 0))
			return false;
		pointer += n;
		path += m;
	}
	return *pointer == '\0' && *path == '\0';
}

static bool is_secret_place(const struct walk *walk)
{
	for (size_t i = 0; i < walk->redact->n_pointers; i++)
		if (pointer_matches(walk->redact->pointers[i], walk->path))
			return true;
	return false;
}

static size_t enter(struct walk *walk, struct str name)
{
	size_t before = walk->path_len;
	size_t n = before;
	if (walk->redact->n_pointers == 0)
		return before;
	if (n < PATH_LONGEST - 1)
		walk->path[n++] = '/';
	for (size_t i = 0; i < name.len && n < PATH_LONGEST - 3; i++) {
		bool special = name.ptr[i] == '~' || name.ptr[i] == '/';
		if (special)
			walk->path[n++] = '~';
		walk->path[n++] = special ? (name.ptr[i] == '~' ? '0' : '1') : name.ptr[i];
	}
	walk->path[n] = '\0';
	walk->path_len = n;
	return before;
}

static void leave(struct walk *walk, size_t before)
{
	walk->path_len = before;
	walk->path[before] = '\0';
}

/* Puts json in the place of value. */
static void replace(struct walk *walk, const struct json_value *value, struct str json)
{
	struct str raw = json_raw(value);
	put(&walk->out, (struct str){walk->copied, (size_t)(raw.ptr - walk->copied)});
	put(&walk->out, json);
	walk->copied = raw.ptr + raw.len;
	walk->out.changed = true;
}

static void replace_secret(struct walk *walk, const struct json_value *value)
{
	struct out secret = {NULL, 0, 0, false, false};
	struct str text = json_raw(value);
	(void)json_string(value, &text);
	put_secret(walk->redact, &secret, text);
	struct str quoted =
	    json_quote(walk->arena, (struct str){secret.text ? secret.text : "", secret.len});
	walk->out.failed |= secret.failed || !quoted.ptr;
	if (walk->redact->with == WITH_DROP)
		quoted = STR("null");
	replace(walk, value, quoted);
	free(secret.text);
}

static int redact_nested(const struct redact *r, struct json_arena *arena, struct str *json,
			 int nested, struct error *err);

static void walk_string(struct walk *walk, const struct json_value *value)
{
	struct out out = {NULL, 0, 0, false, false};
	struct str text, inner;
	if (json_string(value, &text) < 0)
		return;
	inner = text;
	if (walk->nested < NESTED_MAX && text.len > 1 && strchr("{[", text.ptr[0]) &&
	    redact_nested(walk->redact, walk->arena, &inner, walk->nested + 1, NULL) == 0 &&
	    inner.ptr != text.ptr) {
		text = inner;
		out.changed = true;
	}
	search(walk->redact, &out, text);
	if (out.changed) {
		struct str quoted =
		    json_quote(walk->arena, (struct str){out.text ? out.text : "", out.len});
		walk->out.failed |= !quoted.ptr;
		replace(walk, value, quoted);
	}
	walk->out.failed |= out.failed;
	free(out.text);
}

static void walk_value(struct walk *walk, const struct json_value *value)
{
	enum json_type type = json_type(value);
	if (walk->redact->n_pointers > 0 && is_secret_place(walk)) {
		replace_secret(walk, value);
		return;
	}
	if (type == JSON_STRING)
		walk_string(walk, value);
	for (size_t i = 0; (type == JSON_ARRAY || type == JSON_OBJECT) && i < json_length(value);
	     i++) {
		const struct json_value *child = NULL;
		char index[24];
		snprintf(index, sizeof(index), "%zu", i);
		struct str name =
		    type == JSON_OBJECT ? json_key(value, i, &child) : str_of(index);
		if (type == JSON_ARRAY)
			child = json_item(value, i);
		size_t before = enter(walk, name);
		if (type == JSON_OBJECT && json_type(child) != JSON_NULL &&
		    is_secret_name(walk->redact, name))
			replace_secret(walk, child);
		else
			walk_value(walk, child);
		leave(walk, before);
	}
}

static int redact_nested(const struct redact *r, struct json_arena *arena, struct str *json,
			 int nested, struct error *err)
{
	const struct json_value *root;
	struct walk walk = {.redact = r, .arena = arena, .copied = json->ptr, .nested = nested};
	int code = json_parse(arena, *json, JSON_DEFAULT_LIMITS, JSON_BORROW, &root, NULL, err);
	if (code < 0)
		return code;
	walk.copied = json->ptr;
	walk_value(&walk, root);
	put(&walk.out, (struct str){walk.copied, (size_t)(json->ptr + json->len - walk.copied)});
	return finish(&walk.out, arena, json, err);
}

int redact_json(const struct redact *r, struct json_arena *arena, struct str *json,
		struct error *err)
{
	char text[80];
	if (!json->ptr)
		return 0;
	int code = redact_nested(r, arena, json, 0, NULL);
	if (code == 0)
		return 0;
	snprintf(text, sizeof(text), "{\"redacted\":\"could not be read\",\"size\":%zu}",
		 json->len);
	*json = json_arena_text(arena, str_of(text));
	return json->ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}
