/* chain.c - see chain.h. */
#include <config.h>

#include "chain.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "digest.h"

static void add_member(struct buffer *out, const char *name, struct str value, bool first)
{
	char text[2 * PATH_MAX];
	buffer_add(out, first ? STR("\"") : STR(",\""));
	buffer_add(out, str_of(name));
	buffer_add(out, STR("\":\""));
	buffer_add(out, (struct str){text, text_json(value, text, sizeof(text))});
	buffer_add(out, STR("\""));
}

static int add_part(struct buffer *out, const struct approval_part *part, bool first,
		    struct error *err)
{
	char digest[DIGEST_HEX + 1];
	int r = 0;
	if (part->fd >= 0)
		r = digest_file(part->fd, digest);
	else
		digest_bytes(part->text, digest);
	if (r < 0)
		return error_set(err, -r, "%.*s: %s", STR_FMT(part->path), strerror(-r));
	buffer_add(out, first ? STR("{") : STR(",{"));
	if (part->name.ptr) {
		add_member(out, "entry", part->name, true);
		add_member(out, "plugin", part->id, false);
		add_member(out, "version", part->version, false);
	}
	add_member(out, "path", part->path, !part->name.ptr);
	add_member(out, "sha256", str_of(digest), false);
	buffer_add(out, STR("}"));
	return 0;
}

int chain_text(const struct approval_part *parts, size_t n, struct buffer *text, struct error *err)
{
	int r = 0;
	for (int plugins = 0; plugins < 2; plugins++) {
		bool first = true;
		buffer_add(text, plugins ? STR("],\"plugins\":[") : STR("{\"config\":["));
		for (size_t i = 0; r == 0 && i < n; i++) {
			if ((parts[i].fd >= 0) != (plugins == 1))
				continue;
			r = add_part(text, &parts[i], first, err);
			first = false;
		}
	}
	buffer_add(text, STR("]}"));
	if (r == 0 && text->error < 0)
		r = error_set(err, -text->error, "the chain's description: %s",
			      strerror(-text->error));
	return r;
}
