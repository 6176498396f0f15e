/* explain.c - pawl explain AGENT [FILE]: one event's way through the chain, told to people.
 *
 * Nothing is recorded and no observer is told. Shadow entries are asked in place; when one
 * takes the worker down, the rest is asked again without it. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/diff.h"
#include "cli/tool.h"
#include "core/host.h"
#include "core/log.h"
#include "dialects/dialect.h"

struct explaining {
	struct host *host;
	const struct dialect *dialect;
	char *text;
	size_t len;
};

static void put_time(FILE *out, int64_t ns)
{
	if (ns < 1000000)
		fprintf(out, "%6.1f us", (double)ns / 1e3);
	else
		fprintf(out, "%6.1f ms", (double)ns / 1e6);
}

/* ---- what it is about --------------------------------------------------------------- */

static void put_event(FILE *out, const struct pawl_call *call)
{
	fprintf(out, "%.*s", STR_FMT(call->text[PAWL_T_EVENT]));
	if (call->text[PAWL_T_TOOL].ptr)
		fprintf(out, " %.*s (class %.*s)", STR_FMT(call_tool_shown(call)),
			STR_FMT(call->class));
	fprintf(out, ", from %.*s", STR_FMT(call->text[PAWL_T_CLIENT]));
	if (call->text[PAWL_T_SESSION].len)
		fprintf(out, ", session %.*s", STR_FMT(call->text[PAWL_T_SESSION]));
	if (call->text[PAWL_T_AGENT].len)
		fprintf(out, ", sub-agent %.*s", STR_FMT(call->text[PAWL_T_AGENT]));
	if (call->root[PAWL_R_ARGS_GIVEN]) {
		fprintf(out, "\n  asked for  ");
		diff_value(out, call->root[PAWL_R_ARGS_GIVEN]);
	}
	if (json_length(call->root[PAWL_R_CONTEXT]) > 0) {
		fprintf(out, "\n  facts      ");
		diff_value(out, call->root[PAWL_R_CONTEXT]);
	}
	fprintf(out, "\n\n");
}

/* ---- one line a plugin ----------------------------------------------------------------- */

static void put_step(FILE *out, const struct step *step, const struct json_value **args)
{
	fprintf(out, "  %2zu  %-20.*s %-17s ", step->entry + 1, STR_FMT(step->plugin),
		step->verdict == VERDICT_NONE ? "no hook for this" : verdict_name(step->verdict));
	put_time(out, step->ns);
	if (step->round > 0)
		fprintf(out, "  asked again about the rewritten arguments");
	if (step->shadow)
		fprintf(out, "  (shadow: changes nothing)");
	if (step->reason.ptr)
		fprintf(out, "  %.*s", STR_FMT(step->reason));
	if (step->rule.ptr)
		fprintf(out, " [%.*s]", STR_FMT(step->rule));
	if (step->verdict == VERDICT_ERROR)
		fprintf(out, "  %s%s%s", step->error_class, step->error_text ? ": " : "",
			step->error_text ? step->error_text : "");
	fputc('\n', out);
	if (step->conflict)
		fprintf(out, "        its edit here was not applied (conflict)\n");
	for (size_t i = 0; i < step->n_notes; i++)
		fprintf(out, "        note %.*s: %.*s\n", STR_FMT(step->notes[i].key),
			STR_FMT(step->notes[i].value));
	if (!step->edited)
		return;
	diff_print(out, "        ", *args, step->args_after);
	if (!step->shadow)
		*args = step->args_after;
}

static bool was_asked(const struct decision *d, size_t entry)
{
	for (size_t i = 0; i < d->n_steps; i++)
		if (d->steps[i].entry == entry)
			return true;
	return false;
}

static void put_unasked(FILE *out, const struct host *host, const struct pawl_call *call,
			const struct decision *d)
{
	struct match_subject subject = call_subject(call);
	for (size_t i = 0; i < host->config->n_chain; i++) {
		const struct config_entry *entry = &host->config->chain[i];
		if (was_asked(d, i))
			continue;
		fprintf(out, "  %2zu  %-20s not asked: %s\n", i + 1, entry->name.ptr,
			!match_holds(&entry->match, &subject, true) ?
				"its match does not speak about this call" :
			entry->shadow && host->shadow == SHADOW_SKIP ?
				"shadow, and left out" :
				"the chain had ended");
	}
}

static void put_steps(FILE *out, const struct host *host, const struct pawl_call *call,
		      const struct decision *d)
{
	const struct json_value *args = call->root[PAWL_R_ARGS_GIVEN];
	unsigned n;
	for (size_t i = 0; i < d->n_steps; i++)
		put_step(out, &d->steps[i], &args);
	put_unasked(out, host, call, d);
	for (size_t i = 0; i < d->n_remarks; i++)
		fprintf(out, "  note: %s%s%.*s: %.*s\n", d->remarks[i].type,
			d->remarks[i].plugin.ptr ? " " : "", STR_FMT(d->remarks[i].plugin),
			STR_FMT(d->remarks[i].text));
	const struct log_line *lines = log_lines(&n);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "  log %s: %s\n", lines[i].plugin, lines[i].text);
}

/* ---- the end --------------------------------------------------------------------------- */

