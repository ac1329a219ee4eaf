# SPDX-License-Identifier: GPL-3.0-or-later
"""hvtune idle: settling, the window, and what is said where nothing measures power."""
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import HVTUNE, hvtune
from test_run import Measuring

# It measures, or changes this machine.
ONE_AT_A_TIME = True


class Idle(Measuring):
    """The meter is a command that prints what stands in a file."""

    def setUp(self):
        super().setUp()
        self.watts = Path(self.folder.name) / "watts"
        self.watts.write_text("42.5\n", encoding="ascii")
        self.meters = Path(self.folder.name) / "meters.conf"
        self.meters.write_text(f"[plug]\nkind = command\ncommand = cat {self.watts}\nperiod = 0.5\n", encoding="ascii")

    def test_a_window(self):
        start = time.monotonic()
        done = hvtune("idle", "--settle", 0.5, "--window", 12, "--label", "quiet", "--json", "--meters", self.meters, env=self.env)
        took_s = time.monotonic() - start
        self.assert_code(done, 0)
        self.assert_clean(done)
        result = done.json()["result"]
        self.assertGreaterEqual(took_s, 12.4)
        self.assertEqual((result["settle_s"], result["window_s"], result["energy"]), (0.5, 12, "measured"))
        wall, = (metric for metric in result["metrics"] if metric["name"] == "wall power")
        self.assertEqual((wall["lowest"], wall["mean"]["estimate"]), (42.5, 42.5))
        self.assertEqual(self.rows("SELECT kind, name, state FROM session"), [("idle", "quiet", "done")])
        self.assertEqual(self.rows("SELECT count(*), min(took_ns) >= 1200000000 FROM run WHERE purpose = 'idle'"), [(10, 1)])

    def test_it_settles_before_the_limit(self):
        start = time.monotonic()
        done = hvtune("idle", "--settle", 40, "--window", 10, "--no-store", "--json", "--meters", self.meters, env=self.env)
        result = done.json()["result"]
        # Whether the load of this machine is flat is not ours to say; the limit holds in any case.
        self.assertEqual(result["settled"], result["settle_took_s"] < 40)
        self.assertLess(time.monotonic() - start, 40 + 10 + 15)

    def test_it_does_not_settle(self):
        with subprocess.Popen(["sh", "-c",
                               f"for i in 1 2 3 4 5 6; do echo $((100 - 10 * i)) >{self.watts}.new; mv {self.watts}.new {self.watts}; sleep 1; done"]):
            done = hvtune("idle", "--settle", 4, "--window", 10, "--no-store", "--meters", self.meters, env=self.env)
        self.assert_code(done, 0)
        self.assertIn("still moving", " ".join(done.out.split()))

    def test_text(self):
        done = hvtune("idle", "--settle", 0, "--window", 10, "--no-store", "--meters", self.meters, env=self.env)
        self.assert_code(done, 0)
        self.assert_clean(done)
        self.assertTrue(done.out.startswith("Idle, over 10 s, not waited for the machine to settle:\n"), done.out)
        self.assertIn("wall power: 42.50 W", done.out)
        self.assertRegex(done.out, r"CPUs: [\d.e+]+ % busy")

    def test_without_a_meter_it_does_not_wait(self):
        if hvtune("meters").code == 0:
            self.skipTest("this machine has a meter")
        start = time.monotonic()
        done = hvtune("idle", env=self.env)
        self.assertLess(time.monotonic() - start, 10)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("nothing measures power here; `hvtune meters`", done.err)
        self.assertEqual(self.rows("SELECT count(*) FROM session"), [(0,)])

    def test_ctrl_c(self):
        process = subprocess.Popen([HVTUNE, "idle", "--meters", self.meters], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, **self.env})
        time.sleep(2)
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
