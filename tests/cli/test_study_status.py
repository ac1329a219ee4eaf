# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune study status`, `pause`, `resume` and `abort` from outside, and what `study check` says of studies that boot."""
import json
import shutil
import tempfile
from pathlib import Path

from harness import TOP, Test, hvtune

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
        self.assertIn("7 runs, 3 of at most 40 boots, 30 min (a boot takes 2.0 min); at most 90 min left.", text)
        self.assertIn("A boot failed, driver=guided iommu=absent: it panicked.", text)
        self.assertIn("Not measurable: driver=guided iommu=absent: 2 boots in a row failed.", text)

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
