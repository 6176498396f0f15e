/* descriptor.c - the pawl_plugin that an entry returned: checked, then copied.
 *
 * Layer: core; knows plugin-api and base.  Runs no plugin code, only reads what is
 * there: never more than struct_size bytes, never past the object's segment.
 */
#include <config.h>

#include "core/plugin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/hosttable.h"

/* What the first published header had: a smaller one is no pawl_plugin. */
#define END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))
#define DESCRIPTOR_MIN END_OF(pawl_plugin, open)
#define OPTION_MIN END_OF(pawl_option, choices)

struct subject {
	const char *path;
	const struct plugin_note *note;
	struct error *err;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct subject *subject,
							 const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(subject->err, ENOEXEC, "%s: %s", subject->path, text);
}

static bool all_zero(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != 0)
			return false;
	return true;
}

/* ---- size and copy ------------------------------------------------------------- */

static int copy(const struct subject *subject, const void *raw, size_t room, pawl_plugin *ret)
{
	uint32_t size;
	if (room < sizeof(size))
		return refuse(subject, "its entry returned a descriptor outside of itself; it must "
				       "be static data of the plugin");
	memcpy(&size, raw, sizeof(size));
	if (size < DESCRIPTOR_MIN || size > PLUGIN_DESCRIPTOR_MAX || size % sizeof(void *) != 0)
		return refuse(subject, "its descriptor's struct_size is %u; set it to "
				       "sizeof(pawl_plugin)", size);
	if (size > room)
		return refuse(subject, "its descriptor ends outside of it (struct_size is %u); set "
				       "it to sizeof(pawl_plugin)", size);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, raw, size < sizeof(*ret) ? size : sizeof(*ret));
	if (size > sizeof(*ret) &&
	    !all_zero((const char *)raw + sizeof(*ret), size - sizeof(*ret)))
		return refuse(subject, "has a hook that this pawl would never call: it is built for "
				       "plugin ABI %u.%u, here is %d.%d; install a newer pawl",
			      subject->note->abi_major, subject->note->abi_minor, PAWL_ABI_MAJOR,
			      PAWL_ABI_MINOR);
	return 0;
}

/* ---- texts ----------------------------------------------------------------------- */

/* Present, bounded, one line: it will be printed. */
static bool text_valid(const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return len < max;
}

static int check_identity(const struct subject *subject, const pawl_plugin *desc)
{
	const struct plugin_note *note = subject->note;
	if (!desc->id || strncmp(desc->id, note->id, sizeof(note->id)) != 0)
		return refuse(subject, "its descriptor's id is not the one of its note, \"%s\"; "
				       "give both the same", note->id);
	if (!desc->version || strncmp(desc->version, note->version, sizeof(note->version)) != 0)
		return refuse(subject, "its descriptor's version is not the one of its note, "
				       "\"%s\"; give both the same", note->version);
	if (desc->abi_minor != note->abi_minor)
		return refuse(subject, "its descriptor's abi_minor is %u, its note says %u; set it "
				       "to PAWL_ABI_MINOR", desc->abi_minor, note->abi_minor);
	if ((desc->vendor && !text_valid(desc->vendor, PLUGIN_TEXT_MAX)) ||
	    (desc->summary && !text_valid(desc->summary, PLUGIN_TEXT_MAX)))
		return refuse(subject, "its vendor or summary is not one line of text");
	return 0;
}

/* ---- what it does and needs ---------------------------------------------------------- */

static const char *const feature_names[] = {"rewrite", "approval", "substitute", "grant", "model"};

static int check_needs(const struct subject *subject, const pawl_plugin *desc)
{
	uint64_t missing = desc->needs & ~host_table.features;
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(missing & UINT64_C(1) << bit))
			continue;
		if (bit < sizeof(feature_names) / sizeof(feature_names[0]))
			return refuse(subject, "needs \"%s\" (bit %u of needs), which this pawl "
					       "does not do", feature_names[bit], bit);
		return refuse(subject, "needs bit %u of needs, which this pawl does not know; "
				       "install a newer pawl", bit);
	}
	return 0;
}

static int check_functions(const struct subject *subject, const pawl_plugin *desc)
{
	if (!desc->open)
		return refuse(subject, "has no open; every plugin has one");
	if (!desc->pre_tool_use && !desc->pre_model_call && !desc->post_model_call &&
	    !desc->post_tool_use && !desc->decided && !desc->stop)
		return refuse(subject, "has no hook that this pawl calls; set at least one");
	if (desc->threads < PAWL_THREADS_SERIAL || desc->threads > PAWL_THREADS_PARALLEL)
		return refuse(subject, "its threads is %d; use one of PAWL_THREADS_*",
			      desc->threads);
	return 0;
}

/* ---- the option table ------------------------------------------------------------------ */

static bool option_name_valid(const char *name)
{
	size_t len = strnlen(name, PLUGIN_OPTION_NAME_MAX);
	if (len == 0 || len == PLUGIN_OPTION_NAME_MAX || name[0] < 'a' || name[0] > 'z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') &&
		    name[i] != '_' && name[i] != '-')
			return false;
	return true;
}

