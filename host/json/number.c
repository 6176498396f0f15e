/* number.c - what a number's text says, by decimal arithmetic on the text.
 *
 * Layer: json; libc only.  A number is ± 0.DIGITS × 10^scale here, where DIGITS
 * neither begins nor ends with 0; zero has no digits and no sign.
 */
#include <config.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "json/tree.h"

/* An exponent of more digits than this is not added up: larger than any double. */
#define EXPONENT_DIGITS 17

struct decimal {
	const char *digits, *end; /* with the point, if any, somewhere between */
	size_t count;             /* of digits, the point not counted */
	int64_t scale;
	bool negative, huge;      /* huge: scale does not hold the exponent */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *exponent_read(const char *at, const char *end, struct decimal *d)
{
	bool negative = *at == '-';
	if (*at == '-' || *at == '+')
		at++;
	while (at < end && *at == '0')
		at++;
	d->huge = end - at > EXPONENT_DIGITS;
	int64_t exponent = 0;
	for (; at < end && !d->huge; at++)
		exponent = exponent * 10 + (*at - '0');
	if (d->huge)
		exponent = INT64_MAX / 4;
	d->scale = negative ? -exponent : exponent;
	return at;
}

/* Moves both ends inwards over zeros and the point. */
static void decimal_trim(struct decimal *d, const char *point)
{
	while (d->digits < d->end && (*d->digits == '0' || *d->digits == '.'))
		d->digits++;
	while (d->end > d->digits && (d->end[-1] == '0' || d->end[-1] == '.'))
		d->end--;
	if (d->digits == d->end) {
		*d = (struct decimal){0};
		return;
	}
	d->count = (size_t)(d->end - d->digits);
	if (point >= d->digits && point < d->end)
		d->count--;
	/* digits before the point, or minus the zeros between it and the first digit */
	d->scale += point > d->digits ? point - d->digits : point + 1 - d->digits;
}

static struct decimal decimal_read(struct str lexeme)
{
	const char *at = lexeme.ptr, *end = at + lexeme.len;
	struct decimal d = {.negative = *at == '-'};
	d.digits = at += d.negative;
	while (at < end && is_digit(*at))
		at++;
	const char *point = at;
	if (at < end && *at == '.')
		for (at++; at < end && is_digit(*at);)
			at++;
	d.end = at;
	if (at < end)
		exponent_read(at + 1, end, &d);
	decimal_trim(&d, point);
	return d;
}

int number_integer(struct str lexeme, int64_t *ret)
{
	struct decimal d = decimal_read(lexeme);
	if (d.scale < (int64_t)d.count || d.scale > 19)
		return -ERANGE;
	uint64_t sum = 0, limit = (uint64_t)INT64_MAX + d.negative;
	int64_t left = d.scale;
	for (const char *at = d.digits; at < d.end; at++) {
		if (*at == '.')
			continue;
		sum = sum * 10 + (uint64_t)(*at - '0');
		left--;
	}
	for (; left > 0; left--) /* at most 19 digits in all: no overflow */
		sum *= 10;
	if (sum > limit)
		return -ERANGE;
	*ret = d.negative ? (int64_t)-sum : (int64_t)sum;
	return 0;
}

/* The point is a point whatever setlocale somebody has called. */
int number_real(struct str lexeme, double *ret)
{
	static locale_t c_locale;
	locale_t locale = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
	if (!locale) {
		locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!locale)
			return -ERANGE;
		__atomic_store_n(&c_locale, locale, __ATOMIC_RELEASE);
	}
	int saved = errno;
	double real = strtod_l(lexeme.ptr, NULL, locale);
	errno = saved;
	if (!isfinite(real))
		return -ERANGE;
	*ret = real;
	return 0;
}

int number_same(struct str a, struct str b)
{
	if (str_equal(a, b))
		return 1;
	struct decimal x = decimal_read(a), y = decimal_read(b);
	if (x.huge || y.huge || x.negative != y.negative || x.scale != y.scale ||
	    x.count != y.count)
		return 0;
	const char *p = x.digits, *q = y.digits;
	for (size_t i = 0; i < x.count; i++, p++, q++) {
		p += *p == '.';
		q += *q == '.';
		if (*p != *q)
			return 0;
	}
	return 1;
}
