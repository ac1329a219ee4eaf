/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the connection to libvirt over which VMs are changed. Its library is loaded when the first VM is asked about.
 * The running machine is changed through VM_LIBVIRT_URI; a directory that holds a machine as files only through
 * libvirt's test driver with KNOB_LIBVIRT_TEST below that directory, so that nothing of this machine can be touched.
 *
 * There are two connections: looking uses one that libvirt only lets look, for which anybody needs no password and
 * nothing can go wrong; the other is opened when the first VM is to be changed.
 *
 * Each call that changes something passes the gate of the writer under libvirt's name of it. All calls may wait as long
 * as libvirt does; only connecting has a limit (VM_LIBVIRT_WAIT_S). -ENOSYS: built without libvirt.
 */
#ifndef HVTUNE_KNOB_LIBVIRT_H
#define HVTUNE_KNOB_LIBVIRT_H

#include "cpuset.h"
#include "knob.h"

#define KNOB_LIBVIRT_TEST "/etc/libvirt/test.xml"

/* Which of a VM's threads. */
enum knob_libvirt_thread { KNOB_LIBVIRT_VCPU, KNOB_LIBVIRT_EMULATOR, KNOB_LIBVIRT_IOTHREAD };

struct knob_domain {
	const char *uuid, *name;
	bool running, persistent, saved; /* saved: a memory image will be loaded at its next start, not the XML */
};

/*
 * Connect, once for a machine. -ENOSYS: no library; -ENOTSUP: a directory without KNOB_LIBVIRT_TEST; -EACCES,
 * -ECONNREFUSED with libvirt's words; -ETIMEDOUT. Never -ENOENT: that would say that a VM is gone.
 */
int knob_libvirt_open(struct knob_machine *machine, struct err *err);
void knob_libvirt_close(struct knob_machine *machine);

/* The VM of that UUID, or else of that name. -ENOENT: libvirt knows none. */
int knob_libvirt_find(struct knob_machine *machine, const char *name, struct knob_domain *ret, struct err *err);

enum knob_libvirt_xml {
	KNOB_LIBVIRT_RUNNING,  /* what it runs with */
	KNOB_LIBVIRT_DECLARED, /* what it starts with next, without its passwords */
	KNOB_LIBVIRT_WHOLE,    /* the same with them: for a definition that is to be changed */
};

/* -ENOENT: there is no such VM, it does not run, or it is not defined. */
int knob_libvirt_xml(struct knob_machine *machine, const char *uuid, enum knob_libvirt_xml which, const char **ret,
		     struct err *err);

/* Define it: what it starts with next. Checked against libvirt's schema. */
int knob_libvirt_define(struct knob_machine *machine, const char *uuid, const char *xml, struct err *err);

enum knob_libvirt_power {
	KNOB_LIBVIRT_START,
	KNOB_LIBVIRT_SHUT_DOWN, /* by its agent or the power button, and waited for */
	KNOB_LIBVIRT_CUT,	/* as by pulling the plug */
};

/* How long a guest may take to shut down where machine->vm_wait_s is 0. */
enum { KNOB_LIBVIRT_SHUTDOWN_S = 120 };

/*
 * Start a VM from its definition, or end it; nothing is done when it is so already. -ETIME: it did not shut down in
 * time and runs on, but may still go down later; -ENOENT: there is no such VM; -EIO with libvirt's words.
 */
int knob_libvirt_power(struct knob_machine *machine, const char *uuid, enum knob_libvirt_power power, struct err *err);

/*
 * Where a thread of a running VM may run, as libvirt has it; `index` is the number of the vCPU or I/O thread. Memory:
 * the host nodes that it is confined to. -ENOENT as above.
 */
int knob_libvirt_get_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
			 struct cpuset *ret, struct err *err);
int knob_libvirt_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
		     const struct cpuset *cpus, struct err *err);
int knob_libvirt_get_nodes(struct knob_machine *machine, const char *uuid, struct cpuset *ret, struct err *err);
int knob_libvirt_set_nodes(struct knob_machine *machine, const char *uuid, const struct cpuset *nodes, struct err *err);

/*
 * Give one command (JSON) to the QEMU guest agent of a running VM, through libvirt-qemu; *ret_reply is its answer,
 * which the caller frees. `change` is what the gate is told of a command that changes something; NULL for others.
 * libvirt lets only who may change a VM ask its guest. -ENOENT: there is no such VM; -EHOSTDOWN: it is off; -ENOTCONN,
 * -ENOTSUP: no agent answers, or the VM has no channel for one; -EIO with libvirt's words.
 *
 * libvirt brings no answer that is longer than 4 MiB (REMOTE_STRING_MAX of remote_protocol.x), and loses the agent over
 * one of more than 10 MiB (qemu_agent.c): ask for pieces of 1 MiB.
 */
int knob_libvirt_agent(struct knob_machine *machine, const char *uuid, const char *change, const char *command,
		       char **ret_reply, struct err *err);

#endif
