/* image.h - a plugin's file under examination: what image.c, note.c and dynamic.c share.
 *
 * Layer: core; libc, <elf.h> and base.  Nobody else includes it.
 *
 * Everything is read in bounded pieces with pread, never mapped: a file that shrinks
 * meanwhile gives an error, not SIGBUS.
 */
#ifndef PAWL_CORE_IMAGE_H
#define PAWL_CORE_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plugin.h"

#define PLUGIN_SEGMENTS_MAX 64

struct image {
	int fd;
	const char *path;
	const struct patterns *libraries; /* beyond the usual ones; may be NULL */
	struct error *err;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr segments[PLUGIN_SEGMENTS_MAX];
	Elf64_Dyn *dynamic; /* ends with DT_NULL */
	Elf64_Sym *symbols;
	uint32_t n_symbols;
	char *names; /* ends with NUL */
	size_t names_size;
	struct plugin_note *note;
	unsigned n_notes;
};

/* ---- image.c */
void image_done(struct image *image);
/* -ENOEXEC: "PATH: what; mend" */
int image_refuse(const struct image *image, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int image_damaged(const struct image *image, const char *what);
int image_read(const struct image *image, uint64_t offset, size_t size, void *to);
/* *ret_pointer is the image's or the caller's, free with free(); size > 0. */
int image_copy(const struct image *image, uint64_t offset, size_t size, void *ret_pointer);
/* Where size bytes at the address lie in the file. */
int image_place(const struct image *image, uint64_t address, uint64_t size, uint64_t *ret);

/* ---- rules, in the order of the table in note.c: one may use what those before it read */
int image_check_header(struct image *image);	 /* image.c */
int image_check_segments(struct image *image);	 /* image.c */
int image_check_notes(struct image *image);	 /* note.c */
int image_check_wishes(struct image *image);	 /* dynamic.c: what it asks the loader for */
int image_check_libraries(struct image *image); /* dynamic.c */
int image_check_symbols(struct image *image);	 /* dynamic.c */

#endif
