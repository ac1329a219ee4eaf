/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the proof that nothing is lost: the exhaustive crash test of crash.h over a set of plans. */
#include <errno.h>

#include "crash.h"
#include "unit.h"

static void all_performance(struct kernel *kernel)
{
	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor", cpu);
		kernel_write(kernel, path, "performance");
	}
}

static void low_limits(struct kernel *kernel)
{
	kernel_write(kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "800000");
	kernel_write(kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1000000");
}

static const struct crash_scene scenes[] = {
    {"passive", {"governor=performance"}, NULL},
    {"active", {"governor=performance"}, NULL},
    {"active", {"governor@1=performance", "epp@0,2=power"}, NULL},
    {"active", {"epp=power"}, NULL},
    {"passive", {"amd_pstate=active"}, NULL},
    {"passive", {"amd_pstate=active", "governor=powersave", "epp=power"}, NULL},
    {"active", {"amd_pstate=guided", "governor=ondemand", "max_freq=2000000"}, NULL},
    {"active", {"amd_pstate=active", "governor=performance", "boost=0", "min_freq=1600000"}, NULL},
    {"guided", {"amd_pstate=disable"}, NULL},
    {"active", {"boost=0", "thp=never", "ksm=0", "swappiness=10"}, NULL},
    {"passive", {"dirty_bytes=104857600", "latency@0-1=50"}, NULL},
    {"active", {"governor=powersave", "epp=balance_power"}, all_performance},
    {"active", {"governor@0-1=powersave", "epp@0-1=default"}, all_performance},
    {"active", {"min_freq@0=2000000", "max_freq@0=2200000"}, low_limits},
    {"active", {"boost=0", "min_freq=600000", "max_freq=900000"}, NULL},
    {"active", {"x3d_mode=cache", "itmt=off"}, kernel_add_x3d},
    {"active", {"amd_pstate=passive"}, low_limits},
    {"active", {"irq@24-25=1", "irq.default=1", "irqbalance.ban=1-2", "module.kvm_amd.avic=1"}, kernel_add_devices},
    {"active", {"nic.queues@eth0=8", "sriov.vfs@eth0=4"}, kernel_add_devices},
    {"active", {"hsmp.power_limit=200", "hsmp.power_mode@1=3", "hsmp.df_cstates@0=off"}, kernel_add_devices},
    {"active", {"sriov.vfs@0000:41:00.0=0"}, kernel_add_devices},
    {"active",
     {"lasting.swappiness=10", "lasting.thp=never", "lasting.governor=powersave", "module.kvm.halt_poll_ns=0"},
     kernel_add_devices},
    {"active", {"amd_pstate=guided", "min_freq@0=900000"}, all_performance},
    {"active", {"idle.C2=off", "idle.1@0-1=off"}, kernel_add_idle},
    {"active",
     {"thp=never", "thp.64K=always", "thp.64k.shmem=advise", "thp.defrag=defer", "overcommit_memory=2"},
     kernel_add_memory},
    {"active", {"ksm=2", "ksm.merge_across_nodes=0", "kvm.halt_poll_ns=0", "kvm.nx_huge_pages=on"}, kernel_add_memory},
    {"active", {"ksm.advisor_mode=scan-time"}, kernel_add_memory},
    {"active", {"hugepages.2M=400", "hugepages.1G@1=1", "overcommit_hugepages.2M=64"}, kernel_add_pages},
};

static const int errnums[] = {EBUSY, EINVAL, ENOSPC, EIO, EROFS, 0};
static const struct crash_set all_scenes = {&crash_plain, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
