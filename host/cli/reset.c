/* reset.c - pawl reset SESSION: lifts a halt, forgets pinned facts; pawl reset --plugin NAME:
 * lifts a quarantine. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "core/config.h"
#include "core/quarantine.h"
#include "core/state.h"

typedef int reset_fn(struct str state_dir, struct str of, bool *ret_was, struct error *err);

static const struct {
	reset_fn *fn;
	const char *what, *was, *was_not;
} resets[] = {
	{state_reset, "session", "is no longer halted", "was not halted"},
	{quarantine_lift, "plugin", "has its faults forgotten", "had no faults"},
};

static bool has_entry(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_chain; i++)
		if (str_is(config->chain[i].name, name))
			return true;
	for (size_t i = 0; i < config->n_observe; i++)
		if (str_is(config->observe[i].name, name))
			return true;
	return false;
}

static int reset(struct config *config, bool plugin, const char *of, bool *was, struct error *err)
{
	struct str dir;
	if (plugin && !has_entry(config, of))
		return error_set(err, ENOENT, "%s: no entry is called \"%.64s\"", config->path.ptr,
				 of);
	int r = config_state_dir(config, &dir, err);
	return r < 0 ? r : resets[plugin].fn(dir, str_of(of), was, err);
}

static int run(const struct tool_line *line)
{
	struct config *config = NULL;
	struct error err;
	bool was = false, plugin = strcmp(line->words[0], "--plugin") == 0;
	const char *of = line->words[line->n - 1];
	if (plugin != (line->n == 2)) {
		fprintf(stderr, "usage: pawl reset SESSION | --plugin NAME\n");
		return 2;
	}
	int r = config_load(line->config, &config, &err);
	if (r == 0)
		r = reset(config, plugin, of, &was, &err);
	if (r < 0)
		fprintf(stderr, "pawl reset: %s\n", err.text);
	else if (!line->quiet)
		printf("%s %s %s\n", resets[plugin].what, of,
		       was ? resets[plugin].was : resets[plugin].was_not);
	config_free(config);
	return r < 0 ? 1 : 0;
}

extern const struct tool tool_reset;
const struct tool tool_reset = {"reset", 1, 2, "SESSION | --plugin NAME", run};
