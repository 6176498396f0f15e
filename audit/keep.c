/* keep.c - `pawl audit rotate`: what changes a store's files, not its records. */
#include <config.h>

#include <stdio.h>

#include "command.h"
#include "log.h"

int command_rotate(const struct query *query)
{
	struct error err;
	return log_rotate(&query->store, &err) < 0 ? command_failed(&err) : 0;
}
