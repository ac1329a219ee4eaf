/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of interrupts and devices of the simulated kernel. */
#include <errno.h>

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
}

const struct kernel_rule kernel_device_rules[] = {
    {"/proc/irq/*/smp_affinity_list", judge_affinity, NULL},
    {NULL, NULL, NULL},
};
