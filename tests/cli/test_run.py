# SPDX-License-Identifier: GPL-3.0-or-later
"""hvtune run: what it measures, when it stops, what it keeps, and that neither Ctrl-C nor a kill loses a run."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import HVTUNE, SANITIZED, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True


class Measuring(Test):
    """A store of its own for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = Path(self.folder.name) / "results.db"
        self.env = {"HVTUNE_STORE": str(self.store)}

    def run_json(self, *arguments, code=0):
        done = hvtune("run", "--json", *arguments, env=self.env)
        self.assert_code(done, code)
        self.assert_clean(done)
        return done.json()["result"]

    def rows(self, sql, *values):
        with sqlite3.connect(self.store) as database:
            return database.execute(sql, values).fetchall()


class Run(Measuring):
    def test_a_metric_that_is_not_there_ends_it(self):
        done = hvtune("run", "--target", "nope", "--", "true", env=self.env)
        self.assert_code(done, 3)
        self.assertIn("nope", done.err)
        self.assertIn("wall time", done.err)
        self.assertLess(self.rows("SELECT count(*) FROM run")[0][0], 5)

    def test_input_that_is_no_file(self):
        fifo = Path(self.folder.name) / "fifo"
        os.mkfifo(fifo)
        done = hvtune("run", "--input", fifo, "--runs", 1, "--", "cat", env=self.env)
        self.assert_code(done, 2)
        self.assertIn("fifo", done.err)

    def test_what_it_cost_itself(self):
        done = hvtune("run", "--runs", 2, "--", "sleep", "0.02", env=self.env)
        self.assert_code(done, 0)
        self.assertRegex(" ".join(done.out.split()), r"hvtune itself used \S+ s of CPU in \S+ s, \S+ % of one core")
        (kind, text), = self.rows("SELECT kind, text FROM note")
        self.assertEqual(kind, "cost")
        self.assertIn("of one core", text)

    def test_names_that_are_taken(self):
        for words, what in ((["wall time:s:less=regex:x"], "taken"), (["package power:W=regex:x"], "taken"),
                            (["temperature=regex:x"], "taken"), (["x=regex:x", "--metric", "x=json:/x"], "twice")):
            done = hvtune("run", "--metric", *words, "--", "true", env=self.env)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(what, done.err)
        self.assertEqual(self.run_json("--runs", 1, "--metric", "wall=regex:([0-9]+)", "--", "echo", "5")["metric"], "wall")

    def test_time_that_is_over_with_the_warm_up(self):
        done = hvtune("run", "--time", "0.05", "--", "sleep", "0.1", env=self.env)
        self.assert_code(done, 1)
        self.assertIn("--warmup 0", done.out)
        self.assertIn("the time is over", done.out)

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([HVTUNE, "run", "--no-store", "--runs", "2", "--", "true"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "hvtune: standard output: cannot write: No space left on device\n"))

    def test_limits_that_cannot_be_watched(self):
        self.assert_code(hvtune("run", "--max-temp", "5", "--", "true", env=self.env), 2)
        if hvtune("meters").code != 0:
            done = hvtune("run", "--max-temp", "60", "--", "true", env=self.env)
            self.assert_code(done, 3)
            self.assertIn("no sensor of temperature", done.err)

    def test_what_a_command_leaves_is_told(self):
        done = hvtune("run", "--runs", 1, "--warmup", 0, "--shell", "--", "setsid sleep 2 & exit 0", env=self.env)
        self.assert_code(done, 0)
        self.assertIn("leaves processes running (s", done.out)
        done = hvtune("run", "--runs", 1, "--warmup", 0, "--prepare", "sleep 2 & exit 0", "--shell", "--", "exit 0", env=self.env)
        self.assert_code(done, 0)
        self.assertNotIn("leaves", done.out)

    def test_more_output_than_is_read(self):
        result = self.run_json("--runs", 1, "--metric", "x::less=regex:x([0-9]+)", "--shell", "--",
                               "echo x1; head -c 34000000 /dev/zero", code=1)
        self.assertEqual(result["runs"], 0)
        (why,), = set(self.rows("SELECT why FROM run"))
        self.assertIn("more than the 32 MiB", why)

    @unittest.skipUnless(shutil.which("perl"), "perl is not installed")
    def test_a_workload_by_name(self):
        done = hvtune("run", "-w", "perl", "--runs", 1, "--warmup", 0, "--json", env=self.env)
        self.assert_code(done, 0)
        self.assertEqual(done.json()["name"], "perl")
        for words, said in ((("-w", "nope"), "nope"), (("-w", "perl", "--", "true"), "one of them"),
                            (("-w", "perl", "--shell"), "its own")):
            refused = hvtune("run", *words, env=self.env)
            self.assert_code(refused, 2)
            self.assertIn(said, refused.err)
        self.assertEqual([path for path in Path("/var/tmp").glob("hvtune-run-*")], [])

    def test_a_fixed_number(self):
        result = self.run_json("--runs", 4, "--", "sleep", "0.05")
        self.assertEqual((result["metric"], result["unit"], result["better"], result["runs"], len(result["values"])),
                         ("wall time", "s", "less", 4, 4))
        self.assertGreaterEqual(result["minimum"], 0.05)
        self.assertLess(result["interval"]["low"], result["interval"]["estimate"])
        self.assertLess(result["interval"]["estimate"], result["interval"]["high"])
        self.assertEqual(result["end"], "as many runs as asked for")

    def test_until_it_is_precise(self):
        result = self.run_json("--metric", "x:MB:more=regex:is ([0-9]+)", "--", "echo", "it is 42")
        self.assertEqual((result["metric"], result["unit"], result["runs"], result["better"]), ("x", "MB", 6, "more"))
        for bound in ("estimate", "low", "high"):
            self.assertAlmostEqual(result["interval"][bound], 42)
        self.assertEqual(result["end"], "the precision asked for is reached")

    def test_a_limit_of_time(self):
        result = self.run_json("--time", 0.5, "--precision", 0.01, "--", "sleep", "0.1")
        self.assertIn("time is over", result["end"])
        self.assertLess(result["runs"], 8)

    def test_warm_ups_are_kept_and_left_out(self):
        self.run_json("--runs", 3, "--warmup", 2, "--", "true")
        self.assertEqual(self.rows("SELECT purpose, state FROM run WHERE state = 'valid' ORDER BY id"),
                         [("warmup", "valid")] * 2 + [("measure", "valid")] * 3)

    def test_text(self):
        done = hvtune("run", "--runs", 6, "--label", "mine", "--", "sleep", "0.01", env=self.env)
        self.assert_code(done, 0)
        self.assert_clean(done)
        for part in ("sleep 0.01\n", "wall time: 1", "95 % interval", "6 runs after 1 warm-up", "median 1", "energy: ",
                     "of this boot only", "Kept as session 1: hvtune results show 1"):
            self.assertIn(part, " ".join(done.out.split()) + "\n" if "\n" not in part else done.out)

    def test_what_is_kept(self):
        self.run_json("--runs", 2, "--label", "mine", "--env", "A=b", "--", "sh", "-c", "exit 0")
        session = self.rows("SELECT kind, name, command, state, method, environment, facts, host, version FROM session")[0]
        self.assertEqual(session[:2], ("run", "mine"))
        words = json.loads(session[2])
        self.assertEqual(words[:2] + words[-4:], ["hvtune", "run", "--", "sh", "-c", "exit 0"])
        self.assertEqual(session[3], "done")
        self.assertEqual(json.loads(session[4])["runs"], 2)
        self.assertEqual(json.loads(session[5]), {"A": "b"})
        facts = json.loads(session[6])
        self.assertIn("host", facts)
        # Counts of several sizes are told apart by their size.
        self.assertNotIn("memory.hugepages Total", facts)
        for pool in Path("/sys/kernel/mm/hugepages").glob("hugepages-*kB"):
            size = {2048: "2 MiB", 1048576: "1 GiB"}.get(int(pool.name[10:-2]))
            if size and len(list(pool.parent.iterdir())) > 1:
                self.assertEqual(facts[f"memory.hugepages Hugepages of {size}, Total"], (pool / "nr_hugepages").read_text().strip())
        self.assertEqual(self.rows("SELECT command FROM configuration"), [('["sh","-c","exit 0"]',)])
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.assertEqual({row[0] for row in self.rows("SELECT boot FROM run")}, {boot})
        self.assertEqual(self.rows("SELECT count(*) FROM measurement m JOIN metric USING (session) WHERE m.metric = metric.id "
                                   "AND metric.name = 'wall time'"), [(3,)])

    def test_the_kept_command_repeats_it(self):
        self.run_json("--runs", 2, "--metric", "x=regex:([0-9]+)", "--", "echo", "7")
        words = json.loads(self.rows("SELECT command FROM session")[0][0])
        done = hvtune(*words[1:], env=self.env)
        self.assert_code(done, 0)
        self.assertEqual(done.json()["result"]["values"], [7, 7])

    def test_without_a_store(self):
        done = hvtune("run", "--no-store", "--runs", 1, "--", "true", env=self.env)
        self.assert_code(done, 0)
        self.assertNotIn("Kept", done.out)
        self.assertFalse(self.store.exists())

    def test_void_runs(self):
        result = self.run_json("--", "false", code=1)
        self.assertEqual((result["runs"], result["void"], result["end"]), (0, 3, "too many runs were void"))
        self.assertEqual(self.rows("SELECT DISTINCT state, why, exit_code FROM run"), [("invalid", "exit code 1", 1)])
        self.assertEqual(self.run_json("--runs", 1, "--exit-code", 1, "--", "false")["runs"], 1)
        self.assertEqual(self.run_json("--runs", 1, "--exit-code", "any", "--", "false")["runs"], 1)
        result = self.run_json("--runs", 2, "--timeout", 0.1, "--", "sleep", "47", code=1)
        self.assertEqual(result["void"], 3)
        done = hvtune("run", "--metric", "fio", "--", "echo", "no JSON", env=self.env)
        self.assert_code(done, 1)
        self.assertIn("it is no JSON", " ".join(done.out.split()))

    def test_hooks(self):
        log = Path(self.folder.name) / "log"
        hook = [word for name in ("setup", "prepare", "conclude", "cleanup")
                for word in (f"--{name}", f"echo {name} >> {log}")]
        self.run_json("--runs", 2, "--warmup", 0, "--shell", *hook, "--", f"echo run >> {log}")
        self.assertEqual(log.read_text().split(), ["setup", *["prepare", "run", "conclude"] * 2, "cleanup"])
        done = hvtune("run", "--setup", "false", "--", "true", env=self.env)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("--setup: this command failed with exit code 1", done.err)
        self.assertEqual(self.rows("SELECT state FROM session ORDER BY id DESC LIMIT 1"), [("failed",)])

    def test_surroundings(self):
        folder = Path(self.folder.name)
        (folder / "in").write_text("5")
        result = self.run_json("--runs", 1, "--cwd", folder, "--input", folder / "in", "--env", "B=2", "--metric",
                               "x=regex:([0-9]+)", "--shell", "--", 'read a || :; test "$PWD" = ' + str(folder) + ' && echo "$a$B"')
        self.assertEqual(result["values"], [52])
        result = self.run_json("--runs", 1, "--read-from", folder / "in", "--metric", "x=regex:([0-9]+)", "--", "true")
        self.assertEqual(result["values"], [5])

    def test_usage(self):
        for arguments, what in [
                ([], "needs a command"), (["--runs", "0", "--", "true"], "--runs takes a whole number"),
                (["--runs", "x", "--", "true"], "--runs takes a whole number"), (["--runs", 3, "--max-runs", 9, "--", "true"], "excludes"),
                (["--precision", "0", "--", "true"], "--precision takes"), (["--metric", "joy", "--", "true"], "no reader"),
                (["--env", "joy", "--", "true"], "NAME=VALUE"), (["--setup", "a | b", "--", "true"], "only a shell"),
                (["--store", "a", "--no-store", "--", "true"], "exclude"), (["--", ""], "the command is empty")]:
            done = hvtune("run", *arguments, env=self.env)
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn(what, done.err)
        for arguments, what in [
                (["--", "no-such-program"], "no such program"), (["--cwd", "/nowhere", "--", "true"], "/nowhere"),
                (["--input", "/nowhere", "--", "true"], "/nowhere"), (["--", "/etc/passwd"], "permission denied"),
                (["--store", "/dev/null/x", "--", "true"], "/dev/null")]:
            done = hvtune("run", *arguments, env=self.env)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn(what, done.err.lower())

    def test_options_of_the_command_are_its_own(self):
        result = self.run_json("--runs", 1, "--metric", "x=regex:([0-9]+)", "echo", "-n", "--json", "9")
        self.assertEqual(result["values"], [9])


