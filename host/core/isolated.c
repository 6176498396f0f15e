/* isolated.c - see isolated.h.
 *
 * The sandbox has to stand before the plugin's constructors run, and what an option means
 * is in the plugin's table, which only its code can give. So which options are paths is not
 * known in time, and what the entry's options name is what may be read: every string among
 * them, or in a list there, that is a file or folder (from the config's folder) when the
 * process starts. Whoever writes a path into a plugin's options shows it to the plugin. The
 * root folder is left out: it is more likely a JSON pointer, and would open everything. */
#include <config.h>

#include "core/isolated.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/cell.h"
#include "core/frame.h"
#include "core/hosttable.h"
#include "core/log.h"
#include "core/open.h"
#include "core/sandbox.h"

#define PATHS_MAX 64

static struct {
	int socket;
	const char *question;
	struct frame_out answer;
	struct json_arena *arena;
	size_t mark; /* below it: what stays from question to question */
	struct sandbox sandbox;
	struct str paths[PATHS_MAX];
	bool entered; /* the plugin's code may have run */
	struct error fence_why; /* text "": none */
	struct plugin *plugin;
	struct frame_call asked;
	bool unread; /* a root of the call could not be read */
} cell;

/* ---- the host table -------------------------------------------------------------------- */

/* Roots are read when a plugin first asks: most look at the arguments alone. */
static const struct json_value *read_root(int which)
{
	struct pawl_call *call = cell.asked.call;
	struct str text = cell.asked.root[which];
	if (call->root[which] || !text.ptr)
		return call->root[which];
	if (json_parse(cell.arena, text, JSON_DEFAULT_LIMITS, JSON_BORROW, &call->root[which], NULL,
		       NULL) < 0)
		cell.unread = true; /* the asker has read it: there is no room left */
	return call->root[which];
}

static const pawl_value *root(const pawl_call *call, int32_t which)
{
	if (!call || which < 1 || which >= CALL_ROOTS)
		return NULL;
	return (const pawl_value *)read_root(which);
}

/* ---- the sandbox ------------------------------------------------------------------------- */

static void grant_path(struct str text, struct str base_dir)
{
	char path[PATH_MAX];
	struct stat st;
	bool absolute = text.len > 0 && text.ptr[0] == '/';
	if (text.len == 0 || memchr(text.ptr, '\0', text.len) || cell.sandbox.n_paths == PATHS_MAX)
		return;
	int n = snprintf(path, sizeof(path), "%.*s%s%.*s", absolute ? 0 : (int)base_dir.len,
			 base_dir.ptr, absolute ? "" : "/", STR_FMT(text));
	if (n < 0 || (size_t)n >= sizeof(path) || stat(path, &st) != 0)
		return;
	struct stat top;
	if (stat("/", &top) == 0 && top.st_dev == st.st_dev && top.st_ino == st.st_ino)
		return;
	struct str kept = json_arena_text(cell.arena, (struct str){path, (size_t)n});
	if (kept.ptr)
		cell.paths[cell.sandbox.n_paths++] = kept;
}

static void grant_value(const struct json_value *value, struct str base_dir)
{
	struct str text;
	if (json_string(value, &text) == 0)
		grant_path(text, base_dir);
	else if (json_type(value) == JSON_ARRAY)
		for (size_t i = 0; i < json_length(value); i++)
			if (json_string(json_item(value, i), &text) == 0)
				grant_path(text, base_dir);
}

static void grant_paths(const struct json_value *options, struct str base_dir)
{
	for (size_t i = 0; i < json_length(options); i++) {
		const struct json_value *value = NULL;
		json_key(options, i, &value);
		grant_value(value, base_dir);
	}
}

/* Called by the loader with the file checked and none of its code run. */
static int fence(const char *path, struct error *err)
{
	cell.sandbox.plugin_path = path;
	int r = sandbox_enter(&cell.sandbox, &cell.fence_why);
	if (r < 0)
		return error_set(err, -r, "%s", cell.fence_why.text);
	cell.fence_why.text[0] = '\0';
	cell.entered = true;
	return 0;
}

/* ---- questions ------------------------------------------------------------------------------ */

static void reply_failed(enum frame_stage stage, const struct error *err)
{
	const struct frame_opened opened = {
		.stage = stage, .why = str_of(err->text), .version = STR("")};
	frame_put_opened(&cell.answer, &opened);
}

static void reply_opened(void)
{
	const struct frame_opened opened = {
		.stage = FRAME_OPENED,
		.version = str_of(cell.plugin->file->note.version),
		.hooks = hooks_of(&cell.plugin->file->desc),
		.weak = str_of(cell.sandbox.weak ? cell.sandbox.weak_why : NULL),
	};
	frame_put_opened(&cell.answer, &opened);
}

