/* match.h - which calls an entry of the chain, or a static list, speaks about.
 *
 * Layer: core; knows json and base.  Tool names are canonical: NAME for local
 * tools, mcp:SERVER/NAME, skill:NAME, agent:NAME.
 *
 *	struct tool_name tool;
 *	tool_name_read(STR("mcp__cap__echo"), (struct str){0}, (struct str){0}, &tool);
 *	const struct str *hit = patterns_find_tool(&config->deny, &tool);
 */
#ifndef PAWL_CORE_MATCH_H
#define PAWL_CORE_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
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
	struct str server; /* "" unless mcp; "" and mcp: the client does not say which */
	struct str name;   /* without server */
	struct str plugin; /* the client's plugin that brought the server; "" none or unknown */
};

/* A name can be read in several ways where a client replaced characters or wrote
 * more than one "__"; reading 0 is the one that answers and records use. */
#define TOOL_READINGS_MAX 32

struct tool_name {
	struct str raw;
	bool mangled; /* server and name were read off raw: characters may have been replaced */
	bool more;    /* there were more readings than fit: every refusing pattern holds */
	size_t n;
	struct tool_reading readings[TOOL_READINGS_MAX]; /* the first n */
};

/* Reads raw as a client sent it: mcp__SERVER__TOOL, mcp__plugin_P_SERVER__TOOL,
 * mcp_SERVER_TOOL (only when server is given beside it, as Gemini's mcp_context
 * does, or every split of it is a reading, and a local tool of that name too),
 * MCP:TOOL, @SERVER/TOOL, and the canonical forms themselves.  source and server may
 * be absent ({NULL, 0} or ""); where the client gave them they are taken as they are
 * and only one reading remains, unless raw spells out another server.  Strings of
 * *ret are borrowed from raw, source and server. */
void tool_name_read(struct str raw, struct str source, struct str server, struct tool_name *ret);

/* What a match is asked about. */
struct match_subject {
	const struct tool_name *tool; /* NULL: not a tool call; only "*" holds for it */
	struct str class; /* shell read write fetch search agent mcp other; absent: tool_class */
	struct str agent; /* sub-agent id; "" the main agent */
	struct str agent_type;
	struct str client; /* claude-code codex ... */
};

/* All keys given must hold.  any_reading: a refusing entry holds when any reading
 * of the name does, a replaced character counts as any that could have been there,
 * and a server that the client does not name as any server.  Otherwise reading 0
 * alone decides.  agent holds for the sub-agent's id or its type. */
bool match_holds(const struct match *match, const struct match_subject *subject, bool any_reading);

/* The same for a static list of tool patterns (a refusing entry): the first that
 * holds, or NULL. */
const struct str *patterns_find_tool(const struct patterns *patterns, const struct tool_name *tool);

/* One glob: * ? [..] (! or ^ first in it negates); '*' does not cross '/' except
 * alone; ? is one UTF-8 character; there is no escape but [*] and the like. */
bool match_glob(struct str pattern, struct str text);

/* Whether text can be meant as a tool pattern, or as any other: -EINVAL with "what;
 * mend" for one that could never hold ("mcp:prod", "MCP:*", "a[b", ""). */
int match_check_tool(struct str pattern, struct error *err);
int match_check_glob(struct str pattern, struct error *err);

/* Whether pattern holds for at least one class, or one source: the sets are closed. */
bool match_any_class(struct str pattern);
bool match_any_source(struct str pattern);
#define MATCH_CLASSES "shell, read, write, fetch, search, agent, mcp, other"
#define MATCH_SOURCES "local, mcp, skill, agent"

/* The same tool in all clients: canonical name -> class (a literal). */
struct str tool_class(const struct tool_reading *tool);

#endif
