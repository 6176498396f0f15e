/* sha256.c - see sha256.h. */
#include <config.h>

#include "cli/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Fractions of the cube roots of the first 64 primes. */
static const uint32_t keys[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void spread(const unsigned char block[64], uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void take_block(uint32_t h[8], const unsigned char block[64])
{
	uint32_t w[64], v[8];
	spread(block, w);
	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t t = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
			     ((e & v[5]) ^ (~e & v[6])) + keys[i] + w[i];
		uint32_t u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
			     ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t;
		v[0] = t + u;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

/* The rest, a bit, and the length in bits at the end of a block. */
static void take_end(uint32_t h[8], const char *rest, size_t n, size_t len)
{
	unsigned char last[128] = {0};
	size_t room = n < 56 ? 64 : 128;
	if (n)
		memcpy(last, rest, n);
	last[n] = 0x80;
	for (int i = 0; i < 8; i++)
		last[room - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	for (size_t at = 0; at < room; at += 64)
		take_block(h, last + at);
}

void sha256_hex(struct str text, char ret[SHA256_HEX + 1])
{
	uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	size_t at = 0;
	for (; text.len - at >= 64; at += 64)
		take_block(h, (const unsigned char *)text.ptr + at);
	take_end(h, text.ptr + at, text.len - at, text.len);
	for (size_t i = 0; i < 8; i++)
		snprintf(ret + 8 * i, 9, "%08x", h[i]);
}
