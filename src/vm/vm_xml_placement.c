/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_xml_placement.h. */
#include "vm_xml_placement.h"

#include <errno.h>
#include <libxml/parser.h>

#include "text.h"
#include "vm_xml.h"
#include "vm_xml_node.h"
#include "vm_xml_order.h"
#include "vm_xml_splice.h"

static const char *const parts[] = {"memoryBacking", "vcpu", "cputune", "numatune", "cpu"};

/* ---- take out, put in ---- */

static const char *bytes_of(struct arena *arena, const struct vm_xml_scan *scan, int element)
{
	const struct vm_xml_element *it = &scan->elements[element];

	return arena_strndup(arena, scan->text + it->start, it->end - it->start);
}

/* A text that is a <domain>, and can be changed at its bytes. */
static int start(struct vm_xml_splicer *splicer, const char *path, const char *text, size_t size, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	int r = vm_read_libvirt_xml(path, text, size, &vm, err);

	if (r < 0)
		return r;
	r = vm_xml_splicer_start(splicer, path, text, size, err);
	if (r == 0 && !vm_xml_is(&splicer->scan, 0, "domain"))
		r = err_set(err, EOPNOTSUPP, path, "only a <domain> on its own is changed");
	return r;
}

int vm_xml_placement(struct arena *arena, const char *path, const char *text, size_t size, const char **ret,
		     struct err *err)
{
	struct vm_xml_splicer splicer = {0};
	const char *placement = "<placement>\n";
	int r = start(&splicer, path, text, size, err);

	for (size_t i = 0; i < ARRAY_SIZE(parts) && r == 0; i++) {
		int element = vm_xml_splicer_child(&splicer, 0, parts[i]);

		if (element >= 0)
			placement = arena_printf(arena, "%s  %s\n", placement, bytes_of(arena, &splicer.scan, element));
	}
	vm_xml_splicer_end(&splicer);
	if (r == 0)
		*ret = arena_printf(arena, "%s</placement>\n", placement);
	return r;
}

static void put_part(struct vm_xml_splicer *splicer, const char *name, const char *markup)
{
	int element = vm_xml_splicer_child(splicer, 0, name);

	if (!markup) {
		vm_xml_splicer_remove(splicer, element);
		return;
	}
	if (element < 0)
		element = vm_xml_splicer_insert(splicer, 0, vm_xml_usual_place(&splicer->scan, 0, name), name);
	vm_xml_splicer_replace(splicer, element, markup);
}

int vm_xml_placement_put(struct arena *arena, const char *path, const char *text, size_t size, const char *placement,
			 const char **ret, struct err *err)
{
	struct vm_xml_splicer splicer = {0};
	struct vm_xml_scan scan = {0};
	struct err inner = {0};
	int r = vm_xml_scan(arena, placement, strlen(placement), &scan, &inner);

	if (r < 0 || scan.count == 0 || !vm_xml_is(&scan, 0, "placement"))
		return err_set(err, EINVAL, path, "this is no placement of a VM");
	r = start(&splicer, path, text, size, err);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && r == 0; i++) {
		int element = vm_xml_child(&scan, 0, parts[i], -1);

		put_part(&splicer, parts[i], element < 0 ? NULL : bytes_of(arena, &scan, element));
		r = splicer.failed;
	}
	if (r == 0)
		*ret = arena_strndup(arena, splicer.text, splicer.size);
	vm_xml_splicer_end(&splicer);
	return r;
}

/* ---- compare ---- */

/* Attributes that say nothing with this value. */
static const struct {
	const char *element, *attribute, *value;
} idle[] = {
    {"vcpu", "placement", "static"}, {"memory", "placement", "static"}, {"topology", "dies", "1"},
    {"topology", "clusters", "1"},   {"topology", "modules", "1"},
};

static const char *const sets[] = {"cpuset", "nodeset", "cpus", "vcpus", "iothreads"};

