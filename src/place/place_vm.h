/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the way from VMs to the placement problem and back: a request for a VM that exists (struct vm) or that is
 * described in words, and the layout (struct vm_layout) that a plan gives it.
 */
#ifndef HVTUNE_PLACE_VM_H
#define HVTUNE_PLACE_VM_H

#include "place_host.h"
#include "vm_write.h"

/* What VMs get of a core with two threads. */
enum place_vm_smt {
	PLACE_VM_SMT_AS_DECLARED, /* as the VM says; one vCPU a core where it is pinned so now, else exposed */
	PLACE_VM_SMT_EXPOSED,	  /* two vCPUs a core, as siblings */
	PLACE_VM_SMT_ISOLATED,	  /* one vCPU a core, its sibling idle */
	PLACE_VM_SMT_ONE_PER_CORE /* one vCPU a core, its sibling for the VM's own emulator and I/O threads */
};

/*
 * Does the VM have a place already: is each vCPU confined to a set of CPUs, and are these, all together, no more than
 * two for each vCPU? Affinity of running threads counts before what is declared. `ret_cpus` may be NULL.
 */
bool place_vm_has_place(const struct vm *vm, struct cpuset *ret_cpus);

/* The request of a VM that exists. -EINVAL when its number of vCPUs is not known. `vm` must outlive the request. */
int place_request_of_vm(struct arena *arena, const struct host *host, const struct vm *vm, enum place_vm_smt smt,
			enum place_right right, struct place_request *ret, struct err *err);

/*
 * The request of a VM in words, "16vcpu,64G,threads=2,pages=1G,device=0000:41:00.0,prefer=cache": vCPUs and memory by
 * position, the other words in any order (place_vm_words). -EINVAL with the column. `ret_count`: of count=, else 1.
 */
int place_request_of_words(struct arena *arena, const struct host *host, const char *words, struct place_request *ret,
			   int *ret_count, struct err *err);

/* Why a new VM can't have that name, or NULL. */
const char *place_vm_name_problem(struct arena *arena, const char *name);

/* What the words are, for help and messages: "threads=1|2, pages=4K|2M|1G, ...". */
extern const char place_vm_words[];

/*
 * Is the VM larger than an L3 group but not than a node? Then equal parts let the dies of the guest show its L3 groups,
 * which a guest's scheduler needs to know more than it needs the few ns that unequal parts save.
 */
bool place_request_wants_even(const struct host *host, const struct place_request *request);

/* Memory of VM `index` by OS node, plan->os_node_count entries whose sum is that of the VM; NULL when it has none. The
 * plan's own are whole pages of every node, in sum more. */
const int64_t *place_memory(struct arena *arena, const struct place_plan *plan, int index);

/* The layout of VM `index` of the plan, which must be placed. */
struct vm_layout place_layout(struct arena *arena, const struct place_plan *plan, int index, enum place_vm_smt smt);

#endif
