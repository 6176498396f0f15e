/* sha256.h - SHA-256 of a text at hand, as hexadecimal digits.
 *
 * Layer: cli; the module digest.so, which a worker that only asks plugins never loads.
 */
#ifndef PAWL_CLI_SHA256_H
#define PAWL_CLI_SHA256_H

#include "base/error.h"
#include "base/str.h"

#define SHA256_HEX 64

/* -errno: the module cannot be loaded, or there is no memory. */
int sha256_hex(struct str text, char ret[SHA256_HEX + 1], struct error *err);

#endif
