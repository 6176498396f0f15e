/* test-plugin-note.c - a file's note and symbols, and everything that is not one. */
#include <config.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "core/plugin.h"

/* The good plugin's bytes; tests change copies. */
static char *good;
static size_t good_len;

static char *plugin_path(const char *stem)
{
	const char *build = getenv("abs_top_builddir");
	char *path;
	assert_true(asprintf(&path, "%s/tests/unit/plugins/%s.so", build ? build : ".", stem) > 0);
	return path;
}

static int read_stem(const char *stem, struct plugin_note *note, struct error *err)
{
	_cleanup_free_ char *path = plugin_path(stem);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return plugin_note_read(fd, stem, NULL, note, err);
}

static int read_bytes(const void *data, size_t len, struct plugin_note *note, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("plugin", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, len), 0);
	return plugin_note_read(fd, "bytes", NULL, note, err);
}

/* The note's desc inside a copy of the good plugin. */
static char *find_desc(char *data, size_t len)
{
	static const char head[] = "abi=0.1\0id=good";
	char *found = memmem(data, len, head, sizeof(head) - 1);
	assert_non_null(found);
	return found;
}

static int load_good(void **state)
{
	struct error err;
	_cleanup_free_ char *path = plugin_path("good");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)state;
	return io_read_all(fd, PLUGIN_FILE_MAX, &good, &good_len, &err);
}

static int free_good(void **state)
{
	(void)state;
	free(good);
	return 0;
}

static void test_note_says_who_it_is(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	if (read_stem("good", &note, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(note.id, "good");
	assert_string_equal(note.version, "1.0");
	assert_int_equal(note.abi_major, 0);
	assert_int_equal(note.abi_minor, 1);
}

static void test_note_of_bad_plugin_is_refused(void **state)
{
	static const struct {
		const char *stem, *says;
	} cases[] = {
		{"no-note", "no plugin note"},
		{"two-notes", "more than one plugin note"},
		{"no-entry", "does not define"},
		{"library-entry", "does not define"},
		{"entry-data", "not a function"},
		{"extra-export", "\"helper_of_mine\""},
	};
	struct plugin_note note;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = {""};
		assert_int_equal(read_stem(cases[i].stem, &note, &err), -ENOEXEC);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, cases[i].stem))
			fail_msg("%s: says: %s", cases[i].stem, err.text);
	}
}

static void test_note_malformed_is_refused(void **state)
{
	static const struct {
		const char *desc;
		size_t len;
		const char *says;
	} cases[] = {
		{"", 1, "no abi"},
		{"abi=0.1\0id=good\0", 17, "no version"},
		{"abi=0.1\0version=1\0", 19, "no id"},
		{"id=good\0version=1\0", 19, "no abi"},
		{"abi=0.1\0id=good\0id=good\0version=1\0", 35, "id twice"},
		{"abi=0\0id=good\0version=1\0", 25, "malformed abi"},
		{"abi=0.\0id=good\0version=1\0", 26, "malformed abi"},
		{"abi=.1\0id=good\0version=1\0", 26, "malformed abi"},
		{"abi=0.1.2\0id=good\0version=1\0", 29, "malformed abi"},
		{"abi=-0.1\0id=good\0version=1\0", 28, "malformed abi"},
		{"abi=0.123456\0id=good\0version=1\0", 32, "malformed abi"},
		{"abi=0.1\0id=\0version=1\0", 23, "malformed id"},
		{"abi=0.1\0id=Good\0version=1\0", 27, "malformed id"},
		{"abi=0.1\0id=../good\0version=1\0", 30, "malformed id"},
		{"abi=0.1\0id=.good\0version=1\0", 28, "malformed id"},
		{"abi=0.1\0id=good\0version=\0", 26, "malformed version"},
		{"abi=0.1\0id=good\0version=a b\0", 29, "malformed version"},
		{"abi=0.1\0id=good\0version\0", 25, "not key=value"},
		{"abi=0.1\0=good\0version=1\0", 25, "not key=value"},
		{"abi=0.1\0id=good\0version=1\0\0more=1", 34, "after its end"},
	};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plugin_note note;
		struct error err = {""};
		memcpy(copy, good, good_len);
		char *desc = find_desc(copy, good_len);
		memset(desc, 0, PAWL_NOTE_SIZE);
		memcpy(desc, cases[i].desc, cases[i].len);
		assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: wants \"%s\", says: %s", i, cases[i].says, err.text);
	}
}

