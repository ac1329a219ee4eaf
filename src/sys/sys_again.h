/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading the same thing again and again: a file of /sys or /proc, a model-specific register, a counter of perf.
 *It is opened once, and a read is one system call that allocates nothing and is not remembered. Nothing is ever
 *written.
 *
 * Behind a door on a directory a read gives what the file holds now, so that a test may change it between two reads; on
 * an archive it gives the same each time. Registers and counters of such hosts are files too:
 *	/dev/cpu/N/msr		eight bytes at eight times the register's number
 *	/perf/PMU/CONFIG/cpuN	the count as a decimal text; CONFIG is hexadecimal without a prefix
 */
#ifndef HVTUNE_SYS_AGAIN_H
#define HVTUNE_SYS_AGAIN_H

#include <sys/types.h>

#include "sys.h"

enum sys_again_kind {
	SYS_AGAIN_CLOSED,
	SYS_AGAIN_FILE,
	SYS_AGAIN_MSR,
	SYS_AGAIN_PERF,
	SYS_AGAIN_HSMP,
	SYS_AGAIN_FIXED,
};

struct sys_again {
	enum sys_again_kind kind;
	int fd;		   /* -1 for SYS_AGAIN_FIXED */
	const char *fixed; /* the contents of an archive's file, fixed_size bytes */
	size_t fixed_size;
	uint32_t stride;  /* SYS_AGAIN_MSR: bytes from register to register */
	uint32_t message; /* SYS_AGAIN_HSMP */
	uint16_t socket;
};

/* Counters of perf that are read together, so that they are of the same moment. */
enum { SYS_AGAIN_GROUP = 3 };

struct sys_again_group {
	struct sys_again counters[SYS_AGAIN_GROUP];
	size_t count;
};

/* Open a file; it counts as no look. -ENOENT, -EACCES...; no message: what it means is for the caller to say. */
int sys_again_open(struct sys *sys, const char *path, struct sys_again *ret);

/*
 * The registers of a CPU. They are read with sys_again_msr() only. -ENOENT without the module msr, -EACCES or -EPERM
 * without CAP_SYS_RAWIO or under kernel lockdown.
 */
int sys_again_open_msr(struct sys *sys, int cpu, struct sys_again *ret);

/*
 * A counter of perf over all of a CPU (perf_event_open(2) with pid -1, no sampling). `pmu` is the name of the unit and
 * `type` what the kernel calls it. -EACCES without CAP_PERFMON where perf_event_paranoid asks for it; -ENOENT, -EINVAL
 * where there is no such event.
 */
int sys_again_open_perf(struct sys *sys, const char *pmu, uint32_t type, uint64_t config, int cpu,
			struct sys_again *ret);

/* The same for `count` counters of one PMU on one CPU; all or none. */
int sys_again_open_group(struct sys *sys, const char *pmu, uint32_t type, const uint64_t *configs, size_t count,
			 int cpu, struct sys_again_group *ret);

/*
 * Messages of the SMU of a socket by /dev/hsmp (drivers/platform/x86/amd/hsmp), opened for reading only, with which the
 * kernel lets no message through that changes something. Files of other hosts: /hsmp/SOCKET/ID, a decimal text.
 */
int sys_again_open_hsmp(struct sys *sys, int socket, uint32_t message, struct sys_again *ret);

/*
 * Ask for the 32 bits that the message gives. -ETIMEDOUT when the SMU is shut by the BIOS, -ENOMSG when it does not
 * know the message, -ENODEV when there is no such socket, -EBUSY...
 */
int sys_again_hsmp(const struct sys_again *again, uint32_t *ret);

/* Allow this process `count` more open files, as far as the hard limit goes; 0 when that is enough, else -EMFILE. */
int sys_again_room(size_t count);

void sys_again_close_group(struct sys_again_group *group);
void sys_again_close(struct sys_again *again); /* a closed one and a zeroed one too */

/*
 * Read from the start, at most room - 1 bytes, with a NUL after them. Returns how many, or the negative errno that the
 * driver gives (-EAGAIN of a sensor that has no value yet, -EIO...). -E2BIG when there is more.
 */
ssize_t sys_again_read(const struct sys_again *again, char *buffer, size_t room);

/* The same for a file that holds a whole decimal number that is not negative. -EBADMSG when it holds something else. */
int sys_again_number(const struct sys_again *again, uint64_t *ret);

/* A register of one that sys_again_open_msr() opened. -EIO: this CPU has no such register. */
int sys_again_msr(const struct sys_again *again, uint32_t number, uint64_t *ret);

/* The count of one that sys_again_open_perf() opened. -EAGAIN when the counter had to be shared and did not always run.
 */
int sys_again_perf(const struct sys_again *again, uint64_t *ret);

/* All counts of a group, in its order. */
int sys_again_group(const struct sys_again_group *group, uint64_t *ret_counts);

#endif
