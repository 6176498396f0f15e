/* same.h - JSON values compared by type and exact value.
 *
 * Layer: plugins; libc and <pawl/plugin.h>.  Numbers are compared as decimals, digit
 * by digit, never as doubles: 9007199254740993 is more than 9007199254740992, and
 * 5, 5.0 and 50e-1 are the same.
 */
#ifndef PAWL_PLUGINS_SAME_H
#define PAWL_PLUGINS_SAME_H

#include <stdbool.h>
#include <string.h>

#include <pawl/plugin.h>

#define SAME_DEPTH_MAX 64 /* deeper values cannot be compared */
#define EXPONENT_DIGITS_MAX 15

/* A JSON number taken apart: 0.D1D2D3... times ten to the power, D1 not zero. */
struct decimal {
	bool negative, zero;
	int64_t power;
	const char *digits; /* from D1; holds a '.' somewhere, perhaps */
	size_t len;
};

static inline bool decimal_exponent(const char *at, const char *end, int64_t *ret)
{
	bool negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	while (at < end && *at == '0')
		at++;
	if (end - at > EXPONENT_DIGITS_MAX)
		return false;
	int64_t n = 0;
	for (; at < end; at++)
		n = n * 10 + (*at - '0');
	*ret = negative ? -n : n;
	return true;
}

/* text is a JSON number.  False where the exponent is absurd. */
static inline bool decimal_read(pawl_str text, struct decimal *ret)
{
	const char *at = text.ptr, *end = text.ptr + text.len;
	const char *mantissa_end = at;
	struct decimal d = {.zero = true};
	int64_t exponent = 0, whole = 0;
	if (at < end && *at == '-') {
		d.negative = true;
		at++;
	}
	for (mantissa_end = at; mantissa_end < end && (*mantissa_end | 0x20) != 'e';)
		mantissa_end++;
	if (mantissa_end < end && !decimal_exponent(mantissa_end + 1, end, &exponent))
		return false;
	const char *point = memchr(at, '.', (size_t)(mantissa_end - at));
	whole = (point ? point : mantissa_end) - at;
	for (const char *c = at; c < mantissa_end; c++) {
		if (*c == '0' || *c == '.')
			continue;
		d.zero = false;
		d.digits = c;
		d.len = (size_t)(mantissa_end - c);
		d.power = exponent + whole - (c - at) + (point && c > point ? 1 : 0);
		break;
	}
	*ret = d;
	return true;
}

/* The next digit, 0 behind the last. */
static inline char decimal_next(const struct decimal *d, size_t *at)
{
	if (*at < d->len && d->digits[*at] == '.')
		++*at;
	return *at < d->len ? d->digits[(*at)++] : '0';
}

/* Of two that are not zero: -1, 0 or 1 as |a| is to |b|. */
static inline int decimal_compare_size(const struct decimal *a, const struct decimal *b)
{
	if (a->power != b->power)
		return a->power < b->power ? -1 : 1;
	size_t at_a = 0, at_b = 0;
	while (at_a < a->len || at_b < b->len) {
		char digit_a = decimal_next(a, &at_a), digit_b = decimal_next(b, &at_b);
		if (digit_a != digit_b)
			return digit_a < digit_b ? -1 : 1;
	}
	return 0;
}

/* *ret is -1, 0 or 1 as a is to b (JSON numbers).  False: cannot be told. */
static inline bool number_compare(pawl_str a, pawl_str b, int *ret)
{
	struct decimal x, y;
	if (a.len == 0 || b.len == 0 || !decimal_read(a, &x) || !decimal_read(b, &y))
		return false;
	int sign_x = x.zero ? 0 : x.negative ? -1 : 1, sign_y = y.zero ? 0 : y.negative ? -1 : 1;
	if (sign_x != sign_y)
		*ret = sign_x < sign_y ? -1 : 1;
	else
		*ret = sign_x == 0 ? 0 : sign_x * decimal_compare_size(&x, &y);
	return true;
}

enum same { SAME_NO, SAME_YES, SAME_CANNOT_TELL };

static inline enum same json_same(const pawl_host *host, const pawl_value *a, const pawl_value *b,
				  unsigned depth);

static inline enum same same_scalar(const pawl_host *host, const pawl_value *a, const pawl_value *b)
{
	pawl_str x, y;
	int32_t p, q;
	int order;
	switch (host->type(a)) {
	case PAWL_NULL:
		return SAME_YES;
	case PAWL_BOOL:
		if (host->boolean(a, &p) != 0 || host->boolean(b, &q) != 0)
			return SAME_CANNOT_TELL;
		return !p == !q ? SAME_YES : SAME_NO;
	case PAWL_NUMBER:
		if (!number_compare(host->json(a), host->json(b), &order))
			return SAME_CANNOT_TELL;
		return order == 0 ? SAME_YES : SAME_NO;
	case PAWL_STRING:
		if (host->string(a, &x) != 0 || host->string(b, &y) != 0)
			return SAME_CANNOT_TELL;
		return x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0 ? SAME_YES : SAME_NO;
	default:
		return SAME_CANNOT_TELL;
	}
}

/* Two arrays or two objects of equal length; an object's order does not count. */
static inline enum same same_parts(const pawl_host *host, const pawl_value *a, const pawl_value *b,
				   unsigned depth)
{
	bool object = host->type(a) == PAWL_OBJECT;
	if (depth == 0)
		return SAME_CANNOT_TELL;
	for (size_t i = 0; i < host->length(a); i++) {
		const pawl_value *x = NULL, *y = NULL;
		if (object) {
			y = host->member(b, host->key(a, i, &x));
			if (!y)
				return SAME_NO;
		} else {
			x = host->item(a, i);
			y = host->item(b, i);
		}
		enum same part = json_same(host, x, y, depth - 1);
		if (part != SAME_YES)
			return part;
	}
	return SAME_YES;
}

/* depth is SAME_DEPTH_MAX.  Neither may be NULL: a value that is not there is not
 * null, and the caller knows what that means. */
static inline enum same json_same(const pawl_host *host, const pawl_value *a, const pawl_value *b,
				  unsigned depth)
{
	int32_t type = host->type(a);
	if (!a || !b || type != host->type(b))
		return SAME_NO;
	if (type != PAWL_ARRAY && type != PAWL_OBJECT)
		return same_scalar(host, a, b);
	return host->length(a) == host->length(b) ? same_parts(host, a, b, depth) : SAME_NO;
}

/* Whether list (an array) holds value.  One that cannot be compared spoils a no. */
static inline enum same json_is_in(const pawl_host *host, const pawl_value *value,
				   const pawl_value *list)
{
	enum same found = SAME_NO;
	for (size_t i = 0; i < host->length(list); i++) {
		enum same one = json_same(host, value, host->item(list, i), SAME_DEPTH_MAX);
		if (one == SAME_YES)
			return SAME_YES;
		if (one == SAME_CANNOT_TELL)
			found = SAME_CANNOT_TELL;
	}
	return found;
}

#endif
