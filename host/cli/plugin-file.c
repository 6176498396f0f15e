/* plugin-file.c - see plugin-file.h. */
#include <config.h>

#include "cli/plugin-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"

#define MARK "// pawl.js - pawl in OpenCode"
#define COMMAND "\nconst installed = "

int plugin_file_read(struct json_arena *arena, const char *path, struct str *ret, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	*ret = (struct str){NULL, 0};
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 :
			       error_set(err, errno, "%s: %s", path, strerror(errno));
	int r = io_read_all(fd, PLUGIN_FILE_BYTES_MAX, &data, &len, err);
	if (r < 0)
		return error_prefix(err, "%s", path), r;
	*ret = json_arena_text(arena, (struct str){data, len});
	return ret->ptr ? 0 : error_set(err, ENOMEM, "out of memory");
}

bool plugin_file_ours(struct str text)
{
	return str_starts(text, STR(MARK));
}

/* The line of the command: where its value begins, and its length; 0: there is none. */
static size_t command_at(struct str text, size_t *ret_len)
{
	const char *at = text.ptr ? memmem(text.ptr, text.len, COMMAND, sizeof(COMMAND) - 1) : NULL;
	if (!at)
		return 0;
	at += sizeof(COMMAND) - 1;
	const char *end = memchr(at, '\n', (size_t)(text.ptr + text.len - at));
	*ret_len = end ? (size_t)(end - at) : 0;
	return end ? (size_t)(at - text.ptr) : 0;
}

const struct json_value *plugin_file_command(struct json_arena *arena, struct str text)
{
	const struct json_value *value;
	size_t len, at = command_at(text, &len);
	if (at == 0 || json_parse(arena, (struct str){text.ptr + at, len}, JSON_DEFAULT_LIMITS, 0,
				  &value, NULL, NULL) < 0)
		return NULL;
	return json_type(value) == JSON_ARRAY && json_length(value) > 0 ? value : NULL;
}

bool plugin_file_same(struct str a, struct str b)
{
	size_t a_len, b_len, a_at = command_at(a, &a_len), b_at = command_at(b, &b_len);
	return a_at > 0 && a_at == b_at && memcmp(a.ptr, b.ptr, a_at) == 0 &&
	       str_equal(str_after(a, a_at + a_len), str_after(b, b_at + b_len));
}

/* In the build tree it lies beside us, else where it was installed. */
static int read_shipped(struct json_arena *arena, struct str *ret, struct error *err)
{
	static const char tail[] = "/libexec/pawl/pawl-tool";
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	size_t len = n > 0 ? (size_t)n : 0;
	path[len] = '\0';
	*ret = (struct str){NULL, 0};
	if (len > sizeof(tail) && strcmp(path + len - sizeof(tail) + 1, tail) == 0) {
		strcpy(path + len - sizeof(tail) + 1, "/host/clients/opencode/pawl.js");
		int r = plugin_file_read(arena, path, ret, err);
		if (r < 0 || ret->ptr)
			return r;
	}
	int r = plugin_file_read(arena, PAWL_DATADIR "/opencode/pawl.js", ret, err);
	if (r == 0 && !ret->ptr)
		r = error_set(err, ENOENT, "%s is not there; is pawl installed whole?",
			      PAWL_DATADIR "/opencode/pawl.js");
	return r;
}

int plugin_file_text(struct json_arena *arena, const struct settings_line *line, const char *pawl,
		     struct str *ret, struct error *err)
{
	_cleanup_(buffer_done) struct buffer text = {.max = 2 * PLUGIN_FILE_BYTES_MAX};
	struct str shipped;
	size_t len, at;
	int r = read_shipped(arena, &shipped, err);
	if (r < 0)
		return r;
	at = command_at(shipped, &len);
	if (at == 0)
		return error_set(err, EBADMSG, "the plugin that came along names no command");
	buffer_add(&text, (struct str){shipped.ptr, at});
	buffer_add(&text, STR("["));
	buffer_add(&text, json_quote(arena, str_of(pawl)));
	buffer_add(&text, STR(", \"hook\", \"pawl\""));
	if (line->config) {
		buffer_add(&text, STR(", \"--config\", "));
		buffer_add(&text, json_quote(arena, str_of(line->config)));
	}
	buffer_add(&text, STR("]"));
	buffer_add(&text, str_after(shipped, at + len));
	if (text.error == 0)
		*ret = json_arena_text(arena, buffer_str(&text));
	return text.error < 0 || !ret->ptr ? error_set(err, ENOMEM, "out of memory") : 0;
}
