/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of vm_proxmox*.c share: a configuration as its settings, and the words of QEMU's command line
 * that are made from it. Reading those words with the reader of QEMU lines is what makes both read as the same VM.
 */
#ifndef HVTUNE_VM_PROXMOX_INTERNAL_H
#define HVTUNE_VM_PROXMOX_INTERNAL_H

#include "vm_proxmox.h"
#include "vm_qemu_internal.h"

struct pve_setting {
	const char *key, *value; /* "scsi0", "local:100/vm.qcow2,cache=none" */
	unsigned line, column;	 /* of the value */
};

struct pve_section {
	const char *name;     /* "PENDING", a snapshot's, "special:cloudinit" */
	unsigned first, last; /* lines, with the header */
};

struct pve_conf {
	struct arena *arena;
	const char *path;
	struct err *err;
	struct pve_setting *settings; /* of the current configuration */
	int count;
	struct pve_section *sections;
	int section_count;
	struct vm_place taskset_place; /* of a "cpu_taskset LIST" in the description */
	const char *taskset;	       /* NULL: there is none */
	unsigned odd_line;	       /* the first line that is no setting, 0: none */
	const char *vmid;	       /* NULL: the file's name tells none */
	struct qemu_words words;       /* made for QEMU */
};

/* Cut a text into settings. -EINVAL when it holds none that is known, -E2BIG when it is too long. */
int pve_conf_parse(struct pve_conf *conf, const char *text, size_t size);

/* The last setting of that name, or NULL; and its value. */
const struct pve_setting *pve_setting(const struct pve_conf *conf, const char *key);
const char *pve_value(const struct pve_conf *conf, const char *key);

/* A number of least..most: the setting's, or `otherwise`. -EINVAL with err for what is none. */
int pve_number(const struct pve_conf *conf, const char *key, int otherwise, int least, int most, int *ret);

/* The setting as a switch: 1, 0, or `otherwise`. */
bool pve_switch(const struct pve_conf *conf, const char *key, bool otherwise);

/* The properties of a value, "file=x,cache=none"; the first may stand without the name `implied`. */
int pve_properties(const struct pve_conf *conf, const struct pve_setting *setting, const char *implied,
		   struct qemu_options *ret);

/* Append an option and its argument; `from` (may be NULL) is the setting that it comes from. */
int pve_add(struct pve_conf *conf, const struct pve_setting *from, const char *option, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* ";" to "," with "key=" before each: "0-3;8" is "cpus=0-3,cpus=8". */
const char *pve_each(struct arena *arena, const char *key, const char *list);

/* 0: not Windows, else the version that decides on enlightenments: 5 (XP), 6 (Vista) ... 11. */
int pve_windows(const struct pve_conf *conf);

/* A VM of another architecture, which is emulated; and one that KVM runs. */
bool pve_is_foreign(const struct pve_conf *conf);
bool pve_has_kvm(const struct pve_conf *conf);

/* The parts. 0 or a negative errno. */
int pve_add_machine(struct pve_conf *conf);
int pve_add_cpu(struct pve_conf *conf);
int pve_add_memory(struct pve_conf *conf);
int pve_add_disks(struct pve_conf *conf);
int pve_add_devices(struct pve_conf *conf);

#endif
