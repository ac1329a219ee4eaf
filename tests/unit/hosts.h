/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns pieces of hosts that the tables of rule cases share.
 */
#ifndef HVTUNE_HOSTS_H
#define HVTUNE_HOSTS_H

/* clang-format off */
#define CMDLINE(words) {"/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro " words "\n"}

#define TWO_NODES                                                            \
	{"/sys/devices/system/node/online", "0-1\n"},                        \
	{"/sys/devices/system/node/node0/cpulist", "0-1\n"},                 \
	{"/sys/devices/system/node/node0/cpumap", "3\n"},                   \
	{"/sys/devices/system/node/node1/cpulist", "2-3\n"},                 \
	{"/sys/devices/system/node/node1/cpumap", "c\n"},                   \
	{"/sys/devices/system/node/node1/meminfo",                           \
	 "Node 1 MemTotal:       33554432 kB\nNode 1 MemFree:        30000000 kB\n"}

#define VMS_RUN {"/sys/module/kvm_amd/refcnt", "12\n"}
#define NO_VMS {"/sys/module/kvm_amd/refcnt", "0\n"}
#define CPU(flags)                                                           \
	{"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n" \
			  "model name\t: AMD EPYC Test Processor\nflags\t\t: fpu svm npt " flags "\n\n"}
#define GUEST CPU("hypervisor")

#define POOL(kib, file, value) {"/sys/kernel/mm/hugepages/hugepages-" kib "kB/" file, value "\n"}
#define POOL_2M(total, free)                                                 \
	POOL("2048", "nr_hugepages", total),                                 \
	POOL("2048", "free_hugepages", free),                                \
	POOL("2048", "resv_hugepages", "0"),                                 \
	POOL("2048", "surplus_hugepages", "0")
#define NODE_PAGES(node, kib, total)                                         \
	{"/sys/devices/system/node/node" node "/hugepages/hugepages-" kib "kB/nr_hugepages", total "\n"}
/* clang-format on */

#endif
