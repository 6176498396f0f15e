/* rows.c - prints what a database answers, a row a line, columns split by "|".
 *
 *	rows DATABASE SQL [SECONDS]
 *
 * With SECONDS it stays in the middle of reading for so long. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

static void print_row(sqlite3_stmt *stmt)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *text = (const char *)sqlite3_column_text(stmt, i);
		printf("%s%s", i > 0 ? "|" : "", text ? text : "");
	}
	putchar('\n');
}

int main(int argc, char *argv[])
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	if (argc < 3)
		return 2;
	int r = sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL);
	sqlite3_busy_timeout(db, 5000);
	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(db, argv[2], -1, &stmt, NULL);
	for (int n = 0; r == SQLITE_OK && (r = sqlite3_step(stmt)) == SQLITE_ROW; n++) {
		print_row(stmt);
		fflush(stdout);
		if (n == 0 && argc > 3)
			sleep((unsigned int)atoi(argv[3]));
		r = SQLITE_OK;
	}
	if (r != SQLITE_DONE)
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return r == SQLITE_DONE ? 0 : 1;
}
