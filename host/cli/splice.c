/* splice.c - see splice.h: reading, cutting and pasting, writing. */
#include <config.h>

#include "cli/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

static const struct json_limits limits = {DOC_BYTES_MAX, JSON_VALUES_MAX, JSON_DEPTH_MAX};

/* ---- reading --------------------------------------------------------------------------- */

static bool is_blank(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\r\n", text.ptr[i]))
			return false;
	return true;
}

static int full(struct error *err)
{
	return error_set(err, ENOMEM, "no memory is left for the file");
}

/* A copy that lives as long as the document. */
static struct str keep(struct doc *doc, struct str text)
{
	char *copy = json_arena_alloc(doc->arena, text.len + 1);
	if (!copy)
		return (struct str){NULL, 0};
	if (text.len)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return (struct str){json_arena_frozen(doc->arena, copy), text.len};
}

int doc_set(struct doc *doc, struct str text, struct error *err)
{
	struct json_fault fault;
	struct error what;
	struct str kept = keep(doc, text);
	const struct json_value *root = NULL;
	if (!kept.ptr)
		return full(err);
	if (!is_blank(kept)) {
		int r = json_parse(doc->arena, kept, limits, JSON_COMMENTS | JSON_BORROW, &root,
				   &fault, &what);
		if (r < 0)
			return error_set(err, -r, "%s:%u:%u: %s; it is left as it is", doc->path,
					 fault.line, fault.column, what.text);
	}
	doc->text = kept;
	doc->root = root;
	return 0;
}

/* What is at path, links followed; of a file that is not there, what was asked for. */
static int find_file(const char *path, struct doc *doc, struct error *err)
{
	char real[PATH_MAX];
	const char *is = realpath(path, real);
	if (!is && errno != ENOENT && errno != ENOTDIR)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if ((size_t)snprintf(doc->path, sizeof(doc->path), "%s", is ? is : path) >=
	    sizeof(doc->path))
		return error_set(err, ENAMETOOLONG, "%s: the path is too long", path);
	struct stat link;
	if (!is && lstat(path, &link) == 0)
		return error_set(err, ENOENT, "%s: a link that leads nowhere; remove it", path);
	doc->exists = is != NULL;
	return 0;
}

static int read_file(struct doc *doc, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_close_ int fd = open(doc->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &doc->was) != 0)
		return error_set(err, errno, "%s: %s", doc->path, strerror(errno));
	if (!S_ISREG(doc->was.st_mode))
		return error_set(err, EINVAL, "%s: no regular file", doc->path);
	int r = io_read_all(fd, DOC_BYTES_MAX, ret, ret_len, err);
	if (r < 0)
		error_prefix(err, "%s", doc->path);
	return r;
}

int doc_open(const char *path, struct doc *doc, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len = 0;
	memset(doc, 0, sizeof(*doc));
	int r = find_file(path, doc, err);
	if (r == 0)
		r = json_arena_new(JSON_ARENA_DEFAULT, &doc->arena, err);
	if (r == 0 && doc->exists)
		r = read_file(doc, &data, &len, err);
	if (r == 0)
		r = doc_set(doc, (struct str){data ? data : "", len}, err);
	if (r < 0)
		return r;
	doc->before = doc->text;
	return 0;
}

void doc_done(struct doc *doc)
{
	json_arena_free(doc->arena);
	doc->arena = NULL;
}

bool doc_changed(const struct doc *doc)
{
	return !str_equal(doc->before, doc->text);
}

int doc_wrong(const struct doc *doc, const struct json_value *value, struct error *err,
	      const char *what)
{
	unsigned line = 1, column = 1;
	if (value)
		json_place(value, &line, &column);
	return error_set(err, EBADMSG, "%s:%u:%u: %s; it is left as it is", doc->path, line, column,
			 what);
}

/* ---- places in the text ---------------------------------------------------------------- */

static size_t begin_of(const struct doc *doc, const struct json_value *value)
{
	return (size_t)(json_raw(value).ptr - doc->text.ptr);
}

static size_t end_of(const struct doc *doc, const struct json_value *value)
{
	return begin_of(doc, value) + json_raw(value).len;
}

struct str doc_indent(const struct doc *doc, const struct json_value *value)
{
	size_t line = begin_of(doc, value), n = 0;
	while (line > 0 && doc->text.ptr[line - 1] != '\n')
		line--;
	while (line + n < doc->text.len && strchr(" \t", doc->text.ptr[line + n]))
		n++;
	return (struct str){doc->text.ptr + line, n};
}

static const struct json_value *child_at(const struct json_value *container, size_t i)
{
	const struct json_value *value = NULL;
	if (json_type(container) == JSON_ARRAY)
		return json_item(container, i);
	json_key(container, i, &value);
	return value;
}

/* Behind white space and comments; the text is known to be well-formed. */
static size_t skip(const struct doc *doc, size_t at)
{
	const char *text = doc->text.ptr;
	for (;;) {
		while (at < doc->text.len && strchr(" \t\r\n", text[at]))
			at++;
		if (at + 1 >= doc->text.len || text[at] != '/')
			return at;
		if (text[at + 1] == '/')
			while (at < doc->text.len && text[at] != '\n')
				at++;
		else {
			const char *end = strstr(text + at + 2, "*/");
			if (!end)
				return at;
			at = (size_t)(end - text) + 2;
		}
	}
}

