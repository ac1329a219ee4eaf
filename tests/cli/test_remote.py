# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads on another machine: its clock measures, words arrive as they are, and a lost connection makes a run void."""
import os
import shlex
import unittest
from pathlib import Path

from harness import hvtune
from test_run import Measuring

# It measures, or changes this machine.
ONE_AT_A_TIME = True

# In ssh's place: it takes as long to connect as a slow one, then gives the words to a shell as sshd does.
SSH = """\
#!/bin/sh
sleep 0.4
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
[ "$host" = here ] || { echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255; }
cd / && exec sh -c "$*"
"""


class Remote(Measuring):
    def setUp(self):
        super().setUp()
        programs = Path(self.folder.name) / "bin"
        programs.mkdir()
        (programs / "ssh").write_text(SSH)
        (programs / "ssh").chmod(0o755)
        self.env["PATH"] = f"{programs}:{os.environ['PATH']}"

    def run_there(self, *arguments, code=0):
        done = hvtune("run", "--json", "--on", "ssh:here", *arguments, env=self.env)
        self.assert_code(done, code)
        return done.json()["result"]

    def test_the_clock_of_the_other_machine(self):
        result = self.run_there("--runs", 3, "--", "sleep", "0.1")
        self.assertGreaterEqual(result["minimum"], 0.1)
        self.assertLess(result["minimum"], 0.35)
        self.assertEqual(self.rows("SELECT place FROM configuration"), [("ssh:here",)])
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.assertEqual(self.rows("SELECT DISTINCT clock, vm_boot FROM run"), [(os.uname().nodename, boot)])

    def test_words_arrive_as_they_are(self):
        for words in (["a  b", "$HOME", "it's", "`x`", '"q"', "*", "\\"], ["", "x"], ["a\nb"]):
            script = "import sys; print(len(sys.argv) - 1 + (sys.argv[1:] == " + repr(words) + ") * 100)"
            result = self.run_there("--runs", 1, "--warmup", 0, "--metric", "x=regex:([0-9]+)", "--", "python3", "-c", script, *words)
            self.assertEqual(result["values"], [100 + len(words)], shlex.join(words))

    def test_surroundings(self):
        result = self.run_there("--runs", 1, "--warmup", 0, "--cwd", self.folder.name, "--env", "A=4 2", "--metric", "x=regex:(.*)",
                                "--shell", "--", '[ "$PWD" = ' + self.folder.name + ' ] && [ "$A" = "4 2" ] && echo 7')
        self.assertEqual(result["values"], [7])
        result = self.run_there("--runs", 1, "--warmup", 0, "--exit-code", 3, "--", "sh", "-c", "exit 3")
        self.assertEqual(result["runs"], 1)

    def test_cpu_time(self):
        result = self.run_there("--runs", 1, "--warmup", 0, "--shell", "--",
                                "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done")
        user = next(metric["mean"] for metric in result["metrics"] if metric["name"] == "user time")
        self.assertGreater(user, 0.02)
        self.assertLessEqual(user, result["minimum"] * 1.5)

    def test_what_fails(self):
        result = self.run_there("--", "sh", "-c", "echo broken >&2; exit 9", code=1)
        self.assertEqual(result["void"], 3)
        self.assertEqual(self.rows("SELECT DISTINCT why FROM run"), [("exit code 9: broken",)])
        done = hvtune("run", "--on", "ssh:nowhere", "--", "true", env=self.env)
        self.assert_code(done, 1)
        self.assertIn("No route to host", " ".join(done.out.split()))
        done = hvtune("run", "--on", "ssh:here", "--setup", "sh -c 'echo no >&2; exit 2'", "--", "true", env=self.env)
        self.assert_code(done, 3)
        self.assertEqual(done.err, "hvtune: --setup: this command failed with exit code 2: no\n")
        for where in ("here", "ssh:", "vm:", "vmx:web1"):
            done = hvtune("run", "--on", where, "--", "true", env=self.env)
            self.assert_code(done, 2)
            self.assertIn("ssh:HOST", done.err)

    def test_compare(self):
        done = hvtune("compare", "--on", "ssh:here", "--no-calibration", "--blocks", 3, "--warmup", 0, "--metric",
                      "x=regex:([0-9]+)", "echo 100", "echo 120", env=self.env)
        self.assert_code(done, 0)
        self.assertIn("echo 120 has 20", " ".join(done.out.split()))


if __name__ == "__main__":
    unittest.main()
