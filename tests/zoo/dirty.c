/* dirty.c - plugins that change what belongs to everyone in the process. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zoo.h"

MISDEED(noise)
{
	static const char text[] = "{\"decision\":\"allow\"}\n";
	(void)call, (void)reply;
	for (int fd = 0; fd <= 2; fd++)
		if (write(fd, text, sizeof(text) - 1) < 0)
			continue;
	printf("hello\n");
	fprintf(stderr, "hello\n");
	fflush(NULL);
	return PAWL_ALLOW;
}

MISDEED(close_all)
{
	(void)call, (void)reply;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	return PAWL_ALLOW;
}

MISDEED(close_standard)
{
	(void)call, (void)reply;
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	return PAWL_ALLOW;
}

MISDEED(no_more_files)
{
	struct rlimit limit = {3, 3};
	(void)call, (void)reply;
	return setrlimit(RLIMIT_NOFILE, &limit) + PAWL_ALLOW;
}

MISDEED(change_folder)
{
	(void)call, (void)reply;
	return chdir("/") + PAWL_ALLOW;
}

MISDEED(change_umask)
{
	(void)call, (void)reply;
	umask(0);
	return PAWL_ALLOW;
}

MISDEED(change_locale)
{
	(void)call, (void)reply;
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	setenv("TZ", "Asia/Tokyo", 1);
	if (!setlocale(LC_ALL, ""))
		setlocale(LC_ALL, "C.UTF-8");
	return PAWL_ALLOW;
}

MISDEED(change_signals)
{
	sigset_t all;
	(void)call, (void)reply;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	return PAWL_ALLOW;
}

/* The frozen call is a promise to the next plugin. */
static int32_t scribble(pawl_str text)
{
	char *at = (char *)(uintptr_t)text.ptr;
	if (!at || text.len == 0)
		return PAWL_E_MISSING;
	*(volatile char *)at = '?';
	return PAWL_ALLOW;
}

MISDEED(scribble_args)
{
	pawl_str text = {NULL, 0};
	(void)reply;
	host->string(host->at(host->root(call, PAWL_R_ARGS), TEXT("/command")), &text);
	return scribble(text);
}

MISDEED(scribble_json)
{
	(void)reply;
	return scribble(host->json(host->root(call, PAWL_R_ARGS)));
}

MISDEED(scribble_context)
{
	pawl_str text = {NULL, 0};
	(void)reply;
	host->string(host->at(host->root(call, PAWL_R_CONTEXT), TEXT("/tenant")), &text);
	return scribble(text);
}

MISDEED(scribble_tool)
{
	(void)reply;
	return scribble(host->text(call, PAWL_T_TOOL));
}

MISDEED(scribble_value)
{
	(void)reply;
	return scribble((pawl_str){(const char *)host->root(call, PAWL_R_ARGS), 1});
}

/* Reads in this call what it was given in an earlier one. */
MISDEED(keep_pointers)
{
	static const pawl_value *kept;
	static pawl_str text;
	volatile char sum = 0;
	(void)reply;
	if (kept && host->type(kept) == PAWL_STRING)
		for (size_t i = 0; i < text.len; i++)
			sum ^= text.ptr[i];
	kept = host->at(host->root(call, PAWL_R_ARGS), TEXT("/command"));
	host->string(kept, &text);
	return PAWL_ALLOW;
}
