/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules on frequency: each fires where it must and is silent where it must. */
#include <errno.h>

#include "unit.h"
#include "advise_check.h"
#include "healthy.h"

#define STATUS "/sys/devices/system/cpu/amd_pstate/status"
#define AMD_PSTATE "/sys/devices/system/cpu/amd_pstate"
#define ACPI_DRIVER                                                                                                    \
	ON_ALL_POLICIES("scaling_driver", "acpi-cpufreq\n"), {AMD_PSTATE, GONE},                                       \
	{                                                                                                              \
		"/proc/cmdline", "ro quiet\n"                                                                          \
	}
#define NO_POLICIES                                                                                                    \
	{"/sys/devices/system/cpu/cpufreq", GONE},                                                                     \
	{                                                                                                              \
		"/sys/devices/system/cpu/cpufreq/", ""                                                                 \
	}
#define KERNEL(release)                                                                                                \
	{"/proc/sys/kernel/osrelease", release "\n"},                                                                  \
	{                                                                                                              \
		"/proc/version", "Linux version " release " (x)\n"                                                     \
	}
#define GUEST                                                                                                          \
	{                                                                                                              \
		"/sys/class/dmi/id/sys_vendor", "QEMU\n"                                                               \
	}

static void epp_einval(struct host *host)
{
	for (int i = 2; i < host->cpufreq.policy_count; i++)
		host->cpufreq.policies[i].epp =
		    fact_unreadable("cpufreq.epp", "policy2", EINVAL, "a raw value that has no word");
}

static void profile_asks_for_performance(struct host *host)
{
	static struct tuned_setting setting = {.section = "cpu",
					       .type = "cpu",
					       .option = "energy_performance_preference",
					       .value = "performance",
					       .path = "/usr/lib/tuned/profiles/own/tuned.conf"};
	static struct tuned_profile profile = {.name = "own", .settings = &setting, .setting_count = 1};

	host->daemons.tuned.profiles = &profile;
	host->daemons.tuned.profile_count = 1;
}

