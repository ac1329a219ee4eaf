/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of interrupts and devices of the simulated kernel. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "cpuset.h"
#include "kernel_rules.h"
#include "sys_write_hsmp.h"
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

#define HSMP "/run/simulated/hsmp-"
enum { MOST_MILLIWATTS = 240000 };

/* The kernel's table of messages (hsmp_msg_desc_table of asm/amd_hsmp.h, Linux 7.2). */
static const struct {
	uint32_t id;
	uint16_t arguments, responses;
	const char *state; /* the file of what it sets or tells, followed by the socket */
	bool sets, asks;
} messages[] = {
    {0x03, 0, 1, HSMP "protocol", false, true}, {0x05, 1, 0, HSMP "limit", true, false},
    {0x06, 0, 1, HSMP "limit", false, true},	{0x07, 0, 1, NULL, false, true},
    {0x21, 1, 1, HSMP "mode", true, true},	{0x28, 1, 1, HSMP "fabric", true, true},
};

/* drivers/platform/x86/amd/hsmp/hsmp.c, validate_message() and hsmp_send_message() */
static int play_hsmp(const struct kernel *kernel, struct sys_hsmp_message *message)
{
	char state[64];
	bool asks;

	if (!kernel_exists(kernel, HSMP "limit0"))
		return -EXDEV;
	if (message->socket > 1)
		return -ENODEV;
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		if (messages[i].id != message->id)
			continue;
		asks = !messages[i].sets || message->arguments[0] >> 31;
		if (messages[i].sets && messages[i].asks && kernel_exists(kernel, HSMP "old") &&
		    message->response_count != 0)
			return -EINVAL;
		if (message->argument_count != messages[i].arguments ||
		    message->response_count > messages[i].responses || (asks && message->response_count == 0))
			return -EINVAL;
		(void)snprintf(state, sizeof(state), "%s%u", messages[i].state ? messages[i].state : "",
			       (unsigned)message->socket);
		if (!asks)
			kernel_put_number(kernel, state, message->arguments[0]);
		else
			message->arguments[0] =
			    messages[i].state ? (uint32_t)kernel_number(kernel, state) : MOST_MILLIWATTS;
		return 0;
	}
	return -ENOMSG;
}

int kernel_play_device(void *data, const char *device, unsigned long request, void *argument)
{
	const struct kernel *kernel = data;

	if (request == SIOCETHTOOL)
		return text_equal(device, "eth0") && kernel_exists(kernel, QUEUES) ? play_queues(kernel, argument)
										   : -ENODEV;
	return text_equal(device, SYS_HSMP_DEVICE) && request == SYS_HSMP_REQUEST ? play_hsmp(kernel, argument)
										  : -ENOTTY;
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
	    {"/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
	    {"/sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n"},
	    {HSMP "protocol0", "7\n"},
	    {HSMP "protocol1", "7\n"},
	    {HSMP "limit0", "225000\n"},
	    {HSMP "limit1", "225500\n"},
	    {HSMP "mode0", "0\n"},
	    {HSMP "mode1", "1\n"},
	    {HSMP "fabric0", "1\n"},
	    {HSMP "fabric1", "1\n"},
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
