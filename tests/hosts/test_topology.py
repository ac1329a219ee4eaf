# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns proving that the topology is true: on every machine that is there as a tree, hvtune's packages, nodes, L3
groups, cores and threads are compared with hwloc's and lscpu's; measured core-to-core latencies give the same groups."""
import concurrent.futures
import csv
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import cases
from harness import SANITIZED, Test, hvtune

WHY_NOT = cases.missing()

NO_NODE_DIRECTORY = "there is no /sys/devices/system/node: hwloc makes up a node, hvtune says it is not known"
CONTRADICTION = "nodes cut packages or L3 groups: hwloc drops or widens such nodes, hvtune shows them and says so"

# Where hwloc says something else and is not followed: (end of the tree's name, level) -> why.
HWLOC_DIFFERS = {
    ("ryzen1600-old-kernel-l3", "l3s"): "the lists 6-9 and 10-11 carry one cache id: hwloc makes two caches of them",
    ("ryzen1600-old-kernel-l3", "sizes"): "as above",
    ("hwloc-AMD-15h-Piledriver-4xOpteron-6348", "nodes"): CONTRADICTION,
    ("inst-0600F12_K15_Interlagos-2", "nodes"): CONTRADICTION,
    ("inst-0600F20_K15_AbuDhabi-1", "nodes"): CONTRADICTION,
    ("8em64t-2s2ca2c-buggynuma", "nodes"): CONTRADICTION,
    ("4x-opteron6176-empty-node", "nodes"): CONTRADICTION,
    ("fakememinitiators-1np2c+1npp+gi", "nodes"): "hwloc gives nodes without CPUs those of their memory initiators",
    ("2i386-2t-hugepagesizecount", "nodes"): NO_NODE_DIRECTORY,
    ("arm-A510-A710-A715-X3", "nodes"): NO_NODE_DIRECTORY,
    ("aarch64_Apple_Icestorm-M1-Pro", "nodes"): NO_NODE_DIRECTORY,
    ("x86_64-i7-11th-2_8GHz", "nodes"): NO_NODE_DIRECTORY,
}

CORE_ID = "lscpu groups by core_id, which here is unique only within a cluster; thread_siblings are single CPUs"
MODULES = "lscpu calls the two integer cores of a Bulldozer module threads of one core; their core_ids differ"

# Where lscpu says something else and is not followed.
LSCPU_DIFFERS = {
    ("ryzen1600-old-kernel-l3", "l3s"): "the lists 6-9 and 10-11 carry one cache id: lscpu makes two caches of them",
    ("64amd64-4s2n4ca2co/64amd64-4s2n4ca2co", "cores"): MODULES,
    ("64amd64-4p2n4ca2co/fsroot", "cores"): MODULES,
    ("nvidia-dgx-gb10", "cores"): CORE_ID,
    ("aarch64_Apple_Icestorm-M1-Pro", "cores"): CORE_ID,
    ("arm-A510-A710-A715-X3", "cores"): CORE_ID,
    ("arm-A510-A710-A715-X3", "packages"): "lscpu counts one socket on ARM without ACPI, whatever the kernel lists",
    ("5intel64-hybrid-lakefield/fsroot", "l3s"): "lscpu -p leaves out the fields of caches that a CPU lacks, so that "
                                                 "its L3 lands in the column of L2",
    ("guest-l3-spans-2-nodes", "l3s"): "lscpu stops at the first missing cache index, and there is only index3",
    ("8em64t-2s2ca2c-buggynuma", "nodes"): "all nodes list all CPUs: lscpu gives a CPU to the first of them only",
    ("4x-opteron6176-empty-node", "nodes"): "lscpu -p shows no node that has no CPUs",
    ("fakememinitiators-1np2c+1npp+gi", "nodes"): "lscpu -p shows no node that has no CPUs",
    ("fakememinitiators-1np2c+1npp+gi", "packages"): "lscpu finds no CPU type in an empty cpuinfo and leaves out cores",
    ("fakememinitiators-1np2c+1npp+gi", "cores"): "as above",
}

# Trees that lscpu refuses: it needs /proc/cpuinfo and /sys/devices/system/cpu/possible.
LSCPU_REFUSES = {"ghw/linux-amd64-415ee03b8c4d1c4f07ae2e9d8b3d3d6d",
                 "ghw/linux-amd64-8581cf3a529e5d8b97ea876eade2f60d",
                 "ghw/linux-amd64-accel", "ghw/linux-amd64-accel-nvidia",
                 "ghw/linux-arm64-c288e0776090cd558ef793b2a4e61939", "ghw/linux-s390x-snapshot",
                 "hwloc/16em64t-4s2c2t-offlines/16em64t-4s2c2t-offlines",
                 "nri-plugins/cpuallocator/sysfs/2-socket-4-node-40-core"}


def numbers(text):
    """The CPUs of a list as sysfs writes it."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def of_mask(text):
    """The CPUs of hwloc's "0xff,,0x0000ffff": words of 32 bits, an empty one is 0."""
    value = 0
    for word in text.split(","):
        value = value << 32 | int(word or "0", 16)
    return frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)


