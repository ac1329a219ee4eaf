# SPDX-License-Identifier: GPL-3.0-or-later
"""hvtune idle: settling, the window, and what is said where nothing measures power."""
import os
import signal
import subprocess
import time
import unittest

from harness import HVTUNE, hvtune
from test_run import Measuring


class Idle(Measuring):
    def test_a_window(self):
        start = time.monotonic()
        done = hvtune("idle", "--settle", 0.5, "--window", 1, "--label", "quiet", "--json", env=self.env)
        took_s = time.monotonic() - start
        self.assert_code(done, 0, 1)
        self.assert_clean(done)
        result = done.json()["result"]
        self.assertGreaterEqual(took_s, 1.5)
        self.assertEqual((result["settle_s"], result["window_s"]), (0.5, 1))
        watts = [metric for metric in result["metrics"] if metric["unit"] == "W"]
        self.assertEqual(bool(watts), result["energy"] == "measured")
        self.assertEqual(done.code, 0 if watts else 1)
        for metric in watts:
            self.assertLess(metric["lowest"], metric["mean"]["estimate"] + 1e-9)
            self.assertGreater(metric["lowest"], 0)
        self.assertEqual(self.rows("SELECT kind, name, state FROM session"), [("idle", "quiet", "done")])
        self.assertEqual(self.rows("SELECT count(*), min(took_ns) >= 100000000 FROM run WHERE purpose = 'idle'"), [(10, 1)])

    def test_text(self):
        done = hvtune("idle", "--settle", 0, "--window", 6, "--no-store", env=self.env)
        self.assert_code(done, 0, 1)
        self.assert_clean(done)
        self.assertTrue(done.out.startswith("Idle, over 6 s after 0 s to settle:\n"), done.out)
        self.assertRegex(done.out, r"power|energy: not measurable here")
        self.assertRegex(done.out, r"CPUs: [\d.e+]+ % busy")

    def test_ctrl_c(self):
        process = subprocess.Popen([HVTUNE, "idle"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **self.env})
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, err), (3, "hvtune: stopped\n"), out)
        self.assertEqual(self.rows("SELECT state FROM session"), [("stopped",)])

    def test_usage(self):
        for arguments in (["now"], ["--window", "0"], ["--settle", "-1"], ["--settle", "x"]):
            done = hvtune("idle", *arguments, env=self.env)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)


if __name__ == "__main__":
    unittest.main()
