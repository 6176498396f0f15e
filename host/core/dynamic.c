/* dynamic.c - what a plugin's dynamic section says: what it asks the loader for, which
 * libraries it brings in, and what it exports.
 *
 * Layer: core; libc, <elf.h> and base.
 */
#include <config.h>

#include "core/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DYNAMIC_SIZE_MAX ((size_t)64 << 10)
#define SYMBOLS_MAX ((uint32_t)1 << 16)   /* .dynsym, undefined ones too */
#define NAMES_SIZE_MAX ((size_t)16 << 20) /* .dynstr */

/* ---- reading -------------------------------------------------------------------------- */

static int read_dynamic(struct image *image)
{
	const Elf64_Phdr *found = NULL;
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		if (image->segments[i].p_type != PT_DYNAMIC)
			continue;
		if (found)
			return image_damaged(image, "it has two dynamic sections");
		found = &image->segments[i];
	}
	if (!found || found->p_filesz < sizeof(Elf64_Dyn) || found->p_filesz > DYNAMIC_SIZE_MAX)
		return image_damaged(image, "its dynamic section is missing or too large");
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
	return image_damaged(image, "its dynamic section has no end");
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

static int read_names(struct image *image)
{
	uint64_t names;
	image->names_size = dynamic_value(image, DT_STRSZ);
	if (image->names_size == 0 || image->names_size > NAMES_SIZE_MAX)
		return image_damaged(image, "its table of names makes no sense");
	int r = image_place(image, dynamic_value(image, DT_STRTAB), image->names_size, &names);
	if (r == 0)
		r = image_copy(image, names, image->names_size, &image->names);
	if (r == 0 && image->names[image->names_size - 1] != '\0')
		return image_damaged(image, "its names have no end");
	return r;
}

/* NULL: outside of the names. */
static const char *name_at(const struct image *image, uint64_t offset)
{
	return offset < image->names_size ? image->names + offset : NULL;
}

/* ---- rule: what it asks the loader for --------------------------------------------------- */

/* Each makes the loader do more than map the file and the libraries it names: look in other
 * folders, load what is not NEEDED, write into code. */
static const struct wish {
	Elf64_Sxword tag;
	uint64_t flags; /* of the value; 0: the tag alone */
	const char *what;
} wishes[] = {
	{DT_RPATH, 0, "has an RPATH, folders to look for libraries in; link it without -rpath "
		      "(chrpath -d takes it out)"},
	{DT_RUNPATH, 0, "has a RUNPATH, folders to look for libraries in; link it without -rpath "
			"(chrpath -d takes it out)"},
	{DT_TEXTREL, 0, "has relocations in its code (TEXTREL); compile all of it with -fPIC"},
	{DT_FLAGS, DF_TEXTREL, "has relocations in its code (TEXTREL); compile all of it with "
			       "-fPIC"},
	{DT_AUXILIARY, 0, "is a filter of another library (AUXILIARY); link it without -f"},
	{DT_FILTER, 0, "is a filter of another library (FILTER); link it without -F"},
	{DT_AUDIT, 0, "names a library that audits the loader; link it without --audit"},
	{DT_DEPAUDIT, 0, "names a library that audits the loader; link it without --depaudit"},
	{DT_FLAGS_1, DF_1_PIE, "is a program (PIE); link it with -shared"},
	{DT_FLAGS_1, DF_1_GLOBAL | DF_1_INTERPOSE,
	 "wants its symbols to be everybody's; link it without -z global and -z interpose"},
};

static int check_wish(struct image *image, const Elf64_Dyn *d)
{
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (d->d_tag == wishes[i].tag &&
		    (wishes[i].flags == 0 || (d->d_un.d_val & wishes[i].flags)))
			return image_refuse(image, "%s", wishes[i].what);
	return 0;
}

/* The loader gives an object to whoever asks for its SONAME, and to whoever needs a library
 * of that name: one that calls itself libjson-c.so.5 would be the next plugin's json-c. */
static int check_soname(struct image *image, const Elf64_Dyn *d)
{
	const char *name = name_at(image, d->d_un.d_val);
	size_t len = strlen(image->note->id);
	if (!name)
		return image_damaged(image, "its SONAME is outside of the names");
	if (strncmp(name, image->note->id, len) != 0 || strcmp(name + len, ".so") != 0)
		return image_refuse(image, "its SONAME is \"%.200s\"; link it without -soname, or "
					   "with %s.so", name, image->note->id);
	return 0;
}

