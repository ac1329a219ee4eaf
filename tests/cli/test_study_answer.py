# SPDX-License-Identifier: GPL-3.0-or-later
"""What `hvtune study` answers, with watts of a meter that follows the settings; and `study apply`, which keeps it."""
import json
import os
import re
import sqlite3
import tempfile
import unittest
from pathlib import Path

from harness import Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

# Short runs are faster and take more energy; the level short leaves 30 W behind that only a boot would take away.
STUDY = """study: watts
workloads:
  nap: {{run: 'sleep $(cat {folder}/nap)'}}
factors:
  nap:
    levels:
      long: {{run: 'echo 0.60 > {folder}/nap', undo: 'true'}}
      short: {{run: 'echo 0.35 > {folder}/nap; echo 130 > {folder}/watts',
               undo: 'echo 0.60 > {folder}/nap; echo {after} > {folder}/watts'}}
idle: {{settle: 0.5 s, window: 3 s}}
within: 20 %
runs: 3
confirm: no
objectives: {objectives}
"""


class Answer(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "nap").write_text("0.60\n", encoding="ascii")
        (self.folder / "watts").write_text("60\n", encoding="ascii")
        self.path = self.folder / "s.yaml"
        self.store = self.folder / "results.db"
        self.meters = self.folder / "meters.conf"
        self.meters.write_text(f"[plug]\nkind = command\ncommand = cat {self.folder}/watts\nboundary = wall\n"
                               "period = 0.1\n", encoding="ascii")

    def run_study(self, objectives, *options, after=60, meters=True):
        self.path.write_text(STUDY.format(folder=self.folder, objectives=objectives, after=after), encoding="utf-8")
        more = ("--meters", self.meters) if meters else ()
        return hvtune("study", "run", self.path, "--yes", "--store", self.store, *more, *options)

    def answer(self, objectives, **options):
        done = self.run_study(objectives, "--json", **options)
        self.assertIn(done.code, (0, 1), done.err)
        return json.loads(done.out)["answer"]

    def picks(self, answer):
        return {pick["pick"]: pick["configuration"] for pick in answer["picks"]}

    def test_fast_against_efficient(self):
        answer = self.answer("[time, energy]")
        self.assertEqual(self.picks(answer), {"fastest": "nap=short", "efficient": "nap=long", "near": "nap=short",
                                              "knee": "nap=short", "idle": None})
        rows = {row["name"]: row for row in answer["configurations"]}
        self.assertTrue(rows["nap=long"]["front"] and rows["nap=short"]["front"])
        # However long the runs take on a busy machine: 60 and 130 W all the time.
        for name, watts in (("nap=long", 60), ("nap=short", 130)):
            row = rows[name]
            self.assertAlmostEqual(row["energy"]["value"]["estimate"] / row["time"]["value"]["estimate"], watts, delta=watts / 8)
        self.assertLess(rows["nap=short"]["time"]["ratio"]["high"], .85)
        shares = answer["shares"]["time"]
        self.assertEqual([lever["factor"] for lever in shares["levers"]], ["nap"])
        self.assertAlmostEqual(shares["total"]["estimate"], shares["levers"][0]["share"]["estimate"], places=6)
        for pick in answer["picks"][:2]:
            # How sure it can be depends on how quiet the machine is.
            self.assertLess(pick["bad"], .5)
            self.assertLessEqual(pick["gain"], pick["regret"])

    def test_idle_watts_and_the_trace(self):
        answer = self.answer("[time, idle-watts]", after=90)
        idle = {row["name"]: row for row in answer["idle"]}
        # The runs had left the trace before the first window, which is told by no window: 90 W before and after.
        self.assertEqual(list(idle), ["nap=long", "nap=short"])
        self.assertAlmostEqual(idle["nap=short"]["watts"]["estimate"], 130, delta=1)
        self.assertAlmostEqual(idle["nap=short"]["over_baseline"]["estimate"], 40, delta=1)
        self.assertEqual(idle["nap=short"]["windows"], 1)
        self.assertEqual(idle["nap=long"]["windows"], 2)
        self.assertEqual(self.picks(answer)["idle"], "nap=long")
        self.assertEqual((self.folder / "nap").read_text(encoding="ascii"), "0.60\n")
        with sqlite3.connect(self.store) as database:
            windows = database.execute("SELECT count(DISTINCT block) FROM run WHERE purpose = 'idle'").fetchone()[0]
        self.assertEqual(windows, 3)

    def test_idle_alone_shows_the_trace(self):
        done = self.run_study("[idle-watts]", after=90)
        self.assertIn(done.code, (0, 1), done.err)
        text = " ".join(done.out.split())
        self.assertIn("it leaves a trace", text)
        self.assertIn("drew +30.0 W", text)
        self.assertIn("lowest idle watts: nap=long", text)
        # What is resumed finds all of it in the store.
        again = hvtune("study", "resume", "--yes", "--store", self.store, "--meters", self.meters, "--json")
        idle = {row["name"]: row for row in json.loads(again.out)["answer"]["idle"]}
        self.assertAlmostEqual(idle["nap=short"]["trace"]["estimate"], 30, delta=1)
        self.assertTrue(idle["nap=short"]["left"])
        self.assertAlmostEqual(idle["nap=long"]["watts"]["estimate"], 60, delta=1)
        self.assertEqual(json.loads(again.out)["runs"], 3)

    def test_a_limit_of_idle_watts(self):
        answer = self.answer("[time, {idle-watts: 100 W}]")
        self.assertEqual(self.picks(answer)["fastest"], "nap=long")
        rows = {row["name"]: row for row in answer["configurations"]}
        self.assertEqual((rows["nap=short"]["idle-watts"]["limit"], rows["nap=short"]["allowed"]), ("breaks", False))
        self.assertEqual((rows["nap=long"]["idle-watts"]["limit"], rows["nap=long"]["allowed"]), ("keeps", True))

    def test_without_a_meter(self):
        probe = hvtune("meters", "--json")
        if probe.code == 0:
            self.skipTest("this machine measures energy by itself")
        done = self.run_study("[time, {idle-watts: 100 W}]", "--json", meters=False)
        self.assertIn(done.code, (0, 1), done.err)
        answer = json.loads(done.out)["answer"]
        self.assertEqual(self.picks(answer)["fastest"], "nap=short")
        self.assertTrue(answer["idle_why"])
        alone = self.run_study("[idle-watts]", "--json", meters=False)
        self.assert_code(alone, 3)

    def test_a_slow_meter_measures_the_window_at_once(self):
        self.meters.write_text(self.meters.read_text(encoding="ascii").replace("0.1", "1"), encoding="ascii")
        done = hvtune("idle", "--settle", "0", "--window", "4", "--meters", self.meters, "--no-store", "--json")
        self.assertIn(done.code, (0, 1), done.err)
        watts = [metric for metric in json.loads(done.out)["result"]["metrics"] if metric["name"] == "wall power"]
        self.assertEqual(len(watts), 1)
        self.assertAlmostEqual(watts[0]["mean"]["estimate"], 60, delta=.5)

    def test_what_cannot_be_measured_is_given_up(self):
        text = STUDY.format(folder=self.folder, objectives="[time]", after=60)
        self.path.write_text(text.replace("    levels:\n", "    levels:\n      broken: {run: 'echo x > %s/nap', undo: 'true'}\n"
                                          % self.folder) + "baseline: {nap: long}\n", encoding="utf-8")
        done = hvtune("study", "run", self.path, "--yes", "--store", self.store, "--json")
        self.assertIn(done.code, (0, 1), done.err)
        answer = json.loads(done.out)["answer"]
        rows = {row["name"]: row for row in answer["configurations"]}
        self.assertTrue(rows["nap=broken"]["given_up"])
        # One of the four may have been to warm up.
        self.assertEqual(rows["nap=broken"]["runs"], 0)
        self.assertIn(rows["nap=broken"]["void"], (3, 4))
        self.assertEqual(self.picks(answer)["fastest"], "nap=short")
        # Whichever of them comes first.
        for seed in (1, 2, 5):
            with self.subTest(seed):
                self.path.write_text(f"study: s\nworkloads: {{w: 'sleep 0.01; test ! -e {self.folder}/bad'}}\nseed: {seed}\n"
                                     f"factors: {{a: {{levels: {{x: as-found, y: {{run: 'touch {self.folder}/bad', "
                                     f"undo: 'rm {self.folder}/bad'}}}}}}}}\nruns: 3\nconfirm: no\n", encoding="utf-8")
                done = hvtune("study", "run", self.path, "--yes", "--store", self.folder / "seeds.db", "--json")
                self.assertIn(done.code, (0, 1), done.err)
                rows = {row["name"]: row for row in json.loads(done.out)["answer"]["configurations"]}
                self.assertTrue(rows["a=y"]["given_up"])
                self.assertGreaterEqual(rows["a=x"]["runs"], 3)
        refused = hvtune("study", "apply", "--pick", "nap=broken", "--store", self.store, "--dry-run")
        self.assert_code(refused, 3)
        self.assert_one_line(refused.err)


