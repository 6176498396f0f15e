/* head.c - one structure in a file; what cannot be read counts as absent. */
#include <config.h>

#include "head.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MAGIC "pawlhed1"

void head_read(const struct store *store, struct head *ret)
{
	_cleanup_close_ int fd =
	    openat(store->dirfd, STORE_HEAD, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	memset(ret, 0, sizeof(*ret));
	if (fd < 0 || pread(fd, ret, sizeof(*ret), 0) != sizeof(*ret) ||
	    memcmp(ret->magic, MAGIC, sizeof(ret->magic)) != 0)
		memset(ret, 0, sizeof(*ret));
	ret->boot[sizeof(ret->boot) - 1] = ret->chain_id[sizeof(ret->chain_id) - 1] = '\0';
}

void head_write(const struct store *store, const char *chain_id, const struct chain *chain)
{
	_cleanup_close_ int fd = -1;
	struct head head = {.magic = MAGIC, .chain = *chain};
	snprintf(head.boot, sizeof(head.boot), "%s", line_boot());
	snprintf(head.chain_id, sizeof(head.chain_id), "%s", chain_id);
	if (store_file(store, STORE_HEAD, STORE_READ_MODE, &fd, NULL, NULL) == 0 &&
	    pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		return; /* an old one says less, nothing wrong */
}

bool head_is_fresh(const struct head *head)
{
	return head->chain.seq > 0 && head->boot[0] != '\0' &&
	       strcmp(head->boot, line_boot()) == 0;
}
