/* settings.h - where each agent client keeps its hooks, in which form, and what it leaves
 * unhooked; pawl's own entries there, made, found and taken out.
 *
 * Layer: cli. A new client is one row in settings.c.
 */
#ifndef PAWL_CLI_SETTINGS_H
#define PAWL_CLI_SETTINGS_H

#include <limits.h>

#include "cli/splice.h"
#include "cli/tool.h"
#include "core/event.h"

#define SETTINGS_TIMEOUT_MS 10000 /* unless --timeout says otherwise */
#define SETTINGS_WORDS_MAX 16
#define SETTINGS_HANDLER_MAX ((size_t)32 << 10)

enum settings_shape {
	SHAPE_GROUPS,  /* "hooks": {EVENT: [{"matcher": ..., "hooks": [HANDLER]}]} */
	SHAPE_FLAT,    /* "hooks": {EVENT: [HANDLER]} */
	SHAPE_SCRIPTS, /* a program named after the event in a folder */
	SHAPE_PLUGIN,  /* a file of code that is loaded by being there: plugin-file.h */
};

enum settings_match {
	MATCH_NONE,     /* the client has no matchers */
	MATCH_NAMES,    /* a list of names where it looks like one, else a regular expression */
	MATCH_REGEX,    /* anywhere in the name */
	MATCH_ANCHORED, /* the whole name */
	MATCH_GLOB,
};

struct settings {
	const char *agent;
	const char *user, *project; /* below the home and the project's folder; NULL: --file */
	/* Where it reads hooks from as well: "~/" is the home, "/" the system, else the
	 * project's folder; the last part may be a glob. NULL: nowhere. */
	const char *const *others;
	const char *beside; /* another file of hooks in the same folder, as TOML; NULL: none */
	enum settings_shape shape;
	enum settings_match match;
	const char *const *events;     /* NULL at the end */
	/* Events that tell of a call a second time, behind one of those: install takes ours
	 * out, as uninstall does. NULL: none. */
	const char *const *again;
	const char *matcher;           /* written for tools' events; NULL: none is needed */
	const char *type;              /* raw members that a handler begins with */
	const char *program;           /* the command's member; the first of those looked for */
	bool exec;                     /* with "args", and no shell */
	bool named;                    /* the events do not say what they are: --event does */
	const char *timeout;           /* the member; NULL: cannot be set */
	bool ms;                       /* its unit, else seconds */
	const char *closed;            /* the member that has a failed hook refuse; NULL: none */
	const char *closed_value;      /* raw */
	const char *more;              /* raw members that a handler ends with */
	const char *head, *head_value; /* a member the file has to have beside "hooks" */
	const char *off, *off_value;   /* pointer, raw: this turns all hooks off */
	bool parallel;                 /* hooks of one event run at once, on the same input */
	bool login;                    /* the command runs in a login shell */
	const char *after;             /* what is left to do by hand */
	const char *const *tools;      /* names that the client gives its tools */
	const char *const *holes;      /* what reaches no hook */
};

/* NULL when none is known; those of index, NULL past the last. */
const struct settings *settings_of(const char *agent);

enum event_kind settings_kind(const struct settings *settings, const char *event);

/* ---- the command line ------------------------------------------------------------------- */

struct settings_line {
	const struct settings *settings;
	char path[PATH_MAX];          /* of the file, or the folder of scripts */
	const char *config;           /* absolute, or NULL */
	bool project, dry_run, given; /* given: the file was named */
	int64_t timeout_ms;
};

/* The home folder by the user database; -ENOENT. */
int settings_home(char *buf, size_t room, struct error *err);

/* Options of install, uninstall and doctor; command is for messages, which are printed.
 * 0, or the exit status: 2 usage, 1 no such file. */
int settings_line(const struct tool_line *line, const char *command, struct settings_line *ret);

/* The program that the person called: what started this one. */
int settings_pawl(char buf[PATH_MAX], struct error *err);

/* ---- pawl's own entries ------------------------------------------------------------------ */

/* One handler as it is found in a file. */
struct settings_hook {
	const char *event;
	const struct json_value *group;   /* NULL in a flat file */
	const struct json_value *handler; /* an object */
	size_t group_index, index;
};

/* The next one of the event after hook (zeroed to begin); false at the end. */
bool settings_next(const struct settings *settings, const struct json_value *root,
		   const char *event, struct settings_hook *hook);

/* What a handler starts, as words: of the exec form, or split as a shell would. */
struct settings_words {
	char text[8192];
	char *word[SETTINGS_WORDS_MAX + 1];
	int n;
	bool exec; /* not by a shell */
};
bool settings_words(const struct settings *settings, const struct json_value *handler,
		    struct settings_words *words);
bool settings_array(const struct json_value *array, struct settings_words *words);
/* What the handler has for its command, for a shell; absent in the exec form. */
struct str settings_command(const struct settings *settings, const struct json_value *handler);

/* Its program is called pawl, and it is "hook AGENT". */
bool settings_ours(const struct settings *settings, const struct json_value *handler);

/* Whether a matcher, absent or empty as well, is met by the name. -EILSEQ: it is no
 * expression, -EINVAL: none that can be read here. */
int settings_matches(const struct settings *settings, struct str matcher, const char *tool);

/* What there is of a file before hooks are put into it, where there was none. The empty line
 * at its end tells later that it was ours. */
#define SETTINGS_NEW "{}\n\n"

int settings_add(struct doc *doc, const struct settings_line *line, const char *pawl,
		 struct error *err);
int settings_remove(struct doc *doc, const struct settings_line *line, struct error *err);

/* A shell's word for text, quoted where needed. */
void settings_quote(struct str text, char *buf, size_t room);

#endif
