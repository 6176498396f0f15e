/* plugin.c - a .so found, checked, loaded and opened.
 *
 * Layer: core; knows plugin-api, json and base.  From dlopen on it runs foreign
 * code: only in a worker.  Files are loaded by one thread, before calls begin.
 *
 * What was checked is what runs: the loader is given /proc/self/fd/N, the descriptor that
 * was looked at, so that a file put in its place meanwhile is not even opened.  A pinned
 * file is a sealed copy in memory, so that one written over meanwhile does not matter
 * either.  Three things come with that name:
 *
 * - The loader compares names first: where N is used again it silently gives the previous
 *   library.  So descriptors stay open, and as a plugin may close what it likes, no number
 *   is given to two files (take_number), and no two files are one object (check_mapped).
 * - Without /proc there is no such name: refused, with that reason.
 * - gdb and dladdr show it in place of the path; /proc/PID/maps, perf and core files know
 *   the path, or the copy as /memfd:ID.so.
 */
#include <config.h>

#include "core/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "base/cleanup.h"
#include "core/hosttable.h"
#include "core/trust.h"

#define LISTED_MAX 512 /* entries of the plugin folder looked at for a message */

static struct plugin_file *files; /* loaded, for ever */
int (*plugin_before_code)(const char *path, struct error *err);

static void plugin_file_free(struct plugin_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0 && !file->mapped)
		close(file->fd);
	free(file->path);
	free(file->turn);
	free(file);
}

static void cleanup_plugin_file(struct plugin_file **file)
{
	plugin_file_free(*file);
}

/* ---- find ------------------------------------------------------------------------- */

static int is_plugin_name(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* " window, hosts": what is in the folder, as far as it fits. */
static void list_plugins(const char *dir, char *text, size_t size)
{
	struct dirent **found = NULL;
	int n = scandir(dir, &found, is_plugin_name, alphasort);
	size_t len = 0;
	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		int stem = (int)strlen(found[i]->d_name) - 3;
		if (i < LISTED_MAX && len + (size_t)stem + 8 < size)
			len += (size_t)snprintf(text + len, size - len, "%s%.*s",
						len > 0 ? ", " : "", stem, found[i]->d_name);
		else if (len + 5 < size && len > 0 && text[len - 1] != '.')
			len += (size_t)snprintf(text + len, size - len, " ...");
		free(found[i]);
	}
	free(found);
}

static int refuse_absent(const char *dir, const char *stem, struct error *err)
{
	char there[640];
	list_plugins(dir, there, sizeof(there));
	if (there[0] == '\0')
		return error_set(err, ENOENT, "no plugin \"%.128s\" in %s: no plugin is there", stem,
				 dir);
	return error_set(err, ENOENT, "no plugin \"%.128s\" in %s; there are: %s", stem, dir, there);
}

static int check_identity(const struct plugin_file *file, const char *stem, struct error *err)
{
	if (strcmp(file->note.id, stem) != 0)
		return error_set(err, ENOEXEC, "%s: its id is \"%s\"; the file has to be %s.so",
				 file->path, file->note.id, file->note.id);
	if (file->note.abi_major != PAWL_ABI_MAJOR)
		return error_set(err, ENOEXEC, "%s: built for plugin ABI %u.%u, here is %d.%d; take "
				 "a build for this major", file->path, file->note.abi_major,
				 file->note.abi_minor, PAWL_ABI_MAJOR, PAWL_ABI_MINOR);
	return 0;
}

/* From here on file->fd is the sealed copy. */
static int pin(struct plugin_file *file, const unsigned char *sha256, struct error *err)
{
	int copy;
	int r = plugin_pin(file->fd, file->path, sha256, &copy, err);
	if (r < 0)
		return r;
	close(file->fd);
	file->fd = copy;
	file->pinned = true;
	memcpy(file->sha256, sha256, sizeof(file->sha256));
	return 0;
}

/* Everything that can be known before any of its code runs. */
static int plugin_file_check(struct plugin_file *file, const char *dir, const char *stem,
			     const struct plugin_terms *terms, struct error *err)
{
	bool system_file = false;
	int r = trust_open(file->path, PLUGIN_FILE_MAX, &file->fd, &system_file, err);
	if (r == -ENOENT)
		return refuse_absent(dir, stem, err);
	if (r == 0 && terms->sha256)
		r = pin(file, terms->sha256, err);
	if (r == 0)
		r = plugin_note_read(file->fd, file->path, terms->libraries, &file->note, err);
	if (r < 0)
		return r;
	file->system = file->system && system_file;
	return check_identity(file, stem, err);
}

