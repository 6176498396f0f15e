/* splice.h - a settings file of somebody else's, changed in one place and left alone in all
 * others, byte for byte.
 *
 * Layer: cli; knows json and base. Comments and trailing commas are read over and kept.
 *
 *	struct doc doc;
 *	if (doc_open("/home/ann/.claude/settings.json", &doc, err) < 0) ...
 *	doc_append(&doc, STR("/hooks"), STR("Stop"), STR("[]"), err);
 *	doc_save(&doc, 0600, err);
 *	doc_done(&doc);
 */
#ifndef PAWL_CLI_SPLICE_H
#define PAWL_CLI_SPLICE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "json/json.h"

#define DOC_BYTES_MAX ((size_t)4 << 20)

struct doc {
	char path[4096]; /* where it is written: symbolic links are followed */
	bool exists;
	struct stat was;
	struct json_arena *arena;
	struct str before, text;
	const struct json_value *root; /* NULL: nothing but white space is there */
};

/* A file that is missing is an empty one. -EBADMSG "FILE:LINE:COLUMN: ..." when it cannot be
 * read strictly, -EINVAL when it is no regular file. */
int doc_open(const char *path, struct doc *doc, struct error *err);
void doc_done(struct doc *doc);

bool doc_changed(const struct doc *doc);

/* "FILE:LINE:COLUMN: expected an array" and the like, of a value in the document. */
int doc_wrong(const struct doc *doc, const struct json_value *value, struct error *err,
	      const char *what);

/* The whole text; the bytes of one value. Values taken before are of the old text. */
int doc_set(struct doc *doc, struct str text, struct error *err);
int doc_replace(struct doc *doc, const struct json_value *value, struct str with,
		struct error *err);

/* Behind the last child of the container at pointer, laid out like that child; in one that
 * is empty, but for the root, a space in front tells that it was. name is for objects. */
int doc_append(struct doc *doc, struct str pointer, struct str name, struct str value,
	       struct error *err);

/* Whether that space is there: the container was empty before it got its first child. */
bool doc_was_empty(const struct doc *doc, struct str pointer);

/* What doc_append has put there goes with the white space that came with it. */
int doc_remove(struct doc *doc, struct str container, struct str child, struct error *err);

/* The white space that the value's line begins with. */
struct str doc_indent(const struct doc *doc, const struct json_value *value);

/* Atomically, with missing folders made; mode is for a file that was not there. -EBUSY: it
 * was changed since it was opened. */
int doc_save(const struct doc *doc, mode_t mode, struct error *err);
/* The same with any file; the folders as the umask says. */
int doc_write(const char *path, struct str text, mode_t mode, struct error *err);

/* Both texts line by line, as diff -u shows them. */
void doc_diff(FILE *out, const struct doc *doc);

#endif