SWAPPINESS = "/proc/sys/vm/swappiness"
KNOBS = """study: swap
workloads:
  nap: {{run: 'case $(cat {path}) in 7) sleep 0.02;; *) sleep 0.06;; esac'}}
factors:
  s: {{knob: swappiness, levels: [{now}, 7]}}
  hook: {{levels: {{off: {{run: 'true', undo: 'true'}}, on: {{run: ':', undo: ':'}}}}}}
within: 40 %
runs: 4
confirm: no
"""


class Apply(Test):
    def setUp(self):
        if os.geteuid() or not os.access(SWAPPINESS, os.W_OK):
            self.skipTest("settings of this machine cannot be changed from here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "results.db"
        now = Path(SWAPPINESS).read_text(encoding="ascii").strip()
        self.now = now
        path = self.folder / "s.yaml"
        path.write_text(KNOBS.format(path=SWAPPINESS, now=now if now != "7" else "60"), encoding="utf-8")
        done = hvtune("study", "run", path, "--yes", "--store", self.store, "--json")
        self.assertIn(done.code, (0, 1), done.err)
        self.fastest = json.loads(done.out)["answer"]["picks"][0]["configuration"]
        self.assertTrue(self.fastest.startswith("s=7 "), self.fastest)
        self.assertEqual(Path(SWAPPINESS).read_text(encoding="ascii").strip(), now)
        self.root = self.folder / "root"
        (self.root / "proc/sys/vm").mkdir(parents=True)
        (self.root / "sys").mkdir()
        self.file = self.root / "proc/sys/vm/swappiness"
        self.file.write_text("60\n", encoding="ascii")

    def apply(self, *options, host=True):
        where = ("--host", self.root) if host else ()
        return hvtune("study", "apply", "--store", self.store, *where, *options)

    def test_apply_and_undo(self):
        look = self.apply("--pick", "fastest", "--dry-run")
        self.assert_code(look, 0)
        self.assertIn("swappiness", look.out)
        self.assertEqual(self.file.read_text(encoding="ascii"), "60\n")
        done = self.apply("--pick", "fastest", "--yes", "--not-sure")
        self.assert_code(done, 0)
        self.assertEqual(self.file.read_text(encoding="ascii").strip(), "7")
        # The hook is for who wrote it.
        self.assertIn("hook=", done.err)
        self.assertIn("run it yourself", done.err)
        self.assertIn("study apply swap", hvtune("status", "--host", self.root).out)
        self.assert_code(hvtune("undo", "--host", self.root), 0)
        self.assertEqual(self.file.read_text(encoding="ascii").strip(), "60")

    def test_what_is_not_sure(self):
        """A study that has not come to its end, or is not sure of its pick, is not taken over unasked."""
        with sqlite3.connect(self.store) as database:
            verdict = json.loads(database.execute("SELECT verdict FROM session").fetchone()[0])
            for pick in verdict["answer"]["picks"]:
                pick.update(sure=True, unsure=None)
            database.execute("UPDATE session SET verdict = ?, state = 'done'", (json.dumps(verdict),))
        self.assertNotIn("not as sure", self.apply("--pick", "fastest", "--dry-run").err)
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET state = 'failed', why = 'the workload is gone'")
        self.refused("did not come to its end (the workload is gone)")
        for pick in verdict["answer"]["picks"]:
            pick.update(sure=False, unsure="3 of 4 configurations were not measured", bad=None)
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET verdict = ?, state = 'done', why = NULL", (json.dumps(verdict),))
        done = self.refused("3 of 4 configurations were not measured")
        self.assertNotIn("by the runs", done.err)
        shown = hvtune("results", "show", "--store", self.store, env={"COLUMNS": "200"})
        self.assertIn("not sure: 3 of 4 configurations were not measured", " ".join(shown.out.split()))
        done = self.apply("--pick", "fastest", "--yes", "--not-sure")
        self.assert_code(done, 0)
        self.assertIn("3 of 4 configurations were not measured", done.err)
        self.assertEqual(self.file.read_text(encoding="ascii").strip(), "7")

    def refused(self, why):
        done = self.apply("--pick", "fastest", "--yes")
        self.assert_code(done, 1)
        self.assertIn(why, done.err)
        self.assertIn("--not-sure", done.err)
        self.assertEqual(self.file.read_text(encoding="ascii"), "60\n")
        look = self.apply("--pick", "fastest", "--dry-run")
        self.assert_code(look, 0)
        self.assertIn(why, look.err)
        return done

    def test_json_and_names(self):
        found = self.apply("--pick", self.fastest, "--dry-run", "--json")
        self.assert_code(found, 0)
        self.assertEqual(json.loads(found.out)["asks"], ["swappiness=7"])

    def test_a_name_that_is_no_pick(self):
        """Whoever takes another than the picks is told how it compares, and has to say that it is meant."""
        with sqlite3.connect(self.store) as database:
            verdict = json.loads(database.execute("SELECT verdict FROM session").fetchone()[0])
        other = next(row["name"] for row in verdict["answer"]["configurations"] if row["name"][:4] != "s=7 ")
        done = self.apply("--pick", other, "--yes")
        self.assert_code(done, 1)
        self.assertRegex(done.err, r"is not what the study picks: time [0-9.]+ % more than fastest \(s=7 ")
        self.assertIn("--not-sure", done.err)
        self.assertEqual(self.file.read_text(encoding="ascii"), "60\n")
        look = self.apply("--pick", other, "--dry-run")
        self.assertIn("is not what the study picks", look.err)
        self.assert_code(self.apply("--pick", other, "--yes", "--not-sure"), 0)
        # By its name a pick is as sure as by its word.
        for pick in verdict["answer"]["picks"]:
            pick.update(sure=False, unsure="3 of 4 configurations were not measured", bad=None)
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET verdict = ?, state = 'done'", (json.dumps(verdict),))
        done = self.apply("--pick", self.fastest, "--yes")
        self.assert_code(done, 1)
        self.assertIn("3 of 4 configurations were not measured", done.err)

    def test_near_by_another_share(self):
        """The study's own rule decided it for every share: the last that is not larger."""
        with sqlite3.connect(self.store) as database:
            verdict = json.loads(database.execute("SELECT verdict FROM session").fetchone()[0])
        answer = verdict["answer"]
        self.assertEqual(answer["near"], [])
        other = next(row["name"] for row in answer["configurations"] if row["name"][:4] != "s=7 ")
        sure = {"pick": "near", "why": None, "sought": False, "sure": True, "unsure": None, "bad": .001}
        answer["near"] = [{**sure, "slower": 0, "configuration": self.fastest},
                          {**sure, "slower": .2, "configuration": other, "sure": False, "unsure": "few runs"}]
        answer["picks"][2].update(answer["near"][0])
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET verdict = ?, state = 'done'", (json.dumps(verdict),))
        self.assertIn(self.fastest, self.apply("--pick", "near", "--slower", "19", "--dry-run").out)
        found = self.apply("--pick", "near", "--slower", "20", "--yes")
        self.assert_code(found, 1)
        self.assertIn(f"that {other} is the best is not as sure as was asked for: few runs", found.err)
        answer["near"] = []
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET verdict = ?", (json.dumps(verdict),))
        found = self.apply("--pick", "near", "--slower", "20", "--dry-run")
        self.assert_code(found, 3)
        self.assertIn("for its own share only", found.err)

    def test_this_machine(self):
        done = self.apply("--pick", "fastest", "--dry-run", host=False)
        self.assert_code(done, 0)
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET host = 'elsewhere'")
        done = self.apply("--pick", "fastest", "--dry-run", host=False)
        self.assert_code(done, 3)
        self.assertIn("elsewhere", done.err)
        self.assertIn("--measured-elsewhere", done.err)
        self.assert_code(self.apply("--pick", "fastest", "--dry-run", "--measured-elsewhere", host=False), 0)
        with sqlite3.connect(self.store) as database:
            facts = json.loads(database.execute("SELECT facts FROM session").fetchone()[0])
            facts["os.kernel_release"] = "6.0.0-old"
            database.execute("UPDATE session SET host = NULL, facts = ?", (json.dumps(facts),))
        done = self.apply("--pick", "fastest", "--dry-run", host=False)
        self.assert_code(done, 3)
        self.assertIn("kernel 6.0.0-old", done.err)
        # What was measured under several kernels holds under any; that the file was changed since is found after that.
        with sqlite3.connect(self.store) as database:
            method = json.loads(database.execute("SELECT method FROM session").fetchone()[0])
            method["file"] = re.sub("hook: .*", "hook: {levels: {off: {set: {boot.kernel: 6.1.9}}, "
                                    "on: {set: {boot.kernel: 6.2.9}}}}", method["file"])
            database.execute("UPDATE session SET method = ?", (json.dumps(method),))
        done = self.apply("--pick", "fastest", "--dry-run", host=False)
        self.assert_code(done, 3)
        self.assertNotIn("6.0.0-old", done.err)
        self.assertIn("what its levels set now is not what was measured", done.err)

    def test_refusals(self):
        for options, code, said in ((("--dry-run",), 2, "--pick"), (("--pick", "s=9 hook=on", "--dry-run"), 3, "not measured"),
                                    (("--pick", "efficient", "--dry-run"), 3, "energy was not measured"),
                                    (("--pick", "idle", "--dry-run"), 3, "idle"),
                                    (("--pick", "fastest", "--json"), 2, "--json"),
                                    (("--pick", "fastest", "--slower", "8", "--dry-run"), 2, "near"),
                                    (("--pick", "fastest"), 2, "terminal")):
            done = self.apply(*options)
            self.assert_code(done, code)
            self.assertIn(said, done.err)
            self.assertEqual(self.file.read_text(encoding="ascii"), "60\n")
        other = hvtune("study", "check", "x.yaml", "--pick", "fastest")
        self.assert_code(other, 2)
        self.assertIn("goes with study apply", other.err)
        with sqlite3.connect(self.store) as database:
            database.execute("UPDATE session SET verdict = NULL")
        done = self.apply("--pick", "fastest", "--dry-run")
        self.assert_code(done, 3)
        self.assertIn("study resume", done.err)


if __name__ == "__main__":
    unittest.main()