static const struct rule_case cases[] = {
    /* which driver */
    {"cpufreq.acpi-on-cppc-host", ADVISE_ADVICE, "CPPC by MSR", NULL, {ACPI_DRIVER}}, /* the kernel's own choice */
    {"cpufreq.acpi-on-cppc-host",
     ADVISE_WARN,
     "CPPC by MSR",
     NULL,
     {ACPI_DRIVER, {"/sys/firmware/acpi/pm_profile", "1\n"}}}, /* a desktop: the kernel would have started it */
    {"cpufreq.acpi-on-cppc-host",
     ADVISE_ADVICE,
     NULL,
     NULL,
     {ACPI_DRIVER, {"/proc/cmdline", "ro amd_pstate=disable\n"}}},
    {"cpufreq.acpi-on-cppc-host", ADVISE_ADVICE, NULL, NULL, {ACPI_DRIVER, KERNEL("5.10.0-9")}},
    {"cpufreq.acpi-on-cppc-host", SILENT, NULL, NULL, {ACPI_DRIVER, GUEST}},
    {"cpufreq.acpi-on-cppc-host",
     SILENT,
     NULL,
     NULL,
     {ACPI_DRIVER, {"/dev/kmsg", "amd_pstate: the _CPC object is not present in SBIOS or ACPI disabled\n"}}},
    {"cpufreq.no-cppc-in-firmware",
     ADVISE_WARN,
     "cannot start",
     NULL,
     {ACPI_DRIVER, {"/dev/kmsg", "amd_pstate: the _CPC object is not present in SBIOS or ACPI disabled\n"}}},
    {"cpufreq.no-cppc-in-firmware",
     ADVISE_ADVICE,
     "turned off in the BIOS",
     NULL,
     {{"/dev/kmsg", "amd_pstate: The CPPC feature is supported but currently disabled by the BIOS.\n"}}},
    {"cpufreq.no-cppc-in-firmware", /* the CPU has the flag, the firmware gives no _CPC */
     ADVISE_WARN,
     "describes no CPPC",
     NULL,
     {ACPI_DRIVER, {CPU_FILE(0, "acpi_cppc"), GONE}}},
    {"cpufreq.acpi-on-cppc-host", SILENT, NULL, NULL, {ACPI_DRIVER, {CPU_FILE(0, "acpi_cppc"), GONE}}},
    {"cpufreq.acpi-on-cppc-host", /* a copy of some files, where acpi_cppc may just not have been copied */
     ADVISE_ADVICE,
     "CPPC by MSR",
     NULL,
     {ACPI_DRIVER, {CPU_FILE(0, "acpi_cppc"), GONE}, {"/sys/module/kernel", GONE}}},
    {"cpufreq.no-driver", ADVISE_WARN, NULL, NULL, {NO_POLICIES}},
    {"cpufreq.no-driver", SILENT, NULL, NULL, {NO_POLICIES, GUEST}},
    /* the words themselves are told of by cmdline.no-frequency-driver */
    {"cpufreq.no-driver",
     SILENT,
     NULL,
     NULL,
     {NO_POLICIES, {"/proc/cmdline", "ro initcall_blacklist=acpi_cpufreq_init amd_pstate.shared_mem=1\n"}}},
    /* a copy that has the switch of a driver, and lost the policies */
    {"cpufreq.no-driver", SILENT, NULL, NULL, {NO_POLICIES, {"/sys/devices/system/cpu/cpufreq/boost", "0\n"}}},
    {"cpufreq.asked-mode-not-in-force",
     ADVISE_WARN,
     "acpi-cpufreq drives",
     NULL,
     {ACPI_DRIVER, {"/proc/cmdline", "ro amd_pstate=active\n"}}},
    {"cpufreq.asked-mode-not-in-force",
     ADVISE_INFO,
     "runs as active",
     NULL,
     {{"/proc/cmdline", "ro amd_pstate=guided\n"}}},
    {"cpufreq.amd-pstate-status-disabled", ADVISE_WARN, "no other driver", NULL, {NO_POLICIES, {STATUS, "disable\n"}}},
    {"cpufreq.mixed-drivers",
     ADVISE_WARN,
     "2 frequency drivers",
     NULL,
     {{POLICY_FILE(3, "scaling_driver"), "acpi-cpufreq\n"}}},
    {"cpufreq.dynamic-epp", ADVISE_INFO, NULL, NULL, {{AMD_PSTATE "/dynamic_epp", "enabled\n"}}},
    {"cpufreq.dynamic-epp", SILENT, NULL, NULL, {{AMD_PSTATE "/dynamic_epp", "disabled\n"}}},
    {"cpufreq.guest-has-no-say", ADVISE_INFO, "KVM", NULL, {GUEST}},

    /* governors and EPP */
    {"cpufreq.epp-normal", ADVISE_GOOD, "EPP balance_performance decides", NULL, {{NULL, NULL}}},
    {"cpufreq.epp-normal", SILENT, NULL, NULL, {ON_ALL_POLICIES("scaling_driver", "amd-pstate\n")}},
    {"cpufreq.passive-powersave-pins-lowest",
     ADVISE_WARN,
     "1.50 GHz",
     NULL,
     {ON_ALL_POLICIES("scaling_driver", "amd-pstate\n"), {STATUS, "passive\n"}}},
    {"cpufreq.passive-powersave-pins-lowest", SILENT, NULL, NULL, {{NULL, NULL}}},
    {"cpufreq.userspace-left-behind",
     ADVISE_WARN,
     "on CPUs 1",
     NULL,
     {{POLICY_FILE(1, "scaling_governor"), "userspace\n"}}},
    {"cpufreq.governor-conservative",
     ADVISE_ADVICE,
     NULL,
     NULL,
     {ON_ALL_POLICIES("scaling_driver", "amd-pstate\n"), ON_ALL_POLICIES("scaling_governor", "conservative\n")}},
    {"cpufreq.schedutil",
     ADVISE_GOOD,
     NULL,
     NULL,
     {ON_ALL_POLICIES("scaling_driver", "amd-pstate\n"), ON_ALL_POLICIES("scaling_governor", "schedutil\n")}},
    {"cpufreq.epp-locked-by-performance-governor",
     ADVISE_INFO,
     "EPP at 0",
     NULL,
     {ON_ALL_POLICIES("scaling_governor", "performance\n"),
      ON_ALL_POLICIES("energy_performance_preference", "performance\n")}},
    {"cpufreq.governor-performance-idle-cost",
     ADVISE_INFO,
     NULL,
     NULL,
     {ON_ALL_POLICIES("scaling_governor", "performance\n")}},
    {"cpufreq.epp-left-at-performance",
     ADVISE_ADVICE,
     "CPUs 0-3",
     NULL,
     {ON_ALL_POLICIES("energy_performance_preference", "performance\n")}},
    {"cpufreq.epp-left-at-performance",
     ADVISE_WARN,
     "CPUs 0-3",
     NULL,
     {ON_ALL_POLICIES("energy_performance_preference", "performance\n"), {"/etc/tuned/active_profile", "balanced\n"}}},
    {"cpufreq.epp-left-at-performance",
     SILENT,
     NULL,
     profile_asks_for_performance,
     {ON_ALL_POLICIES("energy_performance_preference", "performance\n")}},
    {"cpufreq.epp-left-at-performance",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_POLICIES("energy_performance_preference", "performance\n"),
      ON_ALL_POLICIES("scaling_governor", "performance\n")}},
    {"cpufreq.epp-without-word", ADVISE_INFO, "CPUs 2-3", epp_einval, {{NULL, NULL}}},
    {"cpufreq.epp-power-on-server",
     ADVISE_ADVICE,
     NULL,
     NULL,
     {ON_ALL_POLICIES("energy_performance_preference", "power\n")}},
    {"cpufreq.epp-power-on-server",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_POLICIES("energy_performance_preference", "power\n"), {"/sys/firmware/acpi/pm_profile", "1\n"}}},
    {"cpufreq.mixed-governors",
     ADVISE_ADVICE,
     "performance on 3",
     NULL,
     {{POLICY_FILE(3, "scaling_governor"), "performance\n"}}},
    {"cpufreq.mixed-governors",
     ADVISE_WARN,
     "performance on 3",
     NULL,
     {{POLICY_FILE(3, "scaling_governor"), "performance\n"},
      {CPU_FILE(2, "topology/thread_siblings_list"), "2-3\n"},
      {CPU_FILE(2, "topology/thread_siblings"), "c\n"},
      {CPU_FILE(2, "topology/core_cpus_list"), "2-3\n"},
      {CPU_FILE(2, "topology/core_cpus"), "c\n"},
      {CPU_FILE(3, "topology/thread_siblings_list"), "2-3\n"},
      {CPU_FILE(3, "topology/thread_siblings"), "c\n"},
      {CPU_FILE(3, "topology/core_cpus_list"), "2-3\n"},
      {CPU_FILE(3, "topology/core_cpus"), "c\n"},
      {CPU_FILE(3, "topology/core_id"), "2\n"}}},
    {"cpufreq.mixed-epp",
     ADVISE_ADVICE,
     "power on 0",
     NULL,
     {{POLICY_FILE(0, "energy_performance_preference"), "power\n"}}},

    /* limits, boost, ranks */
    {"cpufreq.max-limit-low", ADVISE_WARN, "1.50 GHz", NULL, {ON_ALL_POLICIES("scaling_max_freq", "1500000\n")}},
    {"cpufreq.max-limit-low", ADVISE_WARN, "CPUs 2", NULL, {{POLICY_FILE(2, "scaling_max_freq"), "400000\n"}}},
    {"cpufreq.max-limit-low", ADVISE_ADVICE, NULL, NULL, {ON_ALL_POLICIES("scaling_max_freq", "3250000\n")}},
    {"cpufreq.max-limit-low", SILENT, NULL, NULL, {ON_ALL_POLICIES("scaling_max_freq", "3790000\n")}},
    {"cpufreq.max-limit-low", SILENT, NULL, NULL, {ON_ALL_POLICIES("scaling_max_freq", "0\n")}},
    {"cpufreq.boost-off", ADVISE_WARN, NULL, NULL, {{"/sys/devices/system/cpu/cpufreq/boost", "0\n"}}},
    {"cpufreq.boost-off",
     ADVISE_WARN,
     NULL,
     NULL,
     {ON_ALL_POLICIES("boost", "0\n"), {"/sys/devices/system/cpu/cpufreq/boost", GONE}}},
    {"cpufreq.boost-off", SILENT, NULL, NULL, {{POLICY_FILE(0, "boost"), "0\n"}}},
    {"cpufreq.mixed-boost",
     ADVISE_WARN,
     "off on CPUs 0-1 and on on 2-3",
     NULL,
     {{POLICY_FILE(0, "boost"), "0\n"}, {POLICY_FILE(1, "boost"), "0\n"}}},
    {"cpufreq.mixed-limits", ADVISE_ADVICE, "minimum", NULL, {{POLICY_FILE(1, "scaling_min_freq"), "400000\n"}}},
    {"cpufreq.min-limit-high", ADVISE_ADVICE, "3.00 GHz", NULL, {ON_ALL_POLICIES("scaling_min_freq", "3000000\n")}},
    {"cpufreq.min-limit-high",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_POLICIES("amd_pstate_lowest_nonlinear_freq", GONE), ON_ALL_POLICIES("scaling_min_freq", "1500000\n")}},
    {"cpufreq.prefcore-off",
     ADVISE_ADVICE,
     NULL,
     NULL,
     {{POLICY_FILE(0, "amd_pstate_prefcore_ranking"), "236\n"},
      {POLICY_FILE(1, "amd_pstate_prefcore_ranking"), "231\n"}}},
    {"cpufreq.impossible-frequency",
     ADVISE_ADVICE,
     "6.48 GHz",
     NULL,
     {{POLICY_FILE(1, "cpuinfo_max_freq"), "6482000\n"}}},
    {"cpufreq.impossible-frequency",
     ADVISE_ADVICE,
     "cannot be",
     NULL,
     {ON_ALL_POLICIES("cpuinfo_max_freq", "18446744073709551615\n"), ON_ALL_POLICIES("cpuinfo_min_freq", "-3\n")}},
    {"cpufreq.unlike-max-is-not-hybrid",
     ADVISE_INFO,
     "3.70 GHz to 3.80 GHz",
     NULL,
     {{POLICY_FILE(3, "cpuinfo_max_freq"), "3700000\n"}}},
    {"cpufreq.x3d-mode",
     ADVISE_INFO,
     "high clocks",
     NULL,
     {{"/sys/bus/platform/drivers/amd_x3d_vcache/AMDI0101:00/amd_x3d_mode", "frequency\n"}}},
    {"cpufreq.boost-no-control",
     ADVISE_INFO,
     NULL,
     NULL,
     {ON_ALL_POLICIES("boost", GONE), {"/sys/devices/system/cpu/cpufreq/boost", GONE}}},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case(&cases[i]);
}

