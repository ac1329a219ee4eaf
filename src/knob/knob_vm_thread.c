/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the actuator of a thread of a VM that runs. Its value is where libvirt has pinned it, as a CPU list; where the
 * kernel lets it run elsewhere (a control group is narrower, or somebody used taskset) both stand there:
 * "8 but on 8-9". So what is read back after a pin is the truth of /proc, and undo gives back both.
 */
#include <errno.h>

#include "knob_libvirt.h"
#include "knob_table.h"
#include "knob_vm_where.h"
#include "text.h"

#define BUT " but on "

/* Where it is pinned, and where it runs when that is elsewhere (else empty). */
struct place {
	struct cpuset pin, runs;
};

static int parse(const char *text, struct place *ret, struct err *err)
{
	const char *but = strstr(text, BUT);
	char pin[CPUSET_MAX] = "";
	int r;

	*ret = (struct place){0};
	(void)snprintf(pin, sizeof(pin), "%.*s", but ? (int)(but - text) : (int)strlen(text), text);
	r = cpuset_parse(pin, &ret->pin, err);
	if (r == 0 && but)
		r = cpuset_parse(but + strlen(BUT), &ret->runs, err);
	return r == 0 && cpuset_empty(&ret->pin) ? err_set(err, EINVAL, text, "is no list of CPUs") : r;
}

static const char *format(struct arena *arena, const struct place *place)
{
	const char *pin = cpuset_format(arena, &place->pin);

	return cpuset_empty(&place->runs) ? pin
					  : arena_printf(arena, "%s" BUT "%s", pin, cpuset_format(arena, &place->runs));
}

static enum knob_libvirt_thread thread_of(const struct knob_vm_where *where)
{
	return where->kind == KNOB_VM_VCPU	 ? KNOB_LIBVIRT_VCPU
	       : where->kind == KNOB_VM_EMULATOR ? KNOB_LIBVIRT_EMULATOR
						 : KNOB_LIBVIRT_IOTHREAD;
}

static struct cpuset online(struct knob_machine *machine)
{
	struct err ignored = {0};
	const char *text;
	struct cpuset set;

	if (sys_writer_read(machine->writer, machine->arena, "/sys/devices/system/cpu/online", &text, NULL, &ignored) <
		0 ||
	    cpuset_parse(text, &set, NULL) < 0)
		set = cpuset_range(0, CPUSET_MAX - 1);
	return set;
}

static int get_place(struct knob_machine *machine, const char *text, struct knob_vm_where *where, struct place *ret,
		     struct err *err)
{
	struct cpuset there = online(machine), pinned, runs;
	struct place place = {0};
	int r = knob_vm_where_parse(text, where, err);

	if (r == 0)
		r = knob_vm_still_runs(machine, where, err);
	if (r == 0)
		r = knob_vm_status_set(machine, where, "Cpus_allowed_list", &runs, err);
	if (r < 0)
		return r;
	if (where->kind == KNOB_VM_THREAD) {
		*ret = (struct place){.pin = runs};
		return 0;
	}
	r = knob_libvirt_get_pin(machine, where->uuid, thread_of(where), where->index, &place.pin, err);
	if (r < 0)
		return r;
	/*
	 * CPUs that are offline or not there at all count in neither: a thread that is not pinned has all that could
	 * be, and a cpuset of cgroup v1 refuses those that are offline.
	 */
	pinned = cpuset_and(&place.pin, &there);
	there = cpuset_and(&runs, &there);
	if (!cpuset_empty(&pinned))
		place.pin = pinned;
	if (!cpuset_equal(&pinned, &there))
		place.runs = cpuset_empty(&there) ? runs : there;
	*ret = place;
	return 0;
}

static int get_thread(struct knob_machine *machine, const char *text, const char **ret, struct err *err)
{
	struct knob_vm_where where;
	struct place place;
	int r = get_place(machine, text, &where, &place, err);

	if (r == 0)
		*ret = format(machine->arena, &place);
	return r;
}

