/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns changing a domain XML without touching anything else: edits are spliced into the text at the bytes of the
 * elements that they are about; everything else, its order, indentation, quotes, comments and line ends, stays as it
 * is.
 */
#ifndef HVTUNE_VM_XML_EDIT_H
#define HVTUNE_VM_XML_EDIT_H

#include "vm.h"

enum vm_xml_edit_kind {
	VM_XML_VCPU_CPUSET,   /* <vcpu cpuset>: `set`; numad's placement='auto' ends with it */
	VM_XML_VCPU_PIN,      /* vcpupin of vCPU `index`: `set` */
	VM_XML_EMULATOR_PIN,  /* emulatorpin: `set` */
	VM_XML_IOTHREAD_PIN,  /* iothreadpin of I/O thread `index`: `set` */
	VM_XML_IOTHREADS,     /* <iothreads>: `count`; 0 removes it */
	VM_XML_NUMA_MEMORY,   /* <numatune><memory>: `word` is the mode, `set` the host nodes */
	VM_XML_MEMNODE,	      /* <memnode> of guest cell `index`: the same */
	VM_XML_HUGEPAGES,     /* <hugepages>: `pages`, `count`; count 0: the host's default size */
	VM_XML_CPU_MODE,      /* <cpu mode>: `word` */
	VM_XML_TOPOLOGY,      /* <topology>: `topology` */
	VM_XML_CELLS,	      /* <numa>: `cells`, `count`; distances where a cell has them, else left as they are */
	VM_XML_CPU_CACHE,     /* <cpu><cache>: `word` is the mode, `index` the level, 0 for none */
	VM_XML_CPU_FEATURE,   /* <cpu><feature> called `name`: `word` is the policy */
	VM_XML_NIC_QUEUES,    /* <driver queues> of NIC `index`, counted from 0: `count`; 0 removes it */
	VM_XML_DISK_IOTHREAD, /* <driver iothread> of disk `index`, counted from 0: `count` is the id; 0 removes it */
};

struct vm_xml_topology {
	int sockets, dies, clusters, cores, threads;
};

/* What is to be; the fields that the kind does not name are not looked at. Nothing is taken over. */
struct vm_xml_edit {
	enum vm_xml_edit_kind kind;
	bool remove; /* the element, or the attribute of <vcpu>; not for kinds with a count and for VM_XML_CPU_MODE */
	int64_t index;
	int count;
	struct cpuset set;
	const char *word, *name;
	struct vm_xml_topology topology;
	const struct vm_pages *pages;
	const struct vm_cell *cells;
};

/*
 * Apply the edits, in their order, to a text that holds a <domain>, in an encoding that extends ASCII. An edit that the
 * text fulfils already changes nothing, so that without changes the result is the same bytes. The result is read again
 * and each edit is looked for in it. *ret_text lives in the arena and ends with a NUL that is not in *ret_size.
 *
 * -EINVAL on texts that vm_read_libvirt_xml() refuses, on edits of things that are not there (NIC 7 of 2) and on edits
 * that the text still does not fulfil (two vcpupin of one vCPU); -EOPNOTSUPP on <domstatus>, snapshots and UTF-16.
 */
int vm_xml_edit(struct arena *arena, const char *path, const char *text, size_t size, const struct vm_xml_edit *edits,
		int count, const char **ret_text, size_t *ret_size, struct err *err);

/* Does the VM fulfil the edit? */
bool vm_xml_edit_holds(const struct vm *vm, const struct vm_xml_edit *edit);

#endif
