/* chain.c - framing and hashing log lines. */
#include <config.h>

#include "chain.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOMAIN "pawl/audit/v1"
#define HEAD "{\"v\":"
#define SEQ ",\"seq\":"
#define PREV ",\"prev\":\""
#define CLOSE "\""
#define HASH ",\"h\":\""
#define END "\"}"
/* what is not hashed: ,"h":"HEX"} */
#define UNHASHED (sizeof(HASH) - 1 + CHAIN_HEX + sizeof(END) - 1)
/* ,"prev":"HEX","h":"HEX"} */
#define TAIL_LEN (sizeof(PREV) - 1 + CHAIN_HEX + sizeof(CLOSE) - 1 + UNHASHED)

_Static_assert(CHAIN_HASH == crypto_hash_sha256_BYTES, "the chain is SHA-256");

/* Hashes are no secrets: libsodium's own, which takes the same time for all digits, takes
 * ten times as long as a record's other text. */
void chain_hex(const uint8_t *hash, char buf[CHAIN_HEX + 1])
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < CHAIN_HASH; i++) {
		buf[2 * i] = digits[hash[i] >> 4];
		buf[2 * i + 1] = digits[hash[i] & 15];
	}
	buf[CHAIN_HEX] = '\0';
}

void chain_digest(struct str bytes, char buf[CHAIN_DIGEST_MAX])
{
	uint8_t hash[CHAIN_HASH];
	crypto_hash_sha256(hash, (const unsigned char *)bytes.ptr, bytes.len);
	memcpy(buf, "sha256:", 7);
	chain_hex(hash, buf + 7);
}

void chain_begin(struct chain *chain, struct str chain_id)
{
	chain->seq = 0;
	crypto_hash_sha256(chain->head, (const unsigned char *)chain_id.ptr, chain_id.len);
}

static void hash_line(const uint8_t prev[CHAIN_HASH], struct str text, uint8_t ret[CHAIN_HASH])
{
	crypto_hash_sha256_state state;
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const unsigned char *)DOMAIN, sizeof(DOMAIN) - 1);
	crypto_hash_sha256_update(&state, prev, CHAIN_HASH);
	crypto_hash_sha256_update(&state, (const unsigned char *)text.ptr, text.len);
	crypto_hash_sha256_final(&state, ret);
}

int chain_add(struct chain *chain, struct str body, char **text, size_t *len, struct error *err)
{
	size_t room = body.len + TAIL_LEN + 64;
	if (room > CHAIN_LINE_MAX)
		return error_set(err, E2BIG, "a record of %zu bytes is too large", body.len);
	char *grown = realloc(*text, *len + room);
	if (!grown)
		return error_set(err, ENOMEM, "out of memory");
	*text = grown;
	char hex[CHAIN_HEX + 1], *line = grown + *len;
	size_t at =
	    (size_t)sprintf(line, HEAD "%d" SEQ "%" PRIu64 ",", CHAIN_VERSION, chain->seq + 1);
	memcpy(line + at, body.ptr, body.len);
	at += body.len;
	chain_hex(chain->head, hex);
	at += (size_t)sprintf(line + at, PREV "%s" CLOSE, hex);
	hash_line(chain->head, (struct str){line, at}, chain->head);
	chain_hex(chain->head, hex);
	at += (size_t)sprintf(line + at, HASH "%s" END "\n", hex);
	chain->seq++;
	*len += at;
	return 0;
}

static bool read_number(struct str *text, uint64_t *ret)
{
	uint64_t n = 0;
	size_t i = 0;
	for (; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++) {
		if (n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(text->ptr[i] - '0');
	}
	if (i == 0)
		return false;
	*text = str_after(*text, i);
	*ret = n;
	return true;
}

static bool skip(struct str *text, struct str word)
{
	if (!str_starts(*text, word))
		return false;
	*text = str_after(*text, word.len);
	return true;
}

/* Each digit's value and one, 0 for what is none. */
static const uint8_t digit_values[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,
	['7'] = 8,  ['8'] = 9,	['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14,
	['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15,
	['F'] = 16,
};

static bool read_hash(struct str *text, uint8_t ret[CHAIN_HASH])
{
	const unsigned char *hex = (const unsigned char *)text->ptr;
	if (text->len < CHAIN_HEX)
		return false;
	for (size_t i = 0; i < CHAIN_HASH; i++) {
		unsigned high = digit_values[hex[2 * i]], low = digit_values[hex[2 * i + 1]];
		if (high == 0 || low == 0)
			return false;
		ret[i] = (uint8_t)((high - 1) << 4 | (low - 1));
	}
	*text = str_after(*text, CHAIN_HEX);
	return true;
}

static bool read_frame(struct str line, uint8_t prev[CHAIN_HASH], struct chain *ret)
{
	uint64_t version;
	struct str at = line;
	if (!skip(&at, STR(HEAD)) || !read_number(&at, &version) || version != CHAIN_VERSION ||
	    !skip(&at, STR(SEQ)) || !read_number(&at, &ret->seq) || at.len < TAIL_LEN)
		return false;
	at = str_after(at, at.len - TAIL_LEN);
	return skip(&at, STR(PREV)) && read_hash(&at, prev) && skip(&at, STR(CLOSE HASH)) &&
	       read_hash(&at, ret->head) && str_equal(at, STR(END));
}

bool chain_read(struct str line, struct chain *ret)
{
	uint8_t prev[CHAIN_HASH];
	return read_frame(line, prev, ret);
}

bool chain_check(struct str line, struct chain *before, struct chain *ret)
{
	uint8_t hash[CHAIN_HASH];
	if (!read_frame(line, before->head, ret) || ret->seq == 0) {
		before->seq = ret->seq = 0;
		return false;
	}
	before->seq = ret->seq - 1;
	hash_line(before->head, (struct str){line.ptr, line.len - UNHASHED}, hash);
	return memcmp(hash, ret->head, CHAIN_HASH) == 0;
}

bool chain_follows(struct str line, const struct chain *before)
{
	struct chain own, after;
	return chain_check(line, &own, &after) && own.seq == before->seq &&
	       memcmp(own.head, before->head, CHAIN_HASH) == 0;
}
