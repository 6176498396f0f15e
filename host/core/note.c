/* note.c - what a plugin's file says of itself, read without running any of it.
 *
 * Layer: core; libc, <elf.h> and base.
 *
 * Each property a file must have is a rule in the table at the end; a new rule is a
 * function and a line there.
 */
#include <config.h>

#include "core/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"

#define NOTES_SIZE_MAX ((size_t)64 << 10) /* one PT_NOTE segment */

_Static_assert(sizeof(struct pawl_note) == 20 + PAWL_NOTE_SIZE, "the note's layout");
_Static_assert(PAWL_ABI_MAJOR == 0, "the entry's name carries the major");

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
		return image_refuse(image, "its note has a field that is not key=value; "
				     "use PAWL_PLUGIN of <pawl/plugin.h>");
	struct str key = {field.ptr, (size_t)(equals - field.ptr)};
	for (unsigned i = 0; i < N_NOTE_KEYS; i++) {
		if (!str_is(key, note_keys[i].name))
			continue;
		if (*seen & 1u << i)
			return image_refuse(image, "its note says %s twice; use PAWL_PLUGIN once",
				      note_keys[i].name);
		*seen |= 1u << i;
		if (note_keys[i].parse(image->note, str_after(field, key.len + 1)) < 0)
			return image_refuse(image, "its note has a malformed %s; see PAWL_PLUGIN in "
					     "pawl-plugin(3)", note_keys[i].name);
	}
	return 0;
}

static int parse_note(struct image *image, const char desc[PAWL_NOTE_SIZE])
{
	unsigned seen = 0;
	size_t at = 0;
	if (desc[PAWL_NOTE_SIZE - 1] != '\0')
		return image_refuse(image, "its note is too long; shorten id or version");
	while (at < PAWL_NOTE_SIZE && desc[at] != '\0') {
		struct str field = str_of(desc + at);
		int r = parse_field(image, field, &seen);
		if (r < 0)
			return r;
		at += field.len + 1;
	}
	if (at == PAWL_NOTE_SIZE)
		return image_refuse(image, "its note is too long; shorten id or version");
	for (; at < PAWL_NOTE_SIZE; at++)
		if (desc[at] != '\0')
			return image_refuse(image, "its note goes on after its end; use PAWL_PLUGIN");
	for (unsigned i = 0; i < N_NOTE_KEYS; i++)
		if (!(seen & 1u << i))
			return image_refuse(image, "its note has no %s; use PAWL_PLUGIN",
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
		return image_damaged(image, "one of its ELF notes is cut off");
	*used = align_up(desc + h.n_descsz, align);
	if (h.n_namesz != sizeof(PAWL_NOTE_NAME) || h.n_type != PAWL_NOTE_TYPE ||
	    memcmp(data + sizeof(h), PAWL_NOTE_NAME, sizeof(PAWL_NOTE_NAME)) != 0)
		return 0;
	if (++image->n_notes > 1)
		return image_refuse(image, "has more than one plugin note; use PAWL_PLUGIN once, and "
				     "link no second plugin into it");
	if (h.n_descsz != PAWL_NOTE_SIZE)
		return image_refuse(image, "its note has a wrong size; use PAWL_PLUGIN");
	return parse_note(image, data + desc);
}

static int check_notes_of(struct image *image, const Elf64_Phdr *s)
{
	_cleanup_free_ char *data = NULL;
	if (s->p_filesz > NOTES_SIZE_MAX)
		return image_refuse(image, "has more than %zu bytes of ELF notes", NOTES_SIZE_MAX);
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

int image_check_notes(struct image *image)
{
	int r = 0;
	for (unsigned i = 0; i < image->header.e_phnum && r == 0; i++)
		if (image->segments[i].p_type == PT_NOTE)
			r = check_notes_of(image, &image->segments[i]);
	if (r == 0 && image->n_notes == 0)
		return image_refuse(image, "has no plugin note, so it is not a pawl plugin; one is made "
				     "with PAWL_PLUGIN of <pawl/plugin.h>");
	return r;
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* In this order: a rule may use what those before it read. */
static int (*const rules[])(struct image *image) = {
	image_check_header,
	image_check_segments,
	image_check_notes,
	image_check_wishes,
	image_check_libraries,
	image_check_symbols,
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

int plugin_note_read(int fd, const char *path, const struct patterns *libraries,
		     struct plugin_note *ret, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_set(err, errno, "%s: cannot stat: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > PLUGIN_FILE_MAX)
		return error_set(err, ENOEXEC, "%s: not a regular file of at most %lld bytes", path,
				 (long long)PLUGIN_FILE_MAX);
	struct plugin_note note = {0};
	_cleanup_(image_done) struct image image = {.fd = fd,
						    .path = path,
						    .libraries = libraries,
						    .err = err,
						    .size = (uint64_t)st.st_size,
						    .note = &note};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int r = rules[i](&image);
		if (r < 0)
			return r;
	}
	*ret = note;
	return 0;
}
