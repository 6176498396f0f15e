/* text.c - see text.h. */
#include <config.h>

#include "base/text.h"

#include <stdio.h>
#include <string.h>

size_t text_utf8_step(struct str text)
{
	const unsigned char *p = (const unsigned char *)text.ptr;
	size_t n = text.len;
	if (n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
#define TAIL(i) (n > (i) && (p[i] & 0xC0) == 0x80)
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		return TAIL(1) ? 2 : 0;
	if ((p[0] & 0xF0) == 0xE0) {
		if (!TAIL(1) || !TAIL(2) || (p[0] == 0xE0 && p[1] < 0xA0) ||
		    (p[0] == 0xED && p[1] > 0x9F))
			return 0;
		return 3;
	}
	if (p[0] >= 0xF0 && p[0] <= 0xF4) {
		if (!TAIL(1) || !TAIL(2) || !TAIL(3) || (p[0] == 0xF0 && p[1] < 0x90) ||
		    (p[0] == 0xF4 && p[1] > 0x8F))
			return 0;
		return 4;
	}
#undef TAIL
	return 0;
}

/* Where output goes, one piece at a time, until a piece no longer fits. */
struct sink {
	char *buf;
	size_t room, len;
	bool full;
};

static void sink_put(struct sink *sink, const char *piece, size_t len)
{
	if (sink->full)
		return;
	/* "..." and NUL always fit behind what is there */
	if (sink->len + len + 4 > sink->room) {
		memcpy(sink->buf + sink->len, "...", 3);
		sink->len += 3;
		sink->full = true;
		return;
	}
	memcpy(sink->buf + sink->len, piece, len);
	sink->len += len;
}

static size_t sink_end(struct sink *sink)
{
	sink->buf[sink->len] = '\0';
	return sink->len;
}

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

/* One character of foreign text, mended. Returns how many bytes of text it was. */
static size_t next_clean(struct str text, const char **piece, size_t *len)
{
	size_t step = text_utf8_step(text);
	*piece = text.ptr;
	*len = step;
	if (step == 0) {
		*piece = "\xEF\xBF\xBD";
		*len = 3;
		return 1;
	}
	/* C1 controls are two bytes: C2 80..9F */
	bool c1 = step == 2 && (unsigned char)text.ptr[0] == 0xC2 &&
		  (unsigned char)text.ptr[1] < 0xA0;
	if (c1 || (step == 1 && is_control((unsigned char)text.ptr[0]))) {
		*piece = " ";
		*len = 1;
	}
	return step;
}

size_t text_clean(struct str text, char *buf, size_t room)
{
	struct sink sink = {buf, room, 0, false};
	for (size_t i = 0; i < text.len && !sink.full;) {
		const char *piece;
		size_t len;
		i += next_clean(str_after(text, i), &piece, &len);
		sink_put(&sink, piece, len);
	}
	return sink_end(&sink);
}

static const char *json_escape(char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	default:
		return NULL;
	}
}

size_t text_json(struct str text, char *buf, size_t room)
{
	struct sink sink = {buf, room, 0, false};
	for (size_t i = 0; i < text.len && !sink.full;) {
		const char *piece;
		size_t len;
		i += next_clean(str_after(text, i), &piece, &len);
		const char *escaped = len == 1 ? json_escape(*piece) : NULL;
		if (escaped)
			sink_put(&sink, escaped, 2);
		else
			sink_put(&sink, piece, len);
	}
	return sink_end(&sink);
}

static const struct text_hole *hole_at(struct str text, const struct text_hole *holes, size_t n,
				       size_t *len)
{
	for (size_t i = 0; i < n; i++) {
		size_t name = strlen(holes[i].name);
		if (text.len >= name + 2 && text.ptr[name + 1] == '}' &&
		    memcmp(text.ptr + 1, holes[i].name, name) == 0) {
			*len = name + 2;
			return &holes[i];
		}
	}
	return NULL;
}

size_t text_fill(struct str pattern, const struct text_hole *holes, size_t n, char *buf, size_t room)
{
	struct sink sink = {buf, room, 0, false};
	for (size_t i = 0; i < pattern.len && !sink.full;) {
		size_t len = 1;
		const struct text_hole *hole =
			pattern.ptr[i] == '{' ? hole_at(str_after(pattern, i), holes, n, &len) : NULL;
		if (hole) {
			/* room is kept by the caller for whole values; cut ones end in "..." */
			size_t left = sink.room - sink.len > 4 ? sink.room - sink.len - 4 : 0;
			size_t take = hole->value.len < left ? hole->value.len : left;
			while (take > 0 && take < hole->value.len &&
			       ((unsigned char)hole->value.ptr[take] & 0xC0) == 0x80)
				take--;
			sink_put(&sink, hole->value.ptr, take);
			if (take < hole->value.len)
				sink_put(&sink, "....", 4);
		} else {
			sink_put(&sink, pattern.ptr + i, 1);
		}
		i += len;
	}
	return sink_end(&sink);
}
