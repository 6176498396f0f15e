/* fuzz-config.c - a config is taken whole and sound, or refused with a place. */
#include <config.h>

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/config.h"

#define must(condition) ((condition) ? (void)0 : abort())

/* FILE:LINE:COLUMN: WHAT, one line */
static void look_at_error(const char *text)
{
	char *end;
	must(strncmp(text, "/w/pawl.json:", 13) == 0);
	must(strtoul(text + 13, &end, 10) > 0 && *end == ':');
	must(strtoul(end + 1, &end, 10) > 0 && strncmp(end, ": ", 2) == 0 && end[2] != '\0');
	for (; *text; text++)
		must((unsigned char)*text >= 0x20);
}

/* Every pattern is asked about every other as a name. */
static void look_at_patterns(const struct patterns *patterns, const struct patterns *names)
{
	struct str none = {NULL, 0};
	for (size_t i = 0; i < names->n && i < 32; i++) {
		struct tool_name tool;
		tool_name_read(names->list[i], none, none, &tool);
		must(tool.n > 0 && tool.n <= TOOL_READINGS_MAX);
		const struct str *hit = patterns_find_tool(patterns, &tool);
		must(!hit || (hit >= patterns->list && hit < patterns->list + patterns->n));
		tool_name_read(names->list[i], none, patterns->list[0], &tool);
		patterns_find_tool(patterns, &tool);
		must(tool_class(&tool.readings[0]).len > 0);
	}
}

/* What plugins and the context get is JSON without comments. */
static void look_at_json(const struct config *config, const struct json_value *value)
{
	const struct json_value *again;
	must(json_parse(config->arena, json_raw(value), JSON_DEFAULT_LIMITS, 0, &again, NULL,
			NULL) == 0);
	must(json_same(again, value));
}

static void look_at_entries(const struct config *config, const struct config_entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		must(list[i].plugin.len > 0 && list[i].name.len <= CONFIG_NAME_MAX);
		must(!strchr(list[i].plugin.ptr, '/') && list[i].plugin.ptr[0] != '.');
		must(list[i].line > 0 && list[i].column > 0);
		if (list[i].options)
			look_at_json(config, list[i].options);
		if (list[i].match.tool.n > 0 && config->deny.n > 0)
			look_at_patterns(&list[i].match.tool, &config->deny);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *config = NULL;
	struct error err = {""};
	struct str text = {(const char *)data, size};
	if (config_parse(text, "/w/pawl.json", &config, &err) < 0) {
		must(!config);
		look_at_error(err.text);
		return 0;
	}
	must(config->plugin_dir.ptr[0] == '/');
	must(config->limits.depth >= 8 && config->limits.bytes >= 1024);
	must(config->deadline_ns > 0 && config->approval.need > 0);
	look_at_entries(config, config->chain, config->n_chain);
	look_at_entries(config, config->observe, config->n_observe);
	for (size_t i = 0; i < config->n_facts; i++)
		if (config->facts[i].kind == FACT_CONSTANT)
			look_at_json(config, config->facts[i].constant);
		else
			must(config->facts[i].argument.len > 0);
	if (config->deny.n > 0)
		look_at_patterns(&config->deny, &config->deny);
	config_free(config);
	return 0;
}
