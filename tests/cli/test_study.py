# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune study check` from outside: what is shown, every mistake with its line, and that nothing is touched."""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import HVTUNE, TOP, Test, hvtune

sys.path.insert(0, str(TOP / "tests/hosts"))

import hosts  # noqa: E402

# It measures, or changes this machine.
ONE_AT_A_TIME = True

STUDY = """study: s
workloads:
  w: {run: [true], takes: 20 s}
factors:
  governor: {knob: governor, levels: [powersave, performance]}
  epp: {knob: epp, levels: [balance_performance, performance]}
"""


class Study(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.root = self.folder / "root"
        policy = self.root / "sys/devices/system/cpu/cpufreq/policy0"
        policy.mkdir(parents=True)
        (self.root / "proc").mkdir()
        for name, text in {"scaling_governor": "powersave", "scaling_available_governors": "performance powersave",
                           "scaling_driver": "amd-pstate-epp", "energy_performance_preference": "performance",
                           "energy_performance_available_preferences": "default performance balance_performance power",
                           "affected_cpus": "0", "cpuinfo_min_freq": "400000", "cpuinfo_max_freq": "3000000"}.items():
            (policy / name).write_text(text + "\n", encoding="ascii")

    def study(self, text, *options):
        path = self.folder / "s.yaml"
        path.write_text(text, encoding="utf-8")
        return hvtune("study", "check", path, "--host", self.root, *options)

    def test_levels_that_cannot_meet(self):
        done = self.study(STUDY)
        self.assert_code(done, 1)
        self.assertIn("2 factors, 4 configurations, 1 workload", done.out)
        self.assertIn("s.yaml:6: epp=balance_performance with governor=performance", " ".join(done.out.split()))
        self.assertIn("never: [{epp: balance_performance, governor: performance}]", " ".join(done.out.split()))

    def twice(self, knob, first, second):
        done = self.study("study: s\nvms: [web1]\nworkloads: {w: 'true'}\nfactors:\n  f:\n    knob: %s\n    levels: [%s, %s]\n" % (knob, first, second))
        self.assert_code(done, 1)
        return f"s.yaml:7: f={second}: levels {first} and {second} are the same value" in " ".join(done.out.split())

    def test_levels_of_one_value(self):
        self.assertTrue(self.twice("swappiness", "10", "010"))
        self.assertTrue(self.twice("hugepages.2M", "1G", "1024M"))
        self.assertTrue(self.twice("vm.pages@web1", "2M", "2048K"))
        self.assertFalse(self.twice("hugepages.2M", "1024", "1K"))

    def test_levels_of_one_value_on_this_machine(self):
        """How many pages a size is, is known where there are pages."""
        node = self.root / "sys/devices/system/node/node0"
        for pool in (node / "hugepages/hugepages-2048kB", self.root / "sys/kernel/mm/hugepages/hugepages-2048kB"):
            pool.mkdir(parents=True)
            (pool / "nr_hugepages").write_text("0\n", encoding="ascii")
            (pool / "free_hugepages").write_text("0\n", encoding="ascii")
        (node / "meminfo").write_text("Node 0 MemTotal: 8000000 kB\nNode 0 MemFree: 7000000 kB\n", encoding="ascii")
        self.assertTrue(self.twice("hugepages.2M", "512", "1G"))

    def test_a_baseline_that_cannot_be(self):
        """What all is compared with cannot be set here: the line that names it says so."""
        done = self.study(STUDY.replace("balance_performance, performance]}\n", "sometimes, performance]}\nbaseline: {epp: sometimes}\n"))
        self.assert_code(done, 1)
        self.assertIn("epp: sometimes, performance; baseline sometimes, which cannot be set here", " ".join(done.out.split()))
        done = self.study(STUDY + "baseline: {governor: performance, epp: balance_performance}\n")
        self.assert_code(done, 1)
        said = " ".join(done.out.split())
        self.assertIn("baseline balance_performance, which cannot be set with governor=performance", said)
        self.assertIn("baseline performance, which cannot be set with epp=balance_performance", said)
        done = self.study(STUDY)
        self.assertNotIn("which cannot be set", done.out)

    def test_no_such_file(self):
        for word in ("check", "run"):
            done = hvtune("study", word, "nope")
            self.assert_code(done, 3)
            self.assertIn("nope", done.err)
            self.assertIn("hvtune study list", done.err)

    def test_fine(self):
        done = self.study(STUDY + "never: [{epp: balance_performance, governor: performance}]\n")
        self.assert_code(done, 0)
        self.assertIn("3 configurations", done.out)
        self.assertIn("It can be done on this machine", done.out)

    def test_what_holds_now_is_excluded(self):
        done = self.study(STUDY + "never: [{epp: balance_performance, governor: performance}, "
                                  "{epp: performance, governor: powersave}]\n")
        self.assert_code(done, 1)
        self.assertIn('what the machine has now is excluded by "never"', " ".join(done.out.split()))

    def test_json(self):
        done = self.study(STUDY, "--json")
        self.assert_code(done, 1)
        found = json.loads(done.out)
        self.assertEqual(found["schema"], 1)
        self.assertEqual(found["configurations"], 4)
        self.assertEqual([(p["kind"], p["line"], p["blocks"]) for p in found["problems"]], [("pair", 6, True)])
        self.assertEqual(found["switches"]["live"], 5)
        # What the host has now, since the file names none.
        self.assertEqual({f["name"]: f["baseline"] for f in found["factors"]}, {"governor": "powersave", "epp": "performance"})

    def test_every_mistake_with_its_line(self):
        done = self.study("study: s\nworkloads: {w: make}\nfactors:\n  f: {knob: governr, levels: [a, b]}\nbudget: 8\n")
        self.assert_code(done, 2)
        self.assertEqual(done.out, "")
        lines = done.err.strip().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("s.yaml:4:", lines[0])
        self.assertIn('did you mean "governor"', lines[0])
        self.assertIn("s.yaml:5:", lines[1])

    def test_names_and_budgets_that_cannot_be(self):
        for old, new, said in (("study: s", "study: last", 's.yaml:1:'), ("study: s", "study: 17", '"17"'),
                               ("factors:", "budget: 1001 d\nfactors:", "at most 1000 d")):
            done = self.study(STUDY.replace(old, new))
            self.assert_code(done, 2)
            self.assertIn(said, done.err)
        done = hvtune("study", "list", "extra")
        self.assert_code(done, 2)
        self.assertIn("no argument", done.err)

    def test_new_is_a_study(self):
        done = hvtune("study", "new", "--host", self.root, "--", "echo 'it''s' | cat")
        self.assert_code(done, 0)
        self.assertIn("levels: [performance, powersave]", done.out)
        self.assertIn("levels: [performance, balance_performance, power]", done.out)
        checked = self.study(done.out, "--json")
        self.assert_code(checked, 0)
        self.assertEqual(json.loads(checked.out)["workloads"], ["work"])
        self.assert_code(self.study(hvtune("study", "new", "--host", self.root).out), 0)
        # What the host holds, what excludes each other there, and that nothing measures it.
        self.assertIn("# who chooses the clocks; now powersave", done.out)
        self.assertIn("  - {epp: balance_performance, governor: performance}\n", done.out)
        self.assertIn("objectives: [time]\n", done.out)

    def test_brackets_without_end(self):
        began = time.monotonic()
        done = self.study("[" * 200000)
        self.assert_code(done, 2)
        self.assertIn("brackets", done.err)
        self.assertLess(time.monotonic() - began, 5)

    def test_usage(self):
        for words, said in (((), "check"), (("chek",), "chek"), (("check",), "one FILE"), (("run",), "one FILE")):
            done = hvtune("study", *words)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(said, done.err)

    def test_nothing_is_touched(self):
        def look():
            return {str(path): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        before = look()
        self.study(STUDY)
        self.assertEqual(before, look())


DOMAIN = """<domain type='kvm'><name>{name}</name><uuid>11111111-2222-3333-4444-5555555555{number:02d}</uuid>
<memory unit='GiB'>16</memory><vcpu placement='static'>8</vcpu><os><type arch='x86_64' machine='q35'>hvm</type></os>
<cpu mode='host-passthrough'><topology sockets='1' dies='1' cores='4' threads='2'/></cpu>
<devices><interface type='network'><source network='default'/><model type='virtio'/></interface></devices></domain>
"""


class Ready(Test):
    """The studies of the program: every one on every machine of the corpus, with and without a VM."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def names(self):
        return [row["name"] for row in json.loads(hvtune("study", "list", "--json").out)["studies"]]

    def host(self, name, *vms):
        """A machine of the corpus as a directory, with VMs of these names."""
        path = hosts.names()[name]
        root = hosts.root_of(name, path)
        if path.suffix != ".host":
            subprocess.run(["tar", "-xf", path, "-C", self.folder], check=True)
            root = self.folder / "hvtune-capture/root"
        if vms:
            shutil.copytree(root, self.folder / "with", symlinks=True, dirs_exist_ok=True)
            root = self.folder / "with"
            (root / "etc/libvirt/qemu").mkdir(parents=True, exist_ok=True)
            for number, vm in enumerate(vms):
                (root / f"etc/libvirt/qemu/{vm}.xml").write_text(DOMAIN.format(name=vm, number=number), encoding="ascii")
        return root

    def test_list(self):
        self.assertEqual(self.names(), ["quick", "amd-vm-speed", "ccx-numa-hugepages", "efficiency", "mitigation-bill",
                                        "nic-queues"])
        self.assertIn("as fast as the machine below it", hvtune("study", "list").out)

    def test_on_every_machine(self):
        for machine in ("epyc-9354p", "2x-epyc-9654-nps4", "epyc-7543-acpi-cpufreq", "ryzen-7950x3d", "xeon-gold-6430",
                        "kvm-guest", "lab-guided"):
            root = self.host(machine)
            for name in self.names():
                with self.subTest(machine=machine, study=name):
                    done = hvtune("study", "check", name, "--host", root)
                    self.assertIn(done.code, (0, 1, 3), done.err)
                    if done.code == 3:
                        self.assertRegex(done.err, "of a VM, and there is none here|none of its factors can be changed")
                    else:
                        self.assertIn(f"Study {name}: ", done.out)
                        self.assertRegex(done.out, "It can be done on this machine|it cannot be done on this machine")

    def test_of_a_vm(self):
        root = self.host("epyc-9354p", "web1")
        for name in self.names():
            done = hvtune("study", "check", name, "--host", root)
            self.assertIn(done.code, (0, 1), done.err)
            shown = hvtune("study", "show", name, "--host", root)
            self.assert_code(shown, 0)
            path = self.folder / "shown.yaml"
            path.write_text(shown.out, encoding="utf-8")
            again = hvtune("study", "check", path, "--host", root, "--json")
            self.assertIn(again.code, (0, 1), again.err)
            self.assertEqual(json.loads(again.out)["study"], name)
        # Eight vCPUs as threads of four cores of one CCX, and pages beside the 128 that are there.
        shown = hvtune("study", "show", "ccx-numa-hugepages", "--host", root).out
        self.assertIn("{vm.pins.next@web1: '0:0,1:32,2:1,3:33,4:2,5:34,6:3,7:35'}", shown)
        self.assertIn("hugepages.2M@0: 8192", shown)
        self.assertIn("hugepages.1G@0: 144", shown)
        self.assertIn("VMs and services are asked on the machine itself",
                      " ".join(hvtune("study", "check", "nic-queues", "--host", root).out.split()))

    def test_new_on_every_machine(self):
        """What `study new` writes can be done there, all of it; VMs and meters of the host are in it."""
        for machine in ("epyc-9354p", "2x-epyc-9654-nps4", "epyc-7543-acpi-cpufreq", "strix-hx370", "xeon-gold-6430",
                        "kvm-guest", "lab-guided", "lab-acpi-cpufreq"):
            with self.subTest(machine=machine):
                root = self.host(machine)
                path = self.folder / "new.yaml"
                path.write_text(hvtune("study", "new", "--host", root).out, encoding="utf-8")
                done = hvtune("study", "check", path, "--host", root)
                self.assert_code(done, 0)
                self.assertNotIn("left out", done.out)
        text = hvtune("study", "new", "--host", self.host("epyc-9354p", "web1", "db")).out
        self.assertIn("vms: [db, web1]\n", text)
        self.assertIn("knob: 'vm.pages@db'", text)
        self.assertIn("meter: package", text)
        self.assertIn("limits: {temperature: 95 C}", text)

    def test_which_vm(self):
        root = self.host("epyc-9354p", "web1", "db")
        for words, said in (((), "--vm NAME, of db, web1"), (("--vm", "dc"), "there are: db, web1")):
            done = hvtune("study", "check", "mitigation-bill", "--host", root, *words)
            self.assert_code(done, 2)
            self.assertIn(said, done.err)
        self.assertIn("vms: [db]", hvtune("study", "show", "mitigation-bill", "--host", root, "--vm", "db").out)
        self.assertNotIn("vms:", hvtune("study", "show", "mitigation-bill", "--host", root, "--vm", "none").out)
        # Without a VM nothing is left of these.
        for name in ("nic-queues", "ccx-numa-hugepages"):
            done = hvtune("study", "show", name, "--host", root, "--vm", "none")
            self.assert_code(done, 3)
            self.assertEqual(done.out, "")
            self.assertIn("this study is of a VM", done.err)
        for words in (("show", "mine"), ("check", "quick", "--vm", "web1"), ("show",)):
            self.assert_code(hvtune("study", *words, "--host", root), 2)


RUN = """study: sleepy
workloads:
  nap: {{run: 'sleep $(cat {folder}/nap)', setup: 'test -d "$HVTUNE_WORK"; echo done > {folder}/setup'}}
factors:
  nap:
    levels:
      long: {{run: 'echo 0.06 > {folder}/nap', undo: 'echo 0.05 > {folder}/nap'}}
      short: {{run: 'echo 0.02 > {folder}/nap', undo: 'echo 0.05 > {folder}/nap'}}
      middle: {{run: 'echo 0.04 > {folder}/nap', undo: 'echo 0.05 > {folder}/nap'}}
within: 20 %
"""


class Run(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "nap").write_text("0.05\n", encoding="ascii")
        self.path = self.folder / "s.yaml"
        self.path.write_text(RUN.format(folder=self.folder), encoding="utf-8")
        self.store = self.folder / "results.db"

    def run_study(self, *options):
        return hvtune("study", "run", self.path, "--yes", "--store", self.store, *options)

    def assert_as_before(self):
        self.assertEqual((self.folder / "nap").read_text(encoding="ascii"), "0.05\n")

    def test_finds_what_was_built_in(self):
        done = self.run_study("--json")
        self.assert_code(done, 0)
        found = json.loads(done.out)
        self.assertEqual(found["state"], "done")
        target = found["targets"][0]
        self.assertEqual(target["best"], "nap=short")
        self.assertTrue(target["sure"])
        self.assertLess(target["confirmed"]["high"], 1)
        self.assertEqual({row["name"] for row in target["configurations"]}, {"nap=long", "nap=short", "nap=middle"})
        self.assert_as_before()
        self.assertTrue((self.folder / "setup").exists())
        kept = hvtune("report", "--store", self.store, "--json")
        self.assert_code(kept, 0)
        # One estimator: what was looked at after each pair is not told with a plain 95 % interval afterwards.
        change, = [one for one in json.loads(kept.out)["changes"] if one["metric"] == "wall time"]
        for name, of in (("ratio", "ratio"), ("low", "low"), ("high", "high")):
            self.assertAlmostEqual(change[of], target["confirmed"][name], places=9)
        self.assertEqual(change["pairs"], target["confirmed"]["pairs"])
        self.assertIn('"nap=short"', kept.out.replace("\\", ""))
        self.assertEqual(list(Path("/var/tmp").glob(f"hvtune-study-{found['uid'][:12]}")), [])

    def test_text(self):
        done = self.run_study()
        self.assert_code(done, 0)
        self.assertIn("Best for time: nap=short", done.out)
        self.assertRegex(" ".join(done.out.split()), "switches, [0-9.]+ s; announced were .*; all settings are as before")
        # The report has the figures that were printed, in the same form.
        (figures,) = re.findall(r"measured again beside the baseline: ([^)]*\))", " ".join(done.out.split()))
        verdict = " ".join(json.loads(hvtune("report", "--store", self.store, "--json").out)["verdict"])
        self.assertIn(f"Measured again beside the baseline: {figures}.", verdict)

    def test_a_level_that_fails_is_taken_back(self):
        self.path.write_text(RUN.format(folder=self.folder).replace("echo 0.02 >", "false && echo 0.02 >"), encoding="utf-8")
        done = self.run_study()
        self.assert_code(done, 3)
        self.assertIn("nap=short (run)", done.err)
        self.assert_as_before()

    def test_an_answer_that_is_not_sure_is_a_finding(self):
        self.path.write_text(RUN.format(folder=self.folder) + "runs: 1\nconfirm: no\n", encoding="utf-8")
        done = self.run_study("--json")
        self.assertIn(done.code, (0, 1), done.err)
        target, = json.loads(done.out)["targets"]
        self.assertFalse(target["sure"])
        self.assertIn("too few runs", target["unsure"])
        self.assert_code(done, 1)

    def test_an_undo_that_fails_is_told(self):
        """What a hook has not put back is named with the command to run, and nothing says that all is as before."""
        text = RUN.format(folder=self.folder).replace(f"short: {{run: 'echo 0.02 > {self.folder}/nap', undo: 'echo 0.05 > {self.folder}/nap'}}",
                                                      f"short: {{run: 'echo 0.02 > {self.folder}/nap', undo: 'echo it is busy >&2; exit 9'}}")
        self.assertIn("exit 9", text)
        self.path.write_text(text, encoding="utf-8")
        done = self.run_study()
        self.assert_code(done, 3)
        said = " ".join(done.out.split())
        self.assertNotIn("all settings are as before", said)
        self.assertIn("not all is as it was before", said)
        self.assertRegex(said, r"Not put back: nap=short \(undo\): this command failed with exit code 9: it is busy; "
                               r"by hand: echo it is busy >&2; exit 9\.")
        if os.geteuid() == 0:
            self.assert_one_line(self.run_study().err)
            self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "not put back")
            self.assertIn("by hand: echo it is busy >&2; exit 9", " ".join(hvtune("study", "status").out.split()))
            self.assert_code(hvtune("study", "abort", "--done"), 0)
        done = self.run_study("--json")
        if os.geteuid() == 0:
            self.assert_code(hvtune("study", "abort", "--done"), 0)
        self.assert_code(done, 3)
        found = json.loads(done.out)
        self.assertIs(found["restored"], False)
        self.assertIn("by hand: echo it is busy >&2; exit 9", found["not_put_back"])

    def test_what_workloads_leave_running_is_told(self):
        text = RUN.format(folder=self.folder).replace("run: 'sleep", "run: 'sleep 3 & sleep")
        self.path.write_text(text, encoding="utf-8")
        done = self.run_study()
        self.assert_code(done, 0, 1, 3)
        self.assertEqual(" ".join(done.out.split()).count("a workload leaves processes running (sleep)"), 1, done.out)

    def test_load_of_others_is_told(self):
        self.path.write_text(RUN.format(folder=self.folder).replace("run: 'sleep", "run: 'sleep 0.7; sleep") + "budget: 15 s\n", encoding="utf-8")
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            json_ = self.run_study("--json")
            done = hvtune("study", "run", self.path, "--yes", "--no-store")
        finally:
            for other in others:
                other.kill()
                other.wait()
        self.assertRegex(" ".join(done.out.split()), "other processes used up to [0-9]+ % of the CPUs meanwhile")
        found = json.loads(json_.out)
        self.assertGreater(found["foreign"], 0.05)
        self.assertIs(found["restored"], True)

    def test_runs_too_short_for_their_meter(self):
        """A meter that is read too seldom for the runs is told as that, with what it takes."""
        meters = self.folder / "meters.conf"
        meters.write_text("[plug]\nkind = command\ncommand = echo 100\nperiod = 0.5\n", encoding="ascii")
        said = "too short for the meter .*plug.*, which is read every 0.5 s: it tells runs of 1.2 s or more"
        self.path.write_text(RUN.format(folder=self.folder) + "objectives: [energy]\nmeter: wall\n", encoding="utf-8")
        done = self.run_study("--meters", meters)
        self.assert_code(done, 3)
        self.assertRegex(" ".join((done.out + done.err).split()), said)
        self.assertNotIn("not measurable here", done.out + done.err)
        self.path.write_text(RUN.format(folder=self.folder).replace("{run: 'sleep", "{takes: 1 s, run: 'sleep") +
                             "objectives: [energy]\nmeter: wall\n", encoding="utf-8")
        done = hvtune("study", "check", self.path, "--meters", meters)
        self.assert_code(done, 1)
        self.assertRegex(" ".join(done.out.split()), "runs of 1 s are " + said)
        done = hvtune("compare", "--blocks", "6", "--no-calibration", "--meters", meters, "--no-store", "--", "sleep 0.1", "sleep 0.11")
        self.assertRegex(" ".join(done.out.split()), said)
        done = hvtune("run", "--runs", "3", "--meters", meters, "--no-store", "--", "sleep", "0.3")
        self.assert_code(done, 0)
        self.assertRegex(" ".join(done.out.split()), said)
        done = hvtune("run", "--runs", "2", "--meters", meters, "--no-store", "--", "sleep", "2.5")
        self.assertNotIn("too short", done.out)
        self.assertIn("wall energy", done.out)

    def test_runs_of_which_some_are_too_short(self):
        """How many have no joules is told, in the text, as JSON and in the report, and why."""
        meters = self.folder / "meters.conf"
        meters.write_text("[plug]\nkind = command\ncommand = echo 100\nperiod = 0.5\n", encoding="ascii")
        count = self.folder / "count"
        command = f"echo x >> {count}; test $(wc -l < {count}) -le 3 && sleep 0.2 || sleep 2"
        said = "energy: 2 of 4 runs have none: runs of 0.2[0-9]* s are too short for the meter"
        words = ("run", "--runs", "4", "--warmup", "1", "--meters", meters, "--store", self.store, "--", "sh", "-c", command)
        done = hvtune(*words)
        self.assert_code(done, 0)
        self.assertRegex(" ".join(done.out.split()), said)
        count.unlink()
        found = json.loads(hvtune(*words[:1], "--json", *words[1:]).out)["result"]["without_energy"]
        self.assertEqual((found["runs"], found["of"]), (2, 4))
        self.assertIn("too short for the meter", found["why"])
        report = json.loads(hvtune("report", "--store", self.store, "--json").out)
        self.assertRegex(" ".join(report["verdict"]), "E" + said[1:])
        # None lacks them, or all do: then it is told otherwise.
        found = json.loads(hvtune("run", "--json", "--runs", "2", "--meters", meters, "--no-store", "--", "sleep", "1.5").out)
        self.assertIsNone(found["result"]["without_energy"])

    def test_a_workload_that_is_too_short_among_others(self):
        """The joules of the other workloads are not those of the run."""
        meters = self.folder / "meters.conf"
        meters.write_text("[plug]\nkind = command\ncommand = echo 100\nperiod = 0.5\n", encoding="ascii")
        for order in ("  a: sleep 1.5\n  b: sleep 0.1\n", "  a: sleep 0.1\n  b: sleep 1.5\n"):
            self.path.write_text("study: two\nworkloads:\n" + order + "factors:\n  f:\n    levels:\n      one: as-found\n"
                                 "      two: {run: 'true', undo: 'true'}\nruns: [2, 2]\nconfirm: no\n"
                                 "meter: wall\n", encoding="utf-8")
            done = self.run_study("--meters", meters, "--json")
            self.assert_code(done, 0, 1)
            found = json.loads(done.out)
            for row in found["answer"]["configurations"]:
                self.assertIsNone(row["energy"], order)

    def test_void_runs_end_it_with_their_reason(self):
        self.path.write_text(RUN.format(folder=self.folder).replace("run: 'sleep", "run: 'echo no such thing >&2; exit 4; sleep"),
                             encoding="utf-8")
        done = self.run_study()
        self.assert_code(done, 3)
        self.assertIn("no such thing", done.err)
        self.assert_as_before()

    def test_ctrl_c(self):
        for number in (signal.SIGINT, signal.SIGQUIT):
            self.end_by(number)

    def end_by(self, number):
        self.path.write_text(RUN.format(folder=self.folder).replace("0.06", "5"), encoding="utf-8")
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(200):
            if (self.folder / "nap").read_text(encoding="ascii") != "0.05\n":
                break
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 3, out)
        # Its own directory: others may measure on this machine too.
        with sqlite3.connect(self.store) as database:
            uid, = database.execute("SELECT uid FROM session ORDER BY id DESC").fetchone()
        self.assertEqual(list(Path("/var/tmp").glob(f"hvtune-study-{uid[:12]}*")), [])
        self.assert_as_before()

    def impatient(self, process):
        """Ctrl-C again and again, until it is gone. Its output."""
        for _ in range(600):
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
            time.sleep(0.03)
        return process.communicate(timeout=20)

    def test_ctrl_c_again_and_again(self):
        """What is being put back, and written down as ended, is so before hvtune ends."""
        slow = f"echo 0.05 > {self.folder}/nap"
        for takes in (0, 0.4):
            self.path.write_text(RUN.format(folder=self.folder).replace(slow, f"sleep {takes}; {slow}"), encoding="utf-8")
            for wait in (0.02, 0.06, 0.1):
                with self.subTest(takes=takes, wait=wait):
                    self.store = self.folder / f"{takes}-{wait}.db"
                    process = self.begin()
                    time.sleep(wait)
                    out, err = self.impatient(process)
                    # On a machine that is slow to run this it may have ended before; it ends by no signal.
                    self.assertIn(process.returncode, (0, 1, 3), out + err)
                    self.assert_as_before()
                    self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")
                    if process.returncode == 3:
                        with sqlite3.connect(self.store) as database:
                            self.assertEqual(database.execute("SELECT state FROM session").fetchall(), [("stopped",)])

    def at_once(self, *commands):
        """Of commands that are started so close together: exit codes and what was said, by command."""
        started = []
        for command in commands:
            started.append(subprocess.Popen([HVTUNE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            time.sleep(0.004)
        said = [process.communicate(timeout=60) for process in started]
        return [(process.returncode, *texts) for process, texts in zip(started, said)]

    def assert_one(self, ended, names):
        """One of them ran, sure of its answer or not; the others say which, or that it goes on already."""
        ran = [at for at, (_, out, _) in enumerate(ended) if "Best for time" in out]
        self.assertEqual(len(ran), 1, ended)
        self.assertIn(ended[ran[0]][0], (0, 1), ended)
        for at, (code, out, err) in enumerate(ended):
            if at != ran[0] and not (code == 0 and f"Study {names[ran[0]]} goes on" in out):
                self.assertEqual(code, 3, ended)
                self.assertRegex(err, f"study {names[ran[0]]} (runs|is being ended)", ended)

    def test_two_at_once(self):
        names = ("sleepy", "drowsy", "tired")
        commands = []
        for name in names:
            path = self.folder / f"{name}.yaml"
            path.write_text(RUN.format(folder=self.folder).replace("sleepy", name) + "runs: 3\nconfirm: no\n",
                            encoding="utf-8")
            commands.append(("study", "run", path, "--yes", "--store", self.folder / f"{name}.db"))
        for _ in range(4):
            self.assert_one(self.at_once(*commands), names)
            self.assert_as_before()
            self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")

    def test_two_resumes_at_once(self):
        for at in range(3):
            self.store = self.folder / f"{at}.db"
            process = self.begin()
            self.assert_code(hvtune("study", "pause"), 0)
            process.communicate(timeout=20)
            resume = ("study", "resume", "--yes", "--store", self.store)
            self.assert_one(self.at_once(resume, resume, resume), ("sleepy",) * 3)
            self.assert_as_before()
            self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")

    def test_resume_goes_on_after_a_kill(self):
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            time.sleep(0.02)
            if self.runs() >= 5:
                break
        process.kill()
        process.wait()
        before = self.runs()
        done = hvtune("study", "resume", "--yes", "--store", self.store, "--json")
        self.assert_code(done, 0)
        found = json.loads(done.out)
        self.assertEqual(found["targets"][0]["best"], "nap=short")
        self.assertGreater(found["runs"], before)
        # What was measured before counts: only the rest was run, in a session of its own.
        self.assertEqual(found["runs"], self.runs())
        with sqlite3.connect(self.store) as database:
            sessions = database.execute("SELECT uid, study FROM session ORDER BY id").fetchall()
        self.assertEqual([study for _, study in sessions], [None, sessions[0][0]])
        self.assert_as_before()
        # It is answered: nothing more is run.
        self.assertEqual(json.loads(hvtune("study", "resume", "1", "--yes", "--store", self.store, "--json").out)["runs"],
                         found["runs"])

    def runs(self):
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as database:
                return database.execute("SELECT count(*) FROM run").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def begin(self):
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(1500):
            time.sleep(0.02)
            if self.runs() >= 3:
                break
        return process

    def test_pause_and_resume_from_elsewhere(self):
        process = self.begin()
        found = json.loads(hvtune("study", "status", "--json").out)
        self.assertEqual((found["state"], found["study"], found["boots_most"]), ("running", "sleepy", 0))
        # Two at a time would measure each other.
        done = self.run_study()
        self.assert_code(done, 3)
        self.assert_code(hvtune("study", "pause"), 0)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 3, out)
        self.assert_as_before()
        self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "paused")
        done = hvtune("study", "resume", "--yes", "--store", self.store, "--json")
        self.assert_code(done, 0)
        self.assertEqual(json.loads(done.out)["targets"][0]["best"], "nap=short")
        self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")
        self.assert_as_before()

    def test_abort_from_elsewhere(self):
        process = self.begin()
        self.assert_code(hvtune("study", "abort"), 0)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 3, out)
        self.assert_as_before()
        self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")

    def test_abort_while_a_level_is_taken_back(self):
        """What takes a level back is let go to its end: half of it is worse than none."""
        slow = f": > {self.folder}/nap; sleep 0.5; echo 0.05 > {self.folder}/nap"
        self.path.write_text(RUN.format(folder=self.folder).replace(f"echo 0.05 > {self.folder}/nap", slow),
                             encoding="utf-8")
        process = self.begin()
        for _ in range(1500):
            if not (self.folder / "nap").read_text(encoding="ascii"):
                break
            time.sleep(0.02)
        time.sleep(0.05)
        self.assert_code(hvtune("study", "abort"), 0)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 3, out)
        self.assert_as_before()

    def test_abort_of_one_that_was_killed(self):
        """What a level has made is taken back, though the one that made it is gone."""
        self.path.write_text(RUN.format(folder=self.folder).replace("0.06", "5"), encoding="utf-8")
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if (self.folder / "nap").read_text(encoding="ascii") != "0.05\n":
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
        self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "waiting")
        self.assert_code(hvtune("study", "abort"), 0)
        self.assert_as_before()
        self.assertEqual(json.loads(hvtune("study", "status", "--json").out)["state"], "none")

    def test_resume_of_what_is_no_study(self):
        hvtune("run", "--runs", 1, "--store", self.store, "--", "true")
        done = hvtune("study", "resume", "--yes", "--store", self.store)
        self.assert_code(done, 3)
        self.assertIn("no `hvtune study run`", done.err)

    def test_refusals(self):
        # Without somebody to ask nothing runs, not even to see how long it takes.
        self.path.write_text(RUN.format(folder=self.folder), encoding="utf-8")
        done = hvtune("study", "run", self.path, "--store", self.store)
        self.assert_code(done, 2)
        self.assertIn("--yes", done.err)
        self.assertFalse((self.folder / "setup").exists())
        self.path.write_text(RUN.format(folder=self.folder) + "vms: [x]\n", encoding="utf-8")
        for options, said in ((("--json",), "--yes"), (("--host", "/", "--yes"), "this machine")):
            done = hvtune("study", "run", self.path, *options)
            self.assert_code(done, 2)
            self.assertIn(said, done.err)
        self.path.write_text(RUN.format(folder=self.folder).replace("    levels:", "    needs: host-boot\n    levels:"),
                             encoding="utf-8")
        done = self.run_study()
        self.assert_code(done, 3)
        self.assertIn("host-boot", done.out)
        self.assert_as_before()

    def test_a_vm_that_is_not_there(self):
        """Its settings cannot even be looked at, which is told with the line."""
        for knob, value in (("vm.pins.next", "'0:0'"), ("vm.queues", 2), ("vm.pages", "2M"), ("guest.mitigations", "off")):
            with self.subTest(knob):
                self.path.write_text(RUN.format(folder=self.folder) + "vms: [nobodys]\n"
                                     f"baseline: {{nap: long}}\n", encoding="utf-8")
                text = self.path.read_text(encoding="utf-8").replace(
                    "factors:\n", f"factors:\n  vm: {{levels: {{found: as-found, other: {{set: {{{knob}@nobodys: {value}}}}}}}}}\n")
                self.path.write_text(text, encoding="utf-8")
                done = hvtune("study", "check", self.path)
                self.assert_code(done, 1)
                self.assertIn("vm=other", done.out)
                self.assertIn("s.yaml:5", done.out)

    def test_which_command_of_a_workload_fails(self):
        for key in ("setup", "prepare", "run", "cleanup"):
            with self.subTest(key):
                commands = {"run": "true", key: "exit 7"}
                words = ", ".join(f"{name}: '{command}'" for name, command in commands.items())
                self.path.write_text(f"study: s\nworkloads: {{w: {{{words}}}}}\n"
                                     "factors: {a: {levels: {x: as-found, y: {run: 'true', undo: 'true'}}}}\n", encoding="utf-8")
                done = self.run_study()
                self.assert_code(done, 3)
                self.assertIn(f"w: its {key} fails as the machine is now, with exit code 7", done.err)

    def test_a_limit_ends_it(self):
        """What exceeds a limit ends the study, told with the figure, and everything is put back; it can be gone on with."""
        watts = self.folder / "watts"
        watts.write_text("200\n", encoding="ascii")
        meters = self.folder / "meters.conf"
        meters.write_text(f"[plug]\nkind = command\ncommand = cat {watts}\nperiod = 0.5\n", encoding="ascii")
        self.path.write_text(RUN.format(folder=self.folder).replace("0.06", "20") + "limits: {power: 300 W}\nmeter: wall\n",
                             encoding="utf-8")
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store, "--meters", meters],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(200):
            if (self.folder / "nap").read_text(encoding="ascii") == "20\n":
                break
            time.sleep(0.05)
        began = time.monotonic()
        watts.write_text("450\n", encoding="ascii")
        out, _ = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(process.returncode, 3, out)
        self.assertRegex(" ".join(out.split()), "wall power is [34][0-9][0-9] W, above the limit of 300 W")
        self.assertIn("all settings are as before", " ".join(out.split()))
        self.assert_as_before()

    def test_a_limit_that_nothing_can_watch(self):
        meters = self.folder / "meters.conf"
        meters.write_text("[plug]\nkind = command\ncommand = false\n", encoding="ascii")
        self.path.write_text(RUN.format(folder=self.folder) + "limits: {power: 300 W}\nmeter: wall\n", encoding="utf-8")
        done = self.run_study("--meters", meters)
        self.assert_code(done, 3)
        self.assertIn("limits: power: no meter of the wall is readable here", " ".join(done.out.split()))
        self.assert_as_before()
