/* note.c - what a plugin's file says of itself, read without running any of it.
 *
 * Layer: core; libc, <elf.h> and base.  Reads bounded pieces with pread, never
 * maps: a file that shrinks meanwhile gives an error, not SIGBUS.
 *
 * Each property a file must have is a rule in the table below; a new rule is a
 * function and a line there.
 */
#include <config.h>

#include "core/plugin.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#define SEGMENTS_MAX 64
#define NOTES_SIZE_MAX ((size_t)64 << 10)   /* one PT_NOTE segment */
#define DYNAMIC_SIZE_MAX ((size_t)64 << 10)
#define SYMBOLS_MAX ((uint32_t)1 << 16)	    /* .dynsym, undefined ones too */
#define NAMES_SIZE_MAX ((size_t)16 << 20)   /* .dynstr */
#define ENTRY_NAME "pawl_plugin_entry_0"

_Static_assert(sizeof(struct pawl_note) == 20 + PAWL_NOTE_SIZE, "the note's layout");
_Static_assert(PAWL_ABI_MAJOR == 0, "the entry's name carries the major");

/* Our own ELF header (the linker defines it): what machine this is. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

/* A file under examination. */
struct image {
	int fd;
	const char *path;
	struct error *err;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Dyn *dynamic; /* ends with DT_NULL */
	Elf64_Sym *symbols;
	uint32_t n_symbols;
	char *names; /* ends with NUL */
	size_t names_size;
	struct plugin_note *note;
	unsigned n_notes;
};

static void image_done(struct image *image)
{
	free(image->dynamic);
	free(image->symbols);
	free(image->names);
}

__attribute__((format(printf, 2, 3))) static int refuse(const struct image *image,
							 const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(image->err, ENOEXEC, "%s: %s", image->path, text);
}

static int refuse_damaged(const struct image *image, const char *what)
{
	return refuse(image, "%s; the file is damaged or incomplete: install it again", what);
}

/* ---- bounded reading --------------------------------------------------------- */

static bool in_file(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static int image_read(const struct image *image, uint64_t offset, size_t size, void *to)
{
	if (!in_file(image, offset, size))
		return refuse_damaged(image, "a table lies past the end of the file");
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(image->fd, (char *)to + done, size - done,
				  (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(image->err, errno, "%s: cannot read: %s", image->path,
					 strerror(errno));
		if (n == 0)
			return refuse_damaged(image, "the file became shorter while it was read");
		done += (size_t)n;
	}
	return 0;
}

/* *ret is the image's or the caller's, free with free(); size > 0. */
static int image_copy(const struct image *image, uint64_t offset, size_t size, void *ret_pointer)
{
	if (!in_file(image, offset, size))
		return refuse_damaged(image, "a table lies past the end of the file");
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
static int image_place(const struct image *image, uint64_t address, uint64_t size, uint64_t *ret)
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
	return refuse_damaged(image, "a table's address is in no loaded segment");
}

/* ---- rules: header, segments ----------------------------------------------------- */

static int check_header(struct image *image)
{
	if (image->size < sizeof(image->header))
		return refuse_damaged(image, "too short for an ELF file");
	int r = image_read(image, 0, sizeof(image->header), &image->header);
	if (r < 0)
		return r;
	const Elf64_Ehdr *h = &image->header;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(image, "not an ELF file; a plugin is a shared object (cc -shared)");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    h->e_machine != __ehdr_start.e_machine)
		return refuse(image, "built for another machine; take the build for this one");
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return refuse_damaged(image, "unknown ELF version");
	if (h->e_type != ET_DYN)
		return refuse(image, "not a shared object; link it with -shared");
	return 0;
}

static int check_segment(struct image *image, const Elf64_Phdr *s, uint64_t *load_end)
{
	if (s->p_type != PT_LOAD && s->p_type != PT_NOTE && s->p_type != PT_DYNAMIC)
		return 0;
	if (!in_file(image, s->p_offset, s->p_filesz))
		return refuse_damaged(image, "a segment lies past the end of the file");
	if (s->p_type != PT_LOAD)
		return 0;
	/* In order and apart, so that an address means one place of the file. */
	if (s->p_filesz > s->p_memsz || s->p_vaddr < *load_end ||
	    s->p_memsz > UINT64_MAX - s->p_vaddr)
		return refuse_damaged(image, "its segments overlap or are out of order");
	*load_end = s->p_vaddr + s->p_memsz;
	return 0;
}

static int check_segments(struct image *image)
{
	const Elf64_Ehdr *h = &image->header;
	if (h->e_phnum == 0 || h->e_phnum > SEGMENTS_MAX || h->e_phentsize != sizeof(Elf64_Phdr))
		return refuse_damaged(image, "its program headers are missing or too many");
	int r = image_read(image, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), image->segments);
	if (r < 0)
		return r;
	/* Nothing here needs the section headers, but they come last: where they are
	 * cut off, so may be what nobody looked at. */
	if (h->e_shoff != 0 &&
	    !in_file(image, h->e_shoff, (uint64_t)h->e_shnum * h->e_shentsize))
		return refuse_damaged(image, "its section headers lie past the end of the file");
	uint64_t load_end = 0;
	for (unsigned i = 0; i < h->e_phnum && r == 0; i++)
		r = check_segment(image, &image->segments[i], &load_end);
	return r;
}