/* ---- load --------------------------------------------------------------------------- */

#define FD_NAME_SIZE 32

static int take_number(struct plugin_file *file, struct error *err)
{
	static int next; /* all below have been used, or never will be */
	if (file->fd < next) {
		int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, next);
		if (fd < 0)
			return error_set(err, EMFILE, "%s: no descriptor is left for it; raise the "
					 "limit (ulimit -n), or name fewer plugins", file->path);
		close(file->fd);
		file->fd = fd;
	}
	next = file->fd + 1;
	return 0;
}

static int refuse_name(const struct plugin_file *file, const char *name, struct error *err)
{
	return error_set(err, ENOEXEC, "%s: is loaded as %s, so that it is the file that was "
			 "checked, and there is no such name; mount /proc", file->path, name);
}

/* Asked once: each look at a name below /proc makes it anew, which is what costs here. */
static int fd_name(const struct plugin_file *file, char name[FD_NAME_SIZE], struct error *err)
{
	static bool known;
	struct statfs fs;
	snprintf(name, FD_NAME_SIZE, "/proc/self/fd/%d", file->fd);
	known = known || (statfs("/proc/self/fd", &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC);
	return known ? 0 : refuse_name(file, name, err);
}

static bool is_same_file(const struct plugin_file *file, const char *name)
{
	struct stat checked, named;
	return fstat(file->fd, &checked) == 0 && stat(name, &named) == 0 &&
	       checked.st_dev == named.st_dev && checked.st_ino == named.st_ino;
}

/* What the loader says it mapped is the file that was checked, and no plugin before it. It
 * may have it by the name of an earlier try that was refused. */
static int check_mapped(const struct plugin_file *file, const char *name,
			const struct link_map *map, struct error *err)
{
	bool known = false;
	for (const struct plugin_file *other = files; other; other = other->next)
		known |= other->map == map;
	if (!known && (strcmp(map->l_name, name) == 0 || is_same_file(file, map->l_name)))
		return 0;
	return error_set(err, ENOEXEC, "%s: the loader gave %s instead, as if that were its name; "
			 "start pawl again", file->path, map->l_name);
}

static int refuse_load(const struct plugin_file *file, const char *name, struct error *err)
{
	const char *said = dlerror();
	size_t prefix = strlen(name);
	if (!is_same_file(file, name))
		return refuse_name(file, name, err);
	if (said && strncmp(said, name, prefix) == 0 && said[prefix] == ':')
		said += prefix + 1 + strspn(said + prefix + 1, " ");
	return error_set(err, ENOEXEC, "%s: cannot be loaded: %s", file->path,
			 said ? said : "no reason given");
}

static int load_object(struct plugin_file *file, void **ret_handle, struct link_map **ret_map,
		       struct error *err)
{
	char name[FD_NAME_SIZE];
	int r = take_number(file, err);
	if (r == 0)
		r = fd_name(file, name, err);
	if (r < 0)
		return r;
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, ret_map) != 0)
		return refuse_load(file, name, err);
	file->mapped = true;
	*ret_handle = handle;
	return check_mapped(file, name, *ret_map, err);
}

/* dlsym looks into what the object depends on, too: the entry must be its own. */
static int find_entry(const struct plugin_file *file, void *handle, const struct link_map *map,
		      pawl_plugin_entry *ret, struct error *err)
{
	Dl_info info;
	struct link_map *owner = NULL;
	void *entry = dlsym(handle, PLUGIN_ENTRY_NAME);
	if (!entry || dladdr1(entry, &info, (void **)&owner, RTLD_DL_LINKMAP) == 0 || owner != map)
		return error_set(err, ENOEXEC, "%s: " PLUGIN_ENTRY_NAME " is not its own but that of a "
				 "library it needs; use PAWL_PLUGIN in the plugin itself",
				 file->path);
	memcpy(ret, &entry, sizeof(entry)); /* ISO C has no cast from object to function */
	return 0;
}

struct room {
	const struct link_map *map;
	uintptr_t address;
	size_t bytes;
};

