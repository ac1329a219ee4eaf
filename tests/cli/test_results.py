# SPDX-License-Identifier: GPL-3.0-or-later
"""hvtune results: sessions are listed, shown, compared, deleted, merged, exported and imported."""
import csv
import io
import json
import subprocess
import time
import unittest
from pathlib import Path

from harness import HVTUNE, hvtune
from test_run import Measuring

# It measures, or changes this machine.
ONE_AT_A_TIME = True


class Results(Measuring):
    def measure(self, number, label, store=None):
        done = hvtune("run", "--runs", 3, "--label", label, "--metric", "x:MB:more=regex:([0-9]+)", "--store", store or self.store,
                      "--", "echo", number)
        self.assert_code(done, 0)

    def results(self, *arguments, code=0, stdin=None, env=None):
        done = hvtune("results", *arguments, env=env or self.env, stdin=stdin)
        self.assert_code(done, code)
        self.assert_clean(done)
        return done

    def test_list(self):
        self.measure(5, "first")
        self.measure(6, "second")
        lines = self.results().out.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"^   1  \d{4}-\d\d-\d\d \d\d:\d\d  run      done       4 runs  first: echo 5$")
        self.assertEqual(self.results("list").out.splitlines(), lines)
        sessions = self.results("--json").json()["sessions"]
        self.assertEqual([(one["id"], one["kind"], one["label"], one["state"], one["runs"], one["valid"], one["configurations"])
                          for one in sessions], [(1, "run", "first", "done", 4, 4, 1), (2, "run", "second", "done", 4, 4, 1)])

    def test_show(self):
        self.measure(5, "first")
        self.measure(6, "second")
        self.assertIn("6.000 MB", self.results("show").out)
        self.assertIn("5.000 MB", self.results("show", 1).out)
        self.assertEqual(self.results("show", "first").out, self.results("show", 1).out)
        self.assertEqual(self.results("--json", "show", "first").json()["session"]["id"], 1)

    def test_compare(self):
        self.measure(100, "first")
        self.measure(110, "second")
        answer = self.results("--json", "compare", "first", "second").json()
        metric = next(metric for metric in answer["metrics"] if metric["name"] == "x")
        self.assertAlmostEqual(metric["ratio"]["estimate"], 1.1)
        self.assertEqual((metric["a"], metric["b"], metric["runs_a"], metric["runs_b"]),
                         (metric["a"], metric["b"], 3, 3))
        self.assertIn({"what": "command", "a": '["echo","100"]', "b": '["echo","110"]'}, answer["differences"])
        self.assertEqual([one["what"] for one in answer["differences"]], ["command"])
        self.assertIn("one after the other", answer["caution"])
        text = " ".join(self.results("compare", 1, 2).out.split())
        self.assertIn("x: 100.0 MB -> 110.0 MB, +10.00 %", text)

    def test_compare_of_several(self):
        """Configurations of one name stand beside each other; the others are named."""
        common = ("--no-calibration", "--blocks", 3, "--metric", "x=regex:([0-9]+)", "--store", self.store)
        self.assert_code(hvtune("compare", "--label", "one", *common, "echo 100", "echo 110"), 0)
        self.assert_code(hvtune("compare", "--label", "two", *common, "echo 110", "echo 120"), 0)
        answer = self.results("--json", "compare", "one", "two").json()
        self.assertEqual({metric["configuration"] for metric in answer["metrics"]}, {"echo 110"})
        self.assertAlmostEqual(next(metric for metric in answer["metrics"] if metric["name"] == "x")["ratio"]["estimate"], 1)
        self.assertEqual(answer["not_compared"], "echo 100 (only in the first), echo 120 (only in the second)")
        text = " ".join(self.results("compare", "one", "one").out.split())
        self.assertIn("echo 100, x: 100", text)
        self.assertIn("echo 110, x: 110", text)

    def test_few_runs_have_no_interval(self):
        for label in ("first", "second"):
            self.assert_code(hvtune("run", "--runs", 2, "--label", label, "--store", self.store, "--", "echo", "5"), 0)
        self.assertIn("too few runs for an interval", " ".join(self.results("compare", 1, 2).out.split()))

    def test_json_of_all_actions(self):
        other = Path(self.folder.name) / "other.db"
        self.measure(5, "first")
        self.measure(6, "second", other)
        self.assertEqual(self.results("-j", "merge", other).json()["merged"], [{"from": str(other), "sessions": 1}])
        lines = self.results("export", env={"HVTUNE_STORE": str(other)}).out
        self.assertEqual(self.results("-j", "import", "-", stdin=lines).json()["imported"], [{"from": "standard input", "sessions": 0}])
        # One session by two of its names is deleted once.
        self.assertEqual(self.results("-j", "-y", "delete", "first", "1", "second").json()["deleted"], [1, 2])
        self.assertEqual(self.results("-j").json()["sessions"], [])

    def test_labels(self):
        for label in ("", "  ", "last", "12", "x" * 101, "a\nb", "\033[1m"):
            done = hvtune("run", "--runs", 3, "--label", label, "--store", self.store, "--", "true")
            self.assert_code(done, 2)
            self.assert_one_line(done.err)
            self.assertIn("--label", done.err)

    def test_killed_in_the_middle(self):
        with subprocess.Popen([HVTUNE, "run", "--store", self.store, "--runs", "9", "--", "sleep", "1"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as going:
            deadline = time.monotonic() + 30
            while not (Path(self.store).exists() and self.states() == ["open"]) and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(self.states(), ["open"])
            going.kill()
        self.assertEqual(self.states(), ["cut"])
        text = " ".join(hvtune("report", "--store", self.store).out.split())
        self.assertIn("cut: its process has gone without ending it", text)

    def states(self):
        done = hvtune("results", "--store", self.store, "--json")
        return [one["state"] for one in done.json()["sessions"]] if done.code == 0 else []

    def test_a_store_deleted_meanwhile(self):
        done = hvtune("run", "--runs", 3, "--store", self.store, "--", "rm", "-f", self.store)
        self.assert_code(done, 3)
        self.assert_one_line(done.err)
        self.assertIn("deleted or replaced while it was in use", done.err)
        self.assertNotIn("Kept as", done.out)

    def test_delete(self):
        for label in ("a", "b", "c"):
            self.measure(5, label)
        done = self.results("delete", "b", code=2)
        self.assertIn("--yes", done.err)
        done = self.results("--yes", "delete", "a", "nothing", code=3)
        self.assert_one_line(done.err)
        self.assertEqual(len(self.results().out.splitlines()), 3)
        self.results("--yes", "delete", "a", "3")
        self.assertEqual([one["label"] for one in self.results("--json").json()["sessions"]], ["b"])
        self.assertEqual(self.rows("SELECT count(*) FROM run WHERE state = 'valid'"), [(4,)])
        self.assertEqual(self.rows("SELECT DISTINCT session FROM measurement"), [(2,)])

    def test_out_and_in(self):
        other = Path(self.folder.name) / "other.db"
        self.measure(5, "first")
        self.measure(6, "second", other)
        lines = self.results("export").out
        self.assertTrue(all(json.loads(line) for line in lines.splitlines()))
        elsewhere = {"HVTUNE_STORE": str(other)}
        self.assertEqual(self.results("import", "-", stdin=lines, env=elsewhere).out, "1 session from standard input\n")
        self.assertEqual(self.results("import", "-", stdin=lines, env=elsewhere).out, "0 sessions from standard input\n")
        shown = self.results("show", "first", env=elsewhere).out
        self.assertEqual(shown.replace("Session 2", "Session 1").replace("report 2", "report 1"), self.results("show", 1).out)
        self.assertEqual(self.results("merge", other).out, f"1 session from {other}\n")
        self.assertEqual([one["label"] for one in self.results("--json").json()["sessions"]], ["first", "second"])
        file = Path(self.folder.name) / "lines"
        file.write_text(lines[:-40])
        done = self.results("import", file, code=3)
        self.assert_one_line(done.err)
        self.assertIn(f"{file}:", done.err)

    def test_csv(self):
        self.measure(5, "first")
        rows = list(csv.DictReader(io.StringIO(self.results("--format", "csv", "export", "first").out)))
        self.assertEqual([row["purpose"] for row in rows if row["state"] == "valid"], ["warmup", *["measure"] * 3])
        self.assertEqual({row["x [MB]"] for row in rows}, {"5"})
        self.assertIn("name it", self.results("--format", "csv", "export", code=2).err)

    def test_usage(self):
        self.measure(5, "first")
        for arguments in (["joy"], ["compare", "first"], ["delete"], ["list", "x"], ["--format", "xml", "export"]):
            self.assert_one_line(self.results(*arguments, code=2).err)
        for arguments in (["show", "nothing"], ["merge", "/nowhere.db"], ["import", "/nowhere"]):
            self.assert_one_line(self.results(*arguments, code=3).err)
        done = self.results("show", code=3, env={"HVTUNE_STORE": "/nowhere/results.db"})
        self.assertIn("there are no results", done.err)


if __name__ == "__main__":
    unittest.main()
