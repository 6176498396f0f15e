/* config-impl.h - what config.c, config-keys.c, config-read.c and config-entry.c share.
 *
 * Layer: core; nobody else includes it.
 *
 * All files are parsed first, then walked twice: once for what is set one time (and to
 * count what lists will hold), once for the lists, so that every array is allocated
 * at its final size and an entry knows the defaults whatever file sets them.
 */
#ifndef PAWL_CORE_CONFIG_IMPL_H
#define PAWL_CORE_CONFIG_IMPL_H

#include "core/config.h"

#define CONFIG_KEYS_MAX 64 /* rows of the table in config-keys.c */

/* One file's text and tree. */
struct config_file {
	struct str path;
	char *writable;	 /* text, where the host may write */
	struct str text; /* the same bytes in the read-only mapping, which the tree borrows */
	const struct json_value *root;
	const char *mark; /* where line and line_start were counted up to */
	const char *line_start;
	unsigned line;
};

struct reader {
	struct config *config;
	struct config_file *files;
	size_t n_files;
	struct config_file *file; /* the one being read */
	struct error *err;
	size_t counts[CONFIG_KEYS_MAX]; /* items that a list's key has in all files */
	struct {
		const struct config_file *file;
		unsigned line;
	} set[CONFIG_KEYS_MAX]; /* who set a key that can be set once */
};

/* Where a key may stand, a bit each. */
enum scope {
	IN_TOP = 1,
	IN_LIMITS = 2,
	IN_APPROVAL = 4,
	IN_AUDIT = 8,
	IN_CHAIN = 16,
	IN_OBSERVE = 32,
	IN_MATCH = 64,
};

/* What a walk looks at. */
enum walk { WALK_ONCE = 1, WALK_LISTS = 2, WALK_ALL = 3 };

struct config_key {
	unsigned scope; /* enum scope bits */
	const char *name;
	int (*read)(struct reader *, const struct config_key *, const struct json_value *,
		    void *base);
	size_t place, size;  /* of the field in base */
	int64_t min, max;    /* of integers and durations; of a list: most items */
	const char *choices; /* "deny|halt", in the order of the field's numbers */
	unsigned section;    /* read_section: the scope inside */
	enum walk walk;	     /* WALK_LISTS: appended to; WALK_ALL: a section */
};

/* ---- config-keys.c */
int read_object(struct reader *reader, unsigned scope, enum walk walk,
		const struct json_value *object, void *base);
size_t key_index(const struct config_key *key);

/* ---- config-read.c: places, errors, single values */
int fail(struct reader *reader, const struct json_value *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int fail_key(struct reader *reader, const struct json_value *value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int fail_memory(struct reader *reader);
void place_of(struct config_file *file, const char *at, unsigned *line, unsigned *column);
const char *type_name(const struct json_value *value);
int need_type(struct reader *reader, const struct config_key *key, const struct json_value *value,
	      enum json_type type, const char *example);
/* text for a message: control characters become '?', long text is cut */
const char *shown(struct str text, char buf[80]);
void *reader_alloc(struct reader *reader, size_t count, size_t size);
int read_plain_text(struct reader *reader, const struct config_key *key,
		    const struct json_value *value, struct str *ret);
int resolve_path(struct reader *reader, const struct json_value *value, struct str text,
		 struct str *ret);
/* Makes json_raw of value JSON: its comments and trailing commas become spaces. */
void blank_comments(const struct reader *reader, const struct json_value *value);

typedef int config_read(struct reader *, const struct config_key *, const struct json_value *,
			void *);
config_read read_path, read_duration, read_integer, read_boolean, read_choice, read_refusal,
	read_section;

/* ---- config-entry.c: lists */
config_read read_tools, read_globs, read_context, read_entries, read_name, read_options, read_match,
	read_may, read_needs, read_notify, read_libraries, read_sha256;
/* Across lists: one pattern on both static lists, one name twice. */
int check_lists(struct reader *reader);

#endif
