/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of host_os, host_boot and host_guest: what is told from which signs. */
#include <string.h>

#include "unit.h"
#include "hosts.h"
#include "tree.h"

enum { FILES_MAX = 8 };

static struct host *host_of(struct tree **ret, const struct tree_file *files)
{
	*ret = tree_new(NULL);
	tree_add_amd(*ret, 2, 2, 25, 17);
	tree_add(*ret, files);
	return tree_host(*ret);
}

#define LINE(words)                                                                                                    \
	{                                                                                                              \
		"/proc/cmdline", words "\n"                                                                            \
	}
#define GRUB                                                                                                           \
	{                                                                                                              \
		"/etc/default/grub", "GRUB_TIMEOUT=5\n"                                                                \
	}
#define ID(lines)                                                                                                      \
	{                                                                                                              \
		"/etc/os-release", lines "\n"                                                                          \
	}

/* clang-format off */
static const struct {
	enum os_boot_loader loader;
	const char *sign; /* a part of the source */
	struct tree_file files[FILES_MAX];
} loaders[] = {
    {BOOT_GRUB_DEBIAN, "/etc/default/grub", {LINE("BOOT_IMAGE=/vmlinuz ro"), ID("ID=debian"), GRUB}},
    {BOOT_GRUB_DEBIAN, "/etc/default/grub", {ID("ID=ubuntu\nID_LIKE=debian"), GRUB}},
    {BOOT_GRUB_DEBIAN, "/etc/default/grub", {ID("ID=linuxmint\nID_LIKE=\"ubuntu debian\""), GRUB}},
    {BOOT_GRUB_BLS, "/boot/loader/entries", {ID("ID=fedora"), GRUB, {"/boot/loader/entries/", ""}}},
    {BOOT_GRUB_BLS, "/boot/loader/entries",
     {LINE("BOOT_IMAGE=(hd0,gpt2)/vmlinuz ro"), ID("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\""),
      {"/boot/loader/entries/", ""}, {"/boot/loader/loader.conf", ""}}},
    {BOOT_GRUB_SUSE, "/etc/default/grub", {ID("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\""), GRUB}},
    {BOOT_GRUB_OTHER, "/etc/default/grub", {ID("ID=arch"), GRUB}},
    {BOOT_SYSTEMD_BOOT, "initrd=", {LINE("initrd=\\initramfs-linux.img root=UUID=0"), ID("ID=arch"), GRUB}},
    {BOOT_SYSTEMD_BOOT, "/boot/loader/loader.conf", {ID("ID=arch"), {"/boot/loader/loader.conf", "timeout 3\n"}}},
    {BOOT_PROXMOX, "initrd=", {LINE("initrd=\\EFI\\proxmox\\6.8.12-1-pve\\initrd.img-6.8.12-1-pve root=ZFS=rpool"),
			       ID("ID=debian"), GRUB, {"/etc/pve/", ""}}},
    {BOOT_PROXMOX, "proxmox-boot-uuids", {LINE("root=ZFS=rpool"), ID("ID=debian"), GRUB, {"/etc/pve/", ""},
					  {"/etc/kernel/proxmox-boot-uuids", "AAAA-BBBB\n"}}},
    {BOOT_GRUB_DEBIAN, "/etc/default/grub", {LINE("BOOT_IMAGE=/boot/vmlinuz-6.8.12-1-pve ro"), ID("ID=debian"), GRUB,
					     {"/etc/pve/", ""}, {"/etc/kernel/proxmox-boot-uuids", "AAAA-BBBB\n"}}},
    {BOOT_OSTREE, "ostree=", {LINE("BOOT_IMAGE=(hd0,gpt3)/ostree/x ostree=/ostree/boot.0/fedora"), ID("ID=fedora"),
			      {"/boot/loader/entries/", ""}}},
    {BOOT_UNKNOWN, "", {LINE("root=/dev/vda"), ID("ID=debian")}},
    {BOOT_UNKNOWN, "", {{NULL, NULL}}},
};