static int find_room(struct dl_phdr_info *info, size_t size, void *data)
{
	struct room *room = data;
	(void)size;
	if (info->dlpi_addr != room->map->l_addr || strcmp(info->dlpi_name, room->map->l_name) != 0)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + s->p_vaddr;
		if (s->p_type == PT_LOAD && (s->p_flags & PF_R) && room->address >= start &&
		    room->address - start < s->p_memsz)
			room->bytes = s->p_memsz - (room->address - start);
	}
	return 1;
}

/* How many bytes of the object's own segment lie at the pointer; 0 outside of it. */
static size_t readable_room(const struct link_map *map, const void *pointer)
{
	struct room room = {.map = map, .address = (uintptr_t)pointer};
	dl_iterate_phdr(find_room, &room);
	return room.bytes;
}

static void probe_log(const pawl_host *host, int32_t level, pawl_str message)
{
	(void)host, (void)level, (void)message;
}

static void probe_set_error(const pawl_host *host, pawl_str message)
{
	(void)host, (void)message;
}

/* What an entry may look at: sizes and features.  It belongs to no instance. */
static const pawl_host *probe_host(void)
{
	static pawl_host probe;
	probe = host_table;
	probe.host_data = NULL;
	probe.log = probe_log;
	probe.set_error = probe_set_error;
	return &probe;
}

static int plugin_file_link(struct plugin_file *file, struct error *err)
{
	void *handle = NULL;
	struct link_map *map = NULL;
	pawl_plugin_entry entry = NULL;
	int r = load_object(file, &handle, &map, err);
	if (r == 0)
		r = find_entry(file, handle, map, &entry, err);
	if (r < 0)
		return r;
	file->map = map;
	const pawl_plugin *desc = entry(probe_host());
	return plugin_descriptor_copy(file->path, &file->note, desc, readable_room(map, desc),
				      &file->desc, err);
}

