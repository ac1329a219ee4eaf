/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns splicing elements and attributes into the text of an XML document. */
#include "vm_xml_splice.h"

#include <errno.h>

#include "text.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void rescan(struct vm_xml_splicer *splicer)
{
	int status = 0;

	splicer->arena = arena_free(splicer->arena);
	splicer->arena = arena_new();
	splicer->scan = (struct vm_xml_scan){0};
	status = vm_xml_scan(splicer->arena, splicer->text, splicer->size, &splicer->scan, splicer->err);
	if (status < 0 && !splicer->failed)
		splicer->failed = status;
}

/* Replace `cut` bytes at `at` by `text`, which may live in the scraps. */
static void splice(struct vm_xml_splicer *splicer, size_t at, size_t cut, const char *text)
{
	size_t length = strlen(text);
	char *changed = malloc(splicer->size - cut + length + 1);

	if (!changed)
		err_no_memory();

	char *end = mempcpy(changed, splicer->text, at);

	end = mempcpy(end, text, length);
	end = mempcpy(end, splicer->text + at + cut, splicer->size - at - cut);
	*end = '\0';
	free(splicer->text);
	splicer->text = changed;
	splicer->size = splicer->size - cut + length;
	rescan(splicer);
}

/* ---- attributes ---- */

struct attribute {
	size_t start;		 /* of the name */
	size_t value, value_end; /* between the quotes */
	char quote;
};

/* The attribute that starts at or after *at in a start tag; *at moves behind it. False at the end of the tag. */
static bool next_attribute(const struct vm_xml_splicer *splicer, size_t *at, struct attribute *ret)
{
	const char *text = splicer->text;
	const char *end = NULL;

	while (is_blank(text[*at]))
		(*at)++;
	if (text[*at] == '/' || text[*at] == '>' || !text[*at])
		return false;
	ret->start = *at;
	*at += strcspn(text + *at, "\"'");
	ret->quote = text[*at];
	end = ret->quote ? strchr(text + *at + 1, ret->quote) : NULL;
	if (!end)
		return false;
	ret->value = *at + 1;
	ret->value_end = (size_t)(end - text);
	*at = ret->value_end + 1;
	return true;
}

static bool is_named(const struct vm_xml_splicer *splicer, const struct attribute *it, const char *name)
{
	const char *text = splicer->text + it->start;
	size_t length = strlen(name);

	return strncmp(text, name, length) == 0 && (text[length] == '=' || is_blank(text[length]));
}

/* Find an attribute; *ret_last is where another one can be put. */
static bool find_attribute(const struct vm_xml_splicer *splicer, int element, const char *name, struct attribute *ret,
			   size_t *ret_last)
{
	const struct vm_xml_element *it = &splicer->scan.elements[element];
	size_t at = it->start + 1 + it->name_size;

	*ret_last = at;
	while (next_attribute(splicer, &at, ret)) {
		if (is_named(splicer, ret, name))
			return true;
		*ret_last = at;
	}
	return false;
}

const char *vm_xml_splicer_attribute(const struct vm_xml_splicer *splicer, int element, const char *name)
{
	struct attribute it;
	size_t last;

	if (element < 0 || !find_attribute(splicer, element, name, &it, &last))
		return NULL;
	return arena_strndup(splicer->arena, splicer->text + it.value, it.value_end - it.value);
}

static const char *escape(struct arena *arena, const char *value)
{
	static const struct {
		char c;
		const char *as;
	} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\'', "&apos;"}, {'"', "&quot;"}};
	char *copy = arena_alloc(arena, strlen(value) * 6 + 1), *at = copy;

	for (; *value; value++) {
		const char *as = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(escapes); i++)
			if (*value == escapes[i].c)
				as = escapes[i].as;
		if (as)
			at = stpcpy(at, as);
		else
			*at++ = *value;
	}
	return copy;
}

static void remove_attribute(struct vm_xml_splicer *splicer, const struct attribute *it)
{
	size_t start = it->start;

	while (is_blank(splicer->text[start - 1]))
		start--;
	splice(splicer, start, it->value_end + 1 - start, "");
}

void vm_xml_splicer_set(struct vm_xml_splicer *splicer, int element, const char *name, const char *value)
{
	struct attribute it;
	size_t last;

	if (splicer->failed || element < 0)
		return;

	bool found = find_attribute(splicer, element, name, &it, &last);

	if (!value) {
		if (found)
			remove_attribute(splicer, &it);
		return;
	}
	value = escape(splicer->arena, value);
	if (found)
		splice(splicer, it.value, it.value_end - it.value, value);
	else
		splice(splicer, last, 0,
		       arena_printf(splicer->arena, " %s=%c%s%c", name, splicer->quote, value, splicer->quote));
}

