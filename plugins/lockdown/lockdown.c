/* lockdown.c - the rule "lockdown": a lock file named after the run, the session or
 * a fact exists in a folder.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Looks at the folder at every call, so
 * that a lock counts from the moment it is there.  Only "no such file" in a folder
 * that could be opened means unlocked; every other answer refuses.
 */
#define _GNU_SOURCE /* O_PATH: a folder that may be searched but not read will do */

#include <pawl/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/rule.h"

#define KEYS_MAX 64
#define NAME_MAX_BYTES 255
#define LOCK_TEXT_MAX 1024 /* a longer lock file locks, but is not quoted */
#define LOCK_LINE_SHOWN 200

struct key {
	pawl_str name;	  /* as configured */
	int32_t field;	  /* PAWL_T_*; 0: a fact */
	pawl_str pointer; /* the fact's */
};

struct lockdown {
	const pawl_host *host;
	pawl_str dir;
	size_t n_keys;
	struct key keys[KEYS_MAX];
};

static int32_t unreadable(const struct lockdown *self, pawl_reply *reply, const struct key *key,
			  const char *why_not)
{
	struct say why = {0};
	say(&why, "whether this is locked cannot be told: ");
	say_escaped(&why, key->name, SAY_VALUE_MAX);
	say(&why, why_not);
	return rule_says(self->host, reply, "lockdown", PAWL_DENY, say_str(&why));
}

/* The value's text; digits receives that of a whole number.  NULL or why it is none. */
static const char *key_value(const struct lockdown *self, const pawl_call *call,
			     const struct key *key, char digits[24], pawl_str *ret)
{
	const pawl_host *host = self->host;
	int64_t number = 0;
	if (key->field != 0) {
		*ret = host->text(call, key->field);
		return ret->ptr && ret->len > 0 ? NULL : " is not known for this call";
	}
	const pawl_value *fact = host->at(host->root(call, PAWL_R_CONTEXT), key->pointer);
	if (!fact)
		return " is not known for this call";
	if (host->type(fact) == PAWL_STRING && host->string(fact, ret) == 0)
		return NULL;
	if (host->type(fact) != PAWL_NUMBER || host->integer(fact, &number) != 0)
		return " is neither a string nor a whole number";
	*ret = (pawl_str){digits, (size_t)snprintf(digits, 24, "%" PRId64, number)};
	return NULL;
}

static bool is_file_name(pawl_str text)
{
	return text.len > 0 && text.len <= NAME_MAX_BYTES && !text_is(text, ".") &&
	       !text_is(text, "..") && !memchr(text.ptr, '/', text.len) &&
	       !memchr(text.ptr, '\0', text.len);
}

/* The first line of a small regular file; length 0 where there is none to show. */
static size_t first_line(int dir, const char *name, char line[LOCK_TEXT_MAX])
{
	struct stat st;
	ssize_t n = -1;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LOCK_TEXT_MAX)
		n = read(fd, line, LOCK_TEXT_MAX);
	close(fd);
	if (n <= 0)
		return 0;
	const char *end = memchr(line, '\n', (size_t)n);
	return end ? (size_t)(end - line) : (size_t)n;
}

static int32_t locked(const struct lockdown *self, pawl_reply *reply, const struct key *key,
		      pawl_str value, pawl_str line)
{
	struct say why = {0};
	say_escaped(&why, key->name, SAY_VALUE_MAX);
	say(&why, " ");
	say_value(&why, value);
	say(&why, " is locked");
	if (line.len > 0) {
		say(&why, ": '");
		say_escaped(&why, line, LOCK_LINE_SHOWN);
		say(&why, "'");
	}
	say(&why, "; nothing runs until whoever placed the lock removes it");
	return rule_says(self->host, reply, "lockdown", PAWL_DENY, say_str(&why));
}

/* dir is open.  PAWL_ALLOW when there is no lock of this name. */
static int32_t check_name(const struct lockdown *self, pawl_reply *reply, const struct key *key,
			  int dir, pawl_str value)
{
	char name[NAME_MAX_BYTES + 1], line[LOCK_TEXT_MAX];
	struct stat st;
	memcpy(name, value.ptr, value.len);
	name[value.len] = '\0';
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		/* a device is not even opened */
		size_t len = S_ISREG(st.st_mode) ? first_line(dir, name, line) : 0;
		return locked(self, reply, key, value, (pawl_str){line, len});
	}
	if (errno == ENOENT)
		return PAWL_ALLOW;
	return unreadable(self, reply, key, ": the folder of locks cannot be searched");
}

