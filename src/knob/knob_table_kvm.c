/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of KVM that can be set while VMs run. Sources: Documentation/virt/kvm/halt-polling.rst of Linux,
 * Documentation/admin-guide/kernel-parameters.txt, arch/x86/kvm/x86.c and mmu/mmu.c for the modes of the files.
 */
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define KVM "/sys/module/kvm/parameters/"

static const struct knob halt_poll = {
    .name = "kvm.halt_poll_ns",
    .summary = "how long KVM polls before an idle vCPU sleeps",
    .value = "ns",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KVM "halt_poll_ns",
    .least = 0,
    .most = 10000000,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "polling costs watts and keeps cores from deep idle; without it wake-ups of vCPUs take longer",
};

static const struct knob halt_poll_grow = {
    .name = "kvm.halt_poll_ns_grow",
    .summary = "factor by which polling grows when it was too short; 0: it does not",
    .value = "0-100",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KVM "halt_poll_ns_grow",
    .least = 0,
    .most = 100,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob halt_poll_start = {
    .name = "kvm.halt_poll_ns_grow_start",
    .summary = "where polling starts to grow from",
    .value = "ns",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KVM "halt_poll_ns_grow_start",
    .least = 0,
    .most = 10000000,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob halt_poll_shrink = {
    .name = "kvm.halt_poll_ns_shrink",
    .summary = "divisor by which polling shrinks when it was too long; 0: to nothing at once",
    .value = "0-100",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = KVM "halt_poll_ns_shrink",
    .least = 0,
    .most = 100,
    .rank = KNOB_RANK_PLAIN,
};

/* Splitting huge pages keeps a guest from stopping an Intel CPU with the erratum; AMD's have none. */
static int judge_nx(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step, struct err *err)
{
	static const char file[] = "/sys/devices/system/cpu/vulnerabilities/itlb_multihit";
	const struct knob_point *point = &plan->points.items[step->first];
	const char *state = "unknown";

	if (text_equal(point->new, "off") && knob_get_value(machine, file, &state, err) == 0 &&
	    !text_equal(state, "Not affected") && !plan->hole)
		plan->hole = arena_printf(machine->arena, "%s=%s", point->name, point->new);
	return 0;
}

static const struct knob nx_huge_pages = {
    .name = "kvm.nx_huge_pages",
    .summary = "whether huge pages of guests are split where code runs (erratum of Intel CPUs)",
    .value = "on|off",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_switch_file,
    .path = KVM "nx_huge_pages",
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
    .judge = judge_nx,
    .hurts = "on costs TLB misses of guests",
};

static const struct knob ignore_msrs = {
    .name = "kvm.ignore_msrs",
    .summary = "whether reads of MSRs that KVM does not know give 0 instead of a fault",
    .value = "on|off",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_switch_file,
    .path = KVM "ignore_msrs",
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
    .hurts = "guests that probe MSRs may take what is not there for there",
};

static const struct knob report_msrs = {
    .name = "kvm.report_ignored_msrs",
    .summary = "whether ignored MSRs are told in the kernel log",
    .value = "on|off",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_switch_file,
    .path = KVM "report_ignored_msrs",
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob page_split = {
    .name = "kvm.eager_page_split",
    .summary = "whether huge pages are split ahead of a migration (Linux 5.18)",
    .value = "on|off",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_switch_file,
    .path = KVM "eager_page_split",
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
};

const struct knob *const knob_table_kvm[] = {
    &halt_poll,	       &halt_poll_grow, &halt_poll_start,
    &halt_poll_shrink, &nx_huge_pages,	&ignore_msrs,
    &report_msrs,      &page_split,	NULL,
};
