/* answer.c - plugins that answer what is no answer, or more than one. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "zoo.h"

/* Option "value" says which number. */
MISDEED(returns)
{
	(void)call, (void)reply;
	return (int32_t)zoo_value;
}

MISDEED(error_text)
{
	(void)call, (void)reply;
	host->set_error(host, TEXT("the password is hunter2"));
	return PAWL_E_FAIL;
}

MISDEED(deny_twice)
{
	(void)call;
	host->reason(reply, TEXT("first"), TEXT("the first reason"));
	host->reason(reply, TEXT("second"), TEXT("the second reason"));
	return PAWL_DENY;
}

/* Everything at once, then allow: only the number decides. */
MISDEED(says_everything)
{
	(void)call;
	host->reason(reply, TEXT("all"), TEXT("no"));
	host->approval(reply, TEXT("ask somebody"), -1);
	host->result(reply, TEXT("\"instead\""), 0);
	return PAWL_ALLOW;
}

MISDEED(edit_array)
{
	(void)call;
	host->set_args(reply, TEXT("[1,2]"));
	return PAWL_ALLOW;
}

MISDEED(edit_no_json)
{
	(void)call;
	host->set_args(reply, TEXT("{\"command\":"));
	return PAWL_ALLOW;
}

MISDEED(edit_duplicate)
{
	(void)call;
	host->set_args(reply, TEXT("{\"command\":\"ls\",\"command\":\"rm\"}"));
	return PAWL_ALLOW;
}

MISDEED(edit_root)
{
	(void)call;
	host->set_at(reply, TEXT(""), TEXT("1"));
	return PAWL_ALLOW;
}

MISDEED(edit_utf8)
{
	(void)call;
	host->set_at(reply, TEXT("/command"), TEXT("\"\xff\xfe\""));
	return PAWL_ALLOW;
}

MISDEED(edit_missing)
{
	(void)call;
	host->set_at(reply, TEXT("/no/such/place"), TEXT("1"));
	return PAWL_ALLOW;
}

MISDEED(edit_pointer)
{
	(void)call;
	host->set_at(reply, TEXT("no pointer"), TEXT("1"));
	return PAWL_ALLOW;
}

MISDEED(remove_missing)
{
	(void)call;
	host->remove_at(reply, TEXT("/no/such/place"));
	return PAWL_ALLOW;
}

/* More than may be read at all. */
MISDEED(edit_huge)
{
	size_t len = (size_t)65 << 20;
	char *text = malloc(len);
	(void)call;
	if (!text)
		return PAWL_E_NOMEM;
	memset(text, ' ', len);
	text[0] = '{';
	text[len - 1] = '}';
	host->set_args(reply, (pawl_str){text, len});
	free(text);
	return PAWL_ALLOW;
}

MISDEED(edit_and_deny)
{
	(void)call;
	host->set_at(reply, TEXT("/command"), TEXT("\"rm -rf /\""));
	host->reason(reply, TEXT("both"), TEXT("changed and refused"));
	return PAWL_DENY;
}

/* A bad edit counts whatever good one comes after. */
MISDEED(edit_bad_then_good)
{
	(void)call;
	host->set_args(reply, TEXT("nonsense"));
	host->set_at(reply, TEXT("/command"), TEXT("\"ls\""));
	return PAWL_ALLOW;
}

MISDEED(substitute_empty)
{
	(void)call, (void)reply;
	return PAWL_SUBSTITUTE;
}

MISDEED(substitute_bad)
{
	(void)call;
	host->result(reply, TEXT("{\"content\":"), 0);
	return PAWL_SUBSTITUTE;
}

MISDEED(approval_negative)
{
	(void)call;
	host->approval(reply, TEXT("ask"), -5);
	return PAWL_REQUIRE_APPROVAL;
}

MISDEED(reason_none)
{
	(void)call, (void)reply;
	return PAWL_DENY;
}

MISDEED(reason_empty)
{
	(void)call;
	host->reason(reply, TEXT(""), TEXT(""));
	return PAWL_DENY;
}

