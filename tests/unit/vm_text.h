/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns VMs as text for unit tests: one line "field: value" for all that is declared in a VM, so that two of them can be
 * compared and what differs is told by name.
 */
#ifndef HVTUNE_VM_TEXT_H
#define HVTUNE_VM_TEXT_H

#include "vm.h"

struct vm_text {
	const char **lines; /* sorted but for lists that have an order; `count` entries */
	int count;
};

/* What is declared; not where it stands, nor what runs. In `arena`. */
struct vm_text vm_text(struct arena *arena, const struct vm *vm);

#endif
