/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing a first study file for a machine: the settings that can be studied there, with comments. */
#ifndef HVTUNE_STUDY_NEW_H
#define HVTUNE_STUDY_NEW_H

#include "knob.h"
#include "meter.h"

/* What else the machine has; each may be NULL: it is not known. */
struct study_new_facts {
	const char *command;		/* the workload, for the shell; NULL: two that are known by name */
	const char *const *vms;		/* names of its VMs, ended by NULL */
	const struct meter_set *meters; /* what it can be measured with */
};

/*
 * The text of a study file that study_read() takes, with comments, in the machine's arena. It has the levels that can
 * be set there, those that exclude each other under "never", and as comments what takes a boot or a VM. Where nothing
 * can be changed without a boot, a factor with two hooks shows the form.
 */
const char *study_new(struct knob_machine *machine, const struct study_new_facts *facts);

#endif
