/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of interrupts and devices of the simulated kernel. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "cpuset.h"
#include "kernel_rules.h"
#include "text.h"

/* kernel/irq/proc.c, write_irq_affinity */
static int judge_affinity(const struct kernel *kernel, const char *path, const char *value)
{
	struct cpuset cpus;
	struct err err;

	(void)kernel;
	if (strstr(path, "/26/"))
		return -EIO;
	return cpuset_parse(value, &cpus, &err) < 0 || cpuset_first(&cpus) >= KERNEL_CPUS ? -EINVAL : 0;
}

#define NIC "/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0"
#define QUEUES "/run/simulated/eth0-queues"

/* drivers/pci/iov.c, sriov_numvfs_store */
static int judge_functions(const struct kernel *kernel, const char *path, const char *value)
{
	int64_t count;

	if (text_int(value, 10, &count) < 0 || count < 0)
		return -EINVAL;
	if (count > kernel_number(kernel, kernel_beside(path, "sriov_totalvfs")))
		return -ERANGE;
	return count && kernel_number(kernel, path) ? -EBUSY : 0;
}

static void take_functions(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	int64_t count = 0;

	(void)before;
	(void)text_int(value, 10, &count);
	kernel_put(kernel, path, value);
	for (int64_t i = 0; i < 8; i++) {
		char link[128], target[64], uevent[128];
		const struct tree_file files[] = {{uevent, "DRIVER=iavf\n"}, {link, target}, {NULL, NULL}};

		(void)snprintf(link, sizeof(link), NIC "/virtfn%d", (int)i);
		(void)snprintf(target, sizeof(target), "->../0000:41:02.%d", (int)i);
		(void)snprintf(uevent, sizeof(uevent), "/sys/devices/pci0000:00/0000:00:03.1/0000:41:02.%d/uevent",
			       (int)i);
		if (i < count)
			tree_add(kernel->tree, files);
		else {
			kernel_remove(kernel, link);
			kernel_remove(kernel, uevent);
		}
	}
}

/* net/ethtool/ioctl.c, ethtool_set_channels */
static int play_queues(const struct kernel *kernel, struct ethtool_channels *channels)
{
	if (channels->cmd == ETHTOOL_SCHANNELS) {
		if (channels->combined_count < 1 || channels->combined_count > 8)
			return -EINVAL;
		kernel_put_number(kernel, QUEUES, channels->combined_count);
		return 0;
	}
	*channels = (struct ethtool_channels){.cmd = channels->cmd,
					      .max_combined = 8,
					      .max_other = 1,
					      .other_count = 1,
					      .combined_count = (uint32_t)kernel_number(kernel, QUEUES)};
	return 0;
}

int kernel_play_device(void *data, const char *device, unsigned long request, void *argument)
{
	const struct kernel *kernel = data;

	if (request == SIOCETHTOOL)
		return text_equal(device, "eth0") && kernel_exists(kernel, QUEUES) ? play_queues(kernel, argument)
										   : -ENODEV;
	return -ENOTTY;
}

void kernel_add_devices(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/proc/irq/24/smp_affinity_list", "0-2\n"},
	    {"/proc/irq/25/smp_affinity_list", "0-2\n"},
	    {"/proc/irq/26/smp_affinity_list", "1\n"},
	    {"/proc/irq/default_smp_affinity", "7\n"},
	    {"/sys/devices/system/cpu/online", "0-2\n"},
	    {"/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0/msi_irqs/24", "msix\n"},
	    {"/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0/msi_irqs/25", "msix\n"},
	    {"/sys/devices/pci0000:00/0000:00:03.1/0000:41:00.0/net/eth0/device", "->../../../0000:41:00.0"},
	    {QUEUES, "4\n"},
	    {NIC "/sriov_numvfs", "0\n"},
	    {NIC "/sriov_totalvfs", "8\n"},
	    {"/sys/bus/pci/devices/0000:41:00.0", "->../../../devices/pci0000:00/0000:00:03.1/0000:41:00.0"},
	    {"/sys/class/net/lo/operstate", "up\n"},
	    {"/sys/class/net/eth0", "->../../devices/pci0000:00/0000:00:03.1/0000:41:00.0/net/eth0"},
	    {"/etc/default/irqbalance", "# Configuration of irqbalance\n#IRQBALANCE_BANNED_CPULIST=\n"
					"IRQBALANCE_ARGS=\"--policyscript=/x\"\n"},
	    {"/sys/module/kvm/initstate", "live\n"},
	    {"/sys/module/kvm/parameters/halt_poll_ns", "200000\n"},
	    {"/sys/module/kvm/parameters/nx_huge_pages", "N\n"},
	    {"/sys/module/kvm/parameters/mitigate_smt_rsb", "Y\n"},
	    {"/sys/module/kvm_amd/initstate", "live\n"},
	    {"/sys/module/kvm_amd/parameters/avic", "N\n"},
	    {"/sys/module/kvm_amd/parameters/nested", "1\n"},
	    {"/etc/modprobe.d/kvm.conf", "# by hand\n\noptions kvm_amd nested=0\n"},
	    {"/etc/sysctl.d/99-site.conf", "# ours\nvm.swappiness=30\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
	take_functions(kernel, NIC "/sriov_numvfs", "2", "0");
}

const struct kernel_rule kernel_device_rules[] = {
    {"/proc/irq/*/smp_affinity_list", judge_affinity, NULL},
    {"/sys/devices/pci*/*/*/sriov_numvfs", judge_functions, take_functions},
    {NULL, NULL, NULL},
};
