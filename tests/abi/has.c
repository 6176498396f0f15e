/* has.c - a plugin of today under a host of every size there has been or could have been:
 * PAWL_HAS says no to each service behind the table's end, whatever lies there. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include <pawl/plugin.h>

static int failed;

/* Asked at every size up to the whole table; a pointer of all ones lies everywhere. */
#define ASK(service)                                                                               \
	do {                                                                                       \
		size_t end = offsetof(pawl_host, service) + sizeof(host.service);                  \
		for (uint32_t size = 0; size <= sizeof(host) + 8; size++) {                        \
			host.struct_size = size;                                                   \
			failed |= PAWL_HAS(&host, service) != (size >= end);                       \
		}                                                                                  \
		host.struct_size = sizeof(host);                                                   \
		memset(&host.service, 0, sizeof(host.service));                                    \
		failed |= PAWL_HAS(&host, service);                                                \
	} while (0)

int main(void)
{
	pawl_host host;
	memset(&host, 0xff, sizeof(host));
	ASK(log);
	ASK(set_error);
	ASK(text);
	ASK(number);
	ASK(root);
	ASK(type);
	ASK(length);
	ASK(member);
	ASK(item);
	ASK(at);
	ASK(key);
	ASK(string);
	ASK(integer);
	ASK(real);
	ASK(boolean);
	ASK(json);
	ASK(reason);
	ASK(result);
	ASK(approval);
	ASK(set_args);
	ASK(set_at);
	ASK(remove_at);
	ASK(grant);
	ASK(tell);
	ASK(note);
	ASK(interface);
	printf("1..1\n%sok 1 - PAWL_HAS goes by the table's size and the pointer\n",
	       failed ? "not " : "");
	return failed;
}
