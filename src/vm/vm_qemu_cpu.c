/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns -machine, -accel, -cpu, -smp, -rtc, -global, -overcommit, -name and -smbios of a command line of QEMU. */
#include <ctype.h>
#include <errno.h>

#include "text.h"
#include "vm_qemu_internal.h"

/* The most vCPUs that any x86 machine of QEMU takes (q35 since 9.2). */
enum { VCPU_LIMIT = 4096 };

static const struct {
	const char *qemu, *ours;
} enlightenments[] = {
    {"avic", "avic"},
    {"emsr-bitmap", "emsr_bitmap"},
    {"evmcs", "evmcs"},
    {"frequencies", "frequencies"},
    {"ipi", "ipi"},
    {"passthrough", "passthrough"},
    {"reenlightenment", "reenlightenment"},
    {"relaxed", "relaxed"},
    {"reset", "reset"},
    {"runtime", "runtime"},
    {"spinlocks", "spinlocks"},
    {"stimer", "stimer"},
    {"stimer-direct", "stimer-direct"},
    {"synic", "synic"},
    {"tlbflush", "tlbflush"},
    {"tlbflush-direct", "tlbflush-direct"},
    {"tlbflush-ext", "tlbflush-extended"},
    {"vapic", "vapic"},
    {"vendor-id", "vendor_id"},
    {"vpindex", "vpindex"},
    {"xmm-input", "xmm_input"},
};

/* ---- timers ---- */

static struct vm_timer *timer(struct qemu_reader *reader, const char *name)
{
	enum { TIMER_LIMIT = 8 }; /* more than the names that are ever asked for */
	struct vm *vm = reader->vm;

	for (int i = 0; i < vm->timer_count; i++)
		if (text_equal(vm->timers[i].name, name))
			return &vm->timers[i];
	if (!vm->timers)
		vm->timers = ARENA_ARRAY(reader->arena, TIMER_LIMIT, struct vm_timer);
	vm->timers[vm->timer_count] = (struct vm_timer){.name = name, .present = -1};
	return &vm->timers[vm->timer_count++];
}

static void set_present(struct qemu_reader *reader, const char *name, int present)
{
	if (present >= 0)
		timer(reader, name)->present = present;
}

static void fill_clock(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *rtc = qemu_last(reader, "rtc");
	const char *base = rtc ? qemu_option(&rtc->options, "base") : NULL;

	if (base)
		vm->clock_offset = isdigit((unsigned char)base[0]) ? "absolute" : base;
	if (rtc && text_equal(qemu_option(&rtc->options, "driftfix"), "slew"))
		timer(reader, "rtc")->tickpolicy = "catchup";
	for (const struct qemu_given *global = qemu_next(reader, "global", NULL); global;
	     global = qemu_next(reader, "global", global)) {
		const char *policy = qemu_option(&global->options, "kvm-pit.lost_tick_policy");

		if (!policy && text_equal(qemu_option(&global->options, "driver"), "kvm-pit"))
			policy = qemu_option(&global->options, "value");
		if (policy)
			timer(reader, "pit")->tickpolicy = policy;
	}
	if (qemu_last(reader, "no-hpet"))
		set_present(reader, "hpet", 0);
}

/* ---- machine ---- */

static void fill_accel(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *accel = qemu_next(reader, "accel", NULL); /* the first one that works is taken */
	const struct qemu_given *machine = qemu_last(reader, "machine");
	const char *name = accel ? accel->first : machine ? qemu_option(&machine->options, "accel") : NULL;

	if (qemu_last(reader, "enable-kvm"))
		name = "kvm";
	if (!name)
		name = reader->kvm ? "kvm" : "tcg";
	vm->type = text_starts(name, "kvm") ? "kvm" : text_starts(name, "tcg") ? "qemu" : name;
	const char *irqchip = accel ? qemu_option(&accel->options, "kernel-irqchip") : NULL;

	if (!irqchip && machine)
		irqchip = qemu_option(&machine->options, "kernel-irqchip");
	if (text_equal(irqchip, "split"))
		vm->ioapic = "qemu";
	else if (irqchip)
		vm->ioapic = qemu_switch(irqchip) == 1 ? "kvm" : "off";
}

