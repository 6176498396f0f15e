/* linger.c - plugins that take too long, take too much, or leave something running. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "zoo.h"

static volatile int forever = 1;

MISDEED(endless_loop)
{
	(void)call, (void)reply;
	while (forever)
		;
	return PAWL_ALLOW;
}

MISDEED(oversleep)
{
	(void)call, (void)reply;
	for (int i = 0; i < 30; i++)
		sleep(1);
	return PAWL_ALLOW;
}

MISDEED(stubborn)
{
	sigset_t all;
	(void)call, (void)reply;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_IGN);
	while (forever)
		;
	return PAWL_ALLOW;
}

MISDEED(stop_self)
{
	(void)call, (void)reply;
	return raise(SIGSTOP) + PAWL_ALLOW;
}

/* Whoever started this process, and then as long as it takes. */
__attribute__((unused)) static int32_t end_parent(int signal)
{
	kill(getppid(), signal);
	for (int i = 0; i < 30; i++)
		sleep(1);
	return PAWL_ALLOW;
}

MISDEED(parent_KILL)
{
	(void)call, (void)reply;
	return end_parent(SIGKILL);
}

MISDEED(parent_STOP)
{
	(void)call, (void)reply;
	return end_parent(SIGSTOP);
}

/* All that a GiB of addresses leaves, and keeps it. */
MISDEED(memory_hog)
{
	struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
	(void)call, (void)reply;
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return PAWL_E_FAIL;
	for (size_t size = (size_t)1 << 26; size >= 4096; size /= 2)
		while (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0) != MAP_FAILED)
			;
	for (size_t size = 4096; size > 0; size /= 2)
		for (char *volatile p = malloc(size); p; p = malloc(size))
			;
	return PAWL_E_NOMEM;
}

static void wait_long(void)
{
	for (int i = 0; i < 60; i++)
		sleep(1);
	_exit(0);
}

/* The child holds everything that was open here. */
MISDEED(fork_stays)
{
	(void)call, (void)reply;
	if (fork() == 0)
		wait_long();
	return PAWL_ALLOW;
}

MISDEED(fork_daemon)
{
	(void)call, (void)reply;
	if (fork() == 0) {
		setsid();
		wait_long();
	}
	return PAWL_ALLOW;
}

/* Two processes come back from this hook. */
MISDEED(fork_returns)
{
	(void)call, (void)reply;
	fork();
	return PAWL_ALLOW;
}

static void *stay(void *unused)
{
	(void)unused;
	while (forever)
		sleep(1);
	return NULL;
}

MISDEED(thread_stays)
{
	pthread_t thread;
	(void)call, (void)reply;
	pthread_create(&thread, NULL, stay, NULL);
	return PAWL_ALLOW;
}

/* Well behaved: for the order of things that take time. */
MISDEED(slow_allow)
{
	(void)call, (void)reply;
	usleep((useconds_t)zoo_value * 1000);
	return PAWL_ALLOW;
}
