/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_kvm.h. */
#include "host_kvm.h"

#include "host.h"
#include "text.h"

enum { PARAMETERS_MAX = 256 };

static const char *const modules[] = {"kvm", "kvm_amd", "kvm_intel", "vhost", "vhost_net"};

bool host_kvm_in_use(const struct host_kvm *kvm)
{
	return fact_number_or(&kvm->users, 0) > 0;
}

static struct fact module_fact(struct host *host, const char *name, const char *module)
{
	const char *path = arena_printf(host->arena, "/sys/module/%s", module);

	if (sys_has_dir(host->sys, "%s", path))
		return fact_switch(name, true, path);
	return host->whole ? fact_switch(name, false, path) : fact_absent(name, path);
}

static void read_parameters(struct host *host)
{
	struct host_kvm *kvm = &host->kvm;

	kvm->parameters = ARENA_ARRAY(host->arena, PARAMETERS_MAX, struct kvm_parameter);
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		const struct sys_look *look = sys_list(host->sys, "/sys/module/%s/parameters", modules[i]);

		for (size_t j = 0; look->state == SYS_VALUE && j < look->size; j++) {
			if (kvm->parameter_count == PARAMETERS_MAX)
				return;
			kvm->parameters[kvm->parameter_count++] = (struct kvm_parameter){
			    .module = modules[i],
			    .name = look->names[j],
			    .value = fact_read_text(host->arena, host->sys, "kvm.parameter",
						    "/sys/module/%s/parameters/%s", modules[i], look->names[j]),
			};
		}
	}
}

const struct fact *host_kvm_parameter(const struct host_kvm *kvm, const char *module, const char *name)
{
	for (int i = 0; i < kvm->parameter_count; i++)
		if (text_equal(kvm->parameters[i].module, module) && text_equal(kvm->parameters[i].name, name))
			return &kvm->parameters[i].value;
	return NULL;
}

/* A bool of a module reads Y or N, an int that is used as one 1 or 0; "never" and "auto" of nx_huge_pages are words. */
static struct fact parameter_switch(struct host *host, const char *name, const char *module, const char *parameter)
{
	const char *path = arena_printf(host->arena, "/sys/module/%s/parameters/%s", module, parameter);
	const struct fact *value = host_kvm_parameter(&host->kvm, module, parameter);

	if (!value)
		return fact_absent(name, path);
	/* "auto" that was not resolved: 7.x reads so until the module knows. */
	if (fact_is_text(value, "auto") || fact_is_text(value, "-1")) {
		struct fact fact = fact_absent(name, path);

		fact.note = "auto";
		return fact;
	}
	if (fact_is_text(value, "never"))
		return fact_switch(name, false, path);
	return fact_read_switch(host->arena, host->sys, name, "%s", path);
}

static struct fact read_device(struct host *host, const char *name, const char *device)
{
	const struct sys_look *look = sys_list(host->sys, "/dev");
	const char *path = arena_printf(host->arena, "/dev/%s", device);
	bool whole = false;

	if (look->state != SYS_VALUE)
		return fact_of_look(name, look);
	for (size_t i = 0; i < look->size; i++) {
		if (text_equal(look->names[i], device))
			return fact_switch(name, true, path);
		whole |= text_equal(look->names[i], "null");
	}
	/* A copy with a few devices only says nothing about this one. */
	return whole ? fact_switch(name, false, path) : fact_absent(name, path);
}

void host_kvm_read(struct host *host)
{
	struct host_kvm *kvm = &host->kvm;
	bool intel = fact_is_text(&host->cpu.vendor, "GenuineIntel");
	const char *vendor = intel ? "kvm_intel" : "kvm_amd";
	const char *flag = intel ? "vmx" : "svm";

	kvm->flag_svm = fact_known(&host->cpu.flags) ? fact_switch("kvm.flag", host_cpu_has_flag(&host->cpu, flag),
								   intel ? "CPU flag vmx" : "CPU flag svm")
						     : fact_absent("kvm.flag", intel ? "CPU flag vmx" : "CPU flag svm");
	kvm->module_kvm = module_fact(host, "kvm.module", "kvm");
	kvm->module_vendor = module_fact(host, "kvm.module_vendor", vendor);
	kvm->module_vhost_net = module_fact(host, "kvm.module_vhost_net", "vhost_net");
	kvm->device = read_device(host, "kvm.device", "kvm");
	kvm->device_vhost_net = read_device(host, "kvm.device_vhost_net", "vhost-net");
	/* kvm_create_vm() takes a reference to the module that owns /dev/kvm, and each open file of a VM holds one. */
	kvm->users = fact_read_number(host->arena, host->sys, UNIT_COUNT, "kvm.users", "/sys/module/%s/refcnt", vendor);
	read_parameters(host);
	kvm->halt_poll_ns = fact_absent("kvm.halt_poll_ns", "/sys/module/kvm/parameters/halt_poll_ns");
	if (host_kvm_parameter(kvm, "kvm", "halt_poll_ns"))
		/* An unsigned int of nanoseconds: 4.3 s at most. */
		kvm->halt_poll_ns = fact_within(fact_read_number(host->arena, host->sys, UNIT_NS, "kvm.halt_poll_ns",
								 "/sys/module/kvm/parameters/halt_poll_ns"),
						0, INT64_C(0xffffffff), "beyond 32 bits");
	kvm->npt = parameter_switch(host, "kvm.npt", vendor, intel ? "ept" : "npt");
	kvm->nested = parameter_switch(host, "kvm.nested", vendor, "nested");
	kvm->avic = parameter_switch(host, "kvm.avic", vendor, intel ? "enable_apicv" : "avic");
	kvm->nx_huge_pages = parameter_switch(host, "kvm.nx_huge_pages", "kvm", "nx_huge_pages");
}

void host_kvm_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_kvm *kvm = &host->kvm;
	bool intel = fact_is_text(&host->cpu.vendor, "GenuineIntel");

	rows->section = "Can it run";
	host_rows_add(rows, intel ? "CPU flag vmx" : "CPU flag svm", &kvm->flag_svm);
	host_rows_add(rows, "/dev/kvm", &kvm->device);
	host_rows_add(rows, "Module kvm", &kvm->module_kvm);
	host_rows_add(rows, intel ? "Module kvm_intel" : "Module kvm_amd", &kvm->module_vendor);
	host_rows_add(rows, "Users of that module", &kvm->users);
	host_rows_add(rows, "Module vhost_net", &kvm->module_vhost_net);
	for (int i = 0; i < kvm->parameter_count; i++) {
		const struct kvm_parameter *parameter = &kvm->parameters[i];

		rows->section = arena_printf(rows->arena, "Parameters of %s", parameter->module);
		host_rows_add(rows, parameter->name, &parameter->value);
	}
}
