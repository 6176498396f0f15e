/* loss.c - see loss.h. */
#include <config.h>

#include "fronts/loss.h"

#include <stdio.h>
#include <string.h>

void loss_read(struct loss *loss, const struct progress *progress)
{
	loss->phase = atomic_load(&progress->phase);
	loss->entry = atomic_load(&progress->entry);
	loss->flags = atomic_load(&progress->flags);
	size_t n = 0;
	/* the page may have been written over: take letters only */
	if (loss->phase == PROGRESS_ASK || loss->phase == PROGRESS_LOAD)
		for (; n + 1 < sizeof(loss->plugin) && progress->plugin[n]; n++)
			loss->plugin[n] = progress->plugin[n] > ' ' && progress->plugin[n] < 0x7F &&
							  progress->plugin[n] != '"' &&
							  progress->plugin[n] != '\\' ?
						  progress->plugin[n] :
						  '?';
	loss->plugin[n] = '\0';
	if (n == 0)
		loss->entry = loss->flags = 0;
	uint32_t line = atomic_load(&progress->line);
	if (line < LOSS_LINES && n > 0)
		loss->lines[line / 64] = UINT64_C(1) << line % 64;
	else
		memset(loss->lines, 0xff, sizeof(loss->lines));
}

bool loss_befell(const struct loss *loss, size_t i)
{
	return i >= LOSS_LINES || (loss->lines[i / 64] >> i % 64 & 1) != 0;
}

bool loss_join(struct loss *loss, const struct loss *before)
{
	bool same = loss->kind == before->kind && loss->status == before->status &&
		    loss->flags == before->flags && strcmp(loss->plugin, before->plugin) == 0;
	bool grew = false;
	for (size_t i = 0; i < LOSS_LINES / 64; i++) {
		grew = grew || (loss->lines[i] & ~before->lines[i]) != 0;
		loss->lines[i] |= before->lines[i];
	}
	if (same && grew)
		return true;
	memset(loss->lines, 0xff, sizeof(loss->lines));
	return false;
}

static void what_happened(const struct loss *loss, char *buf, size_t room)
{
	const char *who = loss->plugin[0] ? "the plugin" : "the worker";
	const char *when = loss->phase == PROGRESS_LOAD ? " while it was being loaded" : "";
	switch ((enum loss_kind)loss->kind) {
	case LOSS_SIGNAL:
		snprintf(buf, room, "%s crashed%s (signal %d)", who, when, loss->status);
		return;
	case LOSS_EXIT:
		snprintf(buf, room, "%s ended the process%s instead of answering (exit %d)", who,
			 when, loss->status);
		return;
	case LOSS_TIMEOUT:
		if (loss->plugin[0])
			snprintf(buf, room, "deadline exceeded in plugin %s%s", loss->plugin, when);
		else
			snprintf(buf, room, "deadline exceeded before an answer was found");
		return;
	case LOSS_PROTOCOL:
		snprintf(buf, room, "%s left something that is not an answer", who);
		return;
	case LOSS_START:
		snprintf(buf, room, "the worker could not be started (%s)", strerror(loss->status));
		return;
	case LOSS_CANCELLED:
		snprintf(buf, room, "the hook was asked to stop before an answer was found");
		return;
	case LOSS_NONE:
		break;
	}
	snprintf(buf, room, "no answer was found");
}

size_t loss_reason(const struct loss *loss, char *buf, size_t room)
{
	char what[256];
	what_happened(loss, what, sizeof(what));
	int n = loss->plugin[0] ? snprintf(buf, room, "policy error (%s): %s", loss->plugin, what) :
				  snprintf(buf, room, "policy error: %s", what);
	return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

const char *loss_by(const struct loss *loss)
{
	if (loss->kind == LOSS_TIMEOUT)
		return "timeout";
	if (loss->kind == LOSS_CANCELLED)
		return "cancelled";
	return loss->plugin[0] ? "error" : "host";
}

const char *loss_class(const struct loss *loss)
{
	switch ((enum loss_kind)loss->kind) {
	case LOSS_SIGNAL:
		return "crash";
	case LOSS_EXIT:
		return "exit";
	case LOSS_TIMEOUT:
		return "timeout";
	case LOSS_PROTOCOL:
		return "protocol";
	case LOSS_CANCELLED:
		return "cancelled";
	default:
		return "start";
	}
}
