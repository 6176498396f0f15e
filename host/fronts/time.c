/* time.c - see time.h. */
#include <config.h>

#include "fronts/time.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

/* Exactly n digits at *at, within [low, high]. */
static bool digits(struct str text, size_t *at, size_t n, int low, int high, int *ret)
{
	int value = 0;
	for (size_t i = 0; i < n; i++, ++*at) {
		if (*at >= text.len || text.ptr[*at] < '0' || text.ptr[*at] > '9')
			return false;
		value = value * 10 + (text.ptr[*at] - '0');
	}
	*ret = value;
	return value >= low && value <= high;
}

static bool mark(struct str text, size_t *at, const char *any_of)
{
	if (*at >= text.len || !strchr(any_of, text.ptr[*at]) || text.ptr[*at] == '\0')
		return false;
	++*at;
	return true;
}

static bool fraction(struct str text, size_t *at, int64_t *ns)
{
	int64_t unit = 100000000;
	size_t start = *at;
	for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; ++*at) {
		*ns += (text.ptr[*at] - '0') * unit;
		unit /= 10;
	}
	return *at > start;
}

static bool offset(struct str text, size_t *at, int *seconds)
{
	int hours, minutes;
	if (mark(text, at, "Zz"))
		return true;
	bool west = *at < text.len && text.ptr[*at] == '-';
	if (!mark(text, at, "+-") || !digits(text, at, 2, 0, 23, &hours) || !mark(text, at, ":") ||
	    !digits(text, at, 2, 0, 59, &minutes))
		return false;
	*seconds = (hours * 60 + minutes) * (west ? -60 : 60);
	return true;
}

static int month_days(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

int time_rfc3339(struct str text, int64_t *ret_ns)
{
	struct tm tm = {0};
	size_t at = 0;
	int64_t ns = 0;
	int east = 0, year, month;
	if (!digits(text, &at, 4, 1678, 2261, &year) || !mark(text, &at, "-") ||
	    !digits(text, &at, 2, 1, 12, &month) || !mark(text, &at, "-") ||
	    !digits(text, &at, 2, 1, 31, &tm.tm_mday) || !mark(text, &at, "Tt ") ||
	    !digits(text, &at, 2, 0, 23, &tm.tm_hour) || !mark(text, &at, ":") ||
	    !digits(text, &at, 2, 0, 59, &tm.tm_min) || !mark(text, &at, ":") ||
	    !digits(text, &at, 2, 0, 60, &tm.tm_sec))
		return -EINVAL;
	if (mark(text, &at, ".") && !fraction(text, &at, &ns))
		return -EINVAL;
	if (!offset(text, &at, &east) || at != text.len || tm.tm_mday > month_days(year, month))
		return -EINVAL;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	if (tm.tm_sec == 60)
		tm.tm_sec = 59;
	*ret_ns = ((int64_t)timegm(&tm) - east) * 1000000000 + ns;
	return 0;
}