MISDEED(reason_null)
{
	(void)call;
	host->reason(reply, (pawl_str){NULL, 7}, (pawl_str){NULL, 7});
	return PAWL_DENY;
}

MISDEED(reason_control)
{
	(void)call;
	host->reason(reply, TEXT("bell\a"), TEXT("red \x1b[31m\x01\x7f\nnext\0end"));
	return PAWL_DENY;
}

MISDEED(reason_surrogate)
{
	(void)call;
	host->reason(reply, TEXT("\xed\xa0\x80"), TEXT("half \xed\xa0\x80 of \xff one"));
	return PAWL_DENY;
}

MISDEED(reason_huge)
{
	size_t len = (size_t)3 << 20;
	char *text = malloc(len);
	(void)call;
	if (!text)
		return PAWL_E_NOMEM;
	memset(text, 'x', len);
	host->reason(reply, TEXT("huge"), (pawl_str){text, len});
	free(text);
	return PAWL_DENY;
}

MISDEED(notes_many)
{
	(void)call;
	for (int i = 0; i < 1000; i++)
		host->note(reply, TEXT("key"), TEXT("value\n\xff"));
	return PAWL_ALLOW;
}

MISDEED(grant_unasked)
{
	(void)call;
	host->grant(reply);
	return PAWL_ALLOW;
}

/* As much of a frame as a plugin can guess, to whoever listens. */
static void forge(size_t len)
{
	static char frame[16384];
	memset(frame, 1, sizeof(frame));
	for (int fd = 3; fd < 1024; fd++)
		if (send(fd, frame, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue;
}

MISDEED(forge_half_frame)
{
	(void)call, (void)reply;
	forge(100);
	return PAWL_ALLOW;
}

MISDEED(forge_empty_frame)
{
	(void)call, (void)reply;
	forge(0);
	return PAWL_ALLOW;
}

#ifdef ZOO_forge_whole_frame
#include "fronts/lane.h"
/* One of the right size that says "allow". */
MISDEED(forge_whole_frame)
{
	static struct lane_message m = {.type = LANE_ANSWER, .exit = 0};
	(void)call, (void)reply;
	for (int fd = 3; fd < 1024; fd++)
		if (send(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue;
	return PAWL_DENY;
}
#endif

/* ---- well behaved, to stand beside the others ----------------------------------------- */

MISDEED(yes)
{
	(void)call, (void)reply;
	return PAWL_ALLOW;
}

MISDEED(no)
{
	(void)call;
	host->reason(reply, TEXT("no"), TEXT("no means no"));
	return PAWL_DENY;
}

MISDEED(person)
{
	(void)call;
	host->reason(reply, TEXT("person"), TEXT("a person should look"));
	host->approval(reply, TEXT("look at the command"), -1);
	return PAWL_REQUIRE_APPROVAL;
}

MISDEED(instead)
{
	(void)call;
	host->reason(reply, TEXT("instead"), TEXT("answered from a cache"));
	host->result(reply, TEXT("{\"content\":\"cached\"}"), 0);
	return PAWL_SUBSTITUTE;
}

/* Appends "|" and its value to /command, after as many ms; says so again when asked again. */
MISDEED(append)
{
	char text[4096];
	pawl_str command;
	(void)call;
	if (host->number(call, PAWL_N_ROUND) > 0)
		return PAWL_ALLOW;
	if (host->string(host->at(host->root(call, PAWL_R_ARGS), TEXT("/command")), &command) < 0 ||
	    command.len > sizeof(text) - 32)
		return PAWL_E_TYPE;
	usleep((useconds_t)zoo_value * 1000);
	size_t n = 0;
	text[n++] = '"';
	memcpy(text + n, command.ptr, command.len);
	n += command.len;
	text[n++] = '|';
	text[n++] = (char)('0' + zoo_value % 10);
	text[n++] = '"';
	host->set_at(reply, TEXT("/command"), (pawl_str){text, n});
	return PAWL_ALLOW;
}
