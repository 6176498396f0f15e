/* sign.h - a webhook's signature, as Standard Webhooks has it.
 *
 * Layer: approvals; knows libsodium's HMAC-SHA256.
 */
#ifndef PAWL_APPROVALS_SIGN_H
#define PAWL_APPROVALS_SIGN_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define SIGN_MAX 64 /* "v1," and base64 of 32 bytes, and its NUL */

/* "v1,BASE64": HMAC-SHA256 over "ID.SECONDS.BODY" with the secret, which is "whsec_" and
 * base64 (white space around is left out). -EINVAL it is none. */
int sign_webhook(struct str secret, struct str id, int64_t seconds, struct str body,
		 char ret[SIGN_MAX], struct error *err);

#endif
