/* tsan.c - what ThreadSanitizer does in the programs that pawl starts. A worker's stderr and
 * environment are nobody's: what is found goes to files. A plugin's crash stays one. */
#include <config.h>

#ifdef PAWL_TSAN_LOG
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:"
	       "log_path=" PAWL_TSAN_LOG;
}
#else
typedef int nothing; /* ISO C wants something in a file */
#endif
