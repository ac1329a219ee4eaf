/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of host_devices and host_irq: which devices count, and how much is read for them. */
#include <stdio.h>

#include "unit.h"
#include "text.h"
#include "tree.h"

static struct host *host_of(struct tree **ret, const struct tree_file *files)
{
	*ret = tree_new(NULL);
	tree_add_amd(*ret, 4, 4, 25, 17);
	tree_add(*ret, files);
	return tree_host(*ret);
}

static const struct device *find(const struct host *host, const char *name)
{
	for (int i = 0; i < host->devices.count; i++)
		if (text_equal(host->devices.list[i].name, name))
			return &host->devices.list[i];
	return NULL;
}

#define ROOT "/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0"

/* As on a real machine: classes and buses are links into /sys/devices. */
static void test_a_real_shape(void **state)
{
	static const struct tree_file files[] = {
	    {ROOT "/class", "0x020000\n"},
	    {ROOT "/numa_node", "1\n"},
	    {ROOT "/local_cpulist", "2-3\n"},
	    {ROOT "/sriov_totalvfs", "64\n"},
	    {ROOT "/sriov_numvfs", "0\n"},
	    {ROOT "/driver", "->../../../../bus/pci/drivers/ice"},
	    {ROOT "/net/eth0/speed", "100000\n"},
	    {ROOT "/net/eth0/operstate", "up\n"},
	    {ROOT "/net/eth0/queues/rx-0/", ""},
	    {ROOT "/net/eth0/queues/rx-1/", ""},
	    {ROOT "/net/eth0/queues/tx-0/", ""},
	    {"/sys/class/net/eth0", "->../../devices/pci0000:40/0000:40:01.1/0000:41:00.0/net/eth0"},
	    {"/sys/class/net/br0", "->../../devices/virtual/net/br0"},
	    {"/sys/devices/virtual/net/br0/operstate", "up\n"},
	    {"/sys/class/net/lo", "->../../devices/virtual/net/lo"},
	    {"/sys/bus/pci/devices/0000:41:00.0", "->../../../devices/pci0000:40/0000:40:01.1/0000:41:00.0"},
	    {"/sys/devices/pci0000:00/0000:00:1f.0/class", "0x060100\n"}, /* a bridge */
	    {"/sys/bus/pci/devices/0000:00:1f.0", "->../../../devices/pci0000:00/0000:00:1f.0"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host *host = host_of(&tree, files);
	const struct device *nic = find(host, "eth0");

	(void)state;
	assert_int_equal(host->devices.count, 1);
	assert_non_null(nic);
	assert_string_equal(nic->address, "0000:41:00.0");
	assert_string_equal(nic->driver, "ice");
	assert_true(nic->is_up);
	assert_true(fact_is_number(&nic->node, 1));
	assert_true(fact_is_number(&nic->speed_mbps, 100000));
	assert_true(fact_is_number(&nic->rx_queues, 2));
	assert_true(fact_is_number(&nic->tx_queues, 1));
	assert_true(fact_is_number(&nic->vfs_total, 64));
	assert_int_equal(cpuset_count(nic->local_cpus.cpus), 2);
	tree_free(tree);
}

static void test_devices_without_a_class(void **state)
{
	static const struct tree_file files[] = {
	    {"/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n"},
	    {"/sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n"},
	    {"/sys/bus/pci/devices/0000:01:00.0/driver", "->../../../bus/pci/drivers/vfio-pci"},
	    {"/sys/bus/pci/devices/0000:02:00.0/class", "0x010802\n"},
	    {"/sys/bus/pci/devices/0000:02:00.0/numa_node", "garbage\n"},
	    {"/sys/bus/pci/devices/0000:03:00.0/class", "0x120000\n"},
	    {"/sys/bus/pci/devices/10000:04:00.0/class", "0x020000\n"}, /* five digits of domain */
	    {"/sys/bus/pci/devices/0000:41:10.0/class", "0x020000\n"},	/* a virtual function */
	    {"/sys/bus/pci/devices/0000:41:10.0/physfn", "->../0000:41:00.0"},
	    {"/sys/bus/pci/devices/not-an-address/class", "0x020000\n"},
	    {"/sys/bus/pci/devices/0000:05:00.0/class", "what\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host *host = host_of(&tree, files);

	(void)state;
	assert_int_equal(host->devices.count, 4);
	assert_true(find(host, "0000:01:00.0")->vfio);
	assert_int_equal(find(host, "0000:01:00.0")->class, DEVICE_DISPLAY);
	assert_int_equal(find(host, "0000:01:00.0")->node.state, FACT_ABSENT);
	assert_string_equal(find(host, "0000:01:00.0")->node.note, "not told by the firmware");
	assert_int_equal(find(host, "0000:02:00.0")->class, DEVICE_NVME);
	assert_int_equal(find(host, "0000:02:00.0")->node.state, FACT_IMPLAUSIBLE);
	assert_int_equal(find(host, "0000:03:00.0")->class, DEVICE_OTHER);
	assert_non_null(find(host, "10000:04:00.0"));
	tree_free(tree);
}

/* A host with hundreds of PCI devices costs one read for each that does not matter. */
static void test_few_looks_for_many_devices(void **state)
{
	enum { MANY = 400 };
	struct tree *tree = tree_new(NULL);
	size_t looks = 0;

	(void)state;
	tree_add_amd(tree, 2, 2, 25, 17);
	for (int i = 0; i < MANY; i++) {
		char path[96];

		(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/0000:%02x:%02x.0/class", i / 32, i % 32);
		tree_write(tree, path, "0x060400\n");
	}
	for (const struct sys_look *look = sys_first_look(tree_host(tree)->sys); look; look = look->next)
		looks += text_starts(look->path, "/sys/bus/pci/devices/");
	assert_int_equal(looks, MANY);
	tree_free(tree);
}

static void test_more_devices_than_room(void **state)
{
	struct tree *tree = tree_new(NULL);

	(void)state;
	tree_add_amd(tree, 2, 2, 25, 17);
	for (int i = 0; i < 300; i++) {
		char path[96];

		(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/0000:%02x:%02x.0/class", i / 32, i % 32);
		tree_write(tree, path, "0x120000\n");
	}
	assert_int_equal(tree_host(tree)->devices.count, 256);
	assert_true(tree_host(tree)->devices.cut);
	tree_free(tree);
}

static void test_iommu_and_interrupts(void **state)
{
	static const struct tree_file files[] = {
	    {"/sys/class/iommu/ivhd0/", ""},
	    {"/sys/class/iommu/ivhd1/", ""},
	    {"/sys/kernel/iommu_groups/0/type", "DMA-FQ\n"},
	    {"/sys/kernel/iommu_groups/10/type", "identity\n"},
	    {"/proc/irq/default_smp_affinity", "00000000,0000000f\n"},
	    {"/etc/sysconfig/irqbalance", "IRQBALANCE_ONESHOT=\n  IRQBALANCE_BANNED_CPULIST='1,3' # ours\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host_devices *devices = &host_of(&tree, files)->devices;

	(void)state;
	assert_true(fact_is_text(&devices->iommu, "ivhd0 ivhd1"));
	assert_true(fact_is_number(&devices->iommu_groups, 2));
	assert_true(fact_is_text(&devices->iommu_default, "DMA-FQ"));
	assert_int_equal(cpuset_count(devices->irq_default_affinity.cpus), 4);
	assert_true(cpuset_has(devices->irqbalance_banned.cpus, 1));
	assert_int_equal(cpuset_count(devices->irqbalance_banned.cpus), 2);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_real_shape),
	    cmocka_unit_test(test_devices_without_a_class),
	    cmocka_unit_test(test_few_looks_for_many_devices),
	    cmocka_unit_test(test_more_devices_than_room),
	    cmocka_unit_test(test_iommu_and_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
