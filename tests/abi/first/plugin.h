/* pawl/plugin.h - the plugin ABI of pawl, major 0 until it is frozen as 1.
 *
 * A plugin is a shared object that pawl's host asks, before a tool of an LLM agent
 * runs, whether it may.  This header is all it needs: C99 or later, or C++11; it
 * includes <stddef.h> and <stdint.h> only.  A plugin links against nothing of
 * pawl's: what it may call arrives in struct pawl_host.
 *
 *	cc $(pkg-config --cflags pawl-plugin) -fPIC -fvisibility=hidden -shared \
 *		-Wl,-z,defs -o org.example.quiet.so quiet.c
 *
 * C++ adds -Wl,--version-script=$(pkg-config --variable=symbols pawl-plugin), as the
 * standard library's templates are exported otherwise, and lets no exception out of a
 * callback.
 *
 * The file is named after the plugin's id and lies in the folder that
 * `pkg-config --variable=plugindir pawl-plugin` prints.  A complete small plugin is
 * at this file's end; pawl-plugin(3) says the same as this header, with examples.
 *
 * Lifecycle
 *
 *	                       file, ELF note and symbols are checked: no code runs
 *	                                            |
 *	                        dlopen (RTLD_NOW | RTLD_LOCAL, never unloaded)
 *	                                            |
 *	                 pawl_plugin_entry_0  ->  the descriptor, checked and copied
 *	                                            |
 *	   once an entry of the config:     open  ->  0, self
 *	                                            |
 *	   before a tool:   pre_tool_use -> verdict    --- again, PAWL_N_ROUND > 0, when
 *	   before a model:  pre_model_call -> verdict      another plugin rewrote the
 *	   after a model:   post_model_call -> verdict     arguments after this one spoke
 *	   once the answer has left:  decided, post_tool_use, stop
 *	                                            |
 *	                                  close, where there is time
 *
 * Most hosts live for one call: a process starts, opens, asks once and ends with
 * _exit.  So close is best effort: what must last is written inside the hook.
 *
 * When it goes wrong.  Plugin code never runs in the process that answers the
 * agent, but in a worker of it.  A plugin that crashes, exits, hangs past its
 * deadline, throws, or returns something that is no verdict is a plugin error, and
 * a plugin error before the tool denies the call; the model is told "policy error"
 * and never the error's text, which goes to the log and the records.  After the
 * tool the error is counted and nothing else happens.  A plugin that cannot be
 * loaded or opened leaves a place in the chain that refuses.  Nothing a plugin does
 * by mistake turns into "allow".
 *
 * A plugin must not write to descriptors 0-2, change what the whole process shares
 * (folder, locale, umask, signal handlers, environment), or leave a child or thread
 * behind when close has returned; others live in the same process.
 *
 * Layout (held by a test that pins every offset)
 *   L1 every struct that crosses the boundary starts with uint32_t struct_size,
 *      set by the side that allocated it to its own sizeof (pawl_option: option_size)
 *   L2 fields are only appended; never moved, retyped or reused
 *   L3 only intN_t/uintN_t, size_t, double and pointers cross: no enum-typed
 *      fields, bool, bit-fields, long, time_t, FILE, va_list, unions
 *   L4 the host reads a field beyond a plugin's struct_size as zero, and refuses
 *      a plugin that has a non-zero byte beyond the host's own size (a hook that
 *      nobody would call); a plugin asks PAWL_HAS before it uses a newer service
 *   L5 an unknown number or flag coming from a plugin is a plugin error; one coming
 *      from the host is a newer host's, and is left alone
 * Ownership
 *   O1 host -> plugin pointers are borrowed until the callback returns
 *      (the host table and the options: until close returns, or open has failed);
 *      the memory behind calls and values is read-only: writing there crashes
 *   O2 plugin -> host data is copied before the host function returns
 *   O3 nobody frees the other side's memory
 *   O4 text is UTF-8, length-delimited, and NUL-terminated when it comes from
 *      the host; a JSON string may contain NUL, so trust the length; absent
 *      text has ptr NULL, an absent number is INT64_MIN
 * Success
 *   S1 open and the observing hooks return 0 or an error; policy hooks return a
 *      verdict (> 0) or an error (<= 0)
 *   S2 mandatory: id, version, open and at least one hook; close and self may be
 *      NULL; an entry of the chain needs a policy hook, one of observe an observing one
 *   S3 a host service that fails (a bad edit, a result that is not JSON) makes the
 *      hook an error whatever it returns after; edits apply in order, root() keeps
 *      showing the arguments as they were; repeated reason/result/approval: last wins
 *   S4 hooks may be asked again about rewritten arguments (PAWL_N_ROUND > 0): count
 *      and spend only in round 0; edits made there are not applied, so a rewriter
 *      whose edit must stand denies in that round
 * Threads
 *   T1 callbacks come on any thread, one at a time as the descriptor's threads says;
 *      open and close of an instance never overlap its hooks
 *   T2 [any]: log, from any thread until close returns
 *      [hook]: everything that takes a call, value or reply, and set_error: on the
 *      thread the callback came on, until it returns
 *
 * "since 0.1" and the like name the ABI in which something came; what says nothing
 * is since 0.1.
 */
