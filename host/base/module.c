/* module.c - see module.h. */
#include <config.h>

#include "base/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From the folder of the running program; a unit test may lie at the tree's top. */
static const char *const beside[] = {"/../../lib/pawl/", "/lib/pawl/"};

static size_t program_folder(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

static void module_path(const char *file, char path[PATH_MAX])
{
	size_t folder = program_folder(path, PATH_MAX);
	for (size_t i = 0; folder > 0 && i < sizeof(beside) / sizeof(*beside); i++) {
		int n = snprintf(path + folder, PATH_MAX - folder, "%s%s", beside[i], file);
		if (n > 0 && (size_t)n < PATH_MAX - folder && access(path, R_OK) == 0)
			return;
	}
	snprintf(path, PATH_MAX, "%s/%s", PAWL_PKGLIBDIR, file);
}

void *module_symbol(const char *file, const char *symbol, struct error *err)
{
	char path[PATH_MAX];
	module_path(file, path);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *found = handle ? dlsym(handle, symbol) : NULL;
	if (!found)
		error_set(err, ENOENT, "cannot load %s: %s; is pawl installed whole?", file,
			  dlerror());
	return found;
}
