/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in knob_vm_ask.h. */
#include "knob_vm_ask.h"

#include <errno.h>

#include "knob_vm.h"
#include "knob_vm_declared.h"
#include "text.h"

/* One ask of one VM. */
struct asking {
	struct knob_machine *machine;
	const struct knob *knob;
	const char *value; /* "": only what there is is asked for */
	const struct knob_vm *vm;
	struct knob_points *points;
	struct err *err;
};

static int vcpus_of(const struct asking *asking)
{
	const struct knob_vm *vm = asking->vm;

	return vm->running ? vm->running->vcpu_max : vm->declared ? vm->declared->vcpu_max : 0;
}

/* ---- values ---- */

/* "8,40,9-11": one CPU a vCPU, in the order in which they are written. */
static int one_to_one(const struct asking *asking, struct cpuset *pins, int count)
{
	char *rest = arena_strdup(asking->machine->arena, asking->value);
	int given = 0;

	for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		struct cpuset set;

		if (cpuset_parse(word, &set, NULL) < 0 || cpuset_empty(&set))
			return err_set(asking->err, EINVAL, asking->value,
				       "is neither a CPU for each vCPU (8-11) nor VCPU:CPUS (0:8,1:9+10)");
		CPUSET_FOREACH (cpu, &set) {
			if (given < count)
				pins[given] = cpuset_range(cpu, cpu);
			given++;
		}
	}
	if (given != count)
		return err_set(asking->err, EINVAL, asking->value, "are %d CPUs for the %d vCPUs of %s", given, count,
			       asking->vm->name);
	return 0;
}

static int read_pins(const struct asking *asking, struct cpuset **ret, int *ret_count)
{
	int count = vcpus_of(asking), r;
	struct cpuset *pins = ARENA_ARRAY(asking->machine->arena, (size_t)count + 1, struct cpuset);

	r = strchr(asking->value, ':')
		? knob_vm_parse_pins(asking->machine->arena, asking->value, count, pins, asking->err)
		: one_to_one(asking, pins, count);
	*ret = pins;
	*ret_count = count;
	return r;
}

static int read_set(const struct asking *asking, struct cpuset *ret)
{
	if (cpuset_parse(asking->value, ret, asking->err) < 0)
		return -EINVAL;
	return cpuset_empty(ret) ? err_set(asking->err, EINVAL, asking->value, "is an empty list") : 0;
}

/* ---- what is to be defined, as a text of knob_vm_declared.h ---- */

static int pins_text(const struct asking *asking, const char **ret)
{
	const struct vm *declared = asking->vm->declared;
	struct cpuset *pins;
	int count, r = read_pins(asking, &pins, &count);

	if (r < 0)
		return r;
	for (int i = 0; i < MIN_OF(count, declared->vcpu_max); i++)
		if (cpuset_empty(&pins[i]) && declared->vcpus[i].pin.given)
			pins[i] = declared->vcpus[i].pin.set;
	*ret = knob_vm_format_pins(asking->machine->arena, pins, count);
	return 0;
}

static int set_text(const struct asking *asking, const char **ret)
{
	struct cpuset set;
	int r = read_set(asking, &set);

	if (r == 0)
		*ret = cpuset_format(asking->machine->arena, &set);
	return r;
}

/* The same CPUs for all I/O threads. */
static int iothreads_text(const struct asking *asking, const char **ret)
{
	enum { MOST = 1024 };
	const struct vm *declared = asking->vm->declared;
	struct cpuset *pins = ARENA_ARRAY(asking->machine->arena, MOST, struct cpuset), set;
	int r = read_set(asking, &set);

	if (r < 0)
		return r;
	for (int i = 0; i < declared->iothread_count; i++)
		if (!declared->iothreads[i].pin_only && declared->iothreads[i].id >= 0 &&
		    declared->iothreads[i].id < MOST)
			pins[declared->iothreads[i].id] = set;
	*ret = knob_vm_format_pins(asking->machine->arena, pins, MOST);
	return 0;
}

