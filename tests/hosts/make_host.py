#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns synthetic hosts: a complete tree of /sys, /proc, /dev and /etc for a machine described in a few lines.

usage: tests/hosts/make_host.py MACHINE.host DIRECTORY

What these trees prove is that the program says the right thing of a machine as described. They are no captures of real
machines and are never called so. A description is an INI file; [machine] has the keys of DEFAULTS below, [files] adds or
replaces files (a value of "-" takes one away, "\\n" is a line break).

The CPUs of a machine are counted as Linux does on most firmware: first threads of all cores, package after package,
then second threads (numbering = split), or the two threads of a core one after the other (numbering = adjacent).
"""
import configparser
import os
import shutil
import struct
import sys
from pathlib import Path

DEFAULTS = {
    "about": "", "model": "AMD EPYC 9354P 32-Core Processor", "vendor": "AuthenticAMD", "family": 25, "cpu_model": 17,
    "stepping": 1, "microcode": "0xa101154",
    "packages": 1, "ccxs": 8, "cores": "4", "threads": 2, "l3_kib": "32768", "l2_kib": 1024, "nodes": 1,
    "numbering": "split", "memory_gib": "384", "offline": "", "guest": "no",
    "kernel": "6.12.48", "distribution": "debian", "cmdline": "quiet amd_pstate=active iommu=pt",
    "driver": "amd-pstate-epp", "governor": "powersave", "epp": "balance_performance", "boost": 1,
    "min_khz": 400000, "nominal_mhz": 3250, "max_khz": 3799000, "ranking": "", "pm_profile": 4,
    "idle": "C1:1 C2:800", "latency_us": 2000000000, "latency_holder": "",
    "tuned": "", "daemons": "", "swappiness": 60, "numa_balancing": 0, "thp": "madvise",
    "hugepages_2m": 0, "hugepages_1g": 0, "ksm": 0, "avic": "N", "halt_poll_ns": 200000, "nic_node": 0,
    "more_flags": "cppc", "vulnerabilities": "zen4",
}

FLAGS = ("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx "
         "mmxext fxsr_opt pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc cpuid extd_apicid aperfmperf rapl pni "
         "pclmulqdq monitor ssse3 fma cx16 pcid sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm cmp_legacy "
         "svm extapic cr8_legacy abm sse4a misalignsse 3dnowprefetch osvw ibs skinit wdt tce topoext perfctr_core "
         "perfctr_nb bpext perfctr_llc mwaitx cpb cat_l3 cdp_l3 hw_pstate ssbd mba ibrs ibpb stibp vmmcall npt lbrv "
         "svm_lock nrip_save tsc_scale vmcb_clean flushbyasid decodeassists pausefilter pfthreshold avic v_vmsave_vmload vgif")
INTEL_FLAGS = ("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ht syscall nx "
               "pdpe1gb rdtscp lm constant_tsc nonstop_tsc aperfmperf pni vmx ssse3 sse4_1 sse4_2 aes xsave avx avx2 hwp "
               "hwp_epp ept vpid x2apic")

# What Linux 6.12 says of each generation when microcode and defaults are current (arch/x86/kernel/cpu/bugs.c).
UNAFFECTED = ("gather_data_sampling ghostwrite itlb_multihit l1tf mds meltdown mmio_stale_data reg_file_data_sampling srbds "
              "tsx_async_abort indirect_target_selection").split()
VULNERABILITIES = {
    "zen1": {"retbleed": "Mitigation: untrained return thunk; SMT vulnerable", "spec_rstack_overflow": "Mitigation: Safe RET",
             "tsa": "Not affected", "spectre_v2": "Mitigation: Retpolines; IBPB: conditional; STIBP: disabled; RSB filling",
             "vmscape": "Mitigation: IBPB before exit to userspace"},
    "zen2": {"retbleed": "Mitigation: untrained return thunk; SMT enabled with STIBP protection",
             "spec_rstack_overflow": "Mitigation: Safe RET", "tsa": "Not affected",
             "spectre_v2": "Mitigation: Retpolines; IBPB: conditional; STIBP: always-on; RSB filling",
             "vmscape": "Mitigation: IBPB before exit to userspace"},
    "zen3": {"retbleed": "Not affected", "spec_rstack_overflow": "Mitigation: Safe RET",
             "tsa": "Mitigation: Clear CPU buffers",
             "spectre_v2": "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: always-on; RSB filling",
             "vmscape": "Mitigation: IBPB before exit to userspace"},
    "zen4": {"retbleed": "Not affected", "spec_rstack_overflow": "Mitigation: Safe RET",
             "tsa": "Mitigation: Clear CPU buffers",
             "spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on; RSB filling",
             "vmscape": "Mitigation: IBPB before exit to userspace"},
    "zen5": {"retbleed": "Not affected", "spec_rstack_overflow": "Not affected", "tsa": "Not affected",
             "spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on; RSB filling",
             "vmscape": "Mitigation: IBPB before exit to userspace"},
    "intel": {"retbleed": "Not affected", "spec_rstack_overflow": "Not affected", "tsa": "Not affected",
              "spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling"},
}
DISTRIBUTIONS = {
    "debian": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\nVERSION_ID="13"\nID=debian\n',
    "fedora": 'PRETTY_NAME="Fedora Linux 42 (Server Edition)"\nNAME="Fedora Linux"\nVERSION_ID=42\nID=fedora\n',
    "rhel": 'PRETTY_NAME="Red Hat Enterprise Linux 9.4 (Plow)"\nNAME="Red Hat Enterprise Linux"\nVERSION_ID="9.4"\nID="rhel"\n'
            'ID_LIKE="fedora"\n',
    "ubuntu": 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n',
}


# What of tuned's own profiles matters to a host: settings as of 2.27.
TUNED_PROFILES = {
    "balanced": "[cpu]\ngovernor=schedutil|ondemand|powersave\nenergy_performance_preference=balance_performance\nboost=1\n",
    "throughput-performance": "[cpu]\ngovernor=performance\nenergy_performance_preference=performance\nboost=1\n"
                              "[sysctl]\nvm.swappiness=10\n",
    "virtual-host": "[main]\ninclude=throughput-performance\n[cpu]\nforce_latency=cstate.id_no_zero:3|70\n",
}


def ranges(cpus):
    cpus, parts = sorted(cpus), []
    while cpus:
        last = 0
        while last + 1 < len(cpus) and cpus[last + 1] == cpus[last] + 1:
            last += 1
        parts.append(str(cpus[0]) if last == 0 else f"{cpus[0]}-{cpus[last]}")
        cpus = cpus[last + 1:]
    return ",".join(parts)


def parse_ranges(text):
    cpus = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def mask(cpus, total):
    digits = f"{sum(1 << cpu for cpu in cpus):0{8 * ((total + 31) // 32)}x}"
    return ",".join(digits[i:i + 8] for i in range(0, len(digits), 8))


class Machine:
    """Where each CPU lies: package, CCX, core, thread and node."""

    def __init__(self, settings):
        self.s = {**DEFAULTS, **settings}
        for key, value in DEFAULTS.items():
            if isinstance(value, int):
                self.s[key] = int(self.s[key], 0) if isinstance(self.s[key], str) else self.s[key]
        s = self.s
        # cores may be one number, or a list for CCXs of different sizes: "4 8".
        sizes = [int(n) for n in str(s["cores"]).split()]
        self.ccx_cores = [sizes[i % len(sizes)] for i in range(s["ccxs"])]
        l3 = [int(n) for n in str(s["l3_kib"]).split()]
        self.ccx_l3_kib = [l3[i % len(l3)] for i in range(s["ccxs"])]
        per_package = sum(self.ccx_cores)
        self.total = s["packages"] * per_package * s["threads"]
        self.offline = parse_ranges(s["offline"])
        self.cpus = []
        for package in range(s["packages"]):
            core_in_package = 0
            for ccx, cores in enumerate(self.ccx_cores):
                for _ in range(cores):
                    core = package * per_package + core_in_package
                    for thread in range(s["threads"]):
                        number = (core * s["threads"] + thread if s["numbering"] == "adjacent"
                                  else thread * s["packages"] * per_package + core)
                        self.cpus.append({
                            "cpu": number, "package": package, "ccx": package * s["ccxs"] + ccx, "l3_kib":
                            self.ccx_l3_kib[ccx], "core": core, "core_id": core_in_package,
                            "node": (package * s["nodes"] + ccx * s["nodes"] // s["ccxs"]) if s["nodes"] else 0})
                    core_in_package += 1
        self.cpus.sort(key=lambda cpu: cpu["cpu"])
        self.online = [cpu for cpu in self.cpus if cpu["cpu"] not in self.offline]
        self.node_count = max(1, s["packages"] * s["nodes"])
        memory = [int(n) for n in str(s["memory_gib"]).split()]
        self.node_gib = memory if len(memory) == self.node_count else [memory[0] // self.node_count] * self.node_count

    def same(self, cpu, key):
        return [other["cpu"] for other in self.online if other[key] == cpu[key]]


class Tree:
    """Files below a root."""

    def __init__(self, root):
        self.root = Path(root)

    def path(self, name):
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, value):
        self.path(name).write_text(f"{value}\n" if not str(value).endswith("\n") else str(value), encoding="utf-8")

    def write_all(self, folder, values):
        for name, value in values.items():
            self.write(f"{folder}/{name}", value)

    def link(self, name, target):
        path = self.path(name)
        if not path.is_symlink():
            os.symlink(target, path)


def write_cpuinfo(tree, m):
    s, blocks = m.s, []
    flags = f"{INTEL_FLAGS if s['vendor'] == 'GenuineIntel' else FLAGS} {s['more_flags']}".strip()
    if s["guest"] == "yes":
        flags = flags.replace(" hw_pstate", "").replace(" cpb", "").replace(" mwaitx", "") + " hypervisor"
    for cpu in m.online:
        blocks.append("\n".join([
            f"processor\t: {cpu['cpu']}", f"vendor_id\t: {s['vendor']}", f"cpu family\t: {s['family']}",
            f"model\t\t: {s['cpu_model']}", f"model name\t: {s['model']}", f"stepping\t: {s['stepping']}",
            f"microcode\t: {s['microcode']}", f"cpu MHz\t\t: {s['nominal_mhz']}.000", f"physical id\t: {cpu['package']}",
            f"siblings\t: {len(m.same(cpu, 'package'))}", f"core id\t\t: {cpu['core_id']}",
            f"cpu cores\t: {sum(m.ccx_cores)}", f"apicid\t\t: {cpu['cpu']}", f"flags\t\t: {flags}", ""]))
    tree.write("/proc/cpuinfo", "\n".join(blocks) + "\n")


def write_topology(tree, m):
    top = "/sys/devices/system/cpu"
    everything = ranges(cpu["cpu"] for cpu in m.cpus)
    tree.write_all(top, {"online": ranges(cpu["cpu"] for cpu in m.online), "present": everything, "possible": everything,
                         "offline": ranges(m.offline), "kernel_max": 8191, "isolated": "", "nohz_full": "",
                         "smt/active": int(m.s["threads"] > 1), "smt/control": "on" if m.s["threads"] > 1 else
                         "notsupported"})
    for cpu in m.cpus:
        folder = f"{top}/cpu{cpu['cpu']}"
        if cpu["cpu"]:
            tree.write(f"{folder}/online", int(cpu["cpu"] not in m.offline))
        if cpu["cpu"] in m.offline:
            continue
        lists = {"thread_siblings": "core", "core_cpus": "core", "core_siblings": "package", "package_cpus": "package",
                 "die_cpus": "package"}
        tree.write_all(f"{folder}/topology", {"physical_package_id": cpu["package"], "core_id": cpu["core_id"], "die_id": 0,
                                              "cluster_id": 65535})
        for name, key in lists.items():
            tree.write(f"{folder}/topology/{name}", mask(m.same(cpu, key), m.total))
            tree.write(f"{folder}/topology/{name}_list", ranges(m.same(cpu, key)))
        caches = [(1, "Data", 32, "core", cpu["core"]), (1, "Instruction", 32, "core", cpu["core"]),
                  (2, "Unified", m.s["l2_kib"], "core", cpu["core"])]
        if cpu["l3_kib"]:
            caches.append((3, "Unified", cpu["l3_kib"], "ccx", cpu["ccx"]))
        for index, (level, kind, kib, key, number) in enumerate(caches):
            shared = m.same(cpu, key)
            tree.write_all(f"{folder}/cache/index{index}", {
                "level": level, "type": kind, "size": f"{kib}K", "id": number, "shared_cpu_list": ranges(shared),
                "shared_cpu_map": mask(shared, m.total), "coherency_line_size": 64})
        tree.link(f"{folder}/node{cpu['node']}", f"../../node/node{cpu['node']}")


def write_nodes(tree, m):
    top, s = "/sys/devices/system/node", m.s
    nodes = range(m.node_count)
    with_memory = [node for node in nodes if m.node_gib[node]]
    tree.write_all(top, {"online": ranges(nodes), "possible": ranges(nodes),
                         "has_cpu": ranges({cpu["node"] for cpu in m.online}), "has_memory": ranges(with_memory),
                         "has_normal_memory": ranges(with_memory)})
    for node in nodes:
        mine = [cpu["cpu"] for cpu in m.online if cpu["node"] == node]
        kib = m.node_gib[node] * 1024 * 1024
        package = node // max(1, s["nodes"])
        near = ["10" if other == node else "12" if other // max(1, s["nodes"]) == package else "32" for other in nodes]
        taken = sum(int(s[f"hugepages_{name}"]) * size // max(1, len(with_memory)) for name, size in
                    (("2m", 2048), ("1g", 1048576))) if kib else 0
        tree.write_all(f"{top}/node{node}", {
            "cpulist": ranges(mine), "cpumap": mask(mine, m.total), "distance": " ".join(near),
            "meminfo": f"Node {node} MemTotal:       {kib} kB\nNode {node} MemFree:        {max(0, kib * 3 // 4 - taken)} kB"})
        for name, size in (("2m", 2048), ("1g", 1048576)):
            count = int(s[f"hugepages_{name}"]) // max(1, len(with_memory)) if kib else 0
            tree.write_all(f"{top}/node{node}/hugepages/hugepages-{size}kB",
                           {"nr_hugepages": count, "free_hugepages": count, "surplus_hugepages": 0})


def write_cpufreq(tree, m):
    top, s = "/sys/devices/system/cpu", m.s
    if s["driver"] == "none":
        return
    epp = s["driver"] == "amd-pstate-epp" or s["driver"] == "intel_pstate"
    if s["driver"].startswith("amd-pstate"):
        tree.write_all(f"{top}/amd_pstate", {"status": "active" if epp else "passive",
                                             "prefcore": "enabled" if s["ranking"] else "disabled"})
    if s["driver"] != "intel_pstate":
        tree.write(f"{top}/cpufreq/boost", s["boost"])
    governors = "performance powersave" if epp else "conservative ondemand userspace powersave performance schedutil"
    ranking = [int(n) for n in s["ranking"].split()]
    for cpu in m.online:
        policy = f"{top}/cpufreq/policy{cpu['cpu']}"
        tree.write_all(policy, {
            "scaling_driver": s["driver"], "scaling_governor": s["governor"], "scaling_available_governors": governors,
            "cpuinfo_min_freq": s["min_khz"], "cpuinfo_max_freq": s["max_khz"], "scaling_min_freq": s["min_khz"],
            "scaling_max_freq": s["max_khz"], "scaling_cur_freq": s["min_khz"], "affected_cpus": cpu["cpu"],
            "related_cpus": cpu["cpu"]})
        if epp:
            words = "performance" if s["governor"] == "performance" else \
                "default performance balance_performance balance_power power"
            tree.write_all(policy, {"energy_performance_preference": s["epp"],
                                    "energy_performance_available_preferences": words})
        if s["driver"].startswith("amd-pstate"):
            tree.write_all(policy, {"boost": s["boost"], "amd_pstate_max_freq": s["max_khz"],
                                    "amd_pstate_lowest_nonlinear_freq": s["nominal_mhz"] * 1000 // 2})
        if ranking:
            tree.write(f"{policy}/amd_pstate_prefcore_ranking", ranking[cpu["ccx"] % len(ranking)] - cpu["core_id"] % 4)
        tree.link(f"{top}/cpu{cpu['cpu']}/cpufreq", f"../cpufreq/policy{cpu['cpu']}")
        if s["vendor"] == "AuthenticAMD" and "cppc" in f"{s['more_flags']}":
            tree.write_all(f"{top}/cpu{cpu['cpu']}/acpi_cppc", {
                "nominal_freq": s["nominal_mhz"], "lowest_freq": s["min_khz"] // 1000, "highest_perf": 255,
                "nominal_perf": 200, "lowest_nonlinear_perf": 100, "lowest_perf": 25})


def write_idle(tree, m):
    top, s = "/sys/devices/system/cpu", m.s
    states = [("POLL", 0)] + [(part.split(":")[0], int(part.split(":")[1])) for part in s["idle"].split()]
    if not s["idle"]:
        tree.write_all(f"{top}/cpuidle", {"current_driver": "haltpoll" if s["guest"] == "yes" else "none",
                                          "current_governor": "haltpoll" if s["guest"] == "yes" else "menu"})
        states = []
    else:
        tree.write_all(f"{top}/cpuidle", {"current_driver": "intel_idle" if s["vendor"] == "GenuineIntel" else
                                          "acpi_idle", "current_governor": "menu",
                                          "available_governors": "menu teo"})
    for cpu in m.online:
        for number, (name, latency) in enumerate(states):
            reached = latency <= s["latency_us"]
            tree.write_all(f"{top}/cpu{cpu['cpu']}/cpuidle/state{number}", {
                "name": name, "desc": "CPUIDLE CORE POLL IDLE" if not number else f"ACPI {name}", "latency": latency,
                "residency": latency * 2, "disable": 0, "default_status": "enabled",
                "usage": 100000 if reached else 0, "time": 900000000 if reached else 0})
        tree.write(f"{top}/cpu{cpu['cpu']}/power/pm_qos_resume_latency_us", 0)
    if s["guest"] != "yes":
        tree.path("/dev/cpu_dma_latency").write_bytes(struct.pack("<i", s["latency_us"]))


def write_memory(tree, m):
    s, kib = m.s, sum(m.node_gib) * 1024 * 1024
    taken = s["hugepages_2m"] * 2048 + s["hugepages_1g"] * 1048576
    large = "default_hugepagesz=1G" in s["cmdline"]
    tree.write("/proc/meminfo", f"MemTotal:       {kib} kB\nMemFree:        {kib * 3 // 4 - taken} kB\n"
               f"MemAvailable:   {kib * 7 // 8 - taken} kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"
               f"AnonHugePages:  {kib // 16} kB\nHugePages_Total:   {s['hugepages_1g' if large else 'hugepages_2m']}\n"
               f"HugePages_Free:    {s['hugepages_1g' if large else 'hugepages_2m']}\n"
               f"Hugepagesize:       {1048576 if large else 2048} kB\nHugetlb:        {taken} kB\n")
    for name, size in (("2m", 2048), ("1g", 1048576)):
        count = s[f"hugepages_{name}"]
        tree.write_all(f"/sys/kernel/mm/hugepages/hugepages-{size}kB",
                       {"nr_hugepages": count, "free_hugepages": count, "resv_hugepages": 0, "surplus_hugepages": 0,
                        "nr_overcommit_hugepages": 0})
    words = ["always", "madvise", "never"]
    tree.write_all("/sys/kernel/mm/transparent_hugepage", {
        "enabled": " ".join(f"[{word}]" if word == s["thp"] else word for word in words),
        "defrag": "always defer defer+madvise [madvise] never",
        "khugepaged/defrag": 1})
    tree.write_all("/sys/kernel/mm/ksm", {"run": s["ksm"], "pages_shared": 0, "pages_sharing": 0, "merge_across_nodes": 1})
    tree.write_all("/proc/sys/vm", {"swappiness": s["swappiness"], "zone_reclaim_mode": 0, "dirty_ratio": 20,
                                    "dirty_background_ratio": 10, "dirty_bytes": 0, "dirty_background_bytes": 0,
                                    "overcommit_memory": 0, "min_free_kbytes": 90112, "compaction_proactiveness": 20})
    tree.write("/proc/sys/kernel/numa_balancing", s["numa_balancing"])


def write_system(tree, m):
    s = m.s
    tree.write_all("/proc", {"version": f"Linux version {s['kernel']} (builder@host) #1 SMP PREEMPT_DYNAMIC",
                             "cmdline": f"BOOT_IMAGE=/boot/vmlinuz-{s['kernel']} root=UUID=0 ro {s['cmdline']}".strip(),
                             "sys/kernel/osrelease": s["kernel"], "uptime": "864000.00 50000000.00", "1/comm": "systemd",
                             "sys/kernel/perf_event_paranoid": 3, "mounts": "proc /proc proc rw 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize="
                             + ("1024M" if "default_hugepagesz=1G" in s["cmdline"] else "2M") + " 0 0"})
    tree.write("/etc/os-release", DISTRIBUTIONS[s["distribution"]])
    if s["distribution"] in ("debian", "ubuntu"):
        tree.write("/etc/default/grub", f'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="{s["cmdline"]}"\n')
    else:
        tree.write("/boot/loader/entries/0-1.conf", f"title Linux\nversion {s['kernel']}\noptions root=UUID=0 ro {s['cmdline']}\n")
    tree.write_all("/sys/devices/system/clocksource/clocksource0", {
        "current_clocksource": "kvm-clock" if s["guest"] == "yes" else "tsc",
        "available_clocksource": "kvm-clock tsc acpi_pm" if s["guest"] == "yes" else "tsc hpet acpi_pm"})
    known = VULNERABILITIES[s["vulnerabilities"]]
    tree.write_all("/sys/devices/system/cpu/vulnerabilities", {
        **{name: "Not affected" for name in UNAFFECTED},
        "spec_store_bypass": "Mitigation: Speculative Store Bypass disabled via prctl",
        "spectre_v1": "Mitigation: usercopy/swapgs barriers and __user pointer sanitization", **known})
    tree.write("/sys/firmware/acpi/pm_profile", s["pm_profile"])
    tree.write_all("/sys/class/dmi/id", {"sys_vendor": "QEMU" if s["guest"] == "yes" else "Synthetic",
                                         "product_name": "Standard PC (Q35 + ICH9, 2009)" if s["guest"] == "yes" else
                                         "synthetic host"})
    processes = dict(part.split(":") for part in s["daemons"].split())
    for number, (name, command) in enumerate(processes.items(), 900):
        tree.write(f"/proc/{number}/comm", name[:15])
        tree.path(f"/proc/{number}/cmdline").write_bytes(command.encode() + b"\0")
        if name == s["latency_holder"]:
            tree.link(f"/proc/{number}/fd/7", "/dev/cpu_dma_latency")
    if s["tuned"]:
        tree.write_all("/etc/tuned", {"active_profile": s["tuned"], "profile_mode": "manual"})
        for name, text in TUNED_PROFILES.items():
            tree.write(f"/usr/lib/tuned/profiles/{name}/tuned.conf", text)


def write_kvm(tree, m):
    s = m.s
    intel = s["vendor"] == "GenuineIntel"
    tree.write("/sys/module/kernel/parameters/consoleblank", 0)
    tree.write_all("/sys/module/kvm/parameters", {"halt_poll_ns": s["halt_poll_ns"], "halt_poll_ns_grow": 2,
                                                  "nx_huge_pages": "Y" if intel else "N", "tdp_mmu": "Y"})
    tree.write_all("/sys/module/kvm_intel/parameters" if intel else "/sys/module/kvm_amd/parameters",
                   {"ept": "Y", "nested": "Y", "enable_apicv": "Y"} if intel else
                   {"npt": "Y", "nested": 1, "avic": s["avic"], "vgif": 1, "vls": 1, "nrips": 1})
    tree.write("/sys/module/vhost_net/parameters/experimental_zcopytx", 0)
    for name in ("kvm", "null"):
        tree.path(f"/dev/{name}").touch()


def write_devices(tree, m):
    address, node = "0000:41:00.0", m.s["nic_node"]
    real = f"../../../devices/pci0000:40/{address}"
    folder = f"/sys/devices/pci0000:40/{address}"
    local = [cpu["cpu"] for cpu in m.online if cpu["node"] == node]
    tree.write_all(folder, {"class": "0x020000", "vendor": "0x15b3", "device": "0x101d", "numa_node": node,
                            "local_cpulist": ranges(local), "sriov_totalvfs": 8, "sriov_numvfs": 0})
    tree.link(f"/sys/bus/pci/devices/{address}", real)
    tree.link(f"{folder}/driver", "../../../bus/pci/drivers/mlx5_core")
    tree.link(f"{folder}/iommu_group", "../../../kernel/iommu_groups/12")
    tree.write_all(f"{folder}/net/eth0", {"operstate": "up", "speed": 25000})
    tree.link(f"{folder}/net/eth0/device", f"../../../{address}")
    for queue in range(min(8, len(m.online))):
        for way in ("rx", "tx"):
            tree.write(f"{folder}/net/eth0/queues/{way}-{queue}/name", "")
    tree.link("/sys/class/net/eth0", f"../../devices/pci0000:40/{address}/net/eth0")
    tree.write("/sys/kernel/iommu_groups/12/type", "identity" if "iommu=pt" in m.s["cmdline"] else "DMA-FQ")
    tree.link(f"/sys/kernel/iommu_groups/12/devices/{address}", f"../../../../devices/pci0000:40/{address}")
    tree.write("/sys/class/iommu/ivhd0/amd-iommu/features", "9d3e0:256a0")


def write_power(tree, m):
    for package in range(m.s["packages"]):
        tree.write_all(f"/sys/class/powercap/intel-rapl:{package}", {
            "name": f"package-{package}", "energy_uj": 123456789 + package, "max_energy_range_uj": 65532610987})
    tree.write_all("/sys/class/hwmon/hwmon0", {"name": "k10temp", "temp1_input": 45000, "temp1_label": "Tctl"})


def load(path):
    parser = configparser.ConfigParser(delimiters="=", comment_prefixes="#", interpolation=None)
    parser.optionxform = str
    parser.read_string(Path(path).read_text(encoding="utf-8"))
    settings = dict(parser["machine"])
    unknown = set(settings) - set(DEFAULTS)
    if unknown:
        raise SystemExit(f"{path}: unknown key {sorted(unknown)[0]}")
    return settings, dict(parser["files"]) if parser.has_section("files") else {}


def make(path, root):
    settings, files = load(path)
    machine, tree = Machine(settings), Tree(root)
    guest = machine.s["guest"] == "yes"
    for write in (write_cpuinfo, write_topology, write_nodes, write_cpufreq, write_idle, write_memory, write_system):
        write(tree, machine)
    if not guest:
        for write in (write_kvm, write_devices, write_power):
            write(tree, machine)
    for name, text in files.items():
        target = tree.path(name)
        if text == "-":
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        else:
            tree.write(name, text.replace("\\n", "\n"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: tests/hosts/make_host.py MACHINE.host DIRECTORY")
    make(sys.argv[1], sys.argv[2])
