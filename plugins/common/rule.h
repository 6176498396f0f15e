/* rule.h - what every rule does: read its options, refuse with a reason.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  The host has checked types, choices
 * and required options before open is called; what is left is how they fit together.
 */
#ifndef PAWL_PLUGINS_RULE_H
#define PAWL_PLUGINS_RULE_H

#include <stdlib.h>

#include "say.h"

/* NULL where it was not given. */
static inline const pawl_value *option(const pawl_host *host, const pawl_value *options,
				       const char *name)
{
	const pawl_value *value = host->member(options, str_lit(name));
	return host->type(value) == PAWL_NULL ? NULL : value;
}

/* ptr NULL where it was not given; lives until close. */
static inline pawl_str option_text(const pawl_host *host, const pawl_value *options,
				   const char *name)
{
	pawl_str text = {NULL, 0};
	const pawl_value *value = option(host, options, name);
	if (!value || host->string(value, &text) != 0)
		return (pawl_str){NULL, 0};
	return text;
}

static inline bool option_is_on(const pawl_host *host, const pawl_value *options, const char *name)
{
	int32_t on = 0;
	const pawl_value *value = option(host, options, name);
	return value && host->boolean(value, &on) == 0 && on;
}

static inline int32_t option_error(const pawl_host *host, const char *literal)
{
	host->set_error(host, str_lit(literal));
	return PAWL_E_OPTION;
}

static inline bool text_is(pawl_str text, const char *other)
{
	return text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

/* RFC 6901: "" or /token/token, with ~ only as ~0 and ~1. */
static inline bool pointer_is_well_formed(pawl_str pointer)
{
	if (!pointer.ptr || (pointer.len > 0 && pointer.ptr[0] != '/'))
		return false;
	for (size_t i = 0; i < pointer.len; i++) {
		if (pointer.ptr[i] != '~')
			continue;
		char next = i + 1 < pointer.len ? pointer.ptr[i + 1] : '\0';
		if (next != '0' && next != '1')
			return false;
	}
	return true;
}

/* Reads a JSON pointer option into *ret; 0 or an option error. */
static inline int32_t option_pointer(const pawl_host *host, const pawl_value *options,
				     const char *name, pawl_str *ret)
{
	pawl_str pointer = option_text(host, options, name);
	if (!pointer_is_well_formed(pointer)) {
		struct say why = {0};
		say(&why, name);
		say(&why, ": ");
		say_value(&why, pointer);
		say(&why, " is not a JSON pointer: it starts with /, and ~ is only in ~0 and ~1");
		host->set_error(host, say_str(&why));
		return PAWL_E_OPTION;
	}
	*ret = pointer;
	return 0;
}

/* "deny" "require_approval" "substitute" "allow"; 0 for none of them, and for one
 * that this host does not offer. */
static inline int32_t verdict_of(const pawl_host *host, pawl_str word)
{
	if (!word.ptr)
		return 0;
	if (text_is(word, "allow"))
		return PAWL_ALLOW;
	if (text_is(word, "deny"))
		return PAWL_DENY;
	if (text_is(word, "require_approval") && host->features & PAWL_FEAT_APPROVAL)
		return PAWL_REQUIRE_APPROVAL;
	if (text_is(word, "substitute") && host->features & PAWL_FEAT_SUBSTITUTE)
		return PAWL_SUBSTITUTE;
	return 0;
}

/* Says why and gives the verdict back, to stand behind return. */
static inline int32_t rule_says(const pawl_host *host, pawl_reply *reply, const char *rule,
				int32_t verdict, pawl_str why)
{
	host->reason(reply, str_lit(rule), why);
	return verdict;
}

/* "pointer" in a reason; the empty one is the arguments as a whole. */
static inline void say_pointer(struct say *s, pawl_str pointer)
{
	if (pointer.len == 0)
		say(s, "the whole value");
	else
		say_escaped(s, pointer, SAY_VALUE_MAX);
}

#endif
