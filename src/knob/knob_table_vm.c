/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of VMs. What runs is changed by vm.X, which changes the definition with it where there is one;
 * vm.X.next changes only that. Sources: formatdomain.rst of libvirt (cputune, numatune), sched_setaffinity(2), cpuset
 * in Documentation/admin-guide/cgroup-v2.rst of Linux.
 */
#include "knob_table.h"
#include "knob_vm_ask.h"
#include "knob_vm_declared.h"

#define NEXT_START "the next start of the VM"

/* NOLINTBEGIN(bugprone-macro-parentheses): strings cannot stand in parentheses. */
/* A thread of a VM that runs. */
#define THREAD(words, form)                                                                                            \
	.summary = words, .value = form, .scope = KNOB_VM, .unit = KNOB_OF_NAMES, .actuator = &knob_vm_thread,         \
	.expand = knob_vm_expand, .check = knob_vm_check, .rank = KNOB_RANK_VM, .widen = knob_vm_widen

/* A setting of a definition. */
#define DECLARED(words, form)                                                                                          \
	.summary = words, .value = form, .scope = KNOB_CONFIG, .unit = KNOB_OF_NAMES, .actuator = &knob_vm_declared,   \
	.expand = knob_vm_expand, .check = knob_vm_check, .rank = KNOB_RANK_VM

/* NOLINTEND(bugprone-macro-parentheses) */

static const struct knob emulator = {
    .name = "vm.emulator",
    THREAD("where the other threads of a VM run: QEMU's own and vhost's", "CPU list"),
};

static const struct knob emulator_next = {
    .name = "vm.emulator.next",
    DECLARED("the same from its next start on", "CPU list"),
};

static const struct knob iothreads = {
    .name = "vm.iothreads",
    THREAD("where the I/O threads of a VM run", "CPU list"),
};

static const struct knob iothreads_next = {
    .name = "vm.iothreads.next",
    DECLARED("the same from its next start on", "CPU list"),
};

static const struct knob pins = {
    .name = "vm.pins",
    THREAD("where each vCPU of a VM runs", "a CPU for each vCPU (8-11), or VCPU:CPUS,... (0:8,1:9+10)"),
};

static const struct knob pins_next = {
    .name = "vm.pins.next",
    DECLARED("the same from its next start on", "a CPU for each vCPU (8-11), or VCPU:CPUS,... (0:8,1:9+10)"),
};

static const struct knob memory = {
    .name = "vm.memory",
    .summary = "the nodes that the memory of a VM lies on",
    .value = "node list",
    .scope = KNOB_VM,
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_vm_memory,
    .expand = knob_vm_expand,
    .check = knob_vm_check,
    .rank = KNOB_RANK_VM,
    .hurts = "moving memory copies it page by page while the VM runs; libvirt moves only memory of mode restrictive, "
	     "any other comes with the next start of the VM",
};

static const struct knob memory_next = {
    .name = "vm.memory.next",
    DECLARED("the same from its next start on", "node list"),
};

static const struct knob pages = {
    .name = "vm.pages",
    DECLARED("the pages that back a VM", "4K, 2M, 1G or default"),
    .after = NEXT_START,
    .hurts = "with huge pages the VM only starts when enough of them are free on its nodes",
};

static const struct knob topology = {
    .name = "vm.topology",
    DECLARED("the topology that a guest is shown", "SOCKETSxDIESxCORESxTHREADS (1x2x4x2)"),
    .after = NEXT_START,
    .hurts = "a guest with other cores or sockets may need another licence",
};

static const struct knob queues = {
    .name = "vm.queues",
    DECLARED("queue pairs of each virtio NIC of a VM", "1-256"),
    .after = NEXT_START,
    .hurts = "each queue pair is a vhost thread that runs besides the vCPUs",
};

static const struct knob power = {
    .name = "vm.power",
    .summary = "whether a VM runs; off shuts it down, cut pulls its plug",
    .value = "on|off|cut",
    .words = "on off cut",
    .scope = KNOB_VM,
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_vm_power,
    .expand = knob_vm_power_expand,
    .rank = KNOB_RANK_VM,
    .hurts = "what the guest serves is gone until it is on again; with cut it loses what it has not written yet",
};

static const struct knob definition = {
    .name = "vm.definition",
    .summary = "all of a placement in a VM's definition, as hvtune place writes it",
    .value = "set by hvtune place --apply",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_NAMES,
    .actuator = &knob_vm_definition,
    .expand = knob_vm_expand,
    .check = knob_vm_check,
    .rank = KNOB_RANK_VM,
};

const struct knob *const knob_table_vm[] = {
    &pins,	  &pins_next, &emulator, &emulator_next, &iothreads, &iothreads_next, &memory,
    &memory_next, &pages,     &topology, &queues,	 &power,     &definition,     NULL,
};
