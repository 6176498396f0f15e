/* zone.h - a time zone's offsets, read from the system's zone files.
 *
 * Layer: plugins/window; libc.  libc itself knows zones only through the process's
 * environment, which a plugin shares with others and may not touch; so the file
 * (RFC 9636) is read here, once, and never written.
 *
 *	struct zone *zone;
 *	const char *wrong = zone_open("Europe/Berlin", &zone);
 *	int64_t offset = zone_offset(zone, seconds_since_1970);
 *	zone_close(zone);
 */
#ifndef PAWL_PLUGINS_WINDOW_ZONE_H
#define PAWL_PLUGINS_WINDOW_ZONE_H

#include <stdint.h>

#define ZONE_NAME_MAX 64
#define ZONE_FILE_MAX (256 * 1024)

struct zone;

/* *ret is the caller's, free with zone_close.  NULL, or what is wrong with the name
 * or its file, to stand after the name.  "UTC" needs no file. */
const char *zone_open(const char *name, struct zone **ret);
void zone_close(struct zone *zone); /* takes NULL */

/* Seconds that local clocks are ahead of UTC at t (seconds since 1970 UTC). */
int64_t zone_offset(const struct zone *zone, int64_t t);

/* Days since 1970-01-01 of a date; month 1-12. */
int64_t zone_days(int64_t year, int month, int day);

#endif
