/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the healthy host; see healthy.h. */
#include <ftw.h>
#include <unistd.h>

#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "text.h"

static const struct tree_file whole_host[] = {
    {"/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro amd_pstate=active\n"},
    {"/proc/sys/kernel/osrelease", "6.12.9-test\n"},
    {"/proc/version", "Linux version 6.12.9-test (gcc) #1 SMP\n"},
    {"/proc/sys/kernel/perf_event_paranoid", "2\n"},
    {"/sys/firmware/acpi/pm_profile", "4\n"},
    {"/sys/devices/system/cpu/amd_pstate/status", "active\n"},
    {"/sys/devices/system/cpu/amd_pstate/prefcore", "disabled\n"},
    {"/sys/devices/system/cpu/cpufreq/boost", "1\n"},
    {"/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "3250\n"},
    {"/sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle\n"},
    {"/sys/devices/system/cpu/cpuidle/current_governor", "menu\n"},
    {"/sys/class/powercap/intel-rapl:0/name", "package-0\n"},
    {"/sys/class/powercap/intel-rapl:0/energy_uj", "123456789\n"},
    {"/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987\n"},
    {"/sys/class/hwmon/hwmon3/name", "power_meter\n"},
    {"/sys/class/hwmon/hwmon3/power1_average", "180000000\n"},
    {"/sys/class/hwmon/hwmon4/name", "k10temp\n"},
    {"/sys/module/kernel/", ""},
    {"/sys/module/kvm/parameters/halt_poll_ns", "200000\n"},
    {"/sys/module/kvm/parameters/nx_huge_pages", "N\n"},
    {"/sys/module/kvm/parameters/ignore_msrs", "N\n"},
    {"/sys/module/kvm/parameters/enable_pmu", "Y\n"},
    {"/sys/module/kvm/parameters/tdp_mmu", "Y\n"},
    {"/sys/module/kvm_amd/parameters/npt", "Y\n"},
    {"/sys/module/kvm_amd/parameters/nested", "0\n"},
    {"/sys/module/kvm_amd/parameters/avic", "Y\n"},
    {"/sys/module/kvm_amd/parameters/vgif", "1\n"},
    {"/sys/module/vhost_net/parameters/experimental_zcopytx", "0\n"},
    {"/dev/null", ""},
    {"/dev/kvm", ""},
    {"/dev/vhost-net", ""},
    {"/dev/cpu_dma_latency", LATENCY_OF("\000", "\224", "\065", "\167")}, /* 2000000000 */
    {NULL, NULL},
};

static const struct tree_file each_policy[] = {
    {"scaling_driver", "amd-pstate-epp\n"},
    {"scaling_governor", "powersave\n"},
    {"scaling_available_governors", "performance powersave\n"},
    {"energy_performance_preference", "balance_performance\n"},
    {"energy_performance_available_preferences", "default performance balance_performance balance_power power\n"},
    {"scaling_min_freq", "1500000\n"},
    {"scaling_max_freq", "3800000\n"},
    {"cpuinfo_min_freq", "400000\n"},
    {"cpuinfo_max_freq", "3800000\n"},
    {"amd_pstate_max_freq", "3800000\n"},
    {"amd_pstate_lowest_nonlinear_freq", "1500000\n"},
    {"boost", "1\n"},
};

static const struct tree_file each_cpu[] = {
    {"cpuidle/state0/name", "POLL\n"},	 {"cpuidle/state0/latency", "0\n"},	    {"cpuidle/state0/disable", "0\n"},
    {"cpuidle/state1/name", "C1\n"},	 {"cpuidle/state1/latency", "1\n"},	    {"cpuidle/state1/disable", "0\n"},
    {"cpuidle/state2/name", "C2\n"},	 {"cpuidle/state2/latency", "800\n"},	    {"cpuidle/state2/disable", "0\n"},
    {"cpuidle/state2/usage", "12345\n"}, {"power/pm_qos_resume_latency_us", "0\n"},
};

/* A real list is long; rules that conclude from a missing flag ask for that. */
#define MANY_FLAGS                                                                                                     \
	"fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht "        \
	"syscall "                                                                                                     \
	"nx mmxext fxsr_opt pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc cpuid aperfmperf rapl pni "       \
	"pclmulqdq monitor ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand lahf_lm cmp_legacy "    \
	"extapic topoext hw_pstate cpb vgif svm npt cppc"

static void add_cpuinfo(struct tree *tree)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *text = "";

	for (int cpu = 0; cpu < HEALTHY_CPUS; cpu++)
		text = arena_printf(arena,
				    "%sprocessor\t: %d\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
				    "model name\t: AMD EPYC 9354P 32-Core Processor\nstepping\t: 1\nflags\t\t: %s\n\n",
				    text, cpu, MANY_FLAGS);
	tree_write(tree, "/proc/cpuinfo", text);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status, (void)kind, (void)walk;
	return remove(path);
}

