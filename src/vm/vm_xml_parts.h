/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of the readers of parts of a <domain>. For use inside src/vm only. */
#ifndef HVTUNE_VM_XML_PARTS_H
#define HVTUNE_VM_XML_PARTS_H

#include "vm_xml_node.h"

/* Each reads its part of `domain` into reader->vm; what is wrong beyond repair is in reader->failed. */
void vm_xml_read_vcpus(struct vm_xml_reader *reader, const xmlNode *domain);	 /* <vcpu>, <vcpus> */
void vm_xml_read_iothreads(struct vm_xml_reader *reader, const xmlNode *domain); /* <iothreads>, <iothreadids> */
void vm_xml_read_cputune(struct vm_xml_reader *reader, const xmlNode *domain);	 /* after the two above */
void vm_xml_read_cpu(struct vm_xml_reader *reader, const xmlNode *domain);	 /* <cpu> with its cells */
void vm_xml_read_memory(struct vm_xml_reader *reader, const xmlNode *domain);	 /* after <cpu> */
void vm_xml_read_features(struct vm_xml_reader *reader, const xmlNode *domain);	 /* <features>, <clock> */
void vm_xml_read_devices(struct vm_xml_reader *reader, const xmlNode *domain);	 /* after <iothreads> */

/* The I/O thread with that id, or NULL. */
struct vm_iothread *vm_xml_iothread(const struct vm *vm, int64_t id);

#endif