static void test_note_without_end_is_refused(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	for (int zeros = 0; zeros < 2; zeros++) {
		memcpy(copy, good, good_len);
		char *desc = find_desc(copy, good_len);
		size_t at = sizeof("abi=0.1\0id=good\0version=1.0\0x=") - 1;
		desc[at - 2] = 'x';
		desc[at - 1] = '=';
		memset(desc + at, 'y', PAWL_NOTE_SIZE - at - (size_t)zeros);
		assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
		assert_non_null(strstr(err.text, "too long"));
	}
}

static void test_note_with_newer_key_is_read(void **state)
{
	static const char newer[] = "abi=0.7\0needs=net\0id=good\0version=1\0";
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	memcpy(copy, good, good_len);
	char *desc = find_desc(copy, good_len);
	memset(desc, 0, PAWL_NOTE_SIZE);
	memcpy(desc, newer, sizeof(newer));
	assert_int_equal(read_bytes(copy, good_len, &note, &err), 0);
	assert_int_equal(note.abi_minor, 7);
	assert_string_equal(note.version, "1");
}

static void test_truncated_file_is_refused(void **state)
{
	(void)state;
	for (size_t len = 0; len < good_len; len += 64) {
		struct plugin_note note;
		struct error err = {""};
		int r = read_bytes(good, len, &note, &err);
		if (r != -ENOEXEC)
			fail_msg("%zu of %zu bytes: %d", len, good_len, r);
		assert_true(err.text[0] != '\0');
	}
}

static void test_other_file_is_refused(void **state)
{
	static const struct {
		size_t offset;
		char byte;
		const char *says;
	} cases[] = {
		{0, 'X', "not an ELF"},
		{EI_CLASS, ELFCLASS32, "another machine"},
		{EI_DATA, ELFDATANONE, "another machine"},
		{EI_VERSION, 9, "ELF version"},
		{offsetof(Elf64_Ehdr, e_machine), 0, "another machine"},
		{offsetof(Elf64_Ehdr, e_type), ET_EXEC, "not a shared object"},
		{offsetof(Elf64_Ehdr, e_type), ET_REL, "not a shared object"},
		{offsetof(Elf64_Ehdr, e_phnum), 0, "program headers"},
		{offsetof(Elf64_Ehdr, e_phnum) + 1, 1, "program headers"},
		{offsetof(Elf64_Ehdr, e_phoff) + 4, 1, "past the end"},
		{offsetof(Elf64_Ehdr, e_phoff) + 7, (char)0xff, "past the end"},
	};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plugin_note note;
		struct error err = {""};
		memcpy(copy, good, good_len);
		copy[cases[i].offset] = cases[i].byte;
		assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: wants \"%s\", says: %s", i, cases[i].says, err.text);
	}
}

/* ---- what it asks the loader for -------------------------------------------------------- */

static const Elf64_Phdr *find_segment(const char *data, Elf64_Word type)
{
	const Elf64_Ehdr *h = (const void *)data;
	const Elf64_Phdr *s = (const void *)(data + h->e_phoff);
	for (unsigned i = 0; i < h->e_phnum; i++)
		if (s[i].p_type == type)
			return &s[i];
	fail_msg("no segment of type %u", type);
	return NULL;
}

