/* webhook.h - one POST.
 *
 * Layer: approvals; the one file that knows libcurl (--with-curl).
 */
#ifndef PAWL_APPROVALS_WEBHOOK_H
#define PAWL_APPROVALS_WEBHOOK_H

#include "base/error.h"
#include "base/str.h"

#define WEBHOOK_SECONDS 10L

/* headers: lines, NULL at the end. 0 when the answer was 2xx. -ENOSYS: built without. */
int webhook_post(const char *url, const char *const headers[], struct str body, struct error *err);

#endif