static void test_covered(void **state)
{
	(void)state;
	healthy_covers(advise_cpufreq_driver_rules, cases, ARRAY_SIZE(cases));
	healthy_covers(advise_cpufreq_rules, cases, ARRAY_SIZE(cases));
	healthy_covers(advise_cpufreq_limit_rules, cases, ARRAY_SIZE(cases));
}

/* The mode that is advised depends on the kernel: 6.1 knows passive only. */
static void test_mode_by_kernel(void **state)
{
	static const struct {
		const char *release, *word;
	} kernels[] = {{"6.1.0-49-amd64", "amd_pstate=passive"}, {"6.12.9", "amd_pstate=active"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		const struct tree_file changes[] = {ACPI_DRIVER,
						    {"/proc/sys/kernel/osrelease", kernels[i].release},
						    {"/proc/version", GONE},
						    {NULL, NULL}};
		struct tree *tree = healthy_new();

		healthy_change(tree, changes);
		struct advise_result *result = tree_advise(tree);
		const struct advise_finding *finding = tree_find(result, "cpufreq.acpi-on-cppc-host");

		assert_non_null(finding);
		assert_true(text_starts(finding->knobs, "boot."));
		assert_string_equal(finding->knobs + strlen("boot."), kernels[i].word);
		assert_non_null(strstr(finding->by_hand, kernels[i].word));
		assert_non_null(strstr(finding->experiment, kernels[i].word));
		(void)advise_result_free(result);
		(void)tree_free(tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_covered),
	    cmocka_unit_test(test_mode_by_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
