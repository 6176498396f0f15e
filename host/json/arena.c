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
#define ARENA_RESERVE_MIN ((size_t)128 << 10)
/* Present from the start: the reader's stack and a small text with its tree. */
#define ARENA_STACK ((size_t)16 << 10)
#define ARENA_FIRST ((size_t)48 << 10)
/* Taken at once later on, growing with what is in use. */
#define ARENA_STEP_MIN ((size_t)64 << 10)
#define ARENA_STEP_MAX ((size_t)1 << 20)
#define ARENA_RESERVE_MAX ((size_t)1 << 40)

struct json_arena {
	char *writable;
	const char *frozen;
	size_t reserve, used;
	size_t present; /* pages up to here were asked for */
	size_t touched; /* and some up to here, since pages were given back */
	size_t high, last_high; /* touched since the last rewind, and before it */
	uint64_t key[2];
};

static size_t page_up(size_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (offset + page - 1) / page * page;
}

/* A page that is asked for costs a tenth of one that is faulted in.  Where the kernel
 * cannot (before 5.14), they come as they are touched. */
static void populate(char *at, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	int saved = errno;
	madvise(at, size, MADV_POPULATE_WRITE);
	errno = saved;
#else
	(void)at, (void)size;
#endif
}

/* The same pages in the read-only mapping, which plugins and lookups go through. */
static void populate_twin(const char *at, size_t size)
{
#ifdef MADV_POPULATE_READ
	int saved = errno;
	madvise((void *)(uintptr_t)at, size, MADV_POPULATE_READ);
	errno = saved;
#else
	(void)at, (void)size;
#endif
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
	arena->used = ARENA_STACK;
	arena->present = ARENA_FIRST;
	populate(arena->writable, ARENA_FIRST);
	populate_twin(arena->frozen + page_up(ARENA_STACK), ARENA_FIRST - page_up(ARENA_STACK));
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

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Gives pages above keep back. */
static void give_back(struct json_arena *arena, size_t keep)
{
	keep = page_up(keep);
	size_t end = page_up(arena->touched);
	if (end <= keep)
		return;
	madvise(arena->writable + keep, end - keep, MADV_REMOVE);
	arena->touched = keep;
	if (arena->present > keep)
		arena->present = keep;
}

/* One large text is forgotten at once; of a row of them the pages are kept, because
 * getting them again costs more than reading the text does. */
void json_arena_rewind(struct json_arena *arena, size_t mark)
{
	if (mark > arena->used)
		return;
	size_t high = larger(arena->high, arena->used), last = arena->last_high;
	arena->touched = larger(arena->touched, larger(high, arena->present));
	arena->used = larger(mark, ARENA_STACK);
	arena->last_high = high;
	arena->high = 0;
	give_back(arena, larger(arena->used + ARENA_KEEP, high < last ? high : last));
}

void *arena_reserve(struct json_arena *arena, size_t size)
{
	if (size > arena->reserve - arena->used)
		return NULL;
	void *place = arena->writable + arena->used;
	arena->used += (size + 15) & ~(size_t)15; /* reserve is a multiple of 16 */
	return place;
}

void *json_arena_alloc(struct json_arena *arena, size_t size)
{
	void *place = arena_reserve(arena, size);
	if (place)
		arena_ready(arena, (char *)place + size);
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

/* ---- for the reader ---------------------------------------------------------------- */

const void *arena_ready(struct json_arena *arena, const void *end)
{
	size_t want = (size_t)((const char *)end - arena->writable);
	if (want > arena->present) {
		size_t step = arena->present / 4;
		step = step < ARENA_STEP_MIN ? ARENA_STEP_MIN : step;
		step = step > ARENA_STEP_MAX ? ARENA_STEP_MAX : step;
		want = page_up(larger(want, arena->present + step));
		want = want > arena->reserve ? arena->reserve : want;
		populate(arena->writable + arena->present, want - arena->present);
		arena->present = want;
	}
	return arena->writable + arena->present;
}

void arena_populate(const struct json_arena *arena, const void *at, const void *end)
{
	size_t page = page_up(1);
	size_t from = (size_t)((const char *)at - arena->writable) / page * page;
	size_t to = page_up((size_t)((const char *)end - arena->writable));
	to = to > arena->reserve ? arena->reserve : to;
	populate(arena->writable + from, to - from);
}

void *arena_stack(const struct json_arena *arena, size_t *ret_size)
{
	*ret_size = ARENA_STACK;
	return arena->writable;
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
	arena->used = ((size_t)((const char *)end - arena->writable) + 15) & ~(size_t)15;
	arena->high = larger(arena->high, (size_t)((const char *)touched - arena->writable));
}
