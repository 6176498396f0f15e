/* test-audit-host.h - a host as audit.so sees one: enough of the table to drive it. */
#ifndef TEST_AUDIT_HOST_H
#define TEST_AUDIT_HOST_H

#include <pawl/plugin.h>

/* Absent: NULL, and INT64_MIN.  Fields are numbered as in plugin.h. */
struct fake_call {
	const char *text[PAWL_T_CWD + 1];
	int64_t number[PAWL_N_DURATION_NS + 1];
	const char *root[PAWL_R_SESSION + 1];
};

#define FAKE_NUMBERS                                                                               \
	{                                                                                          \
		INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN,       \
		    INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN                                     \
	}

extern const pawl_host fake_host;
extern char fake_error[1200]; /* what set_error was last told */

/* The plugin of the build tree, or NULL with a text on stderr. */
const pawl_plugin *fake_load(void);

/* open with {"path":DIR/audit.db, MORE}; more is "" or begins with a comma. */
int32_t fake_open(const pawl_plugin *plugin, const char *dir, const char *more, void **self);

int32_t fake_pre(const pawl_plugin *plugin, void *self, const char *session, const char *call,
		 const char *record);
int32_t fake_decided(const pawl_plugin *plugin, void *self, const struct fake_call *call,
		     const char *record);
int32_t fake_post(const pawl_plugin *plugin, void *self, const struct fake_call *call);
int32_t fake_stop(const pawl_plugin *plugin, void *self, const char *session, const char *event);

/* A folder of its own below the working folder; removed with fake_remove. */
char *fake_folder(void);
void fake_remove(char *dir);

#endif
