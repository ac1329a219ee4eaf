/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the accessors to elements and attributes that the readers of domain XML share. */
#include "vm_xml_node.h"

#include <ctype.h>
#include <inttypes.h>
#include <errno.h>
#include <strings.h>

#include "text.h"
#include "vm_xml.h"

bool vm_xml_named(const xmlNode *node, const char *name)
{
	return node && node->type == XML_ELEMENT_NODE && !node->ns && text_equal((const char *)node->name, name);
}

static xmlNode *find(xmlNode *node, const char *name)
{
	while (node && !vm_xml_named(node, name))
		node = node->next;
	return node;
}

xmlNode *vm_xml_first(const xmlNode *node, const char *name)
{
	return node ? find(node->children, name) : NULL;
}

xmlNode *vm_xml_next(const xmlNode *node)
{
	return find(node->next, (const char *)node->name);
}

xmlNode *vm_xml_at(const xmlNode *node, const char *path)
{
	char name[64];
	xmlNode *found = NULL;

	for (;;) {
		size_t length = strcspn(path, "/");

		if (length >= sizeof(name))
			return NULL;
		memcpy(name, path, length);
		name[length] = '\0';
		found = vm_xml_first(node, name);
		if (!found || !path[length])
			return found;
		node = found;
		path += length + 1;
	}
}

int vm_xml_count(struct vm_xml_reader *reader, const xmlNode *node, const char *name)
{
	int count = 0;

	VM_XML_EACH (child, node, name) {
		if (++count <= VM_XML_CHILDREN_MAX)
			continue;

		struct vm_place place = vm_xml_place(reader, child);

		if (!reader->failed)
			reader->failed = err_set_at(reader->err, E2BIG, reader->vm->path, place.line, place.column,
						    "more than %d <%s> in one place", VM_XML_CHILDREN_MAX, name);
		return 0;
	}
	return count;
}

struct vm_place vm_xml_place(const struct vm_xml_reader *reader, const xmlNode *node)
{
	const struct vm_xml_element *element = node ? node->_private : NULL;

	(void)reader;
	if (element)
		return element->place;

	long line = node ? xmlGetLineNo(node) : 0;

	return (struct vm_place){line > 0 ? (unsigned)line : 0, 0};
}

const char *vm_xml_attribute(struct vm_xml_reader *reader, const xmlNode *node, const char *name)
{
	xmlChar *value = node ? xmlGetNoNsProp(node, (const xmlChar *)name) : NULL;
	const char *copy = value && *value ? arena_strdup(reader->vm->arena, (const char *)value) : NULL;

	xmlFree(value);
	return copy;
}

const char *vm_xml_text(struct vm_xml_reader *reader, const xmlNode *node)
{
	xmlChar *value = node ? xmlNodeGetContent(node) : NULL;
	const char *copy = value ? text_trim(reader->vm->arena, (const char *)value) : NULL;

	xmlFree(value);
	return copy && *copy ? copy : NULL;
}

/* What is written but cannot be understood is told; it counts as not given. */
static void note_bad(struct vm_xml_reader *reader, const xmlNode *node, const char *name, const char *text,
		     const char *wanted)
{
	vm_add_note(reader->vm, vm_xml_place(reader, node),
		    arena_printf(reader->vm->arena, "<%s %s=\"%.60s\"> is no %s", (const char *)node->name, name, text,
				 wanted));
}

static int64_t number_of(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int base, int64_t min,
			 int64_t max, int64_t otherwise)
{
	const char *text = vm_xml_attribute(reader, node, name);
	int64_t number = 0;

	if (!text)
		return otherwise;
	if (text_int(text, base, &number) < 0) {
		note_bad(reader, node, name, text, "number");
		return otherwise;
	}
	if (number >= min && number <= max)
		return number;
	note_bad(reader, node, name, text,
		 max < INT32_MAX ? arena_printf(reader->vm->arena, "number from %" PRId64 " to %" PRId64, min, max)
		 : number < min	 ? arena_printf(reader->vm->arena, "number of at least %" PRId64, min)
				 : "number that libvirt takes");
	return otherwise;
}

int64_t vm_xml_number(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t min, int64_t max,
		      int64_t otherwise)
{
	return number_of(reader, node, name, 10, min, max, otherwise);
}

int64_t vm_xml_number_any_base(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t max,
			       int64_t otherwise)
{
	return number_of(reader, node, name, 0, 0, max, otherwise);
}

int vm_xml_switch(struct vm_xml_reader *reader, const xmlNode *node, const char *name)
{
	const char *text = vm_xml_attribute(reader, node, name);

	if (text_equal(text, "on") || text_equal(text, "yes"))
		return 1;
	return text_equal(text, "off") || text_equal(text, "no") ? 0 : -1;
}

struct vm_set vm_xml_set(struct vm_xml_reader *reader, const xmlNode *node, const char *name)
{
	const char *text = vm_xml_attribute(reader, node, name);
	struct vm_set set = {.place = vm_xml_place(reader, node)};

	if (!text)
		return (struct vm_set){0};
	set.given = vm_parse_cpuset(text, &set.set, NULL) == 0;
	if (!set.given) {
		set.text = text;
		note_bad(reader, node, name, text, "set of CPUs or nodes");
	}
	return set;
}

static bool read_unit(const char *unit, uint64_t *ret)
{
	static const char letters[] = "kmgtpe";
	const char *letter = NULL;
	uint64_t base = 1024, factor = 1;

	if (!unit) {
		*ret = 1024;
		return true;
	}
	if (strcasecmp(unit, "b") == 0 || strcasecmp(unit, "byte") == 0 || strcasecmp(unit, "bytes") == 0) {
		*ret = 1;
		return true;
	}
	letter = strchr(letters, tolower((unsigned char)unit[0]));
	if (!letter)
		return false;
	if (strcasecmp(unit + 1, "b") == 0)
		base = 1000;
	else if (unit[1] && strcasecmp(unit + 1, "ib") != 0)
		return false;
	for (const char *at = letters; at <= letter; at++)
		factor *= base;
	*ret = factor;
	return true;
}

int64_t vm_xml_size_kib(const char *number, const char *unit, int64_t otherwise)
{
	int64_t count = 0;
	uint64_t factor = 0, bytes = 0;

	if (!number || text_int(number, 10, &count) < 0 || count < 0 || !read_unit(unit, &factor) ||
	    __builtin_mul_overflow((uint64_t)count, factor, &bytes))
		return otherwise;
	return (int64_t)(bytes / 1024 + (bytes % 1024 != 0));
}

int64_t vm_xml_size(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t otherwise)
{
	const char *text = name ? vm_xml_attribute(reader, node, name) : vm_xml_text(reader, node);
	const char *unit = vm_xml_attribute(reader, node, "unit");
	int64_t kib = vm_xml_size_kib(text, unit, -1);

	if (kib >= 0 || !node || (name && !text))
		return kib >= 0 ? kib : otherwise;
	const char *with_unit =
	    arena_printf(reader->vm->arena, "%.60s%s%.20s", text ? text : "", unit ? " " : "", unit ? unit : "");

	if (name)
		note_bad(reader, node, name, with_unit, "size");
	else
		vm_add_note(reader->vm, vm_xml_place(reader, node),
			    arena_printf(reader->vm->arena, "<%s> holds \"%s\", which is no size",
					 (const char *)node->name, with_unit));
	return otherwise;
}
