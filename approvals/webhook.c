/* webhook.c - see webhook.h. No redirect is followed and nothing but http(s) spoken, so that
 * the config alone says where a notice goes. */
#include <config.h>

#include "webhook.h"

#include <errno.h>

#ifdef HAVE_LIBCURL
#include <curl/curl.h>

static size_t ignore(char *data, size_t size, size_t n, void *context)
{
	(void)data;
	(void)context;
	return size * n;
}

static int perform(CURL *curl, const char *url, struct curl_slist *list, struct str body,
		   struct error *err)
{
	long status = 0;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.ptr);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, WEBHOOK_SECONDS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none from the environment */
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	CURLcode code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		return error_set(err, EIO, "%s", curl_easy_strerror(code));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return status / 100 == 2 ? 0 : error_set(err, EPROTO, "it answered %ld", status);
}

int webhook_post(const char *url, const char *const headers[], struct str body, struct error *err)
{
	struct curl_slist *list = NULL;
	int r = 0;
	CURL *curl = curl_easy_init();
	for (size_t i = 0; r == 0 && headers[i]; i++) {
		struct curl_slist *more = curl_slist_append(list, headers[i]);
		if (!more)
			r = error_set(err, ENOMEM, "out of memory");
		else
			list = more;
	}
	if (r == 0)
		r = curl ? perform(curl, url, list, body, err) :
			   error_set(err, ENOMEM, "out of memory");
	curl_slist_free_all(list);
	curl_easy_cleanup(curl);
	return r;
}
#else
int webhook_post(const char *url, const char *const headers[], struct str body, struct error *err)
{
	(void)url;
	(void)headers;
	(void)body;
	return error_set(err, ENOSYS, "this pawl was built without libcurl (--with-curl)");
}
#endif
