/* main.c - stands in for libFuzzer: replays a corpus as one TAP test.
 *
 * The folder is the first argument, or for a program fuzz-NAME
 * $abs_top_srcdir/tests/fuzz/corpus/NAME. */
#include <config.h>

#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { INPUT_MAX = 1 << 24 };

static int replay_file(const char *folder, const char *name)
{
	char path[8192];
	_cleanup_free_ char *data = NULL;
	size_t len;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_all(fd, INPUT_MAX, &data, &len, NULL) < 0)
		return -1;
	printf("# %s\n", name);
	fflush(stdout);
	/* a copy of the exact size, so that a sanitizer sees a read behind it */
	_cleanup_free_ uint8_t *exact = malloc(len ? len : 1);
	if (!exact)
		return -1;
	memcpy(exact, data, len);
	return LLVMFuzzerTestOneInput(exact, len);
}

static int replay_folder(const char *folder)
{
	_cleanup_(cleanup_closedir_) DIR *dir = opendir(folder);
	int count = 0;
	if (!dir)
		return 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay_file(folder, entry->d_name) != 0)
			return 0;
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	char folder[4096];
	const char *top = getenv("abs_top_srcdir"), *name = strrchr(argv[0], '/');
	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz-", 5) == 0)
		name += 5;
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", top ? top : ".", name);
	puts("1..1");
	int count = replay_folder(argc > 1 ? argv[1] : folder);
	printf("%sok 1 - %d inputs of %s\n", count > 0 ? "" : "not ", count, name);
	return count > 0 ? 0 : 1;
}
