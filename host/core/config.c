/* config.c - finds, opens and reads the config's files; defaults; life cycle.
 *
 * Layer: core.  Every hook run goes through here: a file is opened, checked on its
 * descriptor and read once, and the user database is asked only where a home folder
 * is needed.
 */
#include <config.h>

#include "core/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/config-impl.h"
#include "core/trust.h"

#ifndef PAWL_SYSCONFDIR
#define PAWL_SYSCONFDIR "/etc"
#endif
#ifndef PAWL_PLUGINDIR
#define PAWL_PLUGINDIR "/usr/lib/pawl/plugins"
#endif

#define SYSTEM_CONFIG PAWL_SYSCONFDIR "/pawl/pawl.json"
#define HOME_CONFIG ".config/pawl/pawl.json"
#define HOME_STATE ".local/state/pawl"

#define CONFIG_ARENA ((size_t)256 << 20) /* address space: files and what is made of them */
#define CONFIG_VALUES_MAX ((size_t)1 << 20)
#define CONFIG_DEPTH_MAX 64

/* ---- small helpers ------------------------------------------------------------- */

/* "PATH: what" becomes "PATH:1:1: what", as every error of a config reads. */
static int fail_file(const char *path, int code, struct error *err)
{
	size_t n = strlen(path);
	if (!err)
		return code;
	struct error old = *err;
	bool same = strncmp(old.text, path, n) == 0 && strncmp(old.text + n, ": ", 2) == 0;
	return error_set(err, -code, "%s:1:1: %s", path, same ? old.text + n + 2 : old.text);
}

static int home_dir(char *buf, size_t size, struct error *err)
{
	char room[16384];
	struct passwd entry, *found = NULL;
	int code = getpwuid_r(geteuid(), &entry, room, sizeof(room), &found);
	if (code != 0 || !found || found->pw_dir[0] != '/')
		return error_set(
			err, ENOENT,
			"the user database has no home folder for user %u; name the config with "
			"--config and set its \"state_dir\"",
			(unsigned)geteuid());
	if ((size_t)snprintf(buf, size, "%s", found->pw_dir) >= size)
		return error_set(err, ENAMETOOLONG, "the home folder's path is too long");
	return 0;
}

static int arena_text(struct config *config, const char *text, struct str *ret, struct error *err)
{
	*ret = json_arena_text(config->arena, str_of(text));
	return ret->ptr ? 0 : error_set(err, ENOMEM, "no memory for the config");
}

/* The folder of an absolute path. */
static struct str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return (struct str){path, slash == path ? 1 : (size_t)(slash - path)};
}

/* ---- reading files -------------------------------------------------------------- */

/* Takes the text over from wherever fd or memory has it, and parses it. */
static int parse_file(struct config *config, struct config_file *file, struct error *err)
{
	const struct json_limits limits = {CONFIG_BYTES_MAX, CONFIG_VALUES_MAX, CONFIG_DEPTH_MAX};
	struct json_fault fault = {0, 1, 1};
	struct error why = {""};
	size_t blank = 0;
	while (blank < file->text.len && strchr(" \t\r\n", file->text.ptr[blank]) &&
	       file->text.ptr[blank] != '\0')
		blank++;
	if (blank == file->text.len)
		return error_set(
			err, EBADMSG,
			"%.*s:1:1: the file is empty; a config is a JSON object, {} at least",
			STR_FMT(file->path));
	int r = json_parse(config->arena, file->text, limits, JSON_COMMENTS | JSON_BORROW,
			   &file->root, &fault, &why);
	if (r < 0)
		return error_set(
			err, -r,
			"%.*s:%u:%u: %s; a config is JSON, comments and trailing commas allowed",
			STR_FMT(file->path), fault.line, fault.column, why.text);
	if (json_type(file->root) != JSON_OBJECT)
		return error_set(err, EBADMSG, "%.*s:1:1: a config is a JSON object, this is %s",
				 STR_FMT(file->path), type_name(file->root));
	return 0;
}

/* Room for size bytes of text, seen by the tree through the read-only mapping. */
static int file_room(struct config *config, struct config_file *file, size_t size,
		     struct error *err)
{
	file->writable = json_arena_alloc(config->arena, size + 1);
	if (!file->writable)
		return error_set(err, ENOMEM, "no memory for the config");
	file->text.ptr = json_arena_frozen(config->arena, file->writable);
	return 0;
}

