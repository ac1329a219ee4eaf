/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of plans: what is refused before anything is written, and the order of what is written. */
#include <errno.h>

#include "kernel.h"
#include "knob_plan.h"
#include "text.h"
#include "unit.h"

enum { MOST_ASKS = 6 };

struct planned {
	struct knob_machine machine;
	struct knob_plan plan;
	struct err err;
	int r;
};

static void make(const struct kernel *kernel, const char *const asks[MOST_ASKS], struct planned *ret)
{
	struct knob_ask parsed[MOST_ASKS];
	size_t count = 0;

	*ret = (struct planned){0};
	assert_int_equal(knob_machine_open(kernel->tree->root, NULL, &ret->machine, &ret->err), 0);
	while (count < MOST_ASKS && asks[count]) {
		ret->r = knob_ask_parse(ret->machine.arena, asks[count], &parsed[count], &ret->err);
		if (ret->r < 0)
			return;
		count++;
	}
	ret->r = knob_plan_make(&ret->machine, parsed, count, &ret->plan, &ret->err);
}

struct refusal {
	const char *mode;
	const char *asks[MOST_ASKS];
	int r;
	const char *part; /* of what is said */
};

static const struct refusal refusals[] = {
    {"active", {"min_freq=200000"}, -ERANGE, "400000 to 3700000"},
    {"active", {"max_freq=9000000"}, -ERANGE, "400000 to 3700000"},
    {"active", {"max_freq@1=1000000"}, -ERANGE, "min_freq 1500000"},
    {"active", {"min_freq=3000000", "max_freq=2000000"}, -ERANGE, "3000000"},
    {"active", {"boost=0", "max_freq=3000000"}, -ERANGE, "at most 2800000 kHz without boost"},
    {"guided", {"max_freq@1=3000000", "boost=0"}, -ERANGE, "at most 2800000 kHz without boost"},
    {"passive", {"boost=0", "min_freq=3000000"}, -ERANGE, "at most 2800000 kHz without boost"},
    {"active", {"governor=performance", "epp=power"}, -EINVAL, "holds EPP"},
    {"active", {"amd_pstate=passive", "epp=power"}, -EINVAL, "is gone with amd_pstate=passive"},
    {"passive", {"amd_pstate=disable", "max_freq=2000000"}, -EINVAL, "is gone with"},
    {"passive", {"amd_pstate=active", "governor=ondemand"}, -EINVAL, "performance and powersave"},
    {"passive", {"amd_pstate=active", "cpu_boost=0"}, -ENOENT, "no such setting"},
    {"active", {"epp=100"}, -EINVAL, "no numbers"},
    {"active", {"epp=custom"}, -EINVAL, "takes one of"},
    {"passive", {"epp=power"}, -ENOENT, "no such setting"},
    {"passive", {"dirty_bytes=1000000", "dirty_ratio=10"}, -EINVAL, "undo each other"},
    {"passive", {"thp=madvise", "thp=never"}, -EINVAL, "both"},
    {"passive", {"thp=never", "thp=always"}, -EINVAL, "both"},
    {"passive", {"x3d_mode=cache"}, -ENOENT, "no such setting"},
    {"passive", {"idle.C6=off"}, -ENOENT, "no CPU has such an idle state"},
    {"passive", {"idle.C2@0-9=off"}, -ENOENT, "no CPU 3-9"},
    {"passive", {"idle.C2=1"}, -EINVAL, "takes on off"},
    {"passive", {"idle.*=off"}, -EINVAL, "stands for a family"},
    {"passive", {"thp.32k=always"}, -ENOENT, "of that size"},
    {"passive", {"thp.64k=within_size"}, -EINVAL, "takes one of"},
    {"passive", {"thp.defrg=never"}, -ENOENT, "of that size"},
    {"passive", {"ksm.merge_across_nodes=0"}, -EBUSY, "100 are"},
    {"passive", {"min_free_kbytes=4000000"}, -ERANGE, "3276800"},
    {"passive", {"kvm.halt_poll_ns=many"}, -EINVAL, "number"},
};

static void refused_before_anything_is_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct kernel kernel;
		struct planned planned;

		kernel_start(&kernel, refusals[i].mode);
		kernel_add_idle(&kernel);
		kernel_add_memory(&kernel);
		make(&kernel, refusals[i].asks, &planned);
		if (planned.r != refusals[i].r || !strstr(planned.err.what, refusals[i].part))
			fail_msg("%s: %d: %s: %s", refusals[i].asks[0], planned.r, planned.err.where, planned.err.what);
		knob_machine_close(&planned.machine);
		kernel_stop(&kernel);
	}
}

