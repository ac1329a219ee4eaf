/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_xml_order.h. */
#include "vm_xml_order.h"

#include <string.h>

/* The usual order of children, as libvirt writes them; its schema takes any. */
static const struct {
	const char *parent, *children;
} orders[] = {
    {"domain",
     "name uuid genid title description metadata maxMemory memory currentMemory blkiotune memtune memoryBacking "
     "vcpu vcpus iothreads iothreadids defaultiothread cputune numatune resource sysinfo bootloader os idmap "
     "features cpu clock devices"},
    {"cputune",
     "shares period quota global_period global_quota emulator_period emulator_quota iothread_period "
     "iothread_quota vcpupin emulatorpin iothreadpin vcpusched iothreadsched emulatorsched cachetune memorytune"},
    {"memoryBacking", "hugepages nosharepages locked source access allocation discard"},
    {"numatune", "memory memnode"},
    {"cpu", "arch model vendor topology cache maxphysaddr feature numa"},
    {"interface", "mac source virtualport script target guest ip model driver"},
    {"disk", "driver"},
};

/* The number of a word in a list of words, or -1. */
static int rank_of(const char *words, const char *word, size_t size)
{
	for (int rank = 0; *words; rank++) {
		size_t length = strcspn(words, " ");

		if (length == size && memcmp(words, word, size) == 0)
			return rank;
		words += length + (words[length] == ' ');
	}
	return -1;
}

static const char *order_of(const struct vm_xml_scan *scan, int parent)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (vm_xml_is(scan, parent, orders[i].parent))
			return orders[i].children;
	return "";
}

int vm_xml_usual_place(const struct vm_xml_scan *scan, int parent, const char *name)
{
	const char *order = order_of(scan, parent);
	int rank = rank_of(order, name, strlen(name)), found = -1;

	for (int i = parent + 1; i < scan->count && scan->elements[i].start < scan->elements[parent].end; i++) {
		const struct vm_xml_element *it = &scan->elements[i];

		if (it->parent != parent)
			continue;

		int other = rank_of(order, scan->text + it->start + 1, it->name_size);

		if (rank < 0 || (other >= 0 && other <= rank))
			found = i;
	}
	return found;
}
