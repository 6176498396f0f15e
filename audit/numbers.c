/* numbers.c - a hash table of sessions, a bitmap of numbers each. */
#include <config.h>

#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One number cannot ask for more memory than this many records of a session take. */
#define SPREAD_MAX ((uint32_t)1 << 26)

struct session {
	struct session *next;
	char *id;
	size_t len;
	uint64_t *bits; /* bit n - 1: number n is there */
	size_t words;
	uint32_t low, high, n;
	int64_t ts_ms, missing; /* of the beginnings before */
	int64_t wild;           /* numbers too high to be believed */
};

struct numbers {
	struct session **buckets;
	size_t room;
	int64_t n;
};

int numbers_new(struct numbers **ret)
{
	struct numbers *numbers = calloc(1, sizeof(*numbers));
	if (numbers)
		numbers->buckets = calloc(numbers->room = 1024, sizeof(struct session *));
	if (!numbers || !numbers->buckets) {
		free(numbers);
		return -ENOMEM;
	}
	*ret = numbers;
	return 0;
}

void numbers_free(struct numbers *numbers)
{
	for (size_t i = 0; numbers && i < numbers->room; i++)
		for (struct session *s = numbers->buckets[i], *next; s; s = next) {
			next = s->next;
			free(s->bits);
			free(s->id);
			free(s);
		}
	if (numbers)
		free(numbers->buckets);
	free(numbers);
}

static size_t hash_of(struct str text, size_t room)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */
	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.ptr[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 32) & (room - 1);
}

static void grow(struct numbers *numbers)
{
	size_t room = numbers->room * 4;
	struct session **buckets = calloc(room, sizeof(*buckets));
	if (!buckets)
		return; /* slower, not wrong */
	for (size_t i = 0; i < numbers->room; i++)
		for (struct session *s = numbers->buckets[i], *next; s; s = next) {
			size_t at = hash_of((struct str){s->id, s->len}, room);
			next = s->next;
			s->next = buckets[at];
			buckets[at] = s;
		}
	free(numbers->buckets);
	numbers->buckets = buckets;
	numbers->room = room;
}

static struct session *find(struct numbers *numbers, struct str id)
{
	size_t at = hash_of(id, numbers->room);
	for (struct session *s = numbers->buckets[at]; s; s = s->next)
		if (str_equal((struct str){s->id, s->len}, id))
			return s;
	struct session *s = calloc(1, sizeof(*s));
	char *copy = malloc(id.len + 1);
	if (!s || !copy) {
		free(s);
		free(copy);
		return NULL;
	}
	memcpy(copy, id.ptr, id.len);
	s->id = copy;
	s->len = id.len;
	s->next = numbers->buckets[at];
	numbers->buckets[at] = s;
	if (++numbers->n > (int64_t)numbers->room)
		grow(numbers);
	return s;
}

static int64_t missing_in(const struct session *s, bool from_start)
{
	return s->n == 0 ? 0 : (int64_t)s->high - (from_start ? 0 : s->low - 1) - s->n;
}

static bool has(const struct session *s, uint32_t number)
{
	size_t word = (number - 1) / 64;
	return word < s->words && s->bits[word] >> (number - 1) % 64 & 1;
}

static void begin_anew(struct session *s)
{
	s->missing += missing_in(s, false);
	memset(s->bits, 0, s->words * sizeof(*s->bits));
	s->n = s->low = s->high = 0;
}

int numbers_add(struct numbers *numbers, struct str id, uint32_t number, int64_t ts_ms)
{
	struct session *s = find(numbers, id.ptr ? id : STR(""));
	if (!s)
		return -ENOMEM;
	s->ts_ms = ts_ms;
	if (number == 0)
		return 0;
	if (number > s->high + SPREAD_MAX) {
		s->wild++;
		return 0;
	}
	if (has(s, number))
		begin_anew(s);
	size_t words = (number - 1) / 64 + 1;
	if (words > s->words) {
		size_t room = words * 2;
		uint64_t *bits = realloc(s->bits, room * sizeof(*bits));
		if (!bits)
			return -ENOMEM;
		memset(bits + s->words, 0, (room - s->words) * sizeof(*bits));
		s->bits = bits;
		s->words = room;
	}
	s->bits[(number - 1) / 64] |= (uint64_t)1 << (number - 1) % 64;
	s->n++;
	if (s->low == 0 || number < s->low)
		s->low = number;
	if (number > s->high)
		s->high = number;
	return 0;
}

int64_t numbers_sessions(const struct numbers *numbers)
{
	return numbers->n;
}

int64_t numbers_missing(const struct numbers *numbers, bool from_start, int64_t now_ms,
			int64_t settled_ms)
{
	int64_t sum = 0;
	for (size_t i = 0; i < numbers->room; i++)
		for (const struct session *s = numbers->buckets[i]; s; s = s->next) {
			int64_t age = now_ms > s->ts_ms ? now_ms - s->ts_ms : s->ts_ms - now_ms;
			if (age > settled_ms)
				sum += s->missing + s->wild + missing_in(s, from_start);
		}
	return sum;
}
