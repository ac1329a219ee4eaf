/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the actuator of a VM's definition at libvirt: what it starts with next. The point is the VM's UUID; its value is
 * the placement in the XML and not the whole (vm_xml_placement.h), so that no password gets into the journal and undo
 * keeps what others have changed elsewhere in it since.
 */
#include <errno.h>

#include "knob_libvirt.h"
#include "knob_table.h"
#include "text.h"
#include "vm_xml_placement.h"

static int get_definition(struct knob_machine *machine, const char *uuid, const char **ret, struct err *err)
{
	const char *xml;
	int r = knob_libvirt_xml(machine, uuid, KNOB_LIBVIRT_DECLARED, &xml, err);

	return r < 0 ? r : vm_xml_placement(machine->arena, uuid, xml, strlen(xml), ret, err);
}

static int set_definition(struct knob_machine *machine, const char *uuid, const char *placement, struct err *err)
{
	const char *xml = NULL, *changed = NULL;
	int r = placement ? 0 : err_set(err, EINVAL, uuid, "a VM is not taken away");

	if (r == 0)
		r = knob_libvirt_xml(machine, uuid, KNOB_LIBVIRT_WHOLE, &xml, err);
	if (r == 0)
		r = vm_xml_placement_put(machine->arena, uuid, xml, strlen(xml), placement, &changed, err);
	return r < 0 ? r : knob_libvirt_define(machine, uuid, changed, err);
}

const struct knob_actuator knob_vm_definition = {
    .name = "definition", .get = get_definition, .set = set_definition, .same = vm_xml_placement_same};
