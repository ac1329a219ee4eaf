/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns where the elements of a well-formed XML text stand, in bytes, lines and columns: libxml2 knows only the line on
 * which a start tag ends. The text must have passed libxml2, have no document type declaration, and be in an encoding
 * that extends ASCII.
 */
#ifndef HVTUNE_VM_XML_SCAN_H
#define HVTUNE_VM_XML_SCAN_H

#include "vm.h"

struct vm_xml_element {
	size_t start;	   /* of "<" of the start tag */
	size_t inner;	   /* after ">" of the start tag */
	size_t inner_end;  /* of "<" of the end tag; == inner for <empty/> */
	size_t end;	   /* after ">" of the end tag */
	size_t name_size;  /* bytes of the name, which follows "<" */
	int parent;	   /* index, -1 for the outermost */
	bool closed_short; /* <empty/> */
	struct vm_place place;
};

struct vm_xml_scan {
	const char *text;
	size_t size;
	struct vm_xml_element *elements; /* in the order of their start tags */
	int count;
};

/* Is the text in an encoding that can be scanned (no UTF-16 and the like)? */
bool vm_xml_can_scan(const char *text, size_t size);

/* Find all elements; the text must outlive the scan. -EINVAL when the text is not well-formed after all. */
int vm_xml_scan(struct arena *arena, const char *text, size_t size, struct vm_xml_scan *ret, struct err *err);

/* Is the element called `name`? */
bool vm_xml_is(const struct vm_xml_scan *scan, int element, const char *name);

/* The first child with that name after element `after` (-1: the first), or -1. */
int vm_xml_child(const struct vm_xml_scan *scan, int parent, const char *name, int after);

#endif
