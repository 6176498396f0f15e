/* arena.c - memory of one call, mapped twice: writable for the host, read-only for
 * everyone.
 *
 * Layer: json.  The descriptor is closed once both mappings stand: a plugin that
 * closes descriptors does no harm, and pages go back through madvise.
 */
#include <config.h>

#include "json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "json/tree.h"

/* So much stays in memory over a rewind; what is above goes back.  */
#define ARENA_KEEP ((size_t)4 << 20)
#define ARENA_RESERVE_MIN ((size_t)64 << 10)
#define ARENA_RESERVE_MAX ((size_t)1 << 40)

struct json_arena {
	char *writable;
	const char *frozen;
	size_t reserve, used;
	size_t touched; /* the highest used since pages were given back */
	uint64_t key[2];
};

static size_t page_up(size_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (offset + page - 1) / page * page;
}

static int arena_map(struct json_arena *arena, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("pawl-json", MFD_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "cannot make the arena: %s", strerror(errno));
	if (ftruncate(fd, (off_t)arena->reserve) < 0)
		return error_set(err, errno, "cannot size the arena: %s", strerror(errno));
	void *map = mmap(NULL, arena->reserve, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, errno, "cannot map the arena: %s", strerror(errno));
	arena->writable = map;
	map = mmap(NULL, arena->reserve, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, errno, "cannot map the arena: %s", strerror(errno));
	arena->frozen = map;
	return 0;
}

int json_arena_new(size_t reserve, struct json_arena **ret, struct error *err)
{
	if (reserve > ARENA_RESERVE_MAX)
		return error_set(err, ENOMEM, "an arena of %zu bytes is too large", reserve);
	struct json_arena *arena = calloc(1, sizeof(*arena));
	if (!arena)
		return error_set(err, ENOMEM, "out of memory");
	arena->reserve = page_up(reserve < ARENA_RESERVE_MIN ? ARENA_RESERVE_MIN : reserve);
	int r = arena_map(arena, err);
	if (r == 0 && getrandom(arena->key, sizeof(arena->key), 0) != sizeof(arena->key))
		r = error_set(err, errno ? errno : EIO, "cannot draw a random number");
	if (r < 0) {
		json_arena_free(arena);
		return r;
	}
	arena->key[1] |= 1;
	*ret = arena;
	return 0;
}

void json_arena_free(struct json_arena *arena)
{
	if (!arena)
		return;
	if (arena->writable)
		munmap(arena->writable, arena->reserve);
	if (arena->frozen)
		munmap((void *)(uintptr_t)arena->frozen, arena->reserve);
	free(arena);
}

size_t json_arena_mark(const struct json_arena *arena)
{
	return arena->used;
}

void json_arena_rewind(struct json_arena *arena, size_t mark)
{
	if (mark > arena->used)
		return;
	if (arena->used > arena->touched)
		arena->touched = arena->used;
	arena->used = mark;
	size_t keep = mark + ARENA_KEEP;
	if (arena->touched <= keep)
		return;
	keep = page_up(keep);
	size_t end = page_up(arena->touched);
	if (end > keep)
		madvise(arena->writable + keep, end - keep, MADV_REMOVE);
	arena->touched = keep;
}

void *json_arena_alloc(struct json_arena *arena, size_t size)
{
	if (size > arena->reserve - arena->used)
		return NULL;
	void *place = arena->writable + arena->used;
	arena->used += (size + 15) & ~(size_t)15;
	if (arena->used > arena->reserve) /* only the last, unaligned bytes */
		arena->used = arena->reserve;
	return place;
}

const void *json_arena_frozen(const struct json_arena *arena, const void *writable)
{
	return arena->frozen + ((const char *)writable - arena->writable);
}

struct str json_arena_text(struct json_arena *arena, struct str text)
{
	char *copy = text.len < SIZE_MAX ? json_arena_alloc(arena, text.len + 1) : NULL;
	if (!copy)
		return (struct str){NULL, 0};
	if (text.len > 0)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return (struct str){json_arena_frozen(arena, copy), text.len};
}

const uint64_t *arena_key(const struct json_arena *arena)
{
	return arena->key;
}

size_t arena_room(const struct json_arena *arena)
{
	return arena->reserve - arena->used;
}

void arena_cut(struct json_arena *arena, const void *end, const void *touched)
{
	size_t high = (size_t)((const char *)touched - arena->writable);
	arena->used = ((size_t)((const char *)end - arena->writable) + 15) & ~(size_t)15;
	if (high > arena->touched)
		arena->touched = high;
}
