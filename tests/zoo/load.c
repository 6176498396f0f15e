/* load.c - plugins that go wrong before or after any hook is asked. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(ZOO_open_crash) || defined(ZOO_open_exit) || defined(ZOO_open_fails)
#define ZOO_OPEN misopen
#endif
#if defined(ZOO_wrong_abi) || defined(ZOO_no_entry)
#define ZOO_NO_ENTRY
#endif
#include "zoo.h"

MISDEED(allow)
{
	(void)call, (void)reply;
	return PAWL_ALLOW;
}

#define ALLOW_LIKE(name)                                                                           \
	MISDEED(name)                                                                              \
	{                                                                                          \
		return allow(call, reply);                                                         \
	}

ALLOW_LIKE(constructor_crash)
ALLOW_LIKE(constructor_exit)
ALLOW_LIKE(constructor_sleep)
ALLOW_LIKE(destructor_crash)
ALLOW_LIKE(open_crash)
ALLOW_LIKE(open_exit)
ALLOW_LIKE(open_fails)
ALLOW_LIKE(wrong_abi)
ALLOW_LIKE(no_entry)
ALLOW_LIKE(undefined_symbol)

__attribute__((unused)) static void crash(void)
{
	raise(SIGSEGV);
}

/* The hook is well; what it leaves for the end is not. */
MISDEED(atexit_crash)
{
	atexit(crash);
	return allow(call, reply);
}

#if defined(ZOO_constructor_crash)
__attribute__((constructor)) static void begin(void)
{
	crash();
}
#elif defined(ZOO_constructor_exit)
__attribute__((constructor)) static void begin(void)
{
	exit(0);
}
#elif defined(ZOO_constructor_sleep)
__attribute__((constructor)) static void begin(void)
{
	for (int i = 0; i < 30; i++)
		sleep(1);
}
#elif defined(ZOO_destructor_crash)
__attribute__((destructor)) static void end(void)
{
	crash();
}
#endif

#if defined(ZOO_open_crash) || defined(ZOO_open_exit) || defined(ZOO_open_fails)
static int32_t misopen(const pawl_host *given, const pawl_value *options, void **self)
{
	(void)options, (void)self;
	host = given;
#if defined(ZOO_open_crash)
	crash();
#elif defined(ZOO_open_exit)
	exit(0);
#endif
	host->set_error(host, TEXT("not today"));
	return PAWL_E_FAIL;
}
#endif

#ifdef ZOO_NO_ENTRY
#if defined(ZOO_wrong_abi)
#define ABI "abi=9.0\0"
#else
#define ABI "abi=0.1\0"
#endif
__attribute__((section(".note.pawl.plugin"), used, aligned(4)))
static const struct pawl_note note = {5, PAWL_NOTE_SIZE, PAWL_NOTE_TYPE, PAWL_NOTE_NAME,
				      ABI "id=" ZOO_ID "\0version=1.0\0"};
const void *const use = &zoo_plugin;
#endif

#ifdef ZOO_wrong_abi
const pawl_plugin *pawl_plugin_entry_0(const pawl_host *probe)
{
	(void)probe;
	return &zoo_plugin;
}
#endif

#ifdef ZOO_undefined_symbol
extern int pawl_zoo_nowhere(void);
int (*const volatile nowhere)(void) = pawl_zoo_nowhere;
#endif