/* One byte more than the file had tells that it has grown meanwhile. */
static int fill_file(struct config *config, struct config_file *file, int fd, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "cannot be read: %s", strerror(errno));
	size_t size = (size_t)st.st_size;
	int r = file_room(config, file, size, err);
	while (r == 0 && file->text.len <= size) {
		ssize_t n = read(fd, file->writable + file->text.len, size + 1 - file->text.len);
		if (n < 0 && errno != EINTR)
			return error_set(err, errno, "cannot be read: %s", strerror(errno));
		if (n == 0)
			break;
		file->text.len += n > 0 ? (size_t)n : 0;
	}
	if (r == 0 && file->text.len != size)
		return error_set(err, EAGAIN, "changed while it was read; try again");
	return r;
}

/* Reads and parses what was opened and checked as path. */
static int take_file(struct config *config, const char *path, int fd, bool system,
		     struct config_file *file, struct error *err)
{
	int r = arena_text(config, path, &file->path, err);
	if (r == 0)
		r = fill_file(config, file, fd, err);
	if (r < 0)
		return fail_file(path, r, err);
	config->system = config->system && system;
	return parse_file(config, file, err);
}

/* ---- conf.d ----------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool is_dropin(const char *name)
{
	size_t n = strlen(name);
	return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".json") == 0;
}

struct names {
	char *list[CONFIG_FILES_MAX];
	size_t n;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
}

static int list_dropins(DIR *dir, struct names *names, struct error *err)
{
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		if (!is_dropin(entry->d_name))
			continue;
		if (names->n == CONFIG_FILES_MAX - 1)
			return error_set(err, E2BIG, "has more than %d files; merge some",
					 CONFIG_FILES_MAX - 1);
		names->list[names->n] = strdup(entry->d_name);
		if (!names->list[names->n])
			return error_set(err, ENOMEM, "no memory for the config");
		names->n++;
	}
	if (errno != 0)
		return error_set(err, errno, "cannot be read: %s", strerror(errno));
	qsort(names->list, names->n, sizeof(names->list[0]), by_name);
	return 0;
}

/* -ENOENT is kept for "there is no config"; a file that was listed and is gone is not that. */
static int not_gone(int r)
{
	return r == -ENOENT ? -EAGAIN : r;
}

static int load_dropin(struct config *config, const char *path, struct config_file *file,
		       struct error *err)
{
	bool system = false;
	_cleanup_close_ int fd = -1;
	int r = trust_open(path, CONFIG_BYTES_MAX, &fd, &system, err);
	return r < 0 ? fail_file(path, not_gone(r), err)
		     : take_file(config, path, fd, system, file, err);
}

static int load_dropins(struct reader *reader, const char *folder, const struct names *names)
{
	char path[PATH_MAX];
	struct config *config = reader->config;
	struct config_file *files = reader_alloc(reader, names->n + 1, sizeof(*files));
	if (!files)
		return fail_memory(reader);
	files[0] = reader->files[0];
	reader->files = files;
	reader->file = files;
	for (size_t i = 0; i < names->n; i++) {
		int r;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, names->list[i]) >=
		    sizeof(path))
			return error_set(reader->err, ENAMETOOLONG, "%s:1:1: the path is too long",
					 folder);
		r = load_dropin(config, path, &files[reader->n_files], reader->err);
		if (r < 0)
			return r;
		reader->n_files++;
	}
	return 0;
}

/* *ret stays NULL where folder is none to be read; then the errno that says why. */
static int open_dropins(const char *folder, DIR **ret)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || !(*ret = fdopendir(fd)))
		return errno;
	TAKE_FD(fd);
	return 0;
}

static int no_dropins(const char *folder, int code, struct error *err)
{
	if (code == ENOENT)
		return 0;
	if (code == ENOTDIR || code == ELOOP)
		error_set(err, code,
			  "is no folder (links are not followed); make it one or remove it");
	else
		error_set(err, code, "cannot be read: %s; mend that or remove it", strerror(code));
	return fail_file(folder, -code, err);
}

/* Checks the folders above the config, conf.d too where there is one, and reads what
 * lies in it. */
