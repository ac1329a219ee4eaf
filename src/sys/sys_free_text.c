/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in sys_free_text.h. */
#include "sys_free_text.h"

#include <string.h>

#include "text.h"

struct cutting {
	const char *at, *end;
	char *to;
	const char *zone; /* the element that we are in, of `zones`; NULL: in none */
};

static const char *const zones[] = {"title", "description", "metadata"};

static bool starts(const struct cutting *c, const char *prefix)
{
	size_t length = strlen(prefix);

	return (size_t)(c->end - c->at) >= length && memcmp(c->at, prefix, length) == 0;
}

/* Behind the next `mark`, or the end. */
static const char *behind(const struct cutting *c, const char *mark)
{
	const char *found = memmem(c->at, (size_t)(c->end - c->at), mark, strlen(mark));

	return found ? found + strlen(mark) : c->end;
}

/* Behind the '>' of the tag at c->at; one in quotes is none. */
static const char *behind_tag(const struct cutting *c)
{
	char quote = '\0';

	for (const char *at = c->at; at < c->end; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '>')
			return at + 1;
	}
	return c->end;
}

static void keep_until(struct cutting *c, const char *end)
{
	while (c->at < end)
		*c->to++ = *c->at++;
}

static void drop_until(struct cutting *c, const char *end)
{
	for (; c->at < end; c->at++)
		if (*c->at == '\n')
			*c->to++ = '\n';
}

/* Is the tag at c->at ("<name", "</name") of an element of that name? */
static bool is_tag(const struct cutting *c, const char *before, const char *name)
{
	size_t length = strlen(before) + strlen(name);
	char next = (size_t)(c->end - c->at) > length ? c->at[length] : '\0';

	return starts(c, before) && (size_t)(c->end - c->at) > length &&
	       memcmp(c->at + strlen(before), name, strlen(name)) == 0 && next != '\0' && strchr(" \t\r\n/>", next);
}

static void pass_tag(struct cutting *c)
{
	const char *end = behind_tag(c);
	bool empty = end - c->at >= 2 && end[-1] == '>' && end[-2] == '/';

	if (c->zone && is_tag(c, "</", c->zone)) {
		c->zone = NULL;
		keep_until(c, end);
		return;
	}
	if (c->zone) {
		bool kept = text_equal(c->zone, "metadata") && (starts(c, "<libosinfo:") || starts(c, "</libosinfo:"));

		if (kept)
			keep_until(c, end);
		else
			drop_until(c, end);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(zones) && !empty; i++)
		if (is_tag(c, "<", zones[i]))
			c->zone = zones[i];
	keep_until(c, end);
}

const char *sys_without_free_text(struct arena *arena, const char *xml, size_t size, size_t *ret_size)
{
	char *result = arena_alloc(arena, size + 1);
	struct cutting c = {.at = xml, .end = xml + size, .to = result};

	while (c.at < c.end) {
		if (starts(&c, "<!--")) {
			drop_until(&c, behind(&c, "-->"));
		} else if (starts(&c, "<![CDATA[")) {
			const char *end = behind(&c, "]]>");

			if (c.zone)
				drop_until(&c, end);
			else
				keep_until(&c, end);
		} else if (*c.at == '<') {
			pass_tag(&c);
		} else if (c.zone) {
			drop_until(&c, c.at + 1);
		} else {
			*c.to++ = *c.at++;
		}
	}
	*c.to = '\0';
	*ret_size = (size_t)(c.to - result);
	return result;
}
