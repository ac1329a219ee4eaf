/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of anonymising: what must go, what must stay, and that one secret has one replacement. */
#include <ctype.h>

#include "sys_anonymise.h"
#include "text.h"
#include "unit.h"

struct setup {
	struct arena *arena;
	struct sys_anonymiser *anonymiser;
};

static int start(void **state)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	setup->arena = arena_new();
	setup->anonymiser = sys_anonymiser_new();
	*state = setup;
	return 0;
}

static int end(void **state)
{
	struct setup *setup = *state;

	(void)sys_anonymiser_free(setup->anonymiser);
	(void)arena_free(setup->arena);
	free(setup);
	return 0;
}

static const char *text_of(struct setup *setup, const char *path, const char *text)
{
	size_t size;

	return sys_anonymise_contents(setup->anonymiser, setup->arena, path, text, strlen(text), &size);
}

/* Each text holds `secret`, which must be gone, while what is beside it stays: everything up to it and after it. */
static void test_what_must_go(void **state)
{
	static const struct {
		const char *path, *text, *secret;
	} cases[] = {
	    {"/proc/cmdline", "root=UUID=0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c ro",
	     "0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c"},
	    {"/proc/cmdline", "root=PARTUUID=a1b2c3d4-02 ro", "a1b2c3d4"},
	    {"/proc/cmdline", "root=UUID=C0FE-BABE ro", "C0FE-BABE"},
	    {"/proc/7/cmdline", "-object secret,id=s0,data=aHVudGVyMg,format=base64", "aHVudGVyMg"},
	    {"/proc/7/cmdline", "{\"qom-type\":\"secret\",\"id\":\"s0\",\"data\":\"aHVudGVyMg\"}", "aHVudGVyMg"},
	    {"/proc/cmdline", "root=LABEL=alices-disk ro", "alices-disk"},
	    {"/proc/cmdline", "root=/dev/mapper/acme--vg-root ro", "acme"},
	    {"/proc/cmdline", "root=/dev/acmevg/root ro", "acmevg"},
	    {"/proc/cmdline", "rd.lvm.lv=acmevg/swap ro", "acmevg"},
	    {"/proc/cmdline", "rd.luks.uuid=luks-0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c ro", "0b5c3f1e"},
	    {"/proc/cmdline", "rd.luks.name=x=acmecrypt ro", "acmecrypt"},
	    {"/proc/cmdline", "cryptdevice=/dev/sda2:acmecrypt ro", "acmecrypt"},
	    {"/proc/cmdline", "ip=192.168.17.5::192.168.17.1:255.255.255.0::eth0:off", "192.168.17.5"},
	    {"/proc/cmdline", "nfsroot=[2a02:8070:abcd::17]:/x", "2a02:8070:abcd::17"},
	    {"/proc/cmdline", "x=fe80:1:2:3:4:5:6:7 y", "fe80:1:2:3:4:5:6:7"},
	    {"/proc/cmdline", "inst.password=hunter2 ro", "hunter2"},
	    {"/proc/cmdline", "systemd.hostname=acmehost1 ro", "acmehost1"},
	    {"/proc/cmdline", "netroot=iscsi:iqn.2004-10.com.acme:disk7 ro", "acme"},
	    {"/sys/class/net/eth0/address", "3c:ec:ef:12:34:56\n", "3c:ec:ef:12:34:56"},
	    {"/sys/class/net/ib0/address", "a0:00:02:20:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:55:66:77\n", "e4:1d:2d"},
	    {"/sys/class/dmi/id/product_serial", "S123456X7890\n", "S123456X7890"},
	    {"/sys/class/dmi/id/chassis_asset_tag", "ACME-0815\n", "ACME"},
	    {"/sys/devices/system/cpu/cpu0/topology/ppin", "0x2b1a2c3d4e5f6071\n", "2b1a2c3d4e5f6071"},
	    {"/sys/class/nvme/nvme0/serial", "S4EWNX0R123456      \n", "S4EWNX0R123456"},
	    {"/sys/block/sda/device/wwid", "naa.5000c500a1b2c3d4\n", "c500a1b2c3d4"},
	    {"/sys/class/fc_host/host1/x", "0x5001438012345678\n", "5001438012345678"},
	    {"/proc/sys/kernel/hostname", "acmehost1\n", "acmehost1"},
	    {"/etc/machine-id", "0123456789abcdef0123456789abcdef\n", "0123456789abcdef"},
	    {"/proc/version", "Linux version 6.8.0 (alice@buildbox) (gcc 13)", "alice"},
	    {"/proc/version", "Linux version 6.8.0 (alice@buildbox) (gcc 13)", "buildbox"},
	    {"/proc/7/cgroup", "0::/machine.slice/machine-qemu\\x2d1\\x2dacmeweb.scope/libvirt", "acmeweb"},
	    {"/proc/7/x", "file=/home/alice/disk.qcow2", "alice"},
	    {"/etc/libvirt/qemu/a.xml", "  <name>acmeweb</name>", "acmeweb"},
	    {"/etc/pve/qemu-server/100.conf", "name: acmeweb", "acmeweb"},
	    {"/etc/tuned/x.conf", "mail=alice@acme.example", "alice"},
	    {"/dev/kmsg", "usb 1-1: SerialNumber: 0815ABCD4711", "0815ABCD4711"},
	    {"/proc/cmdline", "ifname=eth0:52:54:00:c0:ff:ee ro", "52:54:00:c0:ff:ee"},
	    {"/proc/cmdline", "ip=::::h:eth0:dhcp:1500:52:54:00:c0:ff:ed ro", "52:54:00:c0:ff:ed"},
	    {"/proc/cmdline", "BOOTIF=01-52-54-00-c0-ff-ec ro", "52-54-00-c0-ff-ec"},
	    {"/proc/7/cmdline", "name=opt/io.systemd.credentials/x,string=hunter2 and more", "hunter2 and more"},
	    {"/proc/7/cmdline", "type=11,value=io.systemd.credential:x=hunter2 or 3",
	     "io.systemd.credential:x=hunter2 or 3"},
	    {"/etc/pve/qemu-server/100.conf", "args: -fw_cfg name=opt/x,string=hunter2 -enable-kvm", "hunter2"},
	    {"/etc/pve/qemu-server/100.conf", "tags: acme;prod", "acme"},
	    {"/etc/pve/qemu-server/100.conf", "searchdomain: acme.example", "acme"},
	    {"/etc/pve/qemu-server/100.conf", "[beforeacme]", "beforeacme"},
	    {"/etc/libvirt/qemu/a.xml", "<qemu:arg value='name=opt/x,string=hunter2'/>", "hunter2"},
	    {"/etc/libvirt/qemu/a.xml", "<oemStrings><entry>acme-key-7</entry></oemStrings>", "acme-key-7"},
	    {"/etc/libvirt/qemu/a.xml", "<entry name='serial'>ABC4711</entry>", "ABC4711"},
	    {"/proc/1/mountinfo", "/dev/disk/by-id/ata-WDC_WD40EFRX_WD-WCC4E1234567 /x", "WCC4E1234567"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text, *at = strstr(text, cases[i].secret);

		assert_non_null(at);
		const char *after = at + strlen(cases[i].secret);
		const char *result = text_of(*state, cases[i].path, text);

		if (strstr(result, cases[i].secret))
			fail_msg("%s is still in: %s", cases[i].secret, result);
		/* The word before and the one after are what the facts look at. */
		size_t before = (size_t)(at - text);

		while (before && !strchr(" =(", text[before - 1]))
			before--;
		after = strpbrk(after, " )\n");
		if (strncmp(result, text, before) != 0)
			fail_msg("more than the secret was replaced: %s", result);
		if (after && !strstr(result, after) && !strstr(text, "(alice"))
			fail_msg("more than the secret was replaced: %s", result);
	}
}

static void test_what_must_stay(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {
	    {"/proc/cmdline",
	     "BOOT_IMAGE=/vmlinuz-6.8.0-31-generic root=/dev/nvme0n1p2 ro amd_pstate=active isolcpus=2-7,10"},
	    {"/proc/cmdline",
	     "hugepagesz=1G hugepages=16 nohz_full=1-7:2/4 pci=0000:41:00.0 vfio-pci.ids=1002:744c,1002:ab30"},
	    {"/sys/class/dmi/id/bios_version", "2.4.1.7\n"},
	    {"/sys/class/net/lo/address", "00:00:00:00:00:00\n"},
	    {"/sys/devices/system/node/node0/cpumap", "ffffffff,00000000,ffffffff,00000000\n"},
	    {"/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_map", "00000000,000000ff\n"},
	    {"/proc/cpuinfo", "model name\t: AMD EPYC 9354P 32-Core Processor\nflags\t\t: fpu vme svm\n"},
	    {"/proc/version", "Linux version 6.14.0.12 #1 SMP 2026"},
	    {"/etc/os-release", "PRETTY_NAME=\"Fedora Linux 42\"\nVERSION_ID=42\n"},
	    {"/x", "listen 127.0.0.1 ::1 mask 255.255.255.0 any 0.0.0.0\n"},
	    {"/x", "qemu-7.2.0.1 kernel vmlinuz-6.1.0.12\n"},
	    {"/x", "user@1000.service getty@tty1.service\n"},
	    {"/x", "12:34:56 0000:c1:00.1 ff00ff00\n"},
	    {"/sys/class/net/eth0/device", "0000:41:00.0\n"},
	    {"/etc/tuned/active_profile", "virtual-host\n"},
	    {"/etc/libvirt/qemu/networks/default.xml", "virbr0"},
	    {"/etc/pve/qemu-server/100.conf", "[PENDING]\n[special:cloudinit]\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(text_of(*state, cases[i].path, cases[i].text), cases[i].text);
}

static void test_one_secret_one_replacement(void **state)
{
	struct setup *setup = *state;
	const char *one = text_of(setup, "/a", "x 3c:ec:ef:12:34:56 y");
	const char *other = text_of(setup, "/b", "3C:EC:EF:12:34:56");
	const char *name = sys_anonymise_name(setup->anonymiser, setup->arena, "/sys/class/net", "enx3cecef123456");
	const char *path = sys_anonymise_path(setup->anonymiser, setup->arena, "/sys/class/net/enx3cecef123456/speed");

	/* The same digits in all four forms. */
	for (size_t i = 0, j = 0; i < 17; i++) {
		assert_int_equal(tolower((unsigned char)one[2 + i]), tolower((unsigned char)other[i]));
		if (one[2 + i] != ':')
			assert_int_equal(one[2 + i], name[3 + j++]);
	}
	assert_true(text_starts(one + 2, "02:"));
	assert_string_equal(path, arena_printf(setup->arena, "/sys/class/net/%s/speed", name));
	assert_int_equal(sys_anonymiser_count(setup->anonymiser), 1);
}

/* An empty field between two IPv4 addresses makes no IPv6 address of their ends, and an address has one replacement. */
static void test_addresses_beside_colons(void **state)
{
	struct setup *setup = *state;
	const char *alone = text_of(setup, "/proc/cmdline", "x=10.1.2.3");
	const char *text = text_of(setup, "/proc/cmdline", "ip=10.1.2.3::10.1.2.1:255.255.255.0:a:eth0:none");

	assert_true(text_starts(text + strlen("ip="), alone + strlen("x=")));
	assert_non_null(strstr(text, "::10."));
	assert_non_null(strstr(text, ":255.255.255.0:"));
	assert_string_equal(text_of(setup, "/proc/cmdline", "x=[fd12:3:0::7]"),
			    text_of(setup, "/proc/cmdline", "x=[FD12:3::7]"));
}

/* In quotes or not, a password is one secret: rules compare such words. */
static void test_the_quote_behind_a_password(void **state)
{
	struct setup *setup = *state;
	const char *bare = text_of(setup, "/proc/cmdline", "password=hunter2 ro");
	const char *quoted = text_of(setup, "/dev/kmsg", "parameters \"password=hunter2\", will");

	assert_int_equal(strlen(bare), strlen("password=hunter2 ro"));
	assert_true(text_starts(quoted, "parameters \"password="));
	assert_memory_equal(quoted + strlen("parameters \""), bare, strlen("password=hunter2"));
	assert_string_equal(quoted + strlen("parameters \"password=hunter2"), "\", will");
	assert_null(strstr(bare, "hunter2"));
	assert_null(strstr(text_of(setup, "/proc/cmdline", "password=hun\"ter2 ro"), "ter2"));
}

/* What people write goes as a whole; what libosinfo notes, line numbers and the form stay. */
static void test_free_text(void **state)
{
	static const struct {
		const char *xml, *left;
	} cases[] = {
	    {"<domain><!-- ask\nAlice -->\n<title>Alice's</title>\n<vcpu>2</vcpu></domain>",
	     "<domain>\n\n<title></title>\n<vcpu>2</vcpu></domain>"},
	    {"<description>\nAlice\n<b>x</b></description><a/>", "<description>\n\n</description><a/>"},
	    {"<metadata>\n<libosinfo:libosinfo xmlns:libosinfo=\"u\">\n<libosinfo:os id=\"win>10\"/>\n"
	     "</libosinfo:libosinfo>\n<nova:owner>Alice</nova:owner>\n</metadata>",
	     "<metadata>\n<libosinfo:libosinfo xmlns:libosinfo=\"u\">\n<libosinfo:os id=\"win>10\"/>\n"
	     "</libosinfo:libosinfo>\n\n</metadata>"},
	    {"<metadata/><title/><name>x</name>", "<metadata/><title/>"},
	    {"<description><![CDATA[</description>Alice]]></description><a/>", "<description></description><a/>"},
	    {"<titles>kept</titles><a><![CDATA[<title>]]></a>", "<titles>kept</titles><a><![CDATA[<title>]]></a>"},
	    {"<title>Alice", "<title>"},
	    {"<metadata><x Alice", "<metadata>"},
	    {"<!-- Alice", ""},
	};
	struct setup *setup = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = text_of(setup, "/etc/libvirt/qemu/a.xml", cases[i].xml);

		if (!text_starts(text, cases[i].left) || strstr(text, "Alice"))
			fail_msg("of %s is left: %s", cases[i].xml, text);
	}
}

/* A name that is learned from one file is gone from all, but words of the kernel's files stay. */
static void test_names_are_learned(void **state)
{
	struct setup *setup = *state;

	(void)text_of(setup, "/proc/sys/kernel/hostname", "web7.acme.example\n");
	(void)sys_anonymise_path(setup->anonymiser, setup->arena, "/etc/libvirt/qemu/performance.xml");
	(void)sys_anonymise_path(setup->anonymiser, setup->arena, "/etc/libvirt/qemu/db.xml");
	const char *text =
	    text_of(setup, "/etc/motd", "this is web7, also WEB7.acme.example and Web7, not web70 nor xweb7");

	assert_null(strcasestr(text, "web7,"));
	assert_null(strstr(text, "acme"));
	assert_non_null(strstr(text, "not web70 nor xweb7"));
	/* Interfaces are named by people, in all ways to them alike. */
	text = sys_anonymise_path(setup->anonymiser, setup->arena, "/sys/class/net/br-web7/mtu");
	assert_null(strstr(text, "web7"));
	assert_string_equal(
	    arena_printf(setup->arena, "/sys/class/net/%s/mtu",
			 sys_anonymise_name(setup->anonymiser, setup->arena, "/sys/class/net", "br-web7")),
	    text);
	assert_null(strstr(sys_anonymise_target(setup->anonymiser, setup->arena, "/sys/class/net/br-web7",
						"../../devices/virtual/net/br-web7"),
			   "web7"));
	assert_string_equal(text_of(setup, "/sys/x/scaling_governor", "performance\n"), "performance\n");
	assert_string_equal(text_of(setup, "/etc/tuned/active_profile", "performance\n"), "performance\n");
	assert_null(strstr(
	    sys_anonymise_target(setup->anonymiser, setup->arena, "/etc/libvirt/qemu/autostart/db.xml", "../db.xml"),
	    "/db."));
}

static void test_command_line_of_qemu(void **state)
{
	static const char line[] =
	    "/usr/bin/qemu-system-x86_64\0-name\0guest=acmeweb,debug-threads=on\0-m\0"
	    "4096\0-name\0acmedb,process=qemu:acmedb\0-uuid\0000b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c";
	struct setup *setup = *state;
	size_t size;
	const char *result =
	    sys_anonymise_contents(setup->anonymiser, setup->arena, "/proc/7/cmdline", line, sizeof(line), &size);

	const char *left = memmem(result, size, "acme", 4);

	assert_string_equal(left ? left : "", "");
	assert_null(memmem(result, size, "4a7d-4c62", 9));
	assert_non_null(memmem(result, size, ",debug-threads=on\0-m\0004096", 25));
	assert_string_equal(result, "/usr/bin/qemu-system-x86_64");
}

static void test_what_is_left_out(void **state)
{
	static const char line[] = "/usr/bin/python3\0-Es\0/usr/sbin/tuned\0--key\0hunter2";
	struct setup *setup = *state;
	size_t size;

	assert_string_equal(text_of(setup, "/proc/mounts",
				    "nas.acme.example:/vol /mnt/acme nfs4 rw 0 0\n"
				    "hugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n"),
			    "hugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n");
	assert_string_equal(text_of(setup, "/etc/default/grub", "# ask Alice\nGRUB_TIMEOUT=1\n"),
			    "#\nGRUB_TIMEOUT=1\n");
	assert_string_equal(sys_anonymise_target(setup->anonymiser, setup->arena, "/proc/7/fd/3", "/home/alice/x"),
			    "elsewhere");
	assert_string_equal(
	    sys_anonymise_target(setup->anonymiser, setup->arena, "/proc/7/fd/4", "/dev/cpu_dma_latency"),
	    "/dev/cpu_dma_latency");
	const char *result =
	    sys_anonymise_contents(setup->anonymiser, setup->arena, "/proc/7/cmdline", line, sizeof(line), &size);

	assert_null(memmem(result, size, "hunter2", 7));
	assert_non_null(memmem(result, size, "/usr/sbin/tuned", 15));
}

/* Long lines without an end, and binary data: nothing is lost but secrets, and it ends. */
static void test_garbage(void **state)
{
	enum { SIZE = 200000 };
	struct setup *setup = *state;
	char *garbage = malloc(SIZE);
	size_t size;

	assert_non_null(garbage);
	for (size_t i = 0; i < SIZE; i++)
		garbage[i] = (char)(i * 2654435761U >> 13);
	(void)sys_anonymise_contents(setup->anonymiser, setup->arena, "/sys/x", garbage, SIZE, &size);
	memset(garbage, 'a', SIZE);
	const char *same = sys_anonymise_contents(setup->anonymiser, setup->arena, "/sys/x", garbage, SIZE - 1, &size);

	assert_int_equal(size, SIZE - 1);
	assert_memory_equal(same, garbage, 8);
	free(garbage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_what_must_go, start, end),
	    cmocka_unit_test_setup_teardown(test_what_must_stay, start, end),
	    cmocka_unit_test_setup_teardown(test_one_secret_one_replacement, start, end),
	    cmocka_unit_test_setup_teardown(test_addresses_beside_colons, start, end),
	    cmocka_unit_test_setup_teardown(test_names_are_learned, start, end),
	    cmocka_unit_test_setup_teardown(test_command_line_of_qemu, start, end),
	    cmocka_unit_test_setup_teardown(test_the_quote_behind_a_password, start, end),
	    cmocka_unit_test_setup_teardown(test_free_text, start, end),
	    cmocka_unit_test_setup_teardown(test_what_is_left_out, start, end),
	    cmocka_unit_test_setup_teardown(test_garbage, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
