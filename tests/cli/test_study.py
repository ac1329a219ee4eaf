# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune study check` from outside: what is shown, every mistake with its line, and that nothing is touched."""
import json
import tempfile
from pathlib import Path

from harness import Test, hvtune

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

    def test_fine(self):
        done = self.study(STUDY + "never: [{epp: balance_performance, governor: performance}]\n")
        self.assert_code(done, 0)
        self.assertIn("3 configurations", done.out)
        self.assertIn("It can be done on this machine", done.out)

    def test_json(self):
        done = self.study(STUDY, "--json")
        self.assert_code(done, 1)
        found = json.loads(done.out)
        self.assertEqual(found["schema"], 1)
        self.assertEqual(found["configurations"], 4)
        self.assertEqual([(p["kind"], p["line"], p["blocks"]) for p in found["problems"]], [("pair", 6, True)])
        self.assertEqual(found["switches"]["live"], 4)

    def test_every_mistake_with_its_line(self):
        done = self.study("study: s\nworkloads: {w: make}\nfactors:\n  f: {knob: governr, levels: [a, b]}\nbudget: 8\n")
        self.assert_code(done, 2)
        self.assertEqual(done.out, "")
        lines = done.err.strip().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("s.yaml:4:", lines[0])
        self.assertIn('did you mean "governor"', lines[0])
        self.assertIn("s.yaml:5:", lines[1])

    def test_usage(self):
        for words, said in (((), "check"), (("chek",), "chek"), (("check",), "one FILE")):
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
