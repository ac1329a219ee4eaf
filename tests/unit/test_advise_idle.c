/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules on idle states: each fires where it must and is silent where it must. */
#include "unit.h"
#include "advise_check.h"
#include "healthy.h"

#define LATENCY "/dev/cpu_dma_latency"
#define HELD_1_US LATENCY_OF("\001", "\000", "\000", "\000")
#define HELD_70_US LATENCY_OF("\106", "\000", "\000", "\000")
#define HELD_100_US LATENCY_OF("\144", "\000", "\000", "\000")
#define HELD_900_US LATENCY_OF("\204", "\003", "\000", "\000")
#define HELD_0_US LATENCY_OF("\000", "\000", "\000", "\000")
#define HELD_AS_TEXT LATENCY_OF("1", "0", "0", "\n")
#define HELD_NEGATIVE LATENCY_OF("\377", "\377", "\377", "\377")
#define GUEST                                                                                                          \
	{                                                                                                              \
		"/sys/class/dmi/id/sys_vendor", "QEMU\n"                                                               \
	}
#define ON_ALL_CPUS(file, contents)                                                                                    \
	{CPU_FILE(0, file), contents}, {CPU_FILE(1, file), contents}, {CPU_FILE(2, file), contents},                   \
	{                                                                                                              \
		CPU_FILE(3, file), contents                                                                            \
	}

static const struct rule_case cases[] = {
    {"idle.c2-shut-out", ADVISE_WARN, "enter C2: wake-up latency is held to 70 us", NULL, {{LATENCY, HELD_70_US}}},
    {"idle.c2-shut-out", ADVISE_WARN, "enter C2: wake-up latency is held to 1 us", NULL, {{LATENCY, HELD_1_US}}},
    {"idle.c2-shut-out", ADVISE_WARN, "No core can sleep at all", NULL, {{LATENCY, HELD_0_US}}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, HELD_900_US}}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, HELD_70_US}, GUEST}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, HELD_NEGATIVE}}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, "70\n"}}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, GONE}}},
    {"idle.c2-shut-out", SILENT, NULL, NULL, {{LATENCY, HELD_AS_TEXT}}},
    {"idle.latency-default", ADVISE_GOOD, "2000000000", NULL, {{NULL, NULL}}},
    {"idle.latency-default", SILENT, NULL, NULL, {{LATENCY, HELD_70_US}}},
    {"idle.latency-request-harmless", ADVISE_INFO, "900 us", NULL, {{LATENCY, HELD_900_US}}},
    {"idle.latency-request-harmless", SILENT, NULL, NULL, {{LATENCY, HELD_70_US}}},
    {"idle.latency-written-as-text", ADVISE_ADVICE, "\"100\"", NULL, {{LATENCY, HELD_AS_TEXT}}},
    {"idle.latency-implausible", ADVISE_ADVICE, "negative", NULL, {{LATENCY, HELD_NEGATIVE}}},
    {"idle.latency-implausible", ADVISE_ADVICE, "4 bytes", NULL, {{LATENCY, "70\n"}}},
    {"idle.latency-implausible",
     ADVISE_ADVICE,
     "default",
     NULL,
     {{LATENCY, LATENCY_OF("\001", "\224", "\065", "\167")}}},
    {"idle.state-disabled",
     ADVISE_WARN,
     "C2 is disabled on all CPUs",
     NULL,
     {ON_ALL_CPUS("cpuidle/state2/disable", "1\n")}},
    {"idle.state-disabled",
     ADVISE_ADVICE,
     "C2 is disabled on CPUs 1",
     NULL,
     {{CPU_FILE(1, "cpuidle/state2/disable"), "1\n"}}},
    {"idle.state-disabled",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_CPUS("cpuidle/state2/disable", "1\n"), {CPU_FILE(0, "cpuidle/state2/default_status"), "disabled\n"}}},
    {"idle.resume-latency",
     ADVISE_ADVICE,
     "CPUs 2-3",
     NULL,
     {{CPU_FILE(2, "power/pm_qos_resume_latency_us"), "20\n"},
      {CPU_FILE(3, "power/pm_qos_resume_latency_us"), "20\n"}}},
    {"idle.resume-latency",
     ADVISE_ADVICE,
     "no sleep",
     NULL,
     {{CPU_FILE(1, "power/pm_qos_resume_latency_us"), "n/a\n"}}},
    {"idle.resume-latency", ADVISE_INFO, NULL, NULL, {{CPU_FILE(1, "power/pm_qos_resume_latency_us"), "5000\n"}}},
    {"idle.governor",
     ADVISE_INFO,
     "right in a guest",
     NULL,
     {GUEST, {"/sys/devices/system/cpu/cpuidle/current_governor", "haltpoll\n"}}},
    {"idle.governor",
     ADVISE_ADVICE,
     "haltpoll",
     NULL,
     {{"/sys/devices/system/cpu/cpuidle/current_governor", "haltpoll\n"}}},
    {"idle.governor",
     ADVISE_ADVICE,
     "ladder",
     NULL,
     {{"/sys/devices/system/cpu/cpuidle/current_governor", "ladder\n"}}},
    {"idle.governor", SILENT, NULL, NULL, {{"/sys/devices/system/cpu/cpuidle/current_governor", "teo\n"}}},
    {"idle.deepest-allowed", ADVISE_GOOD, "C2", NULL, {{NULL, NULL}}},
    {"idle.deepest-allowed", SILENT, NULL, NULL, {{CPU_FILE(1, "power/pm_qos_resume_latency_us"), "20\n"}}},
    {"idle.deepest-allowed", SILENT, NULL, NULL, {{LATENCY, HELD_100_US}}},
    {"idle.max-cstate-cmdline",
     ADVISE_WARN,
     "processor.max_cstate=1",
     NULL,
     {{"/proc/cmdline", "ro processor.max_cstate=1\n"}}},
    {"idle.max-cstate-cmdline", SILENT, NULL, NULL, {{"/proc/cmdline", "ro processor.max_cstate=9\n"}}},
    {"idle.max-cstate-cmdline", SILENT, NULL, NULL, {{"/proc/cmdline", "ro processor.max_cstate=1\n"}, GUEST}},
    {"idle.nomwait-cmdline", ADVISE_ADVICE, NULL, NULL, {{"/proc/cmdline", "ro idle=nomwait\n"}}},
    {"idle.idle-poll", ADVISE_WARN, "busy loop", NULL, {{"/proc/cmdline", "ro idle=poll\n"}}},
    {"idle.idle-poll", ADVISE_WARN, "C1", NULL, {{"/proc/cmdline", "ro idle=halt\n"}}},
    {"idle.idle-poll", SILENT, NULL, NULL, {{"/proc/cmdline", "ro idle=nomwait -- idle=poll\n"}}},
    {"idle.only-c1", ADVISE_WARN, "C1 (1 us)", NULL, {ON_ALL_CPUS("cpuidle/state2", GONE)}},
    {"idle.only-c1",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_CPUS("cpuidle/state2", GONE), {"/proc/cmdline", "ro processor.max_cstate=1\n"}}},
    {"idle.no-cpuidle-driver",
     ADVISE_WARN,
     NULL,
     NULL,
     {ON_ALL_CPUS("cpuidle", GONE), {"/sys/devices/system/cpu/cpuidle/current_driver", "none\n"}}},
    {"idle.no-cpuidle-driver",
     SILENT,
     NULL,
     NULL,
     {ON_ALL_CPUS("cpuidle", GONE), {"/sys/devices/system/cpu/cpuidle/current_driver", GONE}}},
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
	healthy_covers(advise_idle_rules, cases, ARRAY_SIZE(cases));
	healthy_covers(advise_idle_boot_rules, cases, ARRAY_SIZE(cases));
}