#ifndef PAWL_PLUGIN_H
#define PAWL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* A host takes plugins of its own major, whatever their minor, as far as L4 goes. */
#define PAWL_ABI_MAJOR 0
#define PAWL_ABI_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif
#define PAWL_EXPORT __attribute__((visibility("default")))

/* ---- small types ---------------------------------------------------------------- */

/* A piece of text; frozen: it has no struct_size and never grows. */
typedef struct pawl_str {
	const char *ptr; /* NULL: absent */
	size_t len;	 /* bytes */
} pawl_str;

/* A C string as a pawl_str: pawl_text("why"); NULL gives absent text. */
static inline pawl_str pawl_text(const char *text)
{
	pawl_str str = {text, text ? __builtin_strlen(text) : 0};
	return str;
}

typedef struct pawl_call pawl_call;   /* opaque: one frozen tool or model call */
typedef struct pawl_value pawl_value; /* opaque: one frozen JSON value         */
typedef struct pawl_reply pawl_reply; /* opaque: write-only answer of one hook */

/* ---- what a hook returns ---------------------------------------------------------- */

/* Verdicts (> 0) or errors (<= 0).  0 is never "allow": a hook that forgot to decide
 * is a plugin error, and a plugin error denies.  The first verdict other than allow
 * ends the chain. */
#define PAWL_ALLOW 1		/* no objection; the chain goes on               */
#define PAWL_DENY 2		/* the tool does not run; reason() -> model      */
#define PAWL_REQUIRE_APPROVAL 3 /* a person decides, or the timeout denies       */
#define PAWL_SUBSTITUTE 4	/* the tool does not run; result() is its result */

/* Errors, of hooks, open and host services alike.  The class is recorded, the text
 * given to set_error is logged.  One that is not here counts as "bad-status". */
#define PAWL_E_FAIL (-1)	/* anything else; say what with set_error        */
#define PAWL_E_NOMEM (-2)	/* out of memory                                 */
#define PAWL_E_OPTION (-3)	/* from open: bad option; set_error names it     */
#define PAWL_E_UNSUPPORTED (-4) /* not here: an edit after the tool, say         */
#define PAWL_E_TYPE (-5)	/* a value is not of the type asked for          */
#define PAWL_E_MISSING (-6)	/* there is no value; a pointer leads nowhere    */
#define PAWL_E_LIMIT (-7)	/* too large, too long, not in the number's range */
#define PAWL_E_CANCELLED (-8)	/* counts only while PAWL_N_CANCELLED is 1       */

/* ---- what a call carries ------------------------------------------------------------ */

/* Text, for host->text().  Absent (ptr NULL) where the client did not say.  It is what
 * the agent's client said: facts that security rests on are in PAWL_R_CONTEXT. */
#define PAWL_T_EVENT 1	/* "PreToolUse", "PostToolUse", "PreModelCall"... */
#define PAWL_T_TOOL 2	/* canonical tool name, without server prefix     */
#define PAWL_T_SOURCE 3 /* "local", "mcp", "skill", "agent"               */
#define PAWL_T_SERVER 4 /* MCP server name, empty when not MCP            */
#define PAWL_T_TARGET 5 /* "server" or "client"                           */
#define PAWL_T_CALL_ID 6 /* tool_use_id                                   */
#define PAWL_T_SESSION 7
#define PAWL_T_RUN 8
#define PAWL_T_AGENT 9	     /* sub-agent id, empty for the main agent    */
#define PAWL_T_AGENT_TYPE 10
#define PAWL_T_CLIENT 11     /* "claude-code", "codex", "mcp", ...        */
#define PAWL_T_CWD 12