/* An entry of the copy's dynamic section that nobody here looks at. */
static Elf64_Dyn *spare_entry(char *data)
{
	Elf64_Dyn *d = (void *)(data + find_segment(data, PT_DYNAMIC)->p_offset);
	while (d->d_tag != DT_INIT_ARRAYSZ && d->d_tag != DT_NULL)
		d++;
	assert_int_equal(d->d_tag, DT_INIT_ARRAYSZ);
	return d;
}

static void test_wishes_to_the_loader_are_refused(void **state)
{
	static const struct {
		Elf64_Sxword tag;
		uint64_t value;
		const char *says; /* NULL: is well */
	} cases[] = {
		{DT_RPATH, 1, "RPATH"},
		{DT_RUNPATH, 1, "RUNPATH"},
		{DT_TEXTREL, 0, "-fPIC"},
		{DT_FLAGS, DF_TEXTREL, "-fPIC"},
		{DT_FLAGS, DF_BIND_NOW, NULL},
		{DT_AUXILIARY, 1, "filter"},
		{DT_FILTER, 1, "filter"},
		{DT_AUDIT, 1, "audits"},
		{DT_DEPAUDIT, 1, "audits"},
		{DT_FLAGS_1, DF_1_PIE, "-shared"},
		{DT_FLAGS_1, DF_1_GLOBAL, "everybody's"},
		{DT_FLAGS_1, DF_1_INTERPOSE, "everybody's"},
		{DT_FLAGS_1, DF_1_NOW | DF_1_NODELETE, NULL},
		{DT_SONAME, 1, "its SONAME is"},
		{DT_SONAME, UINT64_MAX, "outside of the names"},
		{DT_NEEDED, UINT64_MAX, "outside of the names"},
	};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plugin_note note;
		struct error err = {""};
		memcpy(copy, good, good_len);
		*spare_entry(copy) = (Elf64_Dyn){cases[i].tag, {cases[i].value}};
		int r = read_bytes(copy, good_len, &note, &err);
		if (r != (cases[i].says ? -ENOEXEC : 0) ||
		    (cases[i].says && !strstr(err.text, cases[i].says)))
			fail_msg("case %zu: %d, says: %s", i, r, err.text);
	}
}

/* The same from a linker, as far as one can be made to. */
static void test_what_a_linker_was_asked_for_is_refused(void **state)
{
	static const struct {
		const char *stem, *says;
	} cases[] = {
		{"rpath", "RPATH"},
		{"runpath", "RUNPATH"},
		{"exec-stack", "noexecstack"},
		{"needs-library", "\"libraries\": [\"libpawl-unit.so.2\"]"},
		{"needs-path", "by its path"},
	};
	struct plugin_note note;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = {""};
		assert_int_equal(read_stem(cases[i].stem, &note, &err), -ENOEXEC);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, cases[i].stem))
			fail_msg("%s: says: %s", cases[i].stem, err.text);
	}
}

static void test_libraries_are_those_that_are_named(void **state)
{
	static const struct {
		struct str name;
		bool is;
	} cases[] = {
		{STR("libpawl-unit.so.2"), true}, {STR("libpawl-unit.so"), true},
		{STR("libpawl-unit"), true},	  {STR("libpawl"), false},
		{STR("libpawl-unit.so.3"), false}, {STR("libpawl-unit.so.2.1"), false},
		{STR("l"), false},		  {STR("pawl-unit.so"), false},
	};
	(void)state;
	_cleanup_free_ char *path = plugin_path("needs-library");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plugin_note note;
		struct error err = {""};
		struct str list[] = {STR("libother.so"), cases[i].name};
		const struct patterns libraries = {list, 2};
		int r = plugin_note_read(fd, path, &libraries, &note, &err);
		if (r != (cases[i].is ? 0 : -ENOEXEC))
			fail_msg("%s: %d, says: %s", cases[i].name.ptr, r, err.text);
	}
}