int image_check_wishes(struct image *image)
{
	int r = read_dynamic(image);
	if (r == 0)
		r = read_names(image);
	for (const Elf64_Dyn *d = image->dynamic; r == 0 && d->d_tag != DT_NULL; d++)
		r = d->d_tag == DT_SONAME ? check_soname(image, d) : check_wish(image, d);
	return r;
}

/* ---- rule: its libraries ------------------------------------------------------------------ */

/* A library runs code when it is loaded, and not every one was written for that. So those a
 * plugin brings in are named: here the languages' own, and what pawl's modules use; others
 * in the config. */
static const char *const libraries[] = {
	"libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so",
	"libutil.so", "libgcc_s.so", "libstdc++.so", "libatomic.so", "libc++.so", "libc++abi.so",
	"libunwind.so", "libjson-c.so", "libsqlite3.so", "libsodium.so",
#if defined(PAWL_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	"libasan.so", "libubsan.so", "libtsan.so",
#endif
};

/* These have the machine in their names. */
static const char *const loaders[] = {"ld-linux-", "ld-linux.so", "ld64.so", "libc.musl-"};

/* allowed with or without the version after it: "libssl.so" is any, "libssl.so.3" that one */
static bool is_library(const char *name, const char *allowed, size_t len)
{
	return strncmp(name, allowed, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

static bool is_allowed(const struct image *image, const char *name)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (is_library(name, libraries[i], strlen(libraries[i])))
			return true;
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (strncmp(name, loaders[i], strlen(loaders[i])) == 0)
			return true;
	for (size_t i = 0; image->libraries && i < image->libraries->n; i++)
		if (is_library(name, image->libraries->list[i].ptr, image->libraries->list[i].len))
			return true;
	return false;
}

int image_check_libraries(struct image *image)
{
	for (const Elf64_Dyn *d = image->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_NEEDED)
			continue;
		const char *name = name_at(image, d->d_un.d_val);
		if (!name)
			return image_damaged(image, "a library's name is outside of the names");
		if (strchr(name, '/'))
			return image_refuse(image, "needs the library \"%.200s\" by its path; link "
						   "it with -l, or statically", name);
		if (!is_allowed(image, name))
			return image_refuse(image, "needs the library \"%.100s\", which nobody "
						   "allowed; link it statically, or write "
						   "\"libraries\": [\"%.100s\"] into the config",
					    name, name);
	}
	return 0;
}

/* ---- rule: the symbols -------------------------------------------------------------------- */

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
	return image_refuse(image, "has more than %u dynamic symbols", SYMBOLS_MAX);
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
		return image_damaged(image, "its symbol hash table makes no sense");
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
		return image_refuse(image, "has more than %u dynamic symbols", SYMBOLS_MAX);
	if (image->n_symbols == 0)
		return image_refuse(image, "exports nothing; PAWL_PLUGIN makes the one symbol it needs");
	return 0;
}

static int read_symbols(struct image *image)
{
	int r = count_symbols(image);
	if (r < 0)
		return r;
	uint64_t symbols;
	size_t size = image->n_symbols * sizeof(Elf64_Sym);
	if (dynamic_value(image, DT_SYMENT) != sizeof(Elf64_Sym))
		return image_damaged(image, "its symbol table makes no sense");
	r = image_place(image, dynamic_value(image, DT_SYMTAB), size, &symbols);
	return r < 0 ? r : image_copy(image, symbols, size, &image->symbols);
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
	const char *name = name_at(image, symbol->st_name);
	if (!name)
		return image_damaged(image, "a symbol's name is outside of the names");
	if (is_toolchains(name))
		return 0;
	*is_entry = strcmp(name, PLUGIN_ENTRY_NAME) == 0;
	if (!*is_entry)
		return image_refuse(image, "exports \"%.200s\" beside " PLUGIN_ENTRY_NAME "; hide it: "
				     "-fvisibility=hidden, or for C++ and static libraries "
				     "-Wl,--version-script=$(pkg-config --variable=symbols "
				     "pawl-plugin)", name);
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !is_code(image, symbol->st_value))
		return image_refuse(image, PLUGIN_ENTRY_NAME " is not a function; use PAWL_PLUGIN");
	return 0;
}

int image_check_symbols(struct image *image)
{
	int r = read_symbols(image);
	bool found = false;
	for (uint32_t i = 1; i < image->n_symbols && r == 0; i++) {
		bool is_entry = false;
		r = check_symbol(image, &image->symbols[i], &is_entry);
		found |= is_entry;
	}
	if (r == 0 && !found)
		return image_refuse(image, "does not define " PLUGIN_ENTRY_NAME " itself; PAWL_PLUGIN does, in "
				     "a file that is linked into it");
	return r;
}

