# SPDX-License-Identifier: GPL-3.0-or-later
"""hvtune compare: verdicts on commands whose times are known, on A and A under a drifting load beside hyperfine, settings
that are put back after any end, and what it refuses."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

from harness import HVTUNE, Test, hvtune
from test_run import Measuring
from test_set import Machine

# It measures, or changes this machine.
ONE_AT_A_TIME = True


class Comparing(Measuring):
    def compare(self, *arguments, code=0, env=None):
        done = hvtune("compare", "--json", *arguments, env={**self.env, **(env or {})}, timeout=300)
        self.assert_code(done, code)
        self.assert_clean(done)
        return done.json()

    def ratio(self, answer, name="wall time"):
        """Ratio, low and high of the second to the first, and the words."""
        metric = next(metric for metric in answer["result"]["metrics"] if metric["name"] == name)
        return metric["estimates"][1]["beside_first"]


class Commands(Comparing):
    def test_one_is_slower(self):
        done = hvtune("compare", "--no-calibration", "sleep 0.05", "sleep 0.08", env=self.env)
        self.assert_code(done, 0)
        self.assert_clean(done)
        text = " ".join(done.out.split())
        self.assertRegex(text, r"^sleep 0\.08 takes [4-7]\d(\.\d+)? % more time than sleep 0\.05 \(")
        self.assertIn("Energy: ", text)
        self.assertIn("blocks in random order, looked at after each from the 5th", text)
        self.assertIn("ended because: it is decided", text)

    def test_values_that_are_known(self):
        # What is printed decides: 100 and 103, always the same.
        answer = self.compare("--metric", "x:MB:more=regex:([0-9]+)", "echo 100", "echo 103")
        self.assertEqual(answer["summary"]["metric"], "x")
        self.assertEqual((answer["summary"]["end"], answer["summary"]["blocks"]), ("it is decided", 5))
        self.assertFalse(answer["summary"]["calibration"]["alarm"])
        difference = self.ratio(answer, "x")
        self.assertAlmostEqual(difference["ratio"], 1.03)
        self.assertIn("higher", difference["words"])

    def test_no_difference_larger_than(self):
        script = Path(self.folder.name) / "near"
        count = Path(self.folder.name) / "count"
        # 1000 and 1001 in turn, whoever asks: the two are alike within 0.2 %.
        script.write_text(f"#!/bin/sh\nn=$(cat {count} 2>/dev/null || echo 0); echo $((n + 1)) > {count}\n"
                          "echo $((1000 + n % 2))\n")
        script.chmod(0o755)
        done = hvtune("compare", "--metric", "x=regex:([0-9]+)", f"{script} a", f"{script} b", env=self.env)
        self.assert_code(done, 0)
        self.assertRegex(" ".join(done.out.split()), r"no difference in x larger than 0\.\d+ %")

    def test_fail_if_slower(self):
        arguments = ["--no-calibration", "--metric", "x=regex:([0-9]+)", "echo 100", "echo 110"]
        self.compare("--fail-if-slower", 5, *arguments, code=1)
        self.compare("--fail-if-slower", 15, *arguments)
        self.compare(*arguments)
        self.compare("--fail-if-slower", 5, "--no-calibration", "--metric", "x::more=regex:([0-9]+)", "echo 100", "echo 90",
                     code=1)

    def test_three(self):
        answer = self.compare("--no-calibration", "--metric", "x=regex:([0-9]+)", "echo 100", "echo 101", "echo 90")
        self.assertEqual((answer["summary"]["blocks"], answer["summary"]["end"]), (8, "as many blocks as asked for"))
        self.assertEqual(len(self.rows("SELECT id FROM configuration")), 3)
        self.assertIn("90", answer["result"]["verdict"][0])

    def test_blocks_are_random_and_repeatable(self):
        orders = []
        for seed in (7, 7, 8):
            self.compare("--no-calibration", "--blocks", 12, "--seed", seed, "--warmup", 0, "true", "true")
            orders.append(self.rows("SELECT run_order FROM block WHERE session = (SELECT max(id) FROM session) ORDER BY id"))
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        self.assertEqual({order for order, in orders[0]}, {"[0,1]", "[1,0]"})

    def test_a_seed_of_chance_can_be_given_again(self):
        found = []
        for seed in ((), ("--seed",)):
            words = (*seed, *(str(found[0][0]) for _ in seed))
            self.compare("--no-calibration", "--blocks", 12, *words, "--warmup", 0, "true", "true")
            method, = self.rows("SELECT method FROM session ORDER BY id DESC LIMIT 1")
            orders = self.rows("SELECT run_order FROM block WHERE session = (SELECT max(id) FROM session) ORDER BY id")
            found.append((json.loads(method[0])["seed"], orders))
        self.assertGreaterEqual(found[0][0], 0)
        self.assertEqual(found[0], found[1])

    def test_a_block_with_a_void_run_is_repeated(self):
        script = Path(self.folder.name) / "flaky"
        count = Path(self.folder.name) / "count"
        script.write_text(f"#!/bin/sh\nn=$(cat {count} 2>/dev/null || echo 0); echo $((n + 1)) > {count}\n"
                          "[ $((n % 7)) -ne 6 ] || exit 3\necho 5\n")
        script.chmod(0o755)
        answer = self.compare("--no-calibration", "--blocks", 6, "--metric", "x=regex:([0-9]+)", f"{script} a", f"{script} b")
        self.assertEqual(answer["summary"]["blocks"], 6)
        self.assertGreater(answer["summary"]["void_blocks"], 0)
        self.assertIn(("exit code 3",), self.rows("SELECT DISTINCT why FROM run WHERE state = 'invalid'"))

    def test_switch(self):
        where = Path(self.folder.name) / "value"
        script = Path(self.folder.name) / "switch"
        script.write_text(f"#!/bin/sh\ncase $1 in A) echo 100;; B) echo 120;; esac > {where}\n")
        script.chmod(0o755)
        answer = self.compare("--no-calibration", "--metric", "x=regex:([0-9]+)", "--switch", script, "--", "cat", where)
        self.assertAlmostEqual(self.ratio(answer, "x")["ratio"], 1.2)

    def test_without_a_valid_run(self):
        done = hvtune("compare", "--no-calibration", "false", "true", env=self.env)
        self.assertIn("Not compared", done.out)
        self.assertIn("false: no valid run", done.out)
        self.assertNotIn("nan", done.out)
        self.assertNotIn("- s", done.out)

    def test_usage(self):
        for arguments, what in [
                ([], "two commands"), (["true"], "two commands"), (["--a", "now", "--", "true"], "needs --b"),
                (["--b", "now", "--", "true"], "--b needs --a"), (["--a", "now", "--b", "now"], "needs a command"),
                (["--a", "", "--b", "", "--", "true"], "empty word"), (["--a", "now", "--b", "now", "--", "true"], "are the same"),
                (["--a", "now", "--b", "joy=1", "--", "true"], "joy"), (["--a", "now", "--b", "joy", "--", "true"], "joy"),
                (["--blocks", 3, "--max-blocks", 9, "true", "true"], "excludes"), (["--max-blocks", 99, "true", "true"], "from 8 to 60"),
                (["--calibrate", 3, "--no-calibration", "true", "true"], "exclude"), (["a | b", "true"], "only a shell")]:
            done = hvtune("compare", *arguments, env=self.env)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(what, done.err)


class Settings(Comparing):
    """On a machine of files: the workload reads what the setting made of it."""

    def setUp(self):
        super().setUp()
        self.machine = Machine()
        self.addCleanup(self.machine.folder.cleanup)
        self.thp = self.machine.root / "sys/kernel/mm/transparent_hugepage/enabled"

    def test_knobs_are_set_and_put_back(self):
        script = Path(self.folder.name) / "work"
        script.write_text(f"#!/bin/sh\ncase $(cat {self.thp}) in *'[always]'*) echo 100;; *'[never]'*) echo 110;; *) echo 50;; esac\n")
        script.chmod(0o755)
        answer = self.compare("--host", self.machine.root, "--no-calibration", "--metric", "x=regex:([0-9]+)",
                              "--a", "thp=always", "--b", "thp=never", "--", script)
        self.assertAlmostEqual(self.ratio(answer, "x")["ratio"], 1.1)
        self.assertEqual(self.rows("SELECT settings FROM configuration ORDER BY id"),
                         [('{"thp":"always"}',), ('{"thp":"never"}',)])
        self.assertIn("[madvise]", self.thp.read_text())
        self.assertEqual(hvtune("status", "--host", self.machine.root, "--json").json()["changes"], [])

    def test_a_kill_leaves_what_undo_takes_back(self):
        process = subprocess.Popen([HVTUNE, "compare", "--host", str(self.machine.root), "--no-calibration", "--a", "thp=always",
                                    "--b", "thp=never", "--", "sleep", "0.3"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, **self.env})
        time.sleep(1)
        process.kill()
        process.communicate(timeout=20)
        self.assertNotIn("[madvise]", self.thp.read_text())
        done = hvtune("undo", "--host", self.machine.root)
        self.assert_code(done, 0)
        self.assertIn("[madvise]", self.thp.read_text())
        self.assertGreater(self.rows("SELECT count(*) FROM run WHERE state = 'valid'")[0][0], 0)

    def test_ctrl_c_puts_back(self):
        process = subprocess.Popen([HVTUNE, "compare", "--host", str(self.machine.root), "--no-calibration", "--a", "thp=always",
                                    "--b", "thp=never", "--", "sleep", "0.3"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, **self.env})
        time.sleep(1.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (3, "hvtune: stopped\n"), out)
        self.assertIn("[madvise]", self.thp.read_text())
        self.assertEqual(hvtune("status", "--host", self.machine.root, "--json").json()["changes"], [])

    def test_what_cannot_be_compared_in_blocks(self):
        done = hvtune("compare", "--host", self.machine.root, "--a", "now", "--b", "nonsense=1", "--", "true", env=self.env)
        self.assert_code(done, 2)
        self.assert_one_line(done.err)
        self.assertIn("[madvise]", self.thp.read_text())
        self.assertFalse(self.rows("SELECT id FROM session"))


# A workload whose speed follows a slow wave, as on a machine that something else loads, and is otherwise steady.
WAVE = textwrap.dedent("""\
    import math, sys, time
    start = float(sys.argv[1])
    time.sleep(0.05 * (1 + 0.3 * math.sin((time.time() - start) / 9 * 2 * math.pi)))
    """)


@unittest.skipUnless(shutil.which("hyperfine"), "hyperfine is not there")
class BesideHyperfine(Comparing):
    def hyperfine(self, *arguments):
        out = Path(self.folder.name) / "hyperfine.json"
        subprocess.run(["hyperfine", "-N", "--export-json", out, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=120)
        return json.loads(out.read_text())["results"]

    def test_the_same_estimates(self):
        theirs = [result["median"] for result in self.hyperfine("-w", 1, "-r", 15, "sleep 0.05", "sleep 0.08")]
        self.compare("--no-calibration", "--blocks", 15, "sleep 0.05", "sleep 0.08")
        for at, median in enumerate(theirs):
            ours = sorted(value for value, in self.rows(
                "SELECT value FROM measurement m JOIN run ON m.session = run.session AND m.run = run.id WHERE metric = 0 AND "
                "purpose = 'measure' AND configuration = ?", at))
            self.assertLess(abs(ours[len(ours) // 2] / median - 1), 0.1)

    def test_a_slow_wave(self):
        """A is A: one after the other they seem to differ, in blocks they do not."""
        script = Path(self.folder.name) / "wave.py"
        script.write_text(WAVE)
        command = f"python3 -S -E {script} {{}}"
        # One third of the wave each: the second sees another part of it than the first.
        theirs = self.hyperfine("-w", 0, "-r", 40, *[command.format(time.time())] * 2)
        seeming = theirs[1]["median"] / theirs[0]["median"]
        answer = self.compare("--no-calibration", "--blocks", 40, "--warmup", 0, *[command.format(time.time())] * 2)
        difference = self.ratio(answer)
        self.assertGreater(abs(seeming - 1), 0.04, "the wave did not reach hyperfine")
        # An interval of 95 % misses in one of twenty runs of this test; twice as wide it does not.
        self.assertLess(abs(difference["ratio"] - 1), difference["high"] - difference["low"])
        self.assertLess(abs(difference["ratio"] - 1), abs(seeming - 1) / 2)


if __name__ == "__main__":
    unittest.main()
