/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns whether a VM of libvirt runs, as a point of a knob: its UUID. A study shuts VMs down to start them otherwise;
 * the journal knows of it, so that undo after a kill starts what was running.
 */
#include <errno.h>

#include "knob_table.h"
#include "knob_vm.h"
#include "text.h"

static const char on[] = "on", off[] = "off", cut[] = "cut";

static int get_power(struct knob_machine *machine, const char *uuid, const char **ret, struct err *err)
{
	struct knob_domain domain;
	int r = knob_libvirt_find(machine, uuid, &domain, err);

	if (r == 0)
		*ret = domain.running ? on : off;
	return r;
}

static int set_power(struct knob_machine *machine, const char *uuid, const char *text, struct err *err)
{
	return knob_libvirt_power(machine, uuid,
				  text_equal(text, on)	  ? KNOB_LIBVIRT_START
				  : text_equal(text, cut) ? KNOB_LIBVIRT_CUT
							  : KNOB_LIBVIRT_SHUT_DOWN,
				  err);
}

/* However it went off. */
static bool same_power(const char *a, const char *b)
{
	return text_equal(a, on) == text_equal(b, on);
}

const struct knob_actuator knob_vm_power = {.name = "power", .get = get_power, .set = set_power, .same = same_power};

static int expand_one(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      const char *name, struct knob_points *points, struct err *err)
{
	struct knob_domain domain;
	int r = knob_libvirt_find(machine, name, &domain, err);

	if (r < 0)
		return r;
	if (*ask->value && !domain.persistent)
		return err_set(err, ENOTSUP, domain.name, "is not defined at libvirt: once off, it would be gone");
	knob_points_add(
	    points,
	    &(struct knob_point){
		.knob = knob, .name = knob->name, .where = domain.uuid, .label = domain.name, .new = ask->value});
	return 0;
}

int knob_vm_power_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			 struct knob_points *points, struct err *err)
{
	char *rest = ask->where ? arena_strdup(machine->arena, ask->where) : NULL;
	const char *const *names;
	struct err ignored = {0};
	size_t count = 0;
	int r = 0;

	for (char *name = strsep(&rest, ","); name && r == 0; name = strsep(&rest, ","))
		r = expand_one(machine, knob, ask, name, points, err);
	if (ask->where)
		return r;
	if (*ask->value)
		return err_set(err, EINVAL, knob->name, "needs the name of a VM: %s@NAME=%s", knob->name, ask->value);
	r = knob_vm_names(machine, &names, &count, err);
	/* Those of plain QEMU and of Proxmox have no such switch here. */
	for (size_t i = 0; i < count && r == 0; i++)
		(void)expand_one(machine, knob, ask, names[i], points, &ignored);
	return r;
}
