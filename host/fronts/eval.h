/* eval.h - pawl eval: neutral events, one a line; one neutral answer a line, in order.
 *
 * Layer: fronts; libc only.
 */
#ifndef PAWL_FRONTS_EVAL_H
#define PAWL_FRONTS_EVAL_H

#define EVAL_JOBS_MAX 16 /* PROGRESS_JOBS_MAX; eval.c holds them together */

/* files: n names, "-" is stdin; n == 0: stdin. config may be NULL. jobs: how many lines are
 * judged at a time, 1 to EVAL_JOBS_MAX. Returns the exit status: 0, 1 a line could not be read
 * (its answer denies), 2 a file could not. */
int eval_run(char *const files[], int n, const char *config, unsigned jobs);

#endif
