/* bench-load.c - what a plugin costs before any of its code runs: opening it with the check
 * of owner and mode, the ELF check with the note, and, where it is pinned, the sealed copy
 * with its sum. Medians and minima, us a plugin.
 *
 * usage: bench-load FOLDER... ; each .so there is a line. */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "core/plugin.h"
#include "core/trust.h"

enum { ROUNDS = 401 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

struct series {
	double us[ROUNDS];
};

static void print_series(struct series *series)
{
	qsort(series->us, ROUNDS, sizeof(double), compare);
	printf(" %9.1f %9.1f", series->us[ROUNDS / 2], series->us[0]);
}

static double since(int64_t *start)
{
	int64_t now = io_monotonic_ns();
	double us = (double)(now - *start) / 1e3;
	*start = now;
	return us;
}

/* One round of all three; 0, or err tells. */
static int measure(const char *path, int round, struct series series[3], struct error *err)
{
	static const unsigned char no_sum[PLUGIN_SUM];
	_cleanup_close_ int fd = -1, copy = -1;
	struct plugin_note note;
	struct error other;
	int64_t start = io_monotonic_ns();
	int r = trust_open(path, PLUGIN_FILE_MAX, &fd, NULL, err);
	series[0].us[round] = since(&start);
	if (r == 0)
		r = plugin_note_read(fd, path, NULL, &note, err);
	series[1].us[round] = since(&start);
	if (r == 0)
		plugin_pin(fd, path, no_sum, &copy, &other); /* another sum: after the work */
	series[2].us[round] = since(&start);
	return r;
}

static int bench_file(const char *folder, const char *name, double *worst)
{
	static struct series series[3];
	char path[4096];
	struct error err;
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (int round = 0; round < ROUNDS; round++) {
		if (measure(path, round, series, &err) < 0) {
			fprintf(stderr, "bench-load: %s\n", err.text);
			return -1;
		}
	}
	stat(path, &st);
	printf("%-24.24s %6lld", name, (long long)st.st_size / 1024);
	for (int i = 0; i < 3; i++)
		print_series(&series[i]);
	printf("\n");
	if (series[1].us[ROUNDS / 2] > *worst)
		*worst = series[1].us[ROUNDS / 2];
	return 0;
}

static int is_plugin(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

int main(int argc, char **argv)
{
	double worst = 0;
	printf("%-24s %6s %19s %19s %19s\n%-24s %6s %9s %9s %9s %9s %9s %9s\n", "us a plugin", "KiB",
	       "open, owner, mode", "ELF check, note", "copy, seal, sum", "", "", "median", "least",
	       "median", "least", "median", "least");
	for (int i = 1; i < argc; i++) {
		struct dirent **names;
		int n = scandir(argv[i], &names, is_plugin, alphasort);
		for (int j = 0; j < n; j++) {
			if (bench_file(argv[i], names[j]->d_name, &worst) < 0)
				return 1;
			free(names[j]);
		}
		if (n >= 0)
			free(names);
	}
	printf("ELF check and note: %.1f us at most (goal: 100)\n", worst);
	return 0;
}