/* ---- where elements stand ---- */

int vm_xml_splicer_child(const struct vm_xml_splicer *splicer, int parent, const char *name)
{
	return parent < 0 ? -1 : vm_xml_child(&splicer->scan, parent, name, -1);
}

int vm_xml_splicer_keyed(const struct vm_xml_splicer *splicer, int parent, const char *name, const char *key,
			 int64_t number)
{
	for (int child = vm_xml_splicer_child(splicer, parent, name); child >= 0;
	     child = vm_xml_child(&splicer->scan, parent, name, child)) {
		const char *text = vm_xml_splicer_attribute(splicer, child, key);
		int64_t value = 0;

		if (text && text_int(text, 10, &value) == 0 && value == number)
			return child;
	}
	return -1;
}

int vm_xml_splicer_nth(const struct vm_xml_splicer *splicer, int parent, const char *name, int64_t index)
{
	int child = vm_xml_splicer_child(splicer, parent, name);

	while (child >= 0 && index-- > 0)
		child = vm_xml_child(&splicer->scan, parent, name, child);
	return child;
}

/* The white space before something that is the first on its line; NULL when it is not. */
static const char *indent_of(const struct vm_xml_splicer *splicer, size_t at)
{
	size_t start = at;

	while (start && (splicer->text[start - 1] == ' ' || splicer->text[start - 1] == '\t'))
		start--;
	if (start && splicer->text[start - 1] != '\n')
		return NULL;
	return arena_strndup(splicer->arena, splicer->text + start, at - start);
}

/* The first element inside `parent`, or -1. */
static int first_inside(const struct vm_xml_splicer *splicer, int parent)
{
	return parent + 1 < splicer->scan.count && splicer->scan.elements[parent + 1].parent == parent ? parent + 1
												       : -1;
}

/* What one level of indentation is here: that of the first element inside the outermost. */
static const char *indent_step(const struct vm_xml_splicer *splicer)
{
	int first = first_inside(splicer, 0);
	const char *indent = first < 0 ? NULL : indent_of(splicer, splicer->scan.elements[first].start);
	const char *base = indent_of(splicer, splicer->scan.elements[0].start);

	if (!indent || !base || strlen(indent) <= strlen(base))
		return "  ";
	return indent + strlen(base);
}

/* Behind `at`, and behind a comment that ends the same line. */
static size_t behind_comment(const struct vm_xml_splicer *splicer, size_t at)
{
	const char *text = splicer->text;
	size_t next = at + strspn(text + at, " \t");
	const char *end = strncmp(text + next, "<!--", 4) == 0 ? strstr(text + next, "-->") : NULL;

	if (!end || memchr(text + next, '\n', (size_t)(end - text) - next))
		return at;

	size_t behind = (size_t)(end - text) + 3;

	return text[behind + strspn(text + behind, " \t\r")] == '\n' ? behind : at;
}

static bool all_blank(const struct vm_xml_splicer *splicer, size_t start, size_t end)
{
	while (start < end && is_blank(splicer->text[start]))
		start++;
	return start == end;
}

void vm_xml_splicer_set_text(struct vm_xml_splicer *splicer, int element, const char *text)
{
	if (splicer->failed || element < 0)
		return;

	struct arena *scraps = splicer->arena;
	const struct vm_xml_element *it = &splicer->scan.elements[element];

	text = escape(scraps, text);
	if (!it->closed_short) {
		splice(splicer, it->inner, it->inner_end - it->inner, text);
		return;
	}
	splice(splicer, it->end - 2, 2,
	       arena_printf(scraps, ">%s</%.*s>", text, (int)it->name_size, splicer->text + it->start + 1));
}

void vm_xml_splicer_replace(struct vm_xml_splicer *splicer, int element, const char *markup)
{
	if (splicer->failed || element < 0)
		return;

	const struct vm_xml_element *it = &splicer->scan.elements[element];

	splice(splicer, it->start, it->end - it->start, markup);
}