class Losses(Measuring):
    def assert_whole(self, *states):
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
        self.assertIn(self.rows("SELECT state FROM session ORDER BY id DESC LIMIT 1")[0][0], states)
        self.assertEqual(self.rows("SELECT count(*) FROM run WHERE state = 'valid' AND NOT EXISTS (SELECT 1 FROM measurement m "
                                   "WHERE m.session = run.session AND m.run = run.id AND m.metric = 0)"), [(0,)])
        self.assertEqual(self.rows("SELECT session FROM run WHERE state = 'running' GROUP BY session HAVING count(*) > 1"), [])

    def test_ctrl_c(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            mark = Path(self.folder.name) / f"mark{number}"
            process = subprocess.Popen([HVTUNE, "run", "--runs", "60", "--cleanup", f"touch {mark}", "--", "sleep", "0.2"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.env})
            time.sleep(1.5)
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 3, out + err)
            self.assertEqual(err, "hvtune: stopped\n")
            self.assertIn("wall time: 2", out)
            self.assertIn("ended because: it was stopped", out)
            self.assertIn("Kept as session", out)
            self.assertTrue(mark.exists())
            self.assert_whole("stopped")
            self.assertIn(self.rows("SELECT why FROM run ORDER BY session DESC, id DESC LIMIT 1")[0][0],
                          ("stopped by the user", None))

    @unittest.skipIf(SANITIZED, "too slow to be traced")
    @unittest.skipUnless(shutil.which("strace"), "strace is not there")
    def test_a_kill_at_any_write(self):
        hvtune("run", "--runs", 1, "--", "true", env=self.env)
        for call, moments in (("pwrite64", (1, 2, 3, 5, 8, 13, 21, 34, 55)), ("fdatasync", (1, 2))):
            for moment in moments:
                done = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                       f"inject={call}:signal=KILL:when={moment}", HVTUNE, "run", "--runs", "6", "--", "true"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                      env={**os.environ, **self.env})
                if "ptrace" in done.stderr.lower():
                    self.skipTest("this place does not let strace trace")
                self.assert_whole("open", "done")
        result = self.run_json("--runs", 2, "--", "true")
        self.assertEqual(result["runs"], 2)

    @unittest.skipIf(SANITIZED, "too slow to be traced")
    @unittest.skipUnless(shutil.which("strace"), "strace is not there")
    def test_a_full_disk(self):
        hvtune("run", "--runs", 1, "--", "true", env=self.env)
        done = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                               "inject=pwrite64:error=ENOSPC:when=100+", HVTUNE, "run", "--runs", "300", "--", "true"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **self.env})
        if "ptrace" in done.stderr.lower():
            self.skipTest("this place does not let strace trace")
        self.assertEqual(done.returncode, 3)
        self.assert_one_line(done.stderr)
        self.assertIn("the disk is full", done.stderr)
        self.assertIn("wall time", done.stdout)
        self.assert_whole("open")


if __name__ == "__main__":
    unittest.main()