static void fill_names(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *name = qemu_last(reader, "name"), *uuid = qemu_last(reader, "uuid");

	if (name)
		vm->name = name->first;
	if (uuid)
		vm->uuid = uuid->word.text;
	for (const struct qemu_given *smbios = qemu_next(reader, "smbios", NULL); smbios && !vm->uuid;
	     smbios = qemu_next(reader, "smbios", smbios))
		vm->uuid = qemu_option(&smbios->options, "uuid");
}

int qemu_fill_machine(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;

	for (const struct qemu_given *machine = qemu_next(reader, "machine", NULL); machine;
	     machine = qemu_next(reader, "machine", machine)) {
		const char *type = machine->first, *revision = type ? strstr(type, "+pve") : NULL;

		if (type) /* "+pve0" is Proxmox's own revision of the same machine */
			vm->machine = revision ? arena_strndup(reader->arena, type, (size_t)(revision - type)) : type;
		if (qemu_switch(qemu_option(&machine->options, "mem-merge")) == 0)
			vm->no_share_pages = true;
		set_present(reader, "hpet", qemu_switch(qemu_option(&machine->options, "hpet")));
	}
	for (const struct qemu_given *given = qemu_next(reader, "overcommit", NULL); given;
	     given = qemu_next(reader, "overcommit", given)) {
		int cpu_pm = qemu_switch(qemu_option(&given->options, "cpu-pm"));

		vm->cpu_pm = cpu_pm >= 0 ? cpu_pm : vm->cpu_pm;
		if (qemu_switch(qemu_option(&given->options, "mem-lock")) == 1)
			vm->locked = true;
	}
	const struct qemu_given *realtime = qemu_last(reader, "realtime"); /* -realtime mlock=on, before 2.12 */

	if (realtime && strstr(realtime->word.text, "mlock=on"))
		vm->locked = true;
	if (qemu_find(reader, "object", "qom-type", "sev-snp-guest"))
		vm->launch_security = "sev-snp";
	else if (qemu_find(reader, "object", "qom-type", "sev-guest"))
		vm->launch_security = "sev";
	fill_accel(reader);
	fill_names(reader);
	fill_clock(reader);
	return 0;
}

/* ---- cpu ---- */

static void add_feature(struct vm_feature *list, int *count, const char *name, bool on)
{
	list[(*count)++] = (struct vm_feature){.name = name, .on = on};
}

static bool take_enlightenment(struct qemu_reader *reader, const char *key, int on)
{
	struct vm *vm = reader->vm;

	if (!text_starts(key, "hv-") && !text_starts(key, "hv_"))
		return false;
	if (on)
		vm->hyperv_mode = qemu_key_equal(key + 3, "passthrough") ? "passthrough" : "custom";
	if (qemu_key_equal(key + 3, "time"))
		set_present(reader, "hypervclock", on);
	for (size_t i = 0; i < ARRAY_SIZE(enlightenments); i++)
		if (qemu_key_equal(key + 3, enlightenments[i].qemu))
			add_feature(vm->hyperv, &vm->hyperv_count, enlightenments[i].ours, on != 0);
	return true;
}

