/* url.c - URLs taken apart; see url.h. */
#include "url.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_alpha(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static pawl_str after(pawl_str text, size_t n)
{
	return (pawl_str){text.ptr + n, text.len - n};
}

/* The index of the first byte of text that is in set, or text.len. */
static size_t first_of(pawl_str text, const char *set)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] != '\0' && strchr(set, text.ptr[i]))
			return i;
	return text.len;
}

/* A browser drops blanks and controls around a URL, and nearly all others do. */
static pawl_str stripped(pawl_str text)
{
	while (text.len > 0 && (unsigned char)text.ptr[0] <= ' ')
		text = after(text, 1);
	while (text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ')
		text.len--;
	return text;
}

/* A browser drops tabs and line ends inside too; a tool that reads line by line, or
 * splits at blanks, would go elsewhere. */
static bool has_blank(pawl_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
			return true;
	return false;
}

const char *url_read_scheme(pawl_str text, struct url *ret)
{
	size_t n = 0;
	*ret = (struct url){.port = PORT_NONE};
	text = stripped(text);
	if (text.len == 0)
		return " is empty; write a URL";
	if (has_blank(text))
		return " has white space or control characters inside; write them percent-encoded";
	while (n < text.len && n < SCHEME_LEN_MAX &&
	       (is_alpha(text.ptr[n]) ||
		(n > 0 && (is_digit(text.ptr[n]) || strchr("+-.", text.ptr[n])))))
		n++;
	if (n == 0 || n == text.len || text.ptr[n] != ':')
		return NULL;
	for (size_t i = 0; i < n; i++)
		ret->scheme[i] = lower(text.ptr[i]);
	ret->rest = after(text, n + 1);
	return NULL;
}

/* All labels 1 to 63 long; letters, digits, '-', '_', and * ? in a glob. */
static const char *check_name(const char *name, bool glob)
{
	size_t label = 0;
	for (const char *c = name;; c++) {
		if (*c == '.' || *c == '\0') {
			if (label == 0)
				return *c == '\0' && c > name
					       ? " ends its host with a dot; leave the dot out"
					       : " has an empty label in its host";
			if (label > 63)
				return " has a label longer than 63 characters in its host";
			label = 0;
			if (*c == '\0')
				return NULL;
			continue;
		}
		label++;
		if (glob && (*c == '*' || *c == '?'))
			continue;
		if ((unsigned char)*c >= 0x80)
			return " has a host with letters outside ASCII; write it in its xn-- form";
		if (*c == '%')
			return " has a percent-encoded host; write it plainly";
		if (!is_alpha(*c) && !is_digit(*c) && *c != '-' && *c != '_')
			return " has a character in its host that no host name has";
	}
}

/* A browser takes a host whose last label is a number for an IPv4 address. */
static bool ends_in_number(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *last = dot ? dot + 1 : name;
	if (last[0] == '0' && last[1] == 'x')
		return last[strspn(last + 2, "0123456789abcdef") + 2] == '\0';
	return last[0] != '\0' && last[strspn(last, "0123456789")] == '\0';
}

/* Octal, hexadecimal and short forms are read in more than one way. */
static bool is_plain_ipv4(const char *name)
{
	struct in_addr address;
	char text[INET_ADDRSTRLEN];
	return inet_pton(AF_INET, name, &address) == 1 &&
	       inet_ntop(AF_INET, &address, text, sizeof(text)) && strcmp(text, name) == 0;
}

/* text is [ ... ]; host gets the usual form of the same address. */
static const char *read_ipv6(pawl_str text, char host[HOST_LEN_MAX + 1])
{
	static const unsigned char zeros[12], mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct in6_addr address;
	char inner[INET6_ADDRSTRLEN] = "";
	if (text.len - 2 >= sizeof(inner))
		return " has no IPv6 address between its brackets";
	memcpy(inner, text.ptr + 1, text.len - 2);
	if (strlen(inner) != text.len - 2 || inet_pton(AF_INET6, inner, &address) != 1)
		return " has no IPv6 address between its brackets";
	if (memcmp(address.s6_addr, mapped, 12) == 0 ||
	    (memcmp(address.s6_addr, zeros, 12) == 0 && address.s6_addr[12] != 0))
		return " has an IPv4 address in IPv6 form; write it as IPv4";
	host[0] = '[';
	if (!inet_ntop(AF_INET6, &address, host + 1, HOST_LEN_MAX - 1))
		return " has no IPv6 address between its brackets";
	strcat(host, "]");
	return NULL;
}

static const char *read_port(pawl_str text, int *ret)
{
	int port = 0;
	if (text.len == 0) /* "host:" is the default port */
		return NULL;
	if (text.len > 5)
		return " has no port number after the colon";
	for (size_t i = 0; i < text.len; i++) {
		if (!is_digit(text.ptr[i]))
			return " has no port number after the colon";
		port = port * 10 + (text.ptr[i] - '0');
	}
	if (port > 65535)
		return " has a port beyond 65535";
	*ret = port;
	return NULL;
}

static const char *read_name(pawl_str text, bool glob, char host[HOST_LEN_MAX + 1])
{
	if (text.len == 0)
		return " has no host; write one";
	if (text.len > HOST_LEN_MAX)
		return " has a host longer than 253 characters";
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\0')
			return " has a character in its host that no host name has";
		host[i] = lower(text.ptr[i]);
	}
	host[text.len] = '\0';
	const char *wrong = check_name(host, glob);
	if (wrong)
		return wrong;
	if ((!glob || !strpbrk(host, "*?")) && ends_in_number(host) && !is_plain_ipv4(host))
		return " has an address that is read in more than one way; write it as four "
		       "decimal numbers";
	return NULL;
}

