/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of drivers/cpufreq/amd-pstate.c, cpufreq.c and cpuidle of the simulated kernel. */
#include <errno.h>

#include "kernel_rules.h"
#include "text.h"
#include "unit.h"

#define CPU "/sys/devices/system/cpu/"
#define POLICY CPU "cpufreq/policy*/"
#define BOOST CPU "cpufreq/boost"
#define WORDS "default performance balance_performance balance_power power"

enum { LOWEST_KHZ = 400000, NOMINAL_KHZ = 2800000, HIGHEST_KHZ = 3700000 };

static const char *policy(int cpu, const char *name)
{
	static char path[4][256];
	static int turn;

	turn = (turn + 1) % 4;
	(void)snprintf(path[turn], sizeof(path[turn]), CPU "cpufreq/policy%d/%s", cpu, name);
	return path[turn];
}

/* Of those that have it (kernel_add_cpu_boost()). */
static void put_cpu_boost(const struct kernel *kernel, const char *value)
{
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		if (kernel_exists(kernel, policy(cpu, "boost")))
			kernel_put(kernel, policy(cpu, "boost"), value);
}

void kernel_add_cpu_boost(struct kernel *kernel)
{
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		tree_write(kernel->tree, policy(cpu, "boost"), "1\n");
}

void kernel_build_policies(const struct kernel *kernel, const char *mode)
{
	static const char *const gone[] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq",
					   "scaling_available_governors"};
	bool active = text_equal(mode, "active");

	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		kernel_put_number(kernel, policy(cpu, "cpuinfo_min_freq"), LOWEST_KHZ);
		kernel_put_number(kernel, policy(cpu, "cpuinfo_max_freq"), HIGHEST_KHZ);
		kernel_put_number(kernel, policy(cpu, "amd_pstate_max_freq"), HIGHEST_KHZ);
		kernel_put_number(kernel, policy(cpu, "amd_pstate_lowest_nonlinear_freq"), 1500000);
		for (size_t i = 0; i < ARRAY_SIZE(gone) && text_equal(mode, "disable"); i++)
			kernel_remove(kernel, policy(cpu, gone[i]));
		if (!text_equal(mode, "disable")) {
			kernel_put(kernel, policy(cpu, "scaling_governor"), active ? "powersave" : "schedutil");
			kernel_put(kernel, policy(cpu, "request_min"), "1500000");
			kernel_put(kernel, policy(cpu, "request_max"), "2147483647");
			kernel_put(kernel, policy(cpu, "scaling_min_freq"), "1500000");
			kernel_put_number(kernel, policy(cpu, "scaling_max_freq"), HIGHEST_KHZ);
			kernel_put(kernel, policy(cpu, "scaling_available_governors"),
				   active ? "performance powersave"
					  : "conservative ondemand userspace powersave performance schedutil");
		}
		if (active) {
			kernel_put(kernel, policy(cpu, "energy_performance_preference"), "balance_performance");
			kernel_put(kernel, policy(cpu, "energy_performance_available_preferences"), WORDS);
		} else {
			kernel_remove(kernel, policy(cpu, "energy_performance_preference"));
			kernel_remove(kernel, policy(cpu, "energy_performance_available_preferences"));
		}
	}
	kernel_put(kernel, BOOST, "1");
	put_cpu_boost(kernel, "1");
}

static int judge_status(const struct kernel *kernel, const char *path, const char *value)
{
	(void)kernel;
	(void)path;
	return text_has_word("active passive guided disable", " ", value) ? 0 : -EINVAL;
}

static void take_status(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	bool in_place = !text_equal(value, "active") && !text_equal(before, "active") &&
			!text_equal(value, "disable") && !text_equal(before, "disable");

	kernel_put(kernel, path, value);
	if (!text_equal(value, before) && !in_place)
		kernel_build_policies(kernel, value);
}

static int judge_governor(const struct kernel *kernel, const char *path, const char *value)
{
	char words[256];

	kernel_read(kernel, kernel_beside(path, "scaling_available_governors"), words, sizeof(words));
	return text_has_word(words, " ", value) ? 0 : -EINVAL;
}

static void take_governor(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	const char *epp = kernel_beside(path, "energy_performance_preference");
	bool holds = text_equal(value, "performance");

	(void)before;
	kernel_put(kernel, path, value);
	if (!kernel_exists(kernel, epp))
		return;
	if (holds)
		kernel_put(kernel, epp, "performance");
	kernel_put(kernel, kernel_beside(path, "energy_performance_available_preferences"),
		   holds ? "performance" : WORDS);
}