void vm_xml_splicer_remove(struct vm_xml_splicer *splicer, int element)
{
	if (splicer->failed || element < 0)
		return;

	const struct vm_xml_element *it = &splicer->scan.elements[element];
	size_t start = it->start, end = it->end;
	const char *indent = indent_of(splicer, start);
	size_t line_end = end + strspn(splicer->text + end, " \t\r");

	if (indent && splicer->text[line_end] == '\n') {
		start -= strlen(indent);
		end = line_end + 1;
	}
	splice(splicer, start, end - start, "");
}

/* Into an element without anything inside, which is opened or split for it. */
static void insert_alone(struct vm_xml_splicer *splicer, const struct vm_xml_element *parent, const char *markup)
{
	const char *outer = indent_of(splicer, parent->start), *step = indent_step(splicer);
	const char *line_end = outer ? splicer->line_end : "";
	size_t start = parent->inner, end = parent->inner_end;
	const char *open = "", *name = "", *close = "";

	if (parent->closed_short) {
		start = parent->end - 2;
		while (is_blank(splicer->text[start - 1]))
			start--;
		end = parent->end;
		open = ">";
		name = arena_strndup(splicer->arena, splicer->text + parent->start + 1, parent->name_size);
		close = arena_printf(splicer->arena, "</%s>", name);
	}
	splice(splicer, start, end - start,
	       arena_printf(splicer->arena, "%s%s%s%s%s%s%s%s", open, line_end, outer ? outer : "", outer ? step : "",
			    markup, line_end, outer ? outer : "", close));
}

int vm_xml_splicer_insert(struct vm_xml_splicer *splicer, int parent, int after, const char *name)
{
	if (splicer->failed || parent < 0)
		return -1;

	const struct vm_xml_element *it = &splicer->scan.elements[parent];
	const char *markup = arena_printf(splicer->arena, "<%s/>", name);
	size_t parent_start = it->start;
	int first = first_inside(splicer, parent);

	if (it->closed_short || (first < 0 && all_blank(splicer, it->inner, it->inner_end))) {
		insert_alone(splicer, it, markup);
	} else {
		int neighbour = after >= 0 ? after : first;
		const char *indent = NULL;
		size_t at = behind_comment(splicer, after >= 0 ? splicer->scan.elements[after].end : it->inner);

		if (neighbour >= 0)
			indent = indent_of(splicer, splicer->scan.elements[neighbour].start);
		else if (indent_of(splicer, it->start)) /* only comments are in there */
			indent =
			    arena_printf(splicer->arena, "%s%s", indent_of(splicer, it->start), indent_step(splicer));
		splice(splicer, at, 0,
		       indent ? arena_printf(splicer->arena, "%s%s%s", splicer->line_end, indent, markup) : markup);
	}
	if (splicer->failed)
		return -1;

	/* The new one stands behind `after` and all that it holds. */
	int child = after >= 0 ? after : parent;

	for (int i = child + 1; i < splicer->scan.count && splicer->scan.elements[i].start > parent_start; i++)
		if (splicer->scan.elements[i].parent == parent)
			return i;
	return -1;
}

/* ---- beginning and end ---- */

static char quote_of(const struct vm_xml_splicer *splicer)
{
	struct attribute it;

	for (int i = 0; i < splicer->scan.count; i++) {
		const struct vm_xml_element *element = &splicer->scan.elements[i];
		size_t at = element->start + 1 + element->name_size;

		if (next_attribute(splicer, &at, &it))
			return it.quote;
	}
	return '\'';
}

int vm_xml_splicer_start(struct vm_xml_splicer *splicer, const char *path, const char *text, size_t size,
			 struct err *err)
{
	const char *line = NULL;

	*splicer = (struct vm_xml_splicer){.path = path, .err = err, .size = size, .text = malloc(size + 1)};
	if (!splicer->text)
		err_no_memory();
	memcpy(splicer->text, text, size);
	splicer->text[size] = '\0';
	if (!vm_xml_can_scan(text, size)) {
		splicer->failed = err_set(err, EOPNOTSUPP, path, "only XML in UTF-8 is changed");
		return splicer->failed;
	}
	rescan(splicer);
	splicer->quote = quote_of(splicer);
	line = strchr(splicer->text, '\n');
	splicer->line_end = line && line > splicer->text && line[-1] == '\r' ? "\r\n" : "\n";
	return splicer->failed;
}

void vm_xml_splicer_end(struct vm_xml_splicer *splicer)
{
	free(splicer->text);
	splicer->text = NULL;
	splicer->arena = arena_free(splicer->arena);
}
