/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what hvtune says of libvirt where it was built without its headers. */
#include "knob_libvirt.h"

#include <errno.h>

#include "config.h"
#include "vm_libvirt.h"

#if !HVTUNE_LIBVIRT

static int missing(struct err *err)
{
	return err_set(err, ENOSYS, VM_LIBVIRT_URI, "this hvtune was built without libvirt");
}

int knob_libvirt_open(struct knob_machine *machine, struct err *err)
{
	(void)machine;
	return missing(err);
}

void knob_libvirt_close(struct knob_machine *machine)
{
	(void)machine;
}

int knob_libvirt_find(struct knob_machine *machine, const char *name, struct knob_domain *ret, struct err *err)
{
	(void)machine, (void)name, (void)ret;
	return missing(err);
}

int knob_libvirt_xml(struct knob_machine *machine, const char *uuid, enum knob_libvirt_xml which, const char **ret,
		     struct err *err)
{
	(void)machine, (void)uuid, (void)which, (void)ret;
	return missing(err);
}

int knob_libvirt_define(struct knob_machine *machine, const char *uuid, const char *xml, struct err *err)
{
	(void)machine, (void)uuid, (void)xml;
	return missing(err);
}

int knob_libvirt_power(struct knob_machine *machine, const char *uuid, enum knob_libvirt_power power, struct err *err)
{
	(void)machine, (void)uuid, (void)power;
	return missing(err);
}

int knob_libvirt_get_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
			 struct cpuset *ret, struct err *err)
{
	(void)machine, (void)uuid, (void)thread, (void)index, (void)ret;
	return missing(err);
}

int knob_libvirt_pin(struct knob_machine *machine, const char *uuid, enum knob_libvirt_thread thread, int64_t index,
		     const struct cpuset *cpus, struct err *err)
{
	(void)machine, (void)uuid, (void)thread, (void)index, (void)cpus;
	return missing(err);
}

int knob_libvirt_get_nodes(struct knob_machine *machine, const char *uuid, struct cpuset *ret, struct err *err)
{
	(void)machine, (void)uuid, (void)ret;
	return missing(err);
}

int knob_libvirt_set_nodes(struct knob_machine *machine, const char *uuid, const struct cpuset *nodes, struct err *err)
{
	(void)machine, (void)uuid, (void)nodes;
	return missing(err);
}

int knob_libvirt_agent(struct knob_machine *machine, const char *uuid, const char *change, const char *command,
		       char **ret_reply, struct err *err)
{
	(void)machine, (void)uuid, (void)change, (void)command, (void)ret_reply;
	return missing(err);
}

#endif
