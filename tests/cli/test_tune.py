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
        study.write_text("study: killed\nconfirm: no\nworkloads: {w: [sleep, '30']}\n"
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
        self.assertIn("hvtune undo", done.err)
        self.assert_code(hvtune("undo"), 0)
        self.assertEqual(settings(), before)

    def test_usage(self):
        for words, said in ((("--json",), "--yes"), (("--minutes", "0"), "--minutes"), (("--", ""), "empty")):
            done = hvtune("tune", *words)
            self.assert_code(done, 2)
            self.assertIn(said, done.err)
            self.assert_one_line(done.err)


if __name__ == "__main__":
    unittest.main()
