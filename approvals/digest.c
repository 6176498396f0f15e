/* digest.c - see digest.h. */
#include <config.h>

#include "digest.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DOMAIN "pawl/approval/v1"

typedef crypto_hash_sha256_state sha256;

static void put(sha256 *hash, struct str text)
{
	crypto_hash_sha256_update(hash, (const unsigned char *)text.ptr, text.len);
}

static void finish(sha256 *hash, char ret[DIGEST_HEX + 1])
{
	unsigned char bytes[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_final(hash, bytes);
	sodium_bin2hex(ret, DIGEST_HEX + 1, bytes, sizeof(bytes));
}

/* ---- canonical JSON ---------------------------------------------------------------- */

static void put_escape(sha256 *hash, unsigned char c)
{
	static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char text[8];
	for (const char *at = shorts; *at; at += 2) {
		if ((unsigned char)at[0] != c)
			continue;
		text[0] = '\\';
		text[1] = at[1];
		put(hash, (struct str){text, 2});
		return;
	}
	put(hash, (struct str){text, (size_t)snprintf(text, sizeof(text), "\\u%04x", c)});
}

static void put_string(sha256 *hash, struct str text)
{
	size_t plain = 0;
	put(hash, STR("\""));
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		put(hash, (struct str){text.ptr + plain, i - plain});
		put_escape(hash, c);
		plain = i + 1;
	}
	if (text.len > plain)
		put(hash, (struct str){text.ptr + plain, text.len - plain});
	put(hash, STR("\""));
}

struct member {
	struct str name;
	const struct json_value *value;
};

static int by_name(const void *one, const void *two)
{
	const struct member *a = one, *b = two;
	size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
	int r = len > 0 ? memcmp(a->name.ptr, b->name.ptr, len) : 0;
	return r != 0 ? r : (a->name.len > b->name.len) - (a->name.len < b->name.len);
}

static int put_value(sha256 *hash, const struct json_value *value);

static int put_object(sha256 *hash, const struct json_value *object)
{
	size_t n = json_length(object);
	_cleanup_free_ struct member *members = calloc(n + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		members[i].name = json_key(object, i, &members[i].value);
	qsort(members, n, sizeof(*members), by_name);
	put(hash, STR("{"));
	for (size_t i = 0; i < n; i++) {
		put(hash, i > 0 ? STR(",") : STR(""));
		put_string(hash, members[i].name);
		put(hash, STR(":"));
		int r = put_value(hash, members[i].value);
		if (r < 0)
			return r;
	}
	put(hash, STR("}"));
	return 0;
}

static int put_array(sha256 *hash, const struct json_value *array)
{
	int r = 0;
	put(hash, STR("["));
	for (size_t i = 0; r == 0 && i < json_length(array); i++) {
		put(hash, i > 0 ? STR(",") : STR(""));
		r = put_value(hash, json_item(array, i));
	}
	put(hash, STR("]"));
	return r;
}

/* As deep as the reader went: JSON_DEPTH_MAX. */
static int put_value(sha256 *hash, const struct json_value *value)
{
	struct str text;
	switch (json_type(value)) {
	case JSON_OBJECT:
		return put_object(hash, value);
	case JSON_ARRAY:
		return put_array(hash, value);
	case JSON_STRING:
		json_string(value, &text);
		put_string(hash, text);
		return 0;
	default:
		put(hash, value ? json_raw(value) : STR("null"));
		return 0;
	}
}

/* ---- what is digested ---------------------------------------------------------------- */

static void put_text(sha256 *hash, struct str name, struct str text)
{
	put(hash, name);
	if (text.ptr)
		put_string(hash, text);
	else
		put(hash, STR("null"));
}

int digest_request(const struct approval_request *request, char ret[DIGEST_HEX + 1])
{
	sha256 hash;
	crypto_hash_sha256_init(&hash);
	put(&hash, (struct str){DOMAIN, sizeof(DOMAIN)}); /* with its NUL */
	put(&hash, STR("{\"args\":"));
	int r = put_value(&hash, request->args);
	put(&hash, STR(",\"context\":"));
	if (r == 0)
		r = put_value(&hash, request->context);
	put_text(&hash, STR(",\"server\":"), request->server);
	put_text(&hash, STR(",\"session\":"), request->session);
	put_text(&hash, STR(",\"source\":"), request->source);
	put_text(&hash, STR(",\"tool\":"), request->tool);
	put(&hash, STR("}"));
	finish(&hash, ret);
	return r;
}

void digest_bytes(struct str bytes, char ret[DIGEST_HEX + 1])
{
	sha256 hash;
	crypto_hash_sha256_init(&hash);
	put(&hash, bytes);
	finish(&hash, ret);
}

int digest_file(int fd, char ret[DIGEST_HEX + 1])
{
	sha256 hash;
	char buf[65536];
	off_t at = 0;
	crypto_hash_sha256_init(&hash);
	for (;;) {
		ssize_t n = pread(fd, buf, sizeof(buf), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		put(&hash, (struct str){buf, (size_t)n});
		at += n;
	}
	finish(&hash, ret);
	return 0;
}

bool digest_named(const char *digest, struct str prefix)
{
	if (str_starts(prefix, STR("sha256:")))
		prefix = str_after(prefix, 7);
	return prefix.len >= DIGEST_PREFIX_MIN && prefix.len <= DIGEST_HEX &&
	       strncasecmp(digest, prefix.ptr, prefix.len) == 0;
}
