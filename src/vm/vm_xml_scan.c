/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding the byte offsets of elements in a text that libxml2 has found well-formed. */
#include <errno.h>

#include "text.h"
#include "vm_xml_scan.h"

struct scanner {
	const char *text;
	size_t size, at;
	unsigned line;
	size_t line_start;
	struct arena *arena;
	struct vm_xml_element *elements;
	int count, room;
	int open; /* index of the innermost open element, -1 outside */
};

bool vm_xml_can_scan(const char *text, size_t size)
{
	/* UTF-16 and UTF-32 have a NUL in "<d"; UTF-8 and the one-byte encodings have none. */
	return !memchr(text, '\0', size) && !(size >= 2 && (unsigned char)text[0] >= 0xfe) &&
	       !(size >= 4 && memcmp(text, "\x4c\x6f\xa7\x94", 4) == 0);
}

static bool starts(const struct scanner *scanner, const char *word)
{
	size_t length = strlen(word);

	return scanner->size - scanner->at >= length && memcmp(scanner->text + scanner->at, word, length) == 0;
}

/* Move to `to`, counting the lines in between. */
static void move(struct scanner *scanner, size_t to)
{
	for (; scanner->at < to; scanner->at++)
		if (scanner->text[scanner->at] == '\n') {
			scanner->line++;
			scanner->line_start = scanner->at + 1;
		}
}

/* Move behind the next `word`; false when there is none. */
static bool skip_past(struct scanner *scanner, const char *word)
{
	const char *found = memmem(scanner->text + scanner->at, scanner->size - scanner->at, word, strlen(word));

	if (!found)
		return false;
	move(scanner, (size_t)(found - scanner->text) + strlen(word));
	return true;
}

/* The offset after ">" of the tag that starts at `at`; 0 when it is not closed. ">" may stand in attribute values. */
static size_t tag_end(const struct scanner *scanner)
{
	char quote = 0;

	for (size_t i = scanner->at + 1; i < scanner->size; i++) {
		char c = scanner->text[i];

		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return i + 1;
	}
	return 0;
}

static struct vm_xml_element *add_element(struct scanner *scanner)
{
	if (scanner->count == scanner->room) {
		int room = MAX_OF(scanner->room * 2, 64);
		struct vm_xml_element *larger = ARENA_ARRAY(scanner->arena, (size_t)room, struct vm_xml_element);

		if (scanner->count)
			memcpy(larger, scanner->elements, (size_t)scanner->count * sizeof(*larger));
		scanner->elements = larger;
		scanner->room = room;
	}
	return &scanner->elements[scanner->count++];
}

static bool read_end_tag(struct scanner *scanner, size_t end)
{
	if (scanner->open < 0)
		return false;

	struct vm_xml_element *element = &scanner->elements[scanner->open];

	element->inner_end = scanner->at;
	element->end = end;
	scanner->open = element->parent;
	return true;
}

static void read_start_tag(struct scanner *scanner, size_t end)
{
	struct vm_xml_element *element = add_element(scanner);
	size_t name = 1;

	while (scanner->at + name < end && !strchr(" \t\r\n/>", scanner->text[scanner->at + name]))
		name++;
	*element = (struct vm_xml_element){
	    .start = scanner->at,
	    .inner = end,
	    .inner_end = end,
	    .end = end,
	    .name_size = name - 1,
	    .parent = scanner->open,
	    .closed_short = scanner->text[end - 2] == '/',
	    .place = {scanner->line, (unsigned)(scanner->at - scanner->line_start) + 1},
	};
	if (!element->closed_short)
		scanner->open = scanner->count - 1;
}

/* What stands at "<". */
static bool read_markup(struct scanner *scanner)
{
	if (starts(scanner, "<!--"))
		return skip_past(scanner, "-->");
	if (starts(scanner, "<![CDATA["))
		return skip_past(scanner, "]]>");
	if (starts(scanner, "<?"))
		return skip_past(scanner, "?>");

	size_t end = tag_end(scanner);

	if (!end)
		return false;
	if (!starts(scanner, "</"))
		read_start_tag(scanner, end);
	else if (!read_end_tag(scanner, end))
		return false;
	move(scanner, end);
	return true;
}

int vm_xml_scan(struct arena *arena, const char *text, size_t size, struct vm_xml_scan *ret, struct err *err)
{
	struct scanner scanner = {.text = text, .size = size, .line = 1, .arena = arena, .open = -1};

	for (;;) {
		const char *next = memchr(text + scanner.at, '<', size - scanner.at);

		if (!next)
			break;
		move(&scanner, (size_t)(next - text));
		if (!read_markup(&scanner))
			return err_set_at(err, EINVAL, "", scanner.line, 0, "markup that does not end");
	}
	if (scanner.open >= 0)
		return err_set(err, EINVAL, "", "an element that does not end");
	*ret = (struct vm_xml_scan){text, size, scanner.elements, scanner.count};
	return 0;
}

bool vm_xml_is(const struct vm_xml_scan *scan, int element, const char *name)
{
	const struct vm_xml_element *it = &scan->elements[element];

	return it->name_size == strlen(name) && memcmp(scan->text + it->start + 1, name, it->name_size) == 0;
}

int vm_xml_child(const struct vm_xml_scan *scan, int parent, const char *name, int after)
{
	/* Descendants follow their ancestor without a gap. */
	for (int i = MAX_OF(parent, after) + 1; i < scan->count; i++) {
		if (parent >= 0 && scan->elements[i].start >= scan->elements[parent].end)
			break;
		if (scan->elements[i].parent == parent && vm_xml_is(scan, i, name))
			return i;
	}
	return -1;
}
