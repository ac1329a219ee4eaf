/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_device: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "hosts.h"

/* A NIC and its PCI device, as links that a real tree has. */
#define NIC(name, address, node, driver)                                                                               \
	{"/sys/class/net/" name "/device", "->../../../bus/pci/devices/" address},                                     \
	    {"/sys/class/net/" name "/operstate", "up\n"}, {"/sys/class/net/" name "/queues/tx-0/", ""},               \
	    {"/sys/class/net/" name "/queues/rx-0/", ""}, {"/sys/bus/pci/devices/" address "/class", "0x020000\n"},    \
	    {"/sys/bus/pci/devices/" address "/numa_node", node "\n"},                                                 \
	{                                                                                                              \
		"/sys/bus/pci/devices/" address "/driver", "->../../../bus/pci/drivers/" driver                        \
	}
#define SPEED(name, mbps)                                                                                              \
	{                                                                                                              \
		"/sys/class/net/" name "/speed", mbps "\n"                                                             \
	}
#define QUEUE(name, queue)                                                                                             \
	{                                                                                                              \
		"/sys/class/net/" name "/queues/" queue "/", ""                                                        \
	}
#define ISOLATED(list)                                                                                                 \
	{                                                                                                              \
		"/sys/devices/system/cpu/isolated", list "\n"                                                          \
	}
#define IRQ_MASK(mask)                                                                                                 \
	{                                                                                                              \
		"/proc/irq/default_smp_affinity", mask "\n"                                                            \
	}
#define BANNED(line)                                                                                                   \
	{                                                                                                              \
		"/etc/default/irqbalance", "# comment\n" line "\n"                                                     \
	}
#define IRQBALANCE                                                                                                     \
	{"/proc/700/comm", "irqbalance\n"},                                                                            \
	{                                                                                                              \
		"/proc/700/cmdline", "/usr/sbin/irqbalance"                                                            \
	}
#define VFIO                                                                                                           \
	{"/sys/bus/pci/devices/0000:41:00.0/class", "0x030000\n"},                                                     \
	{                                                                                                              \
		"/sys/bus/pci/devices/0000:41:00.0/driver", "->../../../bus/pci/drivers/vfio-pci"                      \
	}
#define NO_IOMMU                                                                                                       \
	{                                                                                                              \
		"/sys/class/iommu/", ""                                                                                \
	}
#define IOMMU(type)                                                                                                    \
	{"/sys/class/iommu/ivhd0/", ""},                                                                               \
	{                                                                                                              \
		"/sys/kernel/iommu_groups/0/type", type "\n"                                                           \
	}
#define ASPM(policy)                                                                                                   \
	{                                                                                                              \
		"/sys/module/pcie_aspm/parameters/policy", policy "\n"                                                 \
	}

static const struct tree_file base[] = {CMDLINE("quiet"), {NULL, NULL}};

