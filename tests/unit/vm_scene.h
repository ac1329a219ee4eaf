/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a machine with VMs that run, for tests of changing them: two of a libvirt that is none (fake_libvirt.h), and one
 * of plain QEMU. CPUs 0-15 in L3 groups of 4.
 *
 *   web    libvirt's: 4 vCPUs on 4-7, emulator 0-1, I/O thread 1 on 2, a vhost thread on 0-1; memory restrictive
 *   db     libvirt's: 2 vCPUs on 8-9, emulator 0-1
 *   plain  2 vCPUs that float, an I/O thread "disk0"
 */
#ifndef HVTUNE_TEST_VM_SCENE_H
#define HVTUNE_TEST_VM_SCENE_H

#include "fake_libvirt.h"
#include "knob_vm.h"
#include "tree.h"

enum { SCENE_WEB = 1000, SCENE_DB = 2000, SCENE_PLAIN = 3000, SCENE_VHOST = 1007, SCENE_IOTHREAD = 1005 };
#define SCENE_WEB_UUID "11111111-2222-4333-8444-555555555555"

struct vm_scene {
	struct tree *tree;
	struct fake_libvirt *libvirt; /* its controls */
	long calls;		      /* passes of the gate so far */
	long kill_at;		      /* the pass at which the process kills itself; 0: never */
	long fail_at;		      /* the pass before a call that fails with fail_errnum */
	int fail_errnum;
	char log[16384]; /* "virDomainPinVcpuFlags 4" of each change, a line each */
};

void vm_scene_start(struct vm_scene *scene);
void vm_scene_stop(struct vm_scene *scene);

struct sys_write_gate vm_scene_gate(struct vm_scene *scene);

/* The affinity of a thread, as /proc has it. */
const char *vm_scene_affinity(const struct vm_scene *scene, int pid, int tid);
/* As somebody else sets it, past libvirt. */
void vm_scene_taskset(struct vm_scene *scene, int pid, int tid, const char *cpus);

/* A file below the root, in a buffer that the next call but three uses again. */
const char *vm_scene_read(const struct vm_scene *scene, const char *path);
void vm_scene_write(struct vm_scene *scene, const char *path, const char *contents);
void vm_scene_remove(struct vm_scene *scene, const char *path); /* a missing one is fine */

/* The VM ends and is started again: another process, with the pins of its definition (web's). */
void vm_scene_restart_web(struct vm_scene *scene);

/* A layout: vCPUs one to one on the CPUs of a list in order, service threads on another. */
struct vm_layout vm_scene_layout(struct arena *arena, const char *name, const char *cpus, const char *service,
				 const char *nodes);

#endif
