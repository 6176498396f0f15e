/* cleanup.h - locals that free themselves, so that an early return is safe.
 *
 * Layer: base; libc only.
 *
 *	_cleanup_free_ char *path = NULL;
 *	_cleanup_close_ int fd = open(...);
 *	*ret = TAKE_PTR(path);		(hands the pointer over: path is NULL after)
 */
#ifndef PAWL_BASE_CLEANUP_H
#define PAWL_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void cleanup_free_(void *place)
{
	free(*(void **)place);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir_(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_free_ _cleanup_(cleanup_free_)
#define _cleanup_close_ _cleanup_(cleanup_close_)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose_)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir_)

#define TAKE_PTR(pointer)                                                                          \
	({                                                                                         \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#endif
