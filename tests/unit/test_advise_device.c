/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_device: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "rules.h"
#include "rules_host.h"

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

static const struct tree_file healthy[] = {CMDLINE("quiet"), {NULL, NULL}};

/* clang-format off */
static const struct rule_case cases[] = {
    {"device.iommu-off", true, ADVISE_INFO, "No IOMMU", {NO_IOMMU}},
    {"device.iommu-off", true, ADVISE_ADVICE, "No IOMMU", {NO_IOMMU, VMS_RUN}},
    {"device.iommu-off", true, ADVISE_INFO, "amd_iommu=off", {NO_IOMMU, VMS_RUN, CMDLINE("amd_iommu=off")}},
    {"device.iommu-off", false, 0, NULL, {IOMMU("identity"), VMS_RUN}},
    {"device.iommu-off", false, 0, NULL, {VMS_RUN}}, /* nothing is known of it */
    {"device.iommu-off", false, 0, NULL, {NO_IOMMU, VMS_RUN, GUEST}},

    {"device.vfio-without-iommu", true, ADVISE_FAIL, "0000:41:00.0", {NO_IOMMU, VFIO}},
    {"device.vfio-without-iommu", false, 0, NULL, {IOMMU("identity"), VFIO}},
    {"device.vfio-without-iommu", false, 0, NULL, {NO_IOMMU}},
    {"device.vfio-without-iommu", false, 0, NULL, {VFIO}},

    {"device.iommu-translated", true, ADVISE_INFO, "DMA-FQ", {IOMMU("DMA-FQ")}},
    {"device.iommu-translated", false, 0, NULL, {IOMMU("identity")}},

    {"device.node-unknown", true, ADVISE_INFO, "1 NICs", {TWO_NODES, NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},
    {"device.node-unknown", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},
    {"device.node-unknown", false, 0, NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "1", "mlx5_core")}},
    {"device.node-unknown", false, 0, NULL, {TWO_NODES}},

    {"device.locality", true, ADVISE_INFO, "eth0 on node 1", {TWO_NODES, NIC("eth0", "0000:41:00.0", "1", "mlx5_core")}},
    {"device.locality", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "0", "mlx5_core")}},
    {"device.locality", false, 0, NULL, {TWO_NODES, NIC("eth0", "0000:41:00.0", "-1", "mlx5_core")}},

    {"device.one-queue-on-fast-nic", true, ADVISE_ADVICE, "eth0 (25 Gbit/s)",
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), SPEED("eth0", "25000")}},
    {"device.one-queue-on-fast-nic", false, 0, NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), SPEED("eth0", "25000"), QUEUE("eth0", "rx-1")}},
    {"device.one-queue-on-fast-nic", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb"), SPEED("eth0", "1000")}},
    {"device.one-queue-on-fast-nic", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb"), SPEED("eth0", "-1")}},

    {"device.guest-one-queue", true, ADVISE_INFO, "eth0", {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci"), GUEST}},
    {"device.guest-one-queue", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci")}},
    {"device.guest-one-queue", false, 0, NULL,
     {NIC("eth0", "0000:41:00.0", "-1", "virtio-pci"), GUEST, QUEUE("eth0", "rx-1")}},

    {"device.sriov-available", true, ADVISE_INFO, "eth0 (127)",
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), {"/sys/bus/pci/devices/0000:41:00.0/sriov_totalvfs", "127\n"},
      {"/sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "0\n"}}},
    {"device.sriov-available", false, 0, NULL,
     {NIC("eth0", "0000:41:00.0", "0", "mlx5_core"), {"/sys/bus/pci/devices/0000:41:00.0/sriov_totalvfs", "127\n"},
      {"/sys/bus/pci/devices/0000:41:00.0/sriov_numvfs", "8\n"}}},
    {"device.sriov-available", false, 0, NULL, {NIC("eth0", "0000:41:00.0", "0", "igb")}},

    {"device.irq-on-isolated", true, ADVISE_ADVICE, "4-7", {ISOLATED("4-7"), IRQ_MASK("ff")}},
    {"device.irq-on-isolated", false, 0, NULL, {ISOLATED("4-7"), IRQ_MASK("0f")}},
    {"device.irq-on-isolated", false, 0, NULL, {ISOLATED(""), IRQ_MASK("ff")}},
    {"device.irq-on-isolated", false, 0, NULL, {ISOLATED("4-7"), IRQ_MASK("no mask")}},

    {"device.irq-off-isolated", true, ADVISE_GOOD, "4-7", {ISOLATED("4-7"), IRQ_MASK("0f")}},
    {"device.irq-off-isolated", false, 0, NULL, {ISOLATED("4-7"), IRQ_MASK("ff")}},
    {"device.irq-off-isolated", false, 0, NULL, {ISOLATED(""), IRQ_MASK("0f")}},

    {"device.irqbalance-misses-isolated", true, ADVISE_WARN, "6-7",
     {IRQBALANCE, ISOLATED("4-7"), BANNED("IRQBALANCE_BANNED_CPULIST=\"4-5\"")}},
    {"device.irqbalance-misses-isolated", true, ADVISE_WARN, "4-5",
     {IRQBALANCE, ISOLATED("4-7"), BANNED("IRQBALANCE_BANNED_CPUS=c0")}},
    {"device.irqbalance-misses-isolated", false, 0, NULL,
     {IRQBALANCE, ISOLATED("4-7"), BANNED("IRQBALANCE_BANNED_CPULIST=4-7")}},
    /* Without a list irqbalance leaves isolated CPUs alone by itself; an empty or commented one is none. */
    {"device.irqbalance-misses-isolated", false, 0, NULL,
     {IRQBALANCE, ISOLATED("4-7"), BANNED("#IRQBALANCE_BANNED_CPULIST=1\nIRQBALANCE_BANNED_CPUS=")}},
    {"device.irqbalance-misses-isolated", false, 0, NULL, {ISOLATED("4-7"), BANNED("IRQBALANCE_BANNED_CPULIST=4-5")}},

    {"device.aspm-policy", true, ADVISE_INFO, "never sleep", {ASPM("default [performance] powersave powersupersave")}},
    {"device.aspm-policy", true, ADVISE_INFO, "powersave", {ASPM("default performance [powersave] powersupersave")}},
    {"device.aspm-policy", false, 0, NULL, {ASPM("[default] performance powersave powersupersave")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	rules_check(healthy, cases, ARRAY_SIZE(cases));
	rules_covered(advise_device_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
