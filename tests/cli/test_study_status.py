# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune study status`, `pause`, `resume` and `abort` from outside, and what `study check` says of studies that boot."""
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from harness import HVTUNE, TOP, Test, hvtune

# It measures, or changes this machine.
ONE_AT_A_TIME = True

STUDY = """study: drivers
workloads:
  w: {run: [true], takes: 20 s}
factors:
  driver: {knob: boot.amd_pstate, levels: [active, guided]}
  iommu: {knob: boot.iommu, levels: [absent, pt]}
budget: 2 h
"""

STATE = {
    "version": 1, "uid": "00112233445566778899aabbccddeeff", "study": "drivers", "file": "s.yaml", "text": STUDY,
    "directory": "/", "boot": "5d9c3b1e-7c4a-4d5f-9a43-0c9de7a1a001", "runs": 7, "boots": 3, "boots_most": 40,
    "boots_timed": 2, "boots_s": 240.0, "spent_s": 1800.0, "config": "driver=guided iommu=pt",
    "failures": [{"levels": {"driver": "guided", "iommu": "absent"}, "why": "it panicked", "at": 1, "lost": False,
                  "over": False}],
    "out": [{"levels": {"driver": "guided", "iommu": "absent"}, "why": "2 boots in a row failed"}],
    "asked": {"levels": {"driver": "guided", "iommu": "pt"}, "at": 0},
}


