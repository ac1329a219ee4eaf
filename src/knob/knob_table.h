/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the table of knobs is put together: one part for each subject, each ended by NULL. */
#ifndef HVTUNE_KNOB_TABLE_H
#define HVTUNE_KNOB_TABLE_H

#include "knob.h"

/* For actuators of their own over such a file: see struct knob_actuator. */
int knob_get_value(struct knob_machine *machine, const char *where, const char **ret, struct err *err);
int knob_set_value(struct knob_machine *machine, const char *where, const char *text, struct err *err);

const char *knob_raw_value(struct arena *arena, const char *text); /* the text itself */

/*
 * For `expand`: the points of `ask` at a path in which '*' is the number of an instance, of the kind of knob->unit.
 * Errors as of `expand`.
 */
int knob_expand_path(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		     const char *path, struct knob_points *points, struct err *err);

/* The path without symbolic links, which the writer refuses; it need not be there. -ELOOP. */
int knob_real_path(struct knob_machine *machine, const char *path, const char **ret, struct err *err);

/* The text of the file `name` beside the file `path`, trimmed; NULL when it cannot be read. Read afresh. */
const char *knob_beside(struct knob_machine *machine, const char *path, const char *name);

/* For `check`: is the word among those that the point's own file lists ("always [madvise] never")? */
int knob_check_choice(struct knob_machine *machine, const struct knob_point *point, struct err *err);

/* For `follow` of what registers the cpufreq driver anew: write again what would be lost. See knob_keep.c. */
int knob_keep_policies(struct knob_machine *machine, const struct knob_point *point, struct knob_following *following,
		       struct err *err);

/* Actuators that more than one part uses. */
extern const struct knob_actuator knob_value_file;  /* a file of the kernel's that holds one text */
extern const struct knob_actuator knob_choice_file; /* "always [madvise] never": the word in brackets */
extern const struct knob_actuator knob_switch_file; /* Y or N: "on" and "off" */
extern const struct knob_actuator knob_cpus_file;   /* a CPU list; lists that mean the same are the same */
extern const struct knob_actuator knob_whole_file;  /* a whole file of settings; NULL: there is none */
extern const struct knob_actuator knob_vm_thread;   /* where a thread of a VM runs */
int knob_vm_widen(struct knob_machine *machine, const char *text, const char *value, struct err *err);
extern const struct knob_actuator knob_vm_memory;     /* the nodes that a running VM's memory is confined to */
extern const struct knob_actuator knob_vm_power;      /* whether a VM of libvirt runs */
extern const struct knob_actuator knob_vm_definition; /* the placement in a VM's definition at libvirt */

extern const struct knob *const knob_table_cpu[];
extern const struct knob *const knob_table_idle[];
extern const struct knob *const knob_table_daemon[];
extern const struct knob *const knob_table_memory[];
extern const struct knob *const knob_table_pages[];
extern const struct knob *const knob_table_thp[];
extern const struct knob *const knob_table_kvm[];
extern const struct knob *const knob_table_irq[];
extern const struct knob *const knob_table_nic[];
extern const struct knob *const knob_table_hsmp[];
extern const struct knob *const knob_table_module[];
extern const struct knob *const knob_table_lasting[];
extern const struct knob *const knob_table_boot[];
extern const struct knob *const knob_table_vm[];
extern const struct knob *const knob_table_guest[];

#endif
