/* config-entry.c - the lists of a config: patterns, facts, entries of chain and observe.
 *
 * Layer: core.
 */
#include <config.h>

#include "core/config-impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns --------------------------------------------------------------------- */

/* Checks the string at item as a pattern of key; *ret is borrowed. */
static int read_pattern(struct reader *reader, const struct config_key *key,
			const struct json_value *item, int (*check)(struct str, struct error *),
			struct str *ret)
{
	char text[80];
	struct error why;
	if (json_string(item, ret) < 0)
		return fail(reader, item, "\"%s\" holds %s; a pattern is a string", key->name,
			    type_name(item));
	if (check(*ret, &why) < 0)
		return fail(reader, item, "\"%s\": the pattern \"%s\" %s", key->name,
			    shown(*ret, text), why.text);
	return 0;
}

/* An array that each file appends to. */
static int read_list(struct reader *reader, const struct config_key *key,
		     const struct json_value *value, void *base,
		     int (*check)(struct str, struct error *))
{
	struct patterns *patterns = (struct patterns *)((char *)base + key->place);
	if (!patterns->list)
		patterns->list = reader_alloc(reader, reader->counts[key_index(key)],
					      sizeof(*patterns->list));
	if (!patterns->list)
		return fail_memory(reader);
	for (size_t i = 0; i < json_length(value); i++) {
		int r = read_pattern(reader, key, json_item(value, i), check,
				     &patterns->list[patterns->n]);
		if (r < 0)
			return r;
		patterns->n++;
	}
	return 0;
}

int read_tools(struct reader *reader, const struct config_key *key, const struct json_value *value,
	       void *base)
{
	return read_list(reader, key, value, base, match_check_tool);
}

static int check_library(struct str name, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+-";
	if (name.len > 0 && name.len < 128 && name.ptr[0] != '.' &&
	    strspn(name.ptr, allowed) == name.len)
		return 0;
	return error_set(err, EINVAL, "is no library's name; write it as in readelf -d: "
				      "\"libssl.so.3\", or \"libssl.so\" for any version");
}

int read_libraries(struct reader *reader, const struct config_key *key,
		   const struct json_value *value, void *base)
{
	return read_list(reader, key, value, base, check_library);
}

static int check_class(struct str pattern, struct error *err)
{
	int r = match_check_glob(pattern, err);
	return r < 0 || match_any_class(pattern)
		       ? r
		       : error_set(err, EINVAL, "holds for no class; classes are " MATCH_CLASSES);
}

static int check_source(struct str pattern, struct error *err)
{
	int r = match_check_glob(pattern, err);
	return r < 0 || match_any_source(pattern)
		       ? r
		       : error_set(err, EINVAL, "holds for no source; sources are " MATCH_SOURCES);
}

static int check_word(struct str pattern, struct error *err)
{
	if (pattern.len == 0)
		return error_set(err, EINVAL, "is empty; leave the key out to mean any");
	return match_check_glob(pattern, err);
}

/* agent may be "": the main agent */
static int (*check_for(const struct config_key *key))(struct str, struct error *)
{
	switch (key->place) {
	case offsetof(struct match, tool):
		return match_check_tool;
	case offsetof(struct match, class):
		return check_class;
	case offsetof(struct match, source):
		return check_source;
	case offsetof(struct match, agent):
		return match_check_glob;
	default:
		return check_word;
	}
}

/* A pattern or a list of them. */
int read_globs(struct reader *reader, const struct config_key *key, const struct json_value *value,
	       void *base)
{
	struct patterns *patterns = (struct patterns *)((char *)base + key->place);
	bool is_list = json_type(value) == JSON_ARRAY;
	size_t n = is_list ? json_length(value) : 1;
	if (n == 0)
		return fail(reader, value, "\"%s\" is an empty list; leave the key out to mean any",
			    key->name);
	if (n > (size_t)key->max)
		return fail(reader, value, "\"%s\" holds more than %lld patterns; merge some",
			    key->name, (long long)key->max);
	patterns->list = reader_alloc(reader, n, sizeof(*patterns->list));
	if (!patterns->list)
		return fail_memory(reader);
	for (; patterns->n < n; patterns->n++) {
		int r = read_pattern(reader, key, is_list ? json_item(value, patterns->n) : value,
				     check_for(key), &patterns->list[patterns->n]);
		if (r < 0)
			return r;
	}
	return 0;
}

