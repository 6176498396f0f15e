/* keep.c - `pawl audit rotate`, `checkpoint` and `anchor`: what changes a store's files, not its records. */
#include <config.h>

#include <stdio.h>

#include "command.h"
#include "log.h"
#include "seal.h"

int command_rotate(const struct query *query)
{
	struct error err;
	return log_rotate(&query->store, &err) < 0 ? command_failed(&err) : 0;
}

int command_checkpoint(const struct query *query)
{
	char note[SEAL_NOTE_MAX];
	struct error err;
	if (seal_make(&query->store, query->key, note, &err) < 0)
		return command_failed(&err);
	if (query->print_note)
		fputs(note, stdout);
	return 0;
}

int command_anchor(const struct query *query)
{
	struct query printing = *query;
	printing.print_note = true;
	return command_checkpoint(&printing);
}