static void set_flags(char *data, Elf64_Word type, Elf64_Word flags)
{
	Elf64_Phdr *s = (Elf64_Phdr *)(uintptr_t)find_segment(data, type);
	s->p_flags = flags;
}

static void test_code_that_can_be_written_is_refused(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	memcpy(copy, good, good_len);
	set_flags(copy, PT_GNU_STACK, PF_R | PF_W | PF_X);
	assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "executable stack"));
	memcpy(copy, good, good_len);
	((Elf64_Phdr *)(uintptr_t)find_segment(copy, PT_GNU_STACK))->p_type = PT_NULL;
	assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "does not say"));
	memcpy(copy, good, good_len);
	set_flags(copy, PT_LOAD, PF_R | PF_W | PF_X);
	assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "both writable and code"));
}

/* What is read here would not be what is mapped: the later segment covers the page. */
static void test_segments_of_one_page_are_refused(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	memcpy(copy, good, good_len);
	Elf64_Phdr *first = (Elf64_Phdr *)(uintptr_t)find_segment(copy, PT_LOAD), *next = first + 1;
	assert_int_equal(next->p_type, PT_LOAD);
	uint64_t end = first->p_vaddr + first->p_memsz;
	if (end % 4096 == 0) {
		end = --first->p_memsz;
		first->p_filesz--;
	}
	next->p_vaddr = end;
	assert_int_equal(read_bytes(copy, good_len, &note, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "overlap"));
}

static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Any answer will do, as long as it is one. */
static void test_random_bytes_are_survived(void **state)
{
	uint32_t seed = 20240607;
	(void)state;
	_cleanup_free_ char *copy = malloc(good_len);
	for (int round = 0; round < 4000; round++) {
		struct plugin_note note;
		struct error err = {""};
		memcpy(copy, good, good_len);
		/* headers and the tables at the file's start are what is looked at */
		size_t within = round % 2 ? 1024 : good_len;
		for (uint32_t n = next_random(&seed) % 8; n < 8; n++)
			copy[next_random(&seed) % within] = (char)next_random(&seed);
		int r = read_bytes(copy, good_len, &note, &err);
		assert_true(r == 0 || (r == -ENOEXEC && err.text[0] != '\0'));
	}
	for (int round = 0; round < 200; round++) {
		struct plugin_note note;
		struct error err = {""};
		size_t len = next_random(&seed) % 4096;
		for (size_t i = 0; i < len; i++)
			copy[i % good_len] = (char)next_random(&seed);
		assert_int_equal(read_bytes(copy, len % good_len, &note, &err), -ENOEXEC);
	}
}

static void test_no_regular_file_is_refused(void **state)
{
	struct plugin_note note;
	struct error err = {""};
	(void)state;
	_cleanup_close_ int folder = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(plugin_note_read(folder, "/", NULL, &note, &err), -ENOEXEC);
	_cleanup_close_ int device = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(plugin_note_read(device, "/dev/null", NULL, &note, &err), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_note_says_who_it_is),
		cmocka_unit_test(test_note_of_bad_plugin_is_refused),
		cmocka_unit_test(test_note_malformed_is_refused),
		cmocka_unit_test(test_note_without_end_is_refused),
		cmocka_unit_test(test_note_with_newer_key_is_read),
		cmocka_unit_test(test_truncated_file_is_refused),
		cmocka_unit_test(test_other_file_is_refused),
		cmocka_unit_test(test_wishes_to_the_loader_are_refused),
		cmocka_unit_test(test_what_a_linker_was_asked_for_is_refused),
		cmocka_unit_test(test_libraries_are_those_that_are_named),
		cmocka_unit_test(test_code_that_can_be_written_is_refused),
		cmocka_unit_test(test_segments_of_one_page_are_refused),
		cmocka_unit_test(test_random_bytes_are_survived),
		cmocka_unit_test(test_no_regular_file_is_refused),
	};
	return cmocka_run_group_tests(tests, load_good, free_good);
}
