# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune tune` on this very machine: it keeps to its time, tells what it found, and leaves every setting as it was."""
import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import HVTUNE, TOP, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

SETTINGS = ("/sys/kernel/mm/transparent_hugepage/enabled", "/proc/sys/kernel/numa_balancing", "/proc/sys/vm/swappiness")


def settings():
    return {path: Path(path).read_text(encoding="ascii") for path in SETTINGS if Path(path).exists()}


class Tune(Test):
    def setUp(self):
        if os.geteuid() or not os.access(SETTINGS[0], os.W_OK):
            self.skipTest("settings of this machine cannot be changed from here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_short(self):
        before, began = settings(), time.monotonic()
        done = hvtune("tune", "--minutes", "0.1", "--yes", "--no-store", "--json", "--", "sleep", "0.01")
        took = time.monotonic() - began
        self.assertIn(done.code, (0, 1), done.err)
        found = json.loads(done.out)
        self.assertEqual(found["state"], "done")
        self.assertGreater(found["runs"], 1)
        self.assertIsNone(found["session"])
        self.assertEqual(settings(), before)
        self.assertGreater(took, 5)

    def test_status_knows_of_nothing_after_it(self):
        hvtune("tune", "--minutes", "0.05", "--yes", "--no-store", "--", "true")
        self.assertIn("Nothing of hvtune's is in force", hvtune("status").out)

    def test_the_study_of_the_file_is_the_same(self):
        done = hvtune("study", "check", TOP / "data/studies/quick.yaml", "--json")
        self.assertIn(done.code, (0, 1), done.err)
        self.assertEqual(json.loads(done.out)["study"], "quick")

    def test_killed(self):
        """What a killed study leaves is put back by undo, and no other begins before."""
        before = settings()
        study = self.folder / "s.yaml"
        study.write_text("study: killed\nconfirm: no\nworkloads: {w: {run: [sleep, '30'], takes: 30 s}}\n"
                         "factors:\n  s: {knob: swappiness, levels: [%d, %d]}\n"
                         "baseline: {s: %d}\n" % ((int(before[SETTINGS[2]]) % 100 + 1,
                                                   (int(before[SETTINGS[2]]) + 1) % 100 + 1) +
                                                  (int(before[SETTINGS[2]]) % 100 + 1,)), encoding="ascii")
        process = subprocess.Popen([HVTUNE, "study", "run", study, "--yes", "--no-store"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        for _ in range(200):
            if settings() != before:
                break
            time.sleep(0.05)
        self.assertNotEqual(settings(), before)
        time.sleep(3)
        process.kill()
        process.wait()
        done = hvtune("tune", "--minutes", "0.1", "--yes", "--no-store", "--", "true")
        self.assert_code(done, 3)
        self.assertIn("study killed was killed before its end", done.err)
        self.assertIn("hvtune study abort", done.err)
        self.assert_code(hvtune("undo"), 0)
        self.assertEqual(settings(), before)
        self.assert_code(hvtune("study", "abort"), 0)

    def test_killed_and_gone_on_with(self):
        """Its own workload, its directory and its time are those of the study that is gone on with, wherever that is asked."""
        before, store, log = settings(), self.folder / "r.db", self.folder / "log"
        process = subprocess.Popen([HVTUNE, "tune", "--minutes", "0.2", "--yes", "--store", store, "--", "sh", "-c",
                                    'pwd >> log; : "a\'b"; sleep 0.3'], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        for _ in range(200):
            if log.exists() and len(log.read_text(encoding="ascii").splitlines()) > 6:
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
        runs = len(log.read_text(encoding="ascii").splitlines())
        self.assertIn("was killed before its end: hvtune study resume", " ".join(hvtune("study", "status").out.split()))
        done = hvtune("study", "resume", "--yes", "--json", prefix=("env", "-C", "/"))
        self.assertIn(done.code, (0, 1), done.err)
        found = json.loads(done.out)
        self.assertEqual((found["study"], found["state"]), ("quick", "done"))
        lines = log.read_text(encoding="ascii").splitlines()
        self.assertGreater(len(lines), runs)
        self.assertEqual(set(lines), {str(self.folder.resolve())})
        self.assertGreater(found["runs"], len(lines) - runs)
        self.assertEqual(settings(), before)
        self.assertIn("no study runs", hvtune("study", "status").err)

    def test_what_somebody_changes_meanwhile_is_void(self):
        """Every setting that is compared is watched, and set anew after it was changed."""
        before = settings()
        self.addCleanup(Path(SETTINGS[2]).write_text, before[SETTINGS[2]], encoding="ascii")
        done = hvtune("compare", "--a", "swappiness=5", "--b", "swappiness=7", "--blocks", "6", "--no-calibration", "--no-store",
                      "--warmup", "0", "--", "sh", "-c", f"echo 50 > {SETTINGS[2]}")
        self.assert_code(done, 3)
        self.assertIn("void", done.out + done.err)
        self.assertIn("not put back, since somebody else has set it: swappiness holds 50", " ".join(done.out.split()))
        Path(SETTINGS[2]).write_text(before[SETTINGS[2]], encoding="ascii")
        study = self.folder / "s.yaml"
        for takes, said in (("", "swappiness holds 50 (before: "),
                            (", takes: 1 s", "Not put back, since somebody else has set it: swappiness holds 50 (before: ")):
            study.write_text(f"study: s\nworkloads: {{w: {{run: 'echo 50 > {SETTINGS[2]}'{takes}}}}}\n"
                             "factors:\n  swappiness: {knob: swappiness, levels: [5, 7]}\n", encoding="ascii")
            done = hvtune("study", "run", study, "--yes", "--no-store")
            self.assert_code(done, 3)
            self.assertIn(said, " ".join((done.out + done.err).split()))
            self.assertNotIn("all settings are as before", " ".join(done.out.split()))
            Path(SETTINGS[2]).write_text(before[SETTINGS[2]], encoding="ascii")
        log = self.folder / "log"
        script = self.folder / "job"
        script.write_text(f"#!/bin/sh\nread v < {SETTINGS[2]}\necho $v >> {log}\nsleep 0.02\n"
                          f"[ $(wc -l < {log}) -ne 4 ] || echo 50 > {SETTINGS[2]}\n", encoding="ascii")
        script.chmod(0o755)
        done = hvtune("compare", "--a", "swappiness=5", "--b", "swappiness=7", "--blocks", "8", "--no-calibration", "--no-store",
                      "--", script)
        self.assert_code(done, 0, 1)
        self.assertNotIn("50", log.read_text(encoding="ascii").split())

    def test_two_at_once(self):
        """One that begins while another one measures with settings of its own is refused."""
        first = subprocess.Popen([HVTUNE, "compare", "--a", "swappiness=5", "--b", "swappiness=7", "--blocks", "8",
                                  "--no-calibration", "--no-store", "--", "sleep", "0.2"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(1)
        done = hvtune("compare", "--a", "swappiness=9", "--b", "swappiness=11", "--no-calibration", "--no-store", "--", "true")
        self.assert_code(done, 3)
        self.assertIn("another hvtune", done.err)
        self.assertEqual(first.wait(timeout=60), 0)

    def test_a_mistake_of_the_command_line_has_no_line_of_a_file(self):
        done = hvtune("tune", "--", "/nowhere/x")
        self.assert_code(done, 3)
        self.assertIn('no workload  workload: there is no program "/nowhere/x"', done.out)
        self.assertNotIn(":0:", done.out)

    def test_usage(self):
        for words, said in ((("--json",), "--yes"), (("--minutes", "0"), "--minutes"), (("--", ""), "empty")):
            done = hvtune("tune", *words)
            self.assert_code(done, 2)
            self.assertIn(said, done.err)
            self.assert_one_line(done.err)


if __name__ == "__main__":
    unittest.main()
