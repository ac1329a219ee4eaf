/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of settings that are lines of files: what a change makes of a file byte for byte, that undo gives it
 * back, and what is said of other files that set the same.
 */
#include <errno.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

#define MODPROBE "/etc/modprobe.d/hvtune.conf"
#define SYSCTL "/etc/sysctl.d/90-hvtune.conf"
#define TMPFILES "/etc/tmpfiles.d/hvtune.conf"
#define POLICY "/sys/devices/system/cpu/cpufreq/policy1"
#define IRQBALANCE "/etc/default/irqbalance"

#define MODPROBE_HEAD "# Options of modules set by hvtune; `hvtune undo` takes them out again.\n"
#define LASTING_HEAD "# Set by hvtune (lasting.KNOB=VALUE); `hvtune undo` takes it out again.\n"

enum { MOST_ASKS = 4 };

struct work {
	struct kernel kernel;
	struct knob_machine machine;
	struct knob_plan plan;
	struct err err;
};

static void start(struct work *work)
{
	*work = (struct work){0};
	kernel_start(&work->kernel, "active");
	kernel_add_idle(&work->kernel);
	kernel_add_devices(&work->kernel);
}

static void stop(struct work *work)
{
	knob_machine_close(&work->machine);
	kernel_stop(&work->kernel);
}

static int plan(struct work *work, const char *const asks[MOST_ASKS])
{
	struct knob_ask parsed[MOST_ASKS];
	size_t count = 0;

	knob_machine_close(&work->machine);
	assert_int_equal(knob_machine_open(work->kernel.tree->root, NULL, &work->machine, &work->err), 0);
	for (; count < MOST_ASKS && asks[count]; count++)
		assert_int_equal(knob_ask_parse(work->machine.arena, asks[count], &parsed[count], &work->err), 0);
	return knob_plan_make(&work->machine, parsed, count, &work->plan, &work->err);
}

struct edit {
	const char *path, *before, *after; /* before NULL: no such file */
	const char *asks[MOST_ASKS];
};

static const struct edit edits[] = {
    {MODPROBE, NULL, MODPROBE_HEAD "options kvm_amd avic=1\n", {"module.kvm_amd.avic=1"}},
    {MODPROBE,
     NULL,
     MODPROBE_HEAD "options kvm_amd avic=1\noptions kvm halt_poll_ns=0\n",
     {"module.kvm_amd.avic=1", "module.kvm.halt_poll_ns=0"}},
    {MODPROBE, "options kvm_amd avic=0\n", "options kvm_amd avic=1\n", {"module.kvm_amd.avic=1"}},
    {MODPROBE,
     "#options kvm_amd avic=1\noptions\tkvm_amd  vls=1 avic=0  # x\noptions kvm avic=3",
     "#options kvm_amd avic=1\noptions\tkvm_amd  vls=1 avic=auto  # x\noptions kvm avic=3",
     {"module.kvm_amd.avic=auto"}},
    {MODPROBE, "# no newline", "# no newline\noptions kvm_amd avic=1", {"module.kvm_amd.avic=1"}},
    {MODPROBE, "options kvm_amd avic=\n", "options kvm_amd avic=1\n", {"module.kvm_amd.avic=1"}},
    {MODPROBE, "", "options kvm_amd avic=1\n", {"module.kvm_amd.avic=1"}},
    {SYSCTL, NULL, LASTING_HEAD "vm.swappiness = 10\n", {"lasting.swappiness=10"}},
    {SYSCTL, "kernel.x=1\n -vm/swappiness=  60  \n", "kernel.x=1\n -vm/swappiness=  10  \n", {"lasting.swappiness=10"}},
    {SYSCTL, "vm.swappiness2 = 1\r\n", "vm.swappiness2 = 1\r\nvm.swappiness = 10\n", {"lasting.swappiness=10"}},
    {SYSCTL, "caf\xe9\n", "caf\xe9\nvm.swappiness = 10\n", {"lasting.swappiness=10"}},
    {TMPFILES,
     NULL,
     LASTING_HEAD "w /sys/kernel/mm/transparent_hugepage/enabled - - - - never\n",
     {"lasting.thp=never"}},
    {TMPFILES,
     NULL,
     LASTING_HEAD "w /sys/devices/system/cpu/cpu0/cpuidle/state2/disable - - - - 1\n"
		  "w /sys/devices/system/cpu/cpu1/cpuidle/state2/disable - - - - 1\n",
     {"lasting.idle.C2@0-1=off"}},
    {TMPFILES,
     "w /sys/kernel/mm/ksm/run - - - - 1\nw! /sys/kernel/mm/transparent_hugepage/enabled\t- - - -   always\n",
     "w /sys/kernel/mm/ksm/run - - - - 1\nw! /sys/kernel/mm/transparent_hugepage/enabled\t- - - -   never\n",
     {"lasting.thp=never"}},
    {TMPFILES,
     "w " POLICY "/energy_performance_preference - - - - power\n",
     "w " POLICY "/scaling_governor - - - - powersave\nw " POLICY "/energy_performance_preference - - - - power\n",
     {"lasting.governor@1=powersave"}},
    {TMPFILES,
     "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance\n",
     "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance\n"
     "w " POLICY "/scaling_governor - - - - powersave\n",
     {"lasting.governor@1=powersave"}},
    {TMPFILES,
     NULL,
     LASTING_HEAD "w /sys/devices/system/cpu/cpu*/cpuidle/state2/disable - - - - 1\n",
     {"lasting.idle.C2=off"}},
    {TMPFILES,
     "w " POLICY "/energy_performance_preference - - - - power\n# mine\n",
     "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - powersave\n"
     "w " POLICY "/energy_performance_preference - - - - power\n# mine\n",
     {"lasting.governor=powersave"}},
    {TMPFILES,
     "w /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference - - - - power\n",
     "w " POLICY "/scaling_governor - - - - powersave\n"
     "w /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference - - - - power\n",
     {"lasting.governor@1=powersave"}},
    {TMPFILES,
     NULL,
     LASTING_HEAD "w " POLICY "/scaling_governor - - - - powersave\n"
		  "w " POLICY "/energy_performance_preference - - - - power\n",
     {"lasting.epp@1=power", "lasting.governor@1=powersave"}},
    {IRQBALANCE,
     "#IRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_ARGS=\"a b\"\n",
     "#IRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_ARGS=\"a b\"\nIRQBALANCE_BANNED_CPULIST=1-2\n",
     {"irqbalance.ban=1-2"}},
    {IRQBALANCE,
     " export IRQBALANCE_BANNED_CPULIST='0' \n\n# end",
     " export IRQBALANCE_BANNED_CPULIST='1-2' \n\n# end",
     {"irqbalance.ban=1-2"}},
    {IRQBALANCE, "IRQBALANCE_BANNED_CPULIST=\"0,1\"\n", "IRQBALANCE_BANNED_CPULIST=\"\"\n", {"irqbalance.ban=none"}},
};

