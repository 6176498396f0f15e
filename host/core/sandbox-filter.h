/* sandbox-filter.h - the two system-call filters of a sandbox, as seccomp takes them.
 *
 * Layer: core; the kernel's headers only.
 */
#ifndef PAWL_CORE_SANDBOX_FILTER_H
#define PAWL_CORE_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#define SANDBOX_FILTER_MAX 640 /* instructions; the kernel takes 4096 */

/* Puts a filter together for the calling process: loading is what dlopen and open() need
 * beside the rest, files whether files may be opened, net whether internet sockets may be
 * made.  Returns its length, 0 where no filter is known for this machine. */
unsigned sandbox_filter(bool loading, bool files, bool net,
			struct sock_filter buf[SANDBOX_FILTER_MAX]);

#endif
