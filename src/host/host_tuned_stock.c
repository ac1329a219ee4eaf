/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the table of stock profiles; from the profiles of tuned 2.20 to 2.28 and the dates of their changes. */
#include "host_tuned_stock.h"

#include "text.h"

enum { FIRST = 0, LAST = 99 };

static const struct {
	const char *profile, *include;
} stock_profiles[] = {
    {"accelerator-performance", ""},
    {"balanced", ""},
    {"balanced-battery", "balanced"},
    {"cpu-partitioning", "network-latency"},
    {"cpu-partitioning-powersave", "cpu-partitioning"},
    {"desktop", "balanced"},
    {"hpc-compute", "latency-performance"},
    {"latency-performance", ""},
    {"network-latency", "latency-performance"},
    {"network-throughput", "throughput-performance"},
    {"powersave", ""},
    {"realtime", "network-latency"},
    {"realtime-virtual-guest", "realtime"},
    {"realtime-virtual-host", "realtime"},
    {"throughput-performance", ""},
    {"virtual-guest", "throughput-performance"},
    {"virtual-host", "throughput-performance"},
};

const struct tuned_stock_setting tuned_stock_settings[] = {
    {"accelerator-performance", "cpu", "governor", "performance", FIRST, LAST},
    {"accelerator-performance", "cpu", "energy_perf_bias", "performance", FIRST, LAST},
    {"accelerator-performance", "cpu", "min_perf_pct", "100", FIRST, LAST},
    {"accelerator-performance", "cpu", "force_latency", "99", FIRST, LAST},
    {"accelerator-performance", "cpu", "boost", "1", 27, LAST},
    {"accelerator-performance", "sysctl", "vm.swappiness", "10", FIRST, LAST},
    {"balanced", "modules", "cpufreq_conservative", "+r", FIRST, LAST},
    {"balanced", "cpu", "governor", "conservative|powersave", FIRST, 24},
    {"balanced", "cpu", "governor", "schedutil|ondemand|powersave", 25, LAST},
    {"balanced", "cpu", "energy_perf_bias", "normal", FIRST, LAST},
    {"balanced", "cpu", "energy_performance_preference", "balance_performance", 22, LAST},
    {"balanced", "cpu", "boost", "1", 24, LAST},
    {"balanced", "acpi", "platform_profile", "balanced", 22, LAST},
    {"balanced-battery", "cpu", "energy_performance_preference", "balance_power", 22, LAST},
    {"cpu-partitioning", "variables", "include", "/etc/tuned/cpu-partitioning-variables.conf", FIRST, LAST},
    {"cpu-partitioning", "scheduler", "isolated_cores", "${isolated_cores}", FIRST, LAST},
    {"cpu-partitioning-powersave", "variables", "include", "/etc/tuned/cpu-partitioning-powersave-variables.conf",
     FIRST, LAST},
    {"cpu-partitioning-powersave", "cpu", "force_latency", "${max_power_state}", FIRST, LAST},
    {"hpc-compute", "vm", "transparent_hugepages", "always", FIRST, LAST},
    {"hpc-compute", "sysctl", "vm.zone_reclaim_mode", "1", FIRST, LAST},
    {"hpc-compute", "sysctl", "kernel.numa_balancing", "0", FIRST, LAST},
    {"latency-performance", "cpu", "force_latency", "cstate.id_no_zero:1|3", FIRST, LAST},
    {"latency-performance", "cpu", "governor", "performance", FIRST, LAST},
    {"latency-performance", "cpu", "energy_perf_bias", "performance", FIRST, LAST},
    {"latency-performance", "cpu", "min_perf_pct", "100", FIRST, LAST},
    {"latency-performance", "cpu", "boost", "1", 27, LAST},
    {"latency-performance", "sysctl", "vm.swappiness", "10", FIRST, LAST},
    {"network-latency", "vm", "transparent_hugepages", "never", FIRST, LAST},
    {"network-latency", "sysctl", "kernel.numa_balancing", "0", FIRST, LAST},
    {"powersave", "cpu", "energy_performance_preference", "power", 22, LAST},
    {"powersave", "cpu", "boost", "0", 24, LAST},
    {"realtime", "variables", "include", "/etc/tuned/realtime-variables.conf", FIRST, LAST},
    {"realtime", "scheduler", "isolated_cores", "${isolated_cores}", FIRST, LAST},
    {"realtime-virtual-guest", "variables", "include", "/etc/tuned/realtime-virtual-guest-variables.conf", FIRST, LAST},
    {"realtime-virtual-host", "variables", "include", "/etc/tuned/realtime-virtual-host-variables.conf", FIRST, LAST},
    {"throughput-performance", "cpu", "governor", "performance", FIRST, LAST},
    {"throughput-performance", "cpu", "energy_perf_bias", "performance", FIRST, LAST},
    {"throughput-performance", "cpu", "min_perf_pct", "100", FIRST, LAST},
    {"throughput-performance", "cpu", "energy_performance_preference", "performance", 22, LAST},
    {"throughput-performance", "cpu", "boost", "1", 27, LAST},
    {"throughput-performance", "sysctl", "vm.swappiness", "10", FIRST, LAST},
    {"throughput-performance", "sysctl", "vm.dirty_ratio", "40", FIRST, 25},
    {"throughput-performance", "vm", "dirty_bytes", "40%", 26, LAST},
    {"virtual-guest", "sysctl", "vm.swappiness", "30", FIRST, LAST},
    {"virtual-host", "cpu", "force_latency", "cstate.id_no_zero:3|70", FIRST, LAST},
    {NULL, NULL, NULL, NULL, 0, 0},
};

const char *tuned_stock_include(const char *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(stock_profiles); i++)
		if (text_equal(stock_profiles[i].profile, profile))
			return stock_profiles[i].include;
	return NULL;
}
