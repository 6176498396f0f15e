/* data.c - a "plugin" whose entry is data, not a function. */
struct pawl_note_like {
	unsigned namesz, descsz, type;
	char name[8];
	char desc[248];
};

__attribute__((section(".note.pawl.plugin"), used, aligned(4)))
static const struct pawl_note_like note = {
	5, 248, 1, "pawl", "abi=0.1\0id=entry-data\0version=1.0\0"};

__attribute__((visibility("default"))) extern const int pawl_plugin_entry_0;
const int pawl_plugin_entry_0 = 1;
