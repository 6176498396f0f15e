/* options.c - a config entry's options against the plugin's table.
 *
 * Layer: core; knows plugin-api, json and base.
 *
 * What open gets is spliced from the values' own bytes and read again, so that a
 * plugin sees one frozen object and numbers keep their text.  Comments and trailing
 * commas, which the config may have, stay behind.
 */
#include <config.h>

#include "core/plugin.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "core/config.h"

#define NEAR_MAX 3 /* edits between a name and the one meant */

/* ---- JSON without what only the config may have ------------------------------------------ */

/* Bytes of the comment or white space at the front of valid config JSON. */
static size_t skip_blank(struct str json)
{
	if (str_starts(json, STR("//"))) {
		const char *end = memchr(json.ptr, '\n', json.len);
		return end ? (size_t)(end - json.ptr) : json.len;
	}
	if (str_starts(json, STR("/*"))) {
		const char *end = memmem(json.ptr + 2, json.len - 2, "*/", 2);
		return end ? (size_t)(end - json.ptr) + 2 : json.len;
	}
	return json.len > 0 && strchr(" \t\r\n", json.ptr[0]) && json.ptr[0] ? 1 : 0;
}

/* Bytes of the string at the front, both quotes counted. */
static size_t string_length(struct str json)
{
	size_t at = 1;
	while (at < json.len && json.ptr[at] != '"')
		at += json.ptr[at] == '\\' ? 2 : 1;
	return at < json.len ? at + 1 : json.len;
}

static void add_plain(struct buffer *text, struct str json)
{
	bool comma = false; /* seen, and dropped if a bracket closes next */
	while (json.len > 0) {
		size_t n = skip_blank(json);
		if (n > 0) {
			json = str_after(json, n);
			continue;
		}
		char c = json.ptr[0];
		if (comma && c != ']' && c != '}')
			buffer_add(text, STR(","));
		comma = c == ',';
		n = c == '"' ? string_length(json) : 1;
		if (!comma)
			buffer_add(text, (struct str){json.ptr, n});
		json = str_after(json, n);
	}
}

/* ---- one value --------------------------------------------------------------------------- */

struct work {
	const struct plugin_file *file;
	const char *base_dir;
	struct json_arena *arena;
	struct buffer text;
	struct error *err;
};

/* An option and the value it is to have. */
struct setting {
	const pawl_option *option;
	const struct json_value *value;
	bool is_default; /* the value comes from the plugin */
};

/* "12:7: " where the value stands, "" for a default, which stands nowhere. */
static void place_of(const struct json_value *value, char place[32])
{
	unsigned line = 0, column = 0;
	place[0] = '\0';
	if (value)
		json_place(value, &line, &column);
	if (line > 0)
		snprintf(place, 32, "%u:%u: ", line, column);
}

__attribute__((format(printf, 3, 4))) static int refuse(const struct work *work,
							 const struct setting *setting,
							 const char *format, ...)
{
	char text[640], place[32] = "";
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!setting->is_default)
		place_of(setting->value, place);
	return error_set(work->err, setting->is_default ? ENOEXEC : EINVAL,
			 "%splugin \"%s\": %s \"%s\" %s", place, work->file->note.id,
			 setting->is_default ? "its own default of option" : "option",
			 setting->option->name, text);
}

/* A value as a message may show it: cut, one line, never a secret. */
static void shown(const struct setting *setting, struct str value, char buf[80])
{
	size_t len = value.len < 60 ? value.len : 60;
	if (setting->option->flags & PAWL_OPTF_SECRET) {
		buf[0] = '\0';
		return;
	}
	int n = snprintf(buf, 80, "is \"%.*s%s\": it ", (int)len, value.ptr,
			 value.len > len ? "..." : "");
	for (int i = 0; i < n && i < 79; i++)
		if ((unsigned char)buf[i] < ' ' || buf[i] == 0x7f)
			buf[i] = ' ';
}

static bool is_choice(const char *choices, struct str value)
{
	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (str_equal((struct str){at, strcspn(at, "|")}, value))
			return true;
	return false;
}

static int check_choice(const struct work *work, const struct setting *setting, struct str value)
{
	char buf[80];
	if (!setting->option->choices || is_choice(setting->option->choices, value))
		return 0;
	shown(setting, value, buf);
	return refuse(work, setting, "%stakes one of %.400s", buf, setting->option->choices);
}

static int add_string(struct work *work, const struct setting *setting)
{
	struct str value;
	if (json_string(setting->value, &value) < 0)
		return refuse(work, setting, "takes a string");
	buffer_add(&work->text, json_raw(setting->value));
	return check_choice(work, setting, value);
}

