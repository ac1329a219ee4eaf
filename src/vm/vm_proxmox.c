/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading a configuration of Proxmox: name, machine, CPU and memory, as words for QEMU. */
#include "vm_proxmox.h"

#include <errno.h>

#include "text.h"
#include "vm_proxmox_internal.h"

/* ---- machine, clock ---- */

/* Proxmox gives Windows the machine of the time it was installed: 5.1 unless `meta` tells a later one. */
static const char *windows_machine(struct pve_conf *conf, const char *type)
{
	enum { PINNED_SINCE_MAJOR = 9, PINNED_SINCE_MINOR = 1 };
	const char *meta = pve_value(conf, "meta"), *made = meta ? strstr(meta, "creation-qemu=") : NULL;
	const char *base = text_equal(type, "q35") ? "pc-q35" : "pc-i440fx";
	int major = 0, minor = 0;

	if (!made || !qemu_version(made + strlen("creation-qemu="), &major, &minor) || major < PINNED_SINCE_MAJOR ||
	    (major == PINNED_SINCE_MAJOR && minor < PINNED_SINCE_MINOR))
		return arena_printf(conf->arena, "%s-5.1", base);
	return arena_printf(conf->arena, "%s-%d.%d", base, major, minor);
}

/* "pc-q35-8.0": its version; a machine without one is the newest. */
static bool machine_is_at_least(const char *type, int major, int minor)
{
	int its_major = 0, its_minor = 0;
	const char *dash = strrchr(type, '-');

	if (!dash || !qemu_version(dash + 1, &its_major, &its_minor))
		return true;
	return its_major > major || (its_major == major && its_minor >= minor);
}

/* Without HPET: Linux since machine 8.1, Windows since Vista. */
static bool has_hpet(const struct pve_conf *conf, const char *type)
{
	if (pve_windows(conf) || pve_is_foreign(conf)) /* ARM has none that could be turned off */
		return pve_windows(conf) < 6;
	return !text_equal(pve_value(conf, "ostype"), "l26") || !machine_is_at_least(type, 8, 1);
}

static int add_viommu(struct pve_conf *conf, const struct pve_setting *machine, const char *model)
{
	if (text_equal(model, "intel"))
		return pve_add(conf, machine, "-device", "intel-iommu,intremap=on,caching-mode=on");
	return text_equal(model, "virtio") ? pve_add(conf, machine, "-device", "virtio-iommu-pci") : 0;
}

static int add_confidential(struct pve_conf *conf)
{
	const struct pve_setting *sev = pve_setting(conf, "amd-sev");

	if (!sev)
		return 0;
	return pve_add(conf, sev, "-object", "%s,id=sev0", strstr(sev->value, "snp") ? "sev-snp-guest" : "sev-guest");
}

static int add_clock(struct pve_conf *conf)
{
	const char *start = pve_value(conf, "startdate");
	bool windows = pve_windows(conf) != 0, slew = pve_switch(conf, "tdf", windows);
	bool dated = start && !text_equal(start, "now");
	const char *base = dated ? start : pve_switch(conf, "localtime", windows) ? "localtime" : NULL;
	int outcome = 0;

	if (windows)
		outcome = pve_add(conf, NULL, "-global", "kvm-pit.lost_tick_policy=discard");
	if (outcome == 0 && (slew || base))
		outcome = pve_add(conf, NULL, "-rtc", "%s%s%s%s", base ? "base=" : "", base ? base : "",
				  base && slew ? "," : "", slew ? "driftfix=slew" : "");
	return outcome;
}

int pve_add_machine(struct pve_conf *conf)
{
	const struct pve_setting *machine = pve_setting(conf, "machine");
	struct qemu_options options = {0};
	int outcome = machine ? pve_properties(conf, machine, "type", &options) : 0;

	if (outcome < 0)
		return outcome;
	const char *type = qemu_option(&options, "type"), *viommu = qemu_option(&options, "viommu");

	if (!type)
		type = pve_is_foreign(conf) ? "virt" : "pc";
	if (pve_windows(conf) && (text_equal(type, "pc") || text_equal(type, "q35")))
		type = windows_machine(conf, type);
	outcome =
	    pve_add(conf, machine, "-machine", "type=%s%s%s%s", type, has_hpet(conf, type) ? "" : ",hpet=off",
		    text_equal(viommu, "intel") ? ",kernel-irqchip=split" : "", pve_has_kvm(conf) ? "" : ",accel=tcg");
	if (outcome == 0)
		outcome = add_viommu(conf, machine, viommu);
	if (outcome == 0)
		outcome = add_confidential(conf);
	return outcome < 0 ? outcome : add_clock(conf);
}

