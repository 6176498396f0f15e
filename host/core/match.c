/* match.c - globs over canonical tool names.
 *
 * Layer: core; base only.
 *
 * Asked for every call and entry: nothing is allocated, and a pattern without
 * wildcards costs a comparison up to its first different byte.
 */
#include <config.h>

#include "core/match.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/mangle.h"

/* str_is for a literal: its length is known, so that the compiler compares in place. */
#define IS(text, literal)                                                                          \
	((text).len == sizeof(literal) - 1 && memcmp((text).ptr, literal, sizeof(literal) - 1) == 0)

/* ---- globs -------------------------------------------------------------------- */

/* The end of the set that opens at pattern[at], or at when it is never closed. */
static size_t set_end(struct str pattern, size_t at)
{
	size_t i = at + 1;
	if (i < pattern.len && (pattern.ptr[i] == '!' || pattern.ptr[i] == '^'))
		i++;
	if (i < pattern.len && pattern.ptr[i] == ']')
		i++;
	while (i < pattern.len && pattern.ptr[i] != ']')
		i++;
	return i < pattern.len ? i + 1 : at;
}

/* set: what stands between the brackets */
static bool set_has(struct str set, char c)
{
	bool negated = set.len > 0 && (set.ptr[0] == '!' || set.ptr[0] == '^');
	bool found = false;
	for (size_t i = negated; i < set.len; i++) {
		unsigned char low = (unsigned char)set.ptr[i], high = low;
		if (i + 2 < set.len && set.ptr[i + 1] == '-') {
			high = (unsigned char)set.ptr[i + 2];
			i += 2;
		}
		found = found || ((unsigned char)c >= low && (unsigned char)c <= high);
	}
	return found != negated;
}

/* A '_' in a mangled name stands for any character that clients replace. */
static bool set_has_mangled(struct str set, char c)
{
	if (set_has(set, c))
		return true;
	if (c != '_')
		return false;
	for (char other = '!'; other <= '~'; other++)
		if (!is_word(other) && other != '/' && set_has(set, other))
			return true;
	return false;
}

struct steps {
	size_t pattern, text;
};

/* Whether the one thing at p[pi], no '*', holds for what is at t[ti]; how far both go. */
static bool glob_step(struct str p, size_t pi, struct str t, size_t ti, bool mangled,
		      struct steps *ret)
{
	char c = p.ptr[pi], d = t.ptr[ti];
	size_t end = c == '[' ? set_end(p, pi) : pi;
	if (end > pi) {
		struct str set = {p.ptr + pi + 1, end - pi - 2};
		*ret = (struct steps){end - pi, 1};
		return d != '/' && (mangled ? set_has_mangled(set, d) : set_has(set, d));
	}
	if (c == '?') {
		*ret = (struct steps){1, char_len(t, ti)};
		return d != '/';
	}
	*ret = (struct steps){1, 1};
	if (c == d)
		return true;
	if (mangled && d == '_' && !is_word(c)) {
		ret->pattern = char_len(p, pi);
		return true;
	}
	return false;
}

/* Wildcards never cross '/', so the n-th '/' of the pattern can only be the n-th of
 * the text: going back to the last '*' alone finds every match. */
static bool glob(struct str p, struct str t, bool mangled)
{
	size_t pi = 0, ti = 0, star = SIZE_MAX, mark = 0;
	struct steps steps;
	while (ti < t.len) {
		if (pi < p.len && p.ptr[pi] == '*') {
			star = ++pi;
			mark = ti;
		} else if (pi < p.len && p.ptr[pi] == t.ptr[ti] && p.ptr[pi] != '[' &&
			   p.ptr[pi] != '?') {
			pi++;
			ti++;
		} else if (pi < p.len && glob_step(p, pi, t, ti, mangled, &steps)) {
			pi += steps.pattern;
			ti += steps.text;
		} else if (star == SIZE_MAX || t.ptr[mark] == '/') {
			return false;
		} else {
			pi = star;
			ti = ++mark;
		}
	}
	while (pi < p.len && p.ptr[pi] == '*')
		pi++;
	return pi == p.len;
}

static bool is_star(struct str pattern)
{
	return pattern.len == 1 && pattern.ptr[0] == '*';
}

static bool part_holds(struct str pattern, struct str text, bool mangled)
{
	return is_star(pattern) || glob(pattern, text, mangled);
}

