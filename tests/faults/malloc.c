/* malloc.c - preloaded into a worker: the allocation whose number is in $FAULTS/nth fails, and
 * $FAULTS/failed is made then. Once it is there, none fails any more: a second worker of the
 * same run is well. Leaves nothing of itself in the environment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The C library's own, under the names it keeps for this. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long left; /* 0: none is to fail */
static char mark[PATH_MAX];

__attribute__((constructor)) static void learn(void)
{
	char nth[PATH_MAX], text[32] = "";
	const char *folder = getenv("FAULTS");
	if (!folder)
		return;
	snprintf(nth, sizeof(nth), "%s/nth", folder);
	snprintf(mark, sizeof(mark), "%s/failed", folder);
	unsetenv("FAULTS");
	unsetenv("LD_PRELOAD");
	int fd = access(mark, F_OK) == 0 ? -1 : open(nth, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n > 0)
		atomic_store(&left, atol(text));
}

static int fails(void)
{
	if (atomic_load(&left) == 0 || atomic_fetch_sub(&left, 1) != 1)
		return 0;
	close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p = memalign(alignment, size);
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}
