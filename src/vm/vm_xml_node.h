/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the readers of domain XML share: children by name, attributes as numbers, switches, sizes and sets. For use
 * inside src/vm only. Texts that are returned live in the VM's arena.
 */
#ifndef HVTUNE_VM_XML_NODE_H
#define HVTUNE_VM_XML_NODE_H

#include <libxml/tree.h>

#include "vm_xml_scan.h"

struct vm_xml_reader {
	struct vm *vm;
	struct vm_xml_scan scan; /* no elements when the encoding does not allow it */
	struct err *err;
	int failed; /* first negative errno; err is filled then */
};

/* The first child element with that name and without a namespace, or NULL. `node` may be NULL. */
xmlNode *vm_xml_first(const xmlNode *node, const char *name);
/* The next sibling with the name of `node`. */
xmlNode *vm_xml_next(const xmlNode *node);
/* NOLINTBEGIN(bugprone-macro-parentheses): `child` is declared here and cannot stand in parentheses. */
#define VM_XML_EACH(child, node, name)                                                                                 \
	for (xmlNode *child = vm_xml_first(node, name); child; child = vm_xml_next(child))
/* NOLINTEND(bugprone-macro-parentheses) */

/* The element at the end of a path such as "features/kvm/pmu", or NULL. */
xmlNode *vm_xml_at(const xmlNode *node, const char *path);

/* How many children have that name. More than VM_XML_CHILDREN_MAX fail the reader and count as none. */
int vm_xml_count(struct vm_xml_reader *reader, const xmlNode *node, const char *name);

bool vm_xml_named(const xmlNode *node, const char *name);
struct vm_place vm_xml_place(const struct vm_xml_reader *reader, const xmlNode *node);

/* NULL when the node is NULL, has no such attribute, or it is empty. */
const char *vm_xml_attribute(struct vm_xml_reader *reader, const xmlNode *node, const char *name);
/* The text inside, without white space around it; NULL when there is none. */
const char *vm_xml_text(struct vm_xml_reader *reader, const xmlNode *node);

/* A whole number within the limits, else `otherwise`, and a note that tells of it. */
int64_t vm_xml_number(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t min, int64_t max,
		      int64_t otherwise);
/* As libvirt reads addresses: 0x for hexadecimal, 0 for octal. */
int64_t vm_xml_number_any_base(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t max,
			       int64_t otherwise);
/* yes/on/no/off as 1 and 0; -1 when it is not given or another word. */
int vm_xml_switch(struct vm_xml_reader *reader, const xmlNode *node, const char *name);

/* A set of CPUs or nodes; not given when there is no such attribute; text and a note when it cannot be understood. */
struct vm_set vm_xml_set(struct vm_xml_reader *reader, const xmlNode *node, const char *name);

/*
 * The size in the attribute `name`, NULL: in the text of the element, with the unit that its attribute "unit" names, as
 * vm_xml_size_kib(). A note tells of what is no size; none tells of what is not given.
 */
int64_t vm_xml_size(struct vm_xml_reader *reader, const xmlNode *node, const char *name, int64_t otherwise);

/*
 * A size with libvirt's unit words: b, bytes, and K to E as powers of 1024 ("k", "KiB") or of 1000 ("KB"), in any case
 * (virScaleInteger of libvirt). No unit means KiB. Rounded up to KiB; `otherwise` when number or unit are no size.
 */
int64_t vm_xml_size_kib(const char *number, const char *unit, int64_t otherwise);

#endif