bool match_glob(struct str pattern, struct str text)
{
	return part_holds(pattern, text, false);
}

/* ---- tool patterns --------------------------------------------------------------- */

/* What a match looks at beside the pattern. */
struct view {
	const struct tool_name *tool;
	const struct tool_reading *reading;
	bool any;     /* a refusing entry: what cannot be told apart holds */
	bool mangled; /* and '_' may stand for another character */
};

static bool server_holds(struct str pattern, const struct view *view)
{
	const struct tool_reading *reading = view->reading;
	if (view->any && reading->server.len == 0 && IS(reading->source, "mcp"))
		return true; /* the client does not say which server */
	return part_holds(pattern, reading->server, view->mangled);
}

/* SERVER/NAME at every '/': a name may hold one, and '*' alone covers it */
static bool mcp_holds(struct str pattern, const struct view *view)
{
	if (!IS(view->reading->source, "mcp"))
		return false;
	for (size_t i = 0; i < pattern.len; i++)
		if (pattern.ptr[i] == '/' && server_holds(str_before(pattern, i), view) &&
		    part_holds(str_after(pattern, i + 1), view->reading->name, view->mangled))
			return true;
	return false;
}

/* mcp__SERVER__NAME as people know it from their client's rules; without NAME every
 * tool of the server. */
static bool mcp_raw_holds(struct str rest, const struct view *view)
{
	struct str server = rest, name = STR("*");
	if (!IS(view->reading->source, "mcp"))
		return false;
	for (size_t i = 1; i + 2 < rest.len; i++)
		if (rest.ptr[i] == '_' && rest.ptr[i + 1] == '_') {
			server = str_before(rest, i);
			name = str_after(rest, i + 2);
			break;
		}
	return server_holds(server, view) && part_holds(name, view->reading->name, view->mangled);
}

static bool tool_holds(struct str pattern, const struct view *view)
{
	const struct tool_reading *reading = view->reading;
	if (is_star(pattern))
		return true;
	if (str_starts(pattern, STR("mcp:")))
		return mcp_holds(str_after(pattern, 4), view);
	if (str_starts(pattern, STR("skill:")))
		return IS(reading->source, "skill") &&
		       part_holds(str_after(pattern, 6), reading->name, view->mangled);
	if (str_starts(pattern, STR("agent:")))
		return IS(reading->source, "agent") &&
		       part_holds(str_after(pattern, 6), reading->name, view->mangled);
	if (str_starts(pattern, STR("mcp_")) && glob(pattern, view->tool->raw, view->mangled))
		return true;
	if (str_starts(pattern, STR("mcp__")) && mcp_raw_holds(str_after(pattern, 5), view))
		return true;
	return (IS(reading->source, "local") || IS(reading->source, "mcp")) &&
	       part_holds(pattern, reading->name, view->mangled);
}

/* ---- matches ----------------------------------------------------------------------- */

static bool any_glob(const struct patterns *patterns, struct str text)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (match_glob(patterns->list[i], text))
			return true;
	return patterns->n == 0;
}

static bool any_star(const struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (is_star(patterns->list[i]))
			return true;
	return patterns->n == 0;
}

static bool any_server(const struct patterns *patterns, const struct view *view)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (server_holds(patterns->list[i], view))
			return true;
	return patterns->n == 0;
}

static bool any_tool(const struct patterns *patterns, const struct view *view)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (tool_holds(patterns->list[i], view))
			return true;
	return patterns->n == 0;
}

/* All three keys must hold for one and the same reading. */
static bool names_hold(const struct match *match, const struct tool_name *tool, bool any_reading)
{
	if (match->tool.n + match->source.n + match->server.n == 0)
		return true;
	if (!tool)
		return any_star(&match->tool) && any_star(&match->source) &&
		       any_star(&match->server);
	if (any_reading && tool->more)
		return true;
	for (size_t i = 0; i < tool->n && (i == 0 || any_reading); i++) {
		struct view view = {tool, &tool->readings[i], any_reading,
				    any_reading && tool->mangled};
		if (any_glob(&match->source, view.reading->source) &&
		    any_server(&match->server, &view) && any_tool(&match->tool, &view))
			return true;
	}
	return false;
}

