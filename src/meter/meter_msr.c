/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns energy of packages by the registers themselves (/dev/cpu/N/msr), for kernels that offer neither powercap zones
 * nor a PMU of perf for a new part: MSR 0xC001029B counts units of 2^-ESU J, ESU being bits 12:8 of MSR 0xC0010299 (AMD
 * PPR). The unit of power in that register may be 0 and is not looked at. Registers are only read.
 *
 * The counter has 32 bit on Milan and before, 64 on families 19h models 10h-1Fh, 90h-9Fh, A0h-AFh and 1Ah 00h-1Fh. A
 * value above 32 bit tells too.
 */
#include "meter_driver.h"

#include <errno.h>
#include <math.h>

#include "cpuset.h"
#include "text.h"

#define MSR_UNITS UINT32_C(0xc0010299)
#define MSR_PACKAGE UINT32_C(0xc001029b)

static const char needs_module[] = "modprobe msr and run hvtune as root; not where the kernel is locked down";

static const struct wide {
	int family, first, last; /* models */
} wide_counters[] = {{0x19, 0x10, 0x1f}, {0x19, 0x90, 0x9f}, {0x19, 0xa0, 0xaf}, {0x1a, 0x00, 0x1f}};

/* "cpu family	: 25" of /proc/cpuinfo; -1. */
static int cpuinfo_number(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	at = at ? strchr(at, ':') : NULL;
	return at ? (int)strtol(at + 1, NULL, 10) : -1;
}

struct cpu_kind {
	bool amd, wide;
};

static struct cpu_kind kind_of(struct meter_set *set)
{
	const struct sys_look *look = sys_read(set->sys, "/proc/cpuinfo");
	struct cpu_kind kind = {0};

	if (look->state != SYS_VALUE)
		return kind;
	int family = cpuinfo_number(look->data, "cpu family"), model = cpuinfo_number(look->data, "model\t");

	kind.amd = (strstr(look->data, "AuthenticAMD") && family >= 0x17) || strstr(look->data, "HygonGenuine");
	for (size_t i = 0; i < ARRAY_SIZE(wide_counters); i++)
		kind.wide |= family == wide_counters[i].family && model >= wide_counters[i].first &&
			     model <= wide_counters[i].last;
	return kind;
}

static bool counts_already(const struct meter_set *set, int package)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->inputs[i]->source.quantity == METER_ENERGY &&
		    set->inputs[i]->source.boundary == METER_PACKAGE && set->inputs[i]->source.package == package)
			return true;
	return false;
}

static int open_register(struct meter_set *set, int cpu, struct meter_input *input, bool wide)
{
	uint64_t units = 0, value = 0;
	int r = sys_again_open_msr(set->sys, cpu, &input->file);

	if (r == 0)
		r = sys_again_msr(&input->file, MSR_UNITS, &units);
	if (r == 0)
		r = sys_again_msr(&input->file, MSR_PACKAGE, &value);
	if (r < 0)
		return r;
	input->source.resolution = input->source.counter.unit_j = ldexp(1, -(int)((units >> 8) & 0x1f));
	input->source.counter.range = wide || value >> 32 ? 0 : UINT64_C(1) << 32;
	return 0;
}

static void add_package(struct meter_set *set, int cpu, int package, bool wide)
{
	struct meter_input *input =
	    meter_add(set, &meter_msr,
		      (struct meter_source){.name = arena_printf(set->arena, "msr.package-%d", package),
					    .place = arena_printf(set->arena, "/dev/cpu/%d/msr", cpu),
					    .quantity = METER_ENERGY,
					    .boundary = METER_PACKAGE,
					    .package = package,
					    .refresh_s = 0.001,
					    .counter = {.unit_j = 1, .stands_ns = 1000000000}});
	int r = set->setup.only_look ? 0 : open_register(set, cpu, input, wide);

	input->source.hint = needs_module;
	if (r < 0)
		meter_refuse(set, input, -r, needs_module);
}

/* Where perf or powercap offers the counter, also when it is refused, the file is no better. */
static int find(struct meter_set *set, struct err *err)
{
	const char *online = meter_text(set, "/sys/devices/system/cpu/online");
	struct cpu_kind kind = kind_of(set);
	struct cpuset cpus, packages = {0};

	(void)err;
	if (!kind.amd || !online || cpuset_parse(online, &cpus, NULL) < 0)
		return 0;
	CPUSET_FOREACH (cpu, &cpus) {
		int package = meter_package_of(set->sys, cpu);

		if (package < 0 || cpuset_has(&packages, package) || counts_already(set, package))
			continue;
		cpuset_add(&packages, package);
		add_package(set, cpu, package, kind.wide);
	}
	return 0;
}

static void read_register(struct meter_input *input, struct meter_reading *ret)
{
	int r = sys_again_msr(&input->file, MSR_PACKAGE, &ret->count);

	if (r < 0)
		meter_unread(ret, -r);
	/* What stands above the counter's 32 bits is reserved. */
	else if (input->source.counter.range)
		ret->count &= UINT32_MAX;
}

const struct meter_driver meter_msr = {.name = "msr", .find = find, .read = read_register};