const char *host_read(pawl_str text, bool glob, char host[HOST_LEN_MAX + 1], int *ret_port)
{
	size_t end;
	const char *wrong;
	*ret_port = PORT_NONE;
	if (text.len > 0 && text.ptr[0] == '[') {
		end = first_of(text, "]");
		if (end == text.len)
			return " has no IPv6 address between its brackets";
		end++;
		wrong = read_ipv6((pawl_str){text.ptr, end}, host);
	} else {
		end = first_of(text, ":");
		wrong = read_name((pawl_str){text.ptr, end}, glob, host);
	}
	if (wrong || end == text.len)
		return wrong;
	if (text.ptr[end] != ':')
		return " has something between its host and port";
	return read_port(after(text, end + 1), ret_port);
}

/* user:password@ is where the host of "https://good@evil" hides; there may be one. */
static const char *skip_user(pawl_str *authority)
{
	size_t at = first_of(*authority, "@");
	if (at == authority->len)
		return NULL;
	*authority = after(*authority, at + 1);
	if (first_of(*authority, "@") != authority->len)
		return " has two @ before its path, and is read in two ways; write one at most";
	return NULL;
}

const char *url_read_host(struct url *url)
{
	pawl_str rest = url->rest;
	if (rest.len < 2 || rest.ptr[0] != '/' || rest.ptr[1] != '/' ||
	    (rest.len > 2 && strchr("/\\", rest.ptr[2]) && rest.ptr[2] != '\0'))
		return " does not have exactly // between its scheme and host; write it so";
	rest = after(rest, 2);
	size_t end = first_of(rest, "/?#");
	pawl_str authority = {rest.ptr, end};
	if (first_of(authority, "\\") != authority.len)
		return " has a backslash before its path, and is read in two ways; write /";
	/* some readers look for @ before they look for ? and # */
	pawl_str tail = {rest.ptr + end, rest.len - end};
	if (tail.len > 0 && tail.ptr[0] != '/' && first_of(tail, "@\\") < first_of(tail, "/"))
		return " has an @ or a backslash right behind its host; write / after the host";
	const char *wrong = skip_user(&authority);
	return wrong ? wrong : host_read(authority, false, url->host, &url->port);
}

int url_default_port(const char *scheme)
{
	static const struct {
		const char *scheme;
		int port;
	} known[] = {{"http", 80}, {"https", 443}, {"ws", 80}, {"wss", 443}, {"ftp", 21}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].scheme, scheme) == 0)
			return known[i].port;
	return PORT_NONE;
}

bool host_glob(const char *pattern, const char *host)
{
	const char *star = NULL, *retry = NULL;
	while (*host) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = host;
		} else if (*pattern == '?' || *pattern == *host) {
			pattern++;
			host++;
		} else if (star) {
			pattern = star;
			host = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}
