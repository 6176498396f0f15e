/* sign.c - see sign.h. */
#include <config.h>

#include "sign.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#define SECRET_MAX 256 /* bytes of the key */

int sign_webhook(struct str secret, struct str id, int64_t seconds, struct str body,
		 char ret[SIGN_MAX], struct error *err)
{
	unsigned char key[SECRET_MAX], mac[crypto_auth_hmacsha256_BYTES];
	crypto_auth_hmacsha256_state state;
	char between[32];
	size_t len;
	while (secret.len > 0 && strchr(" \t\r\n", secret.ptr[secret.len - 1]))
		secret.len--;
	if (!str_starts(secret, STR("whsec_")))
		return error_set(err, EINVAL, "the secret does not begin with whsec_");
	secret = str_after(secret, 6);
	if (sodium_base642bin(key, sizeof(key), secret.ptr, secret.len, NULL, &len, NULL,
			      sodium_base64_VARIANT_ORIGINAL) != 0 ||
	    len == 0)
		return error_set(err, EINVAL, "the secret is not base64 behind whsec_");
	int n = snprintf(between, sizeof(between), ".%" PRId64 ".", seconds);
	crypto_auth_hmacsha256_init(&state, key, len);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)id.ptr, id.len);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)between, (size_t)n);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)body.ptr, body.len);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_memzero(key, sizeof(key));
	strcpy(ret, "v1,");
	sodium_bin2base64(ret + 3, SIGN_MAX - 3, mac, sizeof(mac), sodium_base64_VARIANT_ORIGINAL);
	return 0;
}