static int load_folder(struct reader *reader)
{
	char folder[PATH_MAX];
	struct config *config = reader->config;
	bool system = false;
	_cleanup_closedir_ DIR *dir = NULL;
	_cleanup_(names_done) struct names names;
	names.n = 0;
	if ((size_t)snprintf(folder, sizeof(folder), "%.*s/conf.d", STR_FMT(config->dir)) >=
	    sizeof(folder))
		return error_set(reader->err, ENAMETOOLONG, "%.*s:1:1: the path is too long",
				 STR_FMT(config->path));
	int code = open_dropins(folder, &dir);
	int r = trust_folders(dir ? folder : config->dir.ptr, &system, reader->err);
	if (r < 0)
		return fail_file(config->path.ptr, not_gone(r), reader->err);
	config->system = config->system && system;
	if (!dir)
		return no_dropins(folder, code, reader->err);
	r = list_dropins(dir, &names, reader->err);
	if (r < 0)
		return fail_file(folder, r, reader->err);
	return names.n > 0 ? load_dropins(reader, folder, &names) : 0;
}

/* ---- from files to a config --------------------------------------------------------- */

static void set_defaults(struct config *config)
{
	config->limits = JSON_DEFAULT_LIMITS;
	config->deadline_ns = CONFIG_DEADLINE_DEFAULT_NS;
	config->refusal = STR("BLOCKED: {reason}");
	config->approval.timeout_ns = INT64_C(300000000000);
	config->approval.need = 1;
	config->approval.redeem_ns = INT64_C(600000000000);
	config->approval.wait_ns = INT64_MAX;
}

/* Where we were installed: plugins lie beside libexec, in the build tree too. */
static int default_plugin_dir(struct config *config, struct error *err)
{
	char path[PATH_MAX + 32];
	const char *chosen = PAWL_PLUGINDIR;
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < 3 && n > 0; up++) { /* PREFIX/libexec/pawl/pawl-worker */
		char *slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	struct stat st;
	strcat(path, "/lib/pawl/plugins");
	if (n > 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		chosen = path;
	return arena_text(config, chosen, &config->plugin_dir, err);
}

/* Which files it was, for whoever asks what is in force. */
static int name_files(struct reader *reader)
{
	struct config *config = reader->config;
	config->files = reader_alloc(reader, reader->n_files, sizeof(*config->files));
	if (!config->files)
		return fail_memory(reader);
	for (size_t i = 0; i < reader->n_files; i++)
		config->files[config->n_files++] = reader->files[i].path;
	return 0;
}

/* What it was read from, for whoever asks later whether it is still the same. */
static int keep_sources(struct reader *reader)
{
	struct config *config = reader->config;
	config->sources = reader_alloc(reader, reader->n_files, sizeof(*config->sources));
	if (!config->sources)
		return fail_memory(reader);
	for (; config->n_sources < reader->n_files; config->n_sources++) {
		const struct config_file *file = &reader->files[config->n_sources];
		config->sources[config->n_sources] =
			(struct config_source){file->path, file->text};
	}
	return 0;
}

static int build(struct reader *reader)
{
	static const enum walk walks[] = {WALK_ONCE, WALK_LISTS};
	for (size_t w = 0; w < 2; w++)
		for (size_t i = 0; i < reader->n_files; i++) {
			reader->file = &reader->files[i];
			int r = read_object(reader, IN_TOP, walks[w], reader->file->root,
					    reader->config);
			if (r < 0)
				return r;
		}
	int r = keep_sources(reader);
	if (r == 0)
		r = check_lists(reader);
	if (r == 0 && !reader->config->plugin_dir.ptr)
		r = default_plugin_dir(reader->config, reader->err);
	return r < 0 ? r : name_files(reader);
}

void config_free(struct config *config)
{
	if (!config)
		return;
	if (config->own_arena)
		json_arena_free(config->arena);
	free(config);
}

static void config_freep(struct config **config)
{
	config_free(*config);
}

/* arena: the caller's, or NULL for one of the config's own */
static int config_new(struct json_arena *arena, const char *path, struct config **ret,
		      struct error *err)
{
	_cleanup_(config_freep) struct config *config = calloc(1, sizeof(*config));
	if (!config)
		return error_set(err, ENOMEM, "no memory for the config");
	config->arena = arena;
	config->own_arena = !arena;
	int r = arena ? 0 : json_arena_new(CONFIG_ARENA, &config->arena, err);
	if (r < 0)
		return r;
	set_defaults(config);
	r = arena_text(config, path, &config->path, err);
	if (r < 0)
		return r;
	struct str dir = folder_of(config->path.ptr);
	config->dir = json_arena_text(config->arena, dir);
	if (!config->dir.ptr)
		return error_set(err, ENOMEM, "no memory for the config");
	*ret = TAKE_PTR(config);
	return 0;
}

/* path is absolute; -ENOENT: there is no such file */
static int load_from(struct json_arena *arena, const char *path, struct config **ret,
		     struct error *err)
{
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_close_ int fd = -1;
	struct config_file main_file = {.line = 0};
	bool system = false;
	int r = trust_open(path, CONFIG_BYTES_MAX, &fd, &system, err);
	if (r == 0)
		r = config_new(arena, path, &config, err);
	if (r < 0)
		return fail_file(path, r, err);
	struct reader reader = {.config = config,
				.files = &main_file,
				.file = &main_file,
				.n_files = 1,
				.err = err};
	config->system = true;
	r = take_file(config, path, fd, system, &main_file, err);
	if (r == 0)
		r = load_folder(&reader);
	if (r == 0)
		r = build(&reader);
	if (r == 0)
		*ret = TAKE_PTR(config);
	return r;
}

int config_plugin_path(const struct config *config, const struct config_entry *entry,
		       char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%.*s/%.*s.so", STR_FMT(config->plugin_dir),
			 STR_FMT(entry->plugin));
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int config_parse(struct str text, const char *path, struct config **ret, struct error *err)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct config_file file = {.line = 0};
	int r = config_new(NULL, path, &config, err);
	if (r == 0 && text.len > CONFIG_BYTES_MAX)
		r = error_set(err, EFBIG, "has %zu bytes, more than the %zu that are read",
			      text.len, CONFIG_BYTES_MAX);
	if (r == 0)
		r = file_room(config, &file, text.len, err);
	if (r < 0)
		return fail_file(path, r, err);
	memcpy(file.writable, text.ptr, text.len);
	file.text.len = text.len;
	file.path = config->path;
	struct reader reader = {
		.config = config, .files = &file, .file = &file, .n_files = 1, .err = err};
	r = parse_file(config, &file, err);
	if (r == 0)
		r = build(&reader);
	if (r == 0)
		*ret = TAKE_PTR(config);
	return r;
}