void healthy_change(struct tree *tree, const struct tree_file *changes)
{
	static const char bytes[] = LATENCY_OF("", "", "", "");

	for (; changes->path; changes++) {
		char *full = NULL;

		if (text_equal(changes->contents, GONE)) {
			assert_true(asprintf(&full, "%s%s", tree->root, changes->path) > 0);
			(void)nftw(full, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
			free(full);
		} else if (text_starts(changes->contents, bytes)) {
			tree_write_bytes(tree, changes->path, changes->contents + strlen(bytes), 4);
		} else {
			tree_write(tree, changes->path, changes->contents);
		}
	}
}

struct tree *healthy_new(void)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, HEALTHY_CPUS, 2, 25, 17);
	add_cpuinfo(tree);
	healthy_change(tree, whole_host);
	for (int cpu = 0; cpu < HEALTHY_CPUS; cpu++) {
		const char *policy = arena_printf(arena, "/sys/devices/system/cpu/cpufreq/policy%d", cpu);

		tree_write(tree, arena_printf(arena, "%s/affected_cpus", policy), arena_printf(arena, "%d\n", cpu));
		for (size_t i = 0; i < ARRAY_SIZE(each_policy); i++)
			tree_write(tree, arena_printf(arena, "%s/%s", policy, each_policy[i].path),
				   each_policy[i].contents);
		for (size_t i = 0; i < ARRAY_SIZE(each_cpu); i++)
			tree_write(tree, arena_printf(arena, "/sys/devices/system/cpu/cpu%d/%s", cpu, each_cpu[i].path),
				   each_cpu[i].contents);
	}
	return tree;
}

static const struct tree_file nothing[] = {{NULL, NULL}};

struct tree *healthy_new_over(const struct tree_file *base)
{
	struct tree *tree = healthy_new();

	healthy_change(tree, base);
	return tree;
}

void healthy_run_case(const struct rule_case *rule_case)
{
	healthy_run_case_over(nothing, rule_case);
}

void healthy_run_case_over(const struct tree_file *base, const struct rule_case *rule_case)
{
	struct tree *tree = healthy_new_over(base);

	healthy_change(tree, rule_case->changes);
	if (rule_case->bend)
		rule_case->bend(tree_host(tree));
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *finding = tree_find(result, rule_case->id);

	if (rule_case->severity == SILENT && finding)
		fail_msg("%s: must be silent, says: %s", rule_case->id, finding->title);
	if (rule_case->severity != SILENT && !finding)
		fail_msg("%s: does not fire", rule_case->id);
	if (finding) {
		if ((int)finding->severity != rule_case->severity)
			fail_msg("%s: is %s", rule_case->id, advise_severity_name(finding->severity));
		if (rule_case->says && !strstr(finding->title, rule_case->says))
			fail_msg("%s: says \"%s\" without \"%s\"", rule_case->id, finding->title, rule_case->says);
		if (!finding->evidence_count)
			fail_msg("%s: shows no evidence", rule_case->id);
	}
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

void healthy_covers(const struct advise_rule *rules, const struct rule_case *cases, size_t count)
{
	healthy_covers_over(nothing, rules, cases, count);
}

void healthy_covers_over(const struct tree_file *base, const struct advise_rule *rules, const struct rule_case *cases,
			 size_t count)
{
	struct tree *tree = healthy_new_over(base);
	struct advise_result *result = tree_advise(tree);

	for (; rules->id; rules++) {
		bool fires = tree_has(result, rules->id), silent = !fires;

		if (fires && rules->severity < ADVISE_INFO)
			fail_msg("%s: fires on the healthy host", rules->id);
		for (size_t i = 0; i < count; i++) {
			if (!text_equal(cases[i].id, rules->id))
				continue;
			fires |= cases[i].severity != SILENT;
			silent |= cases[i].severity == SILENT;
		}
		if (!fires || !silent)
			fail_msg("%s: no case in which it %s", rules->id, fires ? "is silent" : "fires");
	}
	(void)advise_result_free(result);
	(void)tree_free(tree);
}