class Standing(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "root"
        shutil.copytree(TOP / "tests/knob/boot/debian/root", self.root)
        random = self.root / "proc/sys/kernel/random"
        random.mkdir(parents=True)
        (random / "boot_id").write_text(STATE["boot"] + "\n", encoding="ascii")
        self.place = self.root / "var/lib/hvtune"
        self.place.mkdir(parents=True)

    def write(self, **more):
        (self.place / "study").write_text(json.dumps(STATE | more), encoding="utf-8")

    def ask(self, *words):
        return hvtune("study", *words, "--host", self.root)

    def state(self, **more):
        self.write(**more)
        done = self.ask("status", "--json")
        self.assert_code(done, 0)
        return json.loads(done.out)["state"]

    def test_none(self):
        for word in ("status", "pause", "abort"):
            done = self.ask(word)
            self.assert_code(done, 1)
            self.assertIn("no study runs", done.err)
        self.assertEqual(json.loads(self.ask("status", "--json").out)["state"], "none")

    def test_text(self):
        self.write()
        done = self.ask("status")
        self.assert_code(done, 0)
        text = " ".join(done.out.split())
        self.assertIn("Study drivers waits", text)
        self.assertIn("Now: driver=guided iommu=pt.", text)
        self.assertIn("7 runs, 3 of at most 40 boots, 30 min (a boot takes 2 min); at most 1 h 30 min left.", text)
        self.assertIn("A boot failed, driver=guided iommu=absent: it panicked.", text)
        self.assertIn("Not measurable: driver=guided iommu=absent: 2 boots in a row failed.", text)

    def test_one_of_each_and_a_minute_and_a_half(self):
        self.write(runs=1, boots=1, boots_most=1, boots_timed=1, boots_s=90, spent_s=90)
        text = " ".join(self.ask("status").out.split())
        self.assertIn("1 run, 1 of at most 1 boot, 1 min 30 s (a boot takes 1 min 30 s); ", text)

    def test_json(self):
        self.write()
        done = self.ask("status", "--json")
        self.assert_code(done, 0)
        found = json.loads(done.out)
        self.assertEqual((found["state"], found["runs"], found["boots"], found["boots_most"]), ("waiting", 7, 3, 40))
        self.assertEqual((found["boot_s"], found["spent_s"], found["left_s"]), (120, 1800, 5400))
        self.assertEqual(found["failed_boots"], STATE["failures"])
        self.assertEqual(found["not_measurable"], STATE["out"])

    def test_states(self):
        self.assertEqual(self.state(paused=True), "paused")
        self.assertEqual(self.state(end="done"), "ending")
        self.assertEqual(self.state(asked=STATE["asked"] | {"boot": STATE["boot"], "trial": ""}), "booting")
        stat = self.root / "proc/17"
        stat.mkdir()
        (stat / "stat").write_text("17 (a ) b) S " + " ".join(str(n) for n in range(4, 53)) + "\n", encoding="ascii")
        self.assertEqual(self.state(pid=17, pid_start=22), "running")
        # Its unit was asked to start in this boot, and has not begun; what a boot or a pause came between does not start.
        self.assertEqual(self.state(starting=True), "starting")
        self.assertIn("is starting: hvtune-study.service has not begun yet", " ".join(self.ask("status").out.split()))
        self.assertEqual(self.state(starting=True, boot="another"), "waiting")
        self.assertEqual(self.state(starting=True, paused=True), "paused")
        self.assertEqual(self.state(starting=True, pid=17, pid_start=22), "running")
        # Another process with its number.
        self.assertEqual(self.state(pid=17, pid_start=21), "waiting")

    def test_wishes(self):
        self.write()
        wish = self.place / "study.wish"
        self.assert_code(self.ask("pause"), 0)
        self.assertEqual(wish.read_text(encoding="ascii"), "pause\n")
        self.assertEqual(json.loads(self.ask("status", "--json").out)["wish"], "pause")
        self.assert_code(self.ask("resume"), 0)
        self.assertFalse(wish.exists())
        self.assert_code(self.ask("abort"), 0)
        self.assertEqual(wish.read_text(encoding="ascii"), "abort\n")

    def test_resume_of_a_paused_one(self):
        self.write(paused=True)
        self.assert_code(self.ask("resume"), 0)
        kept = json.loads((self.place / "study").read_text(encoding="utf-8"))
        self.assertFalse(kept["paused"])
        self.assertEqual((kept["uid"], kept["text"]), (STATE["uid"], STUDY))

    def test_none_of_its_own(self):
        for text in ("", "{}", "[1]", json.dumps(STATE | {"version": 2}), json.dumps(STATE | {"text": None})):
            (self.place / "study").write_text(text, encoding="utf-8")
            for word in ("status", "pause", "abort", "resume"):
                done = self.ask(word)
                self.assert_code(done, 3)
                self.assertIn("no state of a study", done.err)

    def check(self, text):
        path = self.root.parent / "s.yaml"
        path.write_text(text, encoding="utf-8")
        return hvtune("study", "check", path, "--host", self.root)

    def test_check_tells_boots(self):
        done = self.check(STUDY)
        self.assert_code(done, 0)
        text = " ".join(done.out.split())
        self.assertIn("It boots the host: 4 times", text)
        self.assertIn("hvtune study status", text)

    def test_check_refuses(self):
        done = self.check(STUDY + "limits: {boots: 3}\n")
        self.assert_code(done, 1)
        self.assertIn("each configuration once takes 4 boots, and 3 are allowed", " ".join(done.out.split()))
        shutil.rmtree(self.root / "boot")
        done = self.check(STUDY)
        self.assert_code(done, 1)
        self.assertIn("driver", done.out)


SWAPPINESS = Path("/proc/sys/vm/swappiness")

LIFE = """study: life
confirm: no
workloads:
  nap: {{run: 'sleep {nap}'{takes}}}
factors:
  mark:
    levels:
      one: {{run: 'echo one > {folder}/mark', undo: 'echo none > {folder}/mark'}}
      two: {{run: 'echo two > {folder}/mark', undo: 'echo none > {folder}/mark'}}
{more}"""

KNOB = """  s: {{knob: swappiness, levels: [{0}, {1}]}}
baseline: {{s: {0}, mark: one}}
"""


@unittest.skipUnless(os.geteuid() == 0, "only root has the study of the machine")
class Life(Test):
    """Studies that really run: what is left of one that is paused or killed is in nobody's way, and forgotten by none."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.mark = self.folder / "mark"
        self.mark.write_text("none\n", encoding="ascii")
        self.path = self.folder / "s.yaml"
        self.store = self.folder / "results.db"
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.processes:
            hvtune("study", "abort")

    def begin(self, nap="0.05", takes=", takes: 1 s", more=""):
        self.path.write_text(LIFE.format(folder=self.folder, nap=nap, takes=takes, more=more), encoding="utf-8")
        process = subprocess.Popen([HVTUNE, "study", "run", self.path, "--yes", "--store", self.store],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        return process

    def wait_for(self, what, process):
        for _ in range(600):
            if what():
                return
            if process.poll() is not None:
                self.fail(process.stdout.read())
            time.sleep(0.05)
        self.fail("it takes too long")

    def killed(self, **more):
        """A study that was killed with a level's command outstanding."""
        process = self.begin(nap="30", takes=", takes: 30 s", **more)
        self.wait_for(lambda: self.mark.read_text(encoding="ascii") != "none\n" and self.sessions(), process)
        time.sleep(0.3)
        process.kill()
        process.communicate()

    def sessions(self):
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as database:
                return database.execute("SELECT state, why, ended_us FROM session ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            return []

    def standing(self):
        return json.loads(hvtune("study", "status", "--json").out)["state"]

    def assert_none(self):
        self.assertEqual(self.standing(), "none")
        self.assertEqual(self.mark.read_text(encoding="ascii"), "none\n")

    def run_other(self):
        other = self.folder / "other.yaml"
        other.write_text(LIFE.format(folder=self.folder, nap="0.01", takes=", takes: 1 s", more="").replace("life", "other"),
                         encoding="utf-8")
        for words in (("study", "run", other, "--yes", "--store", self.store),
                      ("tune", "--minutes", "0.1", "--yes", "--no-store", "--", "true")):
            done = hvtune(*words)
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            yield done.err

    def test_no_other_beside_one_that_was_killed(self):
        self.killed()
        for said in self.run_other():
            self.assertIn("study life was killed before its end", said)
            self.assertIn("hvtune study resume", said)
            self.assertIn("hvtune study abort", said)
        self.assertEqual(self.standing(), "waiting")
        for words in (("status",), ("undo",)):
            self.assertRegex(" ".join(hvtune(*words).out.split()),
                             "Study life still has undo of level mark=(one|two) to run: hvtune study abort")
        done = hvtune("study", "pause")
        self.assert_code(done, 1)
        self.assertIn("was killed before its end", " ".join(done.out.split()))
        self.assertIn("hvtune study abort", " ".join(done.out.split()))
        self.assertEqual([row[2] for row in self.sessions()], [None])
        self.assert_code(hvtune("study", "abort"), 0)
        self.assert_none()
        self.assertNotIn("still has undo", hvtune("status").out)
        (state, why, ended), = self.sessions()
        self.assertEqual((state, why), ("stopped", "it was killed, and aborted after that"))
        self.assertTrue(ended)

    def test_what_cannot_be_taken_back_is_not_forgotten(self):
        """An abort tries again until it works or a person says that it is done; nothing else is run meanwhile."""
        undo = f"test -e {self.folder}/free && echo none > {self.mark} || {{{{ echo it is busy >&2; exit 4; }}}}"
        life = LIFE.replace("echo none > {folder}/mark", undo)
        for last in ((), ("--done",)):
            (self.folder / "free").unlink(missing_ok=True)
            with mock.patch(f"{__name__}.LIFE", life):
                self.killed()
            for _ in range(2):
                done = hvtune("study", "abort")
                self.assert_code(done, 3)
                said = " ".join(done.out.split())
                self.assertRegex(said, r"mark=(one|two) \(undo\): this command failed with exit code 4: it is busy; by hand: test")
                self.assert_one_line(done.err)
                self.assertIn("hvtune study abort --done", done.err)
                self.assertRegex(" ".join(hvtune("status").out.split()), "still has undo of level mark=(one|two) to run")
                self.assertEqual(self.standing(), "not put back")
                self.assertIn("by hand: test -e", " ".join(hvtune("study", "status").out.split()))
            for said in self.run_other():
                self.assertRegex(said, "study life still has undo of level mark=(one|two) to run")
            done = hvtune("study", "resume", "--yes")
            self.assert_code(done, 3)
            self.assert_one_line(done.err)
            self.assertIn("still has undo", done.err)
            if last:
                self.mark.write_text("none\n", encoding="ascii")
            else:
                (self.folder / "free").touch()
            self.assert_code(hvtune("study", "abort", *last), 0)
            self.assert_none()
            self.assertNotIn("still has undo", hvtune("status").out)

    def test_no_other_beside_one_that_is_paused(self):
        process = self.begin()
        self.wait_for(self.sessions, process)
        for said in self.run_other():
            self.assertIn("study life runs", said)
        done = hvtune("compare", "--no-store", "--a", "swappiness=5", "--b", "swappiness=7", "--", "true")
        self.assert_code(done, 3)
        self.assertIn("study life runs", done.err)
        self.assert_code(hvtune("study", "pause"), 0)
        process.communicate(timeout=30)
        for said in self.run_other():
            self.assertIn("study life is paused", said)
        # It knows where its results are.
        done = hvtune("study", "resume", "--yes", "--json")
        self.assert_code(done, 0, 1)
        self.assertEqual(json.loads(done.out)["study"], "life")
        self.assert_none()

    def test_resume_puts_back_what_its_own_dead_process_left(self):
        before = SWAPPINESS.read_text(encoding="ascii")
        self.addCleanup(SWAPPINESS.write_text, before, encoding="ascii")
        usual = int(before) % 100 + 1
        self.killed(more=KNOB.format(usual, usual % 100 + 1))
        self.assertNotEqual(SWAPPINESS.read_text(encoding="ascii"), before)
        process = subprocess.Popen([HVTUNE, "study", "resume", "--yes"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        self.processes.append(process)
        self.wait_for(lambda: len(self.sessions()) == 2, process)
        self.assertEqual(self.standing(), "running")
        self.assert_code(hvtune("study", "abort"), 0)
        process.communicate(timeout=60)
        self.assert_none()
        self.assertEqual(SWAPPINESS.read_text(encoding="ascii"), before)
        self.assertIn("Nothing of hvtune's is in force", hvtune("status").out)

    def test_the_first_stage_is_seen_and_can_be_ended(self):
        for word in ("abort", "pause"):
            process = self.begin(nap="30", takes="")
            self.wait_for(lambda: self.standing() == "running", process)
            self.wait_for(lambda: "each workload once" in " ".join(hvtune("study", "status").out.split()), process)
            self.assertEqual(self.sessions(), [])
            self.assert_code(hvtune("study", word), 0)
            out, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 3, out)
            self.assert_none()

    def test_words_of_one_that_boots_nothing(self):
        process = subprocess.Popen([HVTUNE, "tune", "--minutes", "3", "--yes", "--no-store", "--", "sleep", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        said = []

        def measures():
            said.append(" ".join(hvtune("study", "status").out.split()))
            return "at most" in said[-1] and "each workload once" not in said[-1]

        self.wait_for(measures, process)
        self.assertRegex(said[-1], "at most ([12] min )?[0-9]+ s left")
        self.assertNotIn("boots", said[-1])
        process.kill()
        process.communicate()
        done = hvtune("study", "status")
        self.assertIn("was killed before its end", " ".join(done.out.split()))
        self.assertNotIn("boot", done.out)

    def test_what_is_no_state_has_one_way_out(self):
        state = Path("/var/lib/hvtune/study")
        self.assertFalse(state.exists())
        self.addCleanup(state.unlink, missing_ok=True)
        state.write_text("{}", encoding="ascii")
        for said in self.run_other():
            self.assertIn("no state of a study", said)
            self.assertIn("remove the file", said)
            self.assertNotIn("abort", said)