static const struct tree_file held_by_tuned[] = {
    {LATENCY, HELD_100_US},
    {"/run/tuned/tuned.pid", "911\n"},
    {"/etc/tuned/active_profile", "virtual-host\n"},
    {"/etc/tuned/tuned-main.conf", "dynamic_tuning = 1\n"},
    {"/proc/911/comm", "tuned\n"},
    {"/proc/911/fd/0", "->/dev/null"},
    {"/proc/911/fd/7", "->/dev/cpu_dma_latency"},
    {"/proc/12/comm", "latencyd\n"},
    {"/proc/12/fd/3", "->/dev/cpu_dma_latency"},
    {"/proc/13/comm", "other\n"},
    {"/proc/13/fd/3", "->/dev/null"},
    {NULL, NULL},
};

static void test_holders_are_named(void **state)
{
	struct tree *tree = healthy_new();

	(void)state;
	healthy_change(tree, held_by_tuned);
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *finding = tree_find(result, "idle.c2-shut-out");

	assert_non_null(finding);
	assert_non_null(strstr(finding->detail, "held by tuned (pid 911, profile virtual-host), latencyd (pid 12)"));
	assert_non_null(strstr(finding->detail, "C2 needs 800 us"));
	assert_non_null(strstr(finding->detail, "dynamic tuning"));
	(void)advise_result_free(result);
	(void)tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_covered),
	    cmocka_unit_test(test_holders_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