static const struct {
	const char *kind; /* NULL: metal */
	struct tree_file files[FILES_MAX];
} machines[] = {
    {NULL, {{NULL, NULL}}},
    {NULL, {{"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"}, {"/sys/class/dmi/id/product_name", "m7a.metal-48xl\n"}}},
    {NULL, {{"/sys/class/dmi/id/sys_vendor", "Google\n"}}},
    {"unknown", {GUEST}},
    {"KVM (Amazon Nitro)", {GUEST, {"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"}}},
    {"KVM (QEMU)", {GUEST, {"/sys/class/dmi/id/sys_vendor", "QEMU\n"}, {"/sys/class/dmi/id/product_name", "Standard PC\n"}}},
    {"KVM (QEMU)", {{"/sys/class/dmi/id/sys_vendor", "QEMU\n"}}}, /* the flag is hidden */
    {"VMware", {GUEST, {"/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n"}}},
    {"Hyper-V", {GUEST, {"/sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n"},
		 {"/sys/class/dmi/id/product_name", "Virtual Machine\n"}}},
    {NULL, {{"/sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n"}, {"/sys/class/dmi/id/product_name", "C2195\n"}}},
    {"Xen", {GUEST, {"/sys/hypervisor/type", "xen\n"}}},
    {"Xen", {{"/proc/xen/", ""}}},
    {"KVM", {GUEST, {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc\n"}}},
};
/* clang-format on */

static void test_boot_loaders(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++) {
		struct tree *tree;
		const struct host_os *os = &host_of(&tree, loaders[i].files)->os;
		const char *sign = os->boot_loader.source ? os->boot_loader.source : "";

		if (os->loader != loaders[i].loader || !strstr(sign, loaders[i].sign))
			fail_msg("case %zu: loader %d, not %d, by %s", i, (int)os->loader, (int)loaders[i].loader,
				 sign);
		assert_true((os->loader == BOOT_UNKNOWN) == !fact_known(&os->boot_loader));
		assert_true(*host_os_boot_by_hand(os) != '\0');
		tree_free(tree);
	}
}

static void test_hypervisors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct tree *tree;
		const struct host *host = host_of(&tree, machines[i].files);
		const char *kind = fact_text_or(&host->os.hypervisor, "metal");

		if (strcmp(kind, machines[i].kind ? machines[i].kind : "metal") != 0)
			fail_msg("case %zu: %s, not %s", i, kind, machines[i].kind ? machines[i].kind : "metal");
		assert_true(host_is_guest(host) == (machines[i].kind != NULL));
		tree_free(tree);
	}
}

static void test_release_and_distribution(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/version", "Linux version 6.14.0-63.fc42.x86_64 (mockbuild@x) (gcc 15) #1 SMP\n"},
	    {"/usr/lib/os-release", "NAME=x\n# PRETTY_NAME=no\nPRETTY_NAME=\"Fedora Linux 42 (Server Edition)\"\n"
				    "ID='fedora'\nVERSION_ID=42\nID"},
	    {"/proc/uptime", "1845.22 3000.1\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host *host = host_of(&tree, files);

	(void)state;
	assert_true(fact_is_text(&host->os.kernel_release, "6.14.0-63.fc42.x86_64"));
	assert_int_equal(host->os.kernel_major, 6);
	assert_int_equal(host->os.kernel_minor, 14);
	assert_true(fact_is_text(&host->os.distribution, "Fedora Linux 42 (Server Edition)"));
	assert_true(fact_is_text(&host->os.distribution_id, "fedora"));
	assert_true(fact_is_text(&host->os.distribution_version, "42"));
	assert_true(fact_is_number(&host->os.uptime_s, 1845));
	tree_free(tree);
}

static void test_garbage(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/version", "FreeBSD\n"},
	    {"/etc/os-release", "\"\"\n=\nID\nPRETTY_NAME=\"\n"},
	    {"/proc/uptime", "soon\n"},
	    {"/sys/firmware/acpi/pm_profile", "99\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host *host = host_of(&tree, files);

	(void)state;
	assert_int_equal(host->os.kernel_release.state, FACT_IMPLAUSIBLE);
	assert_int_equal(host->os.kernel_major, 0);
	assert_int_equal(host->os.distribution_id.state, FACT_ABSENT);
	assert_int_equal(host->os.uptime_s.state, FACT_IMPLAUSIBLE);
	assert_string_equal(host_os_pm_profile_name(99), "unknown");
	assert_string_equal(host_os_pm_profile_name(-1), "unknown");
	assert_string_equal(host_os_pm_profile_name(4), "enterprise server");
	assert_true(host_os_pm_profile_is_server(7));
	assert_false(host_os_pm_profile_is_server(0));
	tree_free(tree);
}

static void test_unknown_words(void **state)
{
	static const struct tree_file files[] = {
	    {"/dev/kmsg", "first\nUnknown kernel command line parameters \"BOOT_IMAGE=/v a=\"b c\" d\", will be passed "
			  "to user space.\nlast\n"},
	    {NULL, NULL},
	};
	struct tree *tree;

	(void)state;
	assert_true(fact_is_text(&host_of(&tree, files)->os.unknown_words, "BOOT_IMAGE=/v a=\"b c\" d"));
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_boot_loaders),
	    cmocka_unit_test(test_hypervisors),
	    cmocka_unit_test(test_release_and_distribution),
	    cmocka_unit_test(test_garbage),
	    cmocka_unit_test(test_unknown_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
