# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what must be there in the default machine whatever driver runs it: topology,
# huge pages per node, power meter, BMC, KVM.  Sourced by the jobs that boot it.

cpu=/sys/devices/system/cpu
node=/sys/devices/system/node

smt_pair() { cat $cpu/cpu2/topology/core_cpus_list; }
ccx() { cat $cpu/cpu5/cache/index3/shared_cpu_list; }

expect "threads of a core" 2-3 smt_pair
expect "CPUs of a CCX" 4-7 ccx
expect "CPUs of node 1" 4-7 cat $node/node1/cpulist
expect "distances of node 0" "10 12" cat $node/node0/distance
expect "platform profile" 4 cat /sys/firmware/acpi/pm_profile
expect "idle driver" acpi_idle cat $cpu/cpuidle/current_driver

# The NIC hangs below a root bridge of node 1.
nic_node() { cat /sys/class/net/enp*/device/../numa_node; }
expect "node of the NIC" 1 nic_node

pages=$node/node1/hugepages
echo 64 >$pages/hugepages-2048kB/nr_hugepages
echo 1 >$pages/hugepages-1048576kB/nr_hugepages
expect "2 MiB pages of node 1" 64 cat $pages/hugepages-2048kB/nr_hugepages
expect "1 GiB pages of node 1" 1 cat $pages/hugepages-1048576kB/nr_hugepages
expect "2 MiB pages of node 0" 0 cat $node/node0/hugepages/hugepages-2048kB/nr_hugepages

# Milliwatts go in where the meter's firmware would put them; the driver keeps a
# reading for a second.
meter=$(echo /sys/class/hwmon/hwmon*/device/power1_average)
expect "power meter before" 142000000 cat "$meter"
set_power 123456
expect "power meter in microwatts" 123456000 cat "$meter"

# The same by hvtune, which takes it for the whole machine's; milliwatts again.
meter_of_hvtune() {
	hvtune meters --json --window 3 |
		jq -r '.sources[] | select(.name == "hwmon.power_meter") |
			"\(.result.mean * 1000 | round) \(.boundary) \(.chosen) \(.refresh_s)"'
}
if command -v hvtune >/dev/null; then
	expect "power meter by hvtune" "123456 board true 1" meter_of_hvtune
	set_power 98765
	expect "power meter by hvtune" "98765 board true 1" meter_of_hvtune
fi

[ -c /dev/kvm ] || fail "no /dev/kvm"
expect "nested paging" Y cat /sys/module/kvm_amd/parameters/npt

[ -c /dev/ipmi0 ] || fail "no /dev/ipmi0"
ipmitool mc info >/dev/null || fail "the BMC does not answer"
! ipmitool dcmi power reading >/dev/null 2>&1 || fail "this BMC cannot know DCMI"
echo "ok: BMC without DCMI"