struct order {
	const char *asks[MOST_ASKS];
	const char *steps[MOST_ASKS]; /* the names of the steps in order */
};

static const struct order orders[] = {
    {{"epp=power", "governor=powersave", "boost=0"}, {"boost", "epp"}},
    {{"min_freq=2000000", "max_freq=3000000"}, {"min_freq", "max_freq"}},
    {{"max_freq=1000000", "min_freq=600000"}, {"min_freq", "max_freq"}},
    {{"swappiness=10", "thp=never", "amd_pstate=passive"}, {"amd_pstate", "swappiness", "thp"}},
    /* Written though it is right now: the step before it moves it. */
    {{"min_freq=1500000", "boost=0"}, {"boost", "min_freq"}},
    {{"max_freq=2800000", "boost=0"}, {"boost", "max_freq"}},
};

static void written_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct kernel kernel;
		struct planned planned;

		kernel_start(&kernel, "active");
		make(&kernel, orders[i].asks, &planned);
		if (planned.r < 0)
			fail_msg("%s: %s: %s", orders[i].asks[0], planned.err.where, planned.err.what);
		for (size_t step = 0; step < MOST_ASKS; step++) {
			const char *name = step < planned.plan.step_count ? planned.plan.steps[step].name : NULL;

			if (name != orders[i].steps[step] && !text_equal(name, orders[i].steps[step]))
				fail_msg("%s: step %zu is %s", orders[i].asks[0], step, name ? name : "none");
		}
		knob_machine_close(&planned.machine);
		kernel_stop(&kernel);
	}
}

/* Both limits up: the upper one has to make way first, which is the other way round than asked. */
static void limits_that_rise(void **state)
{
	static const char *const asks[MOST_ASKS] = {"min_freq@0=2000000", "max_freq@0=2200000"};
	struct kernel kernel;
	struct planned planned;

	(void)state;
	kernel_start(&kernel, "active");
	kernel_write(&kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "800000");
	kernel_write(&kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1000000");
	make(&kernel, asks, &planned);
	assert_int_equal(planned.r, 0);
	assert_string_equal(planned.plan.steps[0].name, "max_freq");
	knob_machine_close(&planned.machine);
	kernel_stop(&kernel);
}

static bool has_note(const struct planned *planned, const char *part)
{
	for (size_t i = 0; i < planned->plan.note_count; i++)
		if (strstr(planned->plan.notes[i], part))
			return true;
	return false;
}

/* A state by its number is the state by its name; who turns all off is told that polling is left. */
static void idle_states(void **state)
{
	static const char *const one[MOST_ASKS] = {"idle.2=off", "idle.C2@1=off"};
	static const char *const all[MOST_ASKS] = {"idle.C1=off", "idle.C2@1=off"};
	struct kernel kernel;
	struct planned planned;

	(void)state;
	kernel_start(&kernel, "active");
	kernel_add_idle(&kernel);
	make(&kernel, one, &planned);
	assert_int_equal(planned.r, 0);
	assert_int_equal(planned.plan.points.count, KERNEL_CPUS);
	assert_false(has_note(&planned, "polling"));
	knob_machine_close(&planned.machine);
	make(&kernel, all, &planned);
	assert_int_equal(planned.r, 0);
	assert_true(has_note(&planned, "CPU 1 would have no idle state left but polling"));
	knob_machine_close(&planned.machine);
	kernel_stop(&kernel);
}

/* Turning the erratum's cure off is a hole where the CPU has it. */
static void holes_of_this_cpu(void **state)
{
	static const char *const asks[MOST_ASKS] = {"kvm.nx_huge_pages=off"};
	static const char file[] = "/sys/devices/system/cpu/vulnerabilities/itlb_multihit";
	struct kernel kernel;
	struct planned planned;

	(void)state;
	kernel_start(&kernel, "active");
	kernel_add_memory(&kernel);
	kernel_put(&kernel, "/sys/module/kvm/parameters/nx_huge_pages", "Y");
	tree_write(kernel.tree, file, "Not affected\n");
	make(&kernel, asks, &planned);
	assert_int_equal(planned.r, 0);
	assert_null(planned.plan.hole);
	knob_machine_close(&planned.machine);
	tree_write(kernel.tree, file, "KVM: Mitigation: Split huge pages\n");
	make(&kernel, asks, &planned);
	assert_string_equal(planned.plan.hole, asks[0]);
	knob_machine_close(&planned.machine);
	kernel_stop(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused_before_anything_is_written),
	    cmocka_unit_test(written_in_order),
	    cmocka_unit_test(limits_that_rise),
	    cmocka_unit_test(idle_states),
	    cmocka_unit_test(holes_of_this_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