static struct plugin_file *find_loaded(const char *path)
{
	for (struct plugin_file *file = files; file; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	return NULL;
}

static struct plugin_file *plugin_file_new(const char *dir, const char *stem)
{
	struct plugin_file *file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->fd = -1;
	file->turn = calloc(1, sizeof(*file->turn));
	if (!file->turn || asprintf(&file->path, "%s/%s.so", dir, stem) < 0) {
		free(file->turn);
		free(file);
		return NULL;
	}
	pthread_mutex_init(file->turn, NULL);
	return file;
}

/* The folder as given is judged, links on the way included, and then resolved. Once a
 * process: nobody who could change it later is kept out by asking again. */
static int real_folder(const char *dir, const char **ret, bool *ret_system, struct error *err)
{
	static char *judged, *real;
	static bool system_folders;
	if (!judged || strcmp(dir, judged) != 0) {
		free(judged);
		free(real);
		judged = real = NULL;
		int r = trust_folders(dir, &system_folders, err);
		if (r < 0)
			return r;
		real = realpath(dir, NULL);
		if (!real)
			return error_set(err, errno, "%s: the plugin folder: %s", dir,
					 strerror(errno));
		judged = strdup(dir);
	}
	*ret = real;
	*ret_system = system_folders;
	return 0;
}

/* What is already in memory cannot be changed any more. */
static int check_loaded(const struct plugin_file *file, const struct plugin_terms *terms,
			struct error *err)
{
	if (!terms->sha256 ||
	    (file->pinned && memcmp(file->sha256, terms->sha256, sizeof(file->sha256)) == 0))
		return 0;
	return error_set(err, EPERM, "%s: is already loaded without this \"sha256\"; give all "
			 "entries of the plugin the same", file->path);
}

/* *ret knows its path and folder, nothing of the file yet; free with plugin_file_free. */
static int plugin_file_named(const char *dir, const char *stem, struct plugin_file **ret,
			     const char **ret_real, struct error *err)
{
	bool system_folders = false;
	int r = real_folder(dir, ret_real, &system_folders, err);
	if (r < 0)
		return r;
	if (!plugin_id_valid(str_of(stem)))
		return refuse_absent(*ret_real, stem, err);
	*ret = plugin_file_new(*ret_real, stem);
	if (!*ret)
		return error_set(err, ENOMEM, "out of memory");
	(*ret)->system = system_folders;
	return 0;
}

static const struct plugin_terms no_terms;

int plugin_file_load(const char *dir, const char *stem, const struct plugin_terms *terms,
		     struct plugin_file **ret, struct error *err)
{
	const char *real = NULL;
	_cleanup_(cleanup_plugin_file) struct plugin_file *file = NULL;
	terms = terms ? terms : &no_terms;
	int r = plugin_file_named(dir, stem, &file, &real, err);
	if (r < 0)
		return r;
	struct plugin_file *loaded = find_loaded(file->path);
	if (loaded) {
		r = check_loaded(loaded, terms, err);
		if (r == 0)
			*ret = loaded;
		return r;
	}
	r = plugin_file_check(file, real, stem, terms, err);
	if (r == 0 && plugin_before_code)
		r = plugin_before_code(file->path, err);
	if (r == 0)
		r = plugin_file_link(file, err);
	if (r < 0)
		return r;
	file->next = files;
	files = *ret = TAKE_PTR(file);
	return 0;
}

int plugin_file_examine(const char *dir, const char *stem, const struct plugin_terms *terms,
			struct plugin_note *ret, bool *ret_system, struct error *err)
{
	const char *real = NULL;
	_cleanup_(cleanup_plugin_file) struct plugin_file *file = NULL;
	int r = plugin_file_named(dir, stem, &file, &real, err);
	if (r == 0)
		r = plugin_file_check(file, real, stem, terms ? terms : &no_terms, err);
	if (r < 0)
		return r;
	*ret = file->note;
	*ret_system = file->system;
	return 0;
}

bool plugin_file_is_system(const char *dir, const char *stem)
{
	const char *real = NULL;
	struct stat st;
	_cleanup_(cleanup_plugin_file) struct plugin_file *file = NULL;
	if (plugin_file_named(dir, stem, &file, &real, NULL) < 0 || !file->system)
		return false;
	return lstat(file->path, &st) == 0 ? st.st_uid == 0 : errno == ENOENT;
}

/* ---- open ---------------------------------------------------------------------------- */

static const char *const error_classes[] = {
	[-PAWL_E_FAIL] = "fail",	       [-PAWL_E_NOMEM] = "nomem",
	[-PAWL_E_OPTION] = "option",	       [-PAWL_E_UNSUPPORTED] = "unsupported",
	[-PAWL_E_TYPE] = "type",	       [-PAWL_E_MISSING] = "missing",
	[-PAWL_E_LIMIT] = "limit",	       [-PAWL_E_CANCELLED] = "cancelled",
};

const char *plugin_error_class(int32_t status)
{
	if (status >= 0 || status < PAWL_E_CANCELLED)
		return "bad-status";
	return error_classes[-status];
}

/* What the plugin said, as one line. */
static void error_line(const struct plugin *plugin, char line[sizeof(plugin->error_text)])
{
	size_t len = strnlen(plugin->error_text, sizeof(plugin->error_text) - 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)plugin->error_text[i];
		line[i] = c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
	line[len] = '\0';
}

static int refuse_open(const struct plugin *plugin, int32_t status, struct error *err)
{
	char line[sizeof(plugin->error_text)];
	error_line(plugin, line);
	int code = status == PAWL_E_OPTION ? EINVAL : status == PAWL_E_NOMEM ? ENOMEM : EPROTO;
	return error_set(err, code, "%s: open failed (%s)%s%s", plugin->file->path,
			 plugin_error_class(status), line[0] ? ": " : "", line);
}

int plugin_open(const struct plugin_file *file, const pawl_host *base,
		const struct json_value *options, struct plugin **ret, struct error *err)
{
	_cleanup_free_ struct plugin *plugin = calloc(1, sizeof(*plugin));
	if (!plugin)
		return error_set(err, ENOMEM, "out of memory");
	plugin->file = file;
	plugin->host = *base;
	plugin->host.host_data = plugin;
	pthread_mutex_init(&plugin->turn, NULL);
	/* another instance may be at work in another thread */
	bool alone = file->turn && file->desc.threads == PAWL_THREADS_SERIAL;
	if (alone)
		pthread_mutex_lock(file->turn);
	int32_t status = file->desc.open(&plugin->host, (const pawl_value *)options, &plugin->self);
	if (alone)
		pthread_mutex_unlock(file->turn);
	if (status != 0)
		return refuse_open(plugin, status, err);
	plugin->error_text[0] = '\0'; /* said by an open that worked: of no hook */
	*ret = TAKE_PTR(plugin);
	return 0;
}
