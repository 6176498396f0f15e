/* zone.c - zone files (RFC 9636) and the rule at their end; see zone.h. */
#include "zone.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_SIZE 44
#define TYPE_SIZE 6
#define TYPES_MAX 256
#define DAY 86400

/* One switch of the rule: Jn, n or Mm.w.d, and the local time of that day. */
struct change_day {
	enum { JULIAN, DAY_OF_YEAR, MONTH_WEEK_DAY } kind;
	int month, week, day;
	int64_t seconds;
};

/* What holds after the last transition: a POSIX TZ string taken apart. */
struct rule {
	bool given, has_dst;
	int64_t standard, summer; /* seconds ahead of UTC */
	struct change_day begin, end;
};

struct zone {
	unsigned char *data; /* the file; the pointers below lie in it; NULL for UTC */
	size_t n_times, n_types;
	const unsigned char *times, *indices, *types;
	struct rule rule;
};

static int64_t read_be(const unsigned char *at, int bytes)
{
	uint64_t n = 0;
	for (int i = 0; i < bytes; i++)
		n = n << 8 | at[i];
	return bytes == 4 ? (int64_t)(int32_t)(uint32_t)n : (int64_t)n;
}

/* ---- dates ----------------------------------------------------------------- */

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Days from 0000-03-01 make leap days fall at a year's end. */
int64_t zone_days(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t year_of(int64_t days)
{
	int64_t year = 1970 + floor_div(days, 366);
	while (zone_days(year + 1, 1, 1) <= days)
		year++;
	while (zone_days(year, 1, 1) > days)
		year--;
	return year;
}

static int month_length(int64_t year, int month)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return month == 2 && is_leap(year) ? 29 : lengths[month - 1];
}

/* Local seconds since 1970 of a switch in year. */
static int64_t change_time(const struct change_day *change, int64_t year)
{
	int64_t days = zone_days(year, 1, 1);
	if (change->kind == JULIAN) { /* 1-365, February 29 is never counted */
		days += change->day - 1 + (is_leap(year) && change->day >= 60);
	} else if (change->kind == DAY_OF_YEAR) {
		days += change->day;
	} else {
		int64_t first = zone_days(year, change->month, 1);
		int weekday = (int)(((first + 4) % 7 + 7) % 7);
		int day = (change->day - weekday + 7) % 7 + 7 * (change->week - 1);
		while (day >= month_length(year, change->month))
			day -= 7;
		days = first + day;
	}
	return days * DAY + change->seconds;
}

static int64_t rule_offset(const struct rule *rule, int64_t t)
{
	if (!rule->has_dst)
		return rule->standard;
	int64_t year = year_of(floor_div(t + rule->standard, DAY));
	int64_t begin = change_time(&rule->begin, year) - rule->standard;
	int64_t end = change_time(&rule->end, year) - rule->summer;
	bool summer = begin < end ? t >= begin && t < end : t >= begin || t < end;
	return summer ? rule->summer : rule->standard;
}

/* ---- the rule's text --------------------------------------------------------- */

/* Digits, at most max as a number; -1 without. */
static int read_number(const char **at, int max)
{
	int n = -1;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		n = (n < 0 ? 0 : n * 10) + (**at - '0');
		if (n > max)
			return -1;
	}
	return n;
}

