/* test-audit-host.c - the host table over struct fake_call and host/json. */
#include <config.h>

#include "test-audit-host.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"

char fake_error[1200];
static struct json_arena *arena;

static const struct fake_call *fake(const pawl_call *call)
{
	return (const struct fake_call *)(const void *)call;
}

static const struct json_value *value(const pawl_value *v)
{
	return (const struct json_value *)(const void *)v;
}

static const pawl_value *pawl(const struct json_value *v)
{
	return (const pawl_value *)(const void *)v;
}

static struct str str_from(pawl_str s)
{
	return (struct str){s.ptr, s.len};
}

static pawl_str as_text(struct str s)
{
	return (pawl_str){s.ptr, s.len};
}

static const struct json_value *parse(const char *text)
{
	const struct json_value *root = NULL;
	if (!arena && json_arena_new(JSON_ARENA_DEFAULT, &arena, NULL) < 0)
		abort();
	if (text && json_parse(arena, str_of(text), JSON_DEFAULT_LIMITS, 0, &root, NULL, NULL) < 0)
		abort();
	return root;
}

static void host_log(const pawl_host *host, int32_t level, pawl_str message)
{
	(void)host;
	(void)level;
	(void)message;
}

static void host_set_error(const pawl_host *host, pawl_str message)
{
	(void)host;
	snprintf(fake_error, sizeof(fake_error), "%.*s", (int)message.len, message.ptr);
}

static pawl_str host_text(const pawl_call *call, int32_t field)
{
	return as_text(str_of(fake(call)->text[field]));
}

static int64_t host_number(const pawl_call *call, int32_t field)
{
	return fake(call)->number[field];
}

static const pawl_value *host_root(const pawl_call *call, int32_t which)
{
	return pawl(parse(fake(call)->root[which]));
}

static int32_t host_type(const pawl_value *v)
{
	return (int32_t)json_type(value(v));
}

static const pawl_value *host_member(const pawl_value *v, pawl_str key)
{
	return pawl(json_member(value(v), str_from(key)));
}

static int32_t host_string(const pawl_value *v, pawl_str *out)
{
	struct str text;
	int r = json_string(value(v), &text);
	if (r == 0)
		*out = as_text(text);
	return r == 0 ? 0 : PAWL_E_TYPE;
}

static int32_t host_integer(const pawl_value *v, int64_t *out)
{
	return json_integer(value(v), out) == 0 ? 0 : PAWL_E_TYPE;
}

static int32_t host_boolean(const pawl_value *v, int32_t *out)
{
	return json_boolean(value(v), out) == 0 ? 0 : PAWL_E_TYPE;
}

static pawl_str host_json(const pawl_value *v)
{
	return as_text(json_raw(value(v)));
}

const pawl_host fake_host = {
	.struct_size = sizeof(pawl_host),
	.abi_minor = PAWL_ABI_MINOR,
	.log = host_log,
	.set_error = host_set_error,
	.text = host_text,
	.number = host_number,
	.root = host_root,
	.type = host_type,
	.member = host_member,
	.string = host_string,
	.integer = host_integer,
	.boolean = host_boolean,
	.json = host_json,
};

const pawl_plugin *fake_load(void)
{
	char path[4096];
	const char *top = getenv("abs_top_builddir");
	snprintf(path, sizeof(path), "%s/lib/pawl/plugins/audit.so", top ? top : ".");
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	pawl_plugin_entry entry = NULL;
	if (handle)
		*(void **)(void *)&entry = dlsym(handle, "pawl_plugin_entry_0");
	if (!entry)
		fprintf(stderr, "# %s\n", dlerror());
	return entry ? entry(&fake_host) : NULL;
}

int32_t fake_open(const pawl_plugin *plugin, const char *dir, const char *more, void **self)
{
	char options[4200];
	snprintf(options, sizeof(options), "{\"path\":\"%s/audit.db\"%s}", dir, more);
	return plugin->open(&fake_host, pawl(parse(options)), self);
}

static const pawl_call *opaque(const struct fake_call *call)
{
	return (const pawl_call *)(const void *)call;
}

int32_t fake_pre(const pawl_plugin *plugin, void *self, const char *session, const char *call,
		 const char *record)
{
	struct fake_call c = {.number = FAKE_NUMBERS};
	c.text[PAWL_T_EVENT] = "PreToolUse";
	c.text[PAWL_T_SESSION] = session;
	c.text[PAWL_T_CALL_ID] = call;
	return fake_decided(plugin, self, &c, record);
}

int32_t fake_decided(const pawl_plugin *plugin, void *self, const struct fake_call *call,
		     const char *record)
{
	return plugin->decided(self, opaque(call), (pawl_str){record, strlen(record)});
}

int32_t fake_post(const pawl_plugin *plugin, void *self, const struct fake_call *call)
{
	return plugin->post_tool_use(self, opaque(call));
}

int32_t fake_stop(const pawl_plugin *plugin, void *self, const char *session, const char *event)
{
	struct fake_call c = {.number = FAKE_NUMBERS};
	c.text[PAWL_T_EVENT] = event;
	c.text[PAWL_T_SESSION] = session;
	return plugin->stop(self, opaque(&c));
}

char *fake_folder(void)
{
	char *dir = NULL, *here = getcwd(NULL, 0);
	if (!here || asprintf(&dir, "%s/test-audit-XXXXXX", here) < 0 || !mkdtemp(dir))
		abort();
	free(here);
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void fake_remove(char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}
