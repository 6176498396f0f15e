/* late.c - SQLite for the observer, loaded when something first wants it.
 *
 * Layer: audit; only audit.so has it, in the place of -lsqlite3.
 *
 * Loading SQLite takes a process longer than writing its record does, and most records
 * are written without the index.  So each function that is used stands here by its own
 * name and looks for the library's when it is first called.  Where there is none, no
 * database can be opened: nothing else is ever called then, but with NULL.
 */
#include <config.h>

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

#define LIBRARY "libsqlite3.so.0"

static void *find(const char *name)
{
	static void *library; /* never unloaded, as we are not */
	void *is = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
	if (!is) { /* twice is as good as once */
		is = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		__atomic_store_n(&library, is, __ATOMIC_RELEASE);
	}
	return is ? dlsym(is, name) : NULL;
}

/* What a call comes to, or absent where there is no library. */
#define LATE(type, name, parameters, arguments, absent)                                            \
	type name parameters                                                                       \
	{                                                                                          \
		static __typeof__(&name) found;                                                    \
		__typeof__(&name) is = __atomic_load_n(&found, __ATOMIC_RELAXED);                  \
		if (!is) {                                                                         \
			*(void **)&is = find(#name);                                               \
			__atomic_store_n(&found, is, __ATOMIC_RELAXED);                            \
		}                                                                                  \
		return is ? is arguments : absent;                                                 \
	}

#define TEXT const unsigned char *

static int no_library(sqlite3 **ret)
{
	*ret = NULL;
	return SQLITE_CANTOPEN;
}

LATE(int, sqlite3_open_v2, (const char *path, sqlite3 **ret, int flags, const char *vfs),
     (path, ret, flags, vfs), no_library(ret))
LATE(int, sqlite3_close, (sqlite3 *db), (db), SQLITE_OK)
LATE(int, sqlite3_finalize, (sqlite3_stmt *stmt), (stmt), SQLITE_OK)
LATE(int, sqlite3_errcode, (sqlite3 *db), (db), SQLITE_ERROR)
LATE(const char *, sqlite3_errmsg, (sqlite3 *db), (db), "no " LIBRARY)
LATE(int, sqlite3_system_errno, (sqlite3 *db), (db), 0)
LATE(int, sqlite3_extended_result_codes, (sqlite3 *db, int on), (db, on), SQLITE_ERROR)
LATE(int, sqlite3_busy_timeout, (sqlite3 *db, int ms), (db, ms), SQLITE_ERROR)
LATE(int, sqlite3_limit, (sqlite3 *db, int which, int to), (db, which, to), 0)
LATE(int, sqlite3_exec,
     (sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *data,
      char **message),
     (db, sql, row, data, message), SQLITE_ERROR)
LATE(int, sqlite3_prepare_v2,
     (sqlite3 *db, const char *sql, int len, sqlite3_stmt **ret, const char **rest),
     (db, sql, len, ret, rest), SQLITE_ERROR)
LATE(int, sqlite3_step, (sqlite3_stmt *stmt), (stmt), SQLITE_ERROR)
LATE(int, sqlite3_reset, (sqlite3_stmt *stmt), (stmt), SQLITE_ERROR)
LATE(int, sqlite3_changes, (sqlite3 *db), (db), 0)
LATE(int, sqlite3_clear_bindings, (sqlite3_stmt *stmt), (stmt), SQLITE_ERROR)
LATE(int, sqlite3_bind_int, (sqlite3_stmt *stmt, int i, int value), (stmt, i, value), SQLITE_ERROR)
LATE(int, sqlite3_bind_int64, (sqlite3_stmt *stmt, int i, sqlite3_int64 value), (stmt, i, value),
     SQLITE_ERROR)
LATE(int, sqlite3_bind_null, (sqlite3_stmt *stmt, int i), (stmt, i), SQLITE_ERROR)
LATE(int, sqlite3_bind_text,
     (sqlite3_stmt *stmt, int i, const char *text, int len, void (*done)(void *)),
     (stmt, i, text, len, done), SQLITE_ERROR)
LATE(int, sqlite3_column_bytes, (sqlite3_stmt *stmt, int i), (stmt, i), 0)
LATE(int, sqlite3_column_count, (sqlite3_stmt *stmt), (stmt), 0)
LATE(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt *stmt, int i), (stmt, i), 0)
LATE(const char *, sqlite3_column_name, (sqlite3_stmt *stmt, int i), (stmt, i), NULL)
LATE(TEXT, sqlite3_column_text, (sqlite3_stmt *stmt, int i), (stmt, i), NULL)
LATE(int, sqlite3_column_type, (sqlite3_stmt *stmt, int i), (stmt, i), SQLITE_NULL)

/* Ours is the one call with an int and where to put one. */
int sqlite3_db_config(sqlite3 *db, int which, ...)
{
	int (*is)(sqlite3 *, int, ...);
	va_list ap;
	va_start(ap, which);
	int to = va_arg(ap, int), *ret = va_arg(ap, int *);
	va_end(ap);
	*(void **)&is = find("sqlite3_db_config");
	return is ? is(db, which, to, ret) : SQLITE_ERROR;
}
