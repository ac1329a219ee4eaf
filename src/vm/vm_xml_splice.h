/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns changing the text of an XML document at the bytes of its elements, in the style that the text already has. For
 * use inside src/vm only. Elements are indexes of the scan; they hold until the next change.
 */
#ifndef HVTUNE_VM_XML_SPLICE_H
#define HVTUNE_VM_XML_SPLICE_H

#include "vm_xml_scan.h"

struct vm_xml_splicer {
	char *text; /* malloc'd, NUL after `size` */
	size_t size;
	struct arena *arena; /* of the scan and of scraps; renewed with each change */
	struct vm_xml_scan scan;
	char quote;	      /* that attributes have here */
	const char *line_end; /* "\n", "\r\n" */
	const char *path;     /* for messages */
	int failed;	      /* first negative errno */
	struct err *err;
};

/* Copies the text. The splicer is freed with vm_xml_splicer_end(), also after failure. */
int vm_xml_splicer_start(struct vm_xml_splicer *splicer, const char *path, const char *text, size_t size,
			 struct err *err);
void vm_xml_splicer_end(struct vm_xml_splicer *splicer);

/* The first child with that name, or -1; also -1 where parent is. Elements below the outermost only. */
int vm_xml_splicer_child(const struct vm_xml_splicer *splicer, int parent, const char *name);
/* The child called `name` whose attribute `key` is `number`, or -1. */
int vm_xml_splicer_keyed(const struct vm_xml_splicer *splicer, int parent, const char *name, const char *key,
			 int64_t number);
/* The child number `index` of that name, from 0, or -1. */
int vm_xml_splicer_nth(const struct vm_xml_splicer *splicer, int parent, const char *name, int64_t index);

/* The value of an attribute as written, in the scraps; NULL when it is not there. */
const char *vm_xml_splicer_attribute(const struct vm_xml_splicer *splicer, int element, const char *name);

/* Set an attribute; `value` NULL removes it. */
void vm_xml_splicer_set(struct vm_xml_splicer *splicer, int element, const char *name, const char *value);
/* Set what stands between the tags. */
void vm_xml_splicer_set_text(struct vm_xml_splicer *splicer, int element, const char *text);
/* Put other markup in the place of an element. */
void vm_xml_splicer_replace(struct vm_xml_splicer *splicer, int element, const char *markup);
/* Remove an element, with its lines where it stands alone on them. -1 is allowed. */
void vm_xml_splicer_remove(struct vm_xml_splicer *splicer, int element);
/*
 * Put <name/> into the parent, behind child `after`, or as the first one (-1), on a line of its own where the
 * neighbours have one. Returns the new element.
 */
int vm_xml_splicer_insert(struct vm_xml_splicer *splicer, int parent, int after, const char *name);

#endif
