/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the kernel of a simulated machine: a directory with sysfs files, and what Linux moves when one of them is
 * written (amd_pstate rebuilds policies, governor performance forces EPP, dirty_bytes clears dirty_ratio). It plays
 * through the gate of the writer, which is also where a test kills the process or makes a call fail.
 */
#ifndef HVTUNE_TEST_KERNEL_H
#define HVTUNE_TEST_KERNEL_H

#include "knob.h"
#include "tree.h"

enum { KERNEL_CPUS = 3 };

struct kernel {
	struct tree *tree;
	char before[4096]; /* what the file that is being written held */
	long calls;	   /* gate passes so far, those before and those after a call */
	long kill_at;	   /* the pass at which the process kills itself; 0: never */
	long fail_at;	   /* the pass before a call that makes it fail, with fail_errnum; 0: never */
	int fail_errnum;
	const char *fail_path;	 /* every write of this path fails, with fail_errnum; NULL: none */
	const char *bus_address; /* of the bus with its services; NULL: none */
	bool no_trial;		 /* words of the kernel's line go to the default at once */
	const char *vanish_at;	 /* when this path was written, CPU 1's policy is gone; NULL: never */
};

/* A machine in the state that many hosts are in: amd_pstate passive, schedutil. `mode`: its amd_pstate mode. */
void kernel_start(struct kernel *kernel, const char *mode);
/* Another boot: values of the kernel are as at its start, other files stay. */
void kernel_reboot(struct kernel *kernel, const char *mode, const char *boot_id);
void kernel_stop(struct kernel *kernel);

/* The gate that plays it. */
struct sys_write_gate kernel_gate(struct kernel *kernel);

/* Further parts of a machine, for tests that ask for them. */
void kernel_add_x3d(struct kernel *kernel);
void kernel_add_cpu_boost(struct kernel *kernel); /* boost of each CPU */
void kernel_add_idle(struct kernel *kernel);	  /* POLL, C1, C2 of each CPU */
void kernel_add_memory(struct kernel *kernel); /* sizes of THP, khugepaged, KSM with pages merged, parameters of KVM */

/*
 * Interrupts 24 to 26, of which 26 is managed and 24 and 25 are eth0's; irqbalance; the modules kvm and kvm_amd, of
 * which /etc/modprobe.d/kvm.conf sets nested. eth0 has 4 queues, of 8, and gives 2 virtual functions, of 8.
 * Two sockets of EPYC 9005 with HSMP: 225 and 225.5 W of at most 240, power modes 0 and 1, a fabric that may sleep; a
 * file /run/simulated/hsmp-old makes the kernel one before Linux 7.2.
 */
void kernel_add_devices(struct kernel *kernel);

/*
 * Two nodes of 4 GiB with 3 GiB free, and huge pages of 2 MiB and 1 GiB. Memory is in pieces: one write gets at most
 * KERNEL_PIECES pages more, and without compaction the next one gets none.
 */
enum { KERNEL_PIECES = 300 };
void kernel_add_pages(struct kernel *kernel);
/* Let a guest use that many of the pages of 2 MiB that a node has. */
void kernel_use_pages(struct kernel *kernel, int node, int count);

/* Write a file as somebody else would: with all that follows from it. */
void kernel_write(struct kernel *kernel, const char *path, const char *value);
void kernel_read(const struct kernel *kernel, const char *path, char *ret, size_t size);

/* What rules of the simulated kernel are made of; see kernel_rules.h. */
void kernel_put(const struct kernel *kernel, const char *path, const char *value);
void kernel_put_number(const struct kernel *kernel, const char *path, long number);
long kernel_number(const struct kernel *kernel, const char *path); /* 0 when there is none */
bool kernel_exists(const struct kernel *kernel, const char *path);
void kernel_remove(const struct kernel *kernel, const char *path);

/* All files but hvtune's own, one after the other, to compare with; free() it. */
char *kernel_dump(const struct kernel *kernel);

#endif
