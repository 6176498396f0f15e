/* match-name.c - the ways in which a tool's name can be read.
 *
 * Layer: core; base only.
 */
#include <config.h>

#include "core/match.h"

#include <string.h>

#include "core/mangle.h"

static void reading_add(struct tool_name *ret, struct tool_reading reading)
{
	if (ret->n == TOOL_READINGS_MAX)
		ret->more = true;
	else
		ret->readings[ret->n++] = reading;
}

static const struct str none = {"", 0};

/* plugin_P_SERVER: every P is a reading, and the server that is really called so. */
static void read_plugin_server(struct str server, struct str name, struct tool_name *ret)
{
	const struct str prefix = STR("plugin_");
	if (str_starts(server, prefix)) {
		struct str rest = str_after(server, prefix.len);
		for (size_t i = 1; i + 1 < rest.len && !ret->more; i++)
			if (rest.ptr[i] == '_')
				reading_add(ret, (struct tool_reading){STR("mcp"),
								       str_after(rest, i + 1), name,
								       str_before(rest, i)});
	}
	reading_add(ret, (struct tool_reading){STR("mcp"), server, name, none});
}

/* SERVER__TOOL at every "__"; rest follows "mcp__". */
static void read_double(struct str rest, struct tool_name *ret)
{
	for (size_t i = 1; i + 2 < rest.len && !ret->more; i++)
		if (rest.ptr[i] == '_' && rest.ptr[i + 1] == '_')
			read_plugin_server(str_before(rest, i), str_after(rest, i + 2), ret);
}

/* SERVER_TOOL at every "_"; rest follows "mcp_". */
static void read_single(struct str rest, struct tool_name *ret)
{
	for (size_t i = 1; i + 1 < rest.len && !ret->more; i++)
		if (rest.ptr[i] == '_')
			reading_add(ret, (struct tool_reading){STR("mcp"), str_before(rest, i),
							       str_after(rest, i + 1), none});
}

/* SERVER/TOOL at every "/": either may hold one. */
static void read_slashed(struct str rest, struct tool_name *ret)
{
	for (size_t i = 1; i + 1 < rest.len && !ret->more; i++)
		if (rest.ptr[i] == '/')
			reading_add(ret, (struct tool_reading){STR("mcp"), str_before(rest, i),
							       str_after(rest, i + 1), none});
}

/* Readings off the name alone; none when it has no form that says where it is from. */
static void read_forms(struct str raw, bool is_mcp, struct tool_name *ret)
{
	if (str_starts(raw, STR("mcp__"))) {
		read_double(str_after(raw, 5), ret);
		ret->mangled = ret->n > 0;
	} else if (str_starts(raw, STR("mcp_"))) {
		read_single(str_after(raw, 4), ret);
		ret->mangled = ret->n > 0;
		if (ret->n > 0 && !is_mcp) /* just as well a local tool */
			reading_add(ret, (struct tool_reading){STR("local"), none, raw, none});
	} else if (str_starts(raw, STR("mcp:"))) {
		read_slashed(str_after(raw, 4), ret);
	} else if (str_starts(raw, STR("@"))) {
		read_slashed(str_after(raw, 1), ret);
	} else if (str_starts(raw, STR("MCP:")) && raw.len > 4) {
		reading_add(ret, (struct tool_reading){STR("mcp"), none, str_after(raw, 4), none});
	} else if (!is_mcp && str_starts(raw, STR("skill:")) && raw.len > 6) {
		reading_add(ret,
			    (struct tool_reading){STR("skill"), none, str_after(raw, 6), none});
	} else if (!is_mcp && str_starts(raw, STR("agent:")) && raw.len > 6) {
		reading_add(ret,
			    (struct tool_reading){STR("agent"), none, str_after(raw, 6), none});
	}
}

/* Bytes at the start of text that are name with some characters replaced; 0: not. */
static size_t mangled_prefix(struct str name, struct str text)
{
	size_t at = 0;
	for (size_t i = 0; i < name.len;) {
		size_t step = 1;
		if (at == text.len)
			return 0;
		if (text.ptr[at] != name.ptr[i]) {
			if (text.ptr[at] != '_' || is_word(name.ptr[i]))
				return 0;
			step = char_len(name, i);
		}
		i += step;
		at++;
	}
	return at;
}

/* raw = PREFIX server JOINT TOOL: gives TOOL */
static bool strip_server(struct str raw, const char *prefix, struct str server, const char *joint,
			 struct str *ret)
{
	struct str head = str_of(prefix), mid = str_of(joint);
	if (!str_starts(raw, head))
		return false;
	struct str rest = str_after(raw, head.len);
	size_t n = mangled_prefix(server, rest);
	if (n == 0 || !str_starts(str_after(rest, n), mid) || n + mid.len == rest.len)
		return false;
	*ret = str_after(rest, n + mid.len);
	return true;
}

/* raw = mcp__plugin_P_server__TOOL: gives P and TOOL */
static bool strip_plugin(struct str raw, struct str server, struct str *ret_plugin, struct str *ret)
{
	const struct str prefix = STR("mcp__plugin_");
	if (!str_starts(raw, prefix))
		return false;
	struct str rest = str_after(raw, prefix.len);
	for (size_t i = 1; i < rest.len; i++)
		if (rest.ptr[i] == '_' &&
		    strip_server(str_after(rest, i), "_", server, "__", ret)) {
			*ret_plugin = str_before(rest, i);
			return true;
		}
	return false;
}

/* The client says which server: what raw says of it too goes. */
static void read_given_server(struct str raw, struct str server, struct tool_name *ret)
{
	struct tool_reading reading = {STR("mcp"), server, raw, none};
	if (strip_server(raw, "mcp__", server, "__", &reading.name) ||
	    strip_plugin(raw, server, &reading.plugin, &reading.name) ||
	    strip_server(raw, "mcp_", server, "_", &reading.name)) {
		ret->mangled = true;
		reading_add(ret, reading);
		return;
	}
	if (strip_server(raw, "mcp:", server, "/", &reading.name) ||
	    strip_server(raw, "@", server, "/", &reading.name)) {
		reading_add(ret, reading);
		return;
	}
	if (str_starts(raw, STR("MCP:")) && raw.len > 4) {
		reading.name = str_after(raw, 4);
		reading_add(ret, reading);
		return;
	}
	reading_add(ret, reading);
	if (str_starts(raw, STR("mcp__"))) /* another server: neither is to be believed alone */
		read_forms(raw, true, ret);
}

void tool_name_read(struct str raw, struct str source, struct str server, struct tool_name *ret)
{
	bool is_mcp = str_is(source, "mcp") || (source.len == 0 && server.len > 0);
	if (!raw.ptr)
		raw = none;
	ret->raw = raw;
	ret->mangled = ret->more = false;
	ret->n = 0;
	if (source.len > 0 && !is_mcp) {
		struct tool_reading reading = {source, none, raw, none};
		if (str_starts(raw, source) && raw.len > source.len + 1 &&
		    raw.ptr[source.len] == ':')
			reading.name = str_after(raw, source.len + 1);
		reading_add(ret, reading);
	} else if (is_mcp && server.len > 0) {
		read_given_server(raw, server, ret);
	} else {
		read_forms(raw, is_mcp, ret);
	}
	if (ret->n == 0)
		reading_add(ret, (struct tool_reading){is_mcp ? STR("mcp") : STR("local"), none,
						       raw, none});
}