/* "a|b|c": no empty one. */
static bool choices_valid(const char *choices)
{
	if (!text_valid(choices, PLUGIN_TEXT_MAX) || choices[0] == '\0' || choices[0] == '|')
		return false;
	return !strstr(choices, "||") && choices[strlen(choices) - 1] != '|';
}

static int check_option(const struct subject *subject, const pawl_option *option)
{
	const char *name = option->name;
	if (option->type < PAWL_OPT_STRING || option->type > PAWL_OPT_NUMBER)
		return refuse(subject, "option \"%s\": its type is %d; use one of PAWL_OPT_*", name,
			      option->type);
	if (option->flags & ~(PAWL_OPTF_REQUIRED | PAWL_OPTF_SECRET))
		return refuse(subject, "option \"%s\": flags %#x has a bit that this pawl does not "
				       "know", name, option->flags);
	if ((option->flags & PAWL_OPTF_REQUIRED) && option->fallback)
		return refuse(subject, "option \"%s\" is required and has a default; take one away",
			      name);
	if (option->fallback && strnlen(option->fallback, PLUGIN_TEXT_MAX) == PLUGIN_TEXT_MAX)
		return refuse(subject, "option \"%s\": its default is too long", name);
	if (option->help && !text_valid(option->help, PLUGIN_TEXT_MAX))
		return refuse(subject, "option \"%s\": its help is not one line of text", name);
	if (option->choices && option->type != PAWL_OPT_STRING && option->type != PAWL_OPT_STRINGS)
		return refuse(subject, "option \"%s\": only STRING and STRINGS have choices", name);
	if (option->choices && !choices_valid(option->choices))
		return refuse(subject, "option \"%s\": its choices are not \"a|b|c\"", name);
	return 0;
}

/* Bytes that a newer header put behind what we know must be zero, as in the descriptor. */
static int check_option_tail(const struct subject *subject, const pawl_plugin *desc, size_t index)
{
	const char *element = (const char *)desc->options + index * desc->option_size;
	if (desc->option_size > sizeof(pawl_option) &&
	    !all_zero(element + sizeof(pawl_option), desc->option_size - sizeof(pawl_option)))
		return refuse(subject, "option %zu uses something this pawl does not know; install "
				       "a newer pawl", index + 1);
	return 0;
}

static int check_option_name(const struct subject *subject, const pawl_plugin *desc, size_t index,
			     const char *name)
{
	pawl_option before;
	if (!option_name_valid(name))
		return refuse(subject, "option %zu: its name is not of a-z 0-9 _ - (at most %d)",
			      index + 1, PLUGIN_OPTION_NAME_MAX - 1);
	for (size_t i = 0; i < index && plugin_option_get(desc, i, &before); i++)
		if (strcmp(before.name, name) == 0)
			return refuse(subject, "option \"%s\" is in its table twice", name);
	return 0;
}

static int check_options(const struct subject *subject, const pawl_plugin *desc)
{
	pawl_option option;
	if (!desc->options)
		return 0;
	if (desc->option_size < OPTION_MIN || desc->option_size > PLUGIN_OPTION_SIZE_MAX ||
	    desc->option_size % sizeof(void *) != 0)
		return refuse(subject, "its option_size is %u; set it to sizeof(pawl_option)",
			      desc->option_size);
	for (size_t i = 0; plugin_option_get(desc, i, &option); i++) {
		if (i == PLUGIN_OPTIONS_MAX)
			return refuse(subject, "has more than %d options; is the end of its table "
					       "missing?", PLUGIN_OPTIONS_MAX);
		int r = check_option_tail(subject, desc, i);
		if (r == 0)
			r = check_option_name(subject, desc, i, option.name);
		if (r == 0)
			r = check_option(subject, &option);
		if (r < 0)
			return r;
	}
	return 0;
}

bool plugin_option_get(const pawl_plugin *desc, size_t index, pawl_option *ret)
{
	if (!desc->options)
		return false;
	size_t size = desc->option_size < sizeof(*ret) ? desc->option_size : sizeof(*ret);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, (const char *)desc->options + index * desc->option_size, size);
	return ret->name != NULL;
}

int plugin_descriptor_copy(const char *path, const struct plugin_note *note, const void *raw,
			   size_t room, pawl_plugin *ret, struct error *err)
{
	const struct subject subject = {path, note, err};
	pawl_plugin desc;
	if (!raw)
		return refuse(&subject, "its entry returned NULL: it does not want to be loaded");
	int r = copy(&subject, raw, room, &desc);
	if (r == 0)
		r = check_identity(&subject, &desc);
	if (r == 0)
		r = check_needs(&subject, &desc);
	if (r == 0)
		r = check_functions(&subject, &desc);
	if (r == 0)
		r = check_options(&subject, &desc);
	if (r == 0)
		*ret = desc;
	return r;
}
