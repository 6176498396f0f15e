/* writer-load.c - finds and loads the writer's module.
 *
 * Layer: json.  The build tree's own comes before an installed one, and both before
 * nothing: no path is taken from the environment.
 */
#include <config.h>

#include "json/write.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* From the folder of the running program; a unit test may lie at the tree's top. */
static const char *const beside[] = {
	"/../../lib/pawl/write.so",
	"/lib/pawl/write.so",
};

static size_t program_folder(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	return (size_t)(slash - path);
}

static const char *module_path(char path[PATH_MAX])
{
	size_t folder = program_folder(path, PATH_MAX);
	for (size_t i = 0; folder > 0 && i < sizeof(beside) / sizeof(*beside); i++) {
		if (folder + strlen(beside[i]) >= PATH_MAX)
			continue;
		strcpy(path + folder, beside[i]);
		if (access(path, R_OK) == 0)
			return path;
	}
	return PAWL_PKGLIBDIR "/write.so";
}

const struct json_writer *json_writer_get(struct error *err)
{
	static const struct json_writer *writer;
	char path[PATH_MAX];
	if (writer)
		return writer;
	const char *module = module_path(path);
	void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		writer = dlsym(handle, "pawl_json_writer");
	if (!writer)
		error_set(err, ENOENT, "cannot load the JSON writer: %s", dlerror());
	return writer;
}