static struct {
	struct config_entry entry;
	struct patterns libraries;
	struct frame_open frame;
	pawl_host table;
} opened;

/* Everything up to the first instruction of the plugin. */
static int prepare(struct frame_in *in, struct opening *ret, struct error *err)
{
	int r = frame_get_open(in, cell.arena, &opened.entry, &opened.libraries, &opened.frame,
			       err);
	if (r < 0)
		return r;
	opened.table = host_table;
	opened.table.root = root;
	grant_paths(opened.entry.options, opened.frame.base_dir);
	cell.sandbox.paths = cell.paths;
	cell.sandbox.best_effort = opened.entry.sandbox_best_effort;
	cell.sandbox.net = opened.entry.needs_net;
	plugin_before_code = fence;
	*ret = (struct opening){
		.entry = &opened.entry,
		.in_chain = opened.frame.in_chain,
		.plugin_dir = opened.frame.plugin_dir.ptr,
		.base_dir = opened.frame.base_dir.ptr,
		.libraries = &opened.libraries,
		.table = &opened.table,
		.arena = cell.arena,
	};
	return 0;
}

static void serve_open(struct frame_in *in)
{
	struct opening opening;
	struct error err;
	int r = prepare(in, &opening, &err);
	if (r == 0)
		r = entry_open(&opening, &cell.plugin, &err);
	if (r == 0 && sandbox_tighten(&cell.sandbox, &cell.fence_why) < 0) {
		err = cell.fence_why;
		r = -EPERM;
	}
	cell.mark = json_arena_mark(cell.arena);
	if (r < 0)
		reply_failed(cell.fence_why.text[0] ? FRAME_NOT_FENCED : FRAME_NOT_LOADED, &err);
	else
		reply_opened();
}

/* What is wrong with it, or absent and what it is. */
static void serve_describe(struct frame_in *in)
{
	struct opening opening;
	struct plugin_file *file;
	struct error err = {""};
	int r = prepare(in, &opening, &err);
	if (r == 0)
		r = entry_load(&opening, &file, &err);
	frame_put_text(&cell.answer, r < 0 ? str_of(err.text) : (struct str){NULL, 0});
	if (r == 0)
		frame_put_description(&cell.answer, file);
}

/* The call, as plugins see it; -errno when it cannot be read. */
static int get_call(struct frame_in *in)
{
	int r = frame_get_call(in, cell.arena, &cell.asked);
	host_table_arena = cell.arena;
	cell.unread = false;
	cell.plugin->error_text[0] = '\0';
	log_clear();
	return r == 0 && !frame_ends(in) ? -EPROTO : r;
}

static void serve_ask(struct frame_in *in)
{
	static struct pawl_reply reply;
	int32_t status = PAWL_E_NOMEM;
	if (get_call(in) < 0)
		_exit(125);
	struct pawl_call *call = cell.asked.call;
	read_root(call_args_root(call)); /* what an edit begins from */
	reply_init(&reply, call);
	hook_fn hook = hook_for(&cell.plugin->file->desc, call->kind);
	if (hook && !cell.unread)
		status = hook(cell.plugin->self, call->frozen, &reply);
	if (cell.unread)
		status = PAWL_E_NOMEM;
	frame_put_reply(&cell.answer, status, cell.plugin->error_text, &reply);
}

static int32_t tell(enum hook hook, struct str record)
{
	const pawl_plugin *desc = &cell.plugin->file->desc;
	void *self = cell.plugin->self;
	const struct pawl_call *call = cell.asked.call->frozen;
	switch (hook) {
	case HOOK_DECIDED:
		if (!desc->decided)
			return 0;
		return desc->decided(self, call, (pawl_str){record.ptr, record.len});
	case HOOK_POST_TOOL_USE:
		return desc->post_tool_use ? desc->post_tool_use(self, call) : 0;
	case HOOK_STOP:
		return desc->stop ? desc->stop(self, call) : 0;
	default:
		return PAWL_E_UNSUPPORTED;
	}
}

static void serve_tell(struct frame_in *in)
{
	enum hook hook = frame_get_below(in, HOOK_ALL);
	struct str record = frame_get_text(in, JSON_BYTES_MAX);
	if (get_call(in) < 0)
		_exit(125);
	frame_put_u32(&cell.answer, (uint32_t)tell(hook, record));
}

