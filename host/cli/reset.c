/* reset.c - pawl reset SESSION: lifts a halt, forgets pinned facts. */
#include <config.h>

#include <stdio.h>

#include "cli/tool.h"
#include "core/config.h"
#include "core/state.h"

static int run(const struct tool_line *line)
{
	struct config *config = NULL;
	struct error err;
	struct str dir;
	bool was = false;
	int r = config_load(line->config, &config, &err);
	if (r == 0)
		r = config_state_dir(config, &dir, &err);
	if (r == 0)
		r = state_reset(dir, str_of(line->words[0]), &was, &err);
	if (r < 0)
		fprintf(stderr, "pawl reset: %s\n", err.text);
	else if (!line->quiet)
		printf(was ? "session %s is no longer halted\n" : "session %s was not halted\n",
		       line->words[0]);
	config_free(config);
	return r < 0 ? 1 : 0;
}

extern const struct tool tool_reset;
const struct tool tool_reset = {"reset", 1, 1, "SESSION", run};