static int32_t check_key(const struct lockdown *self, const pawl_call *call, pawl_reply *reply,
			 const struct key *key, int dir)
{
	char digits[24];
	pawl_str value = {NULL, 0};
	const char *why_not = key_value(self, call, key, digits, &value);
	if (why_not)
		return unreadable(self, reply, key, why_not);
	if (!is_file_name(value))
		return unreadable(self, reply, key, " cannot be the name of a file");
	return check_name(self, reply, key, dir, value);
}

static int32_t lockdown_pre_tool_use(void *data, const pawl_call *call, pawl_reply *reply)
{
	const struct lockdown *self = data;
	int32_t verdict = PAWL_ALLOW;
	int dir = open(self->dir.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		struct say why = {0};
		say(&why, "whether this is locked cannot be told: the folder of locks cannot be "
			  "opened: ");
		say(&why, errno == ENOENT ? "it does not exist" : "not a folder, or no permission");
		return rule_says(self->host, reply, "lockdown", PAWL_DENY, say_str(&why));
	}
	for (size_t i = 0; i < self->n_keys && verdict == PAWL_ALLOW; i++)
		verdict = check_key(self, call, reply, &self->keys[i], dir);
	close(dir);
	return verdict;
}

static bool read_key(pawl_str name, struct key *ret)
{
	static const char prefix[] = "context:";
	const size_t len = sizeof(prefix) - 1;
	*ret = (struct key){.name = name};
	if (text_is(name, "run_id"))
		ret->field = PAWL_T_RUN;
	else if (text_is(name, "session_id"))
		ret->field = PAWL_T_SESSION;
	else if (name.len > len + 1 && memcmp(name.ptr, prefix, len) == 0)
		ret->pointer = (pawl_str){name.ptr + len, name.len - len};
	else
		return false;
	return ret->field != 0 || pointer_is_well_formed(ret->pointer);
}

static int32_t read_keys(struct lockdown *self, const pawl_value *options)
{
	const pawl_host *host = self->host;
	const pawl_value *keys = option(host, options, "keys");
	size_t n = host->length(keys);
	if (n == 0 || n > KEYS_MAX)
		return option_error(host, "keys: takes 1 to 64 of run_id, session_id and "
					  "context:/pointer");
	for (size_t i = 0; i < n; i++) {
		pawl_str name = {NULL, 0};
		if (host->string(host->item(keys, i), &name) == 0 &&
		    read_key(name, &self->keys[i]))
			continue;
		struct say why = {0};
		say(&why, "keys: ");
		say_value(&why, name);
		say(&why, " is none of run_id, session_id and context:/pointer");
		host->set_error(host, say_str(&why));
		return PAWL_E_OPTION;
	}
	self->n_keys = n;
	return 0;
}

static int32_t lockdown_open(const pawl_host *host, const pawl_value *options, void **ret)
{
	struct lockdown *self = calloc(1, sizeof(*self));
	if (!self)
		return PAWL_E_NOMEM;
	self->host = host;
	self->dir = option_text(host, options, "dir");
	int32_t e = self->dir.ptr && self->dir.len > 0 && self->dir.ptr[0] == '/'
			    ? read_keys(self, options)
			    : option_error(host, "dir: takes the path of a folder");
	if (e != 0) {
		free(self);
		return e;
	}
	*ret = self;
	return 0;
}

static const pawl_option lockdown_options[] = {
	{"dir", PAWL_OPT_PATH, PAWL_OPTF_REQUIRED, NULL, "folder of lock files", NULL},
	{"keys", PAWL_OPT_STRINGS, 0, "[\"session_id\"]",
	 "whose values name the files: run_id, session_id, context:/pointer", NULL},
	{NULL, 0, 0, NULL, NULL, NULL},
};

static const pawl_plugin lockdown_plugin = {
	.struct_size = sizeof(pawl_plugin),
	.abi_minor = PAWL_ABI_MINOR,
	.threads = PAWL_THREADS_PARALLEL,
	.option_size = sizeof(pawl_option),
	.id = "lockdown",
	.version = "0.1.0",
	.vendor = "pawl",
	.summary = "a lock file stops a run, a session or whoever a fact names",
	.options = lockdown_options,
	.open = lockdown_open,
	.close = free,
	.pre_tool_use = lockdown_pre_tool_use,
};

PAWL_PLUGIN("lockdown", "0.1.0", lockdown_plugin)
