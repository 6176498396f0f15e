/* url.h - where a URL leads, read so that no reader could see another host in it.
 *
 * Layer: plugins/hosts; libc and <pawl/plugin.h>.  The host is brought into the form a
 * browser compares (lower case, no user part, addresses in their usual form).  A text
 * that browsers, libraries and line-wise tools are known to read differently is
 * refused rather than guessed at.
 */
#ifndef PAWL_PLUGINS_HOSTS_URL_H
#define PAWL_PLUGINS_HOSTS_URL_H

#include <stdbool.h>

#include <pawl/plugin.h>

#define HOST_LEN_MAX 253
#define SCHEME_LEN_MAX 32
#define PORT_NONE (-1)

struct url {
	char scheme[SCHEME_LEN_MAX + 1]; /* lower case; "" where there is none */
	char host[HOST_LEN_MAX + 1];	 /* lower case; IPv6 as [text] */
	int port;			 /* PORT_NONE: none given */
	pawl_str rest;			 /* what follows the scheme's colon */
};

/* The scheme alone, into ret->scheme and ret->rest.  NULL, or what is wrong with the
 * text, to stand after its quotation. */
const char *url_read_scheme(pawl_str text, struct url *ret);

/* Then the host and port.  NULL, or what is wrong. */
const char *url_read_host(struct url *url);

/* "host", "host:port", "[v6]", "[v6]:port"; with glob, * and ? may stand in a name.
 * NULL, or what is wrong. */
const char *host_read(pawl_str text, bool glob, char host[HOST_LEN_MAX + 1], int *ret_port);

/* The port a browser takes where none is given; PORT_NONE for other schemes. */
int url_default_port(const char *scheme);

/* * is any run of characters, dots too; ? is one. */
bool host_glob(const char *pattern, const char *host);

#endif
