/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing a first study file for a machine, with a comment on each part. */
#ifndef HVTUNE_STUDY_NEW_H
#define HVTUNE_STUDY_NEW_H

#include "knob.h"

/*
 * A study file for the machine: the settings of the running host that can be changed on it with their legal values, and
 * what takes a boot as comments. `command` is the workload, NULL: workloads that are known by name. In the machine's
 * arena; study_read() takes it. The machine is only read.
 */
const char *study_new(struct knob_machine *machine, const char *command);

#endif
