/* die.c - plugins that end the process they run in, each in another way. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "zoo.h"

static volatile int zero; /* the compiler must not see what is wrong */

MISDEED(sigsegv)
{
	(void)call, (void)reply;
	*(volatile int *)(intptr_t)zero = 1;
	return PAWL_ALLOW;
}

MISDEED(sigabrt)
{
	(void)call, (void)reply;
	abort();
}

MISDEED(sigfpe)
{
	(void)call, (void)reply;
	return raise(SIGFPE) + PAWL_ALLOW;
}

MISDEED(divide_by_zero)
{
	(void)call, (void)reply;
	return 77 / zero;
}

MISDEED(sigill)
{
	(void)call, (void)reply;
	__builtin_trap();
}

MISDEED(sigterm_self)
{
	(void)call, (void)reply;
	return raise(SIGTERM) + PAWL_ALLOW;
}

static int deeper(volatile char *above)
{
	volatile char here[4096];
	here[0] = *above;
	return zero ? 0 : deeper(here) + here[0];
}

MISDEED(stack_overflow)
{
	(void)call, (void)reply;
	volatile char first = 1;
	return deeper(&first);
}

MISDEED(exit_0)
{
	(void)call, (void)reply;
	exit(0);
}

MISDEED(exit_1)
{
	(void)call, (void)reply;
	exit(1);
}

MISDEED(exit_2)
{
	(void)call, (void)reply;
	exit(2);
}

MISDEED(exit_now)
{
	(void)call, (void)reply;
	_exit(0);
}

MISDEED(exec_true)
{
	(void)call, (void)reply;
	char *argv[] = {(char[]){"true"}, NULL}, *none[] = {NULL};
	execve("/bin/true", argv, none);
	execve("/usr/bin/true", argv, none);
	_exit(0);
}

MISDEED(pthread_end)
{
	(void)call, (void)reply;
	pthread_exit(NULL);
}

MISDEED(kill_self)
{
	(void)call, (void)reply;
	kill(getpid(), SIGKILL);
	return PAWL_ALLOW;
}

MISDEED(kill_group)
{
	(void)call, (void)reply;
	kill(0, SIGKILL);
	return PAWL_ALLOW;
}

static jmp_buf gone;

/* A frame that no longer is when the hook runs. */
__attribute__((noinline)) static int remember(void)
{
	return setjmp(gone);
}

MISDEED(longjmp_out)
{
	(void)call, (void)reply;
	if (remember() == 0)
		longjmp(gone, 1);
	abort();
}

static void *crash(void *unused)
{
	(void)unused;
	*(volatile int *)(intptr_t)zero = 1;
	return NULL;
}

static int32_t in_thread(void *(*what)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, what, NULL) == 0)
		pthread_join(thread, NULL);
	return PAWL_ALLOW;
}

MISDEED(thread_crash)
{
	(void)call, (void)reply;
	return in_thread(crash);
}

static void crash_value(void *value)
{
	crash(value);
}

static void *leave_value(void *unused)
{
	static pthread_key_t key;
	(void)unused;
	if (pthread_key_create(&key, crash_value) == 0)
		pthread_setspecific(key, &key);
	return NULL;
}

MISDEED(tls_destructor)
{
	(void)call, (void)reply;
	return in_thread(leave_value);
}