/* Numbers, for host->number().  INT64_MIN where it is not known. */
#define PAWL_N_TURN 1
#define PAWL_N_POSITION 2    /* index inside a parallel batch             */
#define PAWL_N_BATCH 3	     /* calls in the batch, 0 unknown             */
#define PAWL_N_NOW_NS 4	     /* wall clock of this call, ns since 1970 UTC; use it, not
				time(): a call can be replayed at another time           */
#define PAWL_N_DEADLINE_NS 5 /* CLOCK_MONOTONIC, 0 none                   */
#define PAWL_N_CANCELLED 6   /* 1 once the host wants the hook to return; the only one
				that may change while a hook runs                        */
#define PAWL_N_ROUND 7	     /* 0 first vote, 1.. re-vote on rewritten args   */
#define PAWL_N_IS_ERROR 8    /* PostToolUse: the tool failed                  */
#define PAWL_N_SUBSTITUTED 9 /* PostToolUse: the result came from a plugin    */
#define PAWL_N_DURATION_NS 10 /* PostToolUse                                  */

/* JSON roots, for host->root(): NULL when the call has none.  All plugins see the
 * same tree: an argument is never parsed twice. */
#define PAWL_R_CONTEXT 1    /* TRUSTED: built by the host, sealed             */
#define PAWL_R_ARGS 2	    /* untrusted, as rewritten by plugins before me   */
#define PAWL_R_ARGS_GIVEN 3 /* untrusted, as the model wrote them             */
#define PAWL_R_META 4	    /* what the tool's declaration carried            */
#define PAWL_R_RESULT 5	    /* PostToolUse; PostModelCall: response metadata  */
#define PAWL_R_EVENT 6	    /* the client's whole event, untrusted            */
#define PAWL_R_REQUEST 7    /* model calls: the request; set_args in
			       pre_model_call merges into it, member by member */
#define PAWL_R_MESSAGE 8    /* PostModelCall: the assistant message; set_args
			       there replaces it                              */
#define PAWL_R_SESSION 9    /* Stop: counts of the session                    */

/* Types of JSON values, from host->type(). */
#define PAWL_NULL 0 /* also: there is no value */
#define PAWL_BOOL 1
#define PAWL_NUMBER 2
#define PAWL_STRING 3
#define PAWL_ARRAY 4
#define PAWL_OBJECT 5

/* Levels, for host->log(). */
#define PAWL_LOG_DEBUG 0
#define PAWL_LOG_INFO 1
#define PAWL_LOG_WARN 2
#define PAWL_LOG_ERROR 3

/* ---- what the host offers ----------------------------------------------------------- */

/* Each instance gets a table of its own in open and keeps the pointer; it is the
 * first argument of the services that are about the instance. */
typedef struct pawl_host pawl_host;
struct pawl_host {
	uint32_t struct_size;
	uint32_t abi_minor; /* of the host */
	uint64_t features;  /* PAWL_FEAT_* that the host honours */
	void *host_data;    /* identifies the calling instance; the host's */

	/* A line in the host's log: one line, may be cut.  Never needed to deny.  [any] */
	void (*log)(const pawl_host *, int32_t level, pawl_str message);
	/* The text that goes with the error this callback is about to return; the last
	 * one counts, none is kept when it returns no error.  Goes to the log and, from
	 * open, to whoever started the host; never to the model.  [hook, open] */
	void (*set_error)(const pawl_host *, pawl_str message);

	/* The frozen call.  A field that this host or this event does not have is absent
	 * (ptr NULL, INT64_MIN, NULL), and so is an unknown one.  [hook] */
	pawl_str (*text)(const pawl_call *, int32_t field);	       /* PAWL_T_* */
	int64_t (*number)(const pawl_call *, int32_t field);	       /* PAWL_N_* */
	const pawl_value *(*root)(const pawl_call *, int32_t which); /* PAWL_R_* */

	/* Frozen JSON: nothing to free, and values live as long as what they came from
	 * (O1).  Each takes NULL, so that lookups can be chained without a check between:
	 * NULL in gives PAWL_NULL, 0, NULL, absent text or PAWL_E_MISSING out.  [hook, open] */