/* Properties of -cpu that are no features of the CPU; -1 in `field` where vm has no field for it. */
static bool take_property(struct qemu_reader *reader, const char *key, int on)
{
	struct vm *vm = reader->vm;
	const struct {
		const char *key;
		int *field;
	} fields[] = {
	    {"kvm-hint-dedicated", &vm->hint_dedicated},
	    {"kvm-poll-control", &vm->poll_control},
	    {"pmu", &vm->pmu},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (qemu_key_equal(key, fields[i].key)) {
			*fields[i].field = on >= 0 ? on : *fields[i].field;
			return true;
		}
	if (text_equal(key, "kvm")) {
		vm->kvm_hidden = on >= 0 ? !on : vm->kvm_hidden;
		return true;
	}
	if (qemu_key_equal(key, "migratable")) {
		vm->cpu.migratable = on == 1 ? "on" : on == 0 ? "off" : NULL;
		return true;
	}
	if (text_equal(key, "kvmclock"))
		set_present(reader, "kvmclock", on);
	return qemu_key_equal(key, "host-cache-info") || qemu_key_equal(key, "l3-cache") ||
	       text_has_word("kvmclock enforce check host-phys-bits", " ", key);
}

static void take_cpu_word(struct qemu_reader *reader, const struct qemu_property *property)
{
	struct vm *vm = reader->vm;
	const char *key = property->key;
	int on = property->bare ? 1 : qemu_switch(property->value);

	if (property->bare && (key[0] == '+' || key[0] == '-')) {
		on = key[0] == '+';
		key++;
	}
	if (take_property(reader, key, on) || take_enlightenment(reader, key, on) || on < 0 || text_equal(key, "model"))
		return;
	add_feature(vm->cpu.features, &vm->cpu.feature_count, key, on == 1);
}

static void fill_cache(struct vm *vm, const struct qemu_options *options)
{
	int l3 = qemu_switch(qemu_option(options, "l3-cache"));

	if (qemu_switch(qemu_option(options, "host-cache-info")) == 1) {
		vm->cpu.cache_mode = "passthrough";
	} else if (l3 == 1) {
		vm->cpu.cache_mode = "emulate";
		vm->cpu.cache_level = 3;
	} else if (l3 == 0) {
		vm->cpu.cache_mode = "disable";
	}
}

/* Of the guest's physical addresses: libvirt's <maxphysaddr>. */
static int fill_physical_bits(struct qemu_reader *reader, const struct qemu_given *cpu)
{
	enum { BITS_LIMIT = 64 };
	struct vm *vm = reader->vm;
	int64_t bits = 0;
	int outcome = qemu_number(reader, cpu, qemu_option(&cpu->options, "phys-bits"), BITS_LIMIT, &bits);

	if (outcome < 0)
		return outcome;
	if (qemu_switch(qemu_option(&cpu->options, "host-phys-bits")) == 1)
		vm->cpu.maxphysaddr_mode = "passthrough";
	else if (bits)
		vm->cpu.maxphysaddr_mode = "emulate";
	vm->cpu.maxphysaddr_bits = (int)bits;
	return 0;
}

int qemu_fill_cpu(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *cpu = qemu_last(reader, "cpu");

	if (!cpu)
		return 0;
	vm->cpu.place = vm->cpu.cache_place = qemu_place(cpu);
	vm->cpu.model = cpu->first;
	vm->cpu.mode = text_equal(cpu->first, "host")  ? VM_CPU_HOST_PASSTHROUGH
		       : text_equal(cpu->first, "max") ? VM_CPU_MAXIMUM
						       : VM_CPU_CUSTOM;
	vm->cpu.features = ARENA_ARRAY(reader->arena, (size_t)cpu->options.count, struct vm_feature);
	vm->hyperv = ARENA_ARRAY(reader->arena, (size_t)cpu->options.count, struct vm_feature);
	for (int i = 0; i < cpu->options.count; i++)
		take_cpu_word(reader, &cpu->options.list[i]);
	fill_cache(vm, &cpu->options);
	return fill_physical_bits(reader, cpu);
}

/* ---- smp ---- */

struct smp {
	int64_t cpus, maxcpus, sockets, dies, modules, clusters, cores, threads; /* 0: not given */
};

/* "pc-q35-6.1": machines before 6.2 put omitted members into sockets, later ones into cores. */
static bool prefers_sockets(const char *machine)
{
	const char *rhel = machine ? strstr(machine, "rhel") : NULL, *at = machine;
	int major = 0, minor = 0;

	if (rhel)
		return qemu_version(rhel + strlen("rhel"), &major, &minor) && (major < 8 || (major == 8 && minor < 6));
	while ((at = at ? strchr(at, '-') : NULL)) {
		at++;
		if (qemu_version(at, &major, &minor))
			return major < 6 || (major == 6 && minor < 2);
	}
	return false;
}

static int64_t at_least_one(int64_t number)
{
	return MAX_OF(number, 1);
}

/* machine_parse_smp_config() of QEMU. */
static void complete(struct smp *smp, bool prefer_sockets)
{
	int64_t maxcpus = smp->maxcpus ? smp->maxcpus : smp->cpus;

	smp->dies = at_least_one(smp->dies);
	smp->modules = at_least_one(smp->modules);
	smp->clusters = at_least_one(smp->clusters);
	int64_t between = smp->dies * smp->modules * smp->clusters;

	if (!maxcpus) {
		smp->sockets = at_least_one(smp->sockets);
		smp->cores = at_least_one(smp->cores);
		smp->threads = at_least_one(smp->threads);
	} else {
		int64_t *first = prefer_sockets ? &smp->sockets : &smp->cores;
		int64_t *second = prefer_sockets ? &smp->cores : &smp->sockets;

		if (!*first) {
			*second = at_least_one(*second);
			smp->threads = at_least_one(smp->threads);
			*first = maxcpus / (between * *second * smp->threads);
		} else if (!*second) {
			smp->threads = at_least_one(smp->threads);
			*second = maxcpus / (between * *first * smp->threads);
		}
		if (!smp->threads)
			smp->threads = maxcpus / (between * smp->sockets * smp->cores);
	}
	smp->sockets = at_least_one(smp->sockets);
	smp->cores = at_least_one(smp->cores);
	smp->threads = at_least_one(smp->threads);
	smp->maxcpus = maxcpus ? maxcpus : between * smp->sockets * smp->cores * smp->threads;
	smp->cpus = smp->cpus ? smp->cpus : smp->maxcpus;
}

static int read_smp(struct qemu_reader *reader, const struct qemu_given *given, struct smp *smp, bool *ret_variable)
{
	const struct {
		const char *key;
		int64_t *number;
		bool topology;
	} members[] = {
	    {"cpus", &smp->cpus, false},  {"maxcpus", &smp->maxcpus, false}, {"sockets", &smp->sockets, true},
	    {"dies", &smp->dies, true},	  {"modules", &smp->modules, true},  {"clusters", &smp->clusters, true},
	    {"cores", &smp->cores, true}, {"threads", &smp->threads, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = qemu_option(&given->options, members[i].key);
		int outcome = qemu_number(reader, given, text, VCPU_LIMIT, members[i].number);

		if (outcome < 0)
			return outcome;
		*ret_variable |= text && outcome == 0;
		reader->vm->cpu.topology_given |= members[i].topology && outcome == 1;
	}
	return 0;
}

static int apply_smp(struct qemu_reader *reader, const struct smp *smp, struct vm_place place)
{
	struct vm *vm = reader->vm;

	if (smp->maxcpus > VCPU_LIMIT)
		return err_set_at(reader->err, ERANGE, reader->path, place.line, place.column,
				  "-smp: %lld vCPUs are more than QEMU takes (%d)", (long long)smp->maxcpus,
				  VCPU_LIMIT);
	vm->vcpu_max = (int)smp->maxcpus;
	vm->vcpu_now = (int)smp->cpus;
	vm->cpu.sockets = (int)smp->sockets;
	vm->cpu.dies = (int)smp->dies;
	vm->cpu.clusters = (int)(smp->clusters * smp->modules);
	vm->cpu.cores = (int)smp->cores;
	vm->cpu.threads = (int)smp->threads;
	vm->vcpus = ARENA_ARRAY(reader->arena, (size_t)vm->vcpu_max, struct vm_vcpu);
	for (int i = 0; i < vm->vcpu_max; i++)
		vm->vcpus[i] = (struct vm_vcpu){.id = i, .enabled = i < vm->vcpu_now};
	return 0;
}

int qemu_fill_smp(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *given = qemu_last(reader, "smp");
	struct smp smp = {0};
	bool variable = false;
	struct vm_place place = given ? qemu_place(given) : (struct vm_place){0};

	vm->vcpu_place = vm->cpu.topology_place = place;
	if (!given)
		smp.cpus = 1;
	int outcome = given ? read_smp(reader, given, &smp, &variable) : 0;

	/* A number that only the shell knows leaves all others open. */
	if (outcome < 0 || variable) {
		vm->cpu.topology_given = false;
		return outcome;
	}
	complete(&smp, prefers_sockets(vm->machine));
	return apply_smp(reader, &smp, place);
}
