/* fuzz-note.c - a plugin's file is taken with a sound note, or refused with its name. */
#include <config.h>

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "core/plugin.h"

#define must(condition) ((condition) ? (void)0 : abort())

/* "FILE: what", one line */
static void look_at_error(const char *text)
{
	must(strncmp(text, "FILE: ", 6) == 0 && text[6] != '\0');
	must(!strchr(text, '\n'));
}

static void look_at_note(const struct plugin_note *note)
{
	size_t len = strnlen(note->version, sizeof(note->version));
	must(plugin_id_valid(str_of(note->id)));
	must(len > 0 && len < sizeof(note->version));
	for (size_t i = 0; i < len; i++)
		must(note->version[i] > ' ' && note->version[i] <= '~');
	must(note->abi_major < 100000 && note->abi_minor < 100000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct str names[] = {STR("libfuzz.so.1"), STR("libx")};
	static const struct patterns libraries = {names, 2};
	struct plugin_note note, again;
	struct error err = {""};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && io_write_all(fd, data, size) == 0);
	int r = plugin_note_read(fd, "FILE", &libraries, &note, &err);
	if (r == 0)
		look_at_note(&note);
	else
		look_at_error(err.text);
	/* what was taken with fewer libraries is taken with more, and the same */
	if (plugin_note_read(fd, "FILE", NULL, &again, NULL) == 0)
		must(r == 0 && strcmp(note.id, again.id) == 0);
	close(fd);
	return 0;
}
