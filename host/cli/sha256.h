/* sha256.h - SHA-256 (FIPS 180-4) of a text at hand, as hexadecimal digits.
 *
 * Layer: cli; libc only. The library that the audit and the approvals use is loaded by those
 * alone: the worker starts with every call, and this is for a command that people wait for.
 */
#ifndef PAWL_CLI_SHA256_H
#define PAWL_CLI_SHA256_H

#include "base/str.h"

#define SHA256_HEX 64

void sha256_hex(struct str text, char ret[SHA256_HEX + 1]);

#endif
