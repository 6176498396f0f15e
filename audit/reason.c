/* reason.c - names of the reasons, and how an errno becomes one. */
#include <config.h>

#include "reason.h"

#include <errno.h>
#include <stddef.h>

static const char *const names[REASON_COUNT] = {
	[REASON_LOCK_TIMEOUT] = "lock_timeout", [REASON_NO_SPACE] = "no_space",
	[REASON_IO_ERROR] = "io_error",         [REASON_READ_ONLY] = "read_only",
	[REASON_CORRUPT] = "corrupt",           [REASON_TOO_LARGE] = "too_large",
	[REASON_SERIALISE] = "serialise",
};

static const struct {
	int code;
	enum reason reason;
} table[] = {
	{ETIMEDOUT, REASON_LOCK_TIMEOUT}, {EAGAIN, REASON_LOCK_TIMEOUT}, {EBUSY, REASON_LOCK_TIMEOUT},
	{ENOSPC, REASON_NO_SPACE},        {EDQUOT, REASON_NO_SPACE},     {EFBIG, REASON_NO_SPACE},
	{EROFS, REASON_READ_ONLY},        {EACCES, REASON_READ_ONLY},    {EPERM, REASON_READ_ONLY},
	{EBADMSG, REASON_CORRUPT},        {ESTALE, REASON_CORRUPT},      {E2BIG, REASON_TOO_LARGE},
	{ENOMEM, REASON_SERIALISE},       {EINVAL, REASON_SERIALISE},    {EILSEQ, REASON_SERIALISE},
};

const char *reason_name(enum reason reason)
{
	return reason < REASON_COUNT ? names[reason] : "unknown";
}

enum reason reason_of(int code)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].code == -code)
			return table[i].reason;
	return REASON_IO_ERROR;
}