static int memory_text(const struct asking *asking, const char **ret)
{
	const struct vm *declared = asking->vm->declared;
	const char *mode = declared->numa_mode ? declared->numa_mode : "strict";
	struct cpuset set;
	int r = read_set(asking, &set);

	if (r < 0)
		return r;
	if (declared->numa_auto || declared->memnode_count)
		return err_set(asking->err, ENOTSUP, asking->vm->name, "has its memory placed %s",
			       declared->numa_auto ? "by numad" : "cell by cell; hvtune place does that");
	if (text_equal(mode, "preferred") && cpuset_count(&set) > 1)
		mode = "strict";
	*ret = arena_printf(asking->machine->arena, "%s %s", mode, cpuset_format(asking->machine->arena, &set));
	return 0;
}

static int pages_text(const struct asking *asking, const char **ret)
{
	int64_t kib;
	int r = knob_vm_parse_page(asking->value, &kib, asking->err);

	if (r == 0)
		*ret = kib == 4 ? "-" : asking->value;
	return r;
}

static int topology_text(const struct asking *asking, const char **ret)
{
	const struct vm *declared = asking->vm->declared;
	int topoext = vm_feature(declared->cpu.features, declared->cpu.feature_count, "topoext");
	struct vm_xml_topology topology;
	const char *rest;
	int r = knob_vm_parse_topology(asking->value, &topology, &rest, asking->err), product;

	if (r < 0)
		return r;
	product = topology.sockets * topology.dies * topology.cores * topology.threads;
	if (product != declared->vcpu_max || *rest)
		return err_set(asking->err, EINVAL, asking->value, "is a topology of %d vCPUs; %s has %d", product,
			       asking->vm->name, declared->vcpu_max);
	/* Without it an AMD guest sees no threads (facts of QEMU's target/i386/cpu.c). */
	if (topology.threads > 1 && asking->vm->amd)
		topoext = 1;
	*ret = arena_printf(asking->machine->arena, "%s%s", asking->value,
			    topoext > 0	   ? "+topoext"
			    : topoext == 0 ? "-topoext"
					   : "");
	return 0;
}

static int queues_text(const struct asking *asking, const char **ret)
{
	enum { MOST_QUEUES = 256 }; /* of a tap device of Linux */
	int64_t count;

	if (text_int(asking->value, 10, &count) < 0 || count < 1 || count > MOST_QUEUES)
		return err_set(asking->err, ERANGE, asking->value, "%s takes 1 to %d", asking->knob->name, MOST_QUEUES);
	*ret = arena_printf(asking->machine->arena, "%d", (int)count);
	return 0;
}

/* ---- what runs ---- */

static int run_pins(const struct asking *asking)
{
	struct cpuset *pins;
	int count, r = read_pins(asking, &pins, &count);

	return r < 0 ? r : knob_vm_pin_vcpus(asking->machine, asking->vm, pins, count, asking->points, asking->err);
}

static int run_emulator(const struct asking *asking)
{
	struct cpuset set;
	int r = read_set(asking, &set);

	return r < 0 ? r : knob_vm_pin_emulator(asking->machine, asking->vm, &set, asking->points, asking->err);
}

static int run_iothreads(const struct asking *asking)
{
	struct cpuset set;
	int r = read_set(asking, &set);

	return r < 0 ? r : knob_vm_pin_iothreads(asking->machine, asking->vm, &set, asking->points, asking->err);
}

static int run_memory(const struct asking *asking)
{
	struct cpuset set;
	int r = read_set(asking, &set);

	if (r < 0 || !knob_vm_memory_moves(asking->vm))
		return r;
	return knob_vm_move_memory(asking->machine, asking->vm, &set, asking->points, asking->err);
}

/* ---- knobs ---- */

static const struct setting {
	const char *knob, *next; /* names; next NULL: the knob itself is of the definition */
	const char *field;	 /* of knob_vm_declared.h */
	int (*text)(const struct asking *asking, const char **ret);
	int (*run)(const struct asking *asking); /* NULL: only with the next start */
} settings[] = {
    {"vm.pins", "vm.pins.next", "pins", pins_text, run_pins},
    {"vm.emulator", "vm.emulator.next", "emulator", set_text, run_emulator},
    {"vm.iothreads", "vm.iothreads.next", "iothreads", iothreads_text, run_iothreads},
    {"vm.memory", "vm.memory.next", "memory", memory_text, run_memory},
    {"vm.pages", NULL, "pages", pages_text, NULL},
    {"vm.topology", NULL, "topology", topology_text, NULL},
    {"vm.queues", NULL, "queues", queues_text, NULL},
};

