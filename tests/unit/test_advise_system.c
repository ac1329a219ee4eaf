/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_system: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "rules.h"
#include "rules_host.h"

#define CLOCK(current, available)                                                                                      \
	{"/sys/devices/system/clocksource/clocksource0/current_clocksource", current "\n"},                            \
	{                                                                                                              \
		"/sys/devices/system/clocksource/clocksource0/available_clocksource", available "\n"                   \
	}
#define LOG(words)                                                                                                     \
	{                                                                                                              \
		"/dev/kmsg", "Unknown kernel command line parameters \"" words "\", will be passed to user space.\n"   \
	}
#define PM_PROFILE(number)                                                                                             \
	{                                                                                                              \
		"/sys/firmware/acpi/pm_profile", number "\n"                                                           \
	}

static const struct tree_file healthy[] = {CMDLINE("quiet"), CLOCK("tsc", "tsc hpet acpi_pm"), {NULL, NULL}};

/* clang-format off */
static const struct rule_case cases[] = {
    {"system.guest", true, ADVISE_INFO, "virtual machine of KVM", {GUEST, {"/sys/class/dmi/id/sys_vendor", "QEMU\n"}}},
    {"system.guest", false, 0, NULL, {CMDLINE("quiet")}},

    {"system.container", true, ADVISE_INFO, "podman", {{"/run/.containerenv", ""}}},
    {"system.container", false, 0, NULL, {CMDLINE("quiet")}},

    {"system.clocksource-slow", true, ADVISE_WARN, "hpet", {CLOCK("hpet", "hpet acpi_pm")}},
    {"system.clocksource-slow", true, ADVISE_WARN, "acpi_pm", {CLOCK("acpi_pm", "tsc acpi_pm"), GUEST}},
    {"system.clocksource-slow", false, 0, NULL, {CLOCK("kvm-clock", "kvm-clock tsc acpi_pm"), GUEST}},
    {"system.clocksource-slow", false, 0, NULL, {CLOCK("hyperv_clocksource_tsc_page", "hyperv_clocksource_tsc_page"), GUEST}},
    {"system.clocksource-slow", false, 0, NULL, {CMDLINE("quiet")}},

    {"system.clocksource-tsc", true, ADVISE_GOOD, NULL, {CMDLINE("quiet")}},
    {"system.clocksource-tsc", false, 0, NULL, {CLOCK("hpet", "hpet")}},

    {"system.unknown-words", true, ADVISE_WARN, "amd_pstat=active", {LOG("BOOT_IMAGE=/vmlinuz amd_pstat=active splash")}},
    {"system.unknown-words", true, ADVISE_WARN, "nohz_full=1-7", {LOG("nohz_full=1-7")}}, /* not built in */
    {"system.unknown-words", true, ADVISE_INFO, "frobnicate=1", {LOG("frobnicate=1")}},
    {"system.unknown-words", false, 0, NULL, {LOG("BOOT_IMAGE=/boot/vmlinuz-6.1 rhgb splash 3 boot=zfs")}},
    {"system.unknown-words", false, 0, NULL, {CMDLINE("quiet")}},
    {"system.unknown-words", false, 0, NULL, {{"/dev/kmsg", "Unknown kernel command line parameters \n"}}},

    {"system.boot-loader", true, ADVISE_INFO, "update-grub",
     {{"/etc/os-release", "ID=debian\n"}, {"/etc/default/grub", "GRUB_TIMEOUT=5\n"}}},
    {"system.boot-loader", false, 0, NULL, {{"/etc/os-release", "ID=debian\n"}}},

    {"system.pm-profile", true, ADVISE_INFO, "\"desktop\"", {PM_PROFILE("1")}},
    {"system.pm-profile", true, ADVISE_INFO, "\"unspecified\"", {PM_PROFILE("0")}},
    {"system.pm-profile", false, 0, NULL, {PM_PROFILE("4")}},
    {"system.pm-profile", false, 0, NULL, {PM_PROFILE("1"), GUEST}},
    {"system.pm-profile", false, 0, NULL, {PM_PROFILE("1"), {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n"
						     "cpu family\t: 25\nmodel\t\t: 97\nmodel name\t: AMD Ryzen 9 7950X\nflags\t\t: fpu\n"}}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	rules_check(healthy, cases, ARRAY_SIZE(cases));
	rules_covered(advise_system_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
