/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules on KVM and on sources of energy. */
#include <errno.h>

#include "unit.h"
#include "advise_check.h"
#include "healthy.h"

#define KVM "/sys/module/kvm/parameters/"
#define KVM_AMD "/sys/module/kvm_amd/parameters/"
#define RAPL "/sys/class/powercap/"
#define GUEST                                                                                                          \
	{                                                                                                              \
		"/sys/class/dmi/id/sys_vendor", "QEMU\n"                                                               \
	}
#define NO_SOURCES                                                                                                     \
	{RAPL "intel-rapl:0", GONE},                                                                                   \
	{                                                                                                              \
		"/sys/class/hwmon/hwmon3", GONE                                                                        \
	}

static void without_svm(struct host *host)
{
	host->kvm.flag_svm = fact_switch("kvm.flag", false, "CPU flag svm");
}

static void refused(struct host *host)
{
	for (int i = 0; i < host->power.count; i++)
		host->power.sources[i].usable =
		    fact_unreadable("power.usable", host->power.sources[i].usable.source, EACCES, "needs root");
}

static const struct rule_case kvm_cases[] = {
    {"kvm.svm-off", ADVISE_FAIL, NULL, without_svm, {{"/dev/kvm", GONE}}},
    {"kvm.svm-off",
     ADVISE_FAIL,
     NULL,
     NULL,
     {{"/dev/kvm", GONE}, {"/dev/kmsg", "kvm_amd: SVM disabled (by BIOS) in MSR_VM_CR on CPU 3\n"}}},
    {"kvm.svm-off", SILENT, NULL, without_svm, {{NULL, NULL}}}, /* KVM of another kind runs (pagetables in software) */
    {"kvm.svm-off", SILENT, NULL, without_svm, {{"/dev/kvm", GONE}, GUEST}},
    {"kvm.modules-not-loaded", ADVISE_WARN, NULL, NULL, {{"/sys/module/kvm_amd", GONE}, {"/dev/kvm", GONE}}},
    {"kvm.modules-not-loaded", /* a copy of a few files */
     SILENT,
     NULL,
     NULL,
     {{"/sys/module/kvm_amd", GONE}, {"/dev/kvm", GONE}, {"/sys/module/kernel", GONE}}},
    {"kvm.no-device", ADVISE_FAIL, NULL, NULL, {{"/dev/kvm", GONE}}},
    {"kvm.no-device", SILENT, NULL, NULL, {{"/dev/kvm", GONE}, {"/dev/null", GONE}}},
    {"kvm.npt-off", ADVISE_WARN, "heavy loss", NULL, {{KVM_AMD "npt", "N\n"}}},
    {"kvm.npt-off", ADVISE_WARN, NULL, NULL, {{KVM_AMD "npt", "0\n"}}},
    {"kvm.npt-off", SILENT, NULL, NULL, {{KVM_AMD "npt", "perhaps\n"}}},
    {"kvm.nx-huge-pages-forced", ADVISE_WARN, NULL, NULL, {{KVM "nx_huge_pages", "Y\n"}}},
    {"kvm.nx-huge-pages-forced", SILENT, NULL, NULL, {{KVM "nx_huge_pages", "never\n"}}},
    {"kvm.feature-off", ADVISE_ADVICE, "vgif", NULL, {{KVM_AMD "vgif", "0\n"}}},
    {"kvm.feature-off", SILENT, NULL, NULL, {{KVM_AMD "vnmi", "N\n"}}}, /* this CPU has no vnmi */
    {"kvm.halt-poll-long", ADVISE_ADVICE, "800 us", NULL, {{KVM "halt_poll_ns", "800000\n"}}},
    {"kvm.halt-poll-long", SILENT, NULL, NULL, {{KVM "halt_poll_ns", "99999999999999999999\n"}}},
    {"kvm.halt-poll-off", ADVISE_INFO, "saves power", NULL, {{KVM "halt_poll_ns", "0\n"}}},
    {"kvm.tdp-mmu-off", ADVISE_ADVICE, NULL, NULL, {{KVM "tdp_mmu", "N\n"}}},
    {"kvm.tdp-mmu-off", SILENT, NULL, NULL, {{KVM "tdp_mmu", "N\n"}, {KVM_AMD "npt", "N\n"}}},
    {"kvm.vhost-net-missing", ADVISE_ADVICE, NULL, NULL, {{"/sys/module/vhost_net", GONE}, {"/dev/vhost-net", GONE}}},
    {"kvm.vhost-net-missing", SILENT, NULL, NULL, {{"/sys/module/vhost_net", GONE}}},
    {"kvm.avic-off", ADVISE_INFO, NULL, NULL, {{KVM_AMD "avic", "N\n"}}},
    {"kvm.avic-off", SILENT, NULL, NULL, {{KVM_AMD "avic", "auto\n"}}},
    {"kvm.nested-on", ADVISE_INFO, NULL, NULL, {{KVM_AMD "nested", "1\n"}}},
    {"kvm.ignore-msrs",
     ADVISE_INFO,
     "not reported",
     NULL,
     {{KVM "ignore_msrs", "Y\n"}, {KVM "report_ignored_msrs", "N\n"}}},
    {"kvm.pmu-off", ADVISE_INFO, NULL, NULL, {{KVM "enable_pmu", "N\n"}}},
    {"kvm.guest-without-nested", ADVISE_INFO, NULL, without_svm, {GUEST, {"/dev/kvm", GONE}}},
    {"kvm.guest-without-nested", SILENT, NULL, NULL, {GUEST, {"/dev/kvm", GONE}}},
    {"kvm.ready", ADVISE_GOOD, NULL, NULL, {{NULL, NULL}}},
    {"kvm.ready", SILENT, NULL, NULL, {{"/dev/kvm", GONE}}},
};

