/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of where traffic of VMs leaves the host: bridges, bonds, VLANs, macvtaps and taps over real NICs. */
#include "host_net.h"
#include "text.h"
#include "tree.h"
#include "unit.h"
#include "vm_nic.h"
#include "vm_xml.h"

#define NIC(name, address, node)                                                                                       \
	{"/sys/class/net/" name "/device", "->../../../bus/pci/devices/" address},                                     \
	    {"/sys/bus/pci/devices/" address "/class", "0x020000\n"},                                                  \
	{                                                                                                              \
		"/sys/bus/pci/devices/" address "/numa_node", node                                                     \
	}
#define LOWER(upper, lower)                                                                                            \
	{                                                                                                              \
		"/sys/class/net/" upper "/lower_" lower, "->../" lower                                                 \
	}

/* Three NICs: two at node 0, one at node 1. */
static const struct tree_file files[] = {
    NIC("eth0", "0000:41:00.0", "0\n"),
    NIC("eth1", "0000:41:00.1", "0\n"),
    NIC("eth2", "0000:c1:00.0", "1\n"),
    NIC("eth3", "0000:e1:00.0", "-1\n"),
    /* a bridge with one NIC and the taps of VMs */
    LOWER("br0", "eth2"),
    LOWER("br0", "vnet0"),
    LOWER("br0", "vnet1"),
    {"/sys/class/net/br0/brif/eth2/port_no", "0x1\n"},
    {"/sys/class/net/vnet0/tun_flags", "0x1002\n"},
    {"/sys/class/net/vnet0/master", "->../br0"},
    {"/sys/class/net/vnet1/tun_flags", "0x1002\n"},
    /* a bridge over a VLAN over a bond over two NICs of one node */
    LOWER("br1", "bond0.7"),
    LOWER("bond0.7", "bond0"),
    LOWER("bond0", "eth0"),
    LOWER("bond0", "eth1"),
    /* a bond over nodes, and one with a NIC whose node is not told */
    LOWER("bond1", "eth1"),
    LOWER("bond1", "eth2"),
    LOWER("bond2", "eth0"),
    LOWER("bond2", "eth3"),
    /* NAT: a bridge without a NIC */
    LOWER("virbr0", "vnet2"),
    {"/sys/class/net/vnet2/master", "->../virbr0"},
    /* a copied tree without links */
    {"/sys/class/net/br2/brif/eth2/port_no", "0x1\n"},
    /* what must end: a ring, and names that are none */
    LOWER("ring0", "ring1"),
    LOWER("ring1", "ring0"),
    {"/sys/class/net/odd/lower_..", "->../.."},
    {"/sys/class/net/odd/master", "->.."},
    {NULL, NULL},
};

static struct tree *machine(void)
{
	struct tree *tree = tree_new(NULL);

	tree_add_amd(tree, 4, 4, 25, 17);
	tree_add(tree, files);
	return tree;
}

static void test_what_lies_below(void **state)
{
	static const struct {
		const char *interface, *nics;
	} cases[] = {
	    {"eth0", "eth0"},	  {"br0", "eth2"},
	    {"vnet0", "eth2"}, /* a tap, by its bridge */
	    {"vnet1", ""},     /* a tap in no bridge */
	    {"br1", "eth0 eth1"}, {"bond1", "eth1 eth2"},
	    {"virbr0", ""},	  {"vnet2", ""},
	    {"br2", "eth2"},	  {"ring0", ""},
	    {"odd", ""},	  {"..", ""},
	    {"../net/eth0", ""},  {"", ""},
	    {"nothing", ""},
	};
	struct tree *tree = machine();
	struct host *host = tree_host(tree);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int devices[8], count = host_net_devices(host, cases[i].interface, devices, 8);
		char text[64] = "";

		for (int j = 0; j < count; j++) {
			(void)strcat(text, j ? " " : "");
			(void)strcat(text, host->devices.list[devices[j]].name);
		}
		if (!text_equal(text, cases[i].nics))
			fail_msg("below \"%s\" lies \"%s\" instead of \"%s\"", cases[i].interface, text, cases[i].nics);
	}
	tree_free(tree);
}

static void test_no_more_than_there_is_room_for(void **state)
{
	struct tree *tree = machine();
	int devices[2] = {-1, -1};

	(void)state;
	assert_int_equal(host_net_devices(tree_host(tree), "bond1", devices, 1), 1);
	assert_int_equal(devices[1], -1);
	tree_free(tree);
}

static void assert_port(const char *interface_xml, const char *expected)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	struct tree *tree = machine();
	const char *xml = arena_printf(
	    arena, "<domain type='kvm'><name>a</name><memory>1</memory><vcpu>1</vcpu><devices>%s</devices></domain>",
	    interface_xml);

	assert_int_equal(vm_read_libvirt_xml("a.xml", xml, strlen(xml), &vm, NULL), 0);
	assert_int_equal(vm->nic_count, 1);
	vm_find_ports(tree_host(tree), vm);
	if (expected) {
		assert_non_null(vm->nics[0].port);
		assert_string_equal(vm->nics[0].port->name, expected);
	} else {
		assert_null(vm->nics[0].port);
	}
	tree_free(tree);
}

static void test_ports(void **state)
{
	(void)state;
	assert_port("<interface type='bridge'><source bridge='br0'/></interface>", "eth2");
	assert_port("<interface type='bridge'><source bridge='br0'/><target dev='vnet9'/></interface>", "eth2");
	assert_port("<interface type='direct'><source dev='eth0' mode='bridge'/></interface>", "eth0");
	assert_port("<interface type='bridge'><source bridge='br1'/></interface>", "eth0");
	assert_port("<interface type='bridge'><source bridge='bond1'/></interface>", NULL); /* two nodes */
	assert_port("<interface type='bridge'><source bridge='bond2'/></interface>", NULL); /* one not told */
	assert_port("<interface type='bridge'><source bridge='virbr0'/></interface>", NULL);
	assert_port("<interface type='network'><source network='br0'/></interface>", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_more_than_there_is_room_for),
	    cmocka_unit_test(test_ports),
	    cmocka_unit_test(test_what_lies_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
