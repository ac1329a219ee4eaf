/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what is asked of VMs in words (`hvtune set vm.pins@web1=8-11`) as points: of the threads that run, and of the
 * definition that they are started by.
 */
#ifndef HVTUNE_KNOB_VM_ASK_H
#define HVTUNE_KNOB_VM_ASK_H

#include "knob.h"

/* As `expand` of struct knob. Knobs called vm.X change what runs and what is defined, vm.X.next only the latter. */
int knob_vm_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		   struct knob_points *points, struct err *err);

/* As `check`: without a value knob_vm_expand() only tells what there is. */
int knob_vm_check(struct knob_machine *machine, const struct knob_point *point, struct err *err);

#endif