/* ---- CPU ---- */

/* CPU types that Proxmox makes of others. */
static const struct {
	const char *type, *model, *flags;
} made_types[] = {
    {"x86-64-v2", "qemu64", "+popcnt;+pni;+sse4.1;+sse4.2;+ssse3"},
    {"x86-64-v2-AES", "qemu64", "+aes;+popcnt;+pni;+sse4.1;+sse4.2;+ssse3"},
    {"x86-64-v3", "qemu64",
     "+aes;+popcnt;+pni;+sse4.1;+sse4.2;+ssse3;+avx;+avx2;+bmi1;+bmi2;+f16c;+fma;+abm;+movbe;+xsave"},
    {"x86-64-v4", "qemu64",
     "+aes;+popcnt;+pni;+sse4.1;+sse4.2;+ssse3;+avx;+avx2;+bmi1;+bmi2;+f16c;+fma;+abm;+movbe;+xsave;+avx512f;"
     "+avx512bw;+avx512cd;+avx512dq;+avx512vl"},
    {"kvm64", "kvm64", "+lahf_lm;+sep"},
};

/* What Windows of that version and later gets. */
static const struct {
	int since;
	const char *flag;
} windows_flags[] = {
    {6, "hv_spinlocks=0x1fff"}, {6, "hv_vapic"},   {6, "hv_time"},  {7, "hv_reset"},  {7, "hv_vpindex"},
    {7, "hv_runtime"},		{7, "hv_relaxed"}, {7, "hv_synic"}, {7, "hv_stimer"}, {7, "hv_ipi"},
};

/* `words` and behind them "+a;-b" as "+a,-b". */
static const char *with_flags(struct arena *arena, const char *words, const char *flags)
{
	if (!flags || !*flags)
		return words;
	char *all = arena_printf(arena, "%s,%s", words, flags);

	for (char *at = all + strlen(words); *at; at++)
		if (*at == ';')
			*at = ',';
	return all;
}

static const char *with_windows_flags(const struct pve_conf *conf, const char *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(windows_flags); i++)
		if (pve_windows(conf) >= windows_flags[i].since)
			words = arena_printf(conf->arena, "%s,%s", words, windows_flags[i].flag);
	return words;
}

/* "model,flag,flag": in the order in which later ones win: the type's, Proxmox's own, the user's. */
static const char *cpu_words(const struct pve_conf *conf, const char *type, const struct qemu_options *options)
{
	const char *model = type, *flags = NULL;
	const char *bits = qemu_option(options, "phys-bits");

	for (size_t i = 0; i < ARRAY_SIZE(made_types); i++)
		if (text_equal(made_types[i].type, type)) {
			model = made_types[i].model;
			flags = made_types[i].flags;
		}
	const char *words = with_flags(conf->arena, model, flags);

	if (text_equal(pve_value(conf, "ostype"), "solaris"))
		words = arena_printf(conf->arena, "%s,-x2apic", words);
	if (pve_has_kvm(conf))
		words = arena_printf(conf->arena, "%s,+kvm_pv_eoi,+kvm_pv_unhalt", words);
	words = with_windows_flags(conf, words);
	if (qemu_switch(qemu_option(options, "hidden")) == 1)
		words = arena_printf(conf->arena, "%s,kvm=off", words);
	if (bits)
		words = text_equal(bits, "host") ? arena_printf(conf->arena, "%s,host-phys-bits=true", words)
						 : arena_printf(conf->arena, "%s,phys-bits=%s", words, bits);
	return with_flags(conf->arena, words, qemu_option(options, "flags"));
}