/* ---- rule: the note ----------------------------------------------------------------- */

static int parse_number(struct str text, unsigned *ret)
{
	unsigned number = 0;
	if (text.len == 0 || text.len > 5)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return -EINVAL;
		number = number * 10 + (unsigned)(text.ptr[i] - '0');
	}
	*ret = number;
	return 0;
}

static int parse_abi(struct plugin_note *note, struct str value)
{
	const char *dot = memchr(value.ptr, '.', value.len);
	if (!dot)
		return -EINVAL;
	struct str major = {value.ptr, (size_t)(dot - value.ptr)};
	int r = parse_number(major, &note->abi_major);
	return r < 0 ? r : parse_number(str_after(value, major.len + 1), &note->abi_minor);
}

static int parse_id(struct plugin_note *note, struct str value)
{
	if (!plugin_id_valid(value))
		return -EINVAL;
	memcpy(note->id, value.ptr, value.len + 1);
	return 0;
}

static int parse_version(struct plugin_note *note, struct str value)
{
	if (value.len == 0 || value.len >= sizeof(note->version))
		return -EINVAL;
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] <= ' ' || value.ptr[i] > '~')
			return -EINVAL;
	memcpy(note->version, value.ptr, value.len + 1);
	return 0;
}

/* Keys of the note; ones that are not here come from a newer header and are left. */
static const struct note_key {
	const char *name;
	int (*parse)(struct plugin_note *note, struct str value); /* value ends with NUL */
} note_keys[] = {{"abi", parse_abi}, {"id", parse_id}, {"version", parse_version}};

#define N_NOTE_KEYS (sizeof(note_keys) / sizeof(note_keys[0]))

/* One "key=value" of the note; seen has a bit a key of the table. */
static int parse_field(struct image *image, struct str field, unsigned *seen)
{
	const char *equals = memchr(field.ptr, '=', field.len);
	if (!equals || equals == field.ptr)
		return refuse(image, "its note has a field that is not key=value; "
				     "use PAWL_PLUGIN of <pawl/plugin.h>");
	struct str key = {field.ptr, (size_t)(equals - field.ptr)};
	for (unsigned i = 0; i < N_NOTE_KEYS; i++) {
		if (!str_is(key, note_keys[i].name))
			continue;
		if (*seen & 1u << i)
			return refuse(image, "its note says %s twice; use PAWL_PLUGIN once",
				      note_keys[i].name);
		*seen |= 1u << i;
		if (note_keys[i].parse(image->note, str_after(field, key.len + 1)) < 0)
			return refuse(image, "its note has a malformed %s; see PAWL_PLUGIN in "
					     "pawl-plugin(3)", note_keys[i].name);
	}
	return 0;
}