def of_hvtune(root):
    shape = hvtune("show", "topology", "--json", "--host", root).json()["topology"]
    if shape["state"]["state"] != "value":
        return None
    return {
        "online": numbers(shape["cpus"]["online"] or ""),
        "packages": {numbers(package["cpus"]) for package in shape["packages"]},
        "nodes": {(node["os"], numbers(node["cpus"])) for node in shape["nodes"]},
        "l3s": {numbers(l3["cpus"]) for l3 in shape["l3s"]},
        "sizes": {(numbers(l3["cpus"]), l3["size_kib"]) for l3 in shape["l3s"]},
        "cores": {numbers(core["cpus"]) for core in shape["cores"]},
        "node_conflict": shape["node_conflict"],
    }


def of_hwloc(root):
    environment = {**os.environ, "HWLOC_FSROOT": str(root), "HWLOC_COMPONENTS": "linux,stop", "HWLOC_HIDE_ERRORS": "2"}
    text = subprocess.run(["lstopo-no-graphics", "--disallowed", "--no-io", "--of", "xml"], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    found = {"online": frozenset(), "packages": set(), "nodes": set(), "l3s": set(), "sizes": set(), "cores": set()}
    for item in ElementTree.fromstring(text).iter("object"):
        kind, cpus = item.get("type"), of_mask(item.get("cpuset", "0x0"))
        if kind == "PU":
            found["online"] |= cpus
        elif kind == "Package":
            found["packages"].add(cpus)
        elif kind == "L3Cache":
            found["l3s"].add(cpus)
            found["sizes"].add((cpus, int(item.get("cache_size")) // 1024 or None))
        elif kind == "Core":
            found["cores"].add(cpus)
        elif kind == "NUMANode":
            found["nodes"].add((int(item.get("os_index")), cpus))
    return found


def of_lscpu(root):
    done = subprocess.run(["lscpu", "--sysroot", str(root), "-p=CPU,CORE,SOCKET,NODE,CACHE"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        return None
    header, groups = [], {"cores": {}, "packages": {}, "nodes": {}, "l3s": {}}
    online = set()
    for line in done.stdout.splitlines():
        if line.startswith("# CPU"):
            header = line[2:].split(",")
        elif not line.startswith("#"):
            row = dict(zip(header, line.split(",")))
            cpu = int(row["CPU"])
            online.add(cpu)
            keys = {"cores": row["Core"] and (row["Socket"], row["Core"]), "packages": row["Socket"],
                    "nodes": row["Node"], "l3s": row.get("L3")}
            for level, key in keys.items():
                if key:
                    groups[level].setdefault(key, set()).add(cpu)
    found = {level: {frozenset(cpus) for cpus in sets.values()} for level, sets in groups.items()}
    found["nodes"] = {(int(node), frozenset(cpus)) for node, cpus in groups["nodes"].items()}
    return {**found, "online": frozenset(online)}


def known_difference(table, name, level):
    return next((why for (end, at), why in table.items() if name.endswith(end) and at == level), None)


def shown(value):
    if isinstance(value, frozenset):
        return sorted(value)
    return sorted((str(shown(item)) if isinstance(item, frozenset) else str(item)) if not isinstance(item, tuple)
                  else [str(part) if not isinstance(part, frozenset) else str(sorted(part)) for part in item]
                  for item in value)


def for_all(function, roots):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(roots, pool.map(function, roots.values())))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Trees(Test):
    @classmethod
    def setUpClass(cls):
        cls.roots = cases.trees()
        if SANITIZED:  # the same code on every second machine is enough for faults of memory
            cls.roots = dict(list(cls.roots.items())[::2])
        cls.ours = for_all(of_hvtune, cls.roots)

    def compare(self, theirs, levels, table):
        used = set()
        for name, their in theirs.items():
            ours = self.ours[name]
            with self.subTest(name):
                self.assertIsNotNone(ours, "hvtune finds no topology")
                for level in levels:
                    if ours[level] == their[level]:
                        continue
                    why = known_difference(table, name, level)
                    used.add((name, level))
                    self.assertTrue(why, f"{level}: hvtune {shown(ours[level])}, other {shown(their[level])}")
        for end, level in table:
            if any(name.endswith(end) for name in theirs):
                self.assertTrue(any(name.endswith(end) and level == at for name, at in used),
                                f"{end}: {level} does not differ any more")

    @unittest.skipUnless(shutil.which("lstopo-no-graphics"), "lstopo-no-graphics (package hwloc-nox) is not there")
    def test_equals_hwloc(self):
        self.compare(for_all(of_hwloc, self.roots), ("online", "packages", "nodes", "l3s", "sizes", "cores"),
                     HWLOC_DIFFERS)

    @unittest.skipUnless(shutil.which("lscpu"), "lscpu (package util-linux) is not there")
    def test_equals_lscpu(self):
        theirs = for_all(of_lscpu, self.roots)
        self.assertLessEqual({name for name, answer in theirs.items() if answer is None}, LSCPU_REFUSES)
        self.compare({name: answer for name, answer in theirs.items() if answer}, ("online", "packages", "nodes", "l3s", "cores"), LSCPU_DIFFERS)

    def test_archives_give_the_same(self):
        """A plain archive of a tree has no hwloc to help: the lists are read, by the same rules."""
        with tempfile.TemporaryDirectory() as folder:
            def of_archive(root):
                path = Path(folder) / (str(root).replace("/", "_") + ".tar")
                parts = [part for part in ("sys/devices/system", "proc/cpuinfo", "proc/meminfo") if (root / part).exists()]
                subprocess.run(["tar", "cf", path, "-C", root, *parts], check=True, stderr=subprocess.DEVNULL)
                return of_hvtune(path)

            roots = dict(list(self.roots.items())[::4])
            for name, answer in for_all(of_archive, roots).items():
                with self.subTest(name):
                    self.assertEqual(answer, self.ours[name])

    def test_xml_gives_the_same(self):
        """hwloc's XML as a host: what hwloc saw then is what it sees now."""
        with tempfile.TemporaryDirectory() as folder:
            for name, root in list(self.roots.items())[::5]:
                path = Path(folder) / "host.xml"
                environment = {**os.environ, "HWLOC_FSROOT": str(root), "HWLOC_COMPONENTS": "linux,stop",
                               "HWLOC_HIDE_ERRORS": "2"}
                subprocess.run(["lstopo-no-graphics", "--disallowed", "--no-io", "--of", "xml", "--force", path],
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                theirs, ours = of_hvtune(path), self.ours[name]
                with self.subTest(name):
                    self.assertIsNotNone(theirs)
                    for level in ("online", "packages", "l3s", "sizes", "cores"):
                        if not known_difference(HWLOC_DIFFERS, name, level):
                            self.assertEqual(theirs[level], ours[level], level)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class CoreToCore(Test):
    """Latencies between cores, measured by people: an oracle for L3 groups that does not come from sysfs."""

    # measurement -> trees of the same model; no such tree is there of the EPYC 7773X: 8 groups of 8 cores by its maker
    PAIRS = {
        "AMD_Ryzen_9_5900X": ("derived/inst-0A20F10_K19_Vermeer-2", "trees/5900x"),
        "AMD_Ryzen_9_7950X": ("derived/inst-0A60F12_K19_Raphael_04-",),
        "AMD_Ryzen_Threadripper_1950X": ("derived/inst-0800F11_K17_Zen-15_TR", "trees/tr1950x-numa",
                                         "trees/tr1950x-adjacent-smt"),
        "AMD_EPYC_7773X": (),
    }
    # Sizes of the L3 groups in CPUs, as measured.
    SIZES = {"AMD_Ryzen_9_5900X": [12] * 2, "AMD_Ryzen_9_7950X": [16] * 2, "AMD_Ryzen_Threadripper_1950X": [8] * 4,
             "AMD_EPYC_7773X": [16] * 8}

    @staticmethod
    def measured_groups(path):
        """Two CPUs are in one group when they answer each other in less than half the time of the usual pair."""
        with path.open(encoding="utf-8") as file:
            rows = list(csv.reader(file))
        latency = {(i, j): float(rows[i][j]) for i in range(len(rows)) for j in range(i)}
        limit = sorted(latency.values())[len(latency) * 9 // 10] / 2
        groups = []
        for cpu in range(len(rows)):
            home = next((group for group in groups if latency[cpu, group[0]] < limit), None)
            if home is None:
                groups.append([cpu])
            else:
                home.append(cpu)
        for (one, other), value in latency.items():
            same = any(one in group and other in group for group in groups)
            if same != (value < limit):
                raise AssertionError(f"{path.name}: CPUs {one} and {other}: {value} ns does not fit the groups")
        return {frozenset(group) for group in groups}

    def test_same_groups(self):
        folder = cases.CASES / "core-to-core"
        self.assertEqual({path.stem for path in folder.glob("*.csv")}, set(self.PAIRS))
        for name, trees in self.PAIRS.items():
            measured = self.measured_groups(folder / f"{name}.csv")
            with self.subTest(name):
                self.assertEqual(sorted(map(len, measured)), self.SIZES[name])
            for tree in trees:
                with self.subTest(tree):
                    ours = of_hvtune(cases.trees()[tree])
                    # The measured CPUs are numbered as that machine's kernel did: where the tree's numbers its
                    # siblings in the other way, groups are compared by the numbers of cores.
                    if measured != ours["l3s"]:
                        self.assertEqual(sorted(map(len, measured)), sorted(map(len, ours["l3s"])))
                        self.assertNotEqual(self.siblings(measured), self.siblings(ours["l3s"]),
                                            "numbered alike, grouped differently")

    @staticmethod
    def siblings(groups):
        """How siblings are numbered, as far as groups show: neighbours, or far apart."""
        return all(cpu ^ 1 in group for group in groups for cpu in group) and \
            all(max(group) - min(group) == len(group) - 1 for group in groups)


if __name__ == "__main__":
    unittest.main()