static int add_integer(struct work *work, const struct setting *setting)
{
	int64_t value;
	if (json_integer(setting->value, &value) < 0)
		return refuse(work, setting, "takes a whole number");
	buffer_add(&work->text, json_raw(setting->value));
	return 0;
}

static int add_number(struct work *work, const struct setting *setting)
{
	double value;
	if (json_real(setting->value, &value) < 0)
		return refuse(work, setting, "takes a number");
	buffer_add(&work->text, json_raw(setting->value));
	return 0;
}

static int add_boolean(struct work *work, const struct setting *setting)
{
	int value;
	if (json_boolean(setting->value, &value) < 0)
		return refuse(work, setting, "takes true or false");
	buffer_add(&work->text, json_raw(setting->value));
	return 0;
}

/* A single string is a list of one. */
static int add_strings(struct work *work, const struct setting *setting)
{
	const struct json_value *list = setting->value;
	size_t n = json_type(list) == JSON_ARRAY ? json_length(list) : 1;
	buffer_add(&work->text, STR("["));
	for (size_t i = 0; i < n; i++) {
		struct setting item = *setting;
		struct str value;
		item.value = json_type(list) == JSON_ARRAY ? json_item(list, i) : list;
		if (json_string(item.value, &value) < 0)
			return refuse(work, &item, "takes a list of strings");
		int r = check_choice(work, &item, value);
		if (r < 0)
			return r;
		buffer_add(&work->text, i > 0 ? STR(",") : STR(""));
		buffer_add(&work->text, json_raw(item.value));
	}
	buffer_add(&work->text, STR("]"));
	return 0;
}

static int add_duration(struct work *work, const struct setting *setting)
{
	struct str value;
	int64_t ns;
	char buf[80], number[24];
	if (json_string(setting->value, &value) < 0)
		return refuse(work, setting, "takes a duration with its unit, as \"250ms\", "
					     "\"2s\", \"5m\"");
	if (config_duration(value, &ns) < 0) {
		shown(setting, value, buf);
		return refuse(work, setting, "%stakes a duration, as \"250ms\", \"2s\", \"5m\"",
			      buf);
	}
	snprintf(number, sizeof(number), "%lld", (long long)ns);
	buffer_add(&work->text, str_of(number));
	return 0;
}

static int add_path(struct work *work, const struct setting *setting)
{
	struct str value;
	char path[PATH_MAX];
	if (json_string(setting->value, &value) < 0 || value.len == 0)
		return refuse(work, setting, "takes the path of a file or folder");
	if (memchr(value.ptr, '\0', value.len))
		return refuse(work, setting, "has a NUL in it: no path has");
	bool absolute = value.ptr[0] == '/';
	int n = snprintf(path, sizeof(path), "%s%s%.*s", absolute ? "" : work->base_dir,
			 absolute ? "" : "/", STR_FMT(value));
	if (n < 0 || (size_t)n >= sizeof(path))
		return refuse(work, setting, "is longer than a path can be (%d)", PATH_MAX - 1);
	struct str quoted = json_quote(work->arena, str_of(path));
	if (!quoted.ptr)
		return error_set(work->err, ENOMEM, "no room for the options");
	buffer_add(&work->text, quoted);
	return 0;
}

static int add_json(struct work *work, const struct setting *setting)
{
	add_plain(&work->text, json_raw(setting->value));
	return 0;
}

static int (*const adders[])(struct work *work, const struct setting *setting) = {
	[PAWL_OPT_STRING] = add_string,	  [PAWL_OPT_INTEGER] = add_integer,
	[PAWL_OPT_BOOLEAN] = add_boolean, [PAWL_OPT_STRINGS] = add_strings,
	[PAWL_OPT_DURATION] = add_duration, [PAWL_OPT_PATH] = add_path,
	[PAWL_OPT_JSON] = add_json,	  [PAWL_OPT_NUMBER] = add_number,
};

/* ---- the whole ------------------------------------------------------------------------------ */

/* Levenshtein's distance of two option names; anything past NEAR_MAX is far. */
static unsigned distance(struct str a, struct str b)
{
	unsigned row[PLUGIN_OPTION_NAME_MAX + 1];
	if (a.len > PLUGIN_OPTION_NAME_MAX || b.len > PLUGIN_OPTION_NAME_MAX)
		return NEAR_MAX + 1;
	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned change = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
			unsigned gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			diagonal = row[j];
			row[j] = change < gap ? change : gap;
		}
	}
	return row[b.len];
}

static bool is_option(const pawl_plugin *desc, struct str name)
{
	pawl_option option;
	for (size_t i = 0; plugin_option_get(desc, i, &option); i++)
		if (str_is(name, option.name))
			return true;
	return false;
}