static int parse_note(struct image *image, const char desc[PAWL_NOTE_SIZE])
{
	unsigned seen = 0;
	size_t at = 0;
	if (desc[PAWL_NOTE_SIZE - 1] != '\0')
		return refuse(image, "its note is too long; shorten id or version");
	while (at < PAWL_NOTE_SIZE && desc[at] != '\0') {
		struct str field = str_of(desc + at);
		int r = parse_field(image, field, &seen);
		if (r < 0)
			return r;
		at += field.len + 1;
	}
	if (at == PAWL_NOTE_SIZE)
		return refuse(image, "its note is too long; shorten id or version");
	for (; at < PAWL_NOTE_SIZE; at++)
		if (desc[at] != '\0')
			return refuse(image, "its note goes on after its end; use PAWL_PLUGIN");
	for (unsigned i = 0; i < N_NOTE_KEYS; i++)
		if (!(seen & 1u << i))
			return refuse(image, "its note has no %s; use PAWL_PLUGIN",
				      note_keys[i].name);
	return 0;
}

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) / align * align;
}

/* One note at data; *used is where the next begins. */
static int check_note(struct image *image, const char *data, size_t len, size_t align, size_t *used)
{
	Elf64_Nhdr h;
	memcpy(&h, data, sizeof(h));
	size_t desc = align_up(sizeof(h) + (size_t)h.n_namesz, align);
	if (desc > len || h.n_descsz > len - desc)
		return refuse_damaged(image, "one of its ELF notes is cut off");
	*used = align_up(desc + h.n_descsz, align);
	if (h.n_namesz != sizeof(PAWL_NOTE_NAME) || h.n_type != PAWL_NOTE_TYPE ||
	    memcmp(data + sizeof(h), PAWL_NOTE_NAME, sizeof(PAWL_NOTE_NAME)) != 0)
		return 0;
	if (++image->n_notes > 1)
		return refuse(image, "has more than one plugin note; use PAWL_PLUGIN once, and "
				     "link no second plugin into it");
	if (h.n_descsz != PAWL_NOTE_SIZE)
		return refuse(image, "its note has a wrong size; use PAWL_PLUGIN");
	return parse_note(image, data + desc);
}

static int check_notes_of(struct image *image, const Elf64_Phdr *s)
{
	_cleanup_free_ char *data = NULL;
	if (s->p_filesz > NOTES_SIZE_MAX)
		return refuse(image, "has more than %zu bytes of ELF notes", NOTES_SIZE_MAX);
	if (s->p_filesz == 0)
		return 0;
	int r = image_copy(image, s->p_offset, s->p_filesz, &data);
	size_t used = 0;
	for (size_t at = 0; r == 0 && s->p_filesz - at >= sizeof(Elf64_Nhdr); at += used) {
		r = check_note(image, data + at, s->p_filesz - at, s->p_align == 8 ? 8 : 4, &used);
		if (r == 0 && used > s->p_filesz - at)
			break; /* only padding was cut off */
	}
	return r;
}

static int check_notes(struct image *image)
{
	int r = 0;
	for (unsigned i = 0; i < image->header.e_phnum && r == 0; i++)
		if (image->segments[i].p_type == PT_NOTE)
			r = check_notes_of(image, &image->segments[i]);
	if (r == 0 && image->n_notes == 0)
		return refuse(image, "has no plugin note, so it is not a pawl plugin; one is made "
				     "with PAWL_PLUGIN of <pawl/plugin.h>");
	return r;
}

/* ---- rule: the symbols ------------------------------------------------------------------ */

static int read_dynamic(struct image *image)
{
	const Elf64_Phdr *found = NULL;
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		if (image->segments[i].p_type != PT_DYNAMIC)
			continue;
		if (found)
			return refuse_damaged(image, "it has two dynamic sections");
		found = &image->segments[i];
	}
	if (!found || found->p_filesz < sizeof(Elf64_Dyn) || found->p_filesz > DYNAMIC_SIZE_MAX)
		return refuse_damaged(image, "its dynamic section is missing or too large");
	/* By address, as the loader does, not by the header's file offset. */
	uint64_t offset;
	int r = image_place(image, found->p_vaddr, found->p_filesz, &offset);
	if (r == 0)
		r = image_copy(image, offset, found->p_filesz, &image->dynamic);
	if (r < 0)
		return r;
	for (size_t i = 0; i < found->p_filesz / sizeof(Elf64_Dyn); i++)
		if (image->dynamic[i].d_tag == DT_NULL)
			return 0;
	return refuse_damaged(image, "its dynamic section has no end");
}