static int add_smp(struct pve_conf *conf)
{
	enum { MOST = 4096 }; /* of any machine of QEMU */
	const struct pve_setting *place = pve_setting(conf, "cores");
	int cores = 1, sockets = 1, vcpus = 0;
	int outcome = pve_number(conf, "cores", 1, 1, MOST, &cores);

	if (outcome == 0)
		outcome = pve_number(conf, "smp", 1, 1, MOST, &sockets); /* the name of `sockets` before 2010 */
	if (outcome == 0)
		outcome = pve_number(conf, "sockets", sockets, 1, MOST, &sockets);
	if (outcome == 0)
		outcome = pve_number(conf, "vcpus", 0, 1, MOST, &vcpus);
	if (outcome < 0)
		return outcome;
	if (!place)
		place = pve_setting(conf, "sockets");
	if ((int64_t)cores * sockets > MOST)
		return err_set_at(conf->err, ERANGE, conf->path, place->line, place->column,
				  "%d cores in %d sockets are more vCPUs than QEMU takes (%d)", cores, sockets, MOST);
	int all = cores * sockets;

	return pve_add(conf, place, "-smp", "%d,sockets=%d,cores=%d,maxcpus=%d", vcpus ? vcpus : all, sockets, cores,
		       all);
}

int pve_add_cpu(struct pve_conf *conf)
{
	const struct pve_setting *cpu = pve_setting(conf, "cpu");
	struct qemu_options options = {0};
	int outcome = cpu ? pve_properties(conf, cpu, "cputype", &options) : 0;
	const char *type = qemu_option(&options, "cputype");

	if (outcome < 0)
		return outcome;
	if (!type)
		type = pve_has_kvm(conf) ? "kvm64" : pve_is_foreign(conf) ? "max" : "qemu64";
	outcome = pve_add(conf, cpu, "-cpu", "%s", cpu_words(conf, type, &options));
	return outcome < 0 ? outcome : add_smp(conf);
}

/* ---- memory ---- */

/* One cell's memory: `more` are further properties. */
static int add_backend(struct pve_conf *conf, const struct pve_setting *from, int node, int64_t mib, const char *more)
{
	const char *pages = pve_value(conf, "hugepages");
	bool any = text_equal(pages, "any");
	bool gigantic = any ? mib % 1024 == 0 : text_equal(pages, "1024");

	if (!pages)
		return pve_add(conf, from, "-object", "memory-backend-ram,id=ram-node%d,size=%lldM%s", node,
			       (long long)mib, more);
	return pve_add(conf, from, "-object",
		       "memory-backend-file,id=ram-node%d,size=%lldM,mem-path=/run/hugepages/kvm/%dkB,share=on,"
		       "prealloc=yes%s",
		       node, (long long)mib, gigantic ? 1048576 : 2048, more);
}

/* "numa0: cpus=0-3,hostnodes=0,memory=2048,policy=bind". */
static int add_numa_setting(struct pve_conf *conf, const struct pve_setting *setting, int node)
{
	struct qemu_options options;
	int outcome = pve_properties(conf, setting, NULL, &options);
	int64_t mib = 0;

	if (outcome < 0)
		return outcome;
	const char *memory = qemu_option(&options, "memory"), *cpus = qemu_option(&options, "cpus");
	const char *nodes = qemu_option(&options, "hostnodes"), *policy = qemu_option(&options, "policy");
	const char *more = nodes ? pve_each(conf->arena, "host-nodes", nodes) : "";

	if (!memory || text_int(memory, 10, &mib) < 0 || mib <= 0 || mib > INT32_MAX)
		return err_set_at(conf->err, EINVAL, conf->path, setting->line, setting->column,
				  "%s: memory= in MiB is missing or no number", setting->key);
	if (policy)
		more = arena_printf(conf->arena, "%s,policy=%s", more, policy);
	outcome = add_backend(conf, setting, node, mib, more);
	if (outcome < 0)
		return outcome;
	return pve_add(conf, setting, "-numa", "node,nodeid=%d%s,memdev=ram-node%d", node,
		       cpus ? pve_each(conf->arena, "cpus", cpus) : "", node);
}

/* `numa: 1` alone: a cell for each socket. */
static int add_cell_of_socket(struct pve_conf *conf, int socket, int cores, int64_t mib)
{
	const struct pve_setting *numa = pve_setting(conf, "numa");
	int outcome = add_backend(conf, numa, socket, mib, "");

	if (outcome < 0)
		return outcome;
	int first = socket * cores;
	const char *range = cores == 1 ? "" : arena_printf(conf->arena, "-%d", first + cores - 1);

	return pve_add(conf, numa, "-numa", "node,nodeid=%d,cpus=%d%s,memdev=ram-node%d", socket, first, range, socket);
}