/* "did you mean "allow"? it takes allow, deny, schemes" */
static void suggest(const pawl_plugin *desc, struct str name, char *text, size_t size)
{
	pawl_option option;
	unsigned best = NEAR_MAX < name.len ? NEAR_MAX : (unsigned)name.len;
	const char *nearest = NULL;
	char names[480] = "";
	size_t len = 0;
	for (size_t i = 0; plugin_option_get(desc, i, &option); i++) {
		unsigned d = distance(name, str_of(option.name));
		if (d < best) {
			best = d;
			nearest = option.name;
		}
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						i > 0 ? ", " : "", option.name);
	}
	snprintf(text, size, "%s%s%s%s%s", nearest ? "did you mean \"" : "",
		 nearest ? nearest : "", nearest ? "\"? " : "",
		 len > 0 ? "it takes " : "it takes none", names);
}

static int check_known(const struct work *work, const struct json_value *options)
{
	if (options && json_type(options) != JSON_OBJECT) {
		char place[32];
		place_of(options, place);
		return error_set(work->err, EINVAL, "%sthe options of plugin \"%s\" are not an "
				 "object", place, work->file->note.id);
	}
	for (size_t i = 0; i < json_length(options); i++) {
		const struct json_value *value = NULL;
		struct str name = json_key(options, i, &value);
		char place[32], hint[640];
		if (is_option(&work->file->desc, name))
			continue;
		place_of(value, place);
		suggest(&work->file->desc, name, hint, sizeof(hint));
		return error_set(work->err, EINVAL, "%splugin \"%s\" has no option \"%.*s\": %s",
				 place, work->file->note.id,
				 (int)(name.len < 64 ? name.len : 64), name.ptr, hint);
	}
	return 0;
}

static int read_default(const struct work *work, struct setting *setting)
{
	struct error why;
	struct json_fault fault;
	setting->is_default = true;
	int r = json_parse(work->arena, str_of(setting->option->fallback), JSON_DEFAULT_LIMITS, 0,
			   &setting->value, &fault, &why);
	if (r == -EBADMSG || r == -E2BIG)
		return refuse(work, setting, "is not JSON: %s", why.text);
	return r < 0 ? error_set(work->err, -r, "%s", why.text) : 0;
}

static int refuse_missing(const struct work *work, const struct json_value *options,
			  const pawl_option *option)
{
	char place[32];
	place_of(options, place);
	return error_set(work->err, EINVAL, "%splugin \"%s\" needs the option \"%s\"%s%.300s",
			 place, work->file->note.id, option->name, option->help ? ": " : "",
			 option->help ? option->help : "");
}

static int add_option(struct work *work, const struct json_value *options,
		      const pawl_option *option)
{
	struct setting setting = {option, json_member(options, str_of(option->name)), false};
	if (!setting.value && (option->flags & PAWL_OPTF_REQUIRED))
		return refuse_missing(work, options, option);
	if (!setting.value && !option->fallback)
		return 0;
	if (!setting.value) {
		int r = read_default(work, &setting);
		if (r < 0)
			return r;
	}
	buffer_add(&work->text, work->text.len > 1 ? STR(",\"") : STR("\""));
	buffer_add(&work->text, str_of(option->name)); /* a-z 0-9 _ - : nothing to escape */
	buffer_add(&work->text, STR("\":"));
	return adders[option->type](work, &setting);
}

static int read_result(struct work *work, const struct json_value **ret)
{
	struct error why;
	int r = work->text.error;
	if (r < 0)
		return error_set(work->err, -r, "no room for the options of plugin \"%s\"",
				 work->file->note.id);
	r = json_parse(work->arena, buffer_str(&work->text),
		       JSON_DEFAULT_LIMITS, 0, ret, NULL, &why);
	return r < 0 ? error_set(work->err, -r, "the options of plugin \"%s\": %s",
				 work->file->note.id, why.text)
		     : 0;
}

int plugin_options(const struct plugin_file *file, const struct json_value *options,
		   const char *base_dir, struct json_arena *arena, const struct json_value **ret,
		   struct error *err)
{
	struct work work = {.file = file,
			    .base_dir = base_dir,
			    .arena = arena,
			    .err = err,
			    .text = {.max = JSON_BYTES_MAX}};
	pawl_option option;
	buffer_add(&work.text, STR("{"));
	int r = check_known(&work, options);
	for (size_t i = 0; r == 0 && plugin_option_get(&file->desc, i, &option); i++)
		r = add_option(&work, options, &option);
	buffer_add(&work.text, STR("}"));
	if (r == 0)
		r = read_result(&work, ret);
	buffer_done(&work.text);
	return r;
}