static void assert_file(const struct work *work, const struct edit *edit, const char *expected, const char *when)
{
	const struct sys_look *look;
	struct sys *sys;
	struct err err;

	/* Not as a value, of which the last newline goes. */
	assert_int_equal(sys_open_dir(work->kernel.tree->root, &sys, &err), 0);
	look = sys_read(sys, "%s", edit->path);
	if (expected ? look->state != SYS_VALUE || !text_equal(look->data, expected) : look->state != SYS_ABSENT)
		fail_msg("%s, %s: is\n%s", edit->asks[0], when, look->data ? look->data : "absent");
	sys_close(sys);
}

static void edits_change_one_line_and_undo_gives_back_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		const struct knob_apply_options options = {.what = "a test"};
		struct knob_report report;
		struct work work;

		start(&work);
		if (edits[i].before)
			tree_write(work.kernel.tree, edits[i].path, edits[i].before);
		if (plan(&work, edits[i].asks) < 0 ||
		    knob_apply(&work.machine, &work.plan, &options, &report, &work.err) < 0)
			fail_msg("%s: %s: %s", edits[i].asks[0], work.err.where, work.err.what);
		assert_file(&work, &edits[i], edits[i].after, "set");
		if (knob_undo(&work.machine, 0, &report, &work.err) < 0)
			fail_msg("%s: %s: %s", edits[i].asks[0], work.err.where, work.err.what);
		assert_file(&work, &edits[i], edits[i].before, "undone");
		stop(&work);
	}
}

struct refusal {
	const char *ask;
	int r;
	const char *part; /* of where, line, what or hint */
};

static const struct refusal refusals[] = {
    {"module.kvm_amd.nested=1", -EEXIST, "/etc/modprobe.d/kvm.conf:3: sets kvm_amd.nested=0 already"},
    {"module.kvm.halt_poll_ns_grow=2", -ENOENT, "no such option"},
    {"module.vfio.x=1", -ENOENT, "kvm and kvm_amd"},
    {"module.kvm_amd.avic=2", -EINVAL, "is a switch"},
    {"module.kvm.halt_poll_ns=Y", -EINVAL, "takes a number"},
    {"module.kvm.mitigate_smt_rsb=1 x=2", -EINVAL, "is a switch"},
    {"lasting.amd_pstate=active", -EINVAL, "boot.*"},
    {"lasting.kvm.halt_poll_ns=0", -EINVAL, "module.kvm"},
    {"lasting.irq@24=0", -EINVAL, "no value that a file can set"},
    {"lasting.module.kvm_amd.avic=1", -EINVAL, "lasts by itself"},
    {"lasting.lasting.thp=never", -ENOENT, "no such knob"},
    {"lasting.swapines=1", -ENOENT, "no such knob"},
    {"lasting.swappiness=900", -ERANGE, "0 to 200"},
    {"irqbalance.ban=0-7", -EINVAL, "no CPU for interrupts"},
    {"irqbalance.ban=x", -EINVAL, "list of CPUs"},
    {"irq.default=9", -EINVAL, "is online"},
    {"irq.default=x", -EINVAL, "list of CPUs"},
    {"lasting.itmt=off", -EINVAL, "no value that a file can set"},
    {"irq=0-1", -EINVAL, "which interrupts"},
    {"irq@24=9", -EINVAL, "is online"},
    {"irq@eth7=0", -ENOENT, "no network device"},
    {"irq@99=0", -ENOENT, "no IRQ 99"},
};