	/* One of PAWL_NULL ... PAWL_OBJECT. */
	int32_t (*type)(const pawl_value *);
	/* Items of an array, members of an object, bytes of a string; else 0. */
	size_t (*length)(const pawl_value *);
	/* The member of that name, unescaped, compared by bytes; NULL when there is none. */
	const pawl_value *(*member)(const pawl_value *, pawl_str key);
	/* NULL past the end. */
	const pawl_value *(*item)(const pawl_value *, size_t index);
	/* What an RFC 6901 pointer names: "/files/0/name"; "" is the value itself.  NULL
	 * when it leads nowhere or is malformed. */
	const pawl_value *(*at)(const pawl_value *, pawl_str json_pointer);
	/* The name of member index in document order, and its value unless value is NULL;
	 * absent text past the end.  Going 0, 1, 2 ... is cheap. */
	pawl_str (*key)(const pawl_value *, size_t index, const pawl_value **value);
	/* Each returns 0 and sets *out, or leaves it and returns PAWL_E_TYPE (a value of
	 * another type) or PAWL_E_MISSING (no value). */
	int32_t (*string)(const pawl_value *, pawl_str *out); /* unescaped */
	/* Exact or PAWL_E_LIMIT: 10, 10.0 and 1e1 are 10; 1.5 and 2^63 are not. */
	int32_t (*integer)(const pawl_value *, int64_t *out);
	/* The nearest double; PAWL_E_LIMIT when that is not finite. */
	int32_t (*real)(const pawl_value *, double *out);
	int32_t (*boolean)(const pawl_value *, int32_t *out); /* 0 or 1 */
	/* The value's JSON text as it was written, numbers to the last digit; it ends in
	 * NUL too (the host copies where it has to).  Absent without a value. */
	pawl_str (*json)(const pawl_value *);

	/* The answer; everything is copied.  A service that returns an error has made the
	 * hook an error (S3).  Only policy hooks have a reply.  [hook] */

	/* Why; goes with deny and require_approval.  rule is a short name of which of the
	 * plugin's rules spoke, for records, or absent.  why is shown to the model after
	 * "BLOCKED: ": say what would be allowed instead.  Long ones are cut. */
	void (*reason)(pawl_reply *, pawl_str rule, pawl_str why);
	/* The result that PAWL_SUBSTITUTE stands for, mandatory there: any JSON value;
	 * is_error tells the model that the tool failed.  PAWL_E_TYPE: not JSON. */
	int32_t (*result)(pawl_reply *, pawl_str json, int32_t is_error);
	/* For PAWL_REQUIRE_APPROVAL, may be left out: what the person should look at, and
	 * how long to wait, in ns: -1 the host's default, 0 no limit. */
	void (*approval)(pawl_reply *, pawl_str instructions, int64_t timeout_ns);
	/* Rewrites; they count with allow and require_approval and are dropped with deny
	 * and substitute.  What they do not touch stays as it was, byte for byte.
	 * PAWL_E_TYPE: not JSON, or the arguments would be no object; PAWL_E_MISSING: the
	 * pointer leads nowhere; PAWL_E_LIMIT: too large. */

	/* Replaces all arguments (model calls: see PAWL_R_REQUEST, PAWL_R_MESSAGE). */
	int32_t (*set_args)(pawl_reply *, pawl_str json_object);
	/* Replaces what the pointer names, or adds a member to an object that is there, or
	 * an item at an array's end (its length, or "-"). */
	int32_t (*set_at)(pawl_reply *, pawl_str json_pointer, pawl_str json);
	/* Removes a member or an item. */
	int32_t (*remove_at)(pawl_reply *, pawl_str json_pointer);
	/* With allow: also skip the client's own prompt.  Counts only where the config's
	 * entry says "may": ["grant"]; void once another plugin rewrites after it. */
	void (*grant)(pawl_reply *);
	/* Extra context for the model, where the client can carry it. */
	void (*tell)(pawl_reply *, pawl_str text);
	/* A fact for the records, shown to nobody else; the same key again replaces it. */
	void (*note)(pawl_reply *, pawl_str key, pawl_str value);

	/* A table of further services by name; NULL: unknown.  ABI 0.1 defines none.  What
	 * an id gives keeps to L1 and L2 and lives until close returns.  [open] */
	const void *(*interface)(const pawl_host *, const char *id);
	/* append below, and bump PAWL_ABI_MINOR */
};

/* Whether this host has a service: needed for those newer than the oldest host a
 * plugin wants to run under; all above are since 0.1. */
#define PAWL_HAS(host, service)                                                                    \
	((host)->struct_size >=                                                                    \
		 offsetof(struct pawl_host, service) + sizeof((host)->service) &&                  \
	 (host)->service != NULL)

/* ---- options: checked, defaulted and documented by the host ----------------------------- */