static int add_cells(struct pve_conf *conf, int64_t mib)
{
	enum { NUMA_SETTINGS = 8 };
	int cores = 1, sockets = 1, given = 0, outcome = 0;

	for (int i = 0; outcome == 0 && i < NUMA_SETTINGS; i++) {
		const struct pve_setting *setting = pve_setting(conf, arena_printf(conf->arena, "numa%d", i));

		given += setting != NULL;
		if (setting)
			outcome = add_numa_setting(conf, setting, i);
	}
	if (outcome < 0 || given)
		return outcome;
	(void)pve_number(conf, "cores", 1, 1, INT32_MAX, &cores);
	(void)pve_number(conf, "sockets", 1, 1, INT32_MAX, &sockets);
	for (int i = 0; outcome == 0 && i < sockets; i++)
		outcome = add_cell_of_socket(conf, i, cores, mib / sockets);
	return outcome;
}

int pve_add_memory(struct pve_conf *conf)
{
	enum { DEFAULT_MIB = 512 };
	const struct pve_setting *memory = pve_setting(conf, "memory");
	struct qemu_options options = {0};
	int outcome = memory ? pve_properties(conf, memory, "current", &options) : 0;
	const char *current = qemu_option(&options, "current");
	int64_t mib = DEFAULT_MIB;

	if (outcome < 0)
		return outcome;
	if (memory && current && (text_int(current, 10, &mib) < 0 || mib <= 0 || mib > INT32_MAX))
		return err_set_at(conf->err, EINVAL, conf->path, memory->line, memory->column,
				  "memory: \"%.60s\" is no number of MiB", current);
	outcome = pve_add(conf, memory, "-m", "%lld", (long long)mib);
	if (outcome < 0)
		return outcome;
	if (pve_switch(conf, "numa", false))
		return add_cells(conf, mib);
	const struct pve_setting *pages = pve_setting(conf, "hugepages");

	return pages ? pve_add(conf, pages, "-mem-path", "/run/hugepages/kvm/%dkB",
			       text_equal(pages->value, "1024") ? 1048576 : 2048)
		     : 0;
}

/* ---- the whole ---- */

static int add_names(struct pve_conf *conf)
{
	const struct pve_setting *name = pve_setting(conf, "name"), *smbios = pve_setting(conf, "smbios1");
	int outcome = 0;

	if (name)
		outcome = pve_add(conf, name, "-name", "%s", name->value);
	else if (conf->vmid)
		outcome = pve_add(conf, NULL, "-name", "vm%s", conf->vmid);
	if (outcome == 0 && smbios)
		outcome = pve_add(conf, smbios, "-smbios", "type=1,%s", smbios->value);
	return outcome;
}

struct args {
	struct pve_conf *conf;
	const struct pve_setting *setting;
	struct vm *vm;
};

/* The words of `args:` stand behind all others, as Proxmox puts them. */
static int take_args(void *context, const struct qemu_words *words, int index, unsigned comment_line)
{
	struct args *args = context;
	const char **copy = ARENA_ARRAY(args->conf->arena, (size_t)words->count, const char *);
	int outcome = 0;

	(void)comment_line;
	for (int i = 0; index == 0 && outcome == 0 && i < words->count; i++) {
		struct qemu_word word = words->list[i];

		word.line = args->setting->line;
		word.column += args->setting->column - 1;
		copy[i] = word.text;
		outcome = qemu_words_add(&args->conf->words, args->conf->path, word, args->conf->err);
	}
	if (index == 0) {
		args->vm->qemu_args = copy;
		args->vm->qemu_arg_count = words->count;
	}
	return outcome;
}

static int add_args(struct pve_conf *conf, struct vm *vm)
{
	struct args args = {.conf = conf, .setting = pve_setting(conf, "args"), .vm = vm};

	if (!args.setting)
		return 0;
	int outcome = qemu_commands(conf->arena, conf->path, args.setting->value, strlen(args.setting->value),
				    take_args, &args, conf->err);

	if (outcome < 0 && conf->err && conf->err->line)
		conf->err->line = args.setting->line;
	return outcome;
}

