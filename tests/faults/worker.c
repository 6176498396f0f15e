/* worker.c - stands where a copied pawl looks for its worker (FOLDER/libexec/pawl): becomes
 * the real one beside it, with the shim preloaded. A worker's environment is made anew, so
 * there is no other way in. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char folder[PATH_MAX], text[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *tail = n > 0 ? (folder[n] = '\0', strstr(folder, "/libexec/pawl/")) : NULL;
	if (argc < 1 || !tail)
		return 126;
	*tail = '\0';
	snprintf(text, sizeof(text), "%s/malloc.so", folder);
	setenv("LD_PRELOAD", text, 1);
	setenv("FAULTS", folder, 1);
	snprintf(text, sizeof(text), "%s/libexec/pawl/real", folder);
	execv(text, argv);
	return 126;
}