int read_match(struct reader *reader, const struct config_key *key, const struct json_value *value,
	       void *base)
{
	int r = need_type(reader, key, value, JSON_OBJECT,
			  "an object such as {\"tool\": \"create_*\"}");
	return r < 0 ? r
		     : read_object(reader, IN_MATCH, WALK_ALL, value, (char *)base + key->place);
}

/* ---- context ------------------------------------------------------------------------ */

static int fact_os(struct reader *reader, struct config_fact *fact, const struct json_value *from)
{
	static const char *const known[] = {"user", "uid", "gid", "home", "hostname"};
	char text[80];
	fact->kind = FACT_OS;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_is(fact->argument, known[i]))
			return 0;
	return fail(reader, from,
		    "{\"os\": \"%s\"}: there is no such fact; known are user, uid, gid, "
		    "home, hostname",
		    shown(fact->argument, text));
}

static int fact_file(struct reader *reader, struct config_fact *fact, const struct json_value *from)
{
	fact->kind = FACT_FILE;
	return resolve_path(reader, from, fact->argument, &fact->argument);
}

static int fact_env(struct reader *reader, struct config_fact *fact, const struct json_value *from)
{
	char text[80];
	fact->kind = FACT_ENV;
	if (reader->config->system)
		return fail(
			reader, from,
			"{\"env\": \"%s\"}: the environment decides nothing in a system install; "
			"write {\"file\": PATH} or {\"os\": \"user\"}",
			shown(fact->argument, text));
	for (size_t i = 0; i < fact->argument.len; i++) {
		char c = fact->argument.ptr[i];
		if ((c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' &&
		    (i == 0 || c < '0' || c > '9'))
			return fail(reader, from,
				    "{\"env\": \"%s\"} is no variable's name; write letters, "
				    "digits and _",
				    shown(fact->argument, text));
	}
	return 0;
}

/* {"os": X}, {"file": X}, {"env": X} with nothing beside it; anything else stands for itself. */
static int read_fact(struct reader *reader, struct config_fact *fact,
		     const struct json_value *value)
{
	static const struct {
		const char *name;
		int (*read)(struct reader *, struct config_fact *, const struct json_value *);
	} forms[] = {{"os", fact_os}, {"file", fact_file}, {"env", fact_env}};
	const struct json_value *from = NULL;
	struct str form = {NULL, 0};
	if (json_type(value) == JSON_OBJECT && json_length(value) == 1)
		form = json_key(value, 0, &from);
	for (size_t i = 0; from && i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct config_key key = {.name = forms[i].name};
		if (!str_is(form, forms[i].name))
			continue;
		int r = read_plain_text(reader, &key, from, &fact->argument);
		return r < 0 ? r : forms[i].read(reader, fact, from);
	}
	fact->kind = FACT_CONSTANT;
	fact->constant = value;
	blank_comments(reader, value);
	return 0;
}

static int check_fact_name(struct reader *reader, struct str name, const struct json_value *value)
{
	const struct config *config = reader->config;
	char text[80];
	if (name.len == 0)
		return fail_key(reader, value, "a fact of \"context\" has no name; give it one");
	for (size_t i = 0; i < config->n_facts; i++)
		if (str_equal(config->facts[i].name, name))
			return fail_key(reader, value,
					"\"%s\" is already set in %.*s:%u; keep one of them",
					shown(name, text), STR_FMT(config->facts[i].file),
					config->facts[i].line);
	return 0;
}

int read_context(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	struct config *config = base;
	if (!config->facts)
		config->facts = reader_alloc(reader, reader->counts[key_index(key)],
					     sizeof(*config->facts));
	if (!config->facts)
		return fail_memory(reader);
	for (size_t i = 0; i < json_length(value); i++) {
		const struct json_value *member;
		struct config_fact *fact = &config->facts[config->n_facts];
		fact->name = json_key(value, i, &member);
		fact->file = reader->file->path;
		place_of(reader->file, json_raw(member).ptr, &fact->line, &fact->column);
		int r = check_fact_name(reader, fact->name, member);
		if (r == 0)
			r = read_fact(reader, fact, member);
		if (r < 0)
			return r;
		config->n_facts++;
	}
	return 0;
}

/* ---- entries ------------------------------------------------------------------------- */

int read_name(struct reader *reader, const struct config_key *key, const struct json_value *value,
	      void *base)
{
	char text_shown[80];
	struct str text;
	int r = read_plain_text(reader, key, value, &text);
	if (r < 0)
		return r;
	bool ok = text.len <= CONFIG_NAME_MAX && text.ptr[0] != '.' && text.ptr[0] != '-';
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		ok = ok && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			    (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-');
	}
	if (!ok)
		return fail(
			reader, value,
			"\"%s\" is \"%s\"; write at most %d of A-Z a-z 0-9 . _ -, beginning with a "
			"letter, a digit or _",
			key->name, shown(text, text_shown), CONFIG_NAME_MAX);
	*(struct str *)((char *)base + key->place) = text;
	return 0;
}

int read_options(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	int r = need_type(reader, key, value, JSON_OBJECT, "an object");
	if (r < 0)
		return r;
	blank_comments(reader, value);
	((struct config_entry *)base)->options = value;
	return 0;
}

int read_may(struct reader *reader, const struct config_key *key, const struct json_value *value,
	     void *base)
{
	struct str word;
	int r = need_type(reader, key, value, JSON_ARRAY, "[\"grant\"]");
	for (size_t i = 0; r == 0 && i < json_length(value); i++) {
		const struct json_value *item = json_item(value, i);
		if (json_string(item, &word) < 0 || !str_is(word, "grant"))
			return fail(reader, item,
				    "\"may\" knows only \"grant\"; write [\"grant\"]");
		((struct config_entry *)base)->may_grant = true;
	}
	return r;
}

#define NOTIFY_MAX 8 /* who one call is told to */

static int check_exec(struct reader *reader, const struct json_value *words)
{
	struct str word;
	if (json_type(words) != JSON_ARRAY || json_length(words) == 0)
		return fail(reader, words, "\"exec\" is a list: [\"/path/program\", \"argument\"]");
	for (size_t i = 0; i < json_length(words); i++)
		if (json_string(json_item(words, i), &word) < 0 || memchr(word.ptr, 0, word.len) ||
		    (i == 0 && word.ptr[0] != '/'))
			return fail(reader, json_item(words, i),
				    "\"exec\" is a list of texts, and its program an absolute path");
	return 0;
}

static int check_target(struct reader *reader, const struct json_value *target)
{
	struct str text;
	const struct json_value *url = json_member(target, STR("url"));
	const struct json_value *exec = json_member(target, STR("exec"));
	const struct json_value *secret = json_member(target, STR("secret_file"));
	if (json_type(target) != JSON_OBJECT || !url == !exec || (secret && !url) ||
	    json_length(target) != (secret ? 2 : 1))
		return fail(reader, target,
			    "a target is {\"exec\": [...]}, {\"url\": \"https://...\"} or the latter "
			    "with \"secret_file\"");
	if (exec)
		return check_exec(reader, exec);
	if (json_string(url, &text) < 0 ||
	    (!str_starts(text, STR("https://")) && !str_starts(text, STR("http://"))))
		return fail(reader, url, "\"url\" begins with https:// (or http://)");
	if (secret && (json_string(secret, &text) < 0 || text.len == 0 || text.ptr[0] != '/'))
		return fail(reader, secret, "\"secret_file\" is an absolute path");
	return 0;
}

/* Who is told that a call waits. */
int read_notify(struct reader *reader, const struct config_key *key, const struct json_value *value,
		void *base)
{
	int r = need_type(reader, key, value, JSON_ARRAY, "[{\"exec\": [\"/path/program\"]}]");
	if (r == 0 && json_length(value) > NOTIFY_MAX)
		r = fail(reader, value, "\"notify\" holds more than %d", NOTIFY_MAX);
	for (size_t i = 0; r == 0 && i < json_length(value); i++)
		r = check_target(reader, json_item(value, i));
	if (r == 0) {
		blank_comments(reader, value);
		((struct config *)base)->approval.notify = value;
	}
	return r;
}

int read_needs(struct reader *reader, const struct config_key *key, const struct json_value *value,
	       void *base)
{
	struct str word;
	int r = need_type(reader, key, value, JSON_ARRAY, "[\"net\"]");
	for (size_t i = 0; r == 0 && i < json_length(value); i++) {
		const struct json_value *item = json_item(value, i);
		if (json_string(item, &word) < 0 || !str_is(word, "net"))
			return fail(reader, item,
				    "\"needs\" knows only \"net\"; write [\"net\"]");
		((struct config_entry *)base)->needs_net = true;
	}
	return r;
}

/* What is about a process of its own, on an entry that has none, is a mistake: whoever
 * wrote it believes in a fence that is not there. */
static int check_isolation(struct reader *reader, const struct config_entry *entry,
			   const struct json_value *value)
{
	static const char *const keys[] = {"sandbox", "needs"};
	for (size_t i = 0; !entry->isolated && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct json_value *member = json_member(value, str_of(keys[i]));
		if (member)
			return fail_key(reader, member,
					"\"%s\" means nothing in the shared worker; add "
					"\"isolation\": \"process\", or take it out", keys[i]);
	}
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

int read_sha256(struct reader *reader, const struct config_key *key,
		const struct json_value *value, void *base)
{
	struct config_entry *entry = base;
	struct str text = {"", 0};
	json_string(value, &text);
	bool well = text.len == 2 * sizeof(entry->sha256);
	for (size_t i = 0; well && i < text.len; i += 2) {
		int high = hex_digit(text.ptr[i]), low = hex_digit(text.ptr[i + 1]);
		well = high >= 0 && low >= 0;
		if (well)
			entry->sha256[i / 2] = (unsigned char)(high << 4 | low);
	}
	entry->pinned = well;
	return well ? 0 : fail(reader, value, "\"%s\" must be 64 hexadecimal digits; sha256sum "
					      "FILE prints them", key->name);
}

static int read_entry(struct reader *reader, const struct config_key *key,
		      const struct json_value *value, struct config_entry *entry)
{
	int r = need_type(reader, key, value, JSON_OBJECT,
			  "objects such as {\"plugin\": \"hosts\"}");
	if (r < 0)
		return r;
	entry->on_error = reader->config->on_error;
	entry->file = reader->file->path;
	place_of(reader->file, json_raw(value).ptr, &entry->line, &entry->column);
	r = read_object(reader, key->section, WALK_ALL, value, entry);
	if (r == 0 && !entry->plugin.ptr)
		return fail(reader, value,
			    "an entry of \"%s\" without \"plugin\"; name the plugin's file "
			    "without .so",
			    key->name);
	if (r == 0)
		r = check_isolation(reader, entry, value);
	if (!entry->name.ptr)
		entry->name = entry->plugin;
	return r;
}

int read_entries(struct reader *reader, const struct config_key *key,
		 const struct json_value *value, void *base)
{
	struct config *config = base;
	bool observe = key->section == IN_OBSERVE;
	struct config_entry **list = observe ? &config->observe : &config->chain;
	size_t *n = observe ? &config->n_observe : &config->n_chain;
	if (!*list)
		*list = reader_alloc(reader, reader->counts[key_index(key)], sizeof(**list));
	if (!*list)
		return fail_memory(reader);
	for (size_t i = 0; i < json_length(value); i++) {
		int r = read_entry(reader, key, json_item(value, i), &(*list)[*n]);
		if (r < 0)
			return r;
		++*n;
	}
	return 0;
}

/* ---- across lists ----------------------------------------------------------------------- */

struct item {
	struct str text;
	int list; /* which of the two it is from */
	const struct config_entry *entry;
};

static int item_compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	size_t n = a->text.len < b->text.len ? a->text.len : b->text.len;
	int c = memcmp(a->text.ptr, b->text.ptr, n);
	if (c == 0)
		c = (a->text.len > b->text.len) - (a->text.len < b->text.len);
	if (c == 0)
		c = a->list - b->list;
	return c != 0 || !a->entry ? c : (a->entry > b->entry) - (a->entry < b->entry);
}

/* Where pattern stands on list, as the reader's file and *ret. */
static bool find_pattern(struct reader *reader, const char *list, struct str pattern,
			 const struct json_value **ret)
{
	struct str text;
	for (size_t i = 0; i < reader->n_files; i++) {
		reader->file = &reader->files[i];
		const struct json_value *array = json_member(reader->file->root, str_of(list));
		for (size_t j = 0; j < json_length(array); j++) {
			*ret = json_item(array, j);
			if (json_string(*ret, &text) == 0 && str_equal(text, pattern))
				return true;
		}
	}
	return false;
}

static int fail_both(struct reader *reader, struct str pattern)
{
	char text[80];
	unsigned line = 0, column;
	const struct json_value *at = NULL;
	find_pattern(reader, "deny", pattern, &at);
	place_of(reader->file, json_raw(at).ptr, &line, &column);
	struct str other = reader->file->path;
	find_pattern(reader, "require_approval", pattern, &at);
	return fail(reader, at, "\"%s\" is on \"deny\" too (%.*s:%u); keep it on one of the lists",
		    shown(pattern, text), STR_FMT(other), line);
}

static int check_patterns(struct reader *reader)
{
	const struct config *config = reader->config;
	const struct patterns *lists[] = {&config->deny, &config->require_approval};
	size_t n = 0;
	if (lists[0]->n == 0 || lists[1]->n == 0)
		return 0;
	struct item *items = reader_alloc(reader, lists[0]->n + lists[1]->n, sizeof(*items));
	if (!items)
		return fail_memory(reader);
	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			items[n++] = (struct item){lists[l]->list[i], l, NULL};
	qsort(items, n, sizeof(*items), item_compare);
	for (size_t i = 1; i < n; i++)
		if (items[i].list != items[i - 1].list &&
		    str_equal(items[i].text, items[i - 1].text))
			return fail_both(reader, items[i].text);
	return 0;
}

/* Answers and records know an entry by its name alone. */
static int check_names(struct reader *reader)
{
	const struct config *config = reader->config;
	size_t n = 0;
	struct item *items =
		reader_alloc(reader, config->n_chain + config->n_observe, sizeof(*items));
	if (!items)
		return fail_memory(reader);
	for (size_t i = 0; i < config->n_chain; i++)
		items[n++] = (struct item){config->chain[i].name, 0, &config->chain[i]};
	for (size_t i = 0; i < config->n_observe; i++)
		items[n++] = (struct item){config->observe[i].name, 1, &config->observe[i]};
	qsort(items, n, sizeof(*items), item_compare);
	for (size_t i = 1; i < n; i++) {
		const struct config_entry *a = items[i - 1].entry, *b = items[i].entry;
		if (str_equal(a->name, b->name))
			return error_set(
				reader->err, EINVAL,
				"%.*s:%u:%u: the name \"%.*s\" is taken by the entry at %.*s:%u; "
				"give this one a \"name\" of its own",
				STR_FMT(b->file), b->line, b->column, STR_FMT(b->name),
				STR_FMT(a->file), a->line);
	}
	return 0;
}

static const struct config_entry *entry_at(const struct config *config, size_t i)
{
	return i < config->n_chain ? &config->chain[i] : &config->observe[i - config->n_chain];
}

/* Entries of one plugin run one file in one process: where one of them is held to a sum, an
 * entry that is not would run what that sum was to keep out. */
static int check_pins(struct reader *reader)
{
	const struct config *config = reader->config;
	size_t n = config->n_chain + config->n_observe;
	for (size_t i = 0; i < n; i++) {
		const struct config_entry *a = entry_at(config, i);
		for (size_t j = 0; a->pinned && j < n; j++) {
			const struct config_entry *b = entry_at(config, j);
			if (!str_equal(a->plugin, b->plugin) ||
			    (b->pinned && memcmp(a->sha256, b->sha256, sizeof(a->sha256)) == 0))
				continue;
			return error_set(reader->err, EINVAL,
					 "%.*s:%u:%u: this entry's \"sha256\" is not that of the "
					 "other entry of \"%.*s\" (%.*s:%u); give both the same",
					 STR_FMT(b->file), b->line, b->column, STR_FMT(b->plugin),
					 STR_FMT(a->file), a->line);
		}
	}
	return 0;
}

int check_lists(struct reader *reader)
{
	int r = check_patterns(reader);
	if (r == 0)
		r = check_names(reader);
	return r < 0 ? r : check_pins(reader);
}
