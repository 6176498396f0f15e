/* match.h - which calls an entry of the chain, or a static list, speaks about.
 *
 * Layer: core; knows json and base.  Tool names are canonical: NAME for local
 * tools, mcp:SERVER/NAME, skill:NAME, agent:NAME.
 */
#ifndef PAWL_CORE_MATCH_H
#define PAWL_CORE_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Globs; any may hold.  n == 0: the key is absent and holds. */
struct patterns {
	struct str *list; /* NUL-terminated each */
	size_t n;
};

struct match {
	struct patterns tool, class, source, server, agent, client;
};

/* One way to read a tool's name. */
struct tool_reading {
	struct str source; /* local mcp skill agent */
	struct str server; /* "" unless mcp */
	struct str name;   /* without server */
};

/* A name can be read in several ways where a client replaced characters or wrote
 * more than one "__"; reading 0 is the one that answers and records use. */
#define TOOL_READINGS_MAX 8

struct tool_name {
	struct tool_reading readings[TOOL_READINGS_MAX];
	size_t n;
};

/* Reads raw as a client sent it: mcp__SERVER__TOOL, mcp__plugin_P_SERVER__TOOL,
 * mcp_SERVER_TOOL (only when server is given beside it, as Gemini's mcp_context
 * does, or every split of it is a reading), MCP:TOOL.  source and server may be
 * absent ({NULL, 0}); where the client gave them they are taken as they are and
 * only one reading remains.  Strings of *ret are borrowed from raw, source and
 * server. */
void tool_name_read(struct str raw, struct str source, struct str server, struct tool_name *ret);

/* What a match is asked about. */
struct match_subject {
	const struct tool_name *tool;
	struct str class;  /* shell read write fetch search agent mcp other */
	struct str agent;  /* sub-agent type or id; "" the main agent */
	struct str agent_type;
	struct str client; /* claude-code codex ... */
};

/* All keys given must hold.  any_reading: a refusing entry holds when any reading
 * of the name does (and reading 0 alone decides otherwise). */
bool match_holds(const struct match *match, const struct match_subject *subject, bool any_reading);

/* The same for a static list of tool patterns: the first that holds, or NULL. */
const struct str *patterns_find_tool(const struct patterns *patterns, const struct tool_name *tool);

/* One glob: * ? [..]; '*' does not cross '/' except alone. */
bool match_glob(struct str pattern, struct str text);

/* The same tool in all clients: canonical name -> class (a literal). */
struct str tool_class(const struct tool_reading *tool);

#endif
