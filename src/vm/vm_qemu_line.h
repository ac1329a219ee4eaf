/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading a command line of QEMU as a VM: one line, a script around it, a libvirt log, or the argv of a process.
 *
 * Sources: QEMU's qemu-options.hx and hw/core/machine-smp.c (how omitted members of -smp are computed), taskset(1),
 * numactl(8), chrt(1).
 */
#ifndef HVTUNE_VM_QEMU_LINE_H
#define HVTUNE_VM_QEMU_LINE_H

#include "vm.h"

/*
 * Read a command line. `text` is shell text, or an argv if it holds a NUL (as /proc/PID/cmdline does). The first
 * command that runs QEMU counts; a text that begins with options is taken as its arguments. taskset, numactl and chrt
 * in front of it hold for all threads: taskset becomes vm->cpuset, never pins of vCPUs.
 *
 * Numbers that are shell variables ("-smp $CPUS") are not given, and vm->notes says so; so it does for -readconfig and
 * other things that the line does not tell. -EINVAL with line and column for what is no command line of QEMU or holds a
 * value that QEMU refuses, -E2BIG and -EFBIG for what is too large. The caller frees with vm_free().
 */
int vm_read_qemu_line(const char *path, const char *text, size_t size, struct vm **ret, struct err *err);

/* Does the text hold a command that runs QEMU, or the arguments of one? */
bool vm_looks_like_qemu_line(const char *text, size_t size);

/* Is it the name of a program that is QEMU: "qemu-system-x86_64", "/usr/bin/kvm", "/usr/libexec/qemu-kvm"? */
bool vm_is_qemu_program(const char *program);

#endif
