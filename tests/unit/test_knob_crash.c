/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the proof that nothing is lost: for every plan of a set, the process is killed before and after every single
 * call that changes something, first while applying, then while undoing; undo afterwards gives back all files as they
 * were.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

enum { MOST_ASKS = 6 };

struct scene {
	const char *mode;
	const char *asks[MOST_ASKS];
	void (*add)(struct kernel *kernel); /* parts of the machine, and what its owner has set; NULL: nothing */
};

static void all_performance(struct kernel *kernel)
{
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor", cpu);
		kernel_write(kernel, path, "performance");
	}
}

static void low_limits(struct kernel *kernel)
{
	kernel_write(kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "800000");
	kernel_write(kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1000000");
}

static const struct scene scenes[] = {
    {"passive", {"governor=performance"}, NULL},
    {"active", {"governor=performance"}, NULL},
    {"active", {"governor@1=performance", "epp@0,2=power"}, NULL},
    {"active", {"epp=power"}, NULL},
    {"passive", {"amd_pstate=active"}, NULL},
    {"passive", {"amd_pstate=active", "governor=powersave", "epp=power"}, NULL},
    {"active", {"amd_pstate=guided", "governor=ondemand", "max_freq=2000000"}, NULL},
    {"active", {"amd_pstate=active", "governor=performance", "boost=0", "min_freq=1600000"}, NULL},
    {"guided", {"amd_pstate=disable"}, NULL},
    {"active", {"boost=0", "thp=never", "ksm=0", "swappiness=10"}, NULL},
    {"passive", {"dirty_bytes=104857600", "latency@0-1=50"}, NULL},
    {"active", {"governor=powersave", "epp=balance_power"}, all_performance},
    {"active", {"min_freq@0=2000000", "max_freq@0=2200000"}, low_limits},
    {"active", {"boost=0", "min_freq=600000", "max_freq=900000"}, NULL},
    {"active", {"x3d_mode=cache"}, kernel_add_x3d},
    {"active", {"idle.C2=off", "idle.1@0-1=off"}, kernel_add_idle},
    {"active", {"thp=never", "thp.64K=always", "thp.64k.shmem=advise", "thp.defrag=defer"}, kernel_add_memory},
    {"active", {"ksm=2", "ksm.merge_across_nodes=0", "kvm.halt_poll_ns=0", "kvm.nx_huge_pages=on"}, kernel_add_memory},
    {"active", {"ksm.advisor_mode=scan-time"}, kernel_add_memory},
    {"active", {"hugepages.2M=400", "hugepages.1G@1=1", "overcommit_hugepages.2M=64"}, kernel_add_pages},
};

static char *start(struct kernel *kernel, const struct scene *scene)
{
	kernel_start(kernel, scene->mode);
	if (scene->add)
		scene->add(kernel);
	return kernel_dump(kernel);
}

static void make_plan(struct knob_machine *machine, const struct scene *scene, struct knob_plan *ret)
{
	struct knob_ask asks[MOST_ASKS];
	size_t count = 0;
	struct err err = {0};

	while (count < MOST_ASKS && scene->asks[count]) {
		assert_int_equal(knob_ask_parse(machine->arena, scene->asks[count], &asks[count], &err), 0);
		count++;
	}
	if (knob_plan_make(machine, asks, count, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static int apply(struct kernel *kernel, const struct scene *scene, struct knob_report *ret, struct err *err)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	int r;

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, &machine, err), 0);
	make_plan(&machine, scene, &plan);
	kernel->calls = 0;
	r = knob_apply(&machine, &plan, &options, &report, err);
	if (ret)
		*ret = report;
	return r;
}

static int undo(struct kernel *kernel, struct err *err)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, &machine, err), 0);
	kernel->calls = 0;
	return knob_undo(&machine, 0, &report, err);
}

/* Do it in a process that kills itself at a call. False when it came to its end before. */
static bool killed(struct kernel *kernel, long at, const struct scene *scene)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err err = {0};

		kernel->kill_at = at;
		_exit(scene ? -apply(kernel, scene, NULL, &err) : -undo(kernel, &err));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGKILL);
	return WIFSIGNALED(status);
}

static void check_undone(struct kernel *kernel, const char *before, const struct scene *scene, long at, long undo_at)
{
	struct err err = {0};
	int r = undo(kernel, &err);
	CLEANUP(base_free) char *after = kernel_dump(kernel);

	/* -ENOENT: it died before anything was begun. */
	if (r < 0 && r != -ENOENT)
		fail_msg("%s, killed at %ld and %ld: undo: %s: %s", scene->asks[0], at, undo_at, err.where, err.what);
	if (strcmp(before, after) != 0)
		fail_msg("%s, killed at %ld and %ld:\n%s---\n%s", scene->asks[0], at, undo_at, before, after);
}

static void killed_anywhere_in_apply(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		long at = 1;

		for (bool dead = true; dead; at++) {
			struct kernel kernel;

			CLEANUP(base_free) char *before = start(&kernel, &scenes[i]);

			dead = killed(&kernel, at, &scenes[i]);
			check_undone(&kernel, before, &scenes[i], at, 0);
			kernel_stop(&kernel);
		}
		assert_true(at > 10);
	}
}

/* Applied to its end or killed half-way, and then killed anywhere in undo. */
static void killed_anywhere_in_undo(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		for (long half = 0; half <= 30; half += 15) {
			long at = 1;

			for (bool dead = true; dead; at++) {
				struct kernel kernel;
				struct err err = {0};

				CLEANUP(base_free) char *before = start(&kernel, &scenes[i]);

				if (half == 0 && apply(&kernel, &scenes[i], NULL, &err) < 0)
					fail_msg("%s: %s: %s", scenes[i].asks[0], err.where, err.what);
				if (half)
					(void)killed(&kernel, half, &scenes[i]);
				dead = killed(&kernel, at, NULL);
				check_undone(&kernel, before, &scenes[i], half, at);
				kernel_stop(&kernel);
			}
		}
	}
}

/* Each call made to fail with each of these: apply says so, and everything is as before, by itself or after undo. */
static void failing_anywhere(void **state)
{
	static const int errnums[] = {EBUSY, EINVAL, ENOSPC, EIO, EROFS};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		for (size_t e = 0; e < ARRAY_SIZE(errnums); e++) {
			for (long at = 1;; at += 2) {
				struct kernel kernel;
				struct err err = {0};
				struct knob_report report = {0};

				CLEANUP(base_free) char *before = start(&kernel, &scenes[i]);

				kernel.fail_at = at;
				kernel.fail_errnum = errnums[e];
				int r = apply(&kernel, &scenes[i], &report, &err);
				bool reached = kernel.calls >= at;

				kernel.fail_at = 0;
				if (r == 0 && !reached) {
					kernel_stop(&kernel);
					break;
				}
				assert_true(r == 0 || err.what[0]);
				check_undone(&kernel, before, &scenes[i], at, 0);
				kernel_stop(&kernel);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(killed_anywhere_in_apply),
	    cmocka_unit_test(killed_anywhere_in_undo),
	    cmocka_unit_test(failing_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