/* ---- where it is looked for ----------------------------------------------------------- */

static int load_named(struct json_arena *arena, const char *path, struct config **ret,
		      struct error *err)
{
	char full[PATH_MAX];
	size_t at = 0;
	if (path[0] != '/') {
		if (!getcwd(full, sizeof(full) - 1))
			return error_set(err, errno,
					 "%s:1:1: the working folder cannot be read: %s; "
					 "name the config with its whole path",
					 path, strerror(errno));
		at = strlen(full);
		full[at++] = '/';
	}
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '\0')
		return error_set(err, EINVAL, "--config names no file; name one");
	if (at + strlen(path) >= sizeof(full))
		return error_set(err, ENAMETOOLONG, "%.128s...:1:1: the path is too long", path);
	memcpy(full + at, path, strlen(path) + 1);
	int r = load_from(arena, full, ret, err);
	if (r == -ENOENT)
		error_set(err, ENOENT,
			  "%s:1:1: does not exist; write it as pawl.json(5) says, or name another "
			  "with "
			  "--config",
			  full);
	return r;
}

int config_load_in(struct json_arena *arena, const char *path, struct config **ret,
		   struct error *err)
{
	char full[PATH_MAX + sizeof("/" HOME_CONFIG)];
	struct error unused;
	if (!err)
		err = &unused;
	if (path)
		return load_named(arena, path, ret, err);
	int r = load_from(arena, SYSTEM_CONFIG, ret, err);
	if (r != -ENOENT)
		return r;
	r = home_dir(full, PATH_MAX, err);
	if (r < 0) {
		error_prefix(err, "%s: does not exist, and", SYSTEM_CONFIG);
		return r;
	}
	strcat(full, "/" HOME_CONFIG);
	r = load_from(arena, full, ret, err);
	if (r == -ENOENT)
		error_set(err, ENOENT,
			  "no config: neither %s nor %s exists; write one as pawl.json(5) says, or "
			  "name one "
			  "with --config",
			  SYSTEM_CONFIG, full);
	return r;
}

int config_load(const char *path, struct config **ret, struct error *err)
{
	return config_load_in(NULL, path, ret, err);
}

int config_state_dir(struct config *config, struct str *ret, struct error *err)
{
	char path[PATH_MAX + sizeof("/" HOME_STATE)];
	if (!config->state_dir.ptr) {
		int r = home_dir(path, PATH_MAX, err);
		if (r < 0)
			return r;
		strcat(path, "/" HOME_STATE);
		r = arena_text(config, path, &config->state_dir, err);
		if (r < 0)
			return r;
	}
	*ret = config->state_dir;
	return 0;
}