/* The host reads the entry's "options" from the config, refuses what is not in the
 * table or not of its type with file, line and column, and gives open one object with
 * every option that was given or has a default; another is not in it. */
#define PAWL_OPT_STRING 1
#define PAWL_OPT_INTEGER 2 /* whole, in int64_t                                 */
#define PAWL_OPT_BOOLEAN 3
#define PAWL_OPT_STRINGS 4  /* a list; a single string is a list of one         */
#define PAWL_OPT_DURATION 5 /* "250ms", "2s", "5m" -> integer nanoseconds       */
#define PAWL_OPT_PATH 6	    /* made absolute, from the config's folder; readable inside
			       the sandbox                                       */
#define PAWL_OPT_JSON 7	    /* any value                                        */
#define PAWL_OPT_NUMBER 8   /* finite as a double; its text is kept             */
#define PAWL_OPTF_REQUIRED 1u /* has no default                                 */
#define PAWL_OPTF_SECRET 2u   /* never logged or listed                         */

/* An element of the descriptor's table; at most 256 of them. */
typedef struct pawl_option {
	const char *name;     /* a-z 0-9 _ -, begins with a letter, at most 63   */
	int32_t type;	      /* PAWL_OPT_*                                      */
	uint32_t flags;	      /* PAWL_OPTF_*                                     */
	const char *fallback; /* JSON text of the default ("\"2s\"", "[]"), or NULL;
				 checked and converted like a given one          */
	const char *help;     /* one line for `pawl plugins`, or NULL            */
	const char *choices;  /* "deny|require_approval", or NULL; STRING and STRINGS only */
} pawl_option;

/* ---- what a plugin offers ---------------------------------------------------------------- */

/* Which callbacks may run at the same time. */
#define PAWL_THREADS_SERIAL 0	/* one call at a time in this .so (default)    */
#define PAWL_THREADS_INSTANCE 1 /* one call at a time for each instance        */
#define PAWL_THREADS_PARALLEL 2 /* any call on any thread                      */

/* For needs and host->features: what a host may not be able to do. */
#define PAWL_FEAT_REWRITE (UINT64_C(1) << 0)	/* set_args, set_at, remove_at */
#define PAWL_FEAT_APPROVAL (UINT64_C(1) << 1)	/* PAWL_REQUIRE_APPROVAL       */
#define PAWL_FEAT_SUBSTITUTE (UINT64_C(1) << 2) /* PAWL_SUBSTITUTE             */
#define PAWL_FEAT_GRANT (UINT64_C(1) << 3)	/* grant                       */
#define PAWL_FEAT_MODEL (UINT64_C(1) << 4)	/* hooks on model calls        */

/* The descriptor: static data of the plugin, and everything it points to lives as
 * long as the process.  Fields that are not set are 0 and NULL. */
typedef struct pawl_plugin {
	uint32_t struct_size; /* sizeof(pawl_plugin) */
	uint32_t abi_minor;   /* PAWL_ABI_MINOR: of the header it was compiled with */
	uint64_t needs;	      /* PAWL_FEAT_*: refuse me if you lack one */
	int32_t threads;      /* PAWL_THREADS_* */
	uint32_t option_size; /* sizeof(pawl_option) */
	const char *id;	      /* as in PAWL_PLUGIN and the file's name: a-z 0-9 . -,
				 at most 127: "org.example.egress" */
	const char *version;  /* as in PAWL_PLUGIN: printable, no space, at most 63 */
	const char *vendor;   /* one line for listings, or NULL */
	const char *summary;  /* the same */
	const pawl_option *options; /* ends with .name == NULL; NULL for none */

	/* Makes an instance: once for each entry of the config that names the plugin.
	 * options is the object described above (O1: until close).  *self is NULL before
	 * and the plugin's to set; every later callback gets it.  0, or an error: then
	 * close is not called, host and options are gone when it returns, and the entry
	 * refuses; with PAWL_E_OPTION set_error's text tells what is wrong with them. */
	int32_t (*open)(const pawl_host *, const pawl_value *options, void **self);
	/* Ends an instance; best effort, see the lifecycle.  May be NULL. */
	void (*close)(void *self);

	/* Policy: each returns a verdict or an error.  NULL: has no opinion. */

	/* A tool is about to run: PAWL_R_ARGS and PAWL_R_CONTEXT are what to look at.
	 * Must come back before PAWL_N_DEADLINE_NS, or is counted as an error. */
	int32_t (*pre_tool_use)(void *self, const pawl_call *, pawl_reply *);
	/* A request is about to go to the model: PAWL_R_REQUEST. */
	int32_t (*pre_model_call)(void *self, const pawl_call *, pawl_reply *);
	/* The model has answered: PAWL_R_MESSAGE, PAWL_R_RESULT. */
	int32_t (*post_model_call)(void *self, const pawl_call *, pawl_reply *);

	/* Observation: told after the answer has left.  0 or an error, which is only
	 * counted. */

	/* A tool ran (PAWL_R_RESULT, PAWL_N_IS_ERROR, PAWL_N_DURATION_NS) or a plugin's
	 * result stood in for it (PAWL_N_SUBSTITUTED). */
	int32_t (*post_tool_use)(void *self, const pawl_call *);
	/* The chain has decided on a call: record_json is the event's JSON object, with
	 * its type ("call.allowed", "policy.denied", ...). */
	int32_t (*decided)(void *self, const pawl_call *, pawl_str record_json);
	/* A turn or the session has ended: PAWL_R_SESSION. */
	int32_t (*stop)(void *self, const pawl_call *);
	/* append below, and bump PAWL_ABI_MINOR */
} pawl_plugin;