static void put_decision(FILE *out, const struct decision *d)
{
	fprintf(out, "\ndecision: %s", verdict_name(d->verdict));
	if (d->plugin.ptr)
		fprintf(out, ", by %.*s", STR_FMT(d->plugin));
	else if (d->verdict == VERDICT_DENY)
		fprintf(out, ", by %s", d->refused_by == REFUSED_STATIC ? "the static list" :
									  "the host");
	if (d->modified)
		fprintf(out, ", with rewritten arguments");
	if (d->granted)
		fprintf(out, ", granted (the client's own prompt is skipped)");
	fputc('\n', out);
	if (d->reason.ptr)
		fprintf(out, "  because    %.*s\n", STR_FMT(d->reason));
	if (d->instructions.ptr)
		fprintf(out, "  to do      %.*s\n", STR_FMT(d->instructions));
	if (d->modified) {
		fprintf(out, "  to run     ");
		diff_value(out, d->args);
		fputc('\n', out);
	}
	if (d->result) {
		fprintf(out, "  result     ");
		diff_value(out, d->result);
		fputc('\n', out);
	}
}

static void put_answer(FILE *out, const struct dialect *dialect, const struct answer *answer)
{
	fprintf(out, "\nanswer to %s: exit %d, %s\n", dialect->name, answer->exit,
		answer->out.len	  ? "and on stdout" :
		answer->exit == 2 ? "nothing on stdout (the word is on stderr)" :
				    "nothing on stdout (no objection)");
	if (answer->out.len)
		fprintf(out, "  %.*s\n", STR_FMT(answer->out));
}

static int explain(void *data, struct progress *progress, FILE *out)
{
	struct explaining *e = data;
	struct json_arena *arena;
	const struct json_value *event;
	struct json_fault at;
	struct decision decision;
	struct answer answer;
	struct error err;
	e->host->progress = progress;
	int r = json_arena_new(JSON_ARENA_DEFAULT, &arena, &err);
	struct pawl_call *call = r == 0 ? call_new(arena, e->host->config->limits) : NULL;
	if (!call)
		return 2;
	r = json_parse(arena, (struct str){e->text, e->len}, call->limits, 0, &event, &at, &err);
	if (r < 0)
		error_prefix(&err, "line %u column %u", at.line, at.column);
	else
		r = dialect_decode(e->dialect, call, event, (struct str){NULL, 0}, &err);
	if (r < 0) {
		fprintf(out, "%s", err.text);
		return 1;
	}
	if (!event_gates(call->kind)) {
		put_event(out, call);
		fprintf(out, "it only informs: observers are told, nothing is decided\n");
		return 0;
	}
	e->host->call_deadline_ns = io_monotonic_ns() + e->host->config->deadline_ns;
	memset(&decision, 0, sizeof(decision));
	if (host_set_context(e->host, call, NULL, &err) < 0)
		host_refuse(e->host, call, &decision, REFUSED_HOST,
			    json_arena_text(arena, str_of(err.text)));
	else
		host_judge(e->host, call, &decision);
	put_event(out, call);
	put_steps(out, e->host, call, &decision);
	struct decision shown = decision;
	r = dialect_encode(e->dialect, e->host, call, &shown, &answer, &err);
	put_decision(out, shown.verdict == decision.verdict ? &decision : &shown);
	if (r == 0)
		put_answer(out, e->dialect, &answer);
	return 0;
}

/* ---- the command -------------------------------------------------------------------------- */

static int explain_in_child(struct explaining *e, int64_t time_ns)
{
	_cleanup_free_ char *report = NULL;
	struct loss loss;
	int status = 0;
	char reason[512];
	if (child_run(explain, e, time_ns, &report, &status, &loss) < 0 &&
	    (loss.flags & PROGRESS_SHADOW)) {
		loss_reason(&loss, reason, sizeof(reason));
		printf("shadow entry: %s; asked again without shadow entries\n\n", reason);
		e->host->shadow = SHADOW_SKIP;
		if (child_run(explain, e, time_ns, &report, &status, &loss) == 0)
			loss.kind = LOSS_NONE;
	}
	if (loss.kind != LOSS_NONE) {
		loss_reason(&loss, reason, sizeof(reason));
		printf("decision: deny\n  because    %s\n", reason);
		return 0;
	}
	if (status != 0)
		fprintf(stderr, "pawl explain: the event cannot be read (a hook would refuse it): %s\n",
			report);
	else
		fputs(report, stdout);
	return status;
}

static int read_file(const char *name, struct explaining *e, struct error *err)
{
	bool is_stdin = !name || strcmp(name, "-") == 0;
	_cleanup_close_ int fd = is_stdin ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? error_set(err, errno, "%s", strerror(errno)) :
			 io_read_all(fd, JSON_BYTES_MAX, &e->text, &e->len, err);
	if (r < 0)
		error_prefix(err, "%s", is_stdin ? "stdin" : name);
	return r;
}

static int run(const struct tool_line *line)
{
	struct explaining e = {.dialect = dialect_find(line->words[0])};
	struct config *config = NULL;
	struct error err;
	int status = 1;
	if (!e.dialect) {
		fprintf(stderr, "pawl explain: no agent \"%s\" is known\n", line->words[0]);
		return 2;
	}
	if (config_load(line->config, &config, &err) < 0 || host_new(config, NULL, &e.host, &err) < 0 ||
	    read_file(line->n > 1 ? line->words[1] : NULL, &e, &err) < 0)
		fprintf(stderr, "pawl explain: %s\n", err.text);
	else
		status = explain_in_child(&e, config->deadline_ns + 1000000000);
	free(e.text);
	host_free(e.host);
	config_free(config);
	return status;
}

extern const struct tool tool_explain;
const struct tool tool_explain = {"explain", 1, 2, "AGENT [FILE]", run};
