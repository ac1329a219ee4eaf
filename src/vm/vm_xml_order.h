/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the order in which the children of a domain's elements usually stand. For use inside src/vm only. */
#ifndef HVTUNE_VM_XML_ORDER_H
#define HVTUNE_VM_XML_ORDER_H

#include "vm_xml_scan.h"

/*
 * The child of `parent` behind which a new one of that name has its place: the last one that comes before it; -1: it is
 * the first. Without an order, new ones come last.
 */
int vm_xml_usual_place(const struct vm_xml_scan *scan, int parent, const char *name);

#endif
