/* audit-write.c - writes records through audit.so as a host would, for the scripts.
 *
 *	audit-write DIR CALLS [SESSION [OPTIONS [PAUSE_MS]]]
 *
 * Each call is a decision and its execution; OPTIONS begins with a comma: ,"sync":"off".
 * Prints how many records were acknowledged; exit 1 when one was not.
 */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/test-audit-host.h"

int main(int argc, char **argv)
{
	static char record[70000], input[66000], result[66000];
	const char *session = argc > 3 ? argv[3] : "s", *size = getenv("AUDIT_WRITE_SIZE");
	const char *text = getenv("AUDIT_WRITE_INPUT");
	int calls = argc > 2 ? atoi(argv[2]) : 0, pause = argc > 5 ? atoi(argv[5]) : 0;
	int told = 0, pad = size ? atoi(size) : 20;
	void *self;
	const pawl_plugin *plugin = fake_load();
	if (!plugin || argc < 3 || fake_open(plugin, argv[1], argc > 4 ? argv[4] : "", &self) != 0)
		return fprintf(stderr, "audit-write: %s\n", fake_error), 2;
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
		told += fake_pre(plugin, self, session, call, record) == 0;
		told += fake_post(plugin, self, &done) == 0;
		if (pause > 0)
			nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
	}
	if (getenv("AUDIT_WRITE_STOP"))
		told += fake_stop(plugin, self, session, "Stop") == 0;
	plugin->close(self);
	printf("%d\n", told);
	return told == 2 * calls + (getenv("AUDIT_WRITE_STOP") ? 1 : 0) ? 0 : 1;
}
