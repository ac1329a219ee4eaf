/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_system: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "hosts.h"

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

static const struct tree_file base[] = {CMDLINE("quiet"), CLOCK("tsc", "tsc hpet acpi_pm"), {NULL, NULL}};

/* clang-format off */
static const struct rule_case cases[] = {
    {"system.guest", ADVISE_INFO, "virtual machine of KVM", NULL, {GUEST, {"/sys/class/dmi/id/sys_vendor", "QEMU\n"}}},
    {"system.guest", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"system.container", ADVISE_INFO, "podman", NULL, {{"/run/.containerenv", ""}}},
    {"system.container", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"system.clocksource-slow", ADVISE_WARN, "hpet", NULL, {CLOCK("hpet", "hpet acpi_pm")}},
    {"system.clocksource-slow", ADVISE_WARN, "acpi_pm", NULL, {CLOCK("acpi_pm", "tsc acpi_pm"), GUEST}},
    {"system.clocksource-slow", SILENT, NULL, NULL, {CLOCK("kvm-clock", "kvm-clock tsc acpi_pm"), GUEST}},
    {"system.clocksource-slow", SILENT, NULL, NULL, {CLOCK("hyperv_clocksource_tsc_page", "hyperv_clocksource_tsc_page"), GUEST}},
    {"system.clocksource-slow", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"system.clocksource-tsc", ADVISE_GOOD, NULL, NULL, {CMDLINE("quiet")}},
    {"system.clocksource-tsc", SILENT, NULL, NULL, {CLOCK("hpet", "hpet")}},

    {"system.unknown-words", ADVISE_WARN, "amd_pstat=active", NULL, {LOG("BOOT_IMAGE=/vmlinuz amd_pstat=active splash")}},
    {"system.unknown-words", ADVISE_WARN, "nohz_full=1-7", NULL, {LOG("nohz_full=1-7")}}, /* not built in */
    {"system.unknown-words", ADVISE_INFO, "frobnicate=1", NULL, {LOG("frobnicate=1")}},
    {"system.unknown-words", SILENT, NULL, NULL, {LOG("BOOT_IMAGE=/boot/vmlinuz-6.1 rhgb splash 3 boot=zfs")}},
    {"system.unknown-words", SILENT, NULL, NULL, {CMDLINE("quiet")}},
    {"system.unknown-words", SILENT, NULL, NULL, {{"/dev/kmsg", "Unknown kernel command line parameters \n"}}},

    {"system.boot-loader", ADVISE_INFO, "update-grub", NULL,
     {{"/etc/os-release", "ID=debian\n"}, {"/etc/default/grub", "GRUB_TIMEOUT=5\n"}}},
    {"system.boot-loader", SILENT, NULL, NULL, {{"/etc/os-release", "ID=debian\n"}}},

    {"system.boot-words-not-booted", ADVISE_ADVICE, "not booted: amd_pstate=guided", NULL,
     {{"/etc/os-release", "ID=debian\n"}, CMDLINE("quiet amd_pstate=active iommu=pt"),
      {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash amd_pstate=guided iommu=pt\"\n"}}},
    {"system.boot-words-not-booted", ADVISE_ADVICE, "/etc/kernel/cmdline", NULL,
     {{"/etc/os-release", "ID=debian\n"}, {"/etc/pve/", ""}, {"/proc/cmdline", "initrd=\\EFI\\proxmox\\x root=ZFS=rpool\n"},
      {"/etc/kernel/cmdline", "root=ZFS=rpool iommu=pt\n"}}},
    {"system.boot-words-not-booted", SILENT, NULL, NULL, /* words that do not matter here */
     {{"/etc/os-release", "ID=debian\n"}, CMDLINE("iommu=pt"),
      {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash iommu=pt\"\n"}}},
    {"system.boot-words-not-booted", SILENT, NULL, NULL, /* a recovery entry leaves them out */
     {{"/etc/os-release", "ID=debian\n"}, CMDLINE("single"), {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"iommu=pt\"\n"}}},
    {"system.boot-words-not-booted", SILENT, NULL, NULL, /* the snippet may replace the file's words */
     {{"/etc/os-release", "ID=ubuntu\n"}, CMDLINE("quiet"), {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"iommu=pt\"\n"},
      {"/etc/default/grub.d/50-cloud.cfg", "GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n"}}},
    {"system.boot-words-not-booted", ADVISE_ADVICE, "not booted: amd_pstate=guided", NULL, /* a snippet asks too */
     {{"/etc/os-release", "ID=debian\n"}, CMDLINE("quiet"), {"/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"},
      {"/etc/default/grub.d/zz-hvtune.cfg",
       "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT amd_pstate=guided\"\n"}}},
    {"system.boot-words-not-booted", SILENT, NULL, NULL, /* boot loader entries decide there */
     {{"/etc/os-release", "ID=fedora\n"}, CMDLINE("quiet"), {"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"iommu=pt\"\n"}}},

    {"system.pm-profile", ADVISE_INFO, "\"desktop\"", NULL, {PM_PROFILE("1")}},
    {"system.pm-profile", ADVISE_INFO, "\"unspecified\"", NULL, {PM_PROFILE("0")}},
    {"system.pm-profile", SILENT, NULL, NULL, {PM_PROFILE("4")}},
    {"system.pm-profile", SILENT, NULL, NULL, {PM_PROFILE("1"), GUEST}},
    {"system.pm-profile", SILENT, NULL, NULL, {PM_PROFILE("1"), {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n"
						     "cpu family\t: 25\nmodel\t\t: 97\nmodel name\t: AMD Ryzen 9 7950X\nflags\t\t: fpu\n"}}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case_over(base, &cases[i]);
	healthy_covers_over(base, advise_system_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
