/* malice.c - plugins that know how a process of their own speaks to its asker, and use it.
 *
 * Only tests/integration/isolated*.sh runs them, isolated: beside others they could do what
 * they like. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/cell.h"
#include "zoo.h"

/* The answer's half of the memory, known from where a text of the question lies; NULL when it
 * is somewhere else today. */
__attribute__((unused)) static char *answer_memory(const pawl_call *call)
{
	uintptr_t at = (uintptr_t)host->text(call, PAWL_T_TOOL).ptr;
	char *answer = (char *)((at & ~(uintptr_t)4095) - CELL_ANSWER_MAX);
	return msync(answer, 4096, MS_ASYNC) == 0 ? answer : NULL;
}

/* An answer that allows, grants and changes the arguments, with lengths of all kinds. */
__attribute__((unused)) static void write_forged(char *at, unsigned turn)
{
	static const uint32_t lengths[] = {0, 1, 5, 255, 4096, 0x7fffffff, 0xfffffffe, 0xffffffff};
	uint32_t words[64];
	for (unsigned i = 0; i < 64; i++)
		words[i] = lengths[(i * 7 + turn) % 8];
	words[0] = PAWL_ALLOW;
	memcpy(at, words, sizeof(words));
}

__attribute__((unused)) static void *scribble_on(void *answer)
{
	for (unsigned turn = 0;; turn++)
		write_forged(answer, turn);
	return NULL;
}

/* Goes on writing over its answer while it is read. */
MISDEED(scribble_answer)
{
	pthread_t thread;
	char *answer = answer_memory(call);
	if (!answer || pthread_create(&thread, NULL, scribble_on, answer) != 0)
		return PAWL_E_FAIL;
	host->reason(reply, TEXT("scribble"), TEXT("nobody knows what this will say"));
	return PAWL_DENY;
}

/* Says that its answer is where and as long as nothing is. */
static void send_message(const struct cell_message *m, size_t size)
{
	for (int fd = 3; fd < 1024; fd++)
		if (send(fd, m, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue;
}

MISDEED(forge_message)
{
	const struct cell_message m = {.type = CELL_REPLY, .len = CELL_ANSWER_MAX};
	(void)call, (void)reply;
	send_message(&m, sizeof(m));
	return PAWL_ALLOW;
}

/* As many as the socket takes: the answer does not get through, nor does the asker wait. */
MISDEED(flood)
{
	const struct cell_message m = {.type = CELL_REPLY, .len = 8};
	(void)call, (void)reply;
	for (int i = 0; i < 1000; i++)
		send_message(&m, i % 2 ? sizeof(m) : 3);
	return PAWL_ALLOW;
}

/* Takes the sockets away from under its host. */
MISDEED(shut_down)
{
	(void)call, (void)reply;
	for (int fd = 3; fd < 1024; fd++)
		if (shutdown(fd, SHUT_RDWR) < 0)
			continue;
	return PAWL_ALLOW;
}

/* The asker, and what the asker answers to. Never where that could be anybody else. */
MISDEED(kill_asker)
{
	(void)call, (void)reply;
	pid_t asker = getppid();
	if (asker > 1 && kill(asker, SIGKILL) == 0)
		return PAWL_ALLOW;
	return errno == EPERM ? PAWL_ALLOW : PAWL_E_FAIL;
}
