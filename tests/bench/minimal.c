/* minimal.c - the least a hook can be: reads stdin, looks for one word, answers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	static char text[1 << 20];
	size_t len = 0;
	ssize_t n;
	while (len < sizeof(text) && (n = read(0, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	if (!memmem(text, len, "rm -rf", 6))
		return 0;
	fputs("{\"decision\":\"deny\"}\n", stdout);
	fputs("denied\n", stderr);
	return 2;
}