static const struct setting *setting_of(const struct knob *knob, bool *ret_next)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		*ret_next = text_equal(settings[i].next, knob->name) || !settings[i].next;
		if (text_equal(settings[i].knob, knob->name) || text_equal(settings[i].next, knob->name))
			return &settings[i];
	}
	return NULL;
}

static void add_point(const struct asking *asking, const struct setting *setting, const char *which, const char *text)
{
	struct arena *arena = asking->machine->arena;
	const char *name = setting->next ? setting->next : setting->knob;
	const struct knob_point point = {
	    .knob = knob_find(name),
	    .name = name,
	    .where = arena_printf(arena, "%s %s%s%s", asking->vm->domain.uuid, setting->field, which ? " " : "",
				  which ? which : ""),
	    .label = which ? arena_printf(arena, "%s NIC %s", asking->vm->name, which) : asking->vm->name,
	    .new = text,
	};

	knob_points_add(asking->points, &point);
}

/* Has the NIC queues at all? */
static bool has_queues(const struct vm_nic *nic)
{
	return nic->mac && text_equal(nic->model, "virtio");
}

static int add_declared(const struct asking *asking, const struct setting *setting)
{
	const struct vm *declared = asking->vm->declared;
	const char *text = "";
	int r = *asking->value ? setting->text(asking, &text) : 0;

	if (r < 0)
		return r;
	if (!text_equal(setting->field, "queues")) {
		add_point(asking, setting, NULL, text);
		return 0;
	}
	for (int i = 0; i < declared->nic_count; i++)
		if (has_queues(&declared->nics[i]))
			add_point(asking, setting, declared->nics[i].mac, text);
	return 0;
}

/* What there is, without a value: all threads. */
static int list_running(const struct asking *asking, const struct setting *setting)
{
	struct asking all = *asking;
	size_t first = asking->points->count;
	int r;

	all.value = setting->run == run_pins
			? arena_printf(asking->machine->arena, "0-%d:0", MAX_OF(vcpus_of(asking), 1) - 1)
			: "0";
	r = setting->run(&all);
	for (size_t i = first; i < asking->points->count; i++)
		asking->points->items[i].new = "";
	return r;
}

static int expand_vm(const struct asking *asking, const struct setting *setting, bool only_next)
{
	const struct knob_vm *vm = asking->vm;
	bool listing = !*asking->value;
	size_t first = asking->points->count;
	int r = 0;

	if (vm->declared && (only_next || !listing))
		r = add_declared(asking, setting);
	if (r == 0 && vm->running && !only_next && setting->run)
		r = listing ? list_running(asking, setting) : setting->run(asking);
	if (r < 0 || listing || asking->points->count > first)
		return r;
	return err_set(asking->err, ENOENT, vm->name, "%s",
		       !vm->of_libvirt ? "is plain QEMU: that can only be set where it is started"
				       : "has no such thing that could be set");
}

static int expand_named(const struct asking *asking, const struct setting *setting, bool only_next, const char *name)
{
	struct asking one = *asking;
	struct knob_vm vm;
	int r = knob_vm_find(asking->machine, name, &vm, asking->err);

	one.vm = &vm;
	return r < 0 ? r : expand_vm(&one, setting, only_next);
}

int knob_vm_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		   struct knob_points *points, struct err *err)
{
	struct asking asking = {.machine = machine, .knob = knob, .value = ask->value, .points = points, .err = err};
	char *rest = ask->where ? arena_strdup(machine->arena, ask->where) : NULL;
	const char *const *names;
	size_t count;
	bool only_next;
	const struct setting *setting = setting_of(knob, &only_next);
	int r;

	if (!setting)
		return err_set(err, EINVAL, knob->name, "is set through the other knobs of VMs and by hvtune place");
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		r = expand_named(&asking, setting, only_next, name);
		if (r < 0)
			return r;
	}
	if (ask->where)
		return 0;
	if (*ask->value)
		return err_set(err, EINVAL, knob->name, "needs the name of a VM: %s@NAME=%s", knob->name, ask->value);
	r = knob_vm_names(machine, &names, &count, err);
	for (size_t i = 0; i < count && r == 0; i++) {
		struct err ignored = {0};

		asking.err = &ignored;
		(void)expand_named(&asking, setting, only_next, names[i]);
	}
	return r;
}

int knob_vm_check(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	(void)machine;
	return point->new && * point->new ? 0 : err_set(err, EINVAL, point->name, "takes %s", point->knob->value);
}
