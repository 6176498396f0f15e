/* audit-write.c - writes records through audit.so as a host would, for the scripts.
 *
 *	audit-write DIR CALLS [SESSION [OPTIONS [PAUSE_MS]]]
 *
 * Each call is a decision and its execution; OPTIONS begins with a comma: ,"sync":"off".
 * AUDIT_WRITE_POST: executions only; _STOP: and a session's end; _INPUT, _SIZE: of the
 * input; _ACK: an "a" for each as it is acknowledged; _MEDDLE: the
 * database is opened and closed in between.
 * Prints how many records were acknowledged; exit 1 when one was not.
 */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../unit/test-audit-host.h"

/* AUDIT_WRITE_ACK: said at once, for whoever kills us. */
static int acknowledged(int32_t code)
{
	if (code == 0 && getenv("AUDIT_WRITE_ACK") && write(1, "a", 1) != 1)
		return 0;
	return code == 0;
}

static void meddle_with(const char *dir)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/audit.db", dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	static char record[70000], input[66000], result[66000];
	const char *session = argc > 3 ? argv[3] : "s", *size = getenv("AUDIT_WRITE_SIZE");
	const char *text = getenv("AUDIT_WRITE_INPUT");
	int calls = argc > 2 ? atoi(argv[2]) : 0, pause = argc > 5 ? atoi(argv[5]) : 0;
	int told = 0, pad = size ? atoi(size) : 20;
	const char *limit = getenv("AUDIT_WRITE_FSIZE");
	bool meddle = getenv("AUDIT_WRITE_MEDDLE");
	bool only_post = getenv("AUDIT_WRITE_POST");
	void *self;
	const pawl_plugin *plugin = fake_load();
	if (!plugin || argc < 3 || fake_open(plugin, argv[1], argc > 4 ? argv[4] : "", &self) != 0)
		return fprintf(stderr, "audit-write: %s\n", fake_error), 2;
	if (limit) /* once open: a reader's memory is a file to the kernel, too */
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){strtoul(limit, NULL, 10), RLIM_INFINITY});
	for (int i = 0; i < calls; i++) {
		struct fake_call done = {.number = FAKE_NUMBERS};
		char call[64];
		snprintf(call, sizeof(call), "%s-%d", session, i);
		if (text)
			snprintf(input, sizeof(input), "%s", text);
		else
			snprintf(input, sizeof(input), "{\"n\":%d,\"command\":\"%0*d\"}", i, pad, i);
		snprintf(result, sizeof(result), "{\"stdout\":\"%0*d\"}", pad, i);
		snprintf(record, sizeof(record),
			 "{\"type\":\"call.allowed\",\"tool\":{\"name\":\"Bash\",\"source\":"
			 "\"builtin\"},\"tool_input\":%s,\"decision\":\"allow\",\"trust\":\"user\","
			 "\"client\":\"claude-code\",\"cwd\":\"/w\",\"trace\":[]}",
			 input);
		done.text[PAWL_T_EVENT] = "PostToolUse";
		done.text[PAWL_T_SESSION] = session;
		done.text[PAWL_T_CALL_ID] = call;
		done.text[PAWL_T_TOOL] = "Bash";
		done.root[PAWL_R_ARGS] = input;
		done.root[PAWL_R_RESULT] = result;
		if (!only_post)
			told += acknowledged(fake_pre(plugin, self, session, call, record));
		told += acknowledged(fake_post(plugin, self, &done));
		if (meddle) /* as a plugin may: every POSIX lock of the process is gone then */
			meddle_with(argv[1]);
		if (pause > 0)
			nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
	}
	if (getenv("AUDIT_WRITE_STOP"))
		told += fake_stop(plugin, self, session, "Stop") == 0;
	plugin->close(self);
	if (!getenv("AUDIT_WRITE_ACK"))
		printf("%d\n", told);
	return told == (only_post ? 1 : 2) * calls + (getenv("AUDIT_WRITE_STOP") ? 1 : 0) ? 0 : 1;
}