static int pin(struct knob_machine *machine, const struct knob_vm_where *where, const struct cpuset *cpus,
	       struct err *err)
{
	return where->kind == KNOB_VM_THREAD
		   ? sys_writer_set_affinity(machine->writer, where->pid, where->tid, cpus, err)
		   : knob_libvirt_pin(machine, where->uuid, thread_of(where), where->index, cpus, err);
}

static int set_thread(struct knob_machine *machine, const char *text, const char *value, struct err *err)
{
	struct knob_vm_where where;
	struct place wanted, now;
	int r = value ? parse(value, &wanted, err) : err_set(err, EINVAL, text, "a thread has to run somewhere");

	if (r == 0)
		r = get_place(machine, text, &where, &now, err);
	if (r == 0)
		r = pin(machine, &where, &wanted.pin, err);
	if (r < 0 || cpuset_empty(&wanted.runs))
		return r;
	/* It was pinned past libvirt, or a control group narrowed it, which does so by itself. */
	r = get_place(machine, text, &where, &now, err);
	if (r < 0 || cpuset_equal(&now.runs, &wanted.runs))
		return r;
	return sys_writer_set_affinity(machine->writer, where.pid, where.tid, &wanted.runs, err);
}

/*
 * Let it run where it does and where it shall. When all threads of a plan have been widened, none is squeezed in with
 * another one that still waits for its turn.
 */
int knob_vm_widen(struct knob_machine *machine, const char *text, const char *value, struct err *err)
{
	struct knob_vm_where where;
	struct place wanted, now;
	struct cpuset all;
	int r = value ? parse(value, &wanted, err) : 0;

	if (!value || r < 0)
		return r;
	r = get_place(machine, text, &where, &now, err);
	if (r < 0)
		return r;
	all = cpuset_or(&now.pin, &now.runs);
	all = cpuset_or(&all, &wanted.pin);
	all = cpuset_or(&all, &wanted.runs);
	return cpuset_equal(&all, &now.pin) || cpuset_equal(&all, &wanted.pin) ? 0 : pin(machine, &where, &all, err);
}

static bool same_places(const char *a, const char *b)
{
	struct place one, other;
	struct err ignored = {0};

	return text_equal(a, b) || (parse(a, &one, &ignored) == 0 && parse(b, &other, &ignored) == 0 &&
				    cpuset_equal(&one.pin, &other.pin) && cpuset_equal(&one.runs, &other.runs));
}

const struct knob_actuator knob_vm_thread = {
    .name = "thread", .get = get_thread, .set = set_thread, .same = same_places};

/* ---- memory: the nodes that it is confined to ---- */

static int get_memory(struct knob_machine *machine, const char *text, const char **ret, struct err *err)
{
	struct knob_vm_where where;
	struct place place = {0};
	int r = knob_vm_where_parse(text, &where, err);

	if (r == 0)
		r = knob_vm_still_runs(machine, &where, err);
	if (r == 0)
		r = knob_vm_status_set(machine, &where, "Mems_allowed_list", &place.runs, err);
	if (r == 0)
		r = knob_libvirt_get_nodes(machine, where.uuid, &place.pin, err);
	if (r < 0)
		return r;
	if (cpuset_equal(&place.pin, &place.runs))
		place.runs = (struct cpuset){0};
	*ret = format(machine->arena, &place);
	return 0;
}

static int set_memory(struct knob_machine *machine, const char *text, const char *value, struct err *err)
{
	struct knob_vm_where where;
	struct place wanted;
	int r = value ? parse(value, &wanted, err) : err_set(err, EINVAL, text, "memory has to be somewhere");

	if (r == 0)
		r = knob_vm_where_parse(text, &where, err);
	if (r == 0)
		r = knob_vm_still_runs(machine, &where, err);
	return r < 0 ? r : knob_libvirt_set_nodes(machine, where.uuid, &wanted.pin, err);
}

const struct knob_actuator knob_vm_memory = {
    .name = "memory", .get = get_memory, .set = set_memory, .same = same_places};