static void set_affinity(const struct pve_conf *conf, struct vm *vm)
{
	const struct pve_setting *affinity = pve_setting(conf, "affinity");
	struct vm_place place = conf->taskset_place;
	const char *text = conf->taskset;

	if (affinity) {
		text = affinity->value;
		place = (struct vm_place){.line = affinity->line, .column = affinity->column};
	} else if (text) {
		vm_add_note(vm, place,
			    "cpu_taskset in the description is read by a hookscript: taken as one set for all threads");
	}
	if (!text)
		return;
	vm->cpuset = (struct vm_set){.place = place};
	vm->cputune_place = place;
	vm->cpuset.given = cpuset_parse(text, &vm->cpuset.set, NULL) == 0 && !cpuset_empty(&vm->cpuset.set);
	if (!vm->cpuset.given)
		vm->cpuset.text = text;
}

static const char *lines_of(struct arena *arena, const struct pve_section *section)
{
	return section->first == section->last ? arena_printf(arena, "line %u", section->first)
					       : arena_printf(arena, "lines %u-%u", section->first, section->last);
}

static void note_sections(const struct pve_conf *conf, struct vm *vm)
{
	for (int i = 0; i < conf->section_count; i++) {
		const struct pve_section *section = &conf->sections[i];
		const char *lines = lines_of(conf->arena, section);
		const struct vm_place place = {.line = section->first, .column = 1};

		if (text_equal(section->name, "PENDING"))
			vm_add_note(vm, place,
				    arena_printf(conf->arena, "pending changes in %s are not in force", lines));
		else if (!text_starts(section->name, "special:"))
			vm_add_note(
			    vm, place,
			    arena_printf(conf->arena, "%s are of the snapshot \"%.60s\"", lines, section->name));
	}
}

static void note_settings(const struct pve_conf *conf, struct vm *vm)
{
	static const struct {
		const char *key, *before, *behind;
	} told[] = {
	    {"hookscript", "the hookscript ", " runs at start and may change where threads run"},
	    {"lock", "the VM is locked: ", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		const struct pve_setting *setting = pve_setting(conf, told[i].key);

		if (setting)
			vm_add_note(
			    vm, (struct vm_place){.line = setting->line, .column = setting->column},
			    arena_printf(conf->arena, "%s%.100s%s", told[i].before, setting->value, told[i].behind));
	}
	const struct pve_setting *pages = pve_setting(conf, "hugepages");

	if (pages && !pve_switch(conf, "numa", false))
		vm_add_note(vm, (struct vm_place){.line = pages->line, .column = pages->column},
			    "hugepages needs numa: 1, Proxmox does not start the VM without it");
	if (pve_switch(conf, "template", false))
		vm_add_note(vm, (struct vm_place){0}, "a template: it never runs");
	if (conf->odd_line)
		vm_add_note(vm, (struct vm_place){.line = conf->odd_line, .column = 1},
			    arena_printf(conf->arena, "line %u is no setting", conf->odd_line));
}

static int add_all(struct pve_conf *conf, struct vm *vm)
{
	static int (*const parts[])(struct pve_conf *) = {add_names,	  pve_add_machine, pve_add_cpu,
							  pve_add_memory, pve_add_disks,   pve_add_devices};
	int outcome = 0;

	for (size_t i = 0; outcome == 0 && i < ARRAY_SIZE(parts); i++)
		outcome = parts[i](conf);
	return outcome < 0 ? outcome : add_args(conf, vm);
}

int vm_read_proxmox(const char *path, const char *text, size_t size, struct vm **ret, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = vm_new(VM_PROXMOX_CONF, path);
	struct pve_conf conf = {.arena = vm->arena, .path = vm->path, .err = err, .words.arena = vm->arena};
	struct qemu_reader reader = {.vm = vm, .arena = vm->arena, .path = vm->path, .err = err};

	if (memchr(text, '\0', size))
		return err_set(err, EINVAL, path, "it holds a NUL: no text");
	int outcome = pve_conf_parse(&conf, text, size);

	if (outcome == 0)
		outcome = add_all(&conf, vm);
	reader.kvm = pve_has_kvm(&conf);
	if (outcome == 0)
		outcome = qemu_reader_read(&reader, &conf.words, 0);
	if (outcome < 0)
		return outcome;
	vm->arch = pve_value(&conf, "arch");
	vm->os_hint = pve_windows(&conf) ? "windows" : NULL;
	set_affinity(&conf, vm);
	note_sections(&conf, vm);
	note_settings(&conf, vm);
	*ret = vm;
	vm = NULL;
	return 0;
}