static void serve(const struct cell_message *question)
{
	struct cell_message m = {.nonce = question->nonce, .type = CELL_REPLY};
	struct frame_in in = {.data = cell.question, .left = question->len};
	if (question->len > CELL_QUESTION_MAX)
		_exit(125);
	json_arena_rewind(cell.arena, cell.mark);
	cell.answer.len = 0;
	cell.answer.full = false;
	if (question->type == CELL_OPEN && !cell.plugin && !cell.entered)
		serve_open(&in);
	else if (question->type == CELL_DESCRIBE && !cell.plugin && !cell.entered)
		serve_describe(&in);
	else if (question->type == CELL_ASK && cell.plugin)
		serve_ask(&in);
	else if (question->type == CELL_TELL && cell.plugin)
		serve_tell(&in);
	else
		_exit(125);
	m.len = cell.answer.len;
	if (cell.answer.full || send(cell.socket, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		_exit(124);
}

/* ---- the process --------------------------------------------------------------------------- */

/* Nothing that a plugin beside our asker did to its process is to be seen here. */
static void settle(void)
{
	const struct rlimit none = {0, 0};
	sigset_t all;
	sigemptyset(&all);
	for (int i = 1; i < 32; i++) /* what was caught became its default by exec */
		signal(i, i == SIGPIPE ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "pawl-isolated");
	setrlimit(RLIMIT_CORE, &none);
	umask(077);
	if (chdir("/") != 0)
		_exit(126);
}

/* ---- others like us ------------------------------------------------------------------------ */

/* fork(), but its parent is ours. libc does not know of it, and would take the new process
 * for us: the kernel writes its number where libc keeps ours. */
static pid_t split(void)
{
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
	const unsigned long flags =
		CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
	int *number = NULL;
	if (prctl(PR_GET_TID_ADDRESS, &number) == 0 && number && *number == getpid())
		/* machines differ in which of the last two is the one; the other goes unused */
		return (pid_t)syscall(SYS_clone, flags, NULL, NULL, number, number);
#endif
	errno = ENOSYS;
	return -1;
}

static void answer_split(const struct cell_message *question, pid_t pid)
{
	const struct cell_message m = {
		.nonce = question->nonce, .type = CELL_REPLY, .len = (uint64_t)pid};
	if (send(CELL_SOCKET_FD, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		_exit(124);
}

/* Answers in the other's place: what ends that one's session must not end us. */
static void become_other(const struct cell_message *question, const int ends[2], pid_t asker)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != asker || setsid() < 0)
		_exit(127);
	answer_split(question, getpid());
	if (dup2(ends[0], CELL_SOCKET_FD) < 0 || dup2(ends[1], CELL_MEMORY_FD) < 0)
		_exit(127);
}

static void make_other(const struct cell_message *question, const int ends[2])
{
	pid_t asker = getppid(), pid = split();
	if (pid == 0)
		become_other(question, ends, asker);
	if (pid < 0)
		answer_split(question, 0);
	close(ends[0]);
	close(ends[1]);
}

/* A question, and the ends of another cell where it brings some. */
static bool receive(struct cell_message *question, int ends[2])
{
	union {
		char room[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct iovec text = {question, sizeof(*question)};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	if (recvmsg(CELL_SOCKET_FD, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*question))
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if ((question->type == CELL_SPLIT) != (c && c->cmsg_len == CMSG_LEN(2 * sizeof(int))))
		return false;
	if (c)
		memcpy(ends, CMSG_DATA(c), 2 * sizeof(int));
	return true;
}

/* Until we are told what to load: others like us are forked. */
static bool await_use(struct cell_message *question)
{
	int ends[2];
	while (receive(question, ends)) {
		if (question->type != CELL_SPLIT)
			return true;
		make_other(question, ends);
	}
	return false;
}

/* Descriptors a plugin may stumble over are moved far up. */
static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	if (high >= 0)
		close(fd);
	return high >= 0 ? high : fd;
}

static int map_memory(void)
{
	void *question = mmap(NULL, CELL_QUESTION_MAX, PROT_READ, MAP_SHARED | MAP_NORESERVE,
			      CELL_MEMORY_FD, 0);
	void *answer = mmap(NULL, CELL_ANSWER_MAX, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE, CELL_MEMORY_FD, CELL_QUESTION_MAX);
	if (question == MAP_FAILED || answer == MAP_FAILED)
		return -errno;
	close(CELL_MEMORY_FD);
	cell.question = question;
	cell.answer = (struct frame_out){.data = answer, .room = CELL_ANSWER_MAX};
	cell.socket = move_high(CELL_SOCKET_FD);
	return 0;
}

int isolated_run(void)
{
	struct cell_message question;
	settle();
	if (!await_use(&question))
		_exit(0);
	/* not before: what is shared memory here would be the others', too */
	if (map_memory() < 0 || json_arena_new(JSON_ARENA_DEFAULT, &cell.arena, NULL) < 0)
		return 126;
	cell.mark = json_arena_mark(cell.arena);
	do
		serve(&question);
	while (recv(cell.socket, &question, sizeof(question), 0) == (ssize_t)sizeof(question));
	_exit(0);
}