static const struct rule_case power_cases[] = {
    {"power.no-source", ADVISE_INFO, "unknown here, not 0 W", NULL, {NO_SOURCES}},
    {"power.no-source", SILENT, NULL, NULL, {NO_SOURCES, GUEST}},
    {"power.no-source", /* a copy without the places */
     SILENT,
     NULL,
     NULL,
     {{"/sys/class/powercap", GONE}, {"/sys/class/hwmon", GONE}, {"/sys/module/kernel", GONE}}},
    {"power.energy-needs-root", ADVISE_INFO, "2 sources", refused, {{NULL, NULL}}},
    {"power.rapl-name-is-right", ADVISE_INFO, "there is no dram zone", NULL, {{NULL, NULL}}},
    {"power.rapl-name-is-right", SILENT, NULL, NULL, {NO_SOURCES}},
    {"power.per-die-zones-duplicate",
     ADVISE_ADVICE,
     "3 powercap zones show the energy of 1 package:",
     NULL,
     {{RAPL "intel-rapl:0/name", "package-0-die-0\n"},
      {RAPL "intel-rapl:1/name", "package-0-die-1\n"},
      {RAPL "intel-rapl:1/energy_uj", "123\n"},
      {RAPL "intel-rapl:2/name", "package-0-die-2\n"},
      {RAPL "intel-rapl:2/energy_uj", "123\n"}}},
    {"power.per-die-zones-duplicate",
     SILENT,
     NULL,
     NULL,
     {{RAPL "intel-rapl:1/name", "package-1\n"}, {RAPL "intel-rapl:1/energy_uj", "123\n"}}},
    {"power.core-zone-is-one-core",
     ADVISE_INFO,
     NULL,
     NULL,
     {{RAPL "intel-rapl:0:0/name", "core\n"}, {RAPL "intel-rapl:0:0/energy_uj", "77\n"}}},
    {"power.source-implausible", ADVISE_ADVICE, "package-0", NULL, {{RAPL "intel-rapl:0/energy_uj", "0\n"}}},
    {"power.source-implausible", ADVISE_ADVICE, NULL, NULL, {{RAPL "intel-rapl:0/energy_uj", "65532610988\n"}}},
    {"power.source-implausible",
     ADVISE_ADVICE,
     "power_meter",
     NULL,
     {{"/sys/class/hwmon/hwmon3/power1_average", "0\n"}}},
    {"power.package-only", ADVISE_INFO, NULL, NULL, {{"/sys/class/hwmon/hwmon3", GONE}}},
};

static void run(const struct rule_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		healthy_run_case(&cases[i]);
}

static void test_kvm(void **state)
{
	(void)state;
	run(kvm_cases, ARRAY_SIZE(kvm_cases));
	healthy_covers(advise_kvm_rules, kvm_cases, ARRAY_SIZE(kvm_cases));
}

static void test_power(void **state)
{
	(void)state;
	run(power_cases, ARRAY_SIZE(power_cases));
	healthy_covers(advise_power_rules, power_cases, ARRAY_SIZE(power_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kvm),
	    cmocka_unit_test(test_power),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
