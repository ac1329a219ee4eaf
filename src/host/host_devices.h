/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns devices as far as placing VMs asks for them: IOMMU, NICs with queues and SR-IOV, NVMe, display and accelerators,
 * each with its NUMA node; and interrupts.
 */
#ifndef HVTUNE_HOST_DEVICES_H
#define HVTUNE_HOST_DEVICES_H

#include "fact.h"

struct host;
struct host_rows;

enum device_class { DEVICE_NIC, DEVICE_NVME, DEVICE_DISPLAY, DEVICE_OTHER };

struct device {
	enum device_class class;
	const char *name;		  /* "eth0", "nvme0", or the address */
	const char *address;		  /* "0000:41:00.0" */
	const char *driver;		  /* or NULL */
	struct fact node;		  /* number: numa_node; absent when -1 (not told by firmware) */
	struct fact local_cpus;		  /* CPU set */
	struct fact speed_mbps;		  /* number: NICs that are up */
	struct fact rx_queues, tx_queues; /* numbers: NICs */
	struct fact vfs_total, vfs_now;	  /* numbers: SR-IOV */
	bool vfio;			  /* bound to vfio-pci */
	bool is_up;			  /* NICs: operstate is up */
};

struct host_devices {
	struct device *list;
	int count;
	bool cut;			  /* more devices than are listed here (256) */
	struct fact iommu_listed;	  /* switch, on when /sys/class/iommu can be listed at all */
	struct fact iommu;		  /* text: names of /sys/class/iommu; absent when the IOMMU is off */
	struct fact iommu_groups;	  /* number */
	struct fact iommu_default;	  /* text: type of the first group: "identity", "DMA", "DMA-FQ" */
	struct fact irq_default_affinity; /* CPU set: /proc/irq/default_smp_affinity */
	struct fact irqbalance_banned;	  /* CPU set: IRQBALANCE_BANNED_CPULIST or _CPUS of its configuration */
};

void host_devices_read(struct host *host);
void host_devices_rows(const struct host *host, struct host_rows *rows);

#endif
