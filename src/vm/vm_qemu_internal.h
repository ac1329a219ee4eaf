/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of vm_qemu_*.c share: a command line becomes a list of options in their order, then each file
 * fills its part of the VM from that list. The reader of Proxmox confs makes such words too.
 */
#ifndef HVTUNE_VM_QEMU_INTERNAL_H
#define HVTUNE_VM_QEMU_INTERNAL_H

#include "vm_qemu_line.h"
#include "vm_qemu_options.h"

struct qemu_given {
	const char *option; /* without dashes: "device"; "" for a disk image without an option */
	struct qemu_word word;
	struct qemu_options options; /* only of options that have properties, see qemu_reader_take() */
	const char *first;	     /* value of the implied property: driver of -device, type of -object; else NULL */
};

struct qemu_reader {
	struct vm *vm;
	struct arena *arena; /* the VM's */
	const char *path;
	struct err *err;
	struct qemu_given *given;
	int count;
	bool kvm; /* the program is one that turns KVM on by itself */
};

/* Take the words of a command from `first` (the one behind the program) on, and fill vm from them. */
int qemu_reader_read(struct qemu_reader *reader, const struct qemu_words *words, int first);

/* The commands in front of QEMU: taskset, numactl, chrt... `program` is the index of QEMU's own word. */
int qemu_read_front(struct qemu_reader *reader, const struct qemu_words *words, int program);

/* The parts, in the order in which they are filled. 0 or a negative errno with err. */
int qemu_fill_machine(struct qemu_reader *reader);
int qemu_fill_cpu(struct qemu_reader *reader);
int qemu_fill_smp(struct qemu_reader *reader);
int qemu_fill_memory(struct qemu_reader *reader);
int qemu_fill_cells(struct qemu_reader *reader);
int qemu_fill_threads(struct qemu_reader *reader);
int qemu_fill_disks(struct qemu_reader *reader);
int qemu_fill_devices(struct qemu_reader *reader);
int qemu_fill_nics(struct qemu_reader *reader);
int qemu_fill_monitors(struct qemu_reader *reader);

/* The next option of that name behind `after` (NULL: the first). NULL at the end. */
const struct qemu_given *qemu_next(const struct qemu_reader *reader, const char *option,
				   const struct qemu_given *after);
const struct qemu_given *qemu_last(const struct qemu_reader *reader, const char *option);
int qemu_count(const struct qemu_reader *reader, const char *option);

/* The option of that name whose property `key` is `value`, or NULL. */
const struct qemu_given *qemu_find(const struct qemu_reader *reader, const char *option, const char *key,
				   const char *value);

struct vm_place qemu_place(const struct qemu_given *given);

/*
 * A number or size of 0..most in a property. 1 with *ret set; 0 when it is absent (`text` NULL), or is a shell
 * variable, which is noted; negative with err when it is no number. Sizes are told in bytes; `unit` is that of a bare
 * number.
 */
int qemu_number(struct qemu_reader *reader, const struct qemu_given *given, const char *text, int64_t most,
		int64_t *ret);
int qemu_bytes(struct qemu_reader *reader, const struct qemu_given *given, const char *text, int64_t unit,
	       int64_t *ret);

/* The same for a list of CPUs or nodes; also from several properties of the name `key`. Not understood: kept as text.
 */
struct vm_set qemu_list(struct qemu_reader *reader, const struct qemu_given *given, const char *key);

/* Number of the I/O thread with this object name, -1 if there is none. Counts one more user of it. */
int64_t qemu_use_iothread(struct qemu_reader *reader, const char *name);

/* How many different I/O threads a device's iothread-vq-mapping names. Counts the users. */
int qemu_use_mapping(struct qemu_reader *reader, const struct qemu_options *options);

/* Remember something that the reader of the VM should know. */
void qemu_note(struct qemu_reader *reader, struct vm_place place, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
