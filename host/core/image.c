/* image.c - a plugin's file as an ELF image: bounded reading, header, segments.
 *
 * Layer: core; libc, <elf.h> and base.
 */
#include <config.h>

#include "core/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Our own ELF header (the linker defines it): what machine this is. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

void image_done(struct image *image)
{
	free(image->dynamic);
	free(image->symbols);
	free(image->names);
}

int image_refuse(const struct image *image, const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (char *c = text; *c; c++) /* names are the file's own, and this is one line */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return error_set(image->err, ENOEXEC, "%s: %s", image->path, text);
}

int image_damaged(const struct image *image, const char *what)
{
	return image_refuse(image, "%s; the file is damaged or incomplete: install it again", what);
}

/* ---- bounded reading --------------------------------------------------------- */

static bool in_file(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

int image_read(const struct image *image, uint64_t offset, size_t size, void *to)
{
	if (!in_file(image, offset, size))
		return image_damaged(image, "a table lies past the end of the file");
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(image->fd, (char *)to + done, size - done,
				  (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(image->err, errno, "%s: cannot read: %s", image->path,
					 strerror(errno));
		if (n == 0)
			return image_damaged(image, "the file became shorter while it was read");
		done += (size_t)n;
	}
	return 0;
}

/* *ret is the image's or the caller's, free with free(); size > 0. */
int image_copy(const struct image *image, uint64_t offset, size_t size, void *ret_pointer)
{
	if (!in_file(image, offset, size))
		return image_damaged(image, "a table lies past the end of the file");
	_cleanup_free_ void *data = malloc(size);
	if (!data)
		return error_set(image->err, ENOMEM, "%s: out of memory", image->path);
	int r = image_read(image, offset, size, data);
	if (r < 0)
		return r;
	*(void **)ret_pointer = TAKE_PTR(data);
	return 0;
}

/* Where size bytes at the address lie in the file. */
int image_place(const struct image *image, uint64_t address, uint64_t size, uint64_t *ret)
{
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		if (s->p_type != PT_LOAD || address < s->p_vaddr ||
		    address - s->p_vaddr > s->p_filesz ||
		    size > s->p_filesz - (address - s->p_vaddr))
			continue;
		*ret = s->p_offset + (address - s->p_vaddr);
		return 0;
	}
	return image_damaged(image, "a table's address is in no loaded segment");
}

/* ---- rules: header, segments ----------------------------------------------------- */

int image_check_header(struct image *image)
{
	if (image->size < sizeof(image->header))
		return image_damaged(image, "too short for an ELF file");
	int r = image_read(image, 0, sizeof(image->header), &image->header);
	if (r < 0)
		return r;
	const Elf64_Ehdr *h = &image->header;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return image_refuse(image, "not an ELF file; a plugin is a shared object (cc -shared)");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    h->e_machine != __ehdr_start.e_machine)
		return image_refuse(image, "built for another machine; take the build for this one");
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return image_damaged(image, "unknown ELF version");
	if (h->e_type != ET_DYN)
		return image_refuse(image, "not a shared object; link it with -shared");
	return 0;
}

/* Two segments in one page are only one place of the file each if both say the same about
 * that page: the later one is mapped over the earlier. */
static bool page_is_one(const Elf64_Phdr *before, const Elf64_Phdr *s, uint64_t page)
{
	uint64_t end = before->p_vaddr + before->p_memsz;
	return (s->p_vaddr & ~(page - 1)) >= end ||
	       s->p_vaddr - s->p_offset == before->p_vaddr - before->p_offset;
}

/* In order and apart, so that an address means one place of the file. */
static int check_load(struct image *image, const Elf64_Phdr *s, const Elf64_Phdr *before)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (s->p_filesz > s->p_memsz || s->p_memsz > UINT64_MAX - s->p_vaddr ||
	    (before && (s->p_vaddr < before->p_vaddr + before->p_memsz ||
			!page_is_one(before, s, page))))
		return image_damaged(image, "its segments overlap or are out of order");
	if ((s->p_flags & PF_W) && (s->p_flags & PF_X))
		return image_refuse(image, "has a segment that is both writable and code; link it "
					   "without -N and -z notext");
	return 0;
}

static int check_stack(struct image *image, const Elf64_Phdr *stack)
{
	if (stack && !(stack->p_flags & PF_X))
		return 0;
	return image_refuse(image, "%s; link it with -Wl,-z,noexecstack (an assembler file without "
				   "a .note.GNU-stack section does that)",
			    stack ? "wants an executable stack"
				  : "does not say that its stack holds no code");
}

int image_check_segments(struct image *image)
{
	const Elf64_Ehdr *h = &image->header;
	const Elf64_Phdr *before = NULL, *stack = NULL;
	if (h->e_phnum == 0 || h->e_phnum > PLUGIN_SEGMENTS_MAX ||
	    h->e_phentsize != sizeof(Elf64_Phdr))
		return image_damaged(image, "its program headers are missing or too many");
	int r = image_read(image, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), image->segments);
	if (r < 0)
		return r;
	/* Nothing here needs the section headers, but they come last: where they are
	 * cut off, so may be what nobody looked at. */
	if (h->e_shoff != 0 &&
	    !in_file(image, h->e_shoff, (uint64_t)h->e_shnum * h->e_shentsize))
		return image_damaged(image, "its section headers lie past the end of the file");
	for (unsigned i = 0; i < h->e_phnum && r == 0; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		if ((s->p_type == PT_LOAD || s->p_type == PT_NOTE || s->p_type == PT_DYNAMIC) &&
		    !in_file(image, s->p_offset, s->p_filesz))
			return image_damaged(image, "a segment lies past the end of the file");
		if (s->p_type == PT_GNU_STACK)
			stack = s;
		if (s->p_type != PT_LOAD)
			continue;
		r = check_load(image, s, before);
		before = s;
	}
	return r < 0 ? r : check_stack(image, stack);
}