/* ---- pasting --------------------------------------------------------------------------- */

/* Bytes begin to end give way to the pieces. */
static int paste(struct doc *doc, size_t begin, size_t end, const struct str *pieces, size_t n,
		 struct error *err)
{
	size_t len = doc->text.len - (end - begin), at = begin;
	for (size_t i = 0; i < n; i++)
		len += pieces[i].len;
	if (len > DOC_BYTES_MAX)
		return error_set(err, E2BIG, "%s: larger than %zu bytes", doc->path, DOC_BYTES_MAX);
	_cleanup_free_ char *text = malloc(len + 1);
	if (!text)
		return full(err);
	memcpy(text, doc->text.ptr, begin);
	for (size_t i = 0; i < n; at += pieces[i].len, i++)
		if (pieces[i].len)
			memcpy(text + at, pieces[i].ptr, pieces[i].len);
	memcpy(text + at, doc->text.ptr + end, doc->text.len - end);
	return doc_set(doc, (struct str){text, len}, err);
}

int doc_replace(struct doc *doc, const struct json_value *value, struct str with, struct error *err)
{
	return paste(doc, begin_of(doc, value), end_of(doc, value), &with, 1, err);
}

/* Whether the container's children stand on lines of their own. */
static bool is_tall(const struct doc *doc, const struct json_value *container)
{
	size_t from = begin_of(doc, container);
	size_t to = begin_of(doc, child_at(container, json_length(container) - 1));
	return memchr(doc->text.ptr + from, '\n', to - from) != NULL;
}

int doc_append(struct doc *doc, struct str pointer, struct str name, struct str value,
	       struct error *err)
{
	const struct json_value *container = json_at(doc->root, pointer);
	size_t n = json_length(container), at = begin_of(doc, container) + 1;
	struct str pieces[8] = {{NULL, 0}}, end = {NULL, 0};
	if (n > 0) {
		const struct json_value *last = child_at(container, n - 1);
		at = end_of(doc, last);
		pieces[0] = is_tall(doc, container) ? STR(",\n") : STR(", ");
		if (is_tall(doc, container))
			pieces[1] = doc_indent(doc, last);
	} else if (container == doc->root) {
		pieces[0] = STR("\n  ");
		end = STR("\n");
	} else {
		pieces[0] = STR(" ");
	}
	if (name.ptr) {
		pieces[2] = STR("\"");
		pieces[3] = name;
		pieces[4] = STR("\": ");
	}
	pieces[5] = value;
	pieces[6] = end;
	return paste(doc, at, at, pieces, 7, err);
}

/* ---- cutting --------------------------------------------------------------------------- */

bool doc_was_empty(const struct doc *doc, struct str pointer)
{
	const struct json_value *container = json_at(doc->root, pointer);
	size_t open = container ? begin_of(doc, container) + 1 : 0;
	return container && doc->text.ptr[open] == ' ' && json_length(container) > 0;
}

/* An only child, with its name, the comma behind it, and the lines doc_append laid it on. */
static int cut_only(struct doc *doc, const struct json_value *container,
		    const struct json_value *child, struct error *err)
{
	const char *text = doc->text.ptr;
	size_t open = begin_of(doc, container) + 1, begin = skip(doc, open);
	size_t end = end_of(doc, child), comma = skip(doc, end);
	struct str rest = {NULL, 0};
	size_t line = open;
	if (text[open] == ' ' && container != doc->root)
		begin = open;
	if (text[comma] == ',') {
		rest = (struct str){text + end, comma - end};
		end = comma + 1;
	}
	if (text[line] == '\n')
		for (line++; line < begin && strchr(" \t", text[line]);)
			line++;
	if (line == begin && line > open && text[end] == '\n') {
		begin = open;
		end++;
	}
	return paste(doc, begin, end, &rest, 1, err);
}

/* The first of several goes with the comma behind it. */
static int cut_first(struct doc *doc, struct str container, struct str child, struct error *err)
{
	char pointer[1024];
	const struct json_value *root;
	snprintf(pointer, sizeof(pointer), "%.*s/%.*s", STR_FMT(container), STR_FMT(child));
	size_t begin = begin_of(doc, doc->root), end = end_of(doc, doc->root);
	int r = json_remove_at(doc->arena, doc->root, str_of(pointer), limits, &root, err);
	struct str text = json_raw(root);
	return r < 0 ? r : paste(doc, begin, end, &text, 1, err);
}

static size_t index_of(const struct json_value *container, const struct json_value *child)
{
	for (size_t i = 0; i < json_length(container); i++)
		if (child_at(container, i) == child)
			return i;
	return 0;
}