/* The only exported symbol; the digit is the ABI's major.  PAWL_PLUGIN defines it.
 * Returns the descriptor, the same each time, or NULL: do not load me.  It must not
 * allocate, start threads or read the environment; of probe it may look at sizes,
 * abi_minor, features and PAWL_HAS, and keeps nothing. */
typedef const pawl_plugin *(*pawl_plugin_entry)(const pawl_host *);
PAWL_EXPORT const pawl_plugin *pawl_plugin_entry_0(const pawl_host *);

/* The identity can be read from an ELF note before any code of the plugin runs. */
#define PAWL_NOTE_NAME "pawl"
#define PAWL_NOTE_TYPE 1
#define PAWL_NOTE_SIZE 248
struct pawl_note {
	uint32_t namesz, descsz, type;
	char name[8];
	char desc[PAWL_NOTE_SIZE]; /* "key=value\0key=value\0\0" */
};
#define PAWL_STR_(x) #x
#define PAWL_STR(x) PAWL_STR_(x)

/* Put this once, at the end of one file, with no semicolon after it: PAWL_PLUGIN("id",
 * "version", descriptor).  ident and release are string literals, the same as in the
 * descriptor, an object of static storage.  C++: it takes the C name from above.
 *
 *	#include <pawl/plugin.h>
 *
 *	static int32_t quiet_open(const pawl_host *host, const pawl_value *options, void **self)
 *	{
 *		(void)options;
 *		*self = (void *)(uintptr_t)host;	all this plugin has to remember
 *		return 0;
 *	}
 *
 *	static int32_t quiet_pre(void *self, const pawl_call *call, pawl_reply *reply)
 *	{
 *		const pawl_host *host = (const pawl_host *)self;
 *		const pawl_value *args = host->root(call, PAWL_R_ARGS);
 *		if (!host->member(args, pawl_text("loud")))
 *			return PAWL_ALLOW;
 *		host->reason(reply, pawl_text("loud"), pawl_text("leave out \"loud\""));
 *		return PAWL_DENY;
 *	}
 *
 *	static const pawl_plugin quiet = {
 *		.struct_size = sizeof(pawl_plugin), .abi_minor = PAWL_ABI_MINOR,
 *		.id = "org.example.quiet", .version = "1.0",
 *		.open = quiet_open, .pre_tool_use = quiet_pre,
 *	};
 *	PAWL_PLUGIN("org.example.quiet", "1.0", quiet)
 */
#define PAWL_PLUGIN(ident, release, object)                                                        \
	__attribute__((section(".note.pawl.plugin"), used, aligned(4)))                            \
	static const struct pawl_note pawl_note_ = {                                               \
		5, PAWL_NOTE_SIZE, PAWL_NOTE_TYPE, PAWL_NOTE_NAME,                                 \
		"abi=" PAWL_STR(PAWL_ABI_MAJOR) "." PAWL_STR(PAWL_ABI_MINOR) "\0"                  \
		"id=" ident "\0" "version=" release "\0" };                                        \
	const pawl_plugin *pawl_plugin_entry_0(const pawl_host *probe)                             \
	{                                                                                          \
		(void)probe;                                                                       \
		return &(object);                                                                  \
	}

#ifdef __cplusplus
}
#endif
#endif
