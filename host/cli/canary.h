/* canary.h - starts a hook's own command as its client would, with an event that has to be
 * refused, and keeps what comes back.
 *
 * Layer: cli; knows settings.
 */
#ifndef PAWL_CLI_CANARY_H
#define PAWL_CLI_CANARY_H

#include "cli/settings.h"

#define CANARY_BYTES_MAX 65536
#define CANARY_TIME_MS 20000

/* What no strict reader takes: a member twice. */
#define CANARY_EVENT "{\"tool_name\":\"pawl_doctor_canary\",\"tool_name\":\"pawl_doctor_canary\"}\n"

struct canary {
	int status; /* exit status; 128 + a signal; -1 it was late and has been ended */
	int64_t ms;
	size_t out_len, err_len;
	char out[CANARY_BYTES_MAX + 1], err[CANARY_BYTES_MAX + 1];
};

/* command for a shell, or words when its ptr is NULL. -errno: it could not be started. */
int canary_run(const struct settings *settings, struct str command, char *const words[],
	       int64_t limit_ms, struct canary *canary, struct error *err);

#endif