int doc_remove(struct doc *doc, struct str pointer, struct str name, struct error *err)
{
	char below[1024];
	const struct json_value *container = json_at(doc->root, pointer);
	snprintf(below, sizeof(below), "/%.*s", STR_FMT(name));
	const struct json_value *child = json_at(container, str_of(below));
	if (!child)
		return 0;
	size_t i = index_of(container, child);
	if (i > 0)
		return paste(doc, end_of(doc, child_at(container, i - 1)), end_of(doc, child), NULL,
			     0, err);
	if (json_length(container) == 1)
		return cut_only(doc, container, child, err);
	return cut_first(doc, pointer, name, err);
}

/* ---- writing --------------------------------------------------------------------------- */

/* Unlike state, settings lie in folders that others may read, if the user says so. */
static int make_dirs(const char *path, struct error *err)
{
	char dir[PATH_MAX];
	if ((size_t)snprintf(dir, sizeof(dir), "%s", path) >= sizeof(dir))
		return error_set(err, ENAMETOOLONG, "%s: the path is too long", path);
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(dir, 0777) != 0 && errno != EEXIST)
			return error_set(err, errno, "%s: %s", dir, strerror(errno));
		*slash = '/';
	}
	return 0;
}

static int fill(int fd, const char *path, struct str text, mode_t mode, const struct stat *was,
		struct error *err)
{
	if (was && was->st_uid != geteuid() && fchown(fd, was->st_uid, was->st_gid) != 0)
		return error_set(err, errno, "%s: is another user's, and has to stay so: %s", path,
				 strerror(errno));
	if (io_write_all(fd, text.ptr, text.len) < 0 || fchmod(fd, mode) != 0 || fsync(fd) != 0)
		return error_set(err, errno ? errno : EIO, "%s: cannot be written: %s", path,
				 strerror(errno));
	return 0;
}

static int write_beside(const char *path, struct str text, mode_t mode, const struct stat *was,
			struct error *err)
{
	char temp[PATH_MAX];
	if ((size_t)snprintf(temp, sizeof(temp), "%s.pawl-XXXXXX", path) >= sizeof(temp))
		return error_set(err, ENAMETOOLONG, "%s: the path is too long", path);
	int r = make_dirs(path, err);
	if (r < 0)
		return r;
	_cleanup_close_ int fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", temp, strerror(errno));
	r = fill(fd, path, text, mode, was, err);
	if (r == 0 && rename(temp, path) != 0)
		r = error_set(err, errno, "%s: %s", path, strerror(errno));
	if (r < 0)
		unlink(temp);
	return r;
}

int doc_write(const char *path, struct str text, mode_t mode, struct error *err)
{
	return write_beside(path, text, mode, NULL, err);
}

static bool is_as_it_was(const struct doc *doc)
{
	struct stat now;
	if (stat(doc->path, &now) != 0)
		return !doc->exists;
	return doc->exists && now.st_ino == doc->was.st_ino && now.st_size == doc->was.st_size &&
	       now.st_mtim.tv_sec == doc->was.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == doc->was.st_mtim.tv_nsec;
}

int doc_save(const struct doc *doc, mode_t mode, struct error *err)
{
	if (!is_as_it_was(doc))
		return error_set(err, EBUSY, "%s: was changed meanwhile; try again", doc->path);
	return write_beside(doc->path, doc->text, doc->exists ? doc->was.st_mode & 07777 : mode,
			    doc->exists ? &doc->was : NULL, err);
}

/* ---- showing --------------------------------------------------------------------------- */

#define CONTEXT 3

static size_t count_lines(struct str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '\n' || i + 1 == text.len;
	return n;
}

static struct str line_at(struct str text, size_t index)
{
	while (text.len > 0) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;
		if (index-- == 0)
			return (struct str){text.ptr, len};
		text = str_after(text, end ? len + 1 : len);
	}
	return (struct str){NULL, 0};
}

static void show(FILE *out, char sign, struct str text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		fprintf(out, "%c%.*s\n", sign, STR_FMT(line_at(text, i)));
}

/* One hunk from the first line that differs to the last. */
void doc_diff(FILE *out, const struct doc *doc)
{
	size_t a = count_lines(doc->before), b = count_lines(doc->text), head = 0, tail = 0;
	while (head < a && head < b &&
	       str_equal(line_at(doc->before, head), line_at(doc->text, head)))
		head++;
	while (tail < a - head && tail < b - head &&
	       str_equal(line_at(doc->before, a - tail - 1), line_at(doc->text, b - tail - 1)))
		tail++;
	size_t from = head > CONTEXT ? head - CONTEXT : 0, more = tail < CONTEXT ? tail : CONTEXT;
	size_t had = a - tail + more - from, has = b - tail + more - from;
	fprintf(out, "--- %s\n+++ %s\n@@ -%zu,%zu +%zu,%zu @@\n",
		doc->exists ? doc->path : "/dev/null", doc->path, had ? from + 1 : 0, had,
		has ? from + 1 : 0, has);
	show(out, ' ', doc->before, from, head);
	show(out, '-', doc->before, head, a - tail);
	show(out, '+', doc->text, head, b - tail);
	show(out, ' ', doc->before, a - tail, a - tail + more);
}