/* Sizes with a unit beside them: attribute `of` is one. */
static const struct {
	const char *element, *of;
} sizes[] = {{"page", "size"}, {"cell", "memory"}};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *value_of(struct arena *arena, const xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name);
	const char *copy = value ? arena_strdup(arena, (const char *)value) : NULL;

	xmlFree(value);
	return copy;
}

static bool is_idle(const char *element, const char *attribute, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		if (text_equal(idle[i].element, element) && text_equal(idle[i].attribute, attribute) &&
		    text_equal(idle[i].value, value))
			return true;
	return false;
}

/* An attribute as "name=value" in one spelling; NULL: it says nothing. */
static const char *plain_attribute(struct arena *arena, const xmlNode *node, const char *name)
{
	const char *element = (const char *)node->name, *value = value_of(arena, node, name);
	struct cpuset set;

	if (!value || is_idle(element, name, value))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!text_equal(sizes[i].element, element))
			continue;
		if (text_equal(name, "unit"))
			return NULL;
		if (text_equal(sizes[i].of, name))
			value = arena_printf(arena, "%lld",
					     (long long)vm_xml_size_kib(value, value_of(arena, node, "unit"), -1));
	}
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (text_equal(sets[i], name) && vm_parse_cpuset(value, &set, NULL) == 0)
			value = cpuset_format(arena, &set);
	return arena_printf(arena, "%s=%s", name, value);
}

static const char *joined(struct arena *arena, const char **texts, size_t count)
{
	char *all, *end;
	size_t size = 1;

	if (count)
		qsort(texts, count, sizeof(*texts), by_text);
	for (size_t i = 0; i < count; i++)
		size += strlen(texts[i]) + 1;
	all = end = arena_alloc(arena, size);
	for (size_t i = 0; i < count; i++)
		end = stpcpy(stpcpy(end, texts[i]), ";");
	return all;
}

/* Empty ones say as much as none. */
static bool says_nothing(const char *name, const char *attributes, const char *children)
{
	return !*attributes && !*children &&
	       (text_equal(name, "memoryBacking") || text_equal(name, "cputune") || text_equal(name, "numatune"));
}

/* An element in one spelling, whatever the order in it; NULL: it says nothing. libxml2 limits the depth. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static const char *plain(struct arena *arena, const xmlNode *node)
{
	size_t attribute_count = 0, child_count = 0, room = 1;
	const char **attributes, **children, *list, *inside, *name = (const char *)node->name;

	for (const xmlAttr *it = node->properties; it; it = it->next)
		room++;
	attributes = ARENA_ARRAY(arena, room, const char *);
	for (const xmlAttr *it = node->properties; it; it = it->next) {
		const char *text = plain_attribute(arena, node, (const char *)it->name);

		if (text)
			attributes[attribute_count++] = text;
	}
	room = 1;
	for (const xmlNode *it = node->children; it; it = it->next)
		room++;
	children = ARENA_ARRAY(arena, room, const char *);
	for (const xmlNode *it = node->children; it; it = it->next) {
		const char *text = it->type == XML_ELEMENT_NODE ? plain(arena, it)
				   : it->type == XML_TEXT_NODE	? text_trim(arena, (const char *)it->content)
								: "";

		if (text && *text)
			children[child_count++] = text;
	}
	list = joined(arena, attributes, attribute_count);
	inside = joined(arena, children, child_count);
	return says_nothing(name, list, inside) ? NULL : arena_printf(arena, "%s(%s){%s}", name, list, inside);
}

static const char *plain_text(struct arena *arena, const char *placement)
{
	xmlDoc *document = xmlReadMemory(placement, (int)MIN_OF(strlen(placement), (size_t)VM_XML_BYTES_MAX), NULL,
					 NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
	const char *text = root ? plain(arena, root) : NULL;

	xmlFreeDoc(document);
	return text;
}

bool vm_xml_placement_same(const char *a, const char *b)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *plain_a, *plain_b;

	if (text_equal(a, b))
		return true;
	plain_a = plain_text(arena, a);
	plain_b = plain_text(arena, b);
	return plain_a && plain_b && text_equal(plain_a, plain_b);
}