/* 0 when the tag is absent; the loader takes the last of two. */
static uint64_t dynamic_value(const struct image *image, Elf64_Sxword tag)
{
	uint64_t value = 0;
	for (const Elf64_Dyn *d = image->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			value = d->d_un.d_val;
	return value;
}

static int count_by_hash(struct image *image, uint64_t address, uint32_t *ret)
{
	uint32_t head[2]; /* buckets, chain: a chain link a symbol */
	uint64_t offset;
	int r = image_place(image, address, sizeof(head), &offset);
	if (r == 0)
		r = image_read(image, offset, sizeof(head), head);
	if (r == 0)
		*ret = head[1];
	return r;
}

/* The chain of the last bucket ends with the last symbol: a link with its low bit set. */
static int gnu_hash_end(struct image *image, uint64_t chains, uint32_t first, uint32_t last,
			uint32_t *ret)
{
	for (; last < SYMBOLS_MAX; last++) {
		uint32_t link;
		uint64_t offset;
		uint64_t address = chains + (uint64_t)(last - first) * sizeof(link);
		int r = image_place(image, address, sizeof(link), &offset);
		if (r == 0)
			r = image_read(image, offset, sizeof(link), &link);
		if (r < 0)
			return r;
		if (link & 1) {
			*ret = last + 1;
			return 0;
		}
	}
	return refuse(image, "has more than %u dynamic symbols", SYMBOLS_MAX);
}

static int count_by_gnu_hash(struct image *image, uint64_t address, uint32_t *ret)
{
	uint32_t head[4]; /* buckets, first hashed symbol, words of the filter, shift */
	uint64_t offset;
	int r = image_place(image, address, sizeof(head), &offset);
	if (r == 0)
		r = image_read(image, offset, sizeof(head), head);
	if (r < 0)
		return r;
	if (head[0] == 0 || head[0] > SYMBOLS_MAX || head[1] > SYMBOLS_MAX || head[2] > SYMBOLS_MAX)
		return refuse_damaged(image, "its symbol hash table makes no sense");
	_cleanup_free_ uint32_t *buckets = NULL;
	uint64_t at = address + sizeof(head) + (uint64_t)head[2] * 8;
	r = image_place(image, at, head[0] * sizeof(uint32_t), &offset);
	if (r == 0)
		r = image_copy(image, offset, head[0] * sizeof(uint32_t), &buckets);
	if (r < 0)
		return r;
	uint32_t last = 0;
	for (uint32_t i = 0; i < head[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	*ret = head[1];
	if (last < head[1]) /* only undefined ones */
		return 0;
	return gnu_hash_end(image, at + head[0] * sizeof(uint32_t), head[1], last, ret);
}

/* The larger of what the tables say: neither may hide a symbol from us. */
static int count_symbols(struct image *image)
{
	uint64_t hash = dynamic_value(image, DT_HASH);
	uint64_t gnu_hash = dynamic_value(image, DT_GNU_HASH);
	uint32_t a = 0, b = 0;
	int r = hash ? count_by_hash(image, hash, &a) : 0;
	if (r == 0 && gnu_hash)
		r = count_by_gnu_hash(image, gnu_hash, &b);
	if (r < 0)
		return r;
	image->n_symbols = a > b ? a : b;
	if (image->n_symbols > SYMBOLS_MAX)
		return refuse(image, "has more than %u dynamic symbols", SYMBOLS_MAX);
	if (image->n_symbols == 0)
		return refuse(image, "exports nothing; PAWL_PLUGIN makes the one symbol it needs");
	return 0;
}

static int read_symbols(struct image *image)
{
	int r = read_dynamic(image);
	if (r == 0)
		r = count_symbols(image);
	if (r < 0)
		return r;
	size_t size = image->n_symbols * sizeof(Elf64_Sym);
	image->names_size = dynamic_value(image, DT_STRSZ);
	if (dynamic_value(image, DT_SYMENT) != sizeof(Elf64_Sym) || image->names_size == 0 ||
	    image->names_size > NAMES_SIZE_MAX)
		return refuse_damaged(image, "its symbol table makes no sense");
	uint64_t symbols, names;
	r = image_place(image, dynamic_value(image, DT_SYMTAB), size, &symbols);
	if (r == 0)
		r = image_copy(image, symbols, size, &image->symbols);
	if (r == 0)
		r = image_place(image, dynamic_value(image, DT_STRTAB), image->names_size, &names);
	if (r == 0)
		r = image_copy(image, names, image->names_size, &image->names);
	if (r == 0 && image->names[image->names_size - 1] != '\0')
		return refuse_damaged(image, "its symbol names have no end");
	return r;
}

static bool is_exported(const Elf64_Sym *symbol)
{
	unsigned binding = ELF64_ST_BIND(symbol->st_info);
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
	return symbol->st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
	       (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool is_code(const struct image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *s = &image->segments[i];
		if (s->p_type == PT_LOAD && (s->p_flags & PF_X) && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz)
			return true;
	}
	return false;
}

/* What gold and musl's start files export by themselves: no author chose it. */
static bool is_toolchains(const char *name)
{
	static const char *const names[] = {"_init", "_fini", "_end", "_edata", "__bss_start"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int check_symbol(struct image *image, const Elf64_Sym *symbol, bool *is_entry)
{
	if (!is_exported(symbol))
		return 0;
	if (symbol->st_name >= image->names_size)
		return refuse_damaged(image, "a symbol's name is outside of the names");
	const char *name = image->names + symbol->st_name;
	if (is_toolchains(name))
		return 0;
	*is_entry = strcmp(name, ENTRY_NAME) == 0;
	if (!*is_entry)
		return refuse(image, "exports \"%.200s\" beside " ENTRY_NAME "; hide it: "
				     "-fvisibility=hidden, or for C++ and static libraries "
				     "-Wl,--version-script=$(pkg-config --variable=symbols "
				     "pawl-plugin)", name);
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !is_code(image, symbol->st_value))
		return refuse(image, ENTRY_NAME " is not a function; use PAWL_PLUGIN");
	return 0;
}

static int check_symbols(struct image *image)
{
	int r = read_symbols(image);
	bool found = false;
	for (uint32_t i = 1; i < image->n_symbols && r == 0; i++) {
		bool is_entry = false;
		r = check_symbol(image, &image->symbols[i], &is_entry);
		found |= is_entry;
	}
	if (r == 0 && !found)
		return refuse(image, "does not define " ENTRY_NAME " itself; PAWL_PLUGIN does, in "
				     "a file that is linked into it");
	return r;
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* In this order: a rule may use what those before it read. */
static int (*const rules[])(struct image *image) = {
	check_header,
	check_segments,
	check_notes,
	check_symbols,
};

bool plugin_id_valid(struct str id)
{
	if (id.len == 0 || id.len >= PLUGIN_ID_MAX || id.ptr[0] == '.' || id.ptr[0] == '-')
		return false;
	for (size_t i = 0; i < id.len; i++) {
		char c = id.ptr[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '-')
			return false;
	}
	return true;
}

int plugin_note_read(int fd, const char *path, struct plugin_note *ret, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "%s: cannot stat: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > PLUGIN_FILE_MAX)
		return error_set(err, ENOEXEC, "%s: not a regular file of at most %lld bytes", path,
				 (long long)PLUGIN_FILE_MAX);
	struct plugin_note note = {0};
	_cleanup_(image_done) struct image image = {
		.fd = fd, .path = path, .err = err, .size = (uint64_t)st.st_size, .note = &note};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int r = rules[i](&image);
		if (r < 0)
			return r;
	}
	*ret = note;
	return 0;
}