static int judge_epp(const struct kernel *kernel, const char *path, const char *value)
{
	char governor[64];

	if (!text_has_word(WORDS, " ", value))
		return -EINVAL;
	kernel_read(kernel, kernel_beside(path, "scaling_governor"), governor, sizeof(governor));
	return text_equal(governor, "performance") && !text_equal(value, "performance") ? -EBUSY : 0;
}

/* "default" is what the firmware began with, and reads as that. */
static void take_epp(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)before;
	kernel_put(kernel, path, text_equal(value, "default") ? "balance_performance" : value);
}

/* What is written is kept as a request; what shows is cut to what the hardware can, the lower limit to the upper one.
 */
static void show_limits(const struct kernel *kernel, const char *path)
{
	long most = kernel_number(kernel, kernel_beside(path, "cpuinfo_max_freq"));
	long upper = kernel_number(kernel, kernel_beside(path, "request_max"));
	long lower = kernel_number(kernel, kernel_beside(path, "request_min"));

	upper = upper < LOWEST_KHZ ? LOWEST_KHZ : upper > most ? most : upper;
	lower = lower < LOWEST_KHZ ? LOWEST_KHZ : lower > upper ? upper : lower;
	kernel_put_number(kernel, kernel_beside(path, "scaling_max_freq"), upper);
	kernel_put_number(kernel, kernel_beside(path, "scaling_min_freq"), lower);
}

static void take_limit(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)before;
	kernel_put(kernel, kernel_beside(path, strstr(path, "max_freq") ? "request_max" : "request_min"), value);
	show_limits(kernel, path);
}

static int judge_limit(const struct kernel *kernel, const char *path, const char *value)
{
	int64_t khz;

	(void)kernel;
	(void)path;
	return text_int(value, 10, &khz) < 0 ? -EINVAL : 0;
}

static int judge_switch(const struct kernel *kernel, const char *path, const char *value)
{
	(void)kernel;
	(void)path;
	return text_has_word("0 1", " ", value) ? 0 : -EINVAL;
}

/* store_local_boost(): neither value while boost of all is off. */
static int judge_cpu_boost(const struct kernel *kernel, const char *path, const char *value)
{
	return kernel_number(kernel, BOOST) == 1 ? judge_switch(kernel, path, value) : -EINVAL;
}

static void take_boost(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	int most = text_equal(value, "1") ? HIGHEST_KHZ : NOMINAL_KHZ;

	(void)before;
	kernel_put(kernel, path, value);
	put_cpu_boost(kernel, value);
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		kernel_put_number(kernel, policy(cpu, "cpuinfo_max_freq"), most);
		if (kernel_exists(kernel, policy(cpu, "scaling_max_freq")))
			show_limits(kernel, policy(cpu, "scaling_max_freq"));
	}
}

void kernel_add_x3d(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/sys/devices/platform/AMDI0101:00/amd_x3d_mode", "frequency\n"},
	    {"/sys/kernel/debug/x86/sched_itmt_enabled", "Y\n"},
	    {"/sys/bus/platform/drivers/amd_x3d_vcache/AMDI0101:00", "->../../../../devices/platform/AMDI0101:00"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

void kernel_add_idle(struct kernel *kernel)
{
	static const char *const names[] = {"POLL", "C1", "C2"};

	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		for (int state = 0; state < (int)ARRAY_SIZE(names); state++) {
			char path[128];

			(void)snprintf(path, sizeof(path), CPU "cpu%d/cpuidle/state%d/name", cpu, state);
			tree_write(kernel->tree, path, names[state]);
			tree_write(kernel->tree, kernel_beside(path, "disable"), "0\n");
		}
}

const struct kernel_rule kernel_cpu_rules[] = {
    {CPU "amd_pstate/status", judge_status, take_status},
    {POLICY "scaling_governor", judge_governor, take_governor},
    {POLICY "energy_performance_preference", judge_epp, take_epp},
    {POLICY "scaling_m??_freq", judge_limit, take_limit},
    {BOOST, judge_switch, take_boost},
    {POLICY "boost", judge_cpu_boost, NULL},
    {CPU "cpu*/cpuidle/state*/disable", judge_switch, NULL},
    {NULL, NULL, NULL},
};
