/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a libvirt that is no libvirt: a library of the same name with the calls that hvtune changes VMs with, over files
 * of a directory that holds a machine, so that what it did can be compared, and outlives the process that asked for it.
 * It is found by LD_LIBRARY_PATH. Below the directory, which is $FAKE_LIBVIRT_ROOT for the URI of the system's libvirt:
 *
 *   etc/libvirt/test.xml	    has to be there: it is what the URI names
 *   etc/libvirt/qemu/NAME.xml	    a definition; what is defined is laid out anew, as libvirt does
 *   run/libvirt/qemu/NAME.live	    the XML of a VM that runs; "@PINS@" in it stands for its pins
 *   run/libvirt/qemu/NAME.pid	    its process
 *   run/libvirt/qemu/NAME.pins	    "vcpu 0 4", "emulator 0 2", "iothread 1 3", "memory 0 0-1", a line each
 *   run/libvirt/qemu/NAME.cpuset   CPUs of its control group, which all pins are narrowed to; may be missing
 *   run/libvirt/qemu/NAME.off	    the process that a VM had which was shut down or cut: it gets it again when it is
 *				    started, with the pins of its definition. Its guest has another boot id then, and
 *				    the words of its menu in proc/cmdline
 *   run/libvirt/qemu/NAME.hang	    it does not shut down
 *   run/libvirt/qemu/NAME.broken   it does not start with a definition that holds this text
 *   run/libvirt/qemu/NAME.silent   its agent does not answer after a start
 *   run/libvirt/qemu/NAME.loose    its vCPUs run anywhere after a start
 *   run/libvirt/qemu/NAME.mute	    the VM has no channel for an agent
 *   run/libvirt/qemu/NAME.guest/   the root of its guest, for the agent (fake_libvirt_agent.c); without it no agent is
 *				    connected. Programs are what hvtune runs there: cp, mv, rm, sync, find, update-grub
 *				    and grub2-mkconfig, whose menu is its defaults and snippets one after the other
 *   run/libvirt/qemu/NAME.agent    the socket of a real qemu-ga, which is asked instead
 *   run/libvirt/qemu/NAME.blocked  a command that the agent may not carry out; may be missing
 */
#ifndef HVTUNE_FAKE_LIBVIRT_H
#define HVTUNE_FAKE_LIBVIRT_H

/* The symbol "fake_libvirt". */
struct fake_libvirt {
	int changes;   /* calls so far that change something */
	int fail_at;   /* this one fails, counted from 1; 0: none. $FAKE_LIBVIRT_FAIL_AT says it too */
	int vanish_at; /* before this one the VM that it is about ends */
	int refuse;    /* no connection: 1 for want of rights, 2 because nobody listens, 3 but to look */
};

#endif