static bool read_abbreviation(const char **at)
{
	const char *start = *at;
	if (**at == '<') {
		*at += strcspn(*at, ">");
		return *(*at)++ == '>';
	}
	while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
		++*at;
	return *at - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool read_clock(const char **at, int64_t *ret)
{
	int sign = **at == '-' ? -1 : 1, part[3] = {0, 0, 0};
	if (**at == '-' || **at == '+')
		++*at;
	for (int i = 0; i < 3; i++) {
		part[i] = read_number(at, i == 0 ? 167 : 59);
		if (part[i] < 0)
			return false;
		if (**at != ':')
			break;
		if (i < 2)
			++*at;
	}
	*ret = sign * ((int64_t)part[0] * 3600 + part[1] * 60 + part[2]);
	return true;
}

static bool read_change_day(const char **at, struct change_day *ret)
{
	*ret = (struct change_day){.kind = DAY_OF_YEAR, .seconds = 2 * 3600};
	if (*(*at)++ != ',')
		return false;
	if (**at == 'M') {
		ret->kind = MONTH_WEEK_DAY;
		++*at;
		ret->month = read_number(at, 12);
		if (ret->month < 1 || *(*at)++ != '.')
			return false;
		ret->week = read_number(at, 5);
		if (ret->week < 1 || *(*at)++ != '.')
			return false;
		ret->day = read_number(at, 6);
	} else {
		if (**at == 'J') {
			ret->kind = JULIAN;
			++*at;
		}
		ret->day = read_number(at, 365);
	}
	if (ret->day < (ret->kind == JULIAN))
		return false;
	if (**at != '/')
		return true;
	++*at;
	return read_clock(at, &ret->seconds);
}

/* "CET-1CEST,M3.5.0,M10.5.0/3"; its offsets count the other way round. */
static bool read_rule(const char *text, struct rule *ret)
{
	const char *at = text;
	*ret = (struct rule){.given = true};
	if (!read_abbreviation(&at) || !read_clock(&at, &ret->standard))
		return false;
	ret->standard = -ret->standard;
	ret->summer = ret->standard + 3600;
	if (*at == '\0')
		return true;
	ret->has_dst = true;
	if (!read_abbreviation(&at))
		return false;
	if (*at != ',') {
		if (!read_clock(&at, &ret->summer))
			return false;
		ret->summer = -ret->summer;
	}
	return read_change_day(&at, &ret->begin) && read_change_day(&at, &ret->end) && *at == '\0';
}

/* ---- the file ------------------------------------------------------------------ */

struct counts {
	size_t is_ut, is_std, leap, time, type, chars;
};

static bool read_header(const unsigned char *at, size_t len, struct counts *ret)
{
	if (len < HEADER_SIZE || memcmp(at, "TZif", 4) != 0 || at[4] < '2')
		return false;
	size_t n[6];
	for (int i = 0; i < 6; i++) {
		n[i] = (size_t)(uint32_t)read_be(at + 20 + 4 * i, 4);
		if (n[i] > ZONE_FILE_MAX)
			return false;
	}
	*ret = (struct counts){n[0], n[1], n[2], n[3], n[4], n[5]};
	return true;
}

static size_t block_size(const struct counts *n, size_t time_size)
{
	return n->time * time_size + n->time + n->type * TYPE_SIZE + n->chars +
	       n->leap * (time_size + 4) + n->is_std + n->is_ut;
}

/* "\nRULE\n" ends the file; an empty rule says nothing about later times. */
static bool read_footer(const unsigned char *at, size_t len, struct rule *ret)
{
	char text[128];
	*ret = (struct rule){.given = false};
	if (len < 2 || at[0] != '\n')
		return false;
	const unsigned char *end = memchr(at + 1, '\n', len - 1);
	size_t n = end ? (size_t)(end - at - 1) : sizeof(text);
	if (n >= sizeof(text) || memchr(at + 1, '\0', n))
		return false;
	memcpy(text, at + 1, n);
	text[n] = '\0';
	return n == 0 || read_rule(text, ret);
}

static bool indices_are_in_range(const struct zone *zone)
{
	for (size_t i = 0; i < zone->n_times; i++)
		if (zone->indices[i] >= zone->n_types)
			return false;
	return true;
}

/* The second block, of 64-bit times, behind the first, of 32-bit ones. */
static bool read_file(struct zone *zone, size_t len)
{
	struct counts n;
	const unsigned char *at = zone->data;
	if (!read_header(at, len, &n))
		return false;
	size_t skip = HEADER_SIZE + block_size(&n, 4);
	if (skip > len || !read_header(at + skip, len - skip, &n))
		return false;
	at += skip + HEADER_SIZE;
	len -= skip + HEADER_SIZE;
	size_t size = block_size(&n, 8);
	if (size > len || n.leap != 0 || n.type == 0 || n.type > TYPES_MAX)
		return false;
	zone->n_times = n.time;
	zone->n_types = n.type;
	zone->times = at;
	zone->indices = at + 8 * n.time;
	zone->types = zone->indices + n.time;
	return indices_are_in_range(zone) && read_footer(at + size, len - size, &zone->rule);
}

static const char *load(int fd, struct zone *zone)
{
	struct stat st;
	size_t len = 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > ZONE_FILE_MAX)
		return " is not a zone file";
	zone->data = malloc((size_t)st.st_size + 1);
	if (!zone->data)
		return " cannot be read: out of memory";
	while (len < (size_t)st.st_size) {
		ssize_t n = read(fd, zone->data + len, (size_t)st.st_size - len);
		if (n <= 0)
			return " cannot be read";
		len += (size_t)n;
	}
	return read_file(zone, len) ? NULL : " is not a zone file that can be used "
					     "(version 2 or later, no leap seconds)";
}

/* Area/City: plain parts, so that the name cannot leave the folder. */
static bool is_zone_name(const char *name)
{
	size_t len = strlen(name);
	if (len == 0 || len > ZONE_NAME_MAX || name[0] == '/' || name[len - 1] == '/')
		return false;
	for (const char *c = name; *c; c++) {
		bool plain = (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
			     (*c >= '0' && *c <= '9') || strchr("_+-/", *c);
		if (!plain || (c[0] == '/' && c[1] == '/'))
			return false;
	}
	return true;
}

static int open_file(const char *name)
{
	static const char *const folders[] = {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
					      "/etc/zoneinfo"};
	char path[ZONE_NAME_MAX + 32];
	int fd = -1;
	for (size_t i = 0; fd < 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	return fd;
}

const char *zone_open(const char *name, struct zone **ret)
{
	if (!is_zone_name(name))
		return " is not a zone name, such as Europe/Berlin";
	struct zone *zone = calloc(1, sizeof(*zone));
	if (!zone)
		return " cannot be read: out of memory";
	if (strcmp(name, "UTC") != 0) {
		int fd = open_file(name);
		const char *wrong = fd < 0 ? " is not a zone this system knows" : load(fd, zone);
		if (fd >= 0)
			close(fd);
		if (wrong) {
			zone_close(zone);
			return wrong;
		}
	}
	*ret = zone;
	return NULL;
}

void zone_close(struct zone *zone)
{
	if (!zone)
		return;
	free(zone->data);
	free(zone);
}

int64_t zone_offset(const struct zone *zone, int64_t t)
{
	size_t low = 0, high = zone->n_times; /* times[low - 1] <= t < times[high] */
	if (!zone->data)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (read_be(zone->times + 8 * middle, 8) <= t)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->n_times && zone->rule.given)
		return rule_offset(&zone->rule, t);
	size_t type = low == 0 ? 0 : zone->indices[low - 1];
	return read_be(zone->types + TYPE_SIZE * type, 4);
}