static void refused_in_the_plan(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct work work;
		char said[1200];
		int r;

		start(&work);
		r = plan(&work, (const char *const[MOST_ASKS]){refusals[i].ask});
		(void)snprintf(said, sizeof(said), "%s:%u: %s (%s)", work.err.where, work.err.line, work.err.what,
			       work.err.hint);
		if (r != refusals[i].r || !strstr(said, refusals[i].part))
			fail_msg("%s: %d: %s", refusals[i].ask, r, said);
		stop(&work);
	}
}

static bool has_note(const struct work *work, const char *part)
{
	for (size_t i = 0; i < work->plan.note_count; i++)
		if (strstr(work->plan.notes[i], part))
			return true;
	return false;
}

static void other_files_are_told(void **state)
{
	static const struct tree_file files[] = {
	    {"/usr/lib/sysctl.d/95-vendor.conf", "\nvm/dirty_bytes=5\nvm.swappiness = 5\n"},
	    {"/etc/sysctl.d/10-early.conf", "vm.swappiness = 6\n"},
	    {"/run/sysctl.d/99-site.conf", "vm.swappiness = 7\n"}, /* hidden by the one in /etc */
	    {"/usr/lib/tmpfiles.d/thp.conf", "d /run/x\nw- /sys/kernel/mm/transparent_hugepage/en* - - - - always\n"},
	    {NULL, NULL},
	};
	struct work work;

	(void)state;
	start(&work);
	tree_add(work.kernel.tree, files);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"lasting.swappiness=1", "lasting.thp=never"}), 0);
	assert_true(has_note(&work, "/usr/lib/sysctl.d/95-vendor.conf:3 sets vm.swappiness to 5 after that"));
	assert_true(has_note(&work, "/etc/sysctl.d/99-site.conf:2 sets vm.swappiness to 30 after that"));
	assert_true(has_note(&work, "/usr/lib/tmpfiles.d/thp.conf:2 sets"));
	assert_false(has_note(&work, "10-early"));
	assert_false(has_note(&work, "/run/sysctl.d"));
	assert_string_equal(work.plan.follows, "a reboot; without lasting. a value is set at once");
	stop(&work);
}

/* The command line goes before the file, a driver that is no module knows no file, and mitigations are holes. */
static void options_of_modules(void **state)
{
	struct work work;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"module.kvm.mitigate_smt_rsb=0"}), 0);
	assert_string_equal(work.plan.hole, "module.kvm.mitigate_smt_rsb=0");
	tree_write(work.kernel.tree, "/proc/cmdline", "quiet kvm-amd.avic=0\n");
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"module.kvm_amd.avic=1"}), -EEXIST);
	assert_string_equal(work.err.where, "/proc/cmdline");
	tree_write(work.kernel.tree, "/proc/cmdline", "quiet\n");
	kernel_remove(&work.kernel, "/sys/module/kvm_amd/initstate");
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"module.kvm_amd.avic=1"}), -EINVAL);
	assert_non_null(strstr(work.err.what, "no module"));
	stop(&work);
}

/* The interrupts of a NIC by its name; one that is managed says so, and the others are put back. */
static void interrupts(void **state)
{
	const struct knob_apply_options options = {.what = "a test"};
	struct sys_write_gate gate;
	struct knob_report report;
	struct work work;
	struct knob_ask ask;

	(void)state;
	start(&work);
	assert_int_equal(plan(&work, (const char *const[MOST_ASKS]){"irq@eth0=1"}), 0);
	assert_int_equal(work.plan.points.count, 2);
	assert_string_equal(work.plan.points.items[0].label, "IRQ 24");
	knob_machine_close(&work.machine);
	gate = kernel_gate(&work.kernel);
	assert_int_equal(knob_machine_open(work.kernel.tree->root, &gate, &work.machine, &work.err), 0);
	assert_int_equal(knob_ask_parse(work.machine.arena, "irq@24-26=2", &ask, &work.err), 0);
	assert_int_equal(knob_plan_make(&work.machine, &ask, 1, &work.plan, &work.err), 0);
	assert_int_equal(knob_apply(&work.machine, &work.plan, &options, &report, &work.err), -EIO);
	assert_non_null(strstr(work.err.what, "manages it"));
	assert_true(report.rolled_back);
	stop(&work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(edits_change_one_line_and_undo_gives_back_all),
	    cmocka_unit_test(refused_in_the_plan),
	    cmocka_unit_test(other_files_are_told),
	    cmocka_unit_test(options_of_modules),
	    cmocka_unit_test(interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