static bool class_holds(const struct patterns *patterns, const struct match_subject *subject)
{
	if (patterns->n == 0)
		return true;
	if (subject->class.len > 0)
		return any_glob(patterns, subject->class);
	if (!subject->tool)
		return any_star(patterns);
	return any_glob(patterns, tool_class(&subject->tool->readings[0]));
}

bool match_holds(const struct match *match, const struct match_subject *subject, bool any_reading)
{
	return any_glob(&match->client, subject->client) &&
	       (any_glob(&match->agent, subject->agent) ||
		(subject->agent_type.len > 0 && any_glob(&match->agent, subject->agent_type))) &&
	       class_holds(&match->class, subject) && names_hold(match, subject->tool, any_reading);
}

const struct str *patterns_find_tool(const struct patterns *patterns, const struct tool_name *tool)
{
	if (patterns->n > 0 && tool->more)
		return &patterns->list[0];
	for (size_t i = 0; i < patterns->n; i++)
		for (size_t j = 0; j < tool->n; j++) {
			struct view view = {tool, &tool->readings[j], true, tool->mangled};
			if (tool_holds(patterns->list[i], &view))
				return &patterns->list[i];
		}
	return NULL;
}

/* ---- patterns as people write them ------------------------------------------------- */

int match_check_glob(struct str pattern, struct error *err)
{
	for (size_t i = 0; i < pattern.len; i++) {
		if ((unsigned char)pattern.ptr[i] < 0x20 || pattern.ptr[i] == 0x7f)
			return error_set(err, EINVAL, "has a control character; no name has one");
		if (pattern.ptr[i] != '[')
			continue;
		size_t end = set_end(pattern, i);
		if (end == i)
			return error_set(
				err, EINVAL,
				"has a '[' that is never closed; write [[] for a '[' itself");
		i = end - 1;
	}
	return 0;
}

/* A word before ':' that is almost one of ours: it would never hold, silently. */
static const char *prefix_meant(struct str word)
{
	static const char *const known[] = {"mcp", "skill", "agent"};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i]);
		bool plural = word.len == n + 1 && (word.ptr[n] == 's' || word.ptr[n] == 'S');
		if ((word.len == n || plural) && strncasecmp(word.ptr, known[i], n) == 0)
			return known[i];
	}
	return NULL;
}

int match_check_tool(struct str pattern, struct error *err)
{
	if (pattern.len == 0)
		return error_set(err, EINVAL, "is empty; \"*\" stands for every tool");
	int r = match_check_glob(pattern, err);
	const char *colon = memchr(pattern.ptr, ':', pattern.len);
	if (r < 0 || !colon)
		return r;
	struct str word = {pattern.ptr, (size_t)(colon - pattern.ptr)};
	struct str rest = str_after(pattern, word.len + 1);
	const char *meant = prefix_meant(word);
	if (!meant)
		return 0;
	if (!str_is(word, meant))
		return error_set(
			err, EINVAL, "never holds; write \"%s:%s%.*s\"", meant,
			strcmp(meant, "mcp") == 0 && !memchr(rest.ptr, '/', rest.len) ? "*/" : "",
			STR_FMT(rest));
	if (rest.len == 0)
		return error_set(err, EINVAL, "names nothing after \"%s:\"; add a name or \"*\"",
				 meant);
	const char *slash = memchr(rest.ptr, '/', rest.len);
	if (strcmp(meant, "mcp") != 0)
		return 0;
	if (!slash)
		return error_set(
			err, EINVAL,
			"names no server; write \"mcp:SERVER/NAME\", \"mcp:%.*s/*\" for all of "
			"a server's tools",
			STR_FMT(rest));
	if (slash == rest.ptr || slash + 1 == rest.ptr + rest.len)
		return error_set(
			err, EINVAL,
			"lacks the server or the name; write \"mcp:SERVER/NAME\", \"*\" for any");
	return 0;
}

static bool holds_for_one(struct str pattern, const char *const *words)
{
	for (; *words; words++)
		if (match_glob(pattern, str_of(*words)))
			return true;
	return false;
}

bool match_any_class(struct str pattern)
{
	static const char *const words[] = {"shell", "read", "write", "fetch", "search",
					    "agent", "mcp",  "other", NULL};
	return holds_for_one(pattern, words);
}

bool match_any_source(struct str pattern)
{
	static const char *const words[] = {"local", "mcp", "skill", "agent", NULL};
	return holds_for_one(pattern, words);
}
