/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns machines of any shape for unit tests: the files that a kernel would show for so many packages, nodes, L3 groups,
 * cores and threads, as a tree (see tree.h).
 */
#ifndef HVTUNE_MACHINE_H
#define HVTUNE_MACHINE_H

#include "tree.h"

struct machine {
	int packages, nodes, l3s, cores,
	    threads;	   /* packages; nodes in a package; L3 groups in a node; cores in an L3; threads */
	int family, model; /* 0: no family */
	int l3_kib[8];	   /* of the first L3 groups, 0: 32 MiB */
	int l3_ids[8];	   /* of the first L3 groups, 0: its number */
	const char *name;  /* model name, NULL: "AMD EPYC Test" */
	bool neighbours;   /* siblings are 0,1 instead of N, N + cores */
	bool die_is_ccd;   /* die_cpus are the CPUs of two L3 groups, else the package */
	bool no_caches;
	bool guest; /* the flag "hypervisor" */
};

/* A tree with the files of the machine; more can be added before it is opened. */
struct tree *machine_tree(const struct machine *machine);

#endif