/* clang-format off */
static const struct rule_case cases[] = {
    {"device.iommu-off", ADVISE_INFO, "No IOMMU", NULL, {NO_IOMMU}},
    {"device.iommu-off", ADVISE_ADVICE, "No IOMMU", NULL, {NO_IOMMU, VMS_RUN}},
    {"device.iommu-off", SILENT, NULL, NULL, {NO_IOMMU, VMS_RUN, CMDLINE("amd_iommu=off")}},
    {"device.iommu-off", SILENT, NULL, NULL, {IOMMU("identity"), VMS_RUN}},
    {"device.iommu-off", SILENT, NULL, NULL, {VMS_RUN}}, /* nothing is known of it */
    {"device.iommu-off", SILENT, NULL, NULL, {NO_IOMMU, VMS_RUN, GUEST}},

    {"device.vfio-without-iommu", ADVISE_FAIL, "0000:41:00.0", NULL, {NO_IOMMU, VFIO}},
    {"device.vfio-without-iommu", SILENT, NULL, NULL, {IOMMU("identity"), VFIO}},
    {"device.vfio-without-iommu", SILENT, NULL, NULL, {NO_IOMMU}},
    {"device.vfio-without-iommu", SILENT, NULL, NULL, {VFIO}},

    {"device.iommu-translated", ADVISE_INFO, "DMA-FQ", NULL, {IOMMU("DMA-FQ")}},
    {"device.iommu-translated", SILENT, NULL, NULL, {IOMMU("identity")}},

    {"device.node-unknown", ADVISE_INFO, "1 NICs", NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},
    {"device.node-unknown", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},
    {"device.node-unknown", SILENT, NULL, NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "1", "mlx5_core")}},
    {"device.node-unknown", SILENT, NULL, NULL, {TWO_NODES}},

    {"device.locality", ADVISE_INFO, "eth0 on node 1", NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "1", "mlx5_core")}},
    {"device.locality", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "0", "mlx5_core")}},
    {"device.locality", SILENT, NULL, NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},

    {"device.one-queue-on-fast-nic", ADVISE_ADVICE, "eth0 (25 Gbit/s)", NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), SPEED("eth0", "25000")}},
    {"device.one-queue-on-fast-nic", SILENT, NULL, NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), SPEED("eth0", "25000"), QUEUE("eth0", "rx-1")}},
    {"device.one-queue-on-fast-nic", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb"), SPEED("eth0", "1000")}},
    {"device.one-queue-on-fast-nic", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb"), SPEED("eth0", "-1")}},

    {"device.guest-one-queue", ADVISE_INFO, "eth0", NULL, {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci"), GUEST}},
    {"device.guest-one-queue", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci")}},
    {"device.guest-one-queue", SILENT, NULL, NULL,
     {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci"), GUEST, QUEUE("eth0", "rx-1")}},

    {"device.sriov-available", ADVISE_INFO, "eth0 (127)", NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), {"/sys/bus/pci/devices/0000:41:00.0/sriov_totalvfs", "127\n"},
      {"/sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "0\n"}}},
    {"device.sriov-available", SILENT, NULL, NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), {"/sys/bus/pci/devices/0000:41:00.0/sriov_totalvfs", "127\n"},
      {"/sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "8\n"}}},
    {"device.sriov-available", SILENT, NULL, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb")}},

    {"device.irq-on-isolated", ADVISE_ADVICE, "2-3", NULL, {ISOLATED("2-3"), IRQ_MASK("f")}},
    {"device.irq-on-isolated", SILENT, NULL, NULL, {ISOLATED("2-3"), IRQ_MASK("3")}},
    {"device.irq-on-isolated", SILENT, NULL, NULL, {ISOLATED(""), IRQ_MASK("f")}},
    {"device.irq-on-isolated", SILENT, NULL, NULL, {ISOLATED("2-3"), IRQ_MASK("no mask")}},

    {"device.irq-off-isolated", ADVISE_GOOD, "2-3", NULL, {ISOLATED("2-3"), IRQ_MASK("3")}},
    {"device.irq-off-isolated", SILENT, NULL, NULL, {ISOLATED("2-3"), IRQ_MASK("f")}},
    {"device.irq-off-isolated", SILENT, NULL, NULL, {ISOLATED(""), IRQ_MASK("3")}},

    {"device.irqbalance-misses-isolated", ADVISE_WARN, "CPUs 3", NULL,
     {IRQBALANCE, ISOLATED("2-3"), BANNED("IRQBALANCE_BANNED_CPULIST=\"2\"")}},
    {"device.irqbalance-misses-isolated", ADVISE_WARN, "CPUs 2", NULL,
     {IRQBALANCE, ISOLATED("2-3"), BANNED("IRQBALANCE_BANNED_CPUS=8")}},
    {"device.irqbalance-misses-isolated", SILENT, NULL, NULL,
     {IRQBALANCE, ISOLATED("2-3"), BANNED("IRQBALANCE_BANNED_CPULIST=2-3")}},
    /* Without a list irqbalance leaves isolated CPUs alone by itself; an empty or commented one is none. */
    {"device.irqbalance-misses-isolated", SILENT, NULL, NULL,
     {IRQBALANCE, ISOLATED("2-3"), BANNED("#IRQBALANCE_BANNED_CPULIST=1\nIRQBALANCE_BANNED_CPUS=")}},
    {"device.irqbalance-misses-isolated", SILENT, NULL, NULL, {ISOLATED("2-3"), BANNED("IRQBALANCE_BANNED_CPULIST=2")}},

    {"device.aspm-policy", ADVISE_INFO, "never sleep", NULL, {ASPM("default [performance] powersave powersupersave")}},
    {"device.aspm-policy", ADVISE_INFO, "powersave", NULL, {ASPM("default performance [powersave] powersupersave")}},
    {"device.aspm-policy", SILENT, NULL, NULL, {ASPM("[default] performance powersave powersupersave")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case_over(base, &cases[i]);
	healthy_covers_over(base, advise_device_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
