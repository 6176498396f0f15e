/* http-sink.c - takes posts on a loopback port that the kernel chooses, and writes down what
 * came.
 *
 *	http-sink PORTFILE LOG KEY STATUS...
 *
 * One connection for each STATUS, which is the answer ("302" leads to /elsewhere); then it
 * ends. LOG gets three lines each: "PATH ID signed|unsigned|wrong", "at TIMESTAMP now SECONDS"
 * and the body. A signature is right when it is the HMAC of "ID.TIMESTAMP.BODY" under KEY. */
#include <config.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#define REQUEST_MAX (128 << 10)
#define PATIENCE_S 120 /* of a test that is stuck */

/* The value of a header; "" when it is not there. */
static void header(const char *request, const char *name, char *buf, size_t size)
{
	size_t len = strlen(name);
	buf[0] = '\0';
	for (const char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':') {
			const char *value = line + 3 + len + strspn(line + 3 + len, " ");
			snprintf(buf, size, "%.*s", (int)strcspn(value, "\r"), value);
			return;
		}
}

/* Reads up to the end that content-length says; the body, or NULL. */
static const char *take(int fd, char *request)
{
	size_t have = 0;
	char length[32];
	for (;;) {
		ssize_t n = read(fd, request + have, REQUEST_MAX - 1 - have);
		if (n <= 0)
			return NULL;
		have += (size_t)n;
		request[have] = '\0';
		const char *end = strstr(request, "\r\n\r\n");
		header(request, "content-length", length, sizeof(length));
		if (end && have - (size_t)(end + 4 - request) >= strtoul(length, NULL, 10))
			return end + 4;
	}
}

static const char *signature(const char *request, const char *key, const char *body)
{
	static char signed_text[REQUEST_MAX + 512];
	char id[128], time[64], given[128], expected[128] = "v1,";
	unsigned char mac[crypto_auth_hmacsha256_BYTES];
	crypto_auth_hmacsha256_state state;
	header(request, "webhook-id", id, sizeof(id));
	header(request, "webhook-timestamp", time, sizeof(time));
	header(request, "webhook-signature", given, sizeof(given));
	int n = snprintf(signed_text, sizeof(signed_text), "%s.%s.%s", id, time, body);
	crypto_auth_hmacsha256_init(&state, (const unsigned char *)key, strlen(key));
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)signed_text, (size_t)n);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_bin2base64(expected + 3, sizeof(expected) - 3, mac, sizeof(mac),
			  sodium_base64_VARIANT_ORIGINAL);
	return !given[0] ? "unsigned" : strcmp(given, expected) == 0 ? "signed" : "wrong";
}

static void serve(int fd, FILE *log, const char *key, const char *status)
{
	static char request[REQUEST_MAX];
	char path[256] = "?", id[128], at[64];
	const char *body = take(fd, request);
	if (!body)
		return;
	sscanf(request, "POST %255s", path);
	header(request, "webhook-id", id, sizeof(id));
	header(request, "webhook-timestamp", at, sizeof(at));
	fprintf(log, "%s %s %s\nat %s now %lld\n%s\n", path, id, signature(request, key, body), at,
		(long long)time(NULL), body);
	fflush(log);
	dprintf(fd, "HTTP/1.1 %s Answer\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", status,
		strcmp(status, "302") == 0 ? "Location: /elsewhere\r\n" : "");
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (argc < 5 || fd < 0 || sodium_init() < 0 ||
	    bind(fd, (const struct sockaddr *)&address, len) != 0 || listen(fd, 8) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return 1;
	FILE *log = fopen(argv[2], "we"), *port = fopen(argv[1], "we");
	if (!log || !port || fprintf(port, "%d\n", ntohs(address.sin_port)) < 0 || fclose(port) != 0)
		return 1;
	alarm(PATIENCE_S);
	for (int i = 4; i < argc; i++) {
		int client = accept(fd, NULL, NULL);
		if (client < 0)
			return 1;
		serve(client, log, argv[3], argv[i]);
		close(client);
	}
	return fclose(log) == 0 ? 0 : 1;
}
